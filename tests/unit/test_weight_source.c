/* Weights of others in a program's layout: transposed, rotary pairs side by side, from
 * one file or several; and what is missing or damaged. */
#include "near.h"

#include "own_folder.h"
#include "weights_build.h"

#include "ridge/execute_weights.h"

#include <string.h>

typedef struct world {
    ridge_ctx *cx;
    const char *dir;
} world;

static int open_world(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    world *w = cx == NULL ? NULL : ridge_new(ridge_ctx_arena(cx), world, 1);
    if (w == NULL)
        return -1;
    *w = (world){cx, own_folder(cx, "test_weight_source.dir")};
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

static const ridge_weight_source *source_of(const world *w, const char *path,
                                            const ridge_numerics *numerics)
{
    const ridge_weight_source *s;
    assert_done(w->cx, ridge_weight_source_open(w->cx, path, NULL, numerics, &s));
    return s;
}

static void assert_whole(const world *w, const ridge_weight_source *s,
                         ridge_weight_name name, int n_dims, const int64_t *shape,
                         const float *want)
{
    float got[256] = {0};
    const ridge_region all = ridge_region_whole(n_dims, shape);
    const int64_t n = ridge_region_elements(&all);
    assert_done(w->cx, ridge_weight_source_read(w->cx, s, name, &all, NULL, got));
    for (int64_t i = 0; i < n; i++) {
        if (got[i] != want[i])
            fail_msg("%s[%d] is %g, not %g", name.base, (int)i, (double)got[i],
                     (double)want[i]);
    }
}

/* D 2, N 2, K 1, H 4, F 3, V 3, E 2. */
static const built_weight LLAMA[] = {
    {"model.embed_tokens.weight", "F32", 2, {3, 2}, 0},
    {"model.layers.0.self_attn.q_proj.weight", "F32", 2, {8, 2}, 100},
    {"model.layers.0.self_attn.q_proj.bias", "BF16", 1, {8}, 0},
    {"model.layers.0.self_attn.k_proj.weight", "F16", 2, {4, 2}, 10},
    {"model.layers.0.self_attn.v_proj.weight", "BF16", 2, {4, 2}, 10},
    {"model.layers.0.self_attn.o_proj.weight", "F32", 2, {2, 8}, 0},
    {"model.layers.0.self_attn.q_norm.weight", "F32", 1, {4}, 0},
    {"model.layers.0.mlp.gate_proj.weight", "F32", 2, {3, 2}, 0},
    {"model.layers.0.mlp.down_proj.weight", "F32", 2, {2, 3}, 0},
    {"model.layers.0.input_layernorm.weight", "F32", 1, {2}, 5},
    {"model.layers.0.post_attention_layernorm.weight", "F32", 1, {2}, 7},
    {"model.norm.weight", "F32", 1, {2}, 9},
    {"model.layers.0.block_sparse_moe.gate.weight", "F32", 2, {2, 2}, 0},
    {"model.layers.0.block_sparse_moe.experts.0.w1.weight", "F32", 2, {3, 2}, 0},
    {"model.layers.0.block_sparse_moe.experts.1.w1.weight", "F32", 2, {3, 2}, 50}};

static const char *llama_file(const world *w)
{
    return weights_file(w->cx, w->dir, "model.safetensors", LLAMA,
                        RIDGE_COUNT_OF(LLAMA));
}

static void matrices_are_transposed(void **state)
{
    const world *w = *state;
    llama_file(w);
    const ridge_weight_source *s = source_of(w, w->dir, NULL);
    assert_string_equal(ridge_weight_source_format(s), "safetensors");
    assert_whole(w, s, (ridge_weight_name){"w_gate", 0}, 2, (int64_t[]){2, 3},
                 (float[]){0, 2, 4, 1, 3, 5});
    assert_whole(w, s, (ridge_weight_name){"w_down", 0}, 2, (int64_t[]){3, 2},
                 (float[]){0, 3, 1, 4, 2, 5});
    assert_whole(w, s, (ridge_weight_name){"wv", 0}, 3, (int64_t[]){2, 1, 4},
                 (float[]){10, 12, 14, 16, 11, 13, 15, 17});
    assert_whole(w, s, (ridge_weight_name){"wo", 0}, 3, (int64_t[]){2, 4, 2},
                 (float[]){0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15});
    assert_whole(w, s, (ridge_weight_name){"embedding", -1}, 2, (int64_t[]){3, 2},
                 (float[]){0, 1, 2, 3, 4, 5});
    assert_whole(w, s, (ridge_weight_name){"h_ffn_weight", 0}, 1, (int64_t[]){2},
                 (float[]){7, 8});
    assert_whole(w, s, (ridge_weight_name){"router", 0}, 2, (int64_t[]){2, 2},
                 (float[]){0, 2, 1, 3});
    assert_whole(w, s, (ridge_weight_name){"expert_gate", 0}, 3, (int64_t[]){2, 2, 3},
                 (float[]){0, 2, 4, 1, 3, 5, 50, 52, 54, 51, 53, 55});
}

static void rotary_pairs_lie_side_by_side(void **state)
{
    const world *w = *state;
    const ridge_weight_source *s = source_of(w, llama_file(w), NULL);
    /* Of a head 0 1 2 3 the pairs are (0, 2) and (1, 3). */
    assert_whole(w, s, (ridge_weight_name){"q_norm_weight", 0}, 1, (int64_t[]){4},
                 (float[]){0, 2, 1, 3});
    assert_whole(w, s, (ridge_weight_name){"wq_bias", 0}, 2, (int64_t[]){2, 4},
                 (float[]){0, 2, 1, 3, 4, 6, 5, 7});
    assert_whole(w, s, (ridge_weight_name){"wk", 0}, 3, (int64_t[]){2, 1, 4},
                 (float[]){10, 14, 12, 16, 11, 15, 13, 17});
    ridge_numerics n = ridge_numerics_default();
    n.has_paired_rope = true;
    assert_whole(w, source_of(w, w->dir, &n), (ridge_weight_name){"wq_bias", 0}, 2,
                 (int64_t[]){2, 4}, (float[]){0, 1, 2, 3, 4, 5, 6, 7});
    n = ridge_numerics_default();
    n.rope_fraction = 0.5; /* of a head of 8, the first 4 turn */
    assert_whole(w, source_of(w, w->dir, &n), (ridge_weight_name){"wq_bias", 0}, 2,
                 (int64_t[]){1, 8}, (float[]){0, 2, 1, 3, 4, 5, 6, 7});
}

static void any_region_is_that_of_the_whole(void **state)
{
    const world *w = *state;
    const ridge_weight_source *s = source_of(w, llama_file(w), NULL);
    const int64_t shape[] = {2, 2, 4};
    const ridge_region all = ridge_region_whole(3, shape);
    float whole[16], got[64];
    assert_done(w->cx, ridge_weight_source_read(w->cx, s, (ridge_weight_name){"wq", 0},
                                                &all, NULL, whole));
    for (int from = 0; from < 4; from++) {
        for (int count = 0; count <= 4 - from; count++) {
            const ridge_region part = {.n_dims = 3,
                                       .shape = {2, 2, 4},
                                       .start = {1, 1, from},
                                       .count = {1, 1, count}};
            const int64_t strides[] = {1, 1, 3};
            assert_done(w->cx,
                        ridge_weight_source_read(w->cx, s, (ridge_weight_name){"wq", 0},
                                                 &part, strides, got));
            for (int i = 0; i < count; i++)
                assert_true(got[3 * i] == whole[12 + from + i]);
        }
    }
}

static void a_tied_head_is_the_embedding(void **state)
{
    const world *w = *state;
    const ridge_weight_source *s = source_of(w, llama_file(w), NULL);
    const ridge_weight_name head = {"unembedding", -1};
    assert_false(ridge_weight_source_has(w->cx, s, head));
    assert_true(ridge_weight_source_has(w->cx, s, (ridge_weight_name){"wq", 0}));
    assert_false(ridge_weight_source_has(w->cx, s, (ridge_weight_name){"wq", 1}));
    assert_whole(w, s, head, 2, (int64_t[]){3, 2}, (float[]){0, 1, 2, 3, 4, 5});
}

static void fused_weights_are_taken_apart(void **state)
{
    static const built_weight PHI[] = {
        {"model.embed_tokens.weight", "F32", 2, {3, 1}, 0},
        {"model.layers.1.self_attn.qkv_proj.weight", "F32", 2, {8, 1}, 0},
        {"model.layers.1.mlp.gate_up_proj.weight", "F32", 2, {6, 1}, 0}};
    const world *w = *state;
    const ridge_weight_source *s =
        source_of(w, weights_file(w->cx, w->dir, "p.safetensors", PHI, 3), NULL);
    assert_whole(w, s, (ridge_weight_name){"wq", 1}, 3, (int64_t[]){1, 2, 2},
                 (float[]){0, 1, 2, 3});
    assert_whole(w, s, (ridge_weight_name){"wk", 1}, 3, (int64_t[]){1, 1, 2},
                 (float[]){4, 5});
    assert_whole(w, s, (ridge_weight_name){"wv", 1}, 3, (int64_t[]){1, 1, 2},
                 (float[]){6, 7});
    assert_whole(w, s, (ridge_weight_name){"w_up", 1}, 2, (int64_t[]){1, 3},
                 (float[]){3, 4, 5});
}

/* ---- several files --------------------------------------------------------------- */

static void norms_have_biases(void **state)
{
    static const built_weight PHI[] = {
        {"model.embed_tokens.weight", "F32", 2, {3, 2}, 0},
        {"model.layers.0.input_layernorm.weight", "F32", 1, {2}, 1},
        {"model.layers.0.input_layernorm.bias", "F32", 1, {2}, 3},
        {"model.layers.0.self_attn.dense.weight", "F32", 2, {2, 2}, 0},
        {"model.layers.0.mlp.fc1.weight", "F32", 2, {3, 2}, 0},
        {"model.layers.0.mlp.fc2.bias", "F32", 1, {2}, 5},
        {"model.final_layernorm.weight", "F32", 1, {2}, 7},
        {"model.final_layernorm.bias", "F32", 1, {2}, 9}};
    const world *w = *state;
    const ridge_weight_source *s = source_of(
        w, weights_file(w->cx, w->dir, "phi.safetensors", PHI, RIDGE_COUNT_OF(PHI)),
        NULL);
    assert_whole(w, s, (ridge_weight_name){"h_weight", 0}, 1, (int64_t[]){2},
                 (float[]){1, 2});
    assert_whole(w, s, (ridge_weight_name){"h_bias", 0}, 1, (int64_t[]){2},
                 (float[]){3, 4});
    assert_whole(w, s, (ridge_weight_name){"wo", 0}, 3, (int64_t[]){1, 2, 2},
                 (float[]){0, 2, 1, 3});
    assert_whole(w, s, (ridge_weight_name){"w_up", 0}, 2, (int64_t[]){2, 3},
                 (float[]){0, 2, 4, 1, 3, 5});
    assert_whole(w, s, (ridge_weight_name){"w_down_bias", 0}, 1, (int64_t[]){2},
                 (float[]){5, 6});
    assert_whole(w, s, (ridge_weight_name){"final_norm_bias", -1}, 1, (int64_t[]){2},
                 (float[]){9, 10});
}

static void opt_has_names_of_its_own(void **state)
{
    static const built_weight OPT[] = {
        {"model.decoder.embed_tokens.weight", "F32", 2, {3, 2}, 0},
        {"model.decoder.embed_positions.weight", "F32", 2, {4, 2}, 20},
        {"model.decoder.layers.0.self_attn_layer_norm.bias", "F32", 1, {2}, 1},
        {"model.decoder.layers.0.self_attn.out_proj.weight", "F32", 2, {2, 2}, 0},
        {"model.decoder.layers.0.final_layer_norm.weight", "F32", 1, {2}, 3},
        {"model.decoder.layers.0.fc1.weight", "F32", 2, {3, 2}, 0},
        {"model.decoder.final_layer_norm.weight", "F32", 1, {2}, 5}};
    const world *w = *state;
    const ridge_weight_source *s = source_of(
        w, weights_file(w->cx, w->dir, "opt.safetensors", OPT, RIDGE_COUNT_OF(OPT)),
        NULL);
    assert_whole(w, s, (ridge_weight_name){"position_table", -1}, 2, (int64_t[]){4, 2},
                 (float[]){20, 21, 22, 23, 24, 25, 26, 27});
    assert_whole(w, s, (ridge_weight_name){"h_bias", 0}, 1, (int64_t[]){2},
                 (float[]){1, 2});
    assert_whole(w, s, (ridge_weight_name){"h_ffn_weight", 0}, 1, (int64_t[]){2},
                 (float[]){3, 4});
    assert_whole(w, s, (ridge_weight_name){"w_up", 0}, 2, (int64_t[]){2, 3},
                 (float[]){0, 2, 4, 1, 3, 5});
    assert_whole(w, s, (ridge_weight_name){"final_norm_weight", -1}, 1, (int64_t[]){2},
                 (float[]){5, 6});
    assert_whole(w, s, (ridge_weight_name){"unembedding", -1}, 2, (int64_t[]){3, 2},
                 (float[]){0, 1, 2, 3, 4, 5});
}

static void write_index(const world *w, const char *second)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"weight_map\": {\"model.embed_tokens.weight\": \"a.safetensors\", "
             "\"model.norm.weight\": \"%s\"}}",
             second);
    own_file(w->cx, w->dir, "model.safetensors.index.json", text, strlen(text));
}

