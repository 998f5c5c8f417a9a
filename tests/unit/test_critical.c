/* Critical sizes: at them the compute and the memory time are equal. */
#include "near.h"
#include "plain_chip.h"
#include "ridge/cost.h"

#include <math.h>

static ridge_matmul matmul_of(double k, double n, ridge_dtype weight)
{
    return (ridge_matmul){.batch = 1,
                          .m = 1,
                          .k = k,
                          .n = n,
                          .activation = RIDGE_DTYPE_BF16,
                          .weight = weight,
                          .output = RIDGE_DTYPE_BF16,
                          .compute = RIDGE_DTYPE_BF16};
}

static void at_the_critical_rows_compute_and_memory_take_as_long(void **state)
{
    (void)state;
    const ridge_chip chip = plain_tpu();
    ridge_matmul op = matmul_of(8192, 28672, RIDGE_DTYPE_BF16);
    op.m = ridge_matmul_critical_rows(&chip, &op, RIDGE_MEMORY_HBM);
    const ridge_op_cost c = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    assert_near(c.compute_s, c.memory_s, 1e-9);
}

static void finite_dims_need_more_rows_than_the_limit(void **state)
{
    (void)state;
    const ridge_chip chip = plain_tpu();
    const ridge_matmul op = matmul_of(4096, 4096, RIDGE_DTYPE_BF16);
    assert_near(ridge_matmul_critical_rows_limit(&chip, &op, RIDGE_MEMORY_HBM),
                197e12 / 0.82e12, 1e-12);
    assert_true(ridge_matmul_critical_rows(&chip, &op, RIDGE_MEMORY_HBM) > 250);
}

static void weights_of_half_the_bytes_halve_the_limit(void **state)
{
    (void)state;
    const ridge_chip chip = plain_tpu();
    const ridge_matmul op = matmul_of(4096, 4096, RIDGE_DTYPE_INT8);
    assert_near(ridge_matmul_critical_rows_limit(&chip, &op, RIDGE_MEMORY_HBM),
                197e12 / 0.82e12 / 2, 1e-12);
}

static void small_dims_are_never_compute_bound(void **state)
{
    (void)state;
    const ridge_chip chip = plain_tpu();
    const ridge_matmul op = matmul_of(256, 256, RIDGE_DTYPE_BF16);
    assert_true(isinf(ridge_matmul_critical_rows(&chip, &op, RIDGE_MEMORY_HBM)));
}

static void at_the_critical_tokens_attention_is_balanced(void **state)
{
    (void)state;
    ridge_chip chip = plain_tpu();
    chip.vector_flops_per_s = 0;
    const double windows[] = {0, 400, 600, 100000};
    for (int causal = 0; causal < 2; causal++) {
        for (size_t w = 0; w < 4; w++) {
            ridge_attention op = {.batch = 1,
                                  .heads = 32,
                                  .kv_heads = 8,
                                  .head_dim = 128,
                                  .v_head_dim = 128,
                                  .window = windows[w],
                                  .is_causal = causal == 1,
                                  .activation = RIDGE_DTYPE_BF16,
                                  .cache = RIDGE_DTYPE_BF16,
                                  .compute = RIDGE_DTYPE_BF16};
            const double tokens = ridge_attention_critical_tokens(&chip, &op);
            op.query_tokens = op.context_tokens = tokens;
            const ridge_op_cost c = ridge_attention_cost(&chip, &op);
            assert_near(c.compute_s, c.memory_s, 1e-6);
        }
    }
}

static void a_narrow_window_is_never_compute_bound(void **state)
{
    (void)state;
    const ridge_chip chip = plain_tpu();
    const ridge_attention op = {.batch = 1,
                                .heads = 32,
                                .kv_heads = 8,
                                .head_dim = 128,
                                .v_head_dim = 128,
                                .window = 128,
                                .is_causal = true,
                                .activation = RIDGE_DTYPE_BF16,
                                .cache = RIDGE_DTYPE_BF16,
                                .compute = RIDGE_DTYPE_BF16};
    assert_true(isinf(ridge_attention_critical_tokens(&chip, &op)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_critical_rows_compute_and_memory_take_as_long),
        cmocka_unit_test(finite_dims_need_more_rows_than_the_limit),
        cmocka_unit_test(weights_of_half_the_bytes_halve_the_limit),
        cmocka_unit_test(small_dims_are_never_compute_bound),
        cmocka_unit_test(at_the_critical_tokens_attention_is_balanced),
        cmocka_unit_test(a_narrow_window_is_never_compute_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
