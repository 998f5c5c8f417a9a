/*
 * Worked examples on serving from "How to Scale Your Model", chapters 7 and 8:
 * tests/golden/published/serving.jsonl, computed by the library, on models and slices
 * of the catalogue where the book speaks of real ones.
 */
#include "published_row.h"

#include "ridge/plan_serving_roofline.h"
#include "ridge/program.h"

#include <math.h>
#include <string.h>

static double in_or(const row *r, const char *key, double other)
{
    const ridge_node n = ridge_json_get(&r->inputs, key);
    return ridge_json_is_absent(n) ? other : in(r, key);
}

/* Bytes of keys and values of a token: 2 L K H b. */
static double kv_token(const row *r, double kv_heads)
{
    const double element =
        in_or(r, "kv_bytes_per_element", in_or(r, "element_bytes", 1));
    return 2 * in(r, "layers") * kv_heads * in(r, "head_dim") * element;
}

/* The service that a row describes by its numbers. */
static ridge_roofline_service service_of(const row *r)
{
    return (ridge_roofline_service){
        .chips = in(r, "chips"),
        .peak_flops_per_s = in_or(r, "peak_bf16_flops_per_s", 1),
        .hbm_bytes_per_s = in_or(r, "hbm_bytes_per_s", 1),
        .hbm_bytes = in_or(r, "hbm_capacity_bytes", 16e9),
        .active_params = in_or(r, "params", 0),
        .weight_bytes = in_or(r, "params", 0) * in_or(r, "param_bytes", 1),
        .kv_bytes = kv_token(r, in(r, "kv_heads")) * in(r, "sequence_tokens"),
    };
}

/* ---- chapter 7 ------------------------------------------------------------------- */

static void llama_params(row *r)
{
    const ridge_params p = ridge_model_params(fixture_named(r->cx, "llama-2-13b"));
    want(r, "ffw_params", (double)p.mlp);
    want(r, "vocab_params", (double)(p.embedding + p.unembedding));
    want(r, "attention_params", (double)p.attention);
    want(r, "total_params", (double)p.total);
}

static void llama_weights(row *r)
{
    const ridge_model *m = fixture_named(r->cx, "llama-2-13b");
    want(r, "weight_bytes", ridge_model_weight_bytes_as(m, RIDGE_DTYPE_BF16));
}

/* The residual stream of the program that a prompt lowers to. */
static void prompt_activation(row *r)
{
    const ridge_model *m = fixture_named(r->cx, "llama-2-13b");
    const ridge_lowering how =
        ridge_lowering_usual(m, RIDGE_PHASE_PREFILL, 1, (int64_t)in(r, "tokens"));
    const ridge_program *p = NULL;
    assert_ok(r->cx, ridge_program_lower(r->cx, m, &how, &p));
    const int x = ridge_program_tensor_find(p, "x");
    assert_true(x >= 0);
    const ridge_tensor *t = &p->tensors[x];
    assert_near((double)p->dims[t->dims[t->n_dims - 1]].size, in(r, "d_model"), 0);
    want(r, "activation_bytes",
         ridge_tensor_elements(p, t) * ridge_dtype_bytes(t->dtype));
}

static void llama_cache(row *r)
{
    const ridge_model *m = fixture_named(r->cx, "llama-2-13b");
    const ridge_serving_formats formats = {.weight = RIDGE_DTYPE_BF16,
                                           .compute = RIDGE_DTYPE_BF16,
                                           .cache = RIDGE_DTYPE_BF16};
    const ridge_roofline_service s = ridge_roofline_service_of(
        m, train_slice(r->cx, "v5e:4x2"), &formats, in(r, "sequence_tokens"));
    want(r, "kv_bytes_per_token", s.kv_bytes_per_token);
    want(r, "kv_bytes_per_sequence", s.kv_bytes);
    want(r, "sequences_exceeding_weights", ceil(ridge_roofline_batch_crossover(&s)));
}

