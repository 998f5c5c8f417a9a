/* The price of one layout: small cases by hand, sums of parts, reasons for refusal. */
#include "train_fixture.h"

#include <math.h>

/* A chip of round numbers that reaches its peaks: every time is a plain quotient. */
typedef struct plain {
    ridge_chip chip;
    ridge_slice slice;
    ridge_train_request request;
} plain;

static void open_plain(ridge_ctx *cx, const char *slice, const ridge_model *model,
                       double batch_seqs, plain *out)
{
    out->slice = *train_slice(cx, slice);
    out->chip = *out->slice.chip;
    out->slice.chip = &out->chip;
    out->request = train_request(model, &out->slice, batch_seqs, 2048);
}

static void parts_sum(const ridge_train_price *p)
{
    double step_s = 0;
    double bytes = 0;
    for (int i = 0; i < RIDGE_STEP_COUNT; i++)
        step_s += ridge_step_get(&p->parts, i);
    for (int i = 0; i < RIDGE_MEMORY_COUNT; i++)
        bytes += ridge_memory_part_get(&p->memory, i);
    assert_near(step_s, p->step_time_s, 1e-12);
    assert_near(bytes, p->peak_memory_bytes, 1e-12);
    assert_near(ridge_step_total_s(&p->parts), p->step_time_s, 0);
    assert_near(ridge_memory_total_bytes(&p->memory), p->peak_memory_bytes, 0);
}

static void one_chip_only_computes(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100", train_dense_model(cx), 4, &p);
    const ridge_layout layout = train_layout(1, 1, 1, 1, 1);
    const ridge_train_price price = train_price_of(cx, &p.request, &layout);
    assert_int_equal(price.fit, RIDGE_FIT_OK);
    assert_int_equal(price.microbatches, 4);
    assert_int_equal(price.padded_seqs, 0);
    parts_sum(&price);
    const ridge_step_parts *t = &price.parts;
    assert_true(t->tp_s == 0 && t->cp_s == 0 && t->ep_s == 0 && t->fsdp_s == 0);
    assert_true(t->dp_s == 0 && t->pp_s == 0 && t->bubble_s == 0);
    assert_true(t->recompute_s == 0 && t->slowdown_s == 0);
    assert_true(price.hidden_communication_s == 0);
    /* matmuls cannot be faster than their FLOPs at the peak */
    const ridge_flops f = ridge_model_flops_forward(p.request.model, 2048, true);
    const double flops = 3 * (f.total - f.attention_scores) * 4 * 2048;
    const double floor_s = flops / ridge_chip_peak(&p.chip, RIDGE_DTYPE_BF16, NULL);
    assert_true(t->matmul_s > floor_s && t->matmul_s < 5 * floor_s);
}

static void state_of_one_chip_is_counted_by_hand(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100", train_dense_model(cx), 4, &p);
    const ridge_layout layout = train_layout(1, 1, 1, 1, 1);
    const ridge_train_price price = train_price_of(cx, &p.request, &layout);
    const double params = (double)ridge_model_params(p.request.model).total;
    assert_near(price.memory.weights_bytes, 2 * params, 1e-4);
    assert_near(price.memory.gradients_bytes, 4 * params, 1e-4);
    assert_near(price.memory.optimizer_bytes, 12 * params, 1e-4);
    assert_near(price.memory.gathered_bytes, 0, 0);
    /* 2 bytes of logits and 4 of their softmax for each of 2048 tokens */
    assert_near(price.memory.logits_bytes, 2048.0 * 32000 * 6, 1e-12);
}

static void zero_stages_cut_their_part_of_the_state(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100:1x8", train_dense_model(cx), 8, &p);
    ridge_layout layout = train_layout(8, 1, 1, 1, 1);
    const ridge_train_price none = train_price_of(cx, &p.request, &layout);
    layout = train_layout(1, 8, 1, 1, 1);
    for (layout.zero_stage = 1; layout.zero_stage <= 3; layout.zero_stage++) {
        const ridge_train_price z = train_price_of(cx, &p.request, &layout);
        const double gradients = layout.zero_stage >= 2 ? 8 : 1;
        assert_near(z.memory.optimizer_bytes, none.memory.optimizer_bytes / 8, 1e-12);
        assert_near(z.memory.gradients_bytes, none.memory.gradients_bytes / gradients,
                    1e-12);
        if (layout.zero_stage < 3)
            assert_near(z.memory.weights_bytes, none.memory.weights_bytes, 1e-12);
        else /* the master copy is what is kept; the rest is gathered */
            assert_true(z.memory.weights_bytes == 0 && z.memory.gathered_bytes > 0);
    }
}

