/*
 * Worked examples on training from "How to Scale Your Model", chapters 5 and 6:
 * tests/golden/published/training.jsonl, computed by the library, on models and slices
 * of the catalogue where the book speaks of real ones.
 */
#include "published_row.h"

#include <math.h>
#include <string.h>

/* FLOPs per byte of one torus axis, both directions of its ring. */
static double alpha_of(const row *r)
{
    return in(r, "peak_flops_per_s") / in(r, "ici_link_bidi_bytes_per_s");
}

static double power_of_two_below(double v)
{
    return pow(2, floor(log2(v)));
}

/* ---- chapter 5: how far each scheme goes ----------------------------------------- */

static void largest_model_of_dp(row *r)
{
    const ridge_policy *policy = ridge_precision_policy(RIDGE_PRECISION_BF16_PURE);
    want(r, "params", in(r, "hbm_bytes") / ridge_policy_state_bytes(policy));
}

static void chips_of_fsdp(row *r)
{
    const ridge_thresholds t =
        thresholds_of(r, "deepseek-v3", "v5p:16x20x28", in(r, "b_tokens"));
    want(r, "chips", t.max_chips_fsdp);
    want(r, "pods", t.max_chips_fsdp / in(r, "pod_chips"));
}

static void days_of_fsdp(row *r)
{
    const ridge_thresholds t =
        thresholds_of(r, "llama-3-70b", "v5p:16x20x28", in(r, "b_tokens"));
    const double seconds = ridge_train_seconds(in(r, "flops"), t.max_chips_fsdp,
                                               in(r, "peak_flops_per_s"), in(r, "mfu"));
    want(r, "chips", t.max_chips_fsdp);
    want(r, "days", seconds / RIDGE_DAY_S);
}

static void tp_of_llama(row *r)
{
    const ridge_thresholds t = thresholds_of(r, "llama-3-70b", "v5p:16x20x28", 4e6);
    want(r, "y_max_1axis", t.tp_ways);
    want(r, "y_max_2axes", t.tp_ways_all_axes);
    want(r, "y_pow2_1axis", power_of_two_below(t.tp_ways));
    want(r, "y_pow2_2axes", power_of_two_below(t.tp_ways_all_axes));
}

static void tp_of_gemma(row *r)
{
    const double ways = ridge_threshold_tp(alpha_of(r), 1, in(r, "f"));
    want(r, "y_max", ways);
    want(r, "y_pow2", power_of_two_below(ways));
}

static void mix_against_fsdp(row *r)
{
    const double alpha = alpha_of(r);
    const double mixed =
        ridge_threshold_mixed(alpha, in(r, "m_x"), in(r, "m_y"), in(r, "f"));
    want(r, "tokens_per_chip", mixed);
    want(r, "gain_over_fsdp",
         ridge_threshold_dp(alpha, in(r, "m_x") + in(r, "m_y")) / mixed);
}

static void least_batch_of_any(row *r)
{
    const double mixed =
        ridge_threshold_mixed(alpha_of(r), in(r, "m_x"), in(r, "m_y"), in(r, "f"));
    want(r, "b_tokens", mixed * in(r, "n"));
}

static void chips_of_a_pod(row *r)
{
    const ridge_thresholds t =
        thresholds_of(r, "llama-3-70b", "v5p:16x20x28", in(r, "b_tokens"));
    want(r, "chips", t.max_chips_fsdp);
    want(r, "share_of_pod",
         t.max_chips_fsdp / (double)train_slice(r->cx, "v5p:16x20x28")->chips);
}

static void chips_of_a_mix(row *r)
{
    const double mixed =
        ridge_threshold_mixed(alpha_of(r), in(r, "m_x"), in(r, "m_y"), in(r, "f"));
    want(r, "tokens_per_chip", mixed);
    want(r, "chips_2m", 2e6 / mixed);
    want(r, "chips_4m", 4e6 / mixed);
}

static void best_fsdp_of_a_mix(row *r)
{
    want(r, "x_opt",
         ridge_fsdp_optimal(in(r, "b_tokens"), in(r, "f"), in(r, "m_x"), in(r, "m_y"),
                            in(r, "n")));
}