static void generation(row *r)
{
    const ridge_roofline_service s = service_of(r);
    const ridge_decode_roofline d = ridge_roofline_decode(&s, in(r, "batch_sequences"));
    want(r, "kv_bytes", d.kv_bytes);
    want(r, "total_bytes", d.total_bytes);
    want(r, "step_time_s", d.step_s);
    want(r, "throughput_tokens_per_s", d.tokens_per_s);
}

static void cached_prefix(row *r)
{
    want(r, "compute_fraction",
         ridge_roofline_prefix_share(in(r, "prompt_tokens"),
                                     in(r, "cached_prefix_tokens")));
}

/* P = L (3DF + 2DH(N + K)) + DV. */
static double dense_params(const row *r, double kv_heads)
{
    const double d = in(r, "d_model");
    const double heads = 2 * d * in(r, "head_dim") * (in(r, "heads") + kv_heads);
    return in(r, "layers") * (3 * d * in(r, "d_ff") + heads) + d * in(r, "vocab");
}

static void largest_batch(row *r)
{
    const struct {
        const char *key;
        double kv_heads;
    } models[] = {{"max_batch_kv8", 8}, {"max_batch_kv1", 1}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(models); i++) {
        ridge_roofline_service s = service_of(r);
        const double heads = models[i].kv_heads;
        s.weight_bytes = dense_params(r, heads) * in(r, "param_bytes");
        s.kv_bytes = kv_token(r, heads) * in(r, "sequence_tokens");
        want(r, models[i].key, ridge_roofline_batch_most(&s));
    }
}

static double mixture_params(const row *r)
{
    const double d = in(r, "d_model");
    const double heads =
        2 * d * in(r, "head_dim") * (in(r, "heads") + in(r, "kv_heads"));
    const double experts = 3 * d * in(r, "d_ff") * in(r, "experts");
    return in(r, "layers") * (experts + heads) + d * in(r, "vocab");
}

static void mixture_load(row *r)
{
    const struct {
        const char *time, *free;
        double bytes;
    } formats[] = {{"int8_load_time_s", "int8_free_bytes_per_chip", 1},
                   {"bf16_load_time_s", "bf16_free_bytes_per_chip", 2}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(formats); i++) {
        const ridge_roofline_service s = {
            .chips = in(r, "chips"),
            .peak_flops_per_s = in(r, "peak_bf16_flops_per_s"),
            .hbm_bytes_per_s = in(r, "hbm_bytes_per_s"),
            .weight_bytes = mixture_params(r) * formats[i].bytes};
        want(r, formats[i].time, ridge_roofline_decode(&s, 0).weight_load_s);
        want(r, formats[i].free,
             in(r, "hbm_capacity_bytes") - s.weight_bytes / s.chips);
    }
}

static double power_of_two_above(double v)
{
    return pow(2, ceil(log2(v)));
}

static void smallest_slice(row *r)
{
    const double hbm = in(r, "hbm_capacity_bytes");
    const double int8 = ridge_roofline_chips_least(in(r, "params"), hbm);
    const double bf16 = ridge_roofline_chips_least(2 * in(r, "params"), hbm);
    want(r, "int8_chips", int8);
    want(r, "bf16_chips", bf16);
    want(r, "int8_slice_chips", power_of_two_above(int8));
    want(r, "bf16_slice_chips", power_of_two_above(bf16));
}

static void two_axes_from(row *r)
{
    want(r, "chips", ridge_roofline_stationary_2d_from(1, in(r, "f_over_d")));
    want(r, "chips_second",
         ridge_roofline_stationary_2d_from(1, in(r, "f_over_d_second")));
}

static void two_axes(row *r)
{
    const ridge_stationary_2d s = ridge_roofline_stationary_2d(
        in(r, "chips"), in(r, "d_model"), in(r, "d_ff"), in(r, "batch_tokens"),
        in(r, "element_bytes"), in(r, "ici_bidirectional_bytes_per_s"));
    want(r, "x_optimal", s.x);
    want(r, "yz_optimal", s.yz);
    want(r, "comm_time_2d_s", s.time_s);
    want(r, "comm_time_1d_s", s.time_1d_s);
}

