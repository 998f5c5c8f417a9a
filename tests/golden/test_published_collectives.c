/*
 * Worked examples on collectives from "How to Scale Your Model", chapters 2, 3, 5, 7
 * and 12: tests/golden/published/collectives.jsonl, computed by the library.
 */
#include "near.h"

#include "network_build.h"
#include "ridge/cost.h"

#include <math.h>
#include <string.h>

#define AG  RIDGE_COLLECTIVE_ALL_GATHER
#define AR  RIDGE_COLLECTIVE_ALL_REDUCE
#define A2A RIDGE_COLLECTIVE_ALL_TO_ALL

typedef struct row {
    const char *id;
    ridge_node inputs, expected;
    double rel_tol;
    int checked;
} row;

static double number(const ridge_node *object, const char *key)
{
    double v = (double)NAN;
    if (!ridge_json_double(ridge_json_get(object, key), &v)) {
        print_error("no number '%s'\n", key);
        fail();
    }
    return v;
}

static double in(const row *r, const char *key)
{
    return number(&r->inputs, key);
}

static int64_t count(const row *r, const char *key)
{
    return (int64_t)in(r, key);
}

static void want(row *r, const char *key, double got)
{
    ridge_assert_near(got, number(&r->expected, key), r->rel_tol, r->id, __FILE__,
                      __LINE__);
    r->checked++;
}

static double bound(const ridge_slice *slice, ridge_collective kind, double bytes)
{
    const ridge_group all = test_group_all(slice);
    return ridge_collective_time(slice, kind, bytes, &all).bound_s;
}

static double algorithm_bound(const ridge_slice *slice, ridge_collective kind,
                              double bytes, ridge_algorithm algorithm)
{
    const ridge_group all = test_group_all(slice);
    const ridge_collective_cost cost = ridge_collective_price(slice, kind, bytes, &all);
    for (int i = 0; i < cost.n_algorithms; i++)
        if (cost.algorithms[i].algorithm == algorithm)
            return cost.algorithms[i].bound_s;
    fail();
    return (double)NAN;
}

static ridge_slice ring_of(int64_t n, double link_bytes_per_s, double hop_s)
{
    ridge_slice slice = test_slice();
    test_torus(&slice, n, true, link_bytes_per_s)->latency_s = hop_s;
    return slice;
}

static ridge_slice node_of(int64_t n, double bytes_per_s)
{
    ridge_slice slice = test_slice();
    test_axis(&slice, RIDGE_AXIS_SWITCH, n, bytes_per_s);
    return slice;
}

/* Nodes that share @p node_bytes_per_s between their chips. */
static void join_nodes(ridge_slice *slice, int64_t nodes, double node_bytes_per_s)
{
    test_axis(slice, RIDGE_AXIS_FABRIC, nodes,
              node_bytes_per_s / (double)slice->axes[0].size);
}

/* ---- chapters 2, 5 and 7 ------------------------------------------------------ */

static ridge_slice v5e_4x4(const row *r)
{
    ridge_slice slice = test_slice();
    test_torus(&slice, 4, false, in(r, "ici_link_oneway_bytes_per_s"));
    test_torus(&slice, 4, false, in(r, "ici_link_oneway_bytes_per_s"));
    return slice;
}

static void corner_to_corner(row *r)
{
    const ridge_slice slice = v5e_4x4(r);
    const int ports = (int)count(r, "ports");
    const double total =
        ridge_point_to_point_time(&slice, in(r, "bytes"), count(r, "hops"), ports)
            .bound_s;
    const double first =
        ridge_point_to_point_time(&slice, 0.0, count(r, "hops"), ports).bound_s;
    want(r, "first_byte_s", first);
    want(r, "transfer_s", total - first);
    want(r, "total_s", total);
}

/* Bringing all to a corner chip fills the links that a gather fills there. */
static void gather_to_a_corner(row *r)
{
    const ridge_slice slice = v5e_4x4(r);
    want(r, "t_ici_s", bound(&slice, AG, in(r, "bytes")));
}

static void ici_intensity(row *r)
{
    ridge_chip chip = {.name = "v5p", .kind = RIDGE_CHIP_TPU};
    chip.has_peak[RIDGE_DTYPE_BF16] = chip.has_peak[RIDGE_DTYPE_INT8] = true;
    chip.peak_flops_per_s[RIDGE_DTYPE_BF16] = in(r, "peak_flops_per_s");
    chip.peak_flops_per_s[RIDGE_DTYPE_INT8] = in(r, "peak_int8_ops_per_s");
    ridge_slice slice = ring_of(16, in(r, "ici_link_bidi_bytes_per_s") / 2, 1e-6);
    slice.chip = &chip;
    const ridge_group all = test_group_all(&slice);
    want(r, "bf16", ridge_group_ridge_point(&slice, &all, RIDGE_DTYPE_BF16));
    want(r, "int8", ridge_group_ridge_point(&slice, &all, RIDGE_DTYPE_INT8));
}

