/*
 * Worked examples on training with GPUs from "How to Scale Your Model", chapter 12:
 * tests/golden/published/training-gpu.jsonl, computed by the library.
 */
#include "network_build.h"
#include "published_row.h"

/* ---- chapter 12 ------------------------------------------------------------------ */

/* An all-reduce over the chips of one node without in-network reduction. */
static double node_all_reduce_s(double bytes, double gpus, double bytes_per_s)
{
    ridge_slice slice = test_slice();
    test_axis(&slice, RIDGE_AXIS_SWITCH, (int64_t)gpus, bytes_per_s);
    const ridge_group all = test_group_all(&slice);
    return ridge_collective_time(&slice, RIDGE_COLLECTIVE_ALL_REDUCE, bytes, &all)
        .bound_s;
}

static void message_of_tp(row *r)
{
    const ridge_model *m = fixture_named(r->cx, "llama-3-70b");
    const double bytes = (double)m->d_model * (double)m->layers[0].ffn.d_ff /
                         in(r, "gpus") * in(r, "dtype_bytes");
    want(r, "bytes", bytes);
    want(r, "measured_s",
         node_all_reduce_s(bytes, in(r, "gpus"), in(r, "measured_bus_bytes_per_s")));
    want(r, "nominal_s",
         node_all_reduce_s(bytes, in(r, "gpus"), in(r, "nominal_bytes_per_s")));
}

static void dp_of_experts(row *r)
{
    want(r, "tokens_per_gpu",
         ridge_threshold_dp_experts(in(r, "tokens_per_gpu_dense"), in(r, "experts"),
                                    in(r, "active_experts")));
}

static void tp_of_gpus(row *r)
{
    const double peak = in(r, "peak_bf16_flops_per_s");
    const double f = in(r, "d_ff");
    const double alpha_node = peak / in(r, "node_egress_bytes_per_s");
    want(r, "in_node",
         ridge_threshold_tp(peak / in(r, "gpu_egress_bytes_per_s"), 1, f));
    want(r, "across_nodes", ridge_threshold_tp(alpha_node, 1, f));
    want(r, "two_nodes", ridge_threshold_tp_nodes(alpha_node, 8, f));
}

/* How much faster a gather over a few nodes is than over very many. */
static double gain_of_few(int64_t nodes)
{
    double times_s[2];
    const int64_t sizes[] = {nodes, 4096};
    for (int i = 0; i < 2; i++) {
        ridge_slice slice = test_slice();
        test_axis(&slice, RIDGE_AXIS_FABRIC, sizes[i], 50e9);
        const ridge_group all = test_group_all(&slice);
        times_s[i] =
            ridge_collective_time(&slice, RIDGE_COLLECTIVE_ALL_GATHER, 1e9, &all)
                .bound_s;
    }
    return times_s[1] / times_s[0];
}

static void layout_of_deepseek(row *r)
{
    const ridge_slice *slice = train_slice(r->cx, "h100:256x8");
    const ridge_train_request request =
        train_request(fixture_named(r->cx, "deepseek-v3"), slice,
                      in(r, "batch_sequences"), in(r, "sequence_tokens"));
    const int64_t ep = (int64_t)in(r, "expert_parallel");
    const int64_t dp = (int64_t)in(r, "data_parallel");
    ridge_layout layout =
        train_layout(dp * ep, 1, 1, 1, (int64_t)in(r, "pipeline_parallel"));
    layout.ep = ep;
    const ridge_train_price price = train_price_of(r->cx, &request, &layout);
    const ridge_thresholds t = ridge_train_thresholds(&request);
    assert_int_not_equal(price.fit, RIDGE_FIT_MESH);
    assert_int_not_equal(price.fit, RIDGE_FIT_EP);
    want(r, "gpus", (double)(layout.dp * layout.pp));
    want(r, "model_parallel", (double)(layout.ep * layout.pp));
    want(r, "batch_tokens", t.tokens_per_chip * (double)slice->chips);
    want(r, "tokens_per_gpu", t.tokens_per_chip);
    want(r, "bandwidth_gain", gain_of_few(dp));
}

