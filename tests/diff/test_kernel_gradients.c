/*
 * Gradients of kernels against central differences of what the reference computes
 * forward in double precision: the slope of sum(weight y) at elements drawn at random.
 */
#include "kernel_fixture.h"
#include "kernel_reference.h"

#include <math.h>

enum { ROUNDS = 3, ELEMENTS = 12 };
static const double STEP = 1e-5;
static const double TOLERANCE = 2e-5; /* of fp32 sums, and of that step */

/** sum(weight y) as a function of the inputs, which lie in doubles. */
typedef double objective(void *payload);

/** Compare what a kernel gave as the gradient of input x. */
static void check_slopes(kernel_trial *t, objective *f, void *payload,
                         const kernel_array *x, const kernel_array *gradient)
{
    for (int n = 0; n < ELEMENTS && x->n > 0; n++) {
        const int64_t i = seeded_pick(&t->at, 0, x->n - 1);
        const double before = x->x[i], got = kernel_get(gradient->a, i);
        x->x[i] = before + STEP;
        const double above = f(payload);
        x->x[i] = before - STEP;
        const double below = f(payload);
        x->x[i] = before;
        const double want = (above - below) / (2.0 * STEP);
        if (fabs(got - want) > TOLERANCE * (1.0 + fabs(want)))
            fail_msg("%s: element %lld of %lld: %.9g, by differences %.9g",
                     t->d->ops->name, (long long)i, (long long)x->n, got, want);
    }
}

static kernel_array numbers(kernel_trial *t, int64_t n, double size)
{
    return kernel_random(t, RIDGE_DTYPE_FP32, n, size);
}