static void bound_by_hops(row *r)
{
    const double bytes = in(r, "batch") * in(r, "d_model") * in(r, "element_bytes");
    want(r, "model_parallel",
         ridge_roofline_tp_latency(bytes, in(r, "ici_unidirectional_bytes_per_s"),
                                   in(r, "hop_latency_s")));
}

static void cache_of_a_host(row *r)
{
    const ridge_roofline_service cache = {
        .chips = 1,
        .hbm_bytes = in(r, "host_bytes"),
        .kv_bytes = ridge_model_kv_bytes(fixture_named(r->cx, "llama-2-13b"),
                                         RIDGE_DTYPE_BF16, 8192, false)};
    assert_near(cache.kv_bytes, in(r, "kv_bytes_per_sequence"), 1e-9);
    want(r, "sequences", ridge_roofline_batch_most(&cache));
}

/* ---- chapter 8 ------------------------------------------------------------------- */

/* What the catalogue says of a chip, and what its provider lists. */
static void flops_for_money(row *r)
{
    const char *name = strrchr(r->id, '-') + 1;
    const ridge_slice *slice =
        train_slice(r->cx, strcmp(name, "h100") == 0  ? "h100:1x8"
                           : strcmp(name, "v5p") == 0 ? "v5p:4x4x4"
                                                      : "v5e:4x4");
    const ridge_chip *chip = slice->chip;
    double usd = 0;
    for (size_t i = 0; i < (size_t)chip->n_prices; i++) {
        const ridge_price *p = &chip->prices[i];
        const bool is_listed =
            strcmp(p->provider, "google") == 0 && strcmp(p->kind, "on-demand") == 0;
        if (is_listed && (usd <= 0 || p->usd_per_chip_hour < usd))
            usd = p->usd_per_chip_hour;
    }
    assert_near(usd, in(r, "price_usd_per_hour"), 1e-9);
    const double rate = ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL) / usd;
    want(r, "flops_per_s_per_usd_hour", rate);
    want(r, "flops_per_usd", rate * 3600);
}

/* LLaMA 3-70B of the catalogue, with weights and cache in int8. */
static ridge_roofline_service llama_70b(const row *r, const char *slice)
{
    const ridge_serving_formats formats = {.weight = RIDGE_DTYPE_INT8,
                                           .compute = RIDGE_DTYPE_BF16,
                                           .cache = RIDGE_DTYPE_INT8};
    return ridge_roofline_service_of(fixture_named(r->cx, "llama-3-70b"),
                                     train_slice(r->cx, slice), &formats,
                                     in(r, "sequence_tokens"));
}

static void memory_of_llama(row *r)
{
    const ridge_roofline_service s = llama_70b(r, "v5e:4x2");
    const ridge_decode_roofline d = ridge_roofline_decode(&s, in(r, "batch_sequences"));
    const double chips = d.total_bytes / in(r, "hbm_capacity_bytes");
    want(r, "kv_bytes", d.kv_bytes);
    want(r, "total_bytes", d.total_bytes);
    want(r, "chips", chips);
    want(r, "slice_chips", power_of_two_above(ceil(chips)));
}

static void step_of_llama(row *r)
{
    const bool is_small = in(r, "chips") == 8;
    const ridge_roofline_service s = llama_70b(r, is_small ? "v5e:4x2" : "v5e:4x4");
    const ridge_decode_roofline d = ridge_roofline_decode(&s, in(r, "batch_sequences"));
    want(r, "step_time_s", d.step_s);
    want(r, "throughput_tokens_per_s", d.tokens_per_s);
    want(r, "throughput_tokens_per_s_per_chip", d.tokens_per_s_per_chip);
}

static void pareto_of_llama(row *r)
{
    const ridge_roofline_service s = service_of(r);
    const ridge_decode_roofline d = ridge_roofline_decode(&s, in(r, "batch_sequences"));
    want(r, "kv_load_time_s", d.kv_load_s);
    want(r, "param_load_time_s", d.weight_load_s);
    want(r, "flops_time_s", d.flops_s);
    want(r, "step_time_s", d.step_s);
    want(r, "throughput_tokens_per_s_per_chip", d.tokens_per_s_per_chip);
    want(r, "memory_fits", d.fits);
}

