/* Worked examples of transformer arithmetic (tests/golden/published/transformer.jsonl),
 * each computed by the library on the model that the example describes. */
#include "model_fixture.h"

#include <math.h>
#include <string.h>

typedef struct example {
    ridge_ctx *cx;
    ridge_node root, inputs, expected;
    const char *id;
    double rel_tol;
    int checked; /* expected values that were compared */
} example;

static double input(const example *e, const char *key)
{
    double v = 0;
    if (!ridge_json_double(ridge_json_get(&e->inputs, key), &v)) {
        print_error("%s: no input %s\n", e->id, key);
        fail();
    }
    return v;
}

static double input_or(const example *e, const char *key, double otherwise)
{
    double v = otherwise;
    ridge_json_double(ridge_json_get(&e->inputs, key), &v);
    return v;
}

static void compare(example *e, const char *key, double got)
{
    double want = 0;
    if (!ridge_json_double(ridge_json_get(&e->expected, key), &want))
        return;
    e->checked++;
    if (fabs(got - want) <= e->rel_tol * fabs(want))
        return;
    print_error("%s: %s is %.10g, published %.10g\n", e->id, key, got, want);
    fail();
}

/* A model of L layers with the example's dims; what it does not name is as small as
 * can be. */
static const ridge_model *described(const example *e, bool is_gated)
{
    const double d = input_or(e, "d", 8192);
    const double width = input_or(e, "n_times_h", d);
    const double h = input_or(e, "h", 128);
    const double n = input_or(e, "n", floor(width / h));
    return fixture_model(
        e->cx,
        "{'model_type': '%s', 'hidden_size': %.0f, 'num_hidden_layers': %.0f,"
        " 'num_attention_heads': %.0f, 'num_key_value_heads': %.0f, 'head_dim': %.0f,"
        " 'intermediate_size': %.0f, 'vocab_size': %.0f, 'tie_word_embeddings': false,"
        " 'attention_bias': false, 'mlp_bias': false}",
        is_gated ? "llama" : "nemotron", d, input_or(e, "layers", 1), n,
        input_or(e, "k", n), h, input_or(e, "f", 4 * d), input_or(e, "v", 1));
}

/* ---- one function for each kind of example --------------------------------------- */

static double train(double forward, const example *e)
{
    return 3 * forward * input(e, "b") * input(e, "t");
}

static void mlp(example *e)
{
    bool is_gated = true;
    ridge_json_bool(ridge_json_get(&e->inputs, "gated"), &is_gated);
    const ridge_model *m = described(e, is_gated);
    compare(e, "params", (double)ridge_model_params(m).mlp);
    compare(e, "train_flops", train(ridge_model_flops_forward(m, 1, false).mlp, e));
}

static void projections(example *e)
{
    const ridge_model *m = described(e, true);
    const ridge_flops f = ridge_model_flops_forward(m, 1, false);
    compare(e, "params", (double)ridge_model_params(m).attention);
    compare(e, "train_flops", train(f.attention_projections, e));
}

static void scores(example *e)
{
    const ridge_model *m = described(e, true);
    const ridge_flops f = ridge_model_flops_forward(m, input(e, "t"), false);
    compare(e, "train_flops", train(f.attention_scores, e));
    compare(e, "forward_flops", train(f.attention_scores, e) / 3);
}

static void vocabulary(example *e)
{
    const ridge_model *m = described(e, true);
    const ridge_params p = ridge_model_params(m);
    const ridge_flops f = ridge_model_flops_forward(m, 1, false);
    compare(e, "params", (double)(p.embedding + p.unembedding));
    compare(e, "unembed_train_flops", train(f.unembedding, e));
}

/* Scores grow with T, the rest does not. */
static void share(example *e)
{
    const ridge_model *m = described(e, true);
    const double t = input_or(e, "t", 1);
    const ridge_flops f = ridge_model_flops_forward(m, t, false);
    const double rest = f.attention_projections + f.mlp;
    compare(e, "ratio", f.attention_scores / rest);
    compare(e, "t_tokens", rest / (f.attention_scores / t));
}

