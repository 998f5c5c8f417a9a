/*
 * Published weights with LLaMA's names and what its kin changed (windows, layers that
 * do not turn, factors of embeddings, residuals, scores and logits): the text that a
 * small random model gives must be that of its arithmetic in double precision.
 */
#include "near.h"

#include "own_folder.h"
#include "weights_build.h"

#include "ridge/execute.h"

#include <math.h>
#include <string.h>

enum {
    D = 16,
    N = 4,
    K = 2,
    H = 4,
    F = 24,
    V = 40,
    X = 48,
    L = 4,
    PROMPT = 9,
    NEW = 24
};

/* ---- the model ------------------------------------------------------------------- */

typedef struct llama_layer {
    float input_norm[D], q[N * H][D], k[K * H][D], v[K * H][D], o[D][N * H];
    float post_norm[D], gate[F][D], up[F][D], down[D][F];
} llama_layer;

/* As the file holds it. */
typedef struct llama {
    float embedding[V][D];
    llama_layer layers[L];
    float norm[D];
} llama;

static const random_part LAYER[] = {
    {"input_layernorm.weight", 0, D},     {"self_attn.q_proj.weight", N *H, D},
    {"self_attn.k_proj.weight", K *H, D}, {"self_attn.v_proj.weight", K *H, D},
    {"self_attn.o_proj.weight", D, N *H}, {"post_attention_layernorm.weight", 0, D},
    {"mlp.gate_proj.weight", F, D},       {"mlp.up_proj.weight", F, D},
    {"mlp.down_proj.weight", D, F},
};

static void add_part(random_weights *w, const char *prefix, const random_part *p)
{
    random_weights_add(w, prefix, p, p->rows > 0 ? 0.0F : 1.0F, 0.6F);
}

static const char *write_model(ridge_ctx *cx, const char *dir, llama *model)
{
    static const random_part FIRST = {"model.embed_tokens.weight", V, D};
    static const random_part LAST = {"model.norm.weight", 0, D};
    random_weights w = random_weights_of(cx, model, 11);
    add_part(&w, "", &FIRST);
    for (int l = 0; l < L; l++) {
        const char *layer = ridge_sprintf(ridge_ctx_arena(cx), "model.layers.%d.", l);
        for (size_t i = 0; i < RIDGE_COUNT_OF(LAYER); i++)
            add_part(&w, layer, &LAYER[i]);
    }
    add_part(&w, "", &LAST);
    return random_weights_write(cx, dir, &w, model, sizeof *model);
}

/* ---- in double precision --------------------------------------------------------- */

/* What a kind of model does differently. */
typedef struct variant {
    const char *keys; /* of its config */
    int window;
    bool has_unturned;                        /* every other layer, from the second */
    double embedding, residual, score, logit; /* factors; 0: 1, score: usual */
} variant;

static double or_else(double x, double usual)
{
    return x > 0.0 ? x : usual;
}

static void normed(const float *w, const double *x, double *y)
{
    double squares = 0.0;
    for (int i = 0; i < D; i++)
        squares += x[i] * x[i] / D;
    for (int i = 0; i < D; i++)
        y[i] = x[i] / sqrt(squares + 1e-5) * (double)w[i];
}

/* y = w x, w [out, in] */
static void mapped(const float *w, int in, int out, const double *x, double *y)
{
    for (int o = 0; o < out; o++) {
        y[o] = 0.0;
        for (int i = 0; i < in; i++)
            y[o] += x[i] * (double)w[o * in + i];
    }
}

static void turned(double *x, int heads, int t)
{
    for (int n = 0; n < heads; n++) {
        for (int i = 0; i < H / 2; i++) {
            const double angle = t * pow(100.0, -2.0 * i / H);
            double *a = &x[n * H + i], *b = &x[n * H + i + H / 2], was = *a;
            *a = was * cos(angle) - *b * sin(angle);
            *b = *b * cos(angle) + was * sin(angle);
        }
    }
}

typedef struct heads {
    double q[X][N * H], k[X][K * H], v[X][K * H];
} heads;