static void batches_of_llama(row *r)
{
    const struct {
        const char *key;
        double tokens;
    } contexts[] = {{"batch_2048", 2048}, {"batch_8192", 8192}, {"batch_32768", 32768}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(contexts); i++) {
        const ridge_roofline_service s = {.chips = in(r, "chips"),
                                          .hbm_bytes = in(r, "hbm_capacity_bytes"),
                                          .weight_bytes = in(r, "weight_bytes"),
                                          .kv_bytes = kv_token(r, in(r, "kv_heads")) *
                                                      contexts[i].tokens};
        want(r, contexts[i].key, ridge_roofline_batch_most(&s));
    }
}

static void compute_bound_ways(row *r)
{
    const double book = ridge_threshold_tp(in(r, "alpha_book_flops_per_byte"),
                                           in(r, "axes"), in(r, "d_ff"));
    const double own =
        in(r, "peak_bf16_flops_per_s") / in(r, "ici_bidirectional_bytes_per_s");
    want(r, "max_model_parallel_book", book);
    want(r, "max_model_parallel_v5e",
         ridge_threshold_tp(own, in(r, "axes"), in(r, "d_ff")));
}

static void compute_bound_on_32(row *r)
{
    const double most =
        ridge_threshold_tp(in(r, "alpha_flops_per_byte"), in(r, "axes"), in(r, "d_ff"));
    want(r, "max_model_parallel", most);
    want(r, "fits", in(r, "model_parallel") <= most);
}

static void memory_bound_ways(row *r)
{
    want(r, "max_model_parallel",
         ridge_roofline_tp_memory(in(r, "d_ff"), in(r, "batch"), in(r, "beta")));
}

/* One product as a service of D F parameters; its network takes as long as HBM at
 * the model parallelism that is bound by both. */
static void product_on_32(row *r)
{
    const double params = in(r, "d_model") * in(r, "d_ff");
    const double ways = in(r, "model_parallel");
    const double beta =
        in(r, "hbm_bytes_per_s") / in(r, "ici_bidirectional_bytes_per_s");
    const ridge_roofline_service s = {.chips = ways,
                                      .peak_flops_per_s =
                                          in(r, "peak_bf16_flops_per_s"),
                                      .hbm_bytes_per_s = in(r, "hbm_bytes_per_s"),
                                      .active_params = params,
                                      .weight_bytes = 2 * params};
    const ridge_decode_roofline d = ridge_roofline_decode(&s, in(r, "batch"));
    want(r, "hbm_time_s", d.weight_load_s);
    want(r, "math_time_s", d.flops_s);
    want(r, "ici_time_s",
         d.weight_load_s * ways /
             ridge_roofline_tp_memory(in(r, "d_ff"), in(r, "batch"), beta));
}

static void requests(row *r)
{
    const double rate = ridge_roofline_requests_per_s(
        in(r, "kv_caches"), in(r, "step_time_s"), in(r, "decode_tokens"));
    want(r, "qps", rate);
    want(r, "qps_per_chip", rate / in(r, "chips"));
}

static void step_of_full_memory(row *r)
{
    const double step =
        ridge_roofline_full_step(in(r, "hbm_capacity_bytes"), in(r, "hbm_bytes_per_s"));
    want(r, "step_time_s", step);
    want(r, "answer_time_s", step * in(r, "decode_tokens"));
}

static void least_step(row *r)
{
    const ridge_roofline_service s = {.chips = in(r, "chips"),
                                      .peak_flops_per_s = 1,
                                      .hbm_bytes_per_s = in(r, "hbm_bytes_per_s"),
                                      .weight_bytes =
                                          in(r, "params") * in(r, "param_bytes")};
    want(r, "step_time_s", ridge_roofline_decode(&s, 0).step_s);
}