static void latency_threshold_of_a_ring(row *r)
{
    const ridge_slice slice =
        ring_of(count(r, "shards"), in(r, "ici_unidirectional_bytes_per_s"),
                in(r, "hop_latency_s"));
    const ridge_group all = test_group_all(&slice);
    const double bytes = in(r, "batch") * in(r, "d_model") * in(r, "element_bytes");
    want(r, "threshold_bytes", ridge_collective_critical_bytes(&slice, AG, &all));
    want(r, "activation_bytes", bytes);
    want(r, "latency_bound",
         ridge_collective_price(&slice, AG, bytes, &all).bound_by ==
             RIDGE_BOUND_LATENCY);
}

static void small_and_large_gather(row *r)
{
    const ridge_slice slice =
        ring_of(count(r, "shards"), in(r, "ici_bidirectional_bytes_per_s") / 2,
                in(r, "hop_latency_s"));
    want(r, "small_time_s", bound(&slice, AG, in(r, "small_bytes")));
    want(r, "large_time_s", bound(&slice, AG, in(r, "large_bytes")));
}

/* ---- chapter 3 ------------------------------------------------------------------ */

static void table_row(row *r)
{
    const double link = in(r, "ici_link_bidi_bytes_per_s") / 2;
    const ridge_slice slice = ring_of(count(r, "axis_size"), link, 1e-6);
    ridge_collective kind = AG;
    ridge_ctx *cx = ridge_ctx_open();
    assert_int_equal(ridge_collective_parse(cx, strrchr(r->id, '-') + 1, &kind),
                     RIDGE_OK);
    ridge_ctx_close(cx);
    want(r, "t_s", bound(&slice, kind, in(r, "bytes")));
}

static void gather_over_three_axes(row *r)
{
    const ridge_node sizes = ridge_json_get(&r->inputs, "axis_sizes");
    ridge_slice slice = test_slice();
    for (size_t i = 0; i < ridge_json_size(sizes); i++) {
        int64_t size = 0;
        assert_true(ridge_json_i64(ridge_json_at(&sizes, i), &size));
        test_torus(&slice, size, true, in(r, "ici_link_bidi_bytes_per_s") / 2);
    }
    want(r, "t_s", bound(&slice, AG, in(r, "bytes")));
}

static void latency_threshold_of_a_hop(row *r)
{
    const ridge_slice slice =
        ring_of(16, in(r, "ici_link_oneway_bytes_per_s"), in(r, "hop_latency_s"));
    const ridge_group all = test_group_all(&slice);
    want(r, "bytes",
         ridge_collective_critical_bytes(&slice, AG, &all) / (double)all.ranks);
}

static ridge_slice cube(const row *r)
{
    ridge_slice slice = test_slice();
    for (int i = 0; i < 3; i++)
        test_torus(&slice, 4, true, in(r, "ici_link_bidi_bytes_per_s") / 2);
    return slice;
}

static void gather_one_axis_of_a_cube(row *r)
{
    const ridge_slice slice = cube(r);
    const ridge_group x = test_group_part(0, 4, 1);
    want(r, "t_s", ridge_collective_time(&slice, AG, in(r, "bytes") / 4, &x).bound_s);
}

static void gather_two_axes_of_a_cube(row *r)
{
    const ridge_slice slice = cube(r);
    ridge_group xy = test_group_all(&slice);
    xy.n_spans = 2;
    xy.ranks = 16;
    want(r, "t_s", ridge_collective_time(&slice, AG, in(r, "bytes"), &xy).bound_s);
    want(r, "latency_floor_s", ridge_collective_time(&slice, AG, 0.0, &xy).bound_s);
}

static void reduce_one_axis_of_a_cube(row *r)
{
    const ridge_slice slice = cube(r);
    const ridge_group z = test_group_part(2, 4, 1);
    want(r, "t_s", ridge_collective_time(&slice, AR, in(r, "bytes") / 16, &z).bound_s);
}

static void tiny_gather(row *r)
{
    const ridge_slice slice =
        ring_of(count(r, "axis_size"), in(r, "ici_link_oneway_bytes_per_s"),
                in(r, "hop_latency_s"));
    const ridge_group all = test_group_all(&slice);
    const ridge_collective_cost cost =
        ridge_collective_price(&slice, AG, in(r, "bytes"), &all);
    want(r, "t_s", cost.bound_s);
    want(r, "hops", cost.bound_s / in(r, "hop_latency_s"));
    assert_int_equal(cost.bound_by, RIDGE_BOUND_LATENCY);
}

