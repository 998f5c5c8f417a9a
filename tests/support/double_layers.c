/* Layers in double precision. */
#include "double_layers.h"

#include "own_folder.h"

#include "ridge/execute.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- a checkpoint by name -------------------------------------------------------- */

/* What the checkpoint at hand holds. */
static float store_numbers[FLOAT_MOST];

void store_put(store *s, int rows, int columns, float centre, float size,
               const char *format, ...)
{
    char name[128];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    const random_part part = {name, rows, columns};
    assert_true(s->n < PART_MOST);
    s->names[s->n] = ridge_str_dup(ridge_ctx_arena(s->cx), ridge_str_of(name));
    s->at[s->n++] = s->w.at;
    s->floats += (size_t)(rows > 0 ? rows : 1) * (size_t)columns;
    assert_true(s->floats <= FLOAT_MOST);
    random_weights_add(&s->w, "", &part, centre, size);
}

const float *store_get(const store *s, const char *format, ...)
{
    char name[128];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    for (int i = 0; i < s->n; i++) {
        if (strcmp(s->names[i], name) == 0)
            return s->at[i];
    }
    fail_msg("no weight %s", name);
    return NULL;
}

/* ---- arithmetic ------------------------------------------------------------------ */

double silu(double x)
{
    return x / (1.0 + exp(-x));
}

double softplus(double x)
{
    return log1p(exp(x));
}

/* By groups of n / groups; plus: what the weight lacks. */
void normed(const float *w, double plus, int n, int groups, double epsilon, double *x)
{
    const int each = n / groups;
    for (int g = 0; g < groups; g++) {
        double squares = 0.0;
        for (int i = g * each; i < (g + 1) * each; i++)
            squares += x[i] * x[i] / each;
        for (int i = g * each; i < (g + 1) * each; i++)
            x[i] *= ((double)w[i] + plus) / sqrt(squares + epsilon);
    }
}

void mapped(const float *w, int in, int out, const double *x, double *y)
{
    for (int o = 0; o < out; o++) {
        y[o] = 0.0;
        for (int i = 0; i < in; i++)
            y[o] += x[i] * (double)w[o * in + i];
    }
}

/* Taps of channels first .. first + n, [channels, 1, taps]. */
void convolved(const float *w, const float *bias, int taps, int n, bool is_silu,
               int tokens, token_rows x)
{
    static token_rows was;
    memcpy(was, x, sizeof was);
    for (int t = 0; t < tokens; t++) {
        for (int c = 0; c < n; c++) {
            double y = bias ? (double)bias[c] : 0.0;
            for (int j = 0; j < taps; j++) {
                const int from = t - taps + 1 + j;
                y += from >= 0 ? (double)w[c * taps + j] * was[from][c] : 0.0;
            }
            x[t][c] = is_silu ? silu(y) : y;
        }
    }
}

void heads_turned(double *x, int heads, int part, int t)
{
    for (int n = 0; n < heads; n++) {
        for (int i = 0; i < part / 2; i++) {
            const double angle = t * pow(100.0, -2.0 * i / part);
            double *a = &x[n * H + i], *b = a + part / 2;
            const double was = *a;
            *a = was * cos(angle) - *b * sin(angle);
            *b = was * sin(angle) + *b * cos(angle);
        }
    }
}

void attended(token_rows q, token_rows k, token_rows v, int t, double *o)
{
    memset(o, 0, N * H * sizeof *o);
    for (int n = 0; n < N; n++) {
        const int key = n / (N / K) * H;
        double weight[X], sum = 0.0;
        for (int s = 0; s <= t; s++) {
            double score = 0.0;
            for (int i = 0; i < H; i++)
                score += q[t][n * H + i] * k[s][key + i];
            weight[s] = exp(score / sqrt(H));
            sum += weight[s];
        }
        for (int s = 0; s <= t; s++) {
            for (int i = 0; i < H; i++)
                o[n * H + i] += weight[s] / sum * v[s][key + i];
        }
    }
}