static int arrays_kept(const ridge_model *m, ridge_remat remat)
{
    ridge_saved saved[RIDGE_SAVED_MAX];
    const int n = ridge_layer_saved(m, &m->layers[0], saved);
    int kept = 0;
    for (int i = 0; i < n; i++)
        kept += (saved[i].kept_by >> remat & 1u) != 0;
    return kept;
}

static double kept_bytes(const ridge_model *m, ridge_remat remat)
{
    return ridge_layer_activation_bytes(m, &m->layers[0], remat, 1, false);
}

static void remat(example *e)
{
    const ridge_model *m = described(e, true);
    const double rows = input(e, "tokens") * input(e, "layers");
    const ridge_flops f = ridge_model_flops_forward(m, 1, false);
    const double again = ridge_model_flops_remat(m, 1, false, RIDGE_REMAT_FULL);
    double bytes = kept_bytes(m, RIDGE_REMAT_FULL);
    if (strcmp(e->id, "ch4-remat-none") == 0)
        bytes = kept_bytes(m, RIDGE_REMAT_NONE);
    else if (strcmp(e->id, "ch4-remat-matmuls") ==
             0) /* the book counts each as D wide */
        bytes *= arrays_kept(m, RIDGE_REMAT_MATMULS);
    compare(e, "bytes", bytes * rows);
    compare(e, "train_flops_per_param_token",
            (3 * f.total + again) / (double)ridge_model_params(m).matmul_active);
}

static void cache(example *e)
{
    const double heads = input(e, "k_times_h") / 128;
    const ridge_model *m = fixture_model(
        e->cx,
        "{'model_type': 'llama', 'hidden_size': 8192, 'num_hidden_layers': %.0f,"
        " 'num_attention_heads': %.0f, 'head_dim': 128, 'intermediate_size': 8192,"
        " 'vocab_size': 1}",
        input(e, "layers"), heads);
    compare(e, "bytes",
            ridge_model_kv_bytes(m, RIDGE_DTYPE_INT8, input(e, "seq"), false));
}

static void configuration(example *e)
{
    const char *name = NULL;
    assert_true(ridge_json_text(ridge_json_get(&e->inputs, "model"), &name));
    const ridge_model *m = fixture_named(e->cx, name);
    compare(e, "layers", (double)m->layer_count);
    compare(e, "d", (double)m->d_model);
    compare(e, "f", (double)m->layers[0].ffn.d_ff);
    compare(e, "n", (double)m->layers[0].mixer.heads);
    compare(e, "k", (double)m->layers[0].mixer.kv_heads);
    compare(e, "h", (double)m->layers[0].mixer.head_dim);
    compare(e, "v", (double)m->vocab);
}

static void parameters(example *e)
{
    const ridge_params p = ridge_model_params(described(e, true));
    compare(e, "ffw", (double)p.mlp);
    compare(e, "attention", (double)p.attention);
    compare(e, "vocab", (double)(p.embedding + p.unembedding));
    compare(e, "total", (double)p.total);
}

/* Weights in bf16, two moments in float32. */
static double state_bytes(const ridge_model *m)
{
    return ridge_model_weight_bytes_as(m, RIDGE_DTYPE_BF16) +
           2 * ridge_model_weight_bytes_as(m, RIDGE_DTYPE_FP32);
}

/* After each of the three matmuls of the MLP: the gate, the up projection, and the next
 * layer's input. */
static void memory_of_13b(example *e)
{
    const ridge_model *m = fixture_named(e->cx, "llama-2-13b");
    ridge_saved saved[RIDGE_SAVED_MAX];
    const int n = ridge_layer_saved(m, &m->layers[0], saved);
    double kept = 0;
    for (int i = 0; i < n; i++)
        if (strcmp(saved[i].name, "gate") == 0 || strcmp(saved[i].name, "up") == 0 ||
            strcmp(saved[i].name, "layer_in") == 0)
            kept += saved[i].width * saved[i].bytes_per_element;
    const double activations = kept * (double)m->layer_count * input(e, "b_tokens");
    compare(e, "state_bytes", state_bytes(m));
    compare(e, "activation_bytes", activations);
    compare(e, "total_bytes", activations + state_bytes(m));
}

