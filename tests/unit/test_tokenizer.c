/* Byte-level tokenizers: pieces, merges, special tokens, normal forms, text again. */
#include "near.h"

#include "own_folder.h"
#include "tokenizer_build.h"

#include <string.h>

/* A space is the character U+0120 in vocabularies of bytes. */
#define SP "\xC4\xA0"

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

/* 256 he, 257 hel, 258 lo, 259 " w" */
static const tokenizer_parts HELLO = {.tokens = "he hel lo " SP "w",
                                      .merges =
                                          "\"h e\", \"he l\", \"l o\", \"" SP " w\""};

static void neighbours_merge_best_first(void **state)
{
    const ridge_tokenizer *t = tokenizer_of(*state, &HELLO);
    assert_int_equal(ridge_tokenizer_kind_of(t), RIDGE_TOKENIZER_BPE);
    assert_int_equal(ridge_tokenizer_vocab(t), 260);
    assert_ids(*state, t, z("hello"), 0, "257 258");
    assert_ids(*state, t, z("hello world"), 0, "257 258 259 111 114 108 100");
    assert_ids(*state, t, z(""), 0, "");
    assert_text(*state, t, "257 258 259 111 114 108 100", "hello world");
    assert_true(ridge_str_is(ridge_tokenizer_token(t, 259), " w"));
    assert_int_equal(ridge_tokenizer_token(t, 260).n, 0);
    assert_int_equal(ridge_tokenizer_token(t, -1).n, 0);
}

static void of_equal_merges_the_leftmost_goes_first(void **state)
{
    const tokenizer_parts parts = {.tokens = "aa", .merges = "\"a a\""};
    const ridge_tokenizer *t = tokenizer_of(*state, &parts);
    assert_ids(*state, t, z("aaa"), 0, "256 97");
    assert_ids(*state, t, z("aaaaa"), 0, "256 256 97");
}

static void merges_may_be_pairs(void **state)
{
    const tokenizer_parts parts = {.tokens = "he hel",
                                   .merges = "[\"h\", \"e\"], [\"he\", \"l\"]"};
    assert_ids(*state, tokenizer_of(*state, &parts), z("hell"), 0, "257 108");
}

static void merges_stay_within_a_piece(void **state)
{
    /* "'s" is a piece, so are a word with the space before it and a run of digits. */
    const tokenizer_parts parts = {.tokens = "t's 12 2a s" SP, .merges = "\"1 2\""};
    const ridge_tokenizer *t = tokenizer_of(*state, &parts);
    assert_ids(*state, t, z("12a"), 0, "257 97");
    const tokenizer_parts single = {
        .tokens = "12",
        .merges = "\"1 2\"",
        .pre_tokenizer = "{\"type\": \"Sequence\", \"pretokenizers\": ["
                         "{\"type\": \"Digits\", \"individual_digits\": true}, "
                         "{\"type\": \"ByteLevel\", \"add_prefix_space\": false}]}"};
    assert_ids(*state, tokenizer_of(*state, &single), z("12"), 0, "49 50");
}

/* LLaMA 3's pattern: up to three digits; line ends stay with what stands before. */
static void patterns_cut_pieces(void **state)
{
    const tokenizer_parts parts = {
        .tokens = "12 123 34",
        .merges = "\"1 2\", \"12 3\", \"3 4\"",
        .pre_tokenizer =
            "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", "
            "\"pattern\": {\"Regex\": \"(?i:'s|'t|'re|'ve|'m|'ll|'d)|"
            "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}| "
            "?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|"
            "\\\\s+(?!\\\\S)|\\\\s+\"}, \"behavior\": \"Isolated\", \"invert\": "
            "false}, "
            "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": "
            "false}]}"};
    const ridge_tokenizer *t = tokenizer_of(*state, &parts);
    assert_ids(*state, t, z("1234"), 0, "257 52");
    assert_ids(*state, t, z("34"), 0, "258");
}

