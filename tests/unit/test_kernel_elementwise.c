/* Elementwise kernels against libm in double precision: each function over its range,
 * operands repeated and strided, gradients. */
#include "kernel_fixture.h"
#include "kernel_reference.h"

#include <math.h>

enum { ROUNDS = 12 };

static ridge_function pick_function(kernel_trial *t)
{
    for (;;) {
        const int f = (int)seeded_pick(&t->at, 0, RIDGE_FUNCTION_COUNT - 1);
        if (f != RIDGE_FUNCTION_ROTARY && f != RIDGE_FUNCTION_APPEND)
            return (ridge_function)f;
    }
}

/* ---- forward --------------------------------------------------------------------- */

/** Strides of an operand that lacks some of the dims. @return its elements */
static int64_t pick_strides(kernel_trial *t, ridge__elementwise *e, int64_t *strides)
{
    int64_t n = 1;
    const int64_t kind = seeded_pick(&t->at, 0, 3);
    for (int i = e->n_dims - 1; i >= 0; i--) {
        const bool is_lacking = kind > 1 && seeded_pick(&t->at, 0, 2) == 0;
        strides[i] = is_lacking ? 0 : n;
        n *= is_lacking ? 1 : e->sizes[i];
    }
    for (int i = 0; i < e->n_dims && kind == 1; i++)
        strides[i] *= 2; /* every other element */
    return kind == 1 ? 2 * n : n;
}

static double want_at(const ridge__elementwise *e, const kernel_array *a,
                      const kernel_array *b, int64_t at)
{
    int64_t ai = 0, bi = 0;
    for (int i = e->n_dims - 1; i >= 0; i--) {
        ai += at % e->sizes[i] * e->a_strides[i];
        bi += at % e->sizes[i] * e->b_strides[i];
        at /= e->sizes[i];
    }
    return reference_function(e->function, a->x[ai], b->n > 0 ? b->x[bi] : 0.0,
                              (double)e->scale);
}

static void run_forward(kernel_trial *t)
{
    ridge__elementwise e = {.function = pick_function(t), .scale = 1.7f};
    e.n_dims = (int)seeded_pick(&t->at, 1, 4);
    int64_t n = 1;
    for (int i = 0; i < e.n_dims; i++) {
        e.sizes[i] = kernel_pick(t, i == 0 ? 0 : 1, e.n_dims == 1 ? 20000 : 17);
        n *= e.sizes[i];
    }
    kernel_array a = kernel_random(t, t->dtype, pick_strides(t, &e, e.a_strides), 9.0);
    const int64_t b_n = pick_strides(t, &e, e.b_strides);
    kernel_array b = {.n = 0};
    if (ridge_function_inputs(e.function) == 2)
        b = kernel_random(t, t->dtype, b_n, 2.0);
    kernel_array y = kernel_blank(t, t->dtype, n);
    for (int64_t i = 0; i < n; i++)
        y.x[i] = want_at(&e, &a, &b, i);
    e.a = a.a;
    e.b = b.a;
    e.y = y.a;
    kernel_ok(t, t->d->ops->elementwise(t->d, &e));
    kernel_check(t, &y, 1e-6, ridge_function_text(e.function));
}

static void forward_matches_float64(void **state)
{
    (void)state;
    kernel_trials(run_forward, 3 * ROUNDS);
}

/* ---- extremes -------------------------------------------------------------------- */

/* Fp32 over its whole range: large, tiny, infinite, no numbers. */
static void run_extremes(kernel_trial *t)
{
    static const double odd[] = {0.0,      -0.0, 1e-40,     -1e-40, 87.3, 88.8,
                                 -87.4,    -104, 1e30,      -1e30,  4.0,  -4.0,
                                 0x1p-126, 1.0,  -INFINITY, NAN,    9.0,  -9.0};
    const ridge_function functions[] = {RIDGE_FUNCTION_SIGMOID, RIDGE_FUNCTION_RELU,
                                        RIDGE_FUNCTION_ADD, RIDGE_FUNCTION_GELU,
                                        RIDGE_FUNCTION_GELU_TANH};
    for (size_t f = 0; f < RIDGE_COUNT_OF(functions); f++) {
        const int64_t n = (int64_t)RIDGE_COUNT_OF(odd);
        const bool is_gelu = functions[f] == RIDGE_FUNCTION_GELU ||
                             functions[f] == RIDGE_FUNCTION_GELU_TANH;
        kernel_array a = kernel_blank(t, RIDGE_DTYPE_FP32, n);
        kernel_array y = kernel_blank(t, RIDGE_DTYPE_FP32, n);
        for (int64_t i = 0; i < n; i++) {
            kernel_set(a.a, i, odd[i]);
            const double x = kernel_get(a.a, i);
            y.x[i] = is_gelu && isinf(x)
                         ? (double)NAN /* 0 times infinity, as it is written down */
                         : reference_function(functions[f], x, x, 1.0);
            y.x[i] = isnan(x) ? (double)NAN : y.x[i];
        }
        const ridge__elementwise e = {.function = functions[f],
                                      .n_dims = 1,
                                      .sizes = {n},
                                      .a_strides = {1},
                                      .b_strides = {1},
                                      .a = a.a,
                                      .b = a.a,
                                      .y = y.a};
        kernel_ok(t, t->d->ops->elementwise(t->d, &e));
        kernel_check(t, &y, 1e-6, ridge_function_text(functions[f]));
    }
}