static void ten_pods(row *r)
{
    const double flops = in(r, "flops");
    const double chips = in(r, "chips");
    const double peak = in(r, "peak_flops_per_s");
    const ridge_thresholds t =
        thresholds_of(r, "llama-3-70b", "10*v5p:16x20x28", in(r, "b_tokens"));
    want(r, "days_at_peak", ridge_train_seconds(flops, chips, peak, 1) / RIDGE_DAY_S);
    want(r, "days_at_mfu",
         ridge_train_seconds(flops, chips, peak, in(r, "mfu")) / RIDGE_DAY_S);
    want(r, "tokens_per_pod", t.tokens_per_chip * chips / in(r, "pods"));
}

/* ---- chapter 5: schemes ---------------------------------------------------------- */

static ridge_scheme_layer layer_of(const row *r)
{
    return (ridge_scheme_layer){.batch_tokens = in(r, "b_tokens"),
                                .d_model = in(r, "d"),
                                .d_ff = in(r, "f"),
                                .element_bytes = 2,
                                .x = 1,
                                .y = 1,
                                .axes_x = 1,
                                .axes_y = 1,
                                .flops_per_s = in(r, "peak_flops_per_s"),
                                .axis_bytes_per_s = in(r, "ici_link_bidi_bytes_per_s")};
}

static void times_of_fsdp(row *r)
{
    ridge_scheme_layer layer = layer_of(r);
    layer.x = in(r, "x");
    layer.axes_x = in(r, "axes");
    const ridge_scheme_times t =
        ridge_scheme_times_of(RIDGE_SCHEME_FSDP, false, &layer);
    want(r, "t_math_s", t.compute_s);
    want(r, "t_comms_s", t.communication_s);
}

static void times_of_tp(row *r)
{
    ridge_scheme_layer layer = layer_of(r);
    layer.y = in(r, "y");
    layer.axes_y = in(r, "axes");
    const ridge_scheme_times t = ridge_scheme_times_of(RIDGE_SCHEME_TP, false, &layer);
    want(r, "t_math_s", t.compute_s);
    want(r, "t_comms_s", t.communication_s);
    want_text(r, "bound", t.is_compute_bound ? "compute" : "ici");
}

static void times_of_a_mix(row *r)
{
    ridge_scheme_layer layer = layer_of(r);
    layer.x = in(r, "x");
    layer.y = in(r, "y");
    layer.axes_x = in(r, "m_x");
    layer.axes_y = in(r, "m_y");
    const ridge_scheme_times t =
        ridge_scheme_times_of(RIDGE_SCHEME_MIXED, false, &layer);
    want(r, "t_math_s", t.compute_s);
    want(r, "t_fsdp_comms_s", t.weights_s);
    want(r, "t_tp_comms_s", t.activations_s);
    want(r, "t_comms_s", t.communication_s);
    want_text(r, "bound", t.is_compute_bound ? "compute" : "ici");
}

/* "AllGather_X W_in" of a collective. */
static const char *as_printed(row *r, const ridge_scheme_collective *c)
{
    const char *name = c->kind == RIDGE_COLLECTIVE_ALL_GATHER       ? "AllGather"
                       : c->kind == RIDGE_COLLECTIVE_REDUCE_SCATTER ? "ReduceScatter"
                       : c->kind == RIDGE_COLLECTIVE_ALL_REDUCE     ? "AllReduce"
                                                                    : "?";
    return ridge_sprintf(ridge_ctx_arena(r->cx), "%s_%c %s", name, c->axis, c->array);
}

static void collectives_of_a_pass(row *r, bool is_backward)
{
    for (int i = 0; i < RIDGE_SCHEME_COUNT; i++) {
        const ridge_node list =
            ridge_json_get(&r->expected, ridge_scheme_text((ridge_scheme)i));
        if (ridge_json_is_absent(list))
            continue;
        const ridge_scheme_collective *rows;
        const size_t n = ridge_scheme_collectives((ridge_scheme)i, is_backward, &rows);
        assert_int_equal(n, ridge_json_size(list));
        for (size_t k = 0; k < n; k++) {
            const char *text = NULL;
            assert_true(ridge_json_text(ridge_json_at(&list, k), &text));
            assert_string_equal(as_printed(r, &rows[k]), text);
        }
        r->checked++;
    }
}