static kernel_array blank(kernel_trial *t, int64_t n)
{
    return kernel_blank(t, RIDGE_DTYPE_FP32, n);
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* ---- norm ------------------------------------------------------------------------ */

typedef struct norm_case {
    ridge__norm n;
    kernel_array x, w, b, d_y;
    double *y; /* [d] */
} norm_case;

static double norm_objective(void *payload)
{
    const norm_case *c = payload;
    double sum = 0.0;
    for (int64_t row = 0; row < c->n.rows; row++) {
        const int64_t at = row * c->n.d;
        reference_norm(c->n.kind, c->n.d, (double)c->n.epsilon, c->x.x + at, c->w.x,
                       c->b.x, c->y);
        sum += dot(c->y, c->d_y.x + at, c->n.d);
    }
    return sum;
}

static void run_norm(kernel_trial *t)
{
    norm_case c = {.n = {.rows = 7, .d = seeded_pick(&t->at, 2, 60), .epsilon = 1e-2f}};
    const int64_t n = c.n.rows * c.n.d;
    c.n.kind = seeded_pick(&t->at, 0, 1) == 0 ? RIDGE_NORM_RMS : RIDGE_NORM_LAYER;
    c.x = numbers(t, n, 2.0);
    c.w = numbers(t, c.n.d, 2.0);
    c.b = numbers(t, c.n.d, 2.0);
    c.d_y = numbers(t, n, 1.0);
    c.y = kernel_doubles(t, c.n.d);
    const kernel_array d_x = blank(t, n), d_w = blank(t, c.n.d), d_b = blank(t, c.n.d);
    c.n.x = c.x.a;
    c.n.w = c.w.a;
    c.n.d_y = c.d_y.a;
    c.n.d_x = d_x.a;
    c.n.d_w = d_w.a;
    c.n.d_b = d_b.a;
    kernel_ok(t, t->d->ops->norm_backward(t->d, &c.n));
    check_slopes(t, norm_objective, &c, &c.x, &d_x);
    check_slopes(t, norm_objective, &c, &c.w, &d_w);
    check_slopes(t, norm_objective, &c, &c.b, &d_b);
}

static void norm_slopes(void **state)
{
    (void)state;
    kernel_trials(run_norm, ROUNDS);
}

/* ---- elementwise ----------------------------------------------------------------- */

typedef struct function_case {
    ridge_function f;
    kernel_array a, b, d_y;
} function_case;

static double function_objective(void *payload)
{
    const function_case *c = payload;
    double sum = 0.0;
    for (int64_t i = 0; i < c->a.n; i++)
        sum += c->d_y.x[i] * reference_function(c->f, c->a.x[i], c->b.x[i], 0.7);
    return sum;
}

static void run_functions(kernel_trial *t)
{
    enum { N = 53 };
    for (int f = 0; f < RIDGE_FUNCTION_COUNT; f++) {
        if (f == RIDGE_FUNCTION_ROTARY || f == RIDGE_FUNCTION_APPEND)
            continue;
        function_case c = {.f = (ridge_function)f};
        const bool is_two = ridge_function_inputs(c.f) == 2;
        c.a = numbers(t, N, 4.0);
        c.b = numbers(t, N, 2.0);
        c.d_y = numbers(t, N, 1.0);
        const kernel_array d_a = blank(t, N), d_b = blank(t, N);
        const ridge__elementwise e = {.function = c.f,
                                      .scale = 0.7f,
                                      .n_dims = 1,
                                      .sizes = {N},
                                      .a = c.a.a,
                                      .b = is_two ? c.b.a : (ridge__array){.p = NULL},
                                      .d_y = c.d_y.a,
                                      .d_a = d_a.a,
                                      .d_b =
                                          is_two ? d_b.a : (ridge__array){.p = NULL}};
        kernel_ok(t, t->d->ops->elementwise_backward(t->d, &e));
        check_slopes(t, function_objective, &c, &c.a, &d_a);
        if (is_two)
            check_slopes(t, function_objective, &c, &c.b, &d_b);
    }
}

static void function_slopes(void **state)
{
    (void)state;
    kernel_trials(run_functions, 1);
}

/* ---- attention ------------------------------------------------------------------- */

typedef struct attention_case {
    ridge__attention a;
    reference_attention x;
    kernel_array q, k, v, o, lse, d_o;
} attention_case;

static double attention_objective(void *payload)
{
    const attention_case *c = payload;
    reference_attend(&c->a, &c->x);
    return dot(c->o.x, c->d_o.x, c->o.n);
}

static attention_case attention_open(kernel_trial *t)
{
    attention_case c = {.a = {.batch = 2, .kv_heads = 1, .heads = 2, .h = 9, .hv = 5}};
    ridge__attention *a = &c.a;
    a->t = seeded_pick(&t->at, 5, 20);
    a->s = a->s_valid = a->stride_s = seeded_pick(&t->at, 3, 70);
    a->q_start = a->s > a->t ? a->s - a->t : 0;
    a->is_causal = seeded_pick(&t->at, 0, 2) > 0;
    a->window = seeded_pick(&t->at, 0, 1) * 11;
    a->scale = 0.3f;
    c.q = numbers(t, a->batch * a->t * a->heads * a->h, 1.0);
    c.k = numbers(t, a->batch * a->s * a->kv_heads * a->h, 1.0);
    c.v = numbers(t, a->batch * a->s * a->kv_heads * a->hv, 1.0);
    c.o = blank(t, a->batch * a->t * a->heads * a->hv);
    c.lse = blank(t, a->batch * a->t * a->heads);
    c.d_o = numbers(t, c.o.n, 1.0);
    a->q = c.q.a;
    a->k = c.k.a;
    a->v = c.v.a;
    a->o = c.o.a;
    a->lse = c.lse.a.p;
    a->d_o = c.d_o.a;
    c.x = (reference_attention){
        .q = c.q.x, .k = c.k.x, .v = c.v.x, .o = c.o.x, .lse = c.lse.x};
    return c;
}

static void run_attention(kernel_trial *t)
{
    attention_case c = attention_open(t);
    const kernel_array d_q = blank(t, c.q.n), d_k = blank(t, c.k.n),
                       d_v = blank(t, c.v.n);
    c.a.d_q = d_q.a;
    c.a.d_k = d_k.a;
    c.a.d_v = d_v.a;
    kernel_ok(t, t->d->ops->attention(t->d, &c.a));
    kernel_ok(t, t->d->ops->attention_backward(t->d, &c.a));
    check_slopes(t, attention_objective, &c, &c.q, &d_q);
    check_slopes(t, attention_objective, &c, &c.k, &d_k);
    check_slopes(t, attention_objective, &c, &c.v, &d_v);
}

static void attention_slopes(void **state)
{
    (void)state;
    kernel_trials(run_attention, ROUNDS);
}

/* ---- loss ------------------------------------------------------------------------ */

enum { LOSS_ROWS = 3, WORDS = 41 };

typedef struct loss_case {
    kernel_array logits, d_loss;
    int32_t labels[LOSS_ROWS];
} loss_case;

static double loss_objective(void *payload)
{
    const loss_case *c = payload;
    double sum = 0.0;
    for (int i = 0; i < LOSS_ROWS; i++) {
        const double *row = c->logits.x + i * WORDS;
        if (c->labels[i] >= 0)
            sum += c->d_loss.x[i] * (reference_log_sum(row, WORDS) - row[c->labels[i]]);
    }
    return sum;
}

static void run_loss(kernel_trial *t)
{
    loss_case c = {.logits = numbers(t, LOSS_ROWS * WORDS, 3.0),
                   .d_loss = numbers(t, LOSS_ROWS, 1.0),
                   .labels = {5, -1, WORDS - 1}};
    const kernel_array d_logits = blank(t, LOSS_ROWS * WORDS);
    float top[LOSS_ROWS], sum[LOSS_ROWS], picked[LOSS_ROWS], lse[LOSS_ROWS];
    const ridge__loss l = {.rows = LOSS_ROWS,
                           .words = WORDS,
                           .stride = WORDS,
                           .logits = c.logits.a,
                           .d_logits = d_logits.a,
                           .labels = c.labels,
                           .top = top,
                           .sum = sum,
                           .picked = picked,
                           .lse = lse,
                           .loss = blank(t, LOSS_ROWS).a,
                           .d_loss = c.d_loss.a};
    kernel_ok(t, t->d->ops->loss_partial(t->d, &l));
    kernel_ok(t, t->d->ops->loss_finish(t->d, &l));
    kernel_ok(t, t->d->ops->loss_backward(t->d, &l));
    check_slopes(t, loss_objective, &c, &c.logits, &d_logits);
}

static void loss_slopes(void **state)
{
    (void)state;
    kernel_trials(run_loss, ROUNDS);
}

/* ---- experts --------------------------------------------------------------------- */

enum { TOKENS = 6, EXPERTS = 7, CHOSEN = 3, WIDTH = 19 };

/** y = sum over a token's experts of gate times row, gates from logits. */
typedef struct experts_case {
    kernel_array logits, rows, d_y;
    int64_t offsets[EXPERTS + 1];
    int32_t token[TOKENS * CHOSEN];
} experts_case;

static double experts_objective(void *payload)
{
    const experts_case *c = payload;
    double gates[TOKENS * EXPERTS], sum = 0.0;
    for (int i = 0; i < TOKENS; i++)
        reference_route(EXPERTS, CHOSEN, c->logits.x + i * EXPERTS,
                        gates + i * EXPERTS);
    for (int e = 0; e < EXPERTS; e++) {
        for (int64_t r = c->offsets[e]; r < c->offsets[e + 1]; r++)
            sum += gates[c->token[r] * EXPERTS + e] *
                   dot(c->rows.x + r * WIDTH, c->d_y.x + c->token[r] * WIDTH, WIDTH);
    }
    return sum;
}

static void run_experts(kernel_trial *t)
{
    experts_case c = {.logits = numbers(t, TOKENS * EXPERTS, 2.0),
                      .rows = numbers(t, TOKENS * CHOSEN * WIDTH, 1.0),
                      .d_y = numbers(t, TOKENS * WIDTH, 1.0)};
    const kernel_array gates = blank(t, TOKENS * EXPERTS),
                       d_gates = blank(t, TOKENS * EXPERTS),
                       d_logits = blank(t, TOKENS * EXPERTS),
                       d_rows = blank(t, TOKENS * CHOSEN * WIDTH);
    const ridge__route r = {.rows = TOKENS,
                            .experts = EXPERTS,
                            .k = CHOSEN,
                            .logits = c.logits.a,
                            .gates = gates.a,
                            .d_gates = d_gates.a,
                            .d_logits = d_logits.a};
    const ridge__expert_order o = {TOKENS,  TOKENS,  EXPERTS,   0,
                                   EXPERTS, gates.a, c.offsets, c.token};
    const ridge__experts e = {.tokens = TOKENS,
                              .d = WIDTH,
                              .all_experts = EXPERTS,
                              .experts = EXPERTS,
                              .offsets = c.offsets,
                              .token = c.token,
                              .rows = c.rows.a,
                              .gates = gates.a,
                              .d_rows = d_rows.a,
                              .d_y = c.d_y.a,
                              .d_gates = d_gates.a};
    kernel_ok(t, t->d->ops->route(t->d, &r));
    kernel_ok(t, t->d->ops->expert_order(t->d, &o));
    kernel_ok(t, t->d->ops->combine_backward(t->d, &e));
    kernel_ok(t, t->d->ops->route_backward(t->d, &r));
    check_slopes(t, experts_objective, &c, &c.rows, &d_rows);
    check_slopes(t, experts_objective, &c, &c.logits, &d_logits);
}

static void expert_slopes(void **state)
{
    (void)state;
    kernel_trials(run_experts, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norm_slopes),      cmocka_unit_test(function_slopes),
        cmocka_unit_test(attention_slopes), cmocka_unit_test(loss_slopes),
        cmocka_unit_test(expert_slopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
