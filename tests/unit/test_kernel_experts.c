/* Routing, the order of experts' rows, dispatch and combine with their backwards,
 * against loops over tokens and experts in double precision. */
#include "kernel_fixture.h"
#include "kernel_reference.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 10 };

/* ---- route ----------------------------------------------------------------------- */

static void run_route(kernel_trial *t)
{
    const int64_t rows = kernel_pick(t, 0, 80), experts = kernel_pick(t, 1, 130);
    const int64_t k = kernel_pick(t, 1, experts < 9 ? experts : 9);
    kernel_array logits = kernel_random(t, t->dtype, rows * experts, 4.0);
    kernel_array gates = kernel_blank(t, t->dtype, rows * experts);
    for (int64_t i = 0; i < logits.n; i++) { /* some are equal */
        logits.x[i] = seeded_pick(&t->at, 0, 2) == 0 ? round(logits.x[i]) : logits.x[i];
        kernel_set(logits.a, i, logits.x[i]);
    }
    for (int64_t i = 0; i < rows; i++)
        reference_route(experts, k, logits.x + i * experts, gates.x + i * experts);
    const ridge__route r = {rows, experts, k, .logits = logits.a, .gates = gates.a};
    kernel_ok(t, t->d->ops->route(t->d, &r));
    kernel_check(t, &gates, 1e-6, "gates");
    for (int64_t i = 0; i < gates.n; i++)
        assert_int_equal(kernel_get(gates.a, i) != 0.0, gates.x[i] != 0.0);
}

static void run_whole_route(kernel_trial *t)
{
    const int64_t rows = kernel_pick(t, 1, 40), experts = kernel_pick(t, 1, 130);
    const int64_t k = kernel_pick(t, 1, experts < 9 ? experts : 9);
    kernel_array logits = kernel_random(t, t->dtype, rows * experts, 4.0);
    kernel_array gates = kernel_blank(t, t->dtype, rows * experts);
    for (int64_t i = 0; i < rows; i++) {
        const double *x = logits.x + i * experts;
        double *want = gates.x + i * experts, chosen = 0.0, all = 0.0;
        reference_route(experts, k, x, want);
        for (int64_t e = 0; e < experts; e++) {
            all += exp(x[e]);
            chosen += want[e] > 0.0 ? exp(x[e]) : 0.0;
        }
        for (int64_t e = 0; e < experts; e++)
            want[e] *= chosen / all;
    }
    const ridge__route r = {.rows = rows,
                            .experts = experts,
                            .k = k,
                            .is_whole = true,
                            .logits = logits.a,
                            .gates = gates.a};
    kernel_ok(t, t->d->ops->route(t->d, &r));
    kernel_check(t, &gates, 1e-6, "gates");
}

static void route_matches_float64(void **state)
{
    (void)state;
    kernel_trials(run_route, ROUNDS);
    kernel_trials(run_whole_route, ROUNDS);
}

static void run_odd_route(kernel_trial *t)
{
    enum { ROWS = 5, EXPERTS = 19 };
    kernel_array logits = kernel_random(t, t->dtype, ROWS * EXPERTS, 1.0);
    kernel_array gates = kernel_blank(t, t->dtype, ROWS * EXPERTS);
    for (int i = 0; i < EXPERTS; i++) {
        kernel_set(logits.a, i, (double)NAN);
        kernel_set(logits.a, EXPERTS + i, -(double)INFINITY);
        kernel_set(logits.a, 2 * EXPERTS + i, (double)INFINITY);
        kernel_set(logits.a, 3 * EXPERTS + i, i == 7 ? (double)INFINITY : 0.0);
        kernel_set(logits.a, 4 * EXPERTS + i, i == 7 ? 3.0 : (double)NAN);
    }
    for (int row = 0; row < 3; row++)
        gates.x[row * EXPERTS] = gates.x[row * EXPERTS + 1] = 0.5;
    gates.x[3 * EXPERTS + 7] = gates.x[4 * EXPERTS + 7] = 1.0;
    const ridge__route r = {ROWS, EXPERTS, 2, .logits = logits.a, .gates = gates.a};
    kernel_ok(t, t->d->ops->route(t->d, &r));
    kernel_check(t, &gates, 1e-6, "gates");
}

static void odd_logits_are_routed(void **state)
{
    (void)state;
    kernel_trials(run_odd_route, 1);
}