static void layout_of_llama(row *r)
{
    const ridge_slice *slice = train_slice(r->cx, "h100:2048x8");
    const ridge_thresholds t =
        thresholds_of(r, "llama-3.1-405b", "h100:2048x8", in(r, "batch_tokens"));
    const double product =
        in(r, "tensor_parallel") * in(r, "pipeline_parallel") * in(r, "data_parallel");
    assert_near((double)slice->chips, product, 0);
    want(r, "gpus", (double)slice->chips);
    want(r, "tokens_per_gpu", t.tokens_per_chip);
    want(r, "critical_tokens_per_gpu",
         ridge_threshold_dp_spanned(t.dp_outer_tokens_per_chip,
                                    in(r, "pipeline_parallel")));
}

static void memory_of_llama(row *r)
{
    const ridge_policy *policy = ridge_precision_policy(RIDGE_PRECISION_BF16_PURE);
    const double bytes = in(r, "params") * ridge_policy_state_bytes(policy);
    const double hbm = in(r, "hbm_capacity_bytes");
    const int64_t gpus = ridge_ceil_div((int64_t)bytes, (int64_t)hbm);
    want(r, "bytes", bytes);
    want(r, "gpus", (double)gpus);
    want(r, "nodes", (double)ridge_ceil_div(gpus, (int64_t)in(r, "gpus_per_node")));
    want(r, "bytes_per_gpu", bytes / in(r, "model_parallel"));
    want(r, "fits", bytes / in(r, "model_parallel") <= hbm);
}

static void time_of_llama(row *r)
{
    const ridge_model *m = fixture_named(r->cx, "llama-3-70b");
    const double flops =
        ridge_model_flops_train(m, 8192, RIDGE_CONVENTION_SIX_N) * in(r, "tokens");
    const double seconds = ridge_train_seconds(
        flops, in(r, "gpus"), in(r, "peak_bf16_flops_per_s"), in(r, "mfu"));
    want(r, "flops", flops);
    want(r, "time_s", seconds);
    want(r, "days", seconds / RIDGE_DAY_S);
}

static void layouts_of_llama(row *r)
{
    const ridge_thresholds t =
        thresholds_of(r, "llama-3-70b", "h100:512x8", in(r, "batch_tokens"));
    const double tp8 = ridge_threshold_dp_spanned(t.dp_outer_tokens_per_chip, 1);
    const double pp8 = ridge_threshold_dp_spanned(t.dp_outer_tokens_per_chip,
                                                  in(r, "pipeline_parallel"));
    want(r, "tp_limit", t.tp_ways);
    want(r, "tokens_per_gpu", t.tokens_per_chip);
    want(r, "critical_tp8", tp8);
    want(r, "critical_tp8_pp8", pp8);
    want(r, "tp8_compute_bound", t.tokens_per_chip > tp8);
    want(r, "tp8_pp8_compute_bound", t.tokens_per_chip > pp8);
}

static void layouts_of_megatron(row *r)
{
    const char *text =
        ridge_sprintf(ridge_ctx_arena(r->cx), "h100:%dx8", (int)in(r, "gpus") / 8);
    const ridge_thresholds t =
        thresholds_of(r, "megatron-gpt-22b", text,
                      in(r, "batch_sequences") * in(r, "sequence_tokens"));
    const bool is_spread =
        !ridge_json_is_absent(ridge_json_get(&r->inputs, "model_parallel"));
    const double nodes = is_spread ? in(r, "model_parallel") / 8 : 1;
    const double critical =
        ridge_threshold_dp_spanned(t.dp_outer_tokens_per_chip, nodes);
    want(r, "tokens_per_gpu", t.tokens_per_chip);
    want(r, "critical_tokens_per_gpu", critical);
    want(r, "compute_bound", t.tokens_per_chip > critical);
}

/* ---- rows by id ------------------------------------------------------------------ */

static const published_kind kinds[] = {
    {"ch12-llama-mlp-message", message_of_tp},
    {"ch12-dp-moe", dp_of_experts},
    {"ch12-tp-bound", tp_of_gpus},
    {"ch12-deepseek-layout", layout_of_deepseek},
    {"ch12-llama3-layout", layout_of_llama},
    {"ch12-q5-2-memory", memory_of_llama},
    {"ch12-q5-2-train-time", time_of_llama},
    {"ch12-q5-2-layouts", layouts_of_llama},
    {"ch12-q5-3-megatron", layouts_of_megatron},
};

static void the_book_is_met(void **state)
{
    (void)state;
    const int rows =
        published_rows_check("training-gpu.jsonl", kinds, RIDGE_COUNT_OF(kinds));
    assert_int_equal(rows, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_book_is_met)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
