/* Collectives by hand: smallest cases, names, sharing of links and of NICs. */
#include "near.h"

#include "network_build.h"
#include "ridge/cost.h"

#include <math.h>
#include <string.h>

#define AG  RIDGE_COLLECTIVE_ALL_GATHER
#define AR  RIDGE_COLLECTIVE_ALL_REDUCE
#define A2A RIDGE_COLLECTIVE_ALL_TO_ALL

static double bound(const ridge_slice *slice, ridge_collective kind, double bytes,
                    const ridge_group *group)
{
    return ridge_collective_price(slice, kind, bytes, group).bound_s;
}

static double algorithm_bound(const ridge_collective_cost *cost,
                              ridge_algorithm algorithm)
{
    for (int i = 0; i < cost->n_algorithms; i++)
        if (cost->algorithms[i].algorithm == algorithm)
            return cost->algorithms[i].bound_s;
    return (double)NAN;
}

static void names_parse_in_any_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ridge_collective kind;
    } rows[] = {{"all-gather", AG},
                {"AllGather", AG},
                {"all_gather", AG},
                {"ag", AG},
                {"AR", AR},
                {"a2a", A2A},
                {"AllToAll", A2A},
                {"rs", RIDGE_COLLECTIVE_REDUCE_SCATTER},
                {"sendrecv", RIDGE_COLLECTIVE_SEND_RECV},
                {"bcast", RIDGE_COLLECTIVE_BROADCAST}};
    ridge_ctx *cx = ridge_ctx_open();
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        ridge_collective kind = RIDGE_COLLECTIVE_BROADCAST;
        assert_int_equal(ridge_collective_parse(cx, rows[i].text, &kind), RIDGE_OK);
        assert_int_equal(kind, rows[i].kind);
        assert_int_equal(ridge_collective_parse(cx, ridge_collective_text(kind), &kind),
                         RIDGE_OK);
        assert_int_equal(kind, rows[i].kind);
    }
    ridge_ctx_close(cx);
}

static void unknown_names_are_refused_with_the_known_ones(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "-", "gather", "all-gatherx", "a"};
    ridge_ctx *cx = ridge_ctx_open();
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong); i++) {
        ridge_collective kind = AG;
        assert_int_equal(ridge_collective_parse(cx, wrong[i], &kind), RIDGE_E_NOTFOUND);
        assert_non_null(strstr(ridge_ctx_message(cx), "all-gather (ag)"));
    }
    ridge_ctx_close(cx);
}

static void every_algorithm_has_a_name_and_says_what_it_is(void **state)
{
    (void)state;
    for (int i = 0; i <= RIDGE_ALGORITHM_POINT_TO_POINT; i++) {
        assert_true(strlen(ridge_algorithm_text((ridge_algorithm)i)) > 0);
        assert_true(strlen(ridge_algorithm_what((ridge_algorithm)i)) > 0);
    }
}

static void one_rank_costs_nothing(void **state)
{
    (void)state;
    ridge_slice slice = test_slice();
    const ridge_group alone = {.ranks = 1};
    for (int kind = 0; kind < RIDGE_COLLECTIVE_COUNT; kind++) {
        const ridge_collective_cost cost =
            ridge_collective_price(&slice, (ridge_collective)kind, 1e9, &alone);
        assert_near(cost.expected_s, 0.0, 0.0);
        assert_near(cost.bound_s, 0.0, 0.0);
        assert_int_equal(cost.algorithm, RIDGE_ALGORITHM_NONE);
        assert_int_equal(cost.slowest_axis, -1);
    }
}

static void a_line_takes_about_twice_a_closed_ring(void **state)
{
    (void)state;
    ridge_slice ring = test_slice();
    test_torus(&ring, 16, true, 90e9);
    ridge_slice line = test_slice();
    test_torus(&line, 16, false, 90e9);
    const ridge_group group = test_group_all(&ring);
    assert_near(bound(&ring, AG, 1.8e9, &group), 0.01, 1e-12);
    assert_near(bound(&line, AG, 1.8e9, &group), 0.02 * 15 / 16, 1e-12);
    assert_near(bound(&ring, A2A, 1.8e9, &group), 0.01 / 4, 1e-12);
    assert_near(bound(&line, A2A, 1.8e9, &group), 0.02 / 4, 1e-12);
    const ridge_collective_cost cost =
        ridge_collective_price(&ring, A2A, 1.8e9, &group);
    assert_near(algorithm_bound(&cost, RIDGE_ALGORITHM_RING), 0.02 * 15 / 32, 1e-12);
}

