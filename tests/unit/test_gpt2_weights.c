/*
 * Published weights in GPT-2's form (its names, matrices [in, out], queries, keys and
 * values in one, norms with mean and bias, learned positions, a tied head): the text
 * that a small random model gives must be that of its arithmetic in double precision.
 */
#include "near.h"

#include "model_fixture.h"
#include "own_folder.h"
#include "weights_build.h"

#include "ridge/execute.h"

#include <math.h>
#include <string.h>

enum { D = 16, N = 4, H = 4, F = 64, V = 40, X = 32, L = 3, PROMPT = 5, NEW = 24 };

static const char CONFIG[] =
    "{'architectures':['GPT2LMHeadModel'],'model_type':'gpt2','n_embd':16,'n_head':4,"
    "'n_layer':3,'vocab_size':40,'n_positions':32,'n_ctx':32,'n_inner':null,"
    "'activation_function':'gelu_new','layer_norm_epsilon':1e-5}";

/* ---- the model ------------------------------------------------------------------- */

typedef struct gpt2_layer {
    float ln_1_weight[D], ln_1_bias[D];
    float c_attn_weight[D][3 * D], c_attn_bias[3 * D];
    float attn_c_proj_weight[D][D], attn_c_proj_bias[D];
    float ln_2_weight[D], ln_2_bias[D];
    float c_fc_weight[D][F], c_fc_bias[F];
    float mlp_c_proj_weight[F][D], mlp_c_proj_bias[D];
} gpt2_layer;

/* As the file holds it. */
typedef struct gpt2 {
    float wte[V][D], wpe[X][D];
    gpt2_layer h[L];
    float ln_f_weight[D], ln_f_bias[D];
} gpt2;

static const random_part LAYER[] = {
    {"ln_1.weight", 0, D},
    {"ln_1.bias", 0, D},
    {"attn.c_attn.weight", D, 3 * D},
    {"attn.c_attn.bias", 0, 3 * D},
    {"attn.c_proj.weight", D, D},
    {"attn.c_proj.bias", 0, D},
    {"ln_2.weight", 0, D},
    {"ln_2.bias", 0, D},
    {"mlp.c_fc.weight", D, F},
    {"mlp.c_fc.bias", 0, F},
    {"mlp.c_proj.weight", F, D},
    {"mlp.c_proj.bias", 0, D},
};

static void add_part(random_weights *w, const char *prefix, const random_part *p)
{
    const bool is_norm = strstr(p->name, "ln_") && strstr(p->name, "weight");
    random_weights_add(w, prefix, p, is_norm ? 1.0F : 0.0F, p->rows > 0 ? 0.5F : 0.3F);
}

static const char *write_model(ridge_ctx *cx, const char *dir, const char *prefix,
                               gpt2 *model)
{
    static const random_part FIRST[] = {{"wte.weight", V, D}, {"wpe.weight", X, D}};
    static const random_part LAST[] = {{"ln_f.weight", 0, D}, {"ln_f.bias", 0, D}};
    random_weights w = random_weights_of(cx, model, 7);
    for (int i = 0; i < 2; i++)
        add_part(&w, prefix, &FIRST[i]);
    for (int l = 0; l < L; l++) {
        const char *layer = ridge_sprintf(ridge_ctx_arena(cx), "%sh.%d.", prefix, l);
        for (size_t i = 0; i < RIDGE_COUNT_OF(LAYER); i++)
            add_part(&w, layer, &LAYER[i]);
    }
    for (int i = 0; i < 2; i++)
        add_part(&w, prefix, &LAST[i]);
    return random_weights_write(cx, dir, &w, model, sizeof *model);
}

/* ---- in double precision --------------------------------------------------------- */

static void normed(const float *w, const float *b, const double *x, double *y)
{
    double mean = 0.0, squares = 0.0;
    for (int i = 0; i < D; i++)
        mean += x[i] / D;
    for (int i = 0; i < D; i++)
        squares += (x[i] - mean) * (x[i] - mean) / D;
    for (int i = 0; i < D; i++)
        y[i] = (x[i] - mean) / sqrt(squares + 1e-5) * (double)w[i] + (double)b[i];
}

