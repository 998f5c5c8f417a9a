/* Texts of small tokenizers: the alphabet of bytes, and what a test adds. */
#include "near.h"

#include "own_folder.h"
#include "tokenizer_build.h"

#include <string.h>

/* The character that spells a byte in byte-level vocabularies, as JSON text. */
static void add_byte(ridge_buf *b, int byte)
{
    int nth = 0;
    const bool is_itself = (byte >= 33 && byte <= 126) ||
                           (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
    for (int i = 0; i < byte; i++) {
        const bool is_other = !((i >= 33 && i <= 126) || (i >= 161 && i <= 172) ||
                                (i >= 174 && i <= 255));
        nth += is_other ? 1 : 0;
    }
    ridge_buf_printf(b, "\"\\u%04x\": %d", is_itself ? byte : 256 + nth, byte);
}

static void add_vocab(ridge_buf *b, const char *tokens)
{
    for (int i = 0; i < 256; i++) {
        ridge_buf_puts(b, i == 0 ? "" : ", ");
        add_byte(b, i);
    }
    ridge_str rest = ridge_str_of(tokens);
    for (int id = 256; rest.p != NULL && rest.n > 0; id++) {
        const ridge_str token = ridge_str_trim(ridge_str_cut(&rest, ' '));
        ridge_buf_printf(b, ", \"%.*s\": %d", (int)token.n, token.p, id);
    }
}

static const char *or_else(const char *text, const char *otherwise)
{
    return text == NULL ? otherwise : text;
}

ridge_str tokenizer_text(ridge_ctx *cx, const tokenizer_parts *parts)
{
    static const char BYTES[] =
        "{\"type\": \"ByteLevel\", \"add_prefix_space\": false}";
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_printf(
        &b,
        "{\"version\": \"1.0\", \"added_tokens\": [%s], "
        "\"normalizer\": %s, \"pre_tokenizer\": %s, "
        "\"post_processor\": %s, \"decoder\": %s, "
        "\"model\": {\"type\": \"BPE\", %s%s \"merges\": [%s], \"vocab\": {",
        or_else(parts->added, ""), or_else(parts->normalizer, "null"),
        or_else(parts->pre_tokenizer, BYTES), or_else(parts->post_processor, "null"),
        or_else(parts->decoder, BYTES), or_else(parts->rules, ""),
        parts->rules == NULL ? "" : ",", or_else(parts->merges, ""));
    add_vocab(&b, or_else(parts->tokens, ""));
    ridge_buf_puts(&b, "}}}");
    return (ridge_str){ridge_buf_text(&b), b.n};
}

const ridge_tokenizer *tokenizer_of(ridge_ctx *cx, const tokenizer_parts *parts)
{
    const ridge_tokenizer *t = NULL;
    assert_done(
        cx, ridge_tokenizer_parse_json(cx, tokenizer_text(cx, parts), "t.json", 0, &t));
    return t;
}

void assert_ids(ridge_ctx *cx, const ridge_tokenizer *t, ridge_str text, unsigned how,
                const char *ids)
{
    ridge_tokens got;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    assert_done(cx, ridge_tokenizer_encode(cx, t, text, how, &got));
    for (size_t i = 0; i < got.n; i++)
        ridge_buf_printf(&b, "%s%d", i == 0 ? "" : " ", (int)got.ids[i]);
    assert_string_equal(ridge_buf_text(&b), ids);
}

void assert_text(ridge_ctx *cx, const ridge_tokenizer *t, const char *ids,
                 const char *text)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_decoder d = ridge_decoder_start(t);
    for (ridge_str rest = ridge_str_of(ids); rest.p != NULL && rest.n > 0;) {
        int64_t id = -1;
        assert_true(ridge_parse_i64(ridge_str_cut(&rest, ' '), &id));
        ridge_buf_add(&b, ridge_decoder_next(&d, (int32_t)id));
    }
    assert_string_equal(ridge_buf_text(&b), text);
}