static void a_split_may_remove_or_join_what_it_matches(void **state)
{
    tokenizer_parts parts = {.tokens = "a- -a", .merges = "\"a -\", \"- a\""};
    static const struct {
        const char *behaviour, *ids;
    } rows[] = {{"Removed", "97 97"},
                {"Isolated", "97 45 97"},
                {"MergedWithPrevious", "256 97"},
                {"MergedWithNext", "97 257"},
                {"Contiguous", "97 45 97"}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        parts.pre_tokenizer = ridge_sprintf(
            ridge_ctx_arena(*state),
            "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", "
            "\"pattern\": {\"String\": \"-\"}, \"behavior\": \"%s\"}, {\"type\": "
            "\"ByteLevel\", \"use_regex\": false, \"add_prefix_space\": false}]}",
            rows[i].behaviour);
        assert_ids(*state, tokenizer_of(*state, &parts), z("a-a"), 0, rows[i].ids);
    }
}

/* ---- special tokens -------------------------------------------------------------- */

static const tokenizer_parts SPECIAL = {
    .tokens = "he",
    .merges = "\"h e\"",
    .added = "{\"id\": 257, \"content\": \"<|a|>\", \"special\": true}, "
             "{\"id\": 258, \"content\": \"<|a|>b\", \"special\": true}, "
             "{\"id\": 259, \"content\": \"think\", \"special\": false, "
             "\"single_word\": true, \"lstrip\": true, \"rstrip\": true}, "
             "{\"id\": 260, \"content\": \"</s>\", \"special\": true}",
    .post_processor = "{\"type\": \"TemplateProcessing\", \"single\": ["
                      "{\"SpecialToken\": {\"id\": \"<|a|>\", \"type_id\": 0}}, "
                      "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}]}"};

static void names_of_special_tokens_are_found_first(void **state)
{
    const ridge_tokenizer *t = tokenizer_of(*state, &SPECIAL);
    assert_ids(*state, t, z("he<|a|>he"), 0, "256 257 256");
    assert_ids(*state, t, z("<|a|>b<|a|"), 0, "258 60 124 97 124");
    assert_ids(*state, t, z("h think e"), 0, "104 259 101");
    assert_ids(*state, t, z("thinks"), 0, "116 104 105 110 107 115");
    assert_ids(*state, t, z("<|a|>"), RIDGE_ENCODE_PLAIN, "60 124 97 124 62");
    assert_ids(*state, t, z("he"), RIDGE_ENCODE_BOS, "257 256");
    assert_int_equal(ridge_tokenizer_bos(t), 257);
    assert_int_equal(ridge_tokenizer_eos(t), 260);
    assert_int_equal(ridge_tokenizer_special(t, "<|a|>b"), 258);
    assert_int_equal(ridge_tokenizer_special(t, "he"), -1);
}

static void special_tokens_stand_for_no_text(void **state)
{
    assert_text(*state, tokenizer_of(*state, &SPECIAL), "257 256 258 259 260 999",
                "hethink");
}

static void a_config_beside_it_names_start_and_end(void **state)
{
    static const char CONFIG[] =
        "{\"bos_token\": null, \"eos_token\": {\"content\": \"<|a|>b\"}}";
    const char *dir = own_folder(*state, "test_tokenizer.dir");
    const ridge_str text = tokenizer_text(*state, &SPECIAL);
    const ridge_tokenizer *t;
    own_file(*state, dir, "tokenizer.json", text.p, text.n);
    own_file(*state, dir, "tokenizer_config.json", CONFIG, strlen(CONFIG));
    assert_done(*state, ridge_tokenizer_open(*state, dir, 300, &t));
    assert_int_equal(ridge_tokenizer_eos(t), 258);
    assert_int_equal(ridge_tokenizer_bos(t), 257);
    assert_failed(*state, ridge_tokenizer_open(*state, dir, 100, &t), RIDGE_E_PARSE,
                  "its ids go up to 260, but the model's vocabulary is 100");
    own_folder_remove(dir);
    assert_failed(*state, ridge_tokenizer_open(*state, dir, 0, &t), RIDGE_E_NOTFOUND,
                  "no such file");
}

