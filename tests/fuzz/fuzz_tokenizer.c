/* A tokenizer.json, and text behind it: the first two bytes say where the text starts.
 * What is encoded by bytes decodes to itself. */
#include "ridge/execute_text.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void encode(ridge_ctx *cx, const ridge_tokenizer *t, ridge_str text)
{
    ridge_tokens ids;
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    if (ridge_tokenizer_encode(cx, t, text, RIDGE_ENCODE_BOS, &ids) != RIDGE_OK)
        return;
    ridge_tokenizer_decode(t, ids.ids, ids.n, &out);
    for (size_t i = 0; i < ids.n; i++) {
        if (ids.ids[i] < 0 || ids.ids[i] >= ridge_tokenizer_vocab(t))
            __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ridge_tokenizer *t;
    ridge_ctx *cx = size < 2 ? NULL : ridge_ctx_open_budget(1 << 28);
    if (cx == NULL)
        return 0;
    const char *p = (const char *)data + 2;
    const size_t n = size - 2, cut = (size_t)data[0] | (size_t)data[1] << 8;
    const size_t json = cut < n ? cut : n;
    if (ridge_tokenizer_parse_json(cx, (ridge_str){p, json}, "fuzz", 0, &t) == RIDGE_OK)
        encode(cx, t, (ridge_str){p + json, n - json});
    ridge_ctx_close(cx);
    return 0;
}