static void shards_are_one_checkpoint(void **state)
{
    const world *w = *state;
    const ridge_weight_source *s;
    weights_file(w->cx, w->dir, "a.safetensors", LLAMA, 1);
    write_index(w, "b.safetensors");
    assert_failed(w->cx, ridge_weight_source_open(w->cx, w->dir, NULL, NULL, &s),
                  RIDGE_E_PARSE, "b.safetensors is missing");
    weights_file(w->cx, w->dir, "b.safetensors", LLAMA + 11, 1);
    s = source_of(w, w->dir, NULL);
    assert_near(ridge_weight_source_bytes(s), 32.0, 0.0);
    assert_whole(w, s, (ridge_weight_name){"final_norm_weight", -1}, 1, (int64_t[]){2},
                 (float[]){9, 10});
    weights_file(w->cx, w->dir, "b.safetensors", LLAMA + 9, 1);
    assert_failed(w->cx, ridge_weight_source_open(w->cx, w->dir, NULL, NULL, &s),
                  RIDGE_E_PARSE, "b.safetensors does not hold the weight model.norm");
    write_index(w, "../b.safetensors");
    assert_failed(w->cx, ridge_weight_source_open(w->cx, w->dir, NULL, NULL, &s),
                  RIDGE_E_PARSE, "is no file beside the index");
}

