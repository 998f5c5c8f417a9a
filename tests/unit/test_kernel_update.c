/* AdamW, sums of squares and multiplication against double precision. */
#include "kernel_fixture.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 10 };

typedef struct update_case {
    ridge__update u;
    kernel_array weight, gradient, master, m, v;
} update_case;

static update_case case_of(kernel_trial *t)
{
    update_case c = {.u = {.n = kernel_pick(t, 0, 30000),
                           .rate = 1e-2f,
                           .beta1 = 0.9f,
                           .beta2 = 0.95f,
                           .epsilon = 1e-8f,
                           .decay = 0.1f,
                           .correction1 = 0.19f,
                           .correction2 = 0.0975f,
                           .scale = 0.5f}};
    c.weight = kernel_random(t, t->dtype, c.u.n, 1.0);
    c.gradient = kernel_random(t, t->dtype, c.u.n, 1.0);
    c.master = kernel_random(t, RIDGE_DTYPE_FP32, c.u.n, 1.0);
    const bool is_narrow = seeded_pick(&t->at, 0, 1) == 0;
    const ridge_dtype moment = is_narrow ? RIDGE_DTYPE_BF16 : RIDGE_DTYPE_FP32;
    c.m = kernel_random(t, moment, c.u.n, 1.0);
    c.v = kernel_random(t, moment, c.u.n, 1.0);
    for (int64_t i = 0; i < c.u.n; i++) { /* a mean of squares */
        c.v.x[i] = fabs(c.v.x[i]);
        kernel_set(c.v.a, i, c.v.x[i]);
    }
    c.u.weight = c.weight.a;
    c.u.gradient = c.gradient.a;
    const int64_t moments = kernel_pick(t, 0, 2);
    if (moments > 0)
        c.u.m = c.m.a;
    if (moments > 1)
        c.u.v = c.v.a;
    return c;
}

static double stepped(update_case *c, int64_t i, double w)
{
    const ridge__update *u = &c->u;
    const double b1 = (double)u->beta1, b2 = (double)u->beta2;
    const double g = (double)u->scale * c->gradient.x[i];
    if (u->v.p == NULL) {
        if (u->m.p != NULL)
            c->m.x[i] = b1 * c->m.x[i] + g;
        return w - (double)u->rate *
                       ((u->m.p != NULL ? c->m.x[i] : g) + (double)u->decay * w);
    }
    c->m.x[i] = b1 * c->m.x[i] + (1.0 - b1) * g;
    c->v.x[i] = b2 * c->v.x[i] + (1.0 - b2) * g * g;
    const double step = c->m.x[i] / (double)u->correction1 /
                        (sqrt(c->v.x[i] / (double)u->correction2) + (double)u->epsilon);
    return w - (double)u->rate * (step + (double)u->decay * w);
}

static void run_update(kernel_trial *t)
{
    update_case c = case_of(t);
    const bool has_master = seeded_pick(&t->at, 0, 1) == 0;
    c.u.master = has_master ? c.master.a.p : NULL;
    for (int64_t i = 0; i < c.u.n; i++) {
        double *w = has_master ? &c.master.x[i] : &c.weight.x[i];
        *w = stepped(&c, i, *w);
        c.weight.x[i] = *w;
    }
    kernel_ok(t, t->d->ops->update(t->d, &c.u));
    kernel_check(t, &c.m, 1e-6, "m");
    kernel_check(t, &c.v, 1e-6, "v");
    kernel_check(t, &c.weight, 1e-6, "weight");
    if (has_master)
        kernel_check(t, &c.master, 1e-6, "master");
}

static void update_matches_float64(void **state)
{
    (void)state;
    kernel_trials(run_update, ROUNDS);
}

/* ---- norms of gradients ---------------------------------------------------------- */

static void run_squares(kernel_trial *t)
{
    kernel_array x = kernel_random(t, t->dtype, kernel_pick(t, 0, 50000), 3.0);
    double want = 0.0, got = -1.0;
    for (int64_t i = 0; i < x.n; i++)
        want += x.x[i] * x.x[i];
    kernel_ok(t, t->d->ops->sum_of_squares(t->d, x.a, x.n, &got));
    assert_near(got, want, 1e-13); /* doubles in another order */
    memcpy(&t->bits, &got, sizeof t->bits);
}

static void squares_are_summed_in_double(void **state)
{
    (void)state;
    kernel_trials(run_squares, ROUNDS);
}

static void run_multiply(kernel_trial *t)
{
    kernel_array x = kernel_random(t, t->dtype, kernel_pick(t, 0, 50000), 3.0);
    for (int64_t i = 0; i < x.n; i++)
        x.x[i] *= (double)0.3f;
    kernel_ok(t, t->d->ops->multiply(t->d, x.a, x.n, 0.3f));
    kernel_check(t, &x, 1e-7, "x");
}

static void multiplied_in_place(void **state)
{
    (void)state;
    kernel_trials(run_multiply, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(update_matches_float64),
        cmocka_unit_test(squares_are_summed_in_double),
        cmocka_unit_test(multiplied_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
