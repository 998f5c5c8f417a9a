/* Tokenizers of words: the SentencePiece style of LLaMA 2 and Mistral, and
 * tokenizer.bin of llama2.c. */
#include "near.h"

#include "own_folder.h"
#include "tokenizer_build.h"

#include <string.h>

#define MARK "\xE2\x96\x81" /* stands for a space */

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL ? -1 : 0;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static ridge_str z(const char *text)
{
    return ridge_str_of(text);
}

/* ---- LLaMA 2 --------------------------------------------------------------------- */

/* Ids: 0 <unk>, 1 <s>, 2 </s>, 3 to 258 bytes, then the mark, letters, merges. */
static ridge_str llama_text(ridge_ctx *cx, const char *rules, const char *around)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_printf(
        &b,
        "{\"added_tokens\": [{\"id\": 0, \"content\": \"<unk>\", "
        "\"special\": true}, {\"id\": 1, \"content\": \"<s>\", \"special\": "
        "true}, {\"id\": 2, \"content\": \"</s>\", \"special\": true}], %s, "
        "\"model\": {\"type\": \"BPE\", \"unk_token\": \"<unk>\", "
        "\"fuse_unk\": true, %s, \"merges\": [\"h e\", \"" MARK " he\", \"" MARK
        " " MARK "\"], \"vocab\": {\"<unk>\": 0, \"<s>\": "
        "1, \"</s>\": 2",
        around, rules);
    for (int i = 0; i < 256; i++)
        ridge_buf_printf(&b, ", \"<0x%02X>\": %d", (unsigned)i, 3 + i);
    ridge_buf_puts(&b,
                   ", \"" MARK "\": 259, \"h\": 260, \"e\": 261, \"he\": 262, \"" MARK
                   "he\": 263, \"" MARK MARK "\": 264}}}");
    return (ridge_str){ridge_buf_text(&b), b.n};
}

