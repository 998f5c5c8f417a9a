/*
 * Published weights with OLMo 2's arithmetic: no norm before a part but one behind it,
 * and norms of queries and keys over all heads. The text that a small random model
 * gives must be that of its arithmetic in double precision.
 */
#include "near.h"

#include "model_fixture.h"
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
    X = 40,
    L = 3,
    PROMPT = 9,
    NEW = 20
};

typedef struct olmo_layer {
    float q[N * H][D], k[K * H][D], v[K * H][D], o[D][N * H], q_norm[N * H];
    float k_norm[K * H], mixed_norm[D], gate[F][D], up[F][D], down[D][F], fed_norm[D];
} olmo_layer;

/* As the file holds it. */
typedef struct olmo {
    float embedding[V][D];
    olmo_layer layers[L];
    float norm[D], head[V][D];
} olmo;

static const random_part LAYER[] = {{"self_attn.q_proj.weight", N *H, D},
                                    {"self_attn.k_proj.weight", K *H, D},
                                    {"self_attn.v_proj.weight", K *H, D},
                                    {"self_attn.o_proj.weight", D, N *H},
                                    {"self_attn.q_norm.weight", 0, N *H},
                                    {"self_attn.k_norm.weight", 0, K *H},
                                    {"post_attention_layernorm.weight", 0, D},
                                    {"mlp.gate_proj.weight", F, D},
                                    {"mlp.up_proj.weight", F, D},
                                    {"mlp.down_proj.weight", D, F},
                                    {"post_feedforward_layernorm.weight", 0, D}};

static void add_part(random_weights *w, const char *prefix, const random_part *p)
{
    random_weights_add(w, prefix, p, p->rows > 0 ? 0.0F : 1.0F, 0.6F);
}

static const char *write_model(ridge_ctx *cx, const char *dir, olmo *model)
{
    static const random_part FIRST = {"model.embed_tokens.weight", V, D};
    static const random_part LAST[] = {{"model.norm.weight", 0, D},
                                       {"lm_head.weight", V, D}};
    random_weights w = random_weights_of(cx, model, 12);
    add_part(&w, "", &FIRST);
    for (int l = 0; l < L; l++) {
        const char *layer = ridge_sprintf(ridge_ctx_arena(cx), "model.layers.%d.", l);
        for (size_t i = 0; i < RIDGE_COUNT_OF(LAYER); i++)
            add_part(&w, layer, &LAYER[i]);
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(LAST); i++)
        add_part(&w, "", &LAST[i]);
    return random_weights_write(cx, dir, &w, model, sizeof *model);
}

/* ---- in double precision --------------------------------------------------------- */

static void normed(const float *w, int n, double *x)
{
    double squares = 0.0;
    for (int i = 0; i < n; i++)
        squares += x[i] * x[i] / n;
    for (int i = 0; i < n; i++)
        x[i] *= (double)w[i] / sqrt(squares + 1e-5);
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
            double *a = &x[n * H + i], *b = a + H / 2;
            const double was = *a;
            *a = was * cos(angle) - *b * sin(angle);
            *b = was * sin(angle) + *b * cos(angle);
        }
    }
}

typedef struct heads {
    double q[X][N * H], k[X][K * H], v[X][K * H];
} heads;

static void attend(const heads *a, int t, double *o)
{
    memset(o, 0, N * H * sizeof *o);
    for (int n = 0; n < N; n++) {
        const int key = n / (N / K) * H;
        double weight[X], sum = 0.0;
        for (int s = 0; s <= t; s++) {
            double score = 0.0;
            for (int i = 0; i < H; i++)
                score += a->q[t][n * H + i] * a->k[s][key + i];
            weight[s] = exp(score / sqrt(H));
            sum += weight[s];
        }
        for (int s = 0; s <= t; s++) {
            for (int i = 0; i < H; i++)
                o[n * H + i] += weight[s] / sum * a->v[s][key + i];
        }
    }
}

static void feed_forward(const olmo_layer *l, const double *x, double *y)
{
    double gate[F], up[F];
    mapped(l->gate[0], D, F, x, gate);
    mapped(l->up[0], D, F, x, up);
    for (int i = 0; i < F; i++)
        gate[i] *= up[i] / (1.0 + exp(-gate[i]));
    mapped(l->down[0], F, D, gate, y);
}

static void add(double *x, const double *y)
{
    for (int i = 0; i < D; i++)
        x[i] += y[i];
}