static void attend(const heads *a, const variant *is, int t, double *o)
{
    for (int n = 0; n < N; n++) {
        const int first = is->window > 0 && t >= is->window ? t - is->window + 1 : 0;
        const int key = n / (N / K) * H;
        double weight[X], sum = 0.0;
        for (int s = first; s <= t; s++) {
            double score = 0.0;
            for (int i = 0; i < H; i++)
                score += a->q[t][n * H + i] * a->k[s][key + i];
            weight[s] = exp(score * or_else(is->score, 1.0 / sqrt(H)));
            sum += weight[s];
        }
        for (int i = 0; i < H; i++) {
            o[n * H + i] = 0.0;
            for (int s = first; s <= t; s++)
                o[n * H + i] += weight[s] / sum * a->v[s][key + i];
        }
    }
}

static void add(double *x, const double *y, double by)
{
    for (int i = 0; i < D; i++)
        x[i] += by * y[i];
}

static void feed_forward(const llama_layer *l, const double *h, double *y)
{
    double gate[F], up[F];
    mapped(l->gate[0], D, F, h, gate);
    mapped(l->up[0], D, F, h, up);
    for (int i = 0; i < F; i++)
        gate[i] *= up[i] / (1.0 + exp(-gate[i]));
    mapped(l->down[0], F, D, gate, y);
}

static void run_layer(const llama_layer *l, const variant *is, bool turns,
                      double x[X][D], int n)
{
    static heads a;
    double h[D], o[N * H], y[D];
    for (int t = 0; t < n; t++) {
        normed(l->input_norm, x[t], h);
        mapped(l->q[0], D, N * H, h, a.q[t]);
        mapped(l->k[0], D, K * H, h, a.k[t]);
        mapped(l->v[0], D, K * H, h, a.v[t]);
        if (turns) {
            turned(a.q[t], N, t);
            turned(a.k[t], K, t);
        }
    }
    for (int t = 0; t < n; t++) {
        attend(&a, is, t, o);
        mapped(l->o[0], N * H, D, o, y);
        add(x[t], y, or_else(is->residual, 1.0));
        normed(l->post_norm, x[t], h);
        feed_forward(l, h, y);
        add(x[t], y, or_else(is->residual, 1.0));
    }
}

/* The likeliest token behind n others. @param lead  over the next likeliest */
static int32_t next_token(const llama *m, const variant *is, const int32_t *tokens,
                          int n, double *lead)
{
    double x[X][D], h[D], best = -(double)INFINITY;
    int32_t token = -1;
    for (int t = 0; t < n; t++) {
        for (int i = 0; i < D; i++)
            x[t][i] = (double)m->embedding[tokens[t]][i] * or_else(is->embedding, 1.0);
    }
    for (int l = 0; l < L; l++)
        run_layer(&m->layers[l], is, !is->has_unturned || l % 2 == 0, x, n);
    normed(m->norm, x[n - 1], h);
    for (int32_t v = 0; v < V; v++) {
        double logit = 0.0;
        for (int i = 0; i < D; i++)
            logit += h[i] * (double)m->embedding[v][i] * or_else(is->logit, 1.0);
        *lead = logit > best ? logit - best : fmin(*lead, best - logit);
        token = logit > best ? v : token;
        best = fmax(best, logit);
    }
    return token;
}

/* ---- generation ------------------------------------------------------------------ */

static const variant VARIANTS[] = {
    {"\"model_type\":\"llama\"", 0, false, 0, 0, 0, 0},
    {"\"model_type\":\"mistral\",\"sliding_window\":5", 5, false, 0, 0, 0, 0},
    {"\"model_type\":\"smollm3\",\"no_rope_layers\":[1,0,1,0]", 0, true, 0, 0, 0, 0},
    {"\"model_type\":\"smollm3\",\"no_rope_layer_interval\":2", 0, true, 0, 0, 0, 0},
    {"\"model_type\":\"granite\",\"embedding_multiplier\":3,\"residual_multiplier\":0."
     "5,"
     "\"attention_multiplier\":0.9,\"logits_scaling\":4",
     0, false, 3.0, 0.5, 0.9, 0.25}};