static void an_odd_ring_moves_no_chunk_twice(void **state)
{
    (void)state;
    ridge_slice ring = test_slice();
    test_torus(&ring, 5, true, 1e9);
    const ridge_group group = test_group_all(&ring);
    assert_near(bound(&ring, AG, 1e9, &group), 4.0 / 5 / 2, 1e-12);
}

static void strided_spans_share_the_links_between_them(void **state)
{
    (void)state;
    ridge_slice slice = test_slice();
    test_torus(&slice, 16, true, 1e9);
    /* Four rings of four, every fourth chip each: all cross each link. */
    const ridge_group strided = test_group_part(0, 4, 4);
    const ridge_group block = test_group_part(0, 4, 1);
    assert_near(bound(&slice, AG, 1e9, &strided), 0.5 * 4, 1e-12);
    assert_near(bound(&slice, AG, 1e9, &block), 0.75, 1e-12);
    const ridge_collective_cost tiny =
        ridge_collective_price(&slice, AG, 1.0, &strided);
    assert_near(tiny.bound_s, 2 * 4 * 1e-6, 1e-12);
}

static void short_messages_wait_for_hops(void **state)
{
    (void)state;
    ridge_slice ring = test_slice();
    test_torus(&ring, 8, true, 45e9);
    test_torus(&ring, 4, false, 45e9);
    const ridge_group x = test_group_part(0, 8, 1);
    const ridge_group xy = test_group_all(&ring);
    assert_near(bound(&ring, AG, 8.0, &x), 4e-6, 1e-12);
    assert_near(bound(&ring, AG, 8.0, &xy), 7e-6, 1e-12);
    /* shards of 45 kB take a link as long as a hop */
    assert_near(ridge_collective_bound_critical_bytes(&ring, AG, &x), 8 * 45e3, 1e-9);
    assert_near(ridge_collective_bound_critical_bytes(&ring, AR, &x), 8 * 45e3, 1e-9);
    assert_near(ridge_collective_bound_critical_bytes(&ring, AG, &xy),
                7e-6 * (2 * 45e9 + 45e9), 1e-9);
    assert_int_equal(ridge_collective_price(&ring, AG, 8.0, &x).bound_by,
                     RIDGE_BOUND_LATENCY);
    assert_int_equal(ridge_collective_price(&ring, AG, 1e9, &x).bound_by,
                     RIDGE_BOUND_NETWORK);
}

static void a_long_axis_limits_the_alltoall_of_a_torus(void **state)
{
    (void)state;
    ridge_slice torus = test_slice();
    test_torus(&torus, 4, true, 1e9);
    test_torus(&torus, 16, true, 1e9);
    const ridge_group group = test_group_all(&torus);
    /* Cut the long axis in two: 4 lines of 2 links one way each; a quarter of V
     * crosses in that direction. */
    const ridge_collective_cost cost = ridge_collective_price(&torus, A2A, 1e9, &group);
    assert_near(cost.bound_s, 0.25 / (4 * 2), 1e-12);
    assert_int_equal(cost.slowest_axis, 1);
    assert_int_equal(cost.algorithm, RIDGE_ALGORITHM_TORUS);
}

static void few_ranks_of_a_mesh_have_few_of_its_links(void **state)
{
    (void)state;
    ridge_slice slice = test_slice();
    test_axis(&slice, RIDGE_AXIS_MESH, 8, 7e9);
    const ridge_group pair = test_group_part(0, 2, 1);
    const ridge_group all = test_group_all(&slice);
    assert_near(bound(&slice, AG, 1e9, &pair), 0.5, 1e-12);
    assert_near(bound(&slice, AG, 1e9, &all), 7.0 / 8 / 7, 1e-12);
    /* The links are all a pair has, and a message to one peer takes one link. */
    assert_near(bound(&slice, RIDGE_COLLECTIVE_SEND_RECV, 1e9, &all), 1.0, 1e-12);
}