/* ---- complaints ------------------------------------------------------------------ */

static void what_is_missing_is_named(void **state)
{
    const world *w = *state;
    const ridge_weight_source *s = source_of(w, llama_file(w), NULL);
    const ridge_region g = ridge_region_whole(3, (int64_t[]){2, 2, 4});
    const ridge_region wide = ridge_region_whole(3, (int64_t[]){3, 2, 4});
    ridge_region beyond = g;
    float out[64];
    beyond.start[1] = 1;
    assert_failed(
        w->cx,
        ridge_weight_source_read(w->cx, s, (ridge_weight_name){"wq", 3}, &g, NULL, out),
        RIDGE_E_NOTFOUND,
        "has no weight for wq of layer 3: looked for "
        "model.layers.3.self_attn.q_proj.weight");
    assert_failed(w->cx,
                  ridge_weight_source_read(w->cx, s, (ridge_weight_name){"wq", 0},
                                           &wide, NULL, out),
                  RIDGE_E_PARSE, "is [8, 2], but the model's wq needs [8, 3]");
    assert_failed(w->cx,
                  ridge_weight_source_read(w->cx, s, (ridge_weight_name){"wq", 0},
                                           &beyond, NULL, out),
                  RIDGE_E_ARG, "its dim 1 has 2 elements from 1, of 2");
    assert_failed(w->cx,
                  ridge_weight_source_read(w->cx, s, (ridge_weight_name){"index_wk", 0},
                                           &g, NULL, out),
                  RIDGE_E_NOTFOUND, "knows no name for the weight index_wk");
}

