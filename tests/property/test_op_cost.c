/* Laws of operation costs over random shapes and chips. */
#include "near.h"
#include "plain_chip.h"
#include "ridge/cost.h"

#include <math.h>

enum { ROUNDS = 4000 };

typedef struct dice {
    uint64_t state;
} dice;

static uint64_t roll(dice *d, uint64_t sides)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (d->state >> 33) % sides;
}

/* A size from 1 to 2^bits, each magnitude as likely. */
static double roll_size(dice *d, uint64_t bits)
{
    const uint64_t top = (uint64_t)1 << roll(d, bits);
    return (double)(top + roll(d, top));
}

static ridge_dtype roll_dtype(dice *d)
{
    static const ridge_dtype dtypes[] = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_FP8,
                                         RIDGE_DTYPE_FP32};
    return dtypes[roll(d, 3)];
}

static ridge_chip roll_chip(dice *d)
{
    switch (roll(d, 3)) {
    case 0:
        return plain_gpu();
    case 1:
        return plain_tpu();
    default:
        return plain_chip(RIDGE_DTYPE_BF16, 1e12, 1e11);
    }
}

static ridge_matmul roll_matmul(dice *d)
{
    return (ridge_matmul){.batch = roll_size(d, 5),
                          .m = roll_size(d, 15),
                          .k = roll_size(d, 15),
                          .n = roll_size(d, 15),
                          .activation = roll_dtype(d),
                          .weight = roll_dtype(d),
                          .output = roll_dtype(d),
                          .compute = RIDGE_DTYPE_BF16};
}

static ridge_attention roll_attention(dice *d)
{
    ridge_attention op = {.batch = roll_size(d, 8),
                          .query_tokens = roll(d, 2) ? 1 : roll_size(d, 14),
                          .kv_heads = roll_size(d, 4),
                          .head_dim = roll_size(d, 9),
                          .v_head_dim = roll_size(d, 9),
                          .window = roll(d, 2) ? 0 : roll_size(d, 14),
                          .is_causal = roll(d, 2) == 0,
                          .activation = RIDGE_DTYPE_BF16,
                          .cache = roll_dtype(d),
                          .compute = RIDGE_DTYPE_BF16};
    op.heads = op.kv_heads * (double)(1 + roll(d, 8));
    op.context_tokens = op.query_tokens + (double)roll(d, 10000);
    return op;
}

static ridge_op_cost roll_cost(const ridge_chip *chip, dice *d)
{
    if (roll(d, 2)) {
        const ridge_matmul op = roll_matmul(d);
        return ridge_matmul_cost(chip, &op, RIDGE_MEMORY_HBM);
    }
    const ridge_attention op = roll_attention(d);
    return ridge_attention_cost(chip, &op);
}

static void check_order(const ridge_op_cost *c)
{
    assert_true(isfinite(c->expected_s) && c->bound_s > 0);
    assert_true(c->bound_s <= c->expected_s);
    assert_true(c->bound_s <= c->serial_s);
    assert_true(c->serial_s <= 3 * c->bound_s * (1 + 1e-12));
    assert_true(c->wave_efficiency > 0 && c->wave_efficiency <= 1);
    assert_true(c->tile_efficiency > 0 && c->tile_efficiency <= 1 + 1e-12);
    assert_near(c->shape_efficiency, c->tile_efficiency * c->wave_efficiency, 1e-12);
}

static void bound_is_below_expectation_and_shares_are_shares(void **state)
{
    (void)state;
    dice d = {1};
    for (int i = 0; i < ROUNDS; i++) {
        const ridge_chip chip = roll_chip(&d);
        const ridge_op_cost c = roll_cost(&chip, &d);
        check_order(&c);
    }
}

static void padding_never_shrinks_a_dim(void **state)
{
    (void)state;
    dice d = {2};
    for (int i = 0; i < ROUNDS; i++) {
        const ridge_chip chip = roll_chip(&d);
        const ridge_matmul op = roll_matmul(&d);
        const ridge_matmul_shape s = ridge_matmul_shape_find(&chip, &op);
        assert_true(s.padded_m >= op.m && s.padded_k >= op.k && s.padded_n >= op.n);
        assert_true(s.efficiency > 0 && s.efficiency <= 1);
    }
}

/* The same operation on the same chip, some rates of which are higher. */
static void time_never_rises_with_bandwidth_or_peak(void **state)
{
    (void)state;
    dice d = {3};
    for (int i = 0; i < ROUNDS; i++) {
        const ridge_chip chip = roll_chip(&d);
        ridge_chip better = chip;
        const double more = 1 + (double)roll(&d, 100) / 25;
        if (roll(&d, 2))
            better.hbm_bytes_per_s *= more;
        else
            better.peak_flops_per_s[RIDGE_DTYPE_BF16] *= more;
        dice again = d;
        const ridge_op_cost before = roll_cost(&chip, &d);
        const ridge_op_cost after = roll_cost(&better, &again);
        assert_true(after.bound_s <= before.bound_s * (1 + 1e-12));
        assert_true(after.expected_s <= before.expected_s * (1 + 1e-12));
    }
}

static void time_never_falls_with_bytes(void **state)
{
    (void)state;
    dice d = {4};
    for (int i = 0; i < ROUNDS; i++) {
        const ridge_chip chip = roll_chip(&d);
        ridge_matmul op = roll_matmul(&d);
        op.weight = RIDGE_DTYPE_FP8;
        const ridge_op_cost narrow = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
        op.weight = RIDGE_DTYPE_BF16;
        const ridge_op_cost wide = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
        assert_true(wide.expected_s >= narrow.expected_s);
        const double bytes = roll_size(&d, 40);
        assert_true(ridge_stream_cost(&chip, 1, bytes).expected_s <=
                    ridge_stream_cost(&chip, 1, bytes * 2).expected_s);
    }
}

static void attention_time_never_falls_with_the_context(void **state)
{
    (void)state;
    dice d = {5};
    const ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e12, 1e11);
    for (int i = 0; i < ROUNDS; i++) {
        ridge_attention op = roll_attention(&d);
        const ridge_op_cost before = ridge_attention_cost(&chip, &op);
        op.context_tokens += 1 + (double)roll(&d, 1000);
        const ridge_op_cost after = ridge_attention_cost(&chip, &op);
        assert_true(after.matmul_flops >= before.matmul_flops * (1 - 1e-12));
        assert_true(after.expected_s >= before.expected_s * (1 - 1e-12));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound_is_below_expectation_and_shares_are_shares),
        cmocka_unit_test(padding_never_shrinks_a_dim),
        cmocka_unit_test(time_never_rises_with_bandwidth_or_peak),
        cmocka_unit_test(time_never_falls_with_bytes),
        cmocka_unit_test(attention_time_never_falls_with_the_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