static void a_switch_that_adds_halves_the_all_reduce(void **state)
{
    (void)state;
    ridge_slice slice = test_slice();
    test_axis(&slice, RIDGE_AXIS_SWITCH, 8, 1e9)->can_reduce = true;
    const ridge_group group = test_group_all(&slice);
    const ridge_collective_cost cost = ridge_collective_price(&slice, AR, 1e9, &group);
    assert_near(cost.bound_s, 1.0, 1e-12);
    assert_int_equal(cost.algorithm, RIDGE_ALGORITHM_IN_NETWORK);
    assert_near(algorithm_bound(&cost, RIDGE_ALGORITHM_RING), 1.75, 1e-12);
    assert_near(algorithm_bound(&cost, RIDGE_ALGORITHM_TREE), 2.0, 1e-12);
    slice.axes[0].can_reduce = false;
    assert_int_equal(ridge_collective_price(&slice, AR, 1e9, &group).algorithm,
                     RIDGE_ALGORITHM_RING);
}

static void a_group_shares_its_nodes_nics_by_chip(void **state)
{
    (void)state;
    ridge_slice slice = test_slice();
    test_axis(&slice, RIDGE_AXIS_SWITCH, 8, 450e9);
    test_axis(&slice, RIDGE_AXIS_FABRIC, 4, 50e9);
    const ridge_group one_a_node = test_group_part(1, 4, 1);
    ridge_group half = test_group_all(&slice);
    half.spans[0].size = 4;
    half.ranks = 16;
    /* 3/4 of V out of each node, over one NIC, and over four. */
    assert_near(bound(&slice, AG, 1e9, &one_a_node), 0.75 / 50, 1e-12);
    assert_near(bound(&slice, AG, 1e9, &half), 0.75 / 200, 1e-12);
    assert_int_equal(ridge_collective_price(&slice, AG, 1e9, &half).slowest_axis, 1);
}

static void slices_over_dcn_gather_inside_first(void **state)
{
    (void)state;
    ridge_slice slice = test_slice();
    test_torus(&slice, 16, true, 90e9);
    test_axis(&slice, RIDGE_AXIS_DCN, 2, 1e9);
    const ridge_group group = test_group_all(&slice);
    const ridge_collective_cost cost =
        ridge_collective_price(&slice, AG, 1.8e9, &group);
    assert_int_equal(cost.algorithm, RIDGE_ALGORITHM_HIERARCHICAL);
    assert_near(cost.bound_s, 0.9 / 16, 1e-12);
    /* The levels take turns: 10 ms inside, and the latencies of both. */
    assert_near(cost.expected_s, 0.9 / 16 + 0.01 + 8e-6, 1e-9);
    assert_int_equal(cost.slowest_axis, 1);
}

static void starts_of_messages_count_as_latency(void **state)
{
    (void)state;
    ridge_slice slice = test_slice();
    test_axis(&slice, RIDGE_AXIS_FABRIC, 16, 1e9)->half_rate_bytes = 1e3;
    const ridge_group group = test_group_all(&slice);
    const ridge_collective_cost tiny = ridge_collective_price(&slice, AG, 1.0, &group);
    const ridge_collective_cost huge = ridge_collective_price(&slice, AG, 1e9, &group);
    assert_near(tiny.algorithms[0].latency_s, 15e-6, 1e-9);
    assert_near(huge.algorithms[0].latency_s, 15e-6, 1e-9);
    assert_near(huge.algorithms[0].bandwidth_s, 15.0 / 16, 1e-9);
    assert_int_equal(tiny.bound_by, RIDGE_BOUND_LATENCY);
}

static void bus_bandwidth_is_counted_as_nccl_does(void **state)
{
    (void)state;
    ridge_slice slice = test_slice();
    test_axis(&slice, RIDGE_AXIS_SWITCH, 4, 1e9)->efficiency = 0.5;
    const ridge_group group = test_group_all(&slice);
    const ridge_collective_cost cost = ridge_collective_price(&slice, AR, 1e9, &group);
    assert_near(cost.bus_bytes_per_s, 1e9 * 1.5 / cost.expected_s, 1e-12);
    assert_true(cost.bus_bytes_per_s < 0.5e9);
}

