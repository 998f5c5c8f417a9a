/* Token data: files and folders, parts, sequences that are drawn alike, complaints. */
#include "near.h"

#include "own_folder.h"

#include "ridge/execute_text.h"

#include <string.h>
#include <sys/stat.h>

enum { T = 4 };

typedef struct world {
    ridge_ctx *cx;
    const char *dir;
    const ridge_tokenizer *bytes;
} world;

static int open_world(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    world *w = cx == NULL ? NULL : ridge_new(ridge_ctx_arena(cx), world, 1);
    if (w == NULL)
        return -1;
    w->cx = cx;
    w->dir = own_folder(cx, "test_token_data.dir");
    assert_done(cx, ridge_tokenizer_open(cx, "bytes", 0, &w->bytes));
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    world *w = *state;
    own_folder_remove(w->dir);
    ridge_ctx_close(w->cx);
    return 0;
}

static const char *text_file(const world *w, const char *name, const char *text)
{
    return own_file(w->cx, w->dir, name, text, strlen(text));
}

static const ridge_token_data *data_of(const world *w, const char *path, double eval)
{
    const ridge_data_options options = {.eval_fraction = eval};
    const ridge_token_data *data;
    assert_done(w->cx,
                ridge_token_data_open(w->cx, w->bytes, &path, 1, &options, &data));
    return data;
}

static void the_end_of_the_text_is_for_evaluation(void **state)
{
    const world *w = *state;
    const char *path = text_file(w, "a.txt", "0123456789");
    const ridge_token_data *data = data_of(w, path, 0.3);
    int32_t inputs[2], labels[2];
    assert_int_equal(ridge_token_data_count(data, RIDGE_DATA_TRAIN), 7);
    assert_int_equal(ridge_token_data_count(data, RIDGE_DATA_EVAL), 3);
    assert_near(ridge_token_data_bytes(data, RIDGE_DATA_EVAL), 3.0, 0.0);
    assert_int_equal(ridge_token_data_windows(data, RIDGE_DATA_TRAIN, 2), 3);
    assert_int_equal(ridge_token_data_windows(data, RIDGE_DATA_EVAL, 2), 1);
    ridge_token_data_window(data, RIDGE_DATA_EVAL, 0, 2, inputs, labels);
    assert_int_equal(inputs[0], '7');
    assert_int_equal(labels[0], '8');
    assert_int_equal(labels[1], '9');
    assert_done(w->cx, ridge_token_data_check(w->cx, data, RIDGE_DATA_TRAIN, 6));
    assert_failed(w->cx, ridge_token_data_check(w->cx, data, RIDGE_DATA_TRAIN, 7),
                  RIDGE_E_ARG,
                  "7 tokens to train on, but a sequence of 7 needs one more");
    assert_failed(w->cx, ridge_token_data_check(w->cx, data, RIDGE_DATA_EVAL, 3),
                  RIDGE_E_ARG, "3 tokens to evaluate with");
}

static void sequences_depend_on_seed_step_and_number_alone(void **state)
{
    const world *w = *state;
    const char *path = text_file(w, "a.txt", "abcdefghijklmnopqrstuvwxyz0123456789");
    const ridge_token_data *data = data_of(w, path, 0.1),
                           *again = data_of(w, path, 0.1);
    int starts[256] = {0};
    for (int64_t step = 0; step < 40; step++) {
        for (int64_t i = 0; i < 20; i++) {
            const ridge_draw draw = {RIDGE_DATA_TRAIN, 7, step, i, T};
            int32_t a[T], b[T], c[T], d[T];
            ridge_token_data_draw(data, &draw, a, b);
            ridge_token_data_draw(again, &draw, c, d);
            assert_memory_equal(a, c, sizeof a);
            assert_memory_equal(b, d, sizeof b);
            assert_memory_equal(a + 1, b, sizeof a - sizeof *a);
            starts[a[0]]++;
        }
    }
    /* 33 tokens to train on have 29 places of 5; 800 draws leave none of them out. */
    for (const char *p = "abcdefghijklmnopqrstuvwxyz012"; *p != '\0'; p++)
        assert_true(starts[(unsigned char)*p] > 5);
    assert_int_equal(starts['3'], 0);
}

static void folders_are_read_by_name(void **state)
{
    const world *w = *state;
    text_file(w, "b.md", "B");
    text_file(w, "a.txt", "A");
    text_file(w, "c.html", "C");
    const char *inner = own_path(w->cx, w->dir, "a.d");
    assert_int_equal(mkdir(inner, 0777), 0);
    own_file(w->cx, inner, "x.txt", "X", 1);
    const ridge_token_data *data = data_of(w, w->dir, 0.0);
    int32_t inputs[2], labels[2];
    assert_int_equal(ridge_token_data_count(data, RIDGE_DATA_TRAIN), 3);
    ridge_token_data_window(data, RIDGE_DATA_TRAIN, 0, 2, inputs, labels);
    assert_int_equal(inputs[0], 'X');
    assert_int_equal(inputs[1], 'A');
    assert_int_equal(labels[1], 'B');
}

