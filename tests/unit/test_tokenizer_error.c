/* Tokenizers that cannot be: each complaint names the file, the place and the cause. */
#include "near.h"

#include "own_folder.h"
#include "tokenizer_build.h"

#include <string.h>

static void assert_refused(const tokenizer_parts *parts, const char *message)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_tokenizer *t;
    assert_failed(
        cx, ridge_tokenizer_parse_json(cx, tokenizer_text(cx, parts), "t.json", 0, &t),
        RIDGE_E_PARSE, message);
    assert_non_null(strstr(ridge_ctx_message(cx), "t.json"));
    ridge_ctx_close(cx);
}

static void ids_must_be_all_there_once(void **state)
{
    (void)state;
    assert_refused(&(tokenizer_parts){.added = "{\"id\": 257, \"content\": \"<x>\"}"},
                   "no token has id 256: the vocabulary has holes");
    assert_refused(&(tokenizer_parts){.added = "{\"id\": 258, \"content\": \"<x>\"}"},
                   "no token has id 256, nor 1 other below 259");
    assert_refused(&(tokenizer_parts){.added = "{\"id\": 65, \"content\": \"<x>\"}"},
                   "id 65 is that of \"A\" too");
    assert_refused(&(tokenizer_parts){.added = "{\"id\": 256, \"content\": \"A\"}"},
                   "\"A\" has two ids, 65 and 256");
    assert_refused(&(tokenizer_parts){.added = "{\"id\": -1, \"content\": \"<x>\"}"},
                   "added_tokens[0].id");
    assert_refused(&(tokenizer_parts){.added = "{\"id\": 1e9, \"content\": \"<x>\"}"},
                   "added_tokens[0].id");
    assert_refused(&(tokenizer_parts){.added = "{\"id\": 256}"}, "content");
}

static void merges_must_be_of_tokens(void **state)
{
    (void)state;
    assert_refused(&(tokenizer_parts){.merges = "\"h e\""},
                   "the merge needs the token \"he\", which the vocabulary lacks");
    assert_refused(&(tokenizer_parts){.tokens = "he", .merges = "\"he l\""}, "\"hel\"");
    assert_refused(&(tokenizer_parts){.merges = "\"he\""}, "\"he\" is not two tokens");
    assert_refused(&(tokenizer_parts){.merges = "[\"h\"]"}, "a merge is");
    assert_refused(&(tokenizer_parts){.merges = "3"}, "a merge is");
}

static void unknown_kinds_are_named(void **state)
{
    (void)state;
    assert_refused(&(tokenizer_parts){.normalizer = "{\"type\": \"Lowercase\"}"},
                   "normalizer \"Lowercase\"");
    assert_refused(&(tokenizer_parts){.pre_tokenizer = "{\"type\": \"Bert\"}"},
                   "pre-tokenizer \"Bert\"");
    assert_refused(&(tokenizer_parts){.post_processor = "{\"type\": \"Other\"}"},
                   "post-processor \"Other\"");
    assert_refused(&(tokenizer_parts){.decoder = "{\"type\": \"WordPiece\"}"},
                   "decoder \"WordPiece\"");
    assert_refused(&(tokenizer_parts){.rules = "\"dropout\": 0.1"}, "dropout");
    assert_refused(&(tokenizer_parts){.rules = "\"end_of_word_suffix\": \"</w>\""},
                   "end_of_word_suffix");
    assert_refused(&(tokenizer_parts){.rules = "\"unk_token\": \"<unk>\""},
                   "\"<unk>\" is not in the vocabulary");
    assert_refused(&(tokenizer_parts){.rules = "\"type\": \"Unigram\""}, "Unigram");
}

static void malformed_patterns_are_told(void **state)
{
    (void)state;
    assert_refused(&(tokenizer_parts){.pre_tokenizer =
                                          "{\"type\": \"Split\", \"pattern\": "
                                          "{\"Regex\": \"(a\"}, \"behavior\": "
                                          "\"Isolated\"}"},
                   "no regular expression that Ridge reads");
    assert_refused(&(tokenizer_parts){.pre_tokenizer =
                                          "{\"type\": \"Split\", \"pattern\": "
                                          "{\"String\": \"a\"}, \"behavior\": "
                                          "\"Isolate\"}"},
                   "did you mean Isolated");
}