/* ---- text ------------------------------------------------------------------------ */

static void bytes_that_are_no_characters_are_tokens_too(void **state)
{
    const ridge_tokenizer *t = tokenizer_of(*state, &HELLO);
    assert_ids(*state, t, (ridge_str){"he\xFF\xC3he\0", 7}, 0, "256 255 195 256 0");
    assert_ids(*state, t, z("\xE2\x82"), 0, "226 130");
    assert_ids(*state, t, z("\xED\xA0\x80"), 0, "237 160 128"); /* a surrogate */
}

static void normal_form_c_joins_accents(void **state)
{
    tokenizer_parts parts = {.normalizer = "{\"type\": \"NFC\"}"};
    const ridge_tokenizer *t = tokenizer_of(*state, &parts);
    assert_ids(*state, t, z("e\xCC\x81"), 0, "195 169");
    assert_ids(*state, t, z("e\xCC\x81\xFFo\xCC\x88"), 0, "195 169 255 195 182");
    assert_ids(*state, t, z("\xC3\xA9"), 0, "195 169");
    parts.normalizer =
        "{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFD\"}]}";
    assert_ids(*state, tokenizer_of(*state, &parts), z("\xC3\xA9"), 0, "101 204 129");
}

static void a_space_may_go_before_a_text(void **state)
{
    const tokenizer_parts parts = {.tokens = SP "w",
                                   .merges = "\"" SP " w\"",
                                   .pre_tokenizer = "{\"type\": \"ByteLevel\"}"};
    const ridge_tokenizer *t = tokenizer_of(*state, &parts);
    assert_ids(*state, t, z("w"), 0, "256");
    assert_ids(*state, t, z(" w"), 0, "256");
}

static void a_piece_that_is_a_token_may_skip_merges(void **state)
{
    const tokenizer_parts parts = {.tokens = "whole",
                                   .rules = "\"ignore_merges\": true"};
    const ridge_tokenizer *t = tokenizer_of(*state, &parts);
    assert_ids(*state, t, z("whole"), 0, "256");
    assert_ids(*state, t, z("wholes"), 0, "119 104 111 108 101 115");
}

static void each_byte_is_a_token_of_bytes(void **state)
{
    const ridge_tokenizer *t;
    assert_done(*state, ridge_tokenizer_open(*state, "bytes", 300, &t));
    assert_int_equal(ridge_tokenizer_vocab(t), 256);
    assert_int_equal(ridge_tokenizer_bos(t), -1);
    assert_ids(*state, t, (ridge_str){"a\0\xFF", 3}, RIDGE_ENCODE_BOS, "97 0 255");
    assert_text(*state, t, "104 105 256", "hi");
    assert_failed(*state, ridge_tokenizer_open(*state, "bytes", 255, &t), RIDGE_E_ARG,
                  "bytes are 256 tokens");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_merge_best_first),
        cmocka_unit_test(of_equal_merges_the_leftmost_goes_first),
        cmocka_unit_test(merges_may_be_pairs),
        cmocka_unit_test(merges_stay_within_a_piece),
        cmocka_unit_test(patterns_cut_pieces),
        cmocka_unit_test(a_split_may_remove_or_join_what_it_matches),
        cmocka_unit_test(names_of_special_tokens_are_found_first),
        cmocka_unit_test(special_tokens_stand_for_no_text),
        cmocka_unit_test(a_config_beside_it_names_start_and_end),
        cmocka_unit_test(bytes_that_are_no_characters_are_tokens_too),
        cmocka_unit_test(normal_form_c_joins_accents),
        cmocka_unit_test(a_space_may_go_before_a_text),
        cmocka_unit_test(a_piece_that_is_a_token_may_skip_merges),
        cmocka_unit_test(each_byte_is_a_token_of_bytes),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