static void memory_of_70b(example *e)
{
    const ridge_model *m = fixture_named(e->cx, "llama-3-70b");
    const double activations = kept_bytes(m, RIDGE_REMAT_FULL) *
                               input(e, "checkpoints_per_layer") *
                               (double)m->layer_count * input(e, "b_tokens");
    const double weights = ridge_model_weight_bytes_as(m, RIDGE_DTYPE_BF16);
    const double total = state_bytes(m) + activations;
    const double chips = total / input(e, "hbm_bytes");
    compare(e, "weight_bytes", weights);
    compare(e, "optimizer_bytes", state_bytes(m) - weights);
    compare(e, "checkpoint_bytes", activations);
    compare(e, "total_bytes", total);
    compare(e, "min_chips_exact", chips);
    compare(e, "min_chips", ceil(chips));
    compare(e, "bytes_per_chip", total / input(e, "chips"));
}

static void flops_of(example *e, const char *name)
{
    const ridge_model *m = fixture_named(e->cx, name);
    const double flops = ridge_model_flops_train(m, 4096, RIDGE_CONVENTION_SIX_N);
    compare(e, "flops_per_token", flops);
    compare(e, "t_s", flops / input_or(e, "peak_flops_per_s", 1));
    compare(e, "flops_per_step", flops * input_or(e, "b_tokens", 0));
    compare(e, "flops_total", flops * input_or(e, "tokens", 0));
}

static void flops_of_70b(example *e)
{
    flops_of(e, "llama-3-70b");
}

static void flops_of_405b(example *e)
{
    flops_of(e, "llama-3.1-405b");
}

/* ---- the table ------------------------------------------------------------------- */

typedef struct kind {
    const char *prefix;
    void (*compute)(example *);
} kind;

static const kind kinds[] = {
    {"ch4-mlp", mlp},
    {"ch4-attn-mha", projections},
    {"ch4-attn-gqa", projections},
    {"ch4-attn-dot", scores},
    {"ch4-attn-dominates", share},
    {"ch4-attn-share", share},
    {"ch4-vocab", vocabulary},
    {"ch4-remat", remat},
    {"ch4-kv", cache},
    {"ch5-llama2-13b", configuration},
    {"ch5-q1", parameters},
    {"ch5-q2", memory_of_13b},
    {"ch6-config", configuration},
    {"ch6-params", parameters},
    {"ch6-memory", memory_of_70b},
    {"ch6-flops-token", flops_of_70b},
    {"ch6-q2a", flops_of_405b},
};

static void check_row(ridge_ctx *cx, ridge_str line, int number)
{
    const char *file =
        ridge_sprintf(ridge_ctx_arena(cx), "transformer.jsonl row %d", number);
    example e = {.cx = cx};
    assert_ok(cx, ridge_json_parse(cx, line, file, &e.root));
    e.inputs = ridge_json_get(&e.root, "inputs");
    e.expected = ridge_json_get(&e.root, "expected");
    assert_true(ridge_json_text(ridge_json_get(&e.root, "id"), &e.id));
    assert_true(ridge_json_double(ridge_json_get(&e.root, "rel_tol"), &e.rel_tol));
    for (size_t i = 0; i < RIDGE_COUNT_OF(kinds); i++) {
        if (strncmp(e.id, kinds[i].prefix, strlen(kinds[i].prefix)) != 0)
            continue;
        kinds[i].compute(&e);
        assert_int_equal(e.checked, (int)ridge_json_size(e.expected));
        return;
    }
    print_error("%s: no function computes it\n", e.id);
    fail();
}

static void published_examples_are_computed(void **state)
{
    ridge_str text;
    assert_ok(*state, ridge_file_read(
                          *state, RIDGE_TEST_DIR "/golden/published/transformer.jsonl",
                          1 << 20, &text));
    int rows = 0;
    while (text.p != NULL) {
        const ridge_str line = ridge_str_trim(ridge_str_cut(&text, '\n'));
        if (line.n > 0)
            check_row(*state, line, ++rows);
    }
    assert_true(rows >= 29);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_examples_are_computed),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