static void run_layer(const olmo_layer *l, double x[X][D], int n)
{
    static heads a;
    double o[N * H], y[D];
    for (int t = 0; t < n; t++) {
        mapped(l->q[0], D, N * H, x[t], a.q[t]);
        mapped(l->k[0], D, K * H, x[t], a.k[t]);
        mapped(l->v[0], D, K * H, x[t], a.v[t]);
        normed(l->q_norm, N * H, a.q[t]);
        normed(l->k_norm, K * H, a.k[t]);
        turned(a.q[t], N, t);
        turned(a.k[t], K, t);
    }
    for (int t = 0; t < n; t++) {
        attend(&a, t, o);
        mapped(l->o[0], N * H, D, o, y);
        normed(l->mixed_norm, D, y);
        add(x[t], y);
        feed_forward(l, x[t], y);
        normed(l->fed_norm, D, y);
        add(x[t], y);
    }
}

/* The likeliest token behind n others. @param lead  over the next likeliest */
static int32_t next_token(const olmo *m, const int32_t *tokens, int n, double *lead)
{
    double x[X][D], best = -(double)INFINITY;
    int32_t token = -1;
    for (int t = 0; t < n; t++) {
        for (int i = 0; i < D; i++)
            x[t][i] = (double)m->embedding[tokens[t]][i];
    }
    for (int l = 0; l < L; l++)
        run_layer(&m->layers[l], x, n);
    normed(m->norm, D, x[n - 1]);
    for (int32_t v = 0; v < V; v++) {
        double logit;
        mapped(m->head[v], D, 1, x[n - 1], &logit);
        *lead = logit > best ? logit - best : fmin(*lead, best - logit);
        token = logit > best ? v : token;
        best = fmax(best, logit);
    }
    return token;
}

/* ---- generation ------------------------------------------------------------------ */

static const char CONFIG[] =
    "{\"model_type\":\"olmo2\",\"hidden_size\":16,\"num_attention_heads\":4,"
    "\"num_key_value_heads\":2,\"num_hidden_layers\":3,\"intermediate_size\":24,"
    "\"vocab_size\":40,\"rope_theta\":100,\"rms_norm_eps\":1e-5,\"hidden_act\":"
    "\"silu\","
    "\"tie_word_embeddings\":false,\"max_position_embeddings\":40}";

static void expect_text(const olmo *model, int32_t *text)
{
    for (int i = 0; i < PROMPT; i++)
        text[i] = (i * 11 + 3) % V;
    for (int i = PROMPT; i < PROMPT + NEW; i++) {
        double lead = 0.0;
        text[i] = next_token(model, text, i, &lead);
        assert_true(lead > 1e-4); /* single precision finds the same */
    }
}

static void assert_text(ridge_ctx *cx, const ridge_generate_run *run,
                        const int32_t *text)
{
    ridge_generate_report report;
    assert_done(cx, ridge_run_generate(cx, run, &report));
    assert_int_equal(report.n, NEW);
    for (int i = 0; i < NEW; i++)
        assert_int_equal(report.tokens[i], text[PROMPT + i]);
}

static void text_is_that_of_double_precision(void **state)
{
    static olmo model;
    static int32_t text[PROMPT + NEW];
    ridge_ctx *cx = ridge_ctx_open();
    const char *dir = own_folder(cx, "olmo2");
    ridge_generate_run run = {
        .layout = ridge_run_layout_single(),
        .ranks = {.engine = RIDGE_ENGINE_THREADS, .ranks = 1, .timeout_s = 60.0},
        .threads = 1,
        .weights = write_model(cx, dir, &model),
        .prompt = text,
        .n_prompt = PROMPT,
        .n_new = NEW,
        .stop = -1,
        .sampling = {.top_p = 1.0}};
    ridge_node config;
    (void)state;
    expect_text(&model, text);
    assert_done(cx, ridge_json_parse(cx, ridge_str_of(CONFIG), "config.json", &config));
    assert_done(cx, ridge_numerics_read(cx, config, &run.numerics));
    assert_done(cx, ridge_model_from_config(cx, config, "small", &run.model));
    assert_text(cx, &run, text);
    run.layout.degrees.tp = 4;
    run.layout.pp = 2;
    run.ranks.ranks = 8;
    assert_text(cx, &run, text);
    own_folder_remove(dir);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_that_of_double_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
