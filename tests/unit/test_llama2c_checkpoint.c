/* Checkpoints of llama2.c in all formats: their model, their weights, damage. */
#include "near.h"

#include "own_folder.h"

#include "ridge/execute_weights.h"

#include <string.h>

/* D 4, F 3, L 2, N 2, K 1, V 5, T 3; head dim 2. */
enum { D = 4, F = 3, L = 2, KV = 2, V = 5, T = 3 };

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

static void add_floats(ridge_buf *b, int first, int n)
{
    for (int i = 0; i < n; i++) {
        const float f = (float)(first + i);
        ridge_buf_add(b, (ridge_str){(const char *)&f, 4});
    }
}

static void add_sizes(ridge_buf *b, int32_t vocab)
{
    const int32_t sizes[] = {D, F, L, 2, 1, vocab, T};
    ridge_buf_add(b, (ridge_str){(const char *)sizes, sizeof sizes});
}

/* Numbers tell the weight: hundreds its kind. */
static ridge_buf legacy(ridge_ctx *cx, bool is_tied)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    add_sizes(&b, is_tied ? V : -V);
    add_floats(&b, 0, V * D);        /* embedding */
    add_floats(&b, 100, L * D);      /* rms_att */
    add_floats(&b, 200, L * D * D);  /* wq */
    add_floats(&b, 300, L * KV * D); /* wk */
    add_floats(&b, 400, L * KV * D); /* wv */
    add_floats(&b, 500, L * D * D);  /* wo */
    add_floats(&b, 600, L * D);      /* rms_ffn */
    add_floats(&b, 700, L * F * D);  /* w1 */
    add_floats(&b, 800, L * D * F);  /* w2 */
    add_floats(&b, 900, L * F * D);  /* w3 */
    add_floats(&b, 1000, D);         /* rms_final */
    add_floats(&b, 0, T * 2);        /* rotary tables */
    if (!is_tied)
        add_floats(&b, 1100, V * D);
    return b;
}

static ridge_buf version_1(ridge_ctx *cx)
{
    const uint32_t magic[] = {0x616b3432, 1};
    const char is_tied = 1;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_add(&b, (ridge_str){(const char *)magic, sizeof magic});
    add_sizes(&b, V);
    ridge_buf_add(&b, (ridge_str){&is_tied, 1});
    ridge_buf_pad(&b, '\0', 256 - b.n);
    add_floats(&b, 100, L * D);
    add_floats(&b, 600, L * D);
    add_floats(&b, 1000, D);
    add_floats(&b, 0, V * D);
    add_floats(&b, 200, L * D * D);
    add_floats(&b, 300, L * KV * D);
    add_floats(&b, 400, L * KV * D);
    add_floats(&b, 500, L * D * D);
    add_floats(&b, 700, L * F * D);
    add_floats(&b, 800, L * D * F);
    add_floats(&b, 900, L * F * D);
    return b;
}

/* Groups of one element: each row ends one, whatever its length. */
static void add_packed(ridge_buf *b, int first, int n)
{
    for (int i = 0; i < n; i++)
        ridge_buf_add(b, (ridge_str){"\x02", 1});
    for (int i = 0; i < n; i++) {
        const float scale = (float)(first + i) / 2.0F;
        ridge_buf_add(b, (ridge_str){(const char *)&scale, 4});
    }
}

static ridge_buf version_2(ridge_ctx *cx)
{
    const uint32_t magic[] = {0x616b3432, 2};
    const int32_t group = 1;
    const char is_tied = 1;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_add(&b, (ridge_str){(const char *)magic, sizeof magic});
    add_sizes(&b, V);
    ridge_buf_add(&b, (ridge_str){&is_tied, 1});
    ridge_buf_add(&b, (ridge_str){(const char *)&group, sizeof group});
    ridge_buf_pad(&b, '\0', 256 - b.n);
    add_floats(&b, 100, L * D);
    add_floats(&b, 600, L * D);
    add_floats(&b, 1000, D);
    add_packed(&b, 0, V * D);
    for (int l = 0; l < L; l++)
        add_packed(&b, 200 + l * D * D, D * D);
    for (int l = 0; l < L; l++)
        add_packed(&b, 300 + l * KV * D, KV * D);
    for (int l = 0; l < L; l++)
        add_packed(&b, 400 + l * KV * D, KV * D);
    for (int l = 0; l < L; l++)
        add_packed(&b, 500 + l * D * D, D * D);
    for (int kind = 7; kind <= 9; kind++) {
        for (int l = 0; l < L; l++)
            add_packed(&b, 100 * kind + l * F * D, F * D);
    }
    return b;
}

static void assert_first(ridge_ctx *cx, const ridge_weight_source *s, const char *base,
                         int64_t layer, const ridge_region *g, float want)
{
    float out[64];
    assert_done(cx, ridge_weight_source_read(cx, s, (ridge_weight_name){base, layer}, g,
                                             NULL, out));
    assert_near((double)out[0], (double)want, 0.0);
}