/* y = x w + b, w [in, out] */
static void mapped(const float *w, const float *b, int in, int out, const double *x,
                   double *y)
{
    for (int o = 0; o < out; o++) {
        y[o] = (double)b[o];
        for (int i = 0; i < in; i++)
            y[o] += x[i] * (double)w[i * out + o];
    }
}

/* What token t takes from those before it. */
static void attend(double qkv[X][3 * D], int t, double *o)
{
    for (int n = 0; n < N; n++) {
        double weight[X], sum = 0.0;
        for (int s = 0; s <= t; s++) {
            double score = 0.0;
            for (int i = n * H; i < n * H + H; i++)
                score += qkv[t][i] * qkv[s][D + i];
            weight[s] = exp(score / sqrt(H));
            sum += weight[s];
        }
        for (int i = n * H; i < n * H + H; i++) {
            o[i] = 0.0;
            for (int s = 0; s <= t; s++)
                o[i] += weight[s] / sum * qkv[s][2 * D + i];
        }
    }
}

static double gelu_new(double x)
{
    return 0.5 * x *
           (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * pow(x, 3.0))));
}

static void run_layer(const gpt2_layer *l, double x[X][D], int n)
{
    double qkv[X][3 * D], h[D], o[D], wide[F], y[D];
    for (int t = 0; t < n; t++) {
        normed(l->ln_1_weight, l->ln_1_bias, x[t], h);
        mapped(l->c_attn_weight[0], l->c_attn_bias, D, 3 * D, h, qkv[t]);
    }
    for (int t = 0; t < n; t++) {
        attend(qkv, t, o);
        mapped(l->attn_c_proj_weight[0], l->attn_c_proj_bias, D, D, o, y);
        for (int i = 0; i < D; i++)
            x[t][i] += y[i];
        normed(l->ln_2_weight, l->ln_2_bias, x[t], h);
        mapped(l->c_fc_weight[0], l->c_fc_bias, D, F, h, wide);
        for (int i = 0; i < F; i++)
            wide[i] = gelu_new(wide[i]);
        mapped(l->mlp_c_proj_weight[0], l->mlp_c_proj_bias, F, D, wide, y);
        for (int i = 0; i < D; i++)
            x[t][i] += y[i];
    }
}

/* The likeliest token behind n others. @param lead  over the next likeliest */
static int32_t next_token(const gpt2 *m, const int32_t *tokens, int n, double *lead)
{
    double x[X][D], h[D], best = -INFINITY;
    int32_t token = -1;
    for (int t = 0; t < n; t++) {
        for (int i = 0; i < D; i++)
            x[t][i] = (double)m->wte[tokens[t]][i] + (double)m->wpe[t][i];
    }
    for (int l = 0; l < L; l++)
        run_layer(&m->h[l], x, n);
    normed(m->ln_f_weight, m->ln_f_bias, x[n - 1], h);
    for (int32_t v = 0; v < V; v++) {
        double logit = 0.0;
        for (int i = 0; i < D; i++)
            logit += h[i] * (double)m->wte[v][i];
        *lead = logit > best ? logit - best : fmin(*lead, best - logit);
        token = logit > best ? v : token;
        best = fmax(best, logit);
    }
    return token;
}

/* ---- generation ------------------------------------------------------------------ */

typedef struct world {
    ridge_ctx *cx;
    const char *dir;
    gpt2 model;
    int32_t text[PROMPT + NEW];
} world;

