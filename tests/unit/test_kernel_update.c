/* AdamW, sums of squares and multiplication against double precision. */
#include "block_code.h"
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

/* ---- moments of 8 bits ----------------------------------------------------------- */

/* The size of a cell of a decade that part of the largest lies in. */
static double cell_of(double part, bool is_signed)
{
    double end = 1.0, cells = is_signed ? 64.0 : 128.0;
    while (part < end / 10.0 && end > 2e-6) {
        end /= 10.0;
        cells /= 2.0;
    }
    return 0.9 * end / cells;
}

static void check_blocks(kernel_trial *t, const ridge__blocks *b, const double *x)
{
    for (int64_t i = 0; i < b->rows * b->n; i++) {
        const int64_t row = i / b->n, column = b->first + i % b->n;
        const int64_t k =
            column / RIDGE__BLOCK_ENTRIES - b->first / RIDGE__BLOCK_ENTRIES;
        const double largest = (double)b->scales[row * ridge__blocks_per_row(b) + k];
        const double part = largest > 0.0 ? fabs(x[i]) / largest : 0.0;
        const double off = fabs((double)b->x[i] - x[i]);
        assert_true(part <= 1.0 + 1e-6);
        if (!(off <= 1.001 * cell_of(part, b->is_signed) * largest))
            fail_msg("entry %lld, %g, comes back as %g", (long long)i, x[i],
                     (double)b->x[i]);
        assert_true(part < 1.0 || off == 0.0);
        assert_true(b->is_signed || x[i] == 0.0 || b->x[i] > 0.0f);
    }
    (void)t;
}

static void run_blocks(kernel_trial *t)
{
    ridge__blocks b = {.rows = kernel_pick(t, 0, 20),
                       .n = kernel_pick(t, 1, 900),
                       .first = kernel_pick(t, 0, 700),
                       .is_signed = seeded_pick(&t->at, 0, 1) == 0};
    kernel_array x = kernel_random(t, RIDGE_DTYPE_FP32, b.rows * b.n, 1.0);
    kernel_array scales =
        kernel_random(t, RIDGE_DTYPE_FP32, b.rows * ridge__blocks_per_row(&b), 1.0);
    kernel_array codes = kernel_random(t, RIDGE_DTYPE_FP32, b.rows * b.n, 1.0);
    for (int64_t i = 0; i < x.n; i++) { /* over many decades */
        const double by = pow(10.0, -(double)(i % 10));
        x.x[i] = i % 7 == 0 ? 0.0 : (b.is_signed ? x.x[i] : fabs(x.x[i])) * by;
        kernel_set(x.a, i, x.x[i]);
        x.x[i] = (double)(float)x.x[i];
    }
    b.x = x.a.p;
    b.scales = scales.a.p;
    b.codes = codes.a.p;
    for (int again = 0; again < 2; again++) { /* what was packed once is kept */
        kernel_ok(t, t->d->ops->block_maxima(t->d, &b));
        kernel_ok(t, t->d->ops->block_pack(t->d, &b));
        kernel_ok(t, t->d->ops->block_unpack(t->d, &b));
        if (again == 0)
            check_blocks(t, &b, x.x);
        for (int64_t i = 0; i < x.n; i++) {
            if (again > 0)
                assert_true((double)b.x[i] == x.x[i]);
            x.x[i] = (double)b.x[i];
        }
    }
}

static void blocks_come_back_within_a_cell(void **state)
{
    (void)state;
    kernel_trials(run_blocks, ROUNDS);
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
        cmocka_unit_test(blocks_come_back_within_a_cell),
        cmocka_unit_test(squares_are_summed_in_double),
        cmocka_unit_test(multiplied_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