/* Links of one byte per second and free hops: a bound in seconds is a load in bytes. */
static void scalars_over_a_link(row *r)
{
    const ridge_slice slice = ring_of(count(r, "devices"), 1.0, 0.0);
    const double v = in(r, "n") * in(r, "n");
    const double gather = algorithm_bound(&slice, AG, v, RIDGE_ALGORITHM_RING);
    const double alltoall = algorithm_bound(&slice, A2A, v, RIDGE_ALGORITHM_RING);
    want(r, "allgather_oneway", gather);
    want(r, "alltoall_oneway", alltoall);
    want(r, "ratio_oneway", alltoall / gather);
    want(r, "ratio_bidi", bound(&slice, A2A, v) / bound(&slice, AG, v));
}

static void chunks_of_an_alltoall(row *r)
{
    const int64_t n = count(r, "devices");
    const ridge_slice slice = ring_of(n, 1.0, 0.0);
    const double both_ways = 2 * bound(&slice, A2A, 1.0);
    want(r, "share_of_array", both_ways);
    want(r, "chunks", both_ways * (double)(n * n));
}

/* ---- chapter 12 ------------------------------------------------------------------ */

static void gather_in_a_node(row *r)
{
    const ridge_slice slice =
        node_of(count(r, "gpus"), in(r, "gpu_egress_bytes_per_s"));
    const bool is_quiz = strstr(r->id, "popquiz") != NULL;
    want(r, is_quiz ? "exact_s" : "time_s", bound(&slice, AG, in(r, "bytes")));
}

static void reduce_in_the_switch(row *r)
{
    ridge_slice slice = node_of(count(r, "gpus"), in(r, "gpu_egress_bytes_per_s"));
    slice.axes[0].can_reduce = true;
    const double v = in(r, "bytes");
    const double ring = algorithm_bound(&slice, AR, v, RIDGE_ALGORITHM_RING);
    const double sharp = algorithm_bound(&slice, AR, v, RIDGE_ALGORITHM_IN_NETWORK);
    want(r, "ring_s", ring);
    want(r, "sharp_s", sharp);
    want(r, "gain", ring / sharp);
}

static double gather_rate(const ridge_slice *slice)
{
    return 1e9 / bound(slice, AG, 1e9);
}

static void rate_of_each_tree_level(row *r)
{
    const ridge_slice node =
        node_of(count(r, "node_degree"), in(r, "node_link_bytes_per_s"));
    const ridge_slice leaf =
        node_of(count(r, "leaf_degree"), in(r, "leaf_link_bytes_per_s"));
    const ridge_slice spine =
        node_of(count(r, "spine_degree"), in(r, "spine_link_bytes_per_s"));
    ridge_slice tree = node;
    join_nodes(&tree, count(r, "leaf_degree"), in(r, "leaf_link_bytes_per_s"));
    test_axis(&tree, RIDGE_AXIS_FABRIC, count(r, "spine_degree"),
              in(r, "spine_link_bytes_per_s") / (double)tree.chips);
    want(r, "node_bytes_per_s", gather_rate(&node));
    want(r, "leaf_bytes_per_s", gather_rate(&leaf));
    want(r, "spine_bytes_per_s", gather_rate(&spine));
    want(r, "overall_bytes_per_s", gather_rate(&tree));
}

static void gather_over_1024(row *r)
{
    ridge_slice slice = node_of(8, 450e9);
    join_nodes(&slice, count(r, "leaf_degree"), in(r, "node_egress_bytes_per_s"));
    join_nodes(&slice, 4, in(r, "node_egress_bytes_per_s"));
    assert_int_equal(slice.chips, 1024);
    want(r, "exact_s", bound(&slice, AG, in(r, "bytes")));
}

static void alltoall_over_two_nodes(row *r)
{
    ridge_slice slice =
        node_of(count(r, "gpus_per_node"), in(r, "gpu_egress_bytes_per_s"));
    const double one = bound(&slice, A2A, in(r, "bytes"));
    join_nodes(&slice, count(r, "nodes"), in(r, "node_egress_bytes_per_s"));
    const double two = bound(&slice, A2A, in(r, "bytes"));
    want(r, "one_node_s", one);
    want(r, "two_nodes_s", two);
    want(r, "slowdown", two / one);
}

static void bytes_through_the_switch(row *r)
{
    ridge_slice slice = node_of(count(r, "gpus"), 1.0);
    slice.axes[0].can_reduce = true;
    const double each =
        algorithm_bound(&slice, AR, in(r, "bytes"), RIDGE_ALGORITHM_IN_NETWORK);
    want(r, "in_bytes", each * in(r, "gpus"));
    want(r, "out_bytes", each * in(r, "gpus"));
}

