/* Collectives as engines run them: their own kernels, and calls outside of a graph. */
#include "near.h"

#include "network_build.h"
#include "ridge/cost.h"

static ridge_slice node_of(int64_t chips, double kernel_startup_s)
{
    ridge_slice slice = test_slice();
    ridge_axis *axis = test_axis(&slice, RIDGE_AXIS_SWITCH, chips, 100e9);
    axis->startup_s = 5e-6;
    axis->latency_s = 1e-6;
    axis->efficiency = 0.5;
    axis->kernel_startup_s = kernel_startup_s;
    return slice;
}

static ridge_collective_cost price(const ridge_slice *slice, double bytes,
                                   ridge_comm_library library)
{
    const ridge_group all = test_group_all(slice);
    return ridge_collective_price_by(slice, RIDGE_COLLECTIVE_ALL_REDUCE, bytes, &all,
                                     library);
}

static void a_short_all_reduce_takes_one_kernel(void **state)
{
    (void)state;
    const ridge_slice slice = node_of(8, 3e-6);
    const ridge_collective_cost c = price(&slice, 1000, RIDGE_COMM_KERNELS);
    assert_int_equal(c.algorithm, RIDGE_ALGORITHM_ONE_SHOT);
    /* start, seven flags, seven arrays at half of the rate */
    assert_near(c.expected_s, 3e-6 + 7 * 0.2e-6 + 7 * 1000 / 50e9, 1e-9);
    assert_true(c.bound_s <= c.expected_s);
}

static void a_long_one_is_the_librarys(void **state)
{
    (void)state;
    const ridge_slice slice = node_of(8, 3e-6);
    const ridge_collective_cost own = price(&slice, 1e9, RIDGE_COMM_KERNELS);
    const ridge_collective_cost nccl = price(&slice, 1e9, RIDGE_COMM_NCCL);
    assert_int_equal(own.algorithm, nccl.algorithm);
    assert_near(own.expected_s, nccl.expected_s, 0);
}

static void without_kernels_there_is_the_library(void **state)
{
    (void)state;
    const ridge_slice slice = node_of(8, 0);
    assert_near(price(&slice, 1000, RIDGE_COMM_KERNELS).expected_s,
                price(&slice, 1000, RIDGE_COMM_NCCL).expected_s, 0);
}

static void a_call_of_the_host_waits_for_it(void **state)
{
    (void)state;
    const ridge_slice slice = node_of(8, 3e-6);
    assert_near(price(&slice, 1000, RIDGE_COMM_EAGER).expected_s -
                    price(&slice, 1000, RIDGE_COMM_NCCL).expected_s,
                14e-6, 1e-9);
}

/* Eight chips a node; a message through a NIC costs 150 KB of the line's time anew
 * where the host starts it, and nothing where the chip does. */
static ridge_slice nodes_of(int64_t nodes)
{
    ridge_slice slice = node_of(8, 0);
    ridge_axis *axis = test_axis(&slice, RIDGE_AXIS_FABRIC, nodes, 50e9);
    axis->startup_s = 5e-6;
    axis->latency_s = 1e-6;
    axis->efficiency = 0.8;
    axis->half_rate_bytes = 150e3;
    return slice;
}

static double exchange_s(const ridge_slice *slice, double rank_bytes,
                         ridge_comm_library library)
{
    const ridge_group all = test_group_all(slice);
    return ridge_collective_price_by(slice, RIDGE_COLLECTIVE_ALL_TO_ALL,
                                     rank_bytes * (double)all.ranks, &all, library)
        .expected_s;
}

static void chips_that_start_messages_need_no_long_ones(void **state)
{
    (void)state;
    for (int64_t nodes = 2; nodes <= 64; nodes *= 2) {
        const ridge_slice slice = nodes_of(nodes);
        const double peers = 8 * (double)(nodes - 1);
        const double host = exchange_s(&slice, 8e6, RIDGE_COMM_KERNELS);
        const double device = exchange_s(&slice, 8e6, RIDGE_COMM_DEVICE);
        assert_near(host - device, peers * 150e3 / (0.8 * 50e9), 1e-6);
        assert_true(device > 8e6 * peers / (8 * (double)nodes) / 50e9);
    }
    const ridge_slice slice = nodes_of(4);
    const ridge_group all = test_group_all(&slice);
    const ridge_comm_library libraries[] = {RIDGE_COMM_KERNELS, RIDGE_COMM_DEVICE};
    double gather_s[2];
    for (int i = 0; i < 2; i++)
        gather_s[i] = ridge_collective_price_by(&slice, RIDGE_COLLECTIVE_ALL_GATHER,
                                                1e6, &all, libraries[i])
                          .expected_s;
    assert_near(gather_s[0], gather_s[1], 0);
}

static void one_rank_is_free_for_all(void **state)
{
    (void)state;
    const ridge_slice slice = node_of(1, 3e-6);
    const ridge_group none = {.ranks = 1};
    const ridge_collective_cost c = ridge_collective_price_by(
        &slice, RIDGE_COLLECTIVE_ALL_REDUCE, 1000, &none, RIDGE_COMM_EAGER);
    assert_near(c.expected_s, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_all_reduce_takes_one_kernel),
        cmocka_unit_test(a_long_one_is_the_librarys),
        cmocka_unit_test(without_kernels_there_is_the_library),
        cmocka_unit_test(a_call_of_the_host_waits_for_it),
        cmocka_unit_test(chips_that_start_messages_need_no_long_ones),
        cmocka_unit_test(one_rank_is_free_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
