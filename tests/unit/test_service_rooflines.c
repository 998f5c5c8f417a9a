/* Plain rooflines of deployments by hand: the book's service on TPUs, one chip,
 * switches, mixtures. */
#include "service_fixture.h"

#include "ridge/plan_service_rooflines.h"

#include <math.h>

typedef struct fixture {
    ridge_ctx *cx;
    ridge_service_request request;
    ridge_service_choice choice;
    ridge_service_rooflines found;
} fixture;

/* LLaMA 3-70B in int8 with bf16 arithmetic, as in the book's chapter 8. */
static void open(const char *model, const char *slice, int64_t tp, double batch,
                 fixture *f)
{
    f->cx = ridge_ctx_open();
    f->request = service_request(f->cx, fixture_named(f->cx, model), slice);
    f->request.work = (ridge_service_work){.prompt_tokens = 8192, .output_tokens = 512};
    f->choice =
        (ridge_service_choice){.mode = RIDGE_SERVICE_MODE_AGGREGATED, .n_pools = 1};
    f->choice.pools[0] =
        (ridge_service_pool){.servers = 1,
                             .batch = batch,
                             .layout = {.tp = tp,
                                        .pp = 1,
                                        .ep = 1,
                                        .attention_dp = 1,
                                        .formats = {.weight = RIDGE_DTYPE_INT8,
                                                    .expert = RIDGE_DTYPE_INT8,
                                                    .compute = RIDGE_DTYPE_BF16,
                                                    .expert_compute = RIDGE_DTYPE_BF16,
                                                    .activation = RIDGE_DTYPE_BF16,
                                                    .cache = RIDGE_DTYPE_INT8,
                                                    .attention = RIDGE_DTYPE_BF16}}};
    ridge_service_rooflines_find(&f->request, &f->choice, &f->found);
}

#define AT(f, name) value_of((f), RIDGE_SERVICE_ROOFLINE_##name)

static double value_of(const fixture *f, ridge_service_roofline which)
{
    assert_true(f->found.applies[which]);
    return f->found.values[which];
}

static void a_step_of_the_books_service(void **state)
{
    (void)state;
    fixture f;
    open("llama-3-70b", "v5e:4x4", 16, 32, &f);
    const double kv = 32 * 8448.0 * 163840;
    const double hbm = f.request.slice->chip->hbm_bytes_per_s;
    const double peak = ridge_chip_peak(f.request.slice->chip, RIDGE_DTYPE_BF16, NULL);
    assert_near(AT(&f, GENERATION_CACHE), kv / (16 * hbm), 1e-9);
    assert_near(AT(&f, GENERATION_STEP),
                AT(&f, GENERATION_CACHE) + AT(&f, GENERATION_LOAD), 1e-12);
    assert_near(AT(&f, GENERATION_RATE), 2 / AT(&f, GENERATION_STEP), 1e-12);
    assert_near(AT(&f, GENERATION_CRITICAL), peak / hbm / 2, 1e-12); /* about 120 */
    assert_near(AT(&f, GENERATION_INTENSITY), 2 * 64 / 8.0, 1e-12);
    assert_near(AT(&f, FLOW_ENDING), 32 / 512.0, 1e-12);
    assert_near(AT(&f, FLOW_EVICTED), 32 * 8704 / 512.0, 1e-12);
    assert_near(AT(&f, FLOW_SERVERS),
                AT(&f, PROMPT_PREFILL) * 32 / (AT(&f, GENERATION_STEP) * 512), 1e-12);
    ridge_ctx_close(f.cx);
}

/* The way of the book: F / (B beta) and F / alpha on each axis. */
static void tensor_parallelism_stops_where_the_network_binds(void **state)
{
    (void)state;
    fixture f;
    open("llama-3-70b", "v5e:16x16", 16, 64, &f);
    const ridge_chip *chip = f.request.slice->chip;
    const double net = 2 * f.request.slice->axes[0].bytes_per_s;
    assert_near(f.found.axes, 1, 0);
    assert_near(f.found.axis_bytes_per_s, net, 1e-12);
    assert_near(AT(&f, TP_COMPUTE),
                28672 * net / ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL), 1e-12);
    assert_near(AT(&f, TP_MEMORY), 28672 / (64 * chip->hbm_bytes_per_s / net) / 2,
                1e-12); /* half: weights of one byte */
    assert_near(AT(&f, TP_HOPS),
                64 * 8192 * 2.0 / (net / 2 * f.request.slice->axes[0].latency_s), 1e-9);
    assert_near(AT(&f, TP_HEADS), 8, 0);
    assert_near(AT(&f, TP_WEIGHTS) / AT(&f, TP_NETWORK), AT(&f, TP_MEMORY) / 16,
                1e-12); /* equal where they meet */
    ridge_ctx_close(f.cx);
}