typedef struct world {
    ridge_ctx *cx;
    const char *dir;
    llama model;
    int32_t text[PROMPT + NEW];
} world;

static int open_world(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    world *w = cx == NULL ? NULL : ridge_new(ridge_ctx_arena(cx), world, 1);
    if (w == NULL)
        return -1;
    w->cx = cx;
    w->dir = own_folder(cx, "test_llama_weights.dir");
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

static void expect_text(world *w, const variant *is)
{
    for (int i = 0; i < PROMPT; i++)
        w->text[i] = (i * 11 + 3) % V;
    for (int i = PROMPT; i < PROMPT + NEW; i++) {
        double lead = 0.0;
        w->text[i] = next_token(&w->model, is, w->text, i, &lead);
        assert_true(lead > 1e-4); /* single precision finds the same */
    }
}

static ridge_generate_run run_of(const world *w, const variant *is, const char *path)
{
    ridge_node config;
    ridge_generate_run run = {
        .layout = ridge_run_layout_single(),
        .ranks = {.engine = RIDGE_ENGINE_THREADS, .ranks = 1, .timeout_s = 60.0},
        .threads = 1,
        .weights = path,
        .prompt = w->text,
        .n_prompt = PROMPT,
        .n_new = NEW,
        .stop = -1,
        .sampling = {.top_p = 1.0}};
    const char *text = ridge_sprintf(
        ridge_ctx_arena(w->cx),
        "{%s,\"hidden_size\":16,\"num_attention_heads\":4,\"num_key_value_heads\":2,"
        "\"num_hidden_layers\":4,\"intermediate_size\":24,\"vocab_size\":40,"
        "\"rope_theta\":100,\"rms_norm_eps\":1e-5,\"tie_word_embeddings\":true,"
        "\"hidden_act\":\"silu\",\"max_position_embeddings\":48}",
        is->keys);
    assert_non_null(text);
    assert_done(w->cx,
                ridge_json_parse(w->cx, ridge_str_of(text), "config.json", &config));
    assert_done(w->cx, ridge_numerics_read(w->cx, config, &run.numerics));
    assert_done(w->cx, ridge_model_from_config(w->cx, config, "small", &run.model));
    return run;
}

static void assert_text(const world *w, const ridge_generate_run *run)
{
    ridge_generate_report report;
    assert_done(w->cx, ridge_run_generate(w->cx, run, &report));
    assert_int_equal(report.n, NEW);
    for (int i = 0; i < NEW; i++)
        assert_int_equal(report.tokens[i], w->text[PROMPT + i]);
}

static void text_is_that_of_double_precision(void **state)
{
    world *w = *state;
    const char *path = write_model(w->cx, w->dir, &w->model);
    for (size_t i = 0; i < RIDGE_COUNT_OF(VARIANTS); i++) {
        expect_text(w, &VARIANTS[i]);
        ridge_generate_run run = run_of(w, &VARIANTS[i], path);
        assert_text(w, &run);
        run.layout.degrees.tp = 2;
        run.layout.pp = 2;
        run.ranks.ranks = 4;
        assert_text(w, &run);
    }
}

static void what_no_operation_reads_is_refused(void **state)
{
    world *w = *state;
    ridge_generate_report report;
    const char *path = write_model(w->cx, w->dir, &w->model);
    expect_text(w, &VARIANTS[0]);
    ridge_generate_run run = run_of(w, &VARIANTS[0], path);
    for (int i = 0; i < run.model->n_layers; i++)
        run.model->layers[i].ffn.is_gated = false;
    assert_failed(w->cx, ridge_run_generate(w->cx, &run, &report), RIDGE_E_ARG,
                  "no weight model.layers.0.mlp.gate_proj.weight");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(text_is_that_of_double_precision, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(what_no_operation_reads_is_refused, open_world,
                                        close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
