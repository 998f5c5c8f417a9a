/* The plain rooflines of layouts, by hand and on slices of the catalogue. */
#include "train_fixture.h"

#include <math.h>

static void formulas_agree_with_hand_computation(void **state)
{
    (void)state;
    assert_near(ridge_threshold_dp(2400, 3), 800, 1e-12);
    assert_near(ridge_threshold_mixed(2000, 2, 1, 16000), 500, 1e-12);
    assert_near(ridge_threshold_tp(2000, 2, 16000), 16, 1e-12);
    assert_near(ridge_fsdp_optimal(2e6, 1e4, 2, 1, 4096), sqrt(2e2 * 2 * 4096), 1e-12);
    assert_near(ridge_train_seconds(1e21, 10, 1e14, 0.5), 2e6, 1e-12);
    assert_near(ridge_threshold_tp_nodes(2000, 8, 16000), 16, 1e-12);
    assert_near(ridge_threshold_dp_experts(2000, 64, 4), 32000, 1e-12);
    assert_near(ridge_threshold_dp_spanned(2000, 4), 500, 1e-12);
}

static void a_replica_within_a_node_counts_as_one(void **state)
{
    (void)state;
    assert_near(ridge_threshold_dp_spanned(2000, 0.25), 2000, 1e-12);
}

/* Products against both all-to-alls: equal at the ways that are found. */
static void experts_lie_as_wide_as_their_products_allow(void **state)
{
    (void)state;
    static const struct {
        double d_ff, experts_per_token;
    } cases[] = {{2048, 8}, {14336, 2}, {16000, 1}, {19000, 4}};
    const double alpha = 2500;
    const double node = 8;
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const double f = cases[i].d_ff;
        const double k = cases[i].experts_per_token;
        const double z = ridge_threshold_ep(alpha, node, f, k);
        const double products = k * f / z;
        const double sends = alpha * (z - node) / z * fmin(node * k / z, 1);
        assert_near(products, sends, 1e-9);
    }
    assert_true(isinf(ridge_threshold_ep(alpha, node, 8 * alpha, 2)));
}

/* A threshold is where the times of the scheme are equal. */
static void thresholds_are_where_schemes_balance(void **state)
{
    (void)state;
    ridge_scheme_layer l = {.d_model = 8192,
                            .d_ff = 30000,
                            .element_bytes = 2,
                            .x = 512,
                            .y = 1,
                            .axes_x = 2,
                            .axes_y = 1,
                            .flops_per_s = 4e14,
                            .axis_bytes_per_s = 2e11};
    const double alpha = l.flops_per_s / l.axis_bytes_per_s;
    l.batch_tokens = ridge_threshold_dp(alpha, l.axes_x) * l.x;
    for (int pass = 0; pass < 2; pass++) {
        const ridge_scheme_times t =
            ridge_scheme_times_of(RIDGE_SCHEME_FSDP, pass == 1, &l);
        assert_near(t.compute_s, t.communication_s, 1e-12);
        assert_true(t.activations_s == 0);
    }
    l.x = 1;
    l.y = ridge_threshold_tp(alpha, l.axes_y, l.d_ff);
    ridge_scheme_times t = ridge_scheme_times_of(RIDGE_SCHEME_TP, false, &l);
    assert_near(t.compute_s, t.communication_s, 1e-12);
    const double chips = 4096;
    l.batch_tokens = ridge_threshold_mixed(alpha, 2, 1, l.d_ff) * chips;
    l.x = ridge_fsdp_optimal(l.batch_tokens, l.d_ff, 2, 1, chips);
    l.y = chips / l.x;
    t = ridge_scheme_times_of(RIDGE_SCHEME_MIXED, false, &l);
    assert_near(t.weights_s, t.activations_s, 1e-12);
    assert_near(t.compute_s, t.communication_s, 1e-12);
}

static void dp_reduces_twice_and_only_backward(void **state)
{
    (void)state;
    const ridge_scheme_collective *rows;
    assert_int_equal(ridge_scheme_collectives(RIDGE_SCHEME_DP, false, &rows), 0);
    assert_int_equal(ridge_scheme_collectives(RIDGE_SCHEME_DP, true, &rows), 2);
    const ridge_scheme_layer l = {1e6, 1e3, 4e3, 2, 16, 1, 1, 1, 1e15, 1e11};
    const ridge_scheme_times t = ridge_scheme_times_of(RIDGE_SCHEME_DP, true, &l);
    assert_near(t.communication_s, 8 * 1e3 * 4e3 / 1e11, 1e-12);
    assert_near(ridge_scheme_times_of(RIDGE_SCHEME_DP, false, &l).communication_s, 0,
                0);
}