static void extremes_match_float64(void **state)
{
    (void)state;
    kernel_trials(run_extremes, 1);
}

/* ---- backward -------------------------------------------------------------------- */

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double gelu_slope(double x)
{
    return 0.5 * (1.0 + erf(x / sqrt(2.0))) +
           x * exp(-0.5 * x * x) / sqrt(2.0 * acos(-1.0));
}

static double gelu_tanh_slope(double x)
{
    const double by = sqrt(2.0 / acos(-1.0));
    const double t = tanh(by * (x + 0.044715 * x * x * x));
    return 0.5 * (1.0 + t) +
           0.5 * x * (1.0 - t * t) * by * (1.0 + 3.0 * 0.044715 * x * x);
}

/** f'(a) of the first factor. */
static double slope_of(ridge_function f, double a, double scale)
{
    const double s = sigmoid(a);
    switch (f) {
    case RIDGE_FUNCTION_SWIGLU:
    case RIDGE_FUNCTION_SILU:
        return s * (1.0 + a * (1.0 - s));
    case RIDGE_FUNCTION_GELU:
    case RIDGE_FUNCTION_GEGLU:
        return gelu_slope(a);
    case RIDGE_FUNCTION_GELU_TANH:
        return gelu_tanh_slope(a);
    case RIDGE_FUNCTION_RELU:
        return a > 0.0 ? 1.0 : 0.0;
    case RIDGE_FUNCTION_RELU2:
        return a > 0.0 ? 2.0 * a : 0.0;
    case RIDGE_FUNCTION_SIGMOID:
        return s * (1.0 - s);
    case RIDGE_FUNCTION_SOFTPLUS:
        return s;
    case RIDGE_FUNCTION_EXP:
        return exp(a);
    case RIDGE_FUNCTION_SCALE:
        return scale;
    case RIDGE_FUNCTION_COPY:
    case RIDGE_FUNCTION_ADD:
    case RIDGE_FUNCTION_MULTIPLY:
    case RIDGE_FUNCTION_ROTARY:
    case RIDGE_FUNCTION_APPEND:
        break;
    }
    return 1.0;
}

static void want_back(ridge_function f, double scale, const double in[3], double *da,
                      double *db)
{
    const double dy = in[0], a = in[1], b = in[2];
    const bool is_two = ridge_function_inputs(f) == 2, is_add = f == RIDGE_FUNCTION_ADD;
    *da = dy * slope_of(f, a, scale) * (is_two && !is_add ? b : 1.0);
    *db = is_add ? dy : dy * reference_function(f, a, 1.0, scale);
}

static void run_backward(kernel_trial *t)
{
    ridge__elementwise e = {.function = pick_function(t), .scale = 1.7f, .n_dims = 1};
    const int64_t n = e.sizes[0] = kernel_pick(t, 0, 20000);
    const bool is_two = ridge_function_inputs(e.function) == 2;
    const bool is_in_place = seeded_pick(&t->at, 0, 1) == 0;
    kernel_array a = kernel_random(t, t->dtype, n, 6.0);
    kernel_array b = kernel_random(t, t->dtype, n, 2.0);
    kernel_array d_y = kernel_random(t, t->dtype, n, 2.0);
    kernel_array d_a = kernel_blank(t, t->dtype, n);
    kernel_array d_b = kernel_blank(t, t->dtype, n);
    for (int64_t i = 0; i < n; i++)
        want_back(e.function, (double)e.scale,
                  (const double[]){d_y.x[i], a.x[i], b.x[i]}, &d_a.x[i], &d_b.x[i]);
    if (is_in_place)
        d_a.a = d_y.a;
    e.a = a.a;
    e.b = is_two ? b.a : (ridge__array){.p = NULL};
    e.d_y = d_y.a;
    e.d_a = d_a.a;
    e.d_b = is_two ? d_b.a : (ridge__array){.p = NULL};
    kernel_ok(t, t->d->ops->elementwise_backward(t->d, &e));
    kernel_check(t, &d_a, 2e-6, ridge_function_text(e.function));
    if (is_two)
        kernel_check(t, &d_b, 2e-6, ridge_function_text(e.function));
}

static void backward_matches_float64(void **state)
{
    (void)state;
    kernel_trials(run_backward, 2 * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_matches_float64),
        cmocka_unit_test(extremes_match_float64),
        cmocka_unit_test(backward_matches_float64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
