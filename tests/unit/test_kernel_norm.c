/* Both kinds of norm against sums in double precision, forward and backward. */
#include "kernel_fixture.h"
#include "kernel_reference.h"

#include <math.h>

enum { ROUNDS = 12 };

typedef struct norm_case {
    ridge__norm n;
    kernel_array x, w, b, y, d_y, d_x, d_w, d_b;
    bool has_w, has_b;
} norm_case;

static norm_case case_of(kernel_trial *t)
{
    norm_case c = {.n = {.rows = kernel_pick(t, 0, 40), .d = kernel_pick(t, 1, 2500)}};
    const int64_t all = c.n.rows * c.n.d;
    c.n.kind = seeded_pick(&t->at, 0, 1) == 0 ? RIDGE_NORM_RMS : RIDGE_NORM_LAYER;
    c.has_w = seeded_pick(&t->at, 0, 2) > 0;
    c.has_b = seeded_pick(&t->at, 0, 2) == 0;
    c.n.epsilon = seeded_pick(&t->at, 0, 1) == 0 ? 1e-6f : 0.1f;
    c.x = kernel_random(t, t->dtype, all, 2.0);
    c.w = kernel_random(t, t->dtype, c.n.d, 2.0);
    c.b = kernel_random(t, RIDGE_DTYPE_FP32, c.n.d, 2.0);
    c.y = kernel_blank(t, t->dtype, all);
    c.n.x = c.x.a;
    c.n.y = c.y.a;
    if (c.has_w)
        c.n.w = c.w.a;
    if (c.has_b)
        c.n.b = c.b.a;
    return c;
}

static void run_forward(kernel_trial *t)
{
    norm_case c = case_of(t);
    for (int64_t row = 0; row < c.n.rows; row++) {
        reference_norm(c.n.kind, c.n.d, (double)c.n.epsilon, c.x.x + row * c.n.d,
                       c.has_w ? c.w.x : NULL, c.has_b ? c.b.x : NULL,
                       c.y.x + row * c.n.d);
    }
    kernel_ok(t, t->d->ops->norm(t->d, &c.n));
    kernel_check(t, &c.y, 1e-6, "y");
}

static void forward_matches_float64(void **state)
{
    (void)state;
    kernel_trials(run_forward, ROUNDS);
}

/* With z = x - mean (of kind layer), r = 1 / rms(z) and g = w d_y:
 * d_x = r (g - mean(g) (of kind layer) - z r^2 mean(g z)). */
static void row_back(const norm_case *c, int64_t row)
{
    const int64_t d = c->n.d;
    const double *x = c->x.x + row * d, *dy = c->d_y.x + row * d;
    const double mean = reference_mean(c->n.kind, d, x);
    double squares = 0.0, slope = 0.0, level = 0.0;
    for (int64_t i = 0; i < d; i++) {
        const double g = (c->has_w ? c->w.x[i] : 1.0) * dy[i];
        squares += (x[i] - mean) * (x[i] - mean);
        slope += g * (x[i] - mean);
        level += c->n.kind == RIDGE_NORM_LAYER ? g / (double)d : 0.0;
    }
    const double r = 1.0 / sqrt(squares / (double)d + (double)c->n.epsilon);
    for (int64_t i = 0; i < d; i++) {
        const double w = c->has_w ? c->w.x[i] : 1.0, z = x[i] - mean;
        c->d_x.x[row * d + i] = r * (w * dy[i] - level - z * r * r / (double)d * slope);
        c->d_w.x[i] += dy[i] * z * r;
        c->d_b.x[i] += dy[i];
    }
}

static void run_backward(kernel_trial *t)
{
    norm_case c = case_of(t);
    const bool is_in_place = seeded_pick(&t->at, 0, 1) == 0;
    c.d_y = kernel_random(t, t->dtype, c.x.n, 1.0);
    c.d_x = kernel_blank(t, t->dtype, c.x.n);
    c.d_w = kernel_blank(t, t->dtype, c.n.d);
    c.d_b = kernel_blank(t, RIDGE_DTYPE_FP32, c.n.d);
    for (int64_t row = 0; row < c.n.rows; row++)
        row_back(&c, row);
    if (is_in_place)
        c.d_x.a = c.d_y.a;
    c.n.d_y = c.d_y.a;
    c.n.d_x = c.d_x.a;
    c.n.d_w = c.has_w ? c.d_w.a : (ridge__array){.p = NULL};
    c.n.d_b = c.has_b ? c.d_b.a : (ridge__array){.p = NULL};
    kernel_ok(t, t->d->ops->norm_backward(t->d, &c.n));
    kernel_check(t, &c.d_x, 4e-6, "d_x");
    if (c.has_w)
        kernel_check(t, &c.d_w, 4e-6, "d_w");
    if (c.has_b)
        kernel_check(t, &c.d_b, 4e-6, "d_b");
}

static void backward_matches_float64(void **state)
{
    (void)state;
    kernel_trials(run_backward, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_matches_float64),
        cmocka_unit_test(backward_matches_float64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