static ridge_thresholds thresholds(ridge_ctx *cx, const ridge_model *model,
                                   const char *slice, double batch_tokens)
{
    const ridge_train_request request =
        train_request(model, train_slice(cx, slice), batch_tokens, 1);
    return ridge_train_thresholds(&request);
}

static void one_chip_has_no_network_to_bind_on(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_thresholds t = thresholds(cx, train_dense_model(cx), "v5p", 1e6);
    assert_near(t.tokens_per_chip, 1e6, 0);
    assert_true(t.alpha == 0 && t.dp_tokens_per_chip == 0 && t.tp_ways == 0);
}

static void a_torus_counts_its_axes(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_thresholds t =
        thresholds(cx, train_dense_model(cx), "v5p:8x8x8", 512 * 1000.0);
    assert_int_equal(t.n_axes, 3);
    assert_near(t.dp_tokens_per_chip, ridge_threshold_dp(t.alpha, 3), 1e-12);
    assert_near(t.tp_ways, ridge_threshold_tp(t.alpha, 1, 4096), 1e-12);
    assert_near(t.tp_ways_all_axes, 2 * t.tp_ways, 1e-12);
    assert_near(t.fsdp_optimal * t.tp_optimal, 512, 1e-12);
    assert_near(t.max_chips_fsdp, 512 * 1000.0 / t.dp_tokens_per_chip, 1e-12);
    assert_true(t.dp_outer_tokens_per_chip == 0 && t.pod_tokens == 0);
}

/* Faults: of several slices the chips of one were told to be the most in all; experts'
 * weights bound between slices as if all tokens met them. */
static void slices_count_together(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = train_dense_model(cx);
    const ridge_thresholds one = thresholds(cx, model, "v5p:8x8x8", 512 * 1000.0);
    const ridge_thresholds t = thresholds(cx, model, "3*v5p:8x8x8", 3 * 512 * 1000.0);
    assert_near(t.dp_tokens_per_chip, one.dp_tokens_per_chip, 1e-12);
    assert_near(t.max_chips_fsdp, 3 * one.max_chips_fsdp, 1e-12);
    assert_near(t.max_chips_mixed, 3 * one.max_chips_mixed, 1e-12);
    assert_near(t.fsdp_optimal, one.fsdp_optimal, 1e-12);
    /* 4 chips a host of 25 GB/s */
    assert_near(t.pod_tokens, 459e12 * 4 / 25e9, 1e-12);
    assert_near(t.pod_experts_tokens, 0, 0);
    const ridge_thresholds experts =
        thresholds(cx, train_moe_model(cx), "3*v5p:8x8x8", 1e6);
    assert_near(experts.pod_experts_tokens, 4 * experts.pod_tokens, 1e-12);
}

static void a_line_has_half_the_bandwidth_of_a_ring(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = train_dense_model(cx);
    const ridge_thresholds ring = thresholds(cx, model, "v5e:16x16", 1e6);
    const ridge_thresholds line = thresholds(cx, model, "v5e:4x4", 1e6);
    assert_near(line.alpha, 2 * ring.alpha, 1e-12);
}

/* 8x16: the axis of 16 is a ring of twice the rate of the line of 8. */
static void axes_of_unequal_rates_count_by_their_rates(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = train_dense_model(cx);
    const ridge_thresholds even = thresholds(cx, model, "v5e:16x16", 256e3);
    const ridge_thresholds t = thresholds(cx, model, "v5e:8x16", 128e3);
    assert_near(t.alpha, even.alpha, 1e-12);
    assert_near(t.dp_tokens_per_chip, t.alpha / 1.5, 1e-12);
    assert_near(t.tp_ways_all_axes, 1.5 * t.tp_ways, 1e-12);
    assert_near(t.mixed_tokens_per_chip, 2 * even.mixed_tokens_per_chip, 1e-12);
    assert_near(t.fsdp_optimal * t.tp_optimal, 128, 1e-12);
    const ridge_torus_rates r = ridge_slice_torus_rates(train_slice(cx, "v5e:8x16"));
    assert_int_equal(r.n, 2);
    assert_near(r.best, 2 * r.second, 1e-12);
    assert_near(r.sum, r.best + r.second, 1e-12);
    assert_int_equal(ridge_slice_torus_rates(train_slice(cx, "h100:2x8")).n, 0);
}