static void damaged_files_are_refused(void **state)
{
    static const struct {
        const char *header;
        size_t data_bytes;
        const char *message;
    } rows[] = {
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}}", 4,
         "a.data_offsets[1]"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 4]}}", 8,
         "4 bytes of data, but its shape of 2 F32"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}, "
         "\"b\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [2, 6]}}",
         8, "the data of a and b overlap"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4294967296, 4294967296, 2], "
         "\"data_offsets\": [0, 4]}}",
         8, "the shape is too large"},
        {"{\"a\": {\"dtype\": \"X9\", \"shape\": [1], \"data_offsets\": [0, 4]}}", 8,
         "unknown dtype \"X9\""},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [-1], \"data_offsets\": [0, 4]}}", 8,
         "a.shape[0]"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [4, 0]}}", 8,
         "a.data_offsets[1]"},
        {"[]", 0, "the header must be an object"},
        {"{", 0, "h.safetensors"}};
    const world *w = *state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const ridge_weight_source *s;
        const char *path = weights_raw_file(w->cx, w->dir, "h.safetensors",
                                            rows[i].header, rows[i].data_bytes);
        assert_failed(w->cx, ridge_weight_source_open(w->cx, path, NULL, NULL, &s),
                      RIDGE_E_PARSE, rows[i].message);
    }
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    const world *w = *state;
    ridge_str all;
    assert_done(w->cx, ridge_file_read(w->cx, llama_file(w), 1 << 20, &all));
    for (size_t n = 0; n < all.n; n += 37) {
        const ridge_weight_source *s;
        ridge_ctx *cx = ridge_ctx_open();
        const char *path = own_file(cx, w->dir, "cut.safetensors", all.p, n);
        assert_int_equal(ridge_weight_source_open(cx, path, NULL, NULL, &s),
                         RIDGE_E_PARSE);
        ridge_ctx_close(cx);
    }
}