/* A model without embedding and head costs, so that stages are alike: the head's
 * vocabulary is a single token. */
static void the_bubble_is_pp_less_one_over_m(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_model(
        cx, "{'model_type': 'llama', 'hidden_size': 4096, 'num_hidden_layers': 8,"
            " 'num_attention_heads': 32, 'intermediate_size': 16384, 'vocab_size': 1}");
    plain p;
    open_plain(cx, "h100:1x4", model, 32, &p);
    ridge_layout layout = train_layout(1, 1, 1, 1, 4);
    for (layout.vpp = 1; layout.vpp <= 2; layout.vpp++) {
        const ridge_train_price price = train_price_of(cx, &p.request, &layout);
        assert_int_equal(price.microbatches, 32);
        parts_sum(&price);
        const double m = 32 * (double)layout.vpp;
        const double ideal_s = price.parts.matmul_s + price.parts.attention_s +
                               price.parts.vector_s + price.parts.pp_s;
        /* the head of one token still streams its input; ends send fewer messages */
        assert_near(price.parts.bubble_s, ideal_s * 3 / m, 0.05);
    }
}

static void microbatches_pad_what_does_not_divide(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100:1x4", train_dense_model(cx), 10, &p);
    ridge_layout layout = train_layout(4, 1, 1, 1, 1);
    ridge_train_price price = train_price_of(cx, &p.request, &layout);
    assert_int_equal(price.microbatches, 3); /* ceil(10 / 4) sequences of one */
    assert_int_equal(price.padded_seqs, 2);
    layout.microbatch_seqs = 2;
    price = train_price_of(cx, &p.request, &layout);
    assert_int_equal(price.microbatches, 2); /* 4 sequences for each of 4 replicas */
    assert_int_equal(price.padded_seqs, 6);
}

/* A layer of the model's, a map from 2 D to D and the head once more: FLOPs, products
 * and state. */
static void a_prediction_layer_is_a_layer_and_a_head(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100", train_dense_model(cx), 4, &p);
    const ridge_model *m = p.request.model;
    ridge_layout layout = train_layout(1, 1, 1, 1, 1);
    const ridge_train_price none = train_price_of(cx, &p.request, &layout);
    layout.mtp = 1;
    const ridge_train_price one = train_price_of(cx, &p.request, &layout);
    const double d = (double)m->d_model;
    const double vocab = (double)m->vocab;
    const ridge_flops f = ridge_model_flops_forward(m, 2048, true);
    const double layer = (f.total - f.unembedding) / (double)m->layer_count;
    const double flops = 3 * (layer + 2 * d * vocab + 4 * d * d);
    assert_near(ridge_model_flops_mtp(m, 2048, RIDGE_CONVENTION_MATMUL_CAUSAL), flops,
                1e-9);
    assert_near(one.model_flops_per_s_per_chip / one.tokens_per_s_per_chip -
                    none.model_flops_per_s_per_chip / none.tokens_per_s_per_chip,
                flops, 1e-9);
    parts_sum(&one);
    const double products = (flops - 3 * f.attention_scores / 4) / (3 * f.total);
    const double more = one.parts.matmul_s / none.parts.matmul_s - 1;
    assert_true(more > 0.8 * products && more < 1.4 * products);
    assert_near(one.parts.attention_s, 1.25 * none.parts.attention_s, 1e-9);
    const ridge_params params = ridge_model_params(m);
    const double layers =
        (double)(params.total - params.embedding - params.unembedding) / 4;
    const double added = layers + d * (2 * d + 3);
    const double state_bytes = one.memory.optimizer_bytes - none.memory.optimizer_bytes;
    assert_near(state_bytes, 12 * added, 1e-3);
    assert_near(one.memory.logits_bytes, 2 * none.memory.logits_bytes, 1e-12);
}

/* The last stage alone does more, and has the token table. */
static void prediction_layers_are_on_the_last_stage(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100:1x2", train_dense_model(cx), 8, &p);
    ridge_layout layout = train_layout(1, 1, 1, 1, 2);
    const double none = train_price_of(cx, &p.request, &layout).step_time_s;
    layout.mtp = 1;
    const ridge_train_price even = train_price_of(cx, &p.request, &layout);
    layout.first_layers = 3;
    layout.last_layers = 1;
    const ridge_train_price less = train_price_of(cx, &p.request, &layout);
    assert_true(even.step_time_s > none);
    assert_true(less.step_time_s < even.step_time_s);
}