static void gpus_bind_inside_and_outside_their_node(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = train_dense_model(cx);
    const ridge_thresholds node = thresholds(cx, model, "h100:1x8", 1e6);
    const ridge_thresholds many = thresholds(cx, model, "h100:16x8", 1e6);
    assert_true(node.dp_outer_tokens_per_chip == 0);
    assert_near(many.dp_tokens_per_chip, node.dp_tokens_per_chip, 0);
    assert_true(many.dp_outer_tokens_per_chip > many.dp_tokens_per_chip);
    assert_true(node.dp_nodes_tokens_per_chip == 0);
    assert_near(many.dp_nodes_tokens_per_chip, many.dp_outer_tokens_per_chip * 15 / 16,
                1e-12);
    assert_near(many.max_chips_fsdp, 1e6 / many.dp_outer_tokens_per_chip, 1e-12);
    assert_near(many.tp_ways_across_nodes, 4096 / many.dp_outer_tokens_per_chip, 1e-12);
    /* Fault: cuts over two nodes were told where links inside one bind already. */
    assert_true(many.tp_ways < 8 && many.tp_ways_two_nodes == 0);
    const ridge_thresholds wide = thresholds(
        cx,
        fixture_model(cx, "{'model_type': 'llama', 'hidden_size': 8192,"
                          " 'num_hidden_layers': 2, 'num_attention_heads': 64,"
                          " 'intermediate_size': 28672, 'vocab_size': 32000}"),
        "h100:16x8", 1e6);
    assert_near(wide.tp_ways_two_nodes, 8 + 28672 / wide.dp_outer_tokens_per_chip,
                1e-12);
    assert_true(node.tp_ways_across_nodes == 0 && many.ep_ways == 0);
    assert_near(many.dp_parameters_most, 8e9, 1e-12);
    assert_near(node.dp_reduced_tokens_per_chip, node.alpha / 2, 1e-12);
    assert_true(many.dp_outer_reduced_tokens_per_chip == 0);
    assert_true(thresholds(cx, model, "a100:1x8", 1e6).dp_reduced_tokens_per_chip == 0);
}

static void pods_need_a_batch_of_their_own(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = train_dense_model(cx);
    assert_true(thresholds(cx, model, "2*v5e:16x16", 1e6).pod_tokens > 0);
    assert_true(thresholds(cx, model, "v5e:16x16", 1e6).pod_tokens == 0);
}

static void experts_count_with_those_that_run(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_thresholds t = thresholds(cx, train_moe_model(cx), "v5p:8x8x8", 1e6);
    assert_near(t.expert_factor, 4, 0);
    assert_near(t.dp_experts_tokens_per_chip, 4 * t.dp_tokens_per_chip, 1e-12);
    assert_near(t.mixed_experts_tokens_per_chip, 4 * t.mixed_tokens_per_chip, 1e-12);
    assert_near(t.max_chips_fsdp_experts, t.max_chips_fsdp / 4, 1e-12);
    const ridge_thresholds nodes = thresholds(cx, train_moe_model(cx), "h100:4x8", 1e6);
    assert_near(nodes.dp_experts_tokens_per_chip, 4 * nodes.dp_outer_tokens_per_chip,
                1e-12);
    assert_near(nodes.ep_ways, 8 + 2 * 1024 / nodes.dp_outer_tokens_per_chip, 1e-12);
    assert_near(t.tp_ways, ridge_threshold_tp(t.alpha, 1, 2 * 1024), 1e-12);
    assert_near(thresholds(cx, train_dense_model(cx), "v5p:8x8x8", 1e6).expert_factor,
                1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_agree_with_hand_computation),
        cmocka_unit_test(a_replica_within_a_node_counts_as_one),
        cmocka_unit_test(experts_lie_as_wide_as_their_products_allow),
        cmocka_unit_test(axes_of_unequal_rates_count_by_their_rates),
        cmocka_unit_test(thresholds_are_where_schemes_balance),
        cmocka_unit_test(dp_reduces_twice_and_only_backward),
        cmocka_unit_test(one_chip_has_no_network_to_bind_on),
        cmocka_unit_test(a_torus_counts_its_axes),
        cmocka_unit_test(slices_count_together),
        cmocka_unit_test(a_line_has_half_the_bandwidth_of_a_ring),
        cmocka_unit_test(gpus_bind_inside_and_outside_their_node),
        cmocka_unit_test(pods_need_a_batch_of_their_own),
        cmocka_unit_test(experts_count_with_those_that_run),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