static void collectives_forward(row *r)
{
    collectives_of_a_pass(r, false);
}

static void collectives_backward(row *r)
{
    collectives_of_a_pass(r, true);
}

static void critical_path(row *r)
{
    for (int i = 0; i < RIDGE_SCHEME_COUNT; i++) {
        const char *name = ridge_scheme_text((ridge_scheme)i);
        if (ridge_json_is_absent(ridge_json_get(&r->expected, name)))
            continue;
        size_t critical = 0;
        size_t all = 0;
        for (int pass = 0; pass < 2; pass++) {
            const ridge_scheme_collective *rows;
            const size_t n =
                ridge_scheme_collectives((ridge_scheme)i, pass == 1, &rows);
            for (size_t k = 0; k < n; k++)
                critical += rows[k].is_critical;
            all += n;
        }
        want_text(r, name, critical == 0 ? "none" : critical == all ? "all" : "some");
    }
}

/* ---- chapter 5: LLaMA 2 13B on 4096 chips ---------------------------------------- */

static const char pod_of_q3[] = "v5p:16x16x16";

static void setup_of_q3(row *r)
{
    const ridge_slice *slice = train_slice(r->cx, pod_of_q3);
    ridge_train_result result;
    const double seq = in(r, "seq");
    const ridge_train_request request = train_request(
        fixture_named(r->cx, "llama-2-13b"), slice, in(r, "b_tokens") / seq, seq);
    assert_ok(r->cx, ridge_train_search(r->cx, &request, &result));
    want(r, "sequences", (double)result.batch_seqs);
    want(r, "slice_hbm_bytes", (double)slice->chips * slice->chip->hbm_bytes);
}

static void pure_dp_of_q3(row *r)
{
    const ridge_slice *slice = train_slice(r->cx, pod_of_q3);
    const ridge_train_request request = train_request(
        fixture_named(r->cx, "llama-2-13b"), slice, (double)slice->chips, 1024);
    ridge_layout layout = train_layout(slice->chips, 1, 1, 1, 1);
    layout.precision = RIDGE_PRECISION_BF16_PURE;
    const ridge_train_price price = train_price_of(r->cx, &request, &layout);
    want(r, "fits", price.fit == RIDGE_FIT_OK);
    want(r, "bytes_per_chip",
         price.memory.weights_bytes + price.memory.optimizer_bytes);
}

/* What the book keeps of a layer: its input and the two outputs of the first matmuls.
 */
static double kept_bytes(const ridge_model *m)
{
    ridge_saved saved[RIDGE_SAVED_MAX];
    const int n = ridge_layer_saved(m, &m->layers[0], saved);
    double bytes = 0;
    for (int i = 0; i < n; i++) {
        if (strcmp(saved[i].name, "gate") == 0 || strcmp(saved[i].name, "up") == 0 ||
            strcmp(saved[i].name, "layer_in") == 0)
            bytes += saved[i].width * saved[i].bytes_per_element;
    }
    return bytes * (double)m->layer_count;
}

static void fsdp_of_q3(row *r)
{
    const ridge_model *m = fixture_named(r->cx, "llama-2-13b");
    const ridge_policy *policy = ridge_precision_policy(RIDGE_PRECISION_BF16_PURE);
    const ridge_thresholds t =
        thresholds_of(r, "llama-2-13b", pod_of_q3, in(r, "b_tokens"));
    const double state =
        (double)ridge_model_params(m).total * ridge_policy_state_bytes(policy);
    want(r, "bytes_per_chip",
         state / in(r, "chips") + kept_bytes(m) * t.tokens_per_chip);
    want(r, "tokens_per_chip", t.tokens_per_chip);
    want(r, "threshold_tokens_per_chip", t.dp_tokens_per_chip);
    want(r, "min_batch_tokens", t.dp_tokens_per_chip * in(r, "chips"));
    want(r, "compute_bound", t.tokens_per_chip > t.dp_tokens_per_chip);
}