static void full_remat_repeats_the_forward_pass(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100", train_dense_model(cx), 4, &p);
    ridge_layout layout = train_layout(1, 1, 1, 1, 1);
    const ridge_train_price none = train_price_of(cx, &p.request, &layout);
    layout.remat = RIDGE_REMAT_FULL;
    const ridge_train_price full = train_price_of(cx, &p.request, &layout);
    const double forward_s =
        (none.parts.matmul_s + none.parts.attention_s + none.parts.vector_s) / 3;
    /* all but the head, which is a fifth of this model's products */
    assert_true(full.parts.recompute_s > 0.6 * forward_s);
    assert_true(full.parts.recompute_s < 1.0 * forward_s);
    assert_true(full.memory.activations_bytes < none.memory.activations_bytes / 4);
    assert_true(full.hfu > full.mfu && none.hfu < full.mfu * 1.5);
    assert_near(none.hfu, none.mfu, 0);
    assert_near(full.parts.matmul_s, none.parts.matmul_s, 0);
}

/* A flash backward does five products for the forward's two, at a lower rate. */
static void selective_remat_repeats_the_scores(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100", train_dense_model(cx), 4, &p);
    ridge_layout layout = train_layout(1, 1, 1, 1, 1);
    layout.remat = RIDGE_REMAT_SELECTIVE;
    const ridge_train_price price = train_price_of(cx, &p.request, &layout);
    assert_true(price.parts.recompute_s <= price.parts.attention_s / 3.5);
    assert_true(price.parts.recompute_s > price.parts.attention_s / 4.5);
}

static void rates_follow_from_the_step(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100:1x8", train_dense_model(cx), 16, &p);
    p.request.total_tokens = 1e9;
    p.request.usd_per_chip_hour = 3;
    const ridge_layout layout = train_layout(1, 8, 1, 1, 1);
    const ridge_train_price price = train_price_of(cx, &p.request, &layout);
    const double tokens = 16 * 2048;
    assert_near(price.tokens_per_s_per_chip, tokens / price.step_time_s / 8, 1e-12);
    assert_near(price.mfu,
                price.model_flops_per_s_per_chip /
                    ridge_chip_peak(&p.chip, RIDGE_DTYPE_BF16, NULL),
                1e-12);
    assert_near(price.days * RIDGE_DAY_S, ceil(1e9 / tokens) * price.step_time_s,
                1e-12);
    assert_near(price.chip_hours, price.days * 24 * 8, 1e-12);
    assert_near(price.usd, 3 * price.chip_hours, 1e-12);
    assert_true(price.has_total && price.has_usd);
    assert_true(ridge_step_get(&price.parts, price.bottleneck) >= price.parts.matmul_s);
}

/* Eight bits are told by bf16's peak, a run in fp32 by its own: it had looked half as
 * good on chips whose bf16 is twice as fast. */
static void mfu_is_of_the_peak_of_bf16_or_fp32(void **state)
{
    static const struct {
        ridge_precision precision;
        ridge_dtype peak;
    } rows[] = {{RIDGE_PRECISION_BF16, RIDGE_DTYPE_BF16},
                {RIDGE_PRECISION_FP8, RIDGE_DTYPE_BF16},
                {RIDGE_PRECISION_FP32, RIDGE_DTYPE_FP32}};
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100:1x8", train_dense_model(cx), 16, &p);
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        ridge_layout layout = train_layout(1, 8, 1, 1, 1);
        layout.precision = p.request.knobs.precision = rows[i].precision;
        const ridge_train_price price = train_price_of(cx, &p.request, &layout);
        assert_near(price.mfu * ridge_chip_peak(&p.chip, rows[i].peak, NULL),
                    price.model_flops_per_s_per_chip, 1e-12);
    }
}

/* A layout that is refused, with the reason. */
typedef struct refusal {
    ridge_layout layout;
    ridge_fit fit;
} refusal;