static void run_route_back(kernel_trial *t)
{
    const int64_t rows = kernel_pick(t, 0, 200), experts = kernel_pick(t, 1, 130);
    kernel_array gates = kernel_random(t, t->dtype, rows * experts, 1.0);
    kernel_array d_gates = kernel_random(t, t->dtype, rows * experts, 1.0);
    kernel_array d_logits = kernel_blank(t, t->dtype, rows * experts);
    for (int64_t i = 0; i < rows; i++) {
        double mean = 0.0;
        for (int64_t e = 0; e < experts; e++)
            mean += gates.x[i * experts + e] * d_gates.x[i * experts + e];
        for (int64_t e = 0; e < experts; e++)
            d_logits.x[i * experts + e] =
                gates.x[i * experts + e] * (d_gates.x[i * experts + e] - mean);
    }
    const ridge__route r = {.rows = rows,
                            .experts = experts,
                            .k = 2,
                            .gates = gates.a,
                            .d_gates = d_gates.a,
                            .d_logits = d_logits.a};
    kernel_ok(t, t->d->ops->route_backward(t->d, &r));
    kernel_check(t, &d_logits, 4e-6, "d_logits");
}

static void route_backward_matches_float64(void **state)
{
    (void)state;
    kernel_trials(run_route_back, ROUNDS);
}

/* ---- rows of experts ------------------------------------------------------------- */

typedef struct experts_case {
    ridge__experts e;
    int64_t valid, rows;
    kernel_array gates;
    int64_t offsets[40];
    int32_t *token;
    int64_t *want_rows; /* [tokens][experts]: the token's row, or -1 */
} experts_case;

static void want_order(kernel_trial *t, experts_case *c)
{
    const ridge__experts *e = &c->e;
    c->want_rows =
        ridge_new(ridge_ctx_arena(t->cx), int64_t, (size_t)(e->tokens * e->experts));
    for (int64_t x = 0; x < e->experts; x++) {
        for (int64_t i = 0; i < e->tokens; i++) {
            const double gate = c->gates.x[i * e->all_experts + e->first_expert + x];
            const bool is_in = i < c->valid && gate != 0.0 && !isnan(gate);
            c->want_rows[i * e->experts + x] = is_in ? c->rows++ : -1;
        }
    }
}

static void order_check(const experts_case *c)
{
    const ridge__experts *e = &c->e;
    assert_int_equal(c->offsets[0], 0);
    assert_int_equal(c->offsets[e->experts], c->rows);
    for (int64_t i = 0; i < e->tokens * e->experts; i++) {
        const int64_t row = c->want_rows[i], x = i % e->experts;
        if (row < 0)
            continue;
        assert_true(row >= c->offsets[x] && row < c->offsets[x + 1]);
        assert_int_equal(c->token[row], i / e->experts);
    }
}

/** Random gates, ordered by the kernel. */
static void case_open(kernel_trial *t, experts_case *c)
{
    memset(c, 0, sizeof *c);
    ridge__experts *e = &c->e;
    e->tokens = kernel_pick(t, 0, 60);
    e->all_experts = kernel_pick(t, 1, 33);
    e->experts = kernel_pick(t, 0, e->all_experts);
    e->first_expert = seeded_pick(&t->at, 0, e->all_experts - e->experts);
    e->d = kernel_pick(t, 1, 300);
    c->valid =
        seeded_pick(&t->at, 0, 1) == 0 ? kernel_pick(t, 0, e->tokens) : e->tokens;
    c->gates = kernel_random(t, t->dtype, e->tokens * e->all_experts, 1.0);
    for (int64_t i = 0; i < c->gates.n; i++) {
        if (seeded_pick(&t->at, 0, 3) == 0)
            continue;
        c->gates.x[i] = seeded_pick(&t->at, 0, 50) == 0 ? (double)NAN : 0.0;
        kernel_set(c->gates.a, i, c->gates.x[i]);
    }
    want_order(t, c);
    c->token = kernel_words(t, c->rows);
    const ridge__expert_order o = {e->tokens,       c->valid,   e->all_experts,
                                   e->first_expert, e->experts, c->gates.a,
                                   c->offsets,      c->token};
    kernel_ok(t, t->d->ops->expert_order(t->d, &o));
    order_check(c);
    e->offsets = c->offsets;
    e->token = c->token;
    e->gates = c->gates.a;
}

