/* Gates that are softmax over all experts: their gradient, by way of all of them,
 * against double precision. */
#include "kernel_fixture.h"

#include <math.h>

enum { ROUNDS = 6 };

typedef struct gate_case {
    ridge__route r;
    kernel_array logits, gates, whole, d_gates, d_logits;
} gate_case;

static gate_case case_of(kernel_trial *t)
{
    gate_case c = {.r = {.rows = kernel_pick(t, 1, 20),
                         .experts = kernel_pick(t, 2, 40),
                         .is_whole = true}};
    const int64_t n = c.r.rows * c.r.experts;
    c.r.k = kernel_pick(t, 1, c.r.experts);
    c.logits = kernel_random(t, t->dtype, n, 3.0);
    c.gates = kernel_blank(t, t->dtype, n);
    c.whole = kernel_blank(t, RIDGE_DTYPE_FP32, n);
    c.d_gates = kernel_random(t, t->dtype, n, 1.0);
    c.d_logits = kernel_blank(t, t->dtype, n);
    c.r.logits = c.logits.a;
    return c;
}

/* One row: softmax of all, of which those chosen have a gradient. */
static void expect_row(gate_case *c, int64_t row)
{
    const int64_t first = row * c->r.experts;
    double sum = 0.0, mean = 0.0;
    for (int64_t i = 0; i < c->r.experts; i++)
        sum += exp(c->logits.x[first + i]);
    for (int64_t i = 0; i < c->r.experts; i++) {
        const double share = exp(c->logits.x[first + i]) / sum;
        c->whole.x[first + i] = share;
        mean += share * c->d_gates.x[first + i];
    }
    for (int64_t i = 0; i < c->r.experts; i++)
        c->d_logits.x[first + i] =
            c->whole.x[first + i] * (c->d_gates.x[first + i] - mean);
}

static void run_gates(kernel_trial *t)
{
    gate_case c = case_of(t);
    ridge__route all = c.r, back = c.r;
    c.r.gates = c.gates.a;
    kernel_ok(t, t->d->ops->route(t->d, &c.r));
    all.k = all.experts;
    all.gates = c.whole.a;
    kernel_ok(t, t->d->ops->route(t->d, &all));
    for (int64_t i = 0; i < c.gates.n; i++) {
        if (kernel_get(c.gates.a, i) == 0.0) {
            c.d_gates.x[i] = 0.0;
            kernel_set(c.d_gates.a, i, 0.0);
        }
    }
    for (int64_t r = 0; r < c.r.rows; r++)
        expect_row(&c, r);
    kernel_check(t, &c.whole, 2e-6, "all gates");
    back.gates = c.whole.a;
    back.d_gates = c.d_gates.a;
    back.d_logits = c.d_logits.a;
    kernel_ok(t, t->d->ops->route_backward(t->d, &back));
    kernel_check(t, &c.d_logits, 2e-6, "d_logits");
}

static void whole_gates_have_a_gradient(void **state)
{
    (void)state;
    kernel_trials(run_gates, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_gates_have_a_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
