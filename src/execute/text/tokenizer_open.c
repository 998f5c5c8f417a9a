/* Opening a tokenizer by what its file holds. */
#include "tokenizer.h"

#include <string.h>

enum { FILE_MOST_BYTES = 1 << 28 };

static bool is_json(ridge_str text)
{
    const ridge_str trimmed = ridge_str_trim(text);
    const bool has_mark = trimmed.n > 3 && memcmp(trimmed.p, "\xEF\xBB\xBF", 3) == 0;
    return trimmed.n > 0 && (trimmed.p[0] == '{' || has_mark);
}

ridge_status ridge_tokenizer_open(ridge_ctx *cx, const char *path, int64_t vocab,
                                  const ridge_tokenizer **out)
{
    ridge_str text;
    if (ridge_str_is(ridge_str_of(path), "bytes"))
        return ridge__tokenizer_open_bytes(cx, vocab, out);
    const char *file = path;
    if (ridge_path_is_dir(path)) {
        file = ridge_sprintf(ridge_ctx_arena(cx), "%s/tokenizer.json", path);
        if (file == NULL)
            return ridge_fail_nomem(cx);
        if (!ridge_path_exists(file)) {
            return ridge_fail(cx, RIDGE_E_NOTFOUND,
                              "%s: the folder holds no tokenizer.json: name a "
                              "tokenizer, or \"bytes\"",
                              path);
        }
    }
    if (!ridge_path_exists(file)) {
        return ridge_fail(cx, RIDGE_E_NOTFOUND,
                          "%s: no such file: name a tokenizer.json, a tokenizer.bin of "
                          "llama2.c, or \"bytes\"",
                          file);
    }
    RIDGE_TRY(ridge_file_read(cx, file, FILE_MOST_BYTES, &text));
    if (is_json(text))
        return ridge__tokenizer_open_json(cx, text, file, vocab, out);
    return ridge_tokenizer_parse_llama2c(cx, text, file, vocab, out);
}