static void three_axes_are_the_books(void **state)
{
    (void)state;
    fixture f;
    open("llama-3-70b", "v5p:4x4x4", 64, 64, &f);
    const double net = f.found.axis_bytes_per_s;
    const ridge_stationary_2d two =
        ridge_roofline_stationary_2d(64, 8192, 28672, 64, 2, net);
    assert_near(f.found.axes, 3, 0);
    assert_near(AT(&f, WEIGHTS_FROM), 18 * 28672 / 8192.0, 1e-12);
    assert_near(AT(&f, WEIGHTS_D_WAYS), two.x, 1e-12);
    assert_near(AT(&f, WEIGHTS_TWO), two.time_s, 1e-12);
    assert_near(AT(&f, WEIGHTS_ONE), two.time_1d_s, 1e-12);
    /* At the ways from which two axes pay both take as long. */
    const ridge_stationary_axes axes = {2, 1};
    const ridge_stationary_2d even = ridge_roofline_stationary_on(
        &axes, ridge_roofline_stationary_on_from(&axes, 8192, 28672), 8192, 28672, 1);
    assert_near(even.time_s, even.time_1d_s, 1e-12);
    ridge_ctx_close(f.cx);
}

static void gathering_pays_where_its_bytes_are_fewer(void **state)
{
    (void)state;
    fixture f;
    open("llama-3-70b", "v5p:4x4x4", 64, 64, &f);
    const double from = AT(&f, WEIGHTS_GATHER_FROM);
    assert_near(AT(&f, WEIGHTS_STATIONARY) / AT(&f, WEIGHTS_GATHERED), 8192 / from,
                1e-9);
    ridge_ctx_close(f.cx);
}

/* Without a cache products grow as n^2 and scores as n^3. */
static void sampling_without_a_cache(void **state)
{
    (void)state;
    fixture f;
    open("llama-3-70b", "v5e:4x4", 16, 32, &f);
    const double n = 8704;
    assert_near(AT(&f, SAMPLING_NAIVE_LINEAR) / AT(&f, SAMPLING_LINEAR), (n + 1) / 2,
                1e-12);
    assert_near(AT(&f, SAMPLING_NAIVE_SCORES) / AT(&f, SAMPLING_SCORES), n / 3, 1e-3);
    assert_near(AT(&f, SAMPLING_SCORES), 80 * 2 * 64 * 256.0 * n * n / 2, 1e-9);
    ridge_ctx_close(f.cx);
}

/* The sum over every token, one by one, where windows end within. */
static void windows_are_capped_in_the_sum(void **state)
{
    (void)state;
    fixture f;
    open("gpt-oss-20b", "h100:1x1", 1, 32, &f);
    const ridge_model *m = f.request.model;
    double sum = 0;
    for (int t = 1; t <= 8704; t++) {
        for (int i = 0; i < m->n_layers; i++)
            sum += (double)m->layers[i].count * t *
                   ridge_layer_scores_flops(&m->layers[i], t, true);
    }
    assert_near(AT(&f, SAMPLING_NAIVE_SCORES), sum, 1e-3);
    ridge_ctx_close(f.cx);
}

static void a_cached_prefix_is_left_out(void **state)
{
    (void)state;
    fixture f;
    open("llama-3-70b", "v5e:4x4", 16, 32, &f);
    const double whole = AT(&f, PROMPT_LINEAR);
    f.request.work.cached_tokens = 2048;
    ridge_service_rooflines_find(&f.request, &f.choice, &f.found);
    assert_near(AT(&f, PROMPT_SHARE), 0.75, 1e-12);
    assert_near(AT(&f, PROMPT_LINEAR) + AT(&f, PROMPT_SAVED), whole, 1e-12);
    ridge_ctx_close(f.cx);
}

static void one_chip_has_no_network(void **state)
{
    (void)state;
    fixture f;
    open("llama-3-8b", "h100:1x1", 1, 32, &f);
    assert_false(f.found.applies[RIDGE_SERVICE_ROOFLINE_TP_MEMORY]);
    assert_false(f.found.applies[RIDGE_SERVICE_ROOFLINE_WEIGHTS_TWO]);
    assert_true(AT(&f, TP_WEIGHTS) > 0);
    ridge_ctx_close(f.cx);
}

