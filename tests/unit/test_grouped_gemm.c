/* Products of experts against sums in double precision: ragged groups, empty ones. */
#include "dense_arrays.h"

#include "device_cpu.h"

#include <math.h>

enum { GROUPS = 5 };

typedef struct grouped_case {
    ridge__grouped_gemm g;
    int64_t rows;
    int64_t out_elements;
    ridge__array before;
} grouped_case;

static const ridge_dtype formats[] = {RIDGE_DTYPE_FP32, RIDGE_DTYPE_BF16};

/** out[at] of a group's matrix; the sums' terms are in[i] w[j] of `terms` pairs. */
typedef struct element {
    int64_t out, in, in_step, w, w_step, terms;
} element;

static void check_element(const grouped_case *c, element e)
{
    double want = c->g.is_added ? dense_get(c->before, e.out) : 0.0, size = fabs(want);
    for (int64_t i = 0; i < e.terms; i++) {
        double term = dense_get(c->g.in, e.in + i * e.in_step) *
                      dense_get(c->g.w, e.w + i * e.w_step);
        want += term;
        size += fabs(term);
    }
    double allowed = size * 0x1p-24 * (4.0 + sqrt((double)e.terms)) +
                     dense_rounding(c->g.out.dtype, want);
    double got = dense_get(c->g.out, e.out);
    if (!(fabs(got - want) <= allowed))
        fail_msg("out[%d] = %.9g, not %.9g", (int)e.out, got, want);
}

static void check_inner(const grouped_case *c, int group)
{
    const ridge__grouped_gemm *g = &c->g;
    int64_t matrix = group * g->k * g->n;
    for (int64_t row = g->offsets[group]; row < g->offsets[group + 1]; row++)
        for (int64_t j = 0; j < g->n; j++)
            check_element(c,
                          (element){.out = row * g->n + j,
                                    .in = row * g->k,
                                    .in_step = 1,
                                    .w = matrix + (g->is_w_transposed ? j * g->k : j),
                                    .w_step = g->is_w_transposed ? 1 : g->n,
                                    .terms = g->k});
}

static void check_outer(const grouped_case *c, int group)
{
    const ridge__grouped_gemm *g = &c->g;
    int64_t first = g->offsets[group], matrix = group * g->k * g->n;
    for (int64_t i = 0; i < g->k; i++)
        for (int64_t j = 0; j < g->n; j++)
            check_element(c, (element){.out = matrix + i * g->n + j,
                                       .in = first * g->k + i,
                                       .in_step = g->k,
                                       .w = first * g->n + j,
                                       .w_step = g->n,
                                       .terms = g->offsets[group + 1] - first});
}

static void fill(ridge_ctx *cx, grouped_case *c, int bits, seeded *at)
{
    ridge__grouped_gemm *g = &c->g;
    int64_t matrices = GROUPS * g->k * g->n;
    c->rows = g->offsets[GROUPS];
    c->out_elements = g->is_outer ? matrices : c->rows * g->n;
    g->in = dense_seeded(cx, formats[bits & 1], c->rows * g->k, at);
    g->w = dense_seeded(cx, formats[bits >> 1 & 1],
                        g->is_outer ? c->rows * g->n : matrices, at);
    g->out = dense_seeded(cx, formats[bits >> 2 & 1], c->out_elements, at);
    c->before = dense_copy(cx, g->out, c->out_elements);
}

static void check_case(ridge__device *d, ridge__grouped_gemm g, int bits, seeded *at)
{
    ridge_ctx *cx = ridge_ctx_open();
    grouped_case c = {.g = g};
    c.g.is_outer = (bits >> 3 & 1) != 0;
    c.g.is_added = (bits >> 4 & 1) != 0;
    c.g.is_w_transposed = (bits >> 5 & 1) != 0 && !c.g.is_outer;
    fill(cx, &c, bits, at);
    ridge__grouped_gemm again = c.g;
    again.out = dense_copy(cx, c.before, c.out_elements);
    assert_int_equal(d->ops->grouped_gemm(d, &c.g), RIDGE_OK);
    for (int group = 0; group < GROUPS; group++) {
        if (c.g.is_outer)
            check_outer(&c, group);
        else
            check_inner(&c, group);
    }
    assert_int_equal(d->ops->grouped_gemm(d, &again), RIDGE_OK);
    assert_true(dense_is_same(c.g.out, again.out, c.out_elements));
    ridge_ctx_close(cx);
}

static void ragged_groups_are_right(void **state)
{
    (void)state;
    static const int64_t offsets[][GROUPS + 1] = {{0, 3, 3, 20, 21, 61},
                                                  {0, 0, 0, 0, 0, 0},
                                                  {0, 0, 130, 131, 131, 131},
                                                  {0, 17, 34, 51, 68, 85}};
    seeded at = 21;
    for (int threads = 1; threads <= 3; threads++) {
        ridge_ctx *cx = ridge_ctx_open();
        ridge__device *d = NULL;
        assert_int_equal(ridge__device_open_cpu(cx, threads, &d), RIDGE_OK);
        for (size_t i = 0; i < RIDGE_COUNT_OF(offsets); i++)
            for (int bits = 0; bits < 64; bits++) {
                ridge__grouped_gemm g = {
                    .groups = GROUPS, .offsets = offsets[i], .k = 19, .n = 70};
                check_case(d, g, bits, &at);
            }
        ridge__device_close(d);
        ridge_ctx_close(cx);
    }
}

/** Without terms a sum is zero, whatever memory held. */
static void an_empty_k_gives_zeros(void **state)
{
    (void)state;
    static const int64_t offsets[] = {0, 3, 3, 20, 21, 61};
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = NULL;
    assert_int_equal(ridge__device_open_cpu(cx, 2, &d), RIDGE_OK);
    seeded at = 22;
    for (int bits = 0; bits < 64; bits++) {
        ridge__grouped_gemm g = {.groups = GROUPS, .offsets = offsets, .k = 0, .n = 7};
        check_case(d, g, bits, &at);
    }
    ridge__device_close(d);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ragged_groups_are_right),
        cmocka_unit_test(an_empty_k_gives_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