static void a_message_pays_its_hops_and_its_ports(void **state)
{
    (void)state;
    ridge_slice slice = test_slice();
    test_torus(&slice, 4, false, 45e9);
    const ridge_time near_by = ridge_point_to_point_time(&slice, 45e9, 1, 1);
    const ridge_time far = ridge_point_to_point_time(&slice, 45e9, 6, 2);
    assert_near(near_by.bound_s, 1.0 + 1e-6, 1e-12);
    assert_near(far.bound_s, 0.5 + 6e-6, 1e-12);
    assert_near(ridge_point_to_point_time(&slice, 1e9, 0, 1).expected_s, 0.0, 0.0);
}

static void parts_of_axes_are_read(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_slice slice = test_slice();
    test_torus(&slice, 16, true, 1e9);
    test_torus(&slice, 8, true, 1e9);
    ridge_group group;
    assert_int_equal(ridge_group_parse(cx, &slice, "a=4, b", &group), RIDGE_OK);
    assert_int_equal(group.ranks, 32);
    assert_int_equal(group.spans[0].size, 4);
    assert_int_equal(ridge_group_parse(cx, &slice, "a=1", &group), RIDGE_OK);
    assert_int_equal(group.n_spans, 0);
    static const char *const wrong[] = {
        "a=3", "a=0", "a=-4", "a=", "a=x", "all=2", "a=32", "a=4,a=4"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong); i++)
        assert_int_equal(ridge_group_parse(cx, &slice, wrong[i], &group), RIDGE_E_ARG);
    ridge_ctx_close(cx);
}

static void the_ridge_point_counts_all_links_of_a_group(void **state)
{
    (void)state;
    ridge_slice torus = test_slice();
    test_torus(&torus, 16, true, 1e11);
    test_torus(&torus, 16, false, 1e11);
    const ridge_group x = test_group_part(0, 16, 1);
    const ridge_group all = test_group_all(&torus);
    const ridge_group alone = {.ranks = 1};
    assert_near(ridge_group_ridge_point(&torus, &x, RIDGE_DTYPE_BF16), 5000, 1e-12);
    assert_near(ridge_group_ridge_point(&torus, &all, RIDGE_DTYPE_BF16), 1e4 / 3,
                1e-12);
    assert_near(ridge_group_ridge_point(&torus, &alone, RIDGE_DTYPE_BF16), 0.0, 0.0);
    ridge_slice nodes = test_slice();
    test_axis(&nodes, RIDGE_AXIS_SWITCH, 8, 450e9);
    test_axis(&nodes, RIDGE_AXIS_FABRIC, 16, 50e9);
    const ridge_group everywhere = test_group_all(&nodes);
    assert_near(ridge_group_ridge_point(&nodes, &everywhere, RIDGE_DTYPE_BF16), 2500,
                1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_parse_in_any_spelling),
        cmocka_unit_test(unknown_names_are_refused_with_the_known_ones),
        cmocka_unit_test(every_algorithm_has_a_name_and_says_what_it_is),
        cmocka_unit_test(one_rank_costs_nothing),
        cmocka_unit_test(a_line_takes_about_twice_a_closed_ring),
        cmocka_unit_test(an_odd_ring_moves_no_chunk_twice),
        cmocka_unit_test(strided_spans_share_the_links_between_them),
        cmocka_unit_test(short_messages_wait_for_hops),
        cmocka_unit_test(a_long_axis_limits_the_alltoall_of_a_torus),
        cmocka_unit_test(few_ranks_of_a_mesh_have_few_of_its_links),
        cmocka_unit_test(a_switch_that_adds_halves_the_all_reduce),
        cmocka_unit_test(a_group_shares_its_nodes_nics_by_chip),
        cmocka_unit_test(slices_over_dcn_gather_inside_first),
        cmocka_unit_test(starts_of_messages_count_as_latency),
        cmocka_unit_test(bus_bandwidth_is_counted_as_nccl_does),
        cmocka_unit_test(a_message_pays_its_hops_and_its_ports),
        cmocka_unit_test(parts_of_axes_are_read),
        cmocka_unit_test(the_ridge_point_counts_all_links_of_a_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