/* Nodes share what leaves them; a mixture's experts have a critical batch of their
 * own, and no single product. */
static void switches_and_mixtures(void **state)
{
    (void)state;
    fixture f;
    open("llama-3-70b", "h100:2x8", 16, 32, &f);
    const ridge_slice *s = f.request.slice;
    assert_near(f.found.axes, 1, 0);
    assert_near(f.found.axis_bytes_per_s,
                fmin(s->axes[0].bytes_per_s, 8 * s->axes[1].bytes_per_s), 1e-12);
    ridge_ctx_close(f.cx);
    open("deepseek-v3", "h100:1x8", 8, 32, &f);
    assert_near(AT(&f, GENERATION_CRITICAL_EXPERTS) / AT(&f, GENERATION_CRITICAL),
                256 / 8.0, 1e-12);
    assert_false(f.found.applies[RIDGE_SERVICE_ROOFLINE_TP_WEIGHTS]);
    assert_near(AT(&f, GENERATION_INTENSITY), 2 * 128 * (512 + 576) / 576.0, 1e-12);
    ridge_ctx_close(f.cx);
}

/* Experts weigh what their own format does, and run in their own arithmetic; an
 * iteration's other matrices do not. */
/* Fault: a step of one sequence was told to read all experts, and to take longer than
 * what was expected of it. */
static void experts_that_no_sequence_takes_are_not_read(void **state)
{
    (void)state;
    fixture f;
    const double batches[] = {1, 3, 32};
    for (size_t i = 0; i < RIDGE_COUNT_OF(batches); i++) {
        open("mixtral-8x7b", "h100:1x8", 8, batches[i], &f);
        const ridge_params p = ridge_model_params(f.request.model);
        const double read = 1 - pow(0.75, batches[i]); /* 2 of 8 */
        const double bytes =
            (double)(p.total - p.experts) + (double)p.experts * read; /* int8 */
        assert_near(AT(&f, GENERATION_LOAD),
                    bytes / (8 * f.request.slice->chip->hbm_bytes_per_s), 1e-9);
        assert_near(f.found.service.weight_bytes, (double)p.total, 1e-12);
        ridge_ctx_close(f.cx);
    }
}

static void experts_have_formats_of_their_own(void **state)
{
    (void)state;
    fixture f;
    open("mixtral-8x7b", "h100:1x8", 8, 32, &f);
    ridge_serving_formats *formats = &f.choice.pools[0].layout.formats;
    const ridge_params p = ridge_model_params(f.request.model);
    const ridge_chip *chip = f.request.slice->chip;
    const double bf16 = ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL);
    const double fp8 = ridge_chip_peak(chip, RIDGE_DTYPE_FP8, NULL);
    const double others = (double)(p.matmul_active - p.experts_active);
    formats->weight = RIDGE_DTYPE_BF16;
    formats->expert = RIDGE_DTYPE_FP8;
    formats->expert_compute = RIDGE_DTYPE_FP8;
    ridge_service_rooflines_find(&f.request, &f.choice, &f.found);
    assert_near(f.found.service.weight_bytes,
                2 * (double)(p.total - p.experts) + (double)p.experts, 1e-12);
    assert_near(AT(&f, GENERATION_FLOPS),
                2 * 32 * (others / bf16 + (double)p.experts_active / fp8) / 8, 1e-12);
    assert_near(AT(&f, TP_COMPUTE), f.found.d_ff * f.found.axis_bytes_per_s / fp8,
                1e-12);
    const double layers = 2 * (double)(p.attention + p.mlp) + (double)p.experts;
    assert_near(AT(&f, WEIGHTS_GATHER_FROM),
                layers / (double)f.request.model->layer_count /
                    (8 * (double)f.request.model->d_model),
                1e-12);
    ridge_ctx_close(f.cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_of_the_books_service),
        cmocka_unit_test(tensor_parallelism_stops_where_the_network_binds),
        cmocka_unit_test(three_axes_are_the_books),
        cmocka_unit_test(gathering_pays_where_its_bytes_are_fewer),
        cmocka_unit_test(sampling_without_a_cache),
        cmocka_unit_test(windows_are_capped_in_the_sum),
        cmocka_unit_test(a_cached_prefix_is_left_out),
        cmocka_unit_test(one_chip_has_no_network),
        cmocka_unit_test(switches_and_mixtures),
        cmocka_unit_test(experts_that_no_sequence_takes_are_not_read),
        cmocka_unit_test(experts_have_formats_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