static int open_world(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    world *w = cx == NULL ? NULL : ridge_new(ridge_ctx_arena(cx), world, 1);
    if (w == NULL)
        return -1;
    w->cx = cx;
    w->dir = own_folder(cx, "test_gpt2_weights.dir");
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

static void expect_text(world *w)
{
    for (int i = 0; i < PROMPT; i++)
        w->text[i] = (i * 11 + 3) % V;
    for (int i = PROMPT; i < PROMPT + NEW; i++) {
        double lead = 0.0;
        w->text[i] = next_token(&w->model, w->text, i, &lead);
        assert_true(lead > 1e-4); /* single precision finds the same */
    }
}

static ridge_generate_run run_of(const world *w, const char *path)
{
    const ridge_model *model = fixture_model(w->cx, "%s", CONFIG);
    return (ridge_generate_run){
        .model = model,
        .numerics = ridge_numerics_usual(model),
        .layout = ridge_run_layout_single(),
        .ranks = {.engine = RIDGE_ENGINE_THREADS, .ranks = 1, .timeout_s = 60.0},
        .threads = 1,
        .weights = path,
        .prompt = w->text,
        .n_prompt = PROMPT,
        .n_new = NEW,
        .stop = -1,
        .sampling = {.top_p = 1.0}};
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
    static const char *const PREFIXES[] = {"", "transformer."};
    world *w = *state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(PREFIXES); i++) {
        const char *path = write_model(w->cx, w->dir, PREFIXES[i], &w->model);
        expect_text(w);
        ridge_generate_run run = run_of(w, path);
        assert_near((double)run.numerics.norm_epsilon, 1e-5, 1e-6);
        assert_text(w, &run);
    }
}

static void layouts_give_the_same_text(void **state)
{
    world *w = *state;
    const char *path = write_model(w->cx, w->dir, "", &w->model);
    expect_text(w);
    ridge_generate_run run = run_of(w, path);
    run.layout.degrees.tp = 4;
    run.layout.degrees.is_vocab_parallel = true;
    run.ranks.ranks = 4;
    assert_text(w, &run);
    run.layout = ridge_run_layout_single();
    run.layout.pp = 3;
    run.ranks.ranks = 3;
    assert_text(w, &run);
}

static void text_ends_with_the_positions(void **state)
{
    world *w = *state;
    ridge_generate_report report;
    ridge_generate_run run = run_of(w, write_model(w->cx, w->dir, "", &w->model));
    expect_text(w);
    run.n_new = X;
    assert_failed(w->cx, ridge_run_generate(w->cx, &run, &report), RIDGE_E_ARG,
                  "learned 32 positions: a sequence of 37 tokens is too long");
}

static void another_arithmetic_is_refused(void **state)
{
    world *w = *state;
    ridge_node config;
    ridge_generate_report report;
    ridge_generate_run run = run_of(w, write_model(w->cx, w->dir, "", &w->model));
    expect_text(w);
    assert_done(w->cx, ridge_json_parse(
                           w->cx,
                           ridge_str_of("{\"model_type\": \"gpt2\", "
                                        "\"scale_attn_by_inverse_layer_idx\": true}"),
                           "config.json", &config));
    assert_done(w->cx, ridge_numerics_read(w->cx, config, &run.numerics));
    assert_failed(w->cx, ridge_run_generate(w->cx, &run, &report), RIDGE_E_ARG,
                  "scale_attn_by_inverse_layer_idx");
}

static void another_shape_is_refused(void **state)
{
    world *w = *state;
    ridge_generate_report report;
    ridge_generate_run run = run_of(w, write_model(w->cx, w->dir, "", &w->model));
    expect_text(w);
    run.model = fixture_model(
        w->cx, "%s",
        "{'model_type':'gpt2','n_embd':16,'n_head':4,'n_layer':3,'vocab_size':40,"
        "'n_positions':32,'n_inner':32}");
    assert_failed(w->cx, ridge_run_generate(w->cx, &run, &report), RIDGE_E_PARSE,
                  "mlp.c_fc.weight is [16, 64], but the model's w_up needs [16, 32]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(text_is_that_of_double_precision, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(layouts_give_the_same_text, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(text_ends_with_the_positions, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(another_arithmetic_is_refused, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(another_shape_is_refused, open_world,
                                        close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