/* One head of a recurrence: state [A, P] goes on, o [P]. */
void recurred(double state[A][P], const double *q, const double *k, const double *v,
              double keep, double step, bool is_delta, double *o)
{
    for (int j = 0; j < P; j++) {
        double seen = 0.0;
        for (int i = 0; i < A; i++) {
            state[i][j] *= keep;
            seen += is_delta ? state[i][j] * k[i] : 0.0;
        }
        o[j] = 0.0;
        for (int i = 0; i < A; i++) {
            state[i][j] += k[i] * step * (v[j] - seen);
            o[j] += q[i] * state[i][j];
        }
    }
}

void unit_vector(double *x, double by)
{
    double squares = 1e-6;
    for (int i = 0; i < A; i++)
        squares += x[i] * x[i];
    for (int i = 0; i < A; i++)
        x[i] *= by / sqrt(squares);
}

void gated_feed(const float *gate, const float *up, const float *down, const double *x,
                double *y)
{
    double a[F], b[F];
    mapped(gate, D, F, x, a);
    mapped(up, D, F, x, b);
    for (int i = 0; i < F; i++)
        a[i] = silu(a[i]) * b[i];
    mapped(down, F, D, a, y);
}

void stream_add(double *x, const double *y)
{
    for (int i = 0; i < D; i++)
        x[i] += y[i];
}

/* ---- texts ----------------------------------------------------------------------- */

/* The likeliest token behind n others. @param lead  over the next likeliest */
static int32_t next_token(const store *s, run_fn *run, const float *embedding,
                          const float *head, const int32_t *tokens, int n, double *lead)
{
    static token_rows x;
    double best = -(double)INFINITY;
    int32_t token = -1;
    for (int t = 0; t < n; t++) {
        for (int i = 0; i < D; i++)
            x[t][i] = (double)embedding[tokens[t] * D + i];
    }
    run(s, n, x);
    for (int32_t v = 0; v < V; v++) {
        double logit;
        mapped(head + v * D, D, 1, x[n - 1], &logit);
        *lead = logit > best ? logit - best : fmin(*lead, best - logit);
        token = logit > best ? v : token;
        best = fmax(best, logit);
    }
    return token;
}

static void expect_text(const store *s, run_fn *run, int32_t *text)
{
    const float *embedding = s->at[0];
    const bool is_tied = strcmp(s->names[s->n - 1], "lm_head.weight") != 0;
    for (int i = 0; i < PROMPT; i++)
        text[i] = (i * 11 + 3) % V;
    for (int i = PROMPT; i < PROMPT + NEW; i++) {
        double lead = 0.0;
        text[i] = next_token(s, run, embedding, is_tied ? embedding : s->at[s->n - 1],
                             text, i, &lead);
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

/* On one rank, and with heads and layers cut. */
void store_check_text(store *s, run_fn *reference, const char *config)
{
    static int32_t text[PROMPT + NEW];
    ridge_ctx *cx = s->cx;
    const char *dir = own_folder(cx, "recurrent");
    ridge_generate_run run = {
        .layout = ridge_run_layout_single(),
        .ranks = {.engine = RIDGE_ENGINE_THREADS, .ranks = 1, .timeout_s = 60.0},
        .threads = 1,
        .weights = random_weights_write(cx, dir, &s->w, store_numbers,
                                        s->floats * sizeof *store_numbers),
        .prompt = text,
        .n_prompt = PROMPT,
        .n_new = NEW,
        .stop = -1,
        .sampling = {.top_p = 1.0}};
    ridge_node node;
    expect_text(s, reference, text);
    assert_done(cx, ridge_json_parse(cx, ridge_str_of(config), "config.json", &node));
    assert_done(cx, ridge_numerics_read(cx, node, &run.numerics));
    assert_done(cx, ridge_model_from_config(cx, node, "small", &run.model));
    assert_text(cx, &run, text);
    run.layout.degrees.tp = 4;
    run.layout.pp = 2;
    run.ranks.ranks = 8;
    assert_text(cx, &run, text);
    own_folder_remove(dir);
    ridge_ctx_close(cx);
}

store store_open(uint64_t seed)
{
    store s = {.cx = ridge_ctx_open()};
    s.w = random_weights_of(s.cx, store_numbers, seed);
    return s;
}