/** y [tokens, d] = sum over a token's rows, each times its gate or 1, in doubles. */
static void want_sum(const experts_case *c, const double *rows, bool is_gated,
                     double *y)
{
    const ridge__experts *e = &c->e;
    for (int64_t i = 0; i < e->tokens * e->experts; i++) {
        const int64_t row = c->want_rows[i], token = i / e->experts;
        const double gate =
            c->gates.x[token * e->all_experts + e->first_expert + i % e->experts];
        for (int64_t j = 0; j < e->d && row >= 0; j++)
            y[token * e->d + j] += (is_gated ? gate : 1.0) * rows[row * e->d + j];
    }
}

static void run_dispatch(kernel_trial *t)
{
    experts_case c;
    case_open(t, &c);
    kernel_array x = kernel_random(t, t->dtype, c.e.tokens * c.e.d, 1.0);
    kernel_array rows = kernel_blank(t, t->dtype, c.rows * c.e.d);
    kernel_array d_rows = kernel_random(t, t->dtype, c.rows * c.e.d, 1.0);
    kernel_array d_x = kernel_blank(t, t->dtype, c.e.tokens * c.e.d);
    for (int64_t i = 0; i < rows.n; i++)
        rows.x[i] = x.x[c.token[i / c.e.d] * c.e.d + i % c.e.d];
    want_sum(&c, d_rows.x, false, d_x.x);
    c.e.x = x.a;
    c.e.rows = rows.a;
    c.e.d_rows = d_rows.a;
    c.e.d_x = d_x.a;
    kernel_ok(t, t->d->ops->dispatch(t->d, &c.e));
    kernel_ok(t, t->d->ops->dispatch_backward(t->d, &c.e));
    kernel_check(t, &rows, 0.0, "rows");
    kernel_check(t, &d_x, 4e-6, "d_x");
}

static void dispatch_and_back(void **state)
{
    (void)state;
    kernel_trials(run_dispatch, ROUNDS);
}

static void want_combine_back(const experts_case *c, const double *rows,
                              const double *d_y, double *d_rows, double *d_gates)
{
    const ridge__experts *e = &c->e;
    for (int64_t i = 0; i < e->tokens * e->experts; i++) {
        const int64_t row = c->want_rows[i], token = i / e->experts;
        const int64_t gate = token * e->all_experts + e->first_expert + i % e->experts;
        for (int64_t j = 0; j < e->d && row >= 0; j++) {
            d_rows[row * e->d + j] = c->gates.x[gate] * d_y[token * e->d + j];
            d_gates[gate] += rows[row * e->d + j] * d_y[token * e->d + j];
        }
    }
}

static void run_combine(kernel_trial *t)
{
    experts_case c;
    case_open(t, &c);
    kernel_array rows = kernel_random(t, t->dtype, c.rows * c.e.d, 1.0);
    kernel_array y = kernel_blank(t, t->dtype, c.e.tokens * c.e.d);
    kernel_array d_y = kernel_random(t, t->dtype, c.e.tokens * c.e.d, 1.0);
    kernel_array d_rows = kernel_blank(t, t->dtype, c.rows * c.e.d);
    kernel_array d_gates = kernel_blank(t, t->dtype, c.gates.n);
    want_sum(&c, rows.x, true, y.x);
    want_combine_back(&c, rows.x, d_y.x, d_rows.x, d_gates.x);
    c.e.rows = rows.a;
    c.e.y = y.a;
    c.e.d_y = d_y.a;
    c.e.d_rows = d_rows.a;
    c.e.d_gates = d_gates.a;
    kernel_ok(t, t->d->ops->combine(t->d, &c.e));
    kernel_ok(t, t->d->ops->combine_backward(t->d, &c.e));
    kernel_check(t, &y, 4e-6, "y");
    kernel_check(t, &d_rows, 1e-6, "d_rows");
    kernel_check(t, &d_gates, 1e-5, "d_gates");
}

static void combine_and_back(void **state)
{
    (void)state;
    kernel_trials(run_combine, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(route_matches_float64),
        cmocka_unit_test(odd_logits_are_routed),
        cmocka_unit_test(route_backward_matches_float64),
        cmocka_unit_test(dispatch_and_back),
        cmocka_unit_test(combine_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