static void reduce_a_shard_in_the_switch(row *r)
{
    ridge_slice slice = node_of(8, in(r, "gpu_egress_bytes_per_s"));
    slice.axes[0].can_reduce = true;
    const ridge_group x = test_group_part(0, 2, count(r, "Y"));
    const double shard = 2 * in(r, "D") * in(r, "F") / in(r, "Y");
    want(r, "time_s", ridge_collective_time(&slice, AR, shard, &x).bound_s);
}

static void gather_over_two_nodes(row *r)
{
    ridge_slice slice =
        node_of(count(r, "gpus_per_node"), in(r, "gpu_egress_bytes_per_s"));
    want(r, "node_time_s", bound(&slice, AG, in(r, "bytes")));
    join_nodes(&slice, count(r, "nodes"), in(r, "node_egress_bytes_per_s"));
    ridge_group across = test_group_all(&slice);
    want(r, "time_s",
         ridge_collective_time(&slice, AG, in(r, "bytes"), &across).bound_s);
    /* One GPU of each node with all of the node's network to itself. */
    const ridge_slice network =
        node_of(count(r, "nodes"), in(r, "node_egress_bytes_per_s"));
    want(r, "network_time_s", bound(&network, AG, in(r, "bytes")));
}

static void gather_over_domains(row *r)
{
    ridge_slice slice =
        node_of(count(r, "domain_gpus"), in(r, "gpu_egress_bytes_per_s"));
    want(r, "in_domain_s", bound(&slice, AG, in(r, "bytes")));
    join_nodes(&slice, count(r, "domains"), in(r, "node_egress_bytes_per_s"));
    want(r, "over_domains_s", bound(&slice, AG, in(r, "bytes")));
    const ridge_slice network =
        node_of(count(r, "domains"), in(r, "node_egress_bytes_per_s"));
    want(r, "network_level_s", bound(&network, AG, in(r, "bytes")));
}

/* ---- all rows -------------------------------------------------------------------- */

static const struct {
    const char *id;
    void (*check)(row *);
} handlers[] = {
    {"ch2-q5", corner_to_corner},
    {"ch2-q6", gather_to_a_corner},
    {"ch3-table-allgather", table_row},
    {"ch3-table-reducescatter", table_row},
    {"ch3-table-allreduce", table_row},
    {"ch3-table-alltoall", table_row},
    {"ch3-ag-axes", gather_over_three_axes},
    {"ch3-latency-threshold", latency_threshold_of_a_hop},
    {"ch3-q2a", gather_one_axis_of_a_cube},
    {"ch3-q2b", gather_two_axes_of_a_cube},
    {"ch3-q2c", reduce_one_axis_of_a_cube},
    {"ch3-q3", tiny_gather},
    {"ch3-q10", scalars_over_a_link},
    {"ch3-q10-chunks", chunks_of_an_alltoall},
    {"ch5-alpha-v5p", ici_intensity},
    {"ch7-appendix-c-threshold", latency_threshold_of_a_ring},
    {"ch7-appendix-c-allgather", small_and_large_gather},
    {"ch12-q2-3-allgather", gather_in_a_node},
    {"ch12-popquiz1-allgather", gather_in_a_node},
    {"ch12-sharp-allreduce", reduce_in_the_switch},
    {"ch12-tree-collective-bandwidth", rate_of_each_tree_level},
    {"ch12-cross-node-allgather", gather_over_1024},
    {"ch12-cross-node-alltoall", alltoall_over_two_nodes},
    {"ch12-q4-2-sharp-bytes", bytes_through_the_switch},
    {"ch12-q4-3-sharded-sharp", reduce_a_shard_in_the_switch},
    {"ch12-q4-5-two-nodes", gather_over_two_nodes},
    {"ch12-nvl72-allgather", gather_over_domains},
};

static void check_row(ridge_ctx *cx, ridge_str line)
{
    ridge_node root;
    if (ridge_json_parse(cx, line, "collectives.jsonl", &root) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    row r = {.inputs = ridge_json_get(&root, "inputs"),
             .expected = ridge_json_get(&root, "expected"),
             .rel_tol = number(&root, "rel_tol")};
    assert_true(ridge_json_text(ridge_json_get(&root, "id"), &r.id));
    for (size_t i = 0; i < RIDGE_COUNT_OF(handlers); i++)
        if (strcmp(handlers[i].id, r.id) == 0)
            handlers[i].check(&r);
    if (r.checked == 0)
        fail_msg("row %s is not checked", r.id);
}

static void published_figures_are_met(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_str rest = {0};
    if (ridge_file_read(cx, RIDGE_TEST_DIR "/golden/published/collectives.jsonl",
                        1 << 20, &rest) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    size_t rows = 0;
    while (rest.p != NULL && rest.n > 0) {
        const ridge_str line = ridge_str_cut(&rest, '\n');
        check_row(cx, line);
        rows++;
    }
    assert_int_equal(rows, RIDGE_COUNT_OF(handlers));
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_figures_are_met),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