static void mix_of_q3(row *r)
{
    const ridge_model *m = fixture_named(r->cx, "llama-2-13b");
    const ridge_thresholds t =
        thresholds_of(r, "llama-2-13b", pod_of_q3, in(r, "b_tokens"));
    const double flops =
        ridge_model_flops_train(m, 4096, RIDGE_CONVENTION_SIX_N) * in(r, "b_tokens");
    want(r, "threshold_tokens_per_chip", t.mixed_tokens_per_chip);
    want(r, "x_opt", t.fsdp_optimal);
    want(r, "compute_bound", t.tokens_per_chip > t.mixed_tokens_per_chip);
    want(r, "t_math_step_s",
         ridge_train_seconds(flops, in(r, "chips"), in(r, "peak_flops_per_s"), 1));
}

/* ---- chapter 6 ------------------------------------------------------------------- */

static void days_of_a_pod(row *r)
{
    const double seconds = ridge_train_seconds(in(r, "flops"), in(r, "chips"),
                                               in(r, "peak_flops_per_s"), in(r, "mfu"));
    want(r, "seconds", seconds);
    want(r, "days", seconds / RIDGE_DAY_S);
    want(r, "chip_hours", seconds / RIDGE_HOUR_S * in(r, "chips"));
}

static void most_dp(row *r)
{
    ridge_train_result result;
    const double seq = in(r, "seq");
    const ridge_train_request request =
        train_request(fixture_named(r->cx, "llama-3-70b"),
                      train_slice(r->cx, "v5p:8x8x8"), in(r, "b_tokens") / seq, seq);
    assert_ok(r->cx, ridge_train_search(r->cx, &request, &result));
    want(r, "sequences", (double)result.batch_seqs);
}

static void eight_pods(row *r)
{
    const ridge_model *m = fixture_named(r->cx, "llama-3.1-405b");
    const double chips = in(r, "pods") * in(r, "pod_chips");
    const ridge_thresholds t =
        thresholds_of(r, "llama-3.1-405b", "8*v5p:16x20x28", in(r, "b_tokens"));
    const double flops =
        ridge_model_flops_train(m, 8192, RIDGE_CONVENTION_SIX_N) * in(r, "tokens");
    want(r, "threshold_tokens_per_chip", t.mixed_tokens_per_chip);
    want(r, "min_batch_tokens", t.mixed_tokens_per_chip * chips);
    want(r, "tokens_per_chip", t.tokens_per_chip);
    want(r, "compute_bound", t.tokens_per_chip > t.mixed_tokens_per_chip);
    want(r, "x_opt", t.fsdp_optimal);
    want(r, "days",
         ridge_train_seconds(flops, chips, in(r, "peak_flops_per_s"), in(r, "mfu")) /
             RIDGE_DAY_S);
}

/* ---- rows by id ------------------------------------------------------------------ */

static const published_kind kinds[] = {
    {"ch5-adam-max", largest_model_of_dp},
    {"ch5-fsdp-times", times_of_fsdp},
    {"ch5-deepseek-chips", chips_of_fsdp},
    {"ch5-llama70-fsdp-days", days_of_fsdp},
    {"ch5-tp-max-llama70", tp_of_llama},
    {"ch5-tp-max-gemma7b", tp_of_gemma},
    {"ch5-tp-times", times_of_tp},
    {"ch5-mixed-threshold", mix_against_fsdp},
    {"ch5-fig-crossover", least_batch_of_any},
    {"ch5-mixed-times", times_of_a_mix},
    {"ch5-schemes-fwd", collectives_forward},
    {"ch5-schemes-bwd", collectives_backward},
    {"ch5-critical-path", critical_path},
    {"ch5-pods-fsdp-chips", chips_of_a_pod},
    {"ch5-pods-mixed", chips_of_a_mix},
    {"ch5-pods-xopt", best_fsdp_of_a_mix},
    {"ch5-10pods", ten_pods},
    {"ch5-q3-setup", setup_of_q3},
    {"ch5-q3-1", pure_dp_of_q3},
    {"ch5-q3-2", fsdp_of_q3},
    {"ch5-q3-3", mix_of_q3},
    {"ch6-days-pod", days_of_a_pod},
    {"ch6-max-dp", most_dp},
    {"ch6-q2b", eight_pods},
};

static void the_book_is_met(void **state)
{
    (void)state;
    const int rows =
        published_rows_check("training.jsonl", kinds, RIDGE_COUNT_OF(kinds));
    assert_int_equal(rows, 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_book_is_met)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
