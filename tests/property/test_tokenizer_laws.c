/*
 * Laws of tokenizers over random merges and text: ids decode to the text; long pieces
 * (a heap) and short ones (a search) agree with joining as the definition says; pieces
 * that token data cuts have the tokens of the whole.
 */
#include "near.h"

#include "bpe.h"
#include "own_folder.h"
#include "seeded.h"
#include "tokenizer_build.h"

#include <string.h>

enum { TRIALS = 60, LETTERS = 4, MERGES = 24, TEXT_BYTES = 600 };

/* ---- merges ---------------------------------------------------------------------- */

/* Ids below LETTERS, and one more for each merge of two known ids. */
static ridge__merge_table draw_merges(ridge_ctx *cx, seeded *at)
{
    ridge__merge_table table;
    assert_done(cx, ridge__merge_table_open(cx, MERGES, &table));
    for (int32_t i = 0; i < MERGES; i++) {
        const int32_t left = (int32_t)seeded_pick(at, 0, LETTERS + i - 1);
        const int32_t right = (int32_t)seeded_pick(at, 0, LETTERS + i - 1);
        const int32_t rank =
            (int32_t)seeded_pick(at, 0, MERGES / 2); /* some are equal */
        ridge__merge_table_add(&table, left, right, (ridge__merge){rank, LETTERS + i});
    }
    return table;
}

/* As the definition says: look for the lowest rank, leftmost, join, and again. */
static size_t merge_plainly(const ridge__merge_table *table, int32_t *ids, size_t n)
{
    for (;;) {
        size_t best = n;
        ridge__merge merge = {INT32_MAX, -1};
        for (size_t i = 0; i + 1 < n; i++) {
            const ridge__merge m = ridge__merge_table_find(table, ids[i], ids[i + 1]);
            if (m.rank >= 0 && m.rank < merge.rank) {
                merge = m;
                best = i;
            }
        }
        if (best == n)
            return n;
        ids[best] = merge.id;
        memmove(ids + best + 1, ids + best + 2, (n - best - 2) * sizeof *ids);
        n--;
    }
}

static void merging_does_as_it_is_defined(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4 * TRIALS; seed++) {
        seeded at = seed;
        ridge_ctx *cx = ridge_ctx_open();
        const ridge__merge_table table = draw_merges(cx, &at);
        ridge__bpe_work work = {0};
        for (int i = 0; i < 4; i++) {
            int32_t ids[300], plain[300];
            size_t n = (size_t)seeded_pick(&at, 0, i % 2 == 0 ? 48 : 300);
            for (size_t k = 0; k < n; k++)
                ids[k] = plain[k] = (int32_t)seeded_pick(&at, 0, LETTERS - 1);
            const size_t want = merge_plainly(&table, plain, n);
            assert_done(cx, ridge__bpe_merge(cx, &table, &work, ids, &n));
            assert_int_equal(n, want);
            assert_memory_equal(ids, plain, n * sizeof *ids);
        }
        ridge_ctx_close(cx);
    }
}

/* ---- text ------------------------------------------------------------------------ */

static const tokenizer_parts WORDS = {
    .tokens =
        "he hel hell \xC4\xA0w \xC4\xA0wo in ing the \xC4\xA0the \xC3\x83\xC2\xA9 "
        "\xC4\xA0\xC4\xA0",
    .merges = "\"h e\", \"he l\", \"hel l\", \"\xC4\xA0 w\", \"\xC4\xA0w o\", \"i n\", "
              "\"in g\", \"t he\", \"\xC4\xA0 the\", \"\xC3\x83 \xC2\xA9\", "
              "\"\xC4\xA0 \xC4\xA0\"",
    .added = "{\"id\": 267, \"content\": \"<|end|>\", \"special\": false}"};

static size_t draw_text(seeded *at, char *text, size_t most)
{
    static const char *const WORD[] = {"hello", " world", "the",     " the",
                                       "ing",   "\n",     "  ",      "\xC3\xA9",
                                       "12",    "'s",     "<|end|>", "!?"};
    size_t n = 0;
    while (n + 10 < most) {
        const int64_t pick = seeded_pick(at, 0, (int64_t)RIDGE_COUNT_OF(WORD) + 1);
        if (pick >= (int64_t)RIDGE_COUNT_OF(WORD)) {
            text[n++] = (char)seeded_pick(at, 0, 255);
            continue;
        }
        memcpy(text + n, WORD[pick], strlen(WORD[pick]));
        n += strlen(WORD[pick]);
    }
    return n;
}

static void any_bytes_come_back(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_tokenizer *t = tokenizer_of(cx, &WORDS);
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        seeded at = seed;
        char text[TEXT_BYTES];
        const ridge_str in = {
            text, draw_text(&at, text, (size_t)seeded_pick(&at, 11, TEXT_BYTES))};
        ridge_tokens ids;
        ridge_buf out;
        ridge_buf_init(&out, ridge_ctx_arena(cx));
        assert_done(cx, ridge_tokenizer_encode(cx, t, in, 0, &ids));
        ridge_tokenizer_decode(t, ids.ids, ids.n, &out);
        assert_int_equal(out.n, in.n);
        assert_memory_equal(out.p, in.p, in.n);
    }
    ridge_ctx_close(cx);
}

/* A file of several pieces has the tokens that its text has. */
static void token_data_of_pieces_is_that_of_the_whole(void **state)
{
    (void)state;
    enum { BYTES = 5 << 20, T = 4096 };
    ridge_ctx *cx = ridge_ctx_open();
    const char *dir = own_folder(cx, "test_tokenizer_laws.dir");
    const ridge_tokenizer *t = tokenizer_of(cx, &WORDS);
    char *text = ridge_new(ridge_ctx_arena(cx), char, BYTES);
    seeded at = 5;
    const size_t n = draw_text(&at, text, BYTES);
    const char *path = own_file(cx, dir, "a.txt", text, n);
    const ridge_data_options options = {0};
    const ridge_token_data *data;
    ridge_tokens ids;
    static int32_t inputs[T], labels[T];
    assert_done(cx, ridge_token_data_open(cx, t, &path, 1, &options, &data));
    assert_done(cx, ridge_tokenizer_encode(cx, t, (ridge_str){text, n}, 0, &ids));
    assert_int_equal(ridge_token_data_count(data, RIDGE_DATA_TRAIN), ids.n);
    const int64_t windows = ridge_token_data_windows(data, RIDGE_DATA_TRAIN, T);
    for (int64_t i = 0; i < windows; i++) {
        ridge_token_data_window(data, RIDGE_DATA_TRAIN, i, T, inputs, labels);
        assert_memory_equal(inputs, ids.ids + i * T, sizeof inputs);
        assert_memory_equal(labels, ids.ids + i * T + 1, sizeof labels);
    }
    own_folder_remove(dir);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_does_as_it_is_defined),
        cmocka_unit_test(any_bytes_come_back),
        cmocka_unit_test(token_data_of_pieces_is_that_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