static void refused_layouts_say_why(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100:3x8", train_moe_model(cx), 24, &p);
    refusal all[] = {
        {train_layout(8, 1, 1, 1, 1), RIDGE_FIT_MESH},
        {train_layout(8, 1, 3, 1, 1), RIDGE_FIT_TP},
        {train_layout(4, 1, 1, 1, 6), RIDGE_FIT_LAYERS},
        {train_layout(8, 1, 1, 3, 1), RIDGE_FIT_SEQUENCE},
        {train_layout(24, 1, 1, 1, 1), RIDGE_FIT_MICROBATCH},
        {train_layout(24, 1, 1, 1, 1), RIDGE_FIT_EP},
        {train_layout(24, 1, 1, 1, 1), RIDGE_FIT_EP},
    };
    all[4].layout.microbatch_seqs = 2;
    all[5].layout.ep = 3; /* does not divide 8 experts */
    all[6].layout.ep = 16;
    for (size_t i = 0; i < RIDGE_COUNT_OF(all); i++) {
        const ridge_train_price price = train_price_of(cx, &p.request, &all[i].layout);
        assert_int_equal(price.fit, all[i].fit);
        assert_near(price.step_time_s, 0, 0);
        assert_true(ridge_fit_text(price.fit)[0] != '\0');
    }
    p.request.batch_tokens = 8 * 2048;
    const ridge_layout idle = train_layout(24, 1, 1, 1, 1);
    assert_int_equal(train_price_of(cx, &p.request, &idle).fit, RIDGE_FIT_IDLE);
}

static void degrees_that_do_not_lie_on_the_axes(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_model(
        cx, "{'model_type': 'llama', 'hidden_size': 1024, 'num_hidden_layers': 4,"
            " 'num_attention_heads': 9, 'head_dim': 64, 'intermediate_size': 4608,"
            " 'vocab_size': 9000}");
    plain p;
    open_plain(cx, "h100:9x8", model, 72, &p);
    const ridge_layout layout = train_layout(1, 8, 9, 1, 1);
    ridge_train_price price = train_price_of(cx, &p.request, &layout);
    assert_int_equal(price.fit, RIDGE_FIT_OK); /* 9 lies on the leaf, 8 in the node */
    ridge_layout beyond = layout;
    beyond.placement = 1000;
    assert_int_equal(ridge_train_price_one(cx, &p.request, &beyond, &price),
                     RIDGE_E_ARG);
    fixture_assert_message(cx, "placement 1000: h100:9x8 has 0 to 1");
}

static void over_memory_is_priced_all_the_same(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100", train_dense_model(cx), 4, &p);
    p.chip.hbm_bytes = p.chip.visible_bytes = 1e9;
    const ridge_layout layout = train_layout(1, 1, 1, 1, 1);
    const ridge_train_price price = train_price_of(cx, &p.request, &layout);
    assert_int_equal(price.fit, RIDGE_FIT_OVER_HBM);
    assert_true(price.step_time_s > 0 && price.peak_memory_bytes > 1e9);
    ridge_train_result result;
    assert_ok(cx, ridge_train_search(cx, &p.request, &result));
    assert_int_equal(result.n_layouts, 0);
    assert_true(result.has_nearest && result.nearest.peak_memory_bytes > 1e9);
    assert_true(result.nearest.peak_memory_bytes <= price.peak_memory_bytes);
}

/* Numbers of A and B of rank 16 in four layers of width 1024, 4 of 16 heads of 64 for
 * keys and values, 4096 within: all seven products, or the joint one of queries, keys
 * and values. */
static const double ALL_ADAPTERS =
    4 * 16 * (2 * (1024 + 1024.0) + 2 * (1024 + 256) + 3 * (1024 + 4096));
static const double QKV_ADAPTERS = 4 * 16 * (1024 + 1024 + 2 * 256.0);

/* Frozen weights have no gradients, no optimiser, and no products for them; adapters
 * have all three. */
static void frozen_weights_have_no_gradients(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100", train_dense_model(cx), 4, &p);
    ridge_layout layout = train_layout(1, 1, 1, 1, 1);
    const ridge_train_price whole = train_price_of(cx, &p.request, &layout);
    layout.optimizer = p.request.knobs.optimizer = RIDGE_OPTIMIZER_LORA;
    const ridge_train_price frozen = train_price_of(cx, &p.request, &layout);
    parts_sum(&frozen);
    const double params = (double)ridge_model_params(p.request.model).total;
    assert_near(frozen.memory.weights_bytes, 2 * (params + ALL_ADAPTERS), 1e-4);
    assert_near(frozen.memory.gradients_bytes, 4 * ALL_ADAPTERS, 1e-12);
    assert_near(frozen.memory.optimizer_bytes, 12 * ALL_ADAPTERS, 1e-12);
    assert_true(frozen.parts.optimizer_s < 0.1 * whole.parts.optimizer_s);
    /* two of three products of weights are left, and six small ones beside each */
    assert_true(frozen.parts.matmul_s > 0.66 * whole.parts.matmul_s);
    assert_true(frozen.parts.matmul_s < 1.5 * whole.parts.matmul_s);
}