/* ---- files of ids ---------------------------------------------------------------- */

static const char *id_file(const world *w, uint32_t magic, uint32_t version,
                           uint32_t count, size_t n)
{
    static unsigned char bytes[1024 + 64];
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, &magic, 4);
    memcpy(bytes + 4, &version, 4);
    memcpy(bytes + 8, &count, 4);
    for (size_t i = 0; i < 64; i += 2)
        bytes[1024 + i] = (unsigned char)(i / 2);
    return own_file(w->cx, w->dir, "t.bin", bytes, n);
}

static ridge_status open_ids(const world *w, const char *path, int64_t vocab,
                             const ridge_token_data **out)
{
    const ridge_data_options options = {.vocab = vocab};
    return ridge_token_data_open(w->cx, NULL, &path, 1, &options, out);
}

static void files_of_ids_are_read(void **state)
{
    const world *w = *state;
    const ridge_token_data *data;
    int32_t inputs[2], labels[2];
    const char *path = id_file(w, 20240520, 1, 32, 1024 + 64);
    assert_done(w->cx, open_ids(w, path, 32, &data));
    assert_int_equal(ridge_token_data_count(data, RIDGE_DATA_TRAIN), 32);
    ridge_token_data_window(data, RIDGE_DATA_TRAIN, 1, 2, inputs, labels);
    assert_int_equal(inputs[0], 2);
    assert_int_equal(labels[1], 4);
    assert_failed(w->cx, open_ids(w, path, 31, &data), RIDGE_E_PARSE,
                  "token 31 is 31, but the model's vocabulary is 31");
    path = own_file(w->cx, w->dir, "n.bin", "\1\0\2\1", 4); /* nanoGPT: no header */
    assert_done(w->cx, open_ids(w, path, 0, &data));
    ridge_token_data_window(data, RIDGE_DATA_TRAIN, 0, 1, inputs, labels);
    assert_int_equal(inputs[0], 1);
    assert_int_equal(labels[0], 258);
}

static void damaged_files_of_ids_are_refused(void **state)
{
    const world *w = *state;
    const ridge_token_data *data;
    assert_failed(w->cx, open_ids(w, id_file(w, 20240520, 2, 32, 1088), 0, &data),
                  RIDGE_E_PARSE, "a token file of version 2: Ridge reads 1");
    assert_failed(w->cx, open_ids(w, id_file(w, 20240520, 1, 33, 1088), 0, &data),
                  RIDGE_E_PARSE, "32 tokens, but its header says 33");
    assert_failed(w->cx, open_ids(w, id_file(w, 20240801, 7, 32, 1088), 0, &data),
                  RIDGE_E_PARSE, "16 tokens, but its header says 32");
    assert_failed(w->cx,
                  open_ids(w, own_file(w->cx, w->dir, "o.bin", "abc", 3), 0, &data),
                  RIDGE_E_PARSE, "an odd number of bytes");
}

static void what_cannot_be_read_is_told(void **state)
{
    const world *w = *state;
    const ridge_token_data *data;
    const char *none = own_path(w->cx, w->dir, "none.txt");
    const char *empty = text_file(w, "empty.txt", "");
    const char *some = text_file(w, "some.txt", "a");
    const ridge_data_options options = {0}, many = {.eval_fraction = 0.6};
    assert_failed(w->cx,
                  ridge_token_data_open(w->cx, w->bytes, &none, 1, &options, &data),
                  RIDGE_E_NOTFOUND, "no such file or folder");
    assert_failed(w->cx,
                  ridge_token_data_open(w->cx, w->bytes, &empty, 1, &options, &data),
                  RIDGE_E_ARG, "no tokens to train on");
    assert_failed(w->cx, ridge_token_data_open(w->cx, NULL, &some, 1, &options, &data),
                  RIDGE_E_ARG, "text needs a tokenizer");
    assert_failed(w->cx, ridge_token_data_open(w->cx, w->bytes, &some, 1, &many, &data),
                  RIDGE_E_ARG, "0 to 0.5");
    const char *inner = own_path(w->cx, w->dir, "inner");
    assert_int_equal(mkdir(inner, 0777), 0);
    assert_failed(w->cx,
                  ridge_token_data_open(w->cx, w->bytes, &inner, 1, &options, &data),
                  RIDGE_E_NOTFOUND, "holds no *.txt, *.md or *.bin");
}

int main(void)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)
    const struct CMUnitTest tests[] = {
        IN_WORLD(the_end_of_the_text_is_for_evaluation),
        IN_WORLD(sequences_depend_on_seed_step_and_number_alone),
        IN_WORLD(folders_are_read_by_name),
        IN_WORLD(files_of_ids_are_read),
        IN_WORLD(damaged_files_of_ids_are_refused),
        IN_WORLD(what_cannot_be_read_is_told),
    };
#undef IN_WORLD
    return cmocka_run_group_tests(tests, NULL, NULL);
}