static void prompt_time(row *r)
{
    const ridge_roofline_service s = {.chips = in(r, "chips"),
                                      .peak_flops_per_s =
                                          in(r, "peak_bf16_flops_per_s"),
                                      .active_params = in(r, "params")};
    want(r, "time_s", ridge_roofline_prefill(&s, in(r, "tokens"), 0, in(r, "mfu")));
}

static void prompts_to_generation(row *r)
{
    want(r, "prefill_per_generate",
         ridge_roofline_prefill_ratio(in(r, "prefill_time_s"), in(r, "batch_sequences"),
                                      in(r, "step_time_s"), in(r, "decode_tokens")));
}

/* ---- what the rows do not ask ---------------------------------------------------- */

static void sampling_grows_by_a_power_less_with_a_cache(void **state)
{
    (void)state;
    const double n = 1000;
    double linear = 0;
    double attention = 0;
    for (int i = 1; i <= (int)n; i++) {
        for (int j = 1; j <= i; j++) {
            linear += 5;
            attention += 3.0 * j;
        }
    }
    const ridge_sampling_flops naive = ridge_roofline_sampling(5, 3, n, false);
    assert_near(naive.linear, linear, 1e-12);
    assert_near(naive.attention, attention, 1e-12);
    const ridge_sampling_flops cached = ridge_roofline_sampling(5, 3, n, true);
    assert_near(cached.linear, 5 * n, 1e-12);
    assert_near(cached.attention, 3 * n * (n + 1) / 2, 1e-12);
}

static void two_axes_win_where_their_time_is_less(void **state)
{
    (void)state;
    const double from = ridge_roofline_stationary_2d_from(8192, 32768);
    const ridge_stationary_2d below =
        ridge_roofline_stationary_2d(from - 1, 8192, 32768, 64, 2, 9e10);
    const ridge_stationary_2d above =
        ridge_roofline_stationary_2d(from + 1, 8192, 32768, 64, 2, 9e10);
    assert_true(below.time_s > below.time_1d_s);
    assert_true(above.time_s < above.time_1d_s);
    assert_near(above.x * above.yz, from + 1, 1e-12);
}

static const published_kind kinds[] = {
    {"ch7-llama2-13b-params", llama_params},
    {"ch7-llama2-13b-weight-bytes", llama_weights},
    {"ch7-prefill-activation", prompt_activation},
    {"ch7-llama2-13b-kv", llama_cache},
    {"ch7-llama2-13b-mha", generation},
    {"ch7-llama2-13b-gqa", generation},
    {"ch7-prefix-cache-saving", cached_prefix},
    {"ch7-q2-max-batch", largest_batch},
    {"ch7-q6-moe-load", mixture_load},
    {"ch7-q6-smallest-slice", smallest_slice},
    {"ch7-q7-2d-crossover", two_axes_from},
    {"ch7-q7-2d-weight", two_axes},
    {"ch7-appendix-c-model-parallel", bound_by_hops},
    {"ch7-host-cache-capacity", cache_of_a_host},
    {"ch8-flops-per-dollar", flops_for_money},
    {"ch8-memory-bs32", memory_of_llama},
    {"ch8-step-bs32", step_of_llama},
    {"ch8-pareto-max-batch", batches_of_llama},
    {"ch8-pareto-b", pareto_of_llama},
    {"ch8-ici-bound", compute_bound_ways},
    {"ch8-shard-4x8-compute", compute_bound_on_32},
    {"ch8-shard-4x8-memory", memory_bound_ways},
    {"ch8-shard-4x8-times", product_on_32},
    {"ch8-qps", requests},
    {"ch8-full-hbm-step", step_of_full_memory},
    {"ch8-int4-param-step", least_step},
    {"ch8-prefill-time", prompt_time},
    {"ch8-disaggregation-ratio", prompts_to_generation},
};

static void every_row_comes_out_as_published(void **state)
{
    (void)state;
    const int rows =
        published_rows_check("serving.jsonl", kinds, RIDGE_COUNT_OF(kinds));
    assert_int_equal(rows, 49);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_comes_out_as_published),
        cmocka_unit_test(sampling_grows_by_a_power_less_with_a_cache),
        cmocka_unit_test(two_axes_win_where_their_time_is_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