static void assert_weights(ridge_ctx *cx, const ridge_weight_source *s)
{
    const ridge_region vector = ridge_region_whole(1, (int64_t[]){D});
    const ridge_region q = ridge_region_whole(3, (int64_t[]){D, 2, 2});
    const ridge_region k = ridge_region_whole(3, (int64_t[]){D, 1, 2});
    const ridge_region o = ridge_region_whole(3, (int64_t[]){2, 2, D});
    const ridge_region up = ridge_region_whole(2, (int64_t[]){D, F});
    const ridge_region down = ridge_region_whole(2, (int64_t[]){F, D});
    float out[16];
    assert_string_equal(ridge_weight_source_format(s), "llama2.c");
    assert_first(cx, s, "h_weight", 1, &vector, 104);
    assert_first(cx, s, "wq", 1, &q, 216);
    assert_first(cx, s, "wk", 1, &k, 308);
    assert_first(cx, s, "wv", 0, &k, 400);
    assert_first(cx, s, "wo", 1, &o, 516);
    assert_first(cx, s, "h_ffn_weight", 0, &vector, 600);
    assert_first(cx, s, "w_gate", 1, &up, 712);
    assert_first(cx, s, "w_down", 1, &down, 812);
    assert_first(cx, s, "w_up", 0, &up, 900);
    assert_first(cx, s, "final_norm_weight", -1, &vector, 1000);
    /* [out, in] is transposed, pairs stay where they are. */
    assert_done(cx, ridge_weight_source_read(cx, s, (ridge_weight_name){"wk", 0}, &k,
                                             NULL, out));
    assert_near((double)out[1], 304.0, 0.0);
    assert_near((double)out[2], 301.0, 0.0);
}

static void all_formats_hold_the_same_weights(void **state)
{
    ridge_ctx *cx = *state;
    const char *dir = own_folder(cx, "test_llama2c_checkpoint.dir");
    const ridge_buf files[] = {legacy(cx, true), legacy(cx, false), version_1(cx),
                               version_2(cx)};
    const ridge_region head = ridge_region_whole(2, (int64_t[]){V, D});
    for (size_t i = 0; i < RIDGE_COUNT_OF(files); i++) {
        const ridge_weight_source *s;
        const ridge_model *model;
        ridge_numerics n;
        const char *path = own_file(cx, dir, "tiny.bin", files[i].p, files[i].n);
        assert_true(ridge_llama2c_is_checkpoint(path));
        assert_done(cx, ridge_llama2c_model(cx, path, &model, &n));
        assert_done(cx, ridge_weight_source_open(cx, path, model, &n, &s));
        assert_weights(cx, s);
        assert_first(cx, s, "unembedding", -1, &head, i == 1 ? 1100.0F : 0.0F);
        assert_int_equal(model->is_tied, i != 1);
    }
    own_folder_remove(dir);
}

static void the_header_is_a_model(void **state)
{
    ridge_ctx *cx = *state;
    const char *dir = own_folder(cx, "test_llama2c_checkpoint.dir");
    const ridge_buf b = legacy(cx, true);
    const char *path = own_file(cx, dir, "tiny.bin", b.p, b.n);
    const ridge_model *m;
    ridge_numerics n, again;
    assert_done(cx, ridge_llama2c_model(cx, path, &m, &n));
    assert_string_equal(m->name, "tiny");
    assert_int_equal(m->d_model, D);
    assert_int_equal(m->layer_count, L);
    assert_int_equal(m->vocab, V);
    assert_int_equal(m->layers[0].mixer.heads, 2);
    assert_int_equal(m->layers[0].mixer.kv_heads, 1);
    assert_int_equal(m->layers[0].mixer.head_dim, 2);
    assert_int_equal(m->layers[0].ffn.d_ff, F);
    assert_near((double)n.norm_epsilon, 1e-5, 1e-6);
    assert_near(n.rope_theta, 10000.0, 0.0);
    assert_true(n.has_paired_rope);
    assert_done(cx, ridge_numerics_load(cx, path, &again));
    assert_true(again.has_paired_rope);
    own_folder_remove(dir);
}

static void other_sizes_and_cut_files_are_refused(void **state)
{
    ridge_ctx *cx = *state;
    const char *dir = own_folder(cx, "test_llama2c_checkpoint.dir");
    ridge_buf b = legacy(cx, true);
    const ridge_weight_source *s;
    const char *path = own_file(cx, dir, "cut.bin", b.p, b.n - 4);
    assert_false(ridge_llama2c_is_checkpoint(path));
    assert_failed(cx, ridge_weight_source_open(cx, path, NULL, NULL, &s), RIDGE_E_PARSE,
                  "the file is cut or no llama2.c checkpoint");
    path = own_file(cx, dir, "short.bin", b.p, 20);
    assert_failed(cx, ridge_weight_source_open(cx, path, NULL, NULL, &s), RIDGE_E_PARSE,
                  "no sizes of a llama2.c model");
    const int32_t huge = 0x7FFFFFFF;
    memcpy(b.p, &huge, 4);
    path = own_file(cx, dir, "huge.bin", b.p, b.n);
    assert_failed(cx, ridge_weight_source_open(cx, path, NULL, NULL, &s), RIDGE_E_PARSE,
                  "no sizes of a llama2.c model");
    b = version_1(cx);
    b.p[4] = 3;
    path = own_file(cx, dir, "v3.bin", b.p, b.n);
    assert_failed(cx, ridge_weight_source_open(cx, path, NULL, NULL, &s), RIDGE_E_PARSE,
                  "a llama2.c checkpoint of version 3");
    b = version_2(cx);
    b.p[37] = 3; /* elements of a group: rows of 4 are no whole groups */
    path = own_file(cx, dir, "group.bin", b.p, b.n);
    assert_failed(cx, ridge_weight_source_open(cx, path, NULL, NULL, &s), RIDGE_E_PARSE,
                  "no sizes of a llama2.c model");
    own_folder_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_formats_hold_the_same_weights),
        cmocka_unit_test(the_header_is_a_model),
        cmocka_unit_test(other_sizes_and_cut_files_are_refused),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
