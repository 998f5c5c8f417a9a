/* One more score in attention's softmax, against double precision. */
#include "kernel_fixture.h"

#include <math.h>

enum { ROUNDS = 8 };

typedef struct sink_case {
    ridge__sinks s;
    kernel_array sinks, o, d_o, lse;
    int64_t n;
} sink_case;

static sink_case case_of(kernel_trial *t)
{
    sink_case c = {.s = {.rows = kernel_pick(t, 0, 30),
                         .heads = kernel_pick(t, 1, 5),
                         .hv = kernel_pick(t, 1, 70)}};
    c.n = c.s.rows * c.s.heads;
    c.sinks = kernel_random(t, t->dtype, c.s.heads, 3.0);
    c.o = kernel_random(t, t->dtype, c.n * c.s.hv, 1.0);
    c.d_o = kernel_random(t, t->dtype, c.n * c.s.hv, 1.0);
    c.lse = kernel_random(t, RIDGE_DTYPE_FP32, c.n, 4.0);
    c.s.sinks = c.sinks.a;
    c.s.o = c.o.a;
    c.s.d_o = c.d_o.a;
    c.s.lse = c.lse.a.p;
    return c;
}

static void run_forward(kernel_trial *t)
{
    sink_case c = case_of(t);
    if (c.n > 0) { /* a query that meets nothing but the sink */
        c.lse.x[0] = -HUGE_VAL;
        kernel_set(c.lse.a, 0, c.lse.x[0]);
    }
    for (int64_t i = 0; i < c.n; i++) {
        const double met = exp(c.lse.x[i]), sink = exp(c.sinks.x[i % c.s.heads]);
        for (int64_t k = 0; k < c.s.hv; k++)
            c.o.x[i * c.s.hv + k] *= met / (met + sink);
        c.lse.x[i] = log(met + sink);
    }
    kernel_ok(t, t->d->ops->sinks(t->d, &c.s));
    kernel_check(t, &c.o, 2e-6, "o");
    kernel_check(t, &c.lse, 1e-6, "lse");
}

static void run_backward(kernel_trial *t)
{
    sink_case c = case_of(t);
    kernel_array d = kernel_blank(t, RIDGE_DTYPE_FP32, c.s.heads);
    for (int64_t i = 0; i < c.n; i++) {
        const int64_t head = i % c.s.heads;
        double dot = 0.0;
        for (int64_t k = 0; k < c.s.hv; k++)
            dot += c.o.x[i * c.s.hv + k] * c.d_o.x[i * c.s.hv + k];
        d.x[head] -= exp(c.sinks.x[head] - c.lse.x[i]) * dot;
    }
    c.s.d_sinks = d.a.p;
    kernel_ok(t, t->d->ops->sinks_backward(t->d, &c.s));
    kernel_check(t, &d, 2e-3, "d_sinks"); /* weights of e^7 on sums of 70 products */
}

static void sinks_take_their_share(void **state)
{
    (void)state;
    kernel_trials(run_forward, ROUNDS);
}

static void sinks_have_a_gradient(void **state)
{
    (void)state;
    kernel_trials(run_backward, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sinks_take_their_share),
        cmocka_unit_test(sinks_have_a_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