static void quantised_weights_are_refused_when_read(void **state)
{
    const world *w = *state;
    const ridge_region g = ridge_region_whole(2, (int64_t[]){2, 2});
    float out[4];
    const char *path = weights_raw_file(
        w->cx, w->dir, "q.safetensors",
        "{\"model.embed_tokens.weight\": {\"dtype\": \"F8_E4M3\", \"shape\": [2, 2], "
        "\"data_offsets\": [0, 4]}}",
        4);
    assert_failed(w->cx,
                  ridge_weight_source_read(w->cx, source_of(w, path, NULL),
                                           (ridge_weight_name){"embedding", -1}, &g,
                                           NULL, out),
                  RIDGE_E_PARSE, "is F8_E4M3, which Ridge does not run");
}

static void folders_without_weights_are_told(void **state)
{
    const world *w = *state;
    const ridge_weight_source *s;
    assert_failed(w->cx, ridge_weight_source_open(w->cx, w->dir, NULL, NULL, &s),
                  RIDGE_E_NOTFOUND, "holds neither model.safetensors nor");
    assert_failed(w->cx,
                  ridge_weight_source_open(w->cx, own_path(w->cx, w->dir, "none"), NULL,
                                           NULL, &s),
                  RIDGE_E_NOTFOUND, "no such checkpoint");
}

int main(void)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)
    const struct CMUnitTest tests[] = {
        IN_WORLD(matrices_are_transposed),
        IN_WORLD(rotary_pairs_lie_side_by_side),
        IN_WORLD(any_region_is_that_of_the_whole),
        IN_WORLD(a_tied_head_is_the_embedding),
        IN_WORLD(fused_weights_are_taken_apart),
        IN_WORLD(norms_have_biases),
        IN_WORLD(opt_has_names_of_its_own),
        IN_WORLD(shards_are_one_checkpoint),
        IN_WORLD(what_is_missing_is_named),
        IN_WORLD(damaged_files_are_refused),
        IN_WORLD(a_file_cut_anywhere_is_refused),
        IN_WORLD(quantised_weights_are_refused_when_read),
        IN_WORLD(folders_without_weights_are_told),
    };
#undef IN_WORLD
    return cmocka_run_group_tests(tests, NULL, NULL);
}