/* What adapters add: at least the activations that they stream, whatever their rank;
 * and less beside fewer products. */
static void adapters_stream_what_is_beside_them(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100", train_dense_model(cx), 4, &p);
    ridge_layout layout = train_layout(1, 1, 1, 1, 1);
    layout.optimizer = p.request.knobs.optimizer = RIDGE_OPTIMIZER_LORA;
    const ridge_train_price all = train_price_of(cx, &p.request, &layout);
    layout.lora = (ridge_lora){64, RIDGE_LORA_ALL};
    const ridge_train_price wide = train_price_of(cx, &p.request, &layout);
    layout.lora = (ridge_lora){0, RIDGE_LORA_QKV};
    const ridge_train_price few = train_price_of(cx, &p.request, &layout);
    const double tokens = p.request.batch_tokens;
    /* the sums alone: 3 x 2 bytes of each output forward, of each input back */
    const double bytes =
        4 * 6 * ((4 * 1024 + 2 * 256 + 2 * 4096.0) + (6 * 1024 + 4096.0)) -
        4 * 6 * ((1024 + 2 * 256.0) + 1024);
    assert_true(all.parts.vector_s - few.parts.vector_s >
                tokens * bytes / p.chip.hbm_bytes_per_s);
    assert_near(few.memory.gradients_bytes, 4 * QKV_ADAPTERS, 1e-12);
    assert_true(few.parts.matmul_s < all.parts.matmul_s);
    assert_near(wide.memory.gradients_bytes, 4 * 4 * ALL_ADAPTERS, 1e-12);
    assert_near(wide.parts.vector_s, all.parts.vector_s, 1e-12);
    layout.lora = (ridge_lora){0, RIDGE_LORA_Q | RIDGE_LORA_V};
    const ridge_train_price two = train_price_of(cx, &p.request, &layout);
    assert_near(two.memory.gradients_bytes, 4 * 4 * 16 * (2 * 1024 + 1024 + 256.0),
                1e-12);
    assert_true(wide.parts.matmul_s > all.parts.matmul_s);
}

/* What fits is what drivers report, which is less than the module's name says. */
static void training_fits_in_what_drivers_report(void **state)
{
    ridge_ctx *cx = *state;
    plain p;
    open_plain(cx, "h100", train_dense_model(cx), 4, &p);
    const ridge_layout layout = train_layout(1, 1, 1, 1, 1);
    p.chip.visible_bytes = 1e9;
    assert_int_equal(train_price_of(cx, &p.request, &layout).fit, RIDGE_FIT_OVER_HBM);
    p.chip.visible_bytes = 0;
    assert_int_equal(train_price_of(cx, &p.request, &layout).fit, RIDGE_FIT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_chip_only_computes),
        cmocka_unit_test(state_of_one_chip_is_counted_by_hand),
        cmocka_unit_test(zero_stages_cut_their_part_of_the_state),
        cmocka_unit_test(the_bubble_is_pp_less_one_over_m),
        cmocka_unit_test(microbatches_pad_what_does_not_divide),
        cmocka_unit_test(a_prediction_layer_is_a_layer_and_a_head),
        cmocka_unit_test(prediction_layers_are_on_the_last_stage),
        cmocka_unit_test(full_remat_repeats_the_forward_pass),
        cmocka_unit_test(selective_remat_repeats_the_scores),
        cmocka_unit_test(rates_follow_from_the_step),
        cmocka_unit_test(mfu_is_of_the_peak_of_bf16_or_fp32),
        cmocka_unit_test(refused_layouts_say_why),
        cmocka_unit_test(degrees_that_do_not_lie_on_the_axes),
        cmocka_unit_test(over_memory_is_priced_all_the_same),
        cmocka_unit_test(frozen_weights_have_no_gradients),
        cmocka_unit_test(adapters_stream_what_is_beside_them),
        cmocka_unit_test(training_fits_in_what_drivers_report),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