#define AROUND                                                                         \
    "\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": "           \
    "\"Prepend\", \"prepend\": \"" MARK "\"}, {\"type\": \"Replace\", \"pattern\": "   \
    "{\"String\": \" \"}, \"content\": \"" MARK "\"}]}, \"pre_tokenizer\": null, "     \
    "\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": "              \
    "[{\"SpecialToken\": {\"id\": \"<s>\"}}, {\"Sequence\": {\"id\": \"A\"}}]}, "      \
    "\"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Replace\", "    \
    "\"pattern\": {\"String\": \"" MARK "\"}, \"content\": \" \"}, {\"type\": "        \
    "\"ByteFallback\"}, {\"type\": \"Fuse\"}, {\"type\": \"Strip\", \"content\": \" "  \
    "\","                                                                              \
    " \"start\": 1, \"stop\": 0}]}"

#define METASPACE                                                                      \
    "\"pre_tokenizer\": {\"type\": \"Metaspace\", \"replacement\": \"" MARK            \
    "\", \"prepend_scheme\": \"first\", \"split\": false}, \"decoder\": {\"type\": "   \
    "\"Metaspace\", \"replacement\": \"" MARK "\", \"prepend_scheme\": \"first\"}"

static const ridge_tokenizer *llama(ridge_ctx *cx, const char *rules,
                                    const char *around)
{
    const ridge_tokenizer *t;
    assert_done(cx, ridge_tokenizer_parse_json(cx, llama_text(cx, rules, around),
                                               "l.json", 0, &t));
    return t;
}

static void words_have_a_mark_for_their_space(void **state)
{
    const ridge_tokenizer *t = llama(*state, "\"byte_fallback\": true", AROUND);
    assert_ids(*state, t, z("he"), RIDGE_ENCODE_BOS, "1 263");
    assert_ids(*state, t, z("he he"), 0, "263 263");
    assert_ids(*state, t, z(" he"), 0, "259 263");
    assert_ids(*state, t, z("  "), 0, "264 259");
    assert_ids(*state, t, z("he</s>he"), 0, "263 2 263");
    assert_text(*state, t, "1 263 263 2", "he he");
    assert_text(*state, t, "259 263", " he");
    assert_int_equal(ridge_tokenizer_bos(t), 1);
    assert_int_equal(ridge_tokenizer_eos(t), 2);
}

static void what_has_no_token_falls_back_to_bytes(void **state)
{
    const ridge_tokenizer *t = llama(*state, "\"byte_fallback\": true", AROUND);
    assert_ids(*state, t, z("\xC3\xA9"), 0, "259 198 172");
    assert_ids(*state, t, (ridge_str){"\xFF\n", 2}, 0, "259 258 13");
    assert_text(*state, t, "259 198 172 13", "\xC3\xA9\n");
}

static void without_bytes_it_is_unknown(void **state)
{
    const ridge_tokenizer *t = llama(*state, "\"byte_fallback\": false", AROUND);
    assert_ids(*state, t, z("\xC3\xA9zhe"), 0, "259 0 262");
    assert_ids(*state, t, z("z z"), 0, "259 0 259 0");
}

static void a_mark_may_go_before_the_first_text_alone(void **state)
{
    const ridge_tokenizer *t = llama(*state, "\"byte_fallback\": true", METASPACE);
    assert_ids(*state, t, z("he</s>he he"), 0, "263 2 262 263");
    assert_text(*state, t, "263 263", "he he");
}

static void a_character_without_a_token_is_told(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_tokenizer *t;
    ridge_tokens ids;
    const char *text = "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, "
                       "\"merges\": []}}";
    assert_done(cx, ridge_tokenizer_parse_json(cx, z(text), "a.json", 0, &t));
    assert_failed(cx, ridge_tokenizer_encode(cx, t, z("aa\xC3\xA9"), 0, &ids),
                  RIDGE_E_PARSE, "at byte 2, for which a.json has no token");
    assert_failed(
        cx, ridge_tokenizer_encode(cx, t, z("a\xFF"), 0, &ids), RIDGE_E_PARSE,
        "the byte 0xff at byte 1, for which a.json has no token: make it UTF-8");
}

/* ---- llama2.c -------------------------------------------------------------------- */

typedef struct entry {
    const char *text;
    float score;
} entry;

static void add_entry(ridge_buf *b, const char *text, float score)
{
    const int32_t n = (int32_t)strlen(text);
    ridge_buf_add(b, (ridge_str){(const char *)&score, 4});
    ridge_buf_add(b, (ridge_str){(const char *)&n, 4});
    ridge_buf_puts(b, text);
}

static ridge_str llama2c_bytes(ridge_ctx *cx)
{
    static const entry MORE[] = {{" ", -1},  {"h", -2},   {"e", -3},       {"he", -5},
                                 {" h", -4}, {" he", -6}, {"\xC3\xA9", -7}};
    const int32_t longest = 8;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_add(&b, (ridge_str){(const char *)&longest, 4});
    add_entry(&b, "<unk>", 0);
    add_entry(&b, "\n<s>\n", 0);
    add_entry(&b, "\n</s>\n", 0);
    for (int i = 0; i < 256; i++) {
        char text[8];
        snprintf(text, sizeof text, "<0x%02X>", (unsigned)i);
        add_entry(&b, text, 0);
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(MORE); i++)
        add_entry(&b, MORE[i].text, MORE[i].score);
    return (ridge_str){ridge_buf_text(&b), b.n};
}

static void the_best_score_merges_first(void **state)
{
    const ridge_tokenizer *t;
    assert_done(*state, ridge_tokenizer_parse_llama2c(*state, llama2c_bytes(*state),
                                                      "t.bin", 266, &t));
    assert_int_equal(ridge_tokenizer_kind_of(t), RIDGE_TOKENIZER_LLAMA2C);
    assert_int_equal(ridge_tokenizer_vocab(t), 266);
    /* " h" before "he", and no merge makes " he" of " h" and "e": then it does. */
    assert_ids(*state, t, z("he"), RIDGE_ENCODE_BOS, "1 264");
    assert_ids(*state, t, z("hehe"), 0, "264 262");
    assert_ids(*state, t, z("\xC3\xA9\n\xC3"), 0, "259 265 13 198");
    assert_ids(*state, t, z(""), RIDGE_ENCODE_BOS, "1");
    assert_text(*state, t, "1 264 264", "he he");
    assert_text(*state, t, "264 13 2", " he\n");
}

static void cut_tokenizer_files_are_refused(void **state)
{
    const ridge_str all = llama2c_bytes(*state);
    const ridge_tokenizer *t;
    assert_failed(*state, ridge_tokenizer_parse_llama2c(*state, all, "t.bin", 200, &t),
                  RIDGE_E_PARSE, "t.bin: its ids go up to 265");
    assert_failed(*state,
                  ridge_tokenizer_parse_llama2c(*state, (ridge_str){all.p, all.n - 1},
                                                "t.bin", 0, &t),
                  RIDGE_E_PARSE, "t.bin: token 265 at byte");
    assert_failed(
        *state,
        ridge_tokenizer_parse_llama2c(*state, (ridge_str){all.p, 2}, "t.bin", 0, &t),
        RIDGE_E_PARSE, "neither a tokenizer.json nor a tokenizer.bin");
    assert_failed(
        *state,
        ridge_tokenizer_parse_llama2c(*state, (ridge_str){all.p, 4}, "t.bin", 0, &t),
        RIDGE_E_PARSE, "0 tokens");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_have_a_mark_for_their_space),
        cmocka_unit_test(what_has_no_token_falls_back_to_bytes),
        cmocka_unit_test(without_bytes_it_is_unknown),
        cmocka_unit_test(a_mark_may_go_before_the_first_text_alone),
        cmocka_unit_test(a_character_without_a_token_is_told),
        cmocka_unit_test(the_best_score_merges_first),
        cmocka_unit_test(cut_tokenizer_files_are_refused),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