static void a_pattern_that_takes_too_long_ends(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const tokenizer_parts parts = {
        .pre_tokenizer =
            "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": "
            "\"Split\", \"pattern\": {\"Regex\": \"(?:a|a)*b|(?:(a+)+)+$\"}, "
            "\"behavior\": \"Isolated\"}, {\"type\": \"ByteLevel\", "
            "\"use_regex\": false, \"add_prefix_space\": false}]}"};
    const ridge_tokenizer *t = tokenizer_of(cx, &parts);
    char text[64];
    ridge_tokens ids;
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = 'c';
    assert_failed(
        cx, ridge_tokenizer_encode(cx, t, (ridge_str){text, sizeof text}, 0, &ids),
        RIDGE_E_PARSE, "pattern takes too long");
    ridge_ctx_close(cx);
}

static void other_files_are_told_apart(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_tokenizer *t;
    assert_failed(cx, ridge_tokenizer_parse_json(cx, ridge_str_of("{}"), "t", 0, &t),
                  RIDGE_E_PARSE, "this is no tokenizer.json");
    assert_failed(
        cx,
        ridge_tokenizer_parse_json(
            cx, ridge_str_of("{\"version\": \"2.0\", \"model\": {}}"), "t", 0, &t),
        RIDGE_E_PARSE, "version 2.0: Ridge reads 1.0");
    assert_failed(cx,
                  ridge_tokenizer_parse_json(
                      cx, ridge_str_of("{\"model\": {\"vocab\": []}}"), "t", 0, &t),
                  RIDGE_E_PARSE, "\"vocab\" must be an object");
    const char *dir = own_folder(cx, "test_tokenizer_error.dir");
    assert_failed(cx, ridge_tokenizer_open(cx, dir, 0, &t), RIDGE_E_NOTFOUND,
                  "holds no tokenizer.json");
    own_folder_remove(dir);
    ridge_ctx_close(cx);
}

/* A vocabulary of some tools has the byte 0 as a character of its own. */
static void a_token_may_hold_the_character_0(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_tokenizer *t;
    ridge_tokens ids;
    const char *text = "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"\\u0000\": 0, "
                       "\"a\": 1, \"\\\\u0000\": 2}, \"merges\": []}, "
                       "\"pre_tokenizer\": {\"type\": \"ByteLevel\"}}";
    assert_done(cx, ridge_tokenizer_parse_json(cx, ridge_str_of(text), "t", 0, &t));
    assert_int_equal(ridge_tokenizer_token(t, 0).n, 1);
    assert_int_equal(ridge_tokenizer_token(t, 0).p[0], 0);
    assert_true(ridge_str_is(ridge_tokenizer_token(t, 2), "\\u0000"));
    assert_failed(cx, ridge_tokenizer_encode(cx, t, ridge_str_of("b"), 0, &ids),
                  RIDGE_E_PARSE, "has the byte 0x20, for which t has no token");
    ridge_ctx_close(cx);
}

static void cut_text_is_refused_at_every_length(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const tokenizer_parts parts = {.tokens = "he", .merges = "\"h e\""};
    const ridge_str text = tokenizer_text(cx, &parts);
    ridge_ctx *inner = ridge_ctx_open();
    for (size_t n = 0; n < text.n; n += 7) {
        const ridge_tokenizer *t;
        assert_int_equal(
            ridge_tokenizer_parse_json(inner, (ridge_str){text.p, n}, "t", 0, &t),
            RIDGE_E_PARSE);
    }
    ridge_ctx_close(inner);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_must_be_all_there_once),
        cmocka_unit_test(merges_must_be_of_tokens),
        cmocka_unit_test(unknown_kinds_are_named),
        cmocka_unit_test(malformed_patterns_are_told),
        cmocka_unit_test(a_pattern_that_takes_too_long_ends),
        cmocka_unit_test(other_files_are_told_apart),
        cmocka_unit_test(a_token_may_hold_the_character_0),
        cmocka_unit_test(cut_text_is_refused_at_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
