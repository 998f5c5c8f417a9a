/* What a software stack makes of a step: each member moves its own parts. */
#include "train_fixture.h"

#include "ridge/hardware_stack.h"

static const ridge_stack tuned = {
    .practice = {-1, -1, -1, -1, -1, NULL}, .stream_passes = 1, .kept_passes = 1};

static ridge_train_price price_with(ridge_ctx *cx, const ridge_model *model,
                                    const ridge_stack *stack, ridge_remat remat)
{
    ridge_train_request request =
        train_request(model, train_slice(cx, "h100:1x8"), 64, 2048);
    request.stack = stack;
    ridge_layout layout = train_layout(1, 8, 1, 1, 1);
    layout.remat = remat;
    return train_price_of(cx, &request, &layout);
}

static void a_tuned_stack_changes_nothing(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = train_dense_model(cx);
    for (int r = 0; r < RIDGE_REMAT_COUNT; r++) {
        const double none_s = price_with(cx, model, NULL, (ridge_remat)r).step_time_s;
        assert_near(price_with(cx, model, &tuned, (ridge_remat)r).step_time_s, none_s,
                    1e-12);
    }
}

static void each_factor_scales_its_part(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = train_dense_model(cx);
    const ridge_step_parts one = price_with(cx, model, NULL, RIDGE_REMAT_NONE).parts;
    ridge_stack stack = tuned;
    stack.stream_passes = 3;
    stack.attention_time = (ridge_stack_factors){1, {{"h100", 2}}};
    stack.matmul_time = (ridge_stack_factors){1, {{"h100", 1.5}}};
    const ridge_step_parts more = price_with(cx, model, &stack, RIDGE_REMAT_NONE).parts;
    assert_near(more.attention_s, 2 * one.attention_s, 1e-12);
    assert_near(more.matmul_s, 1.5 * one.matmul_s, 1e-12);
    /* the gradients kept from microbatch to microbatch are one kernel anywhere */
    assert_true(more.vector_s > 2 * one.vector_s && more.vector_s < 3 * one.vector_s);
    stack.attention_time.of[0].chip = "a100";
    assert_near(price_with(cx, model, &stack, RIDGE_REMAT_NONE).parts.attention_s,
                one.attention_s, 1e-12);
}

static void attention_that_is_not_fused_streams_its_scores(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = train_dense_model(cx);
    ridge_stack stack = tuned;
    stack.attention = RIDGE_ATTENTION_UNFUSED;
    const ridge_train_price flash = price_with(cx, model, NULL, RIDGE_REMAT_NONE);
    const ridge_train_price price = price_with(cx, model, &stack, RIDGE_REMAT_NONE);
    assert_true(price.parts.attention_s > 2 * flash.parts.attention_s);
    assert_near(price.parts.matmul_s, flash.parts.matmul_s, 1e-12);
    /* at least 20 bytes a score over all layers and the eight chips, at the peak */
    const double scores = 4 * 16 * 2048.0 * 2048 * 64 / 8;
    const ridge_chip *chip = train_slice(cx, "h100:1x8")->chip;
    assert_true(price.parts.attention_s > 20 * scores / chip->hbm_bytes_per_s);
}

/* Heads of 66 are no whole rows of 16 bytes: their products run on the vector units,
 * for all else that heads of 64 take. */
static void heads_that_units_cannot_load_are_slow(void **state)
{
    ridge_ctx *cx = *state;
    double scores_s[2];
    ridge_stack stack = tuned;
    stack.attention = RIDGE_ATTENTION_UNFUSED;
    for (int i = 0; i < 2; i++) {
        const ridge_model *model = fixture_model(
            cx,
            "{'model_type': 'llama', 'hidden_size': 1024, 'num_hidden_layers': 4, "
            "'num_attention_heads': 16, 'num_key_value_heads': 16, 'head_dim': %d, "
            "'intermediate_size': 4096, 'vocab_size': 32000}",
            i == 0 ? 64 : 66);
        scores_s[i] = price_with(cx, model, &stack, RIDGE_REMAT_NONE).parts.attention_s;
    }
    assert_true(scores_s[1] > 1.5 * scores_s[0] && scores_s[1] < 20 * scores_s[0]);
}

/* Scales of rows: products slower by a twentieth, and their operands read twice. */
static void scales_of_rows_cost_reading(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_slice *slice = train_slice(cx, "h100:1x8");
    const ridge_train_request request =
        train_request(train_dense_model(cx), slice, 64, 2048);
    ridge_layout layout = train_layout(1, 8, 1, 1, 1);
    layout.precision = RIDGE_PRECISION_FP8;
    const ridge_train_price one = train_price_of(cx, &request, &layout);
    layout.precision = RIDGE_PRECISION_FP8_ROWS;
    const ridge_train_price rows = train_price_of(cx, &request, &layout);
    assert_true(rows.parts.matmul_s > one.parts.matmul_s / 0.95);
    assert_true(rows.parts.matmul_s < 2 * one.parts.matmul_s);
    assert_near(rows.parts.attention_s, one.parts.attention_s, 1e-12);
    assert_near(rows.peak_memory_bytes, one.peak_memory_bytes, 1e-12);
}

/* Eight ranks hand on their eighths one after the other, and all wait. */
static void updates_that_are_broadcast_are_waited_for(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request request =
        train_request(train_dense_model(cx), train_slice(cx, "a100:2x8"), 64, 2048);
    ridge_layout layout = train_layout(1, 16, 1, 1, 1);
    ridge_stack stack = tuned;
    layout.zero_stage = 1;
    request.stack = &stack;
    const double gathered_s = train_price_of(cx, &request, &layout).parts.dp_s;
    stack.broadcasts_updates = true;
    const double broadcast_s = train_price_of(cx, &request, &layout).parts.dp_s;
    assert_true(broadcast_s > gathered_s);
    layout.zero_stage = 3; /* nothing is updated elsewhere */
    const double sharded_s = train_price_of(cx, &request, &layout).step_time_s;
    stack.broadcasts_updates = false;
    assert_near(train_price_of(cx, &request, &layout).step_time_s, sharded_s, 1e-12);
}

static void selective_remat_is_what_the_stack_says(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = train_dense_model(cx);
    ridge_stack stack = tuned;
    stack.selective_matmuls = 0.5;
    const double attention_s =
        price_with(cx, model, &tuned, RIDGE_REMAT_SELECTIVE).parts.recompute_s;
    const double matmuls_s =
        price_with(cx, model, &tuned, RIDGE_REMAT_MATMULS).parts.recompute_s;
    const double full_s =
        price_with(cx, model, &tuned, RIDGE_REMAT_FULL).parts.recompute_s;
    const double half_s =
        price_with(cx, model, &stack, RIDGE_REMAT_SELECTIVE).parts.recompute_s;
    const double forward_s = full_s - matmuls_s; /* of the products */
    assert_near(half_s, 0.5 * forward_s + matmuls_s - attention_s, 1e-9);
}

static void small_experts_are_slow(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *moe = train_moe_model(cx);
    ridge_stack stack = tuned;
    stack.experts_half_width = 1024; /* the width of one */
    const double one_s = price_with(cx, moe, NULL, RIDGE_REMAT_NONE).parts.matmul_s;
    const double slow_s = price_with(cx, moe, &stack, RIDGE_REMAT_NONE).parts.matmul_s;
    assert_true(slow_s > 1.2 * one_s && slow_s < 2 * one_s);
    const ridge_model *dense = train_dense_model(cx);
    assert_near(price_with(cx, dense, &stack, RIDGE_REMAT_NONE).step_time_s,
                price_with(cx, dense, NULL, RIDGE_REMAT_NONE).step_time_s, 1e-12);
}

/* A layer lasts as long as its host works on it, at least; without experts the host is
 * ahead. */
static void layers_with_experts_wait_for_their_host(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *moe = train_moe_model(cx);
    const ridge_model *dense = train_dense_model(cx);
    ridge_stack stack = tuned;
    stack.experts_host_s = 1;
    const ridge_step_parts parts = price_with(cx, moe, &stack, RIDGE_REMAT_NONE).parts;
    const ridge_step_parts ahead = price_with(cx, moe, &tuned, RIDGE_REMAT_NONE).parts;
    assert_true(ahead.host_s == 0 && parts.host_s > 1);
    assert_near(parts.matmul_s, ahead.matmul_s, 1e-12);
    stack.experts_host_s = 1e-9;
    assert_true(price_with(cx, moe, &stack, RIDGE_REMAT_NONE).parts.host_s == 0);
    stack.experts_host_s = 1;
    assert_true(price_with(cx, dense, &stack, RIDGE_REMAT_NONE).parts.host_s == 0);
}

/* A layer of four products and two gates, in RMS norms: 6 x 2 + 2 + 7 + 1 + 10 + 2
 * calls forward, two for each back, and those of what is done again. */
static void an_eager_host_calls_for_every_operation(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *dense = train_dense_model(cx);
    const double layers = 4, microbatches = 8;
    ridge_stack stack = tuned;
    stack.call_s = 1;
    const ridge_train_price none = price_with(cx, dense, &stack, RIDGE_REMAT_NONE);
    const ridge_train_price full = price_with(cx, dense, &stack, RIDGE_REMAT_FULL);
    const double calls = layers * microbatches * 34;
    assert_near(full.parts.host_s - none.parts.host_s, calls - full.parts.recompute_s,
                1e-9);
    assert_true(none.parts.host_s < 3 * calls && none.parts.host_s > 2.99 * calls);
    stack.call_s = 1e-12; /* the chip is slower */
    assert_true(price_with(cx, dense, &stack, RIDGE_REMAT_FULL).parts.host_s == 0);
}

/* Beside the dispatch of the forward pass nothing is launched: of each exchange that is
 * one in four, and lasts on top of what the host takes. */
static void a_dispatch_lasts_on_top_of_its_host(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request request =
        train_request(train_moe_model(cx), train_slice(cx, "h100:8x2"), 64, 2048);
    ridge_layout layout = train_layout(1, 16, 1, 1, 1);
    ridge_stack stack = tuned;
    layout.ep = 8;
    stack.experts_host_s = 1;
    request.stack = &stack;
    layout.ep_dispatch = RIDGE_DISPATCH_COPIES;
    const ridge_step_parts slow = train_price_of(cx, &request, &layout).parts;
    layout.ep_dispatch = RIDGE_DISPATCH_ONCE;
    const ridge_step_parts fast = train_price_of(cx, &request, &layout).parts;
    assert_true(fast.ep_s < 0.9 * slow.ep_s);
    assert_near(slow.host_s + slow.ep_s - fast.host_s - fast.ep_s,
                0.25 * (slow.ep_s - fast.ep_s), 1e-6);
}

/* Four layers and eight microbatches; a backward pass has the launches of two forward
 * ones. */
static void a_blocked_host_delays_every_pass(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = train_dense_model(cx);
    ridge_stack stack = tuned;
    stack.launches_s = 0.001;
    const ridge_train_price tuned_price =
        price_with(cx, model, &tuned, RIDGE_REMAT_NONE);
    const ridge_train_price price = price_with(cx, model, &stack, RIDGE_REMAT_NONE);
    assert_near(price.parts.host_s, 4 * 8 * 3 * 0.001, 1e-12);
    assert_near(price.step_time_s - tuned_price.step_time_s, 4 * 8 * 3 * 0.001, 1e-9);
    assert_near(price_with(cx, model, &stack, RIDGE_REMAT_FULL).parts.host_s,
                4 * 8 * 4 * 0.001, 1e-12);
}

/* Ranks of TP that hold the same send a part each; with SP they hold parts anyway. */
static void sends_are_split_where_all_hold_the_same(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request request =
        train_request(train_dense_model(cx), train_slice(cx, "h100:2x8"), 8, 65536);
    ridge_layout layout = train_layout(1, 1, 8, 1, 2);
    ridge_stack stack = tuned;
    request.stack = &stack;
    const double whole_s = train_price_of(cx, &request, &layout).parts.pp_s;
    stack.splits_sends = true;
    const double split_s = train_price_of(cx, &request, &layout).parts.pp_s;
    assert_true(split_s > whole_s / 8 && split_s < whole_s / 2);
    layout.has_sp = true;
    const double part_s = train_price_of(cx, &request, &layout).parts.pp_s;
    assert_true(part_s < split_s); /* nothing is gathered */
    stack.splits_sends = false;
    assert_near(train_price_of(cx, &request, &layout).parts.pp_s, part_s, 1e-12);
}

static void shards_are_copied_in_and_out(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request request =
        train_request(train_dense_model(cx), train_slice(cx, "h100:1x8"), 64, 2048);
    ridge_layout layout = train_layout(1, 8, 1, 1, 1);
    ridge_stack stack = tuned;
    stack.shard_copy_bytes = 10;
    layout.zero_stage = 3;
    const double one_s = train_price_of(cx, &request, &layout).parts.vector_s;
    request.stack = &stack;
    const double more_s = train_price_of(cx, &request, &layout).parts.vector_s - one_s;
    stack.shard_copy_bytes = 20;
    const double most_s = train_price_of(cx, &request, &layout).parts.vector_s - one_s;
    assert_true(more_s > 0 && most_s > 1.5 * more_s && most_s < 2.01 * more_s);
    layout.zero_stage = 1;
    const double whole_s = train_price_of(cx, &request, &layout).parts.vector_s;
    request.stack = NULL;
    assert_near(train_price_of(cx, &request, &layout).parts.vector_s, whole_s, 1e-12);
}

/* A layer's products on an H200 and the casts of their operands: 18.98 ms with maxima
 * of earlier steps, 20.29 with their own, 22.88 in blocks (te-gemm-profiling-2026). */
static void recipes_differ_as_measured(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_model(
        cx, "{'model_type': 'llama', 'hidden_size': 4096, 'num_hidden_layers': 2, "
            "'num_attention_heads': 32, 'num_key_value_heads': 32, "
            "'intermediate_size': 14336, 'vocab_size': 4096}");
    const ridge_train_request request =
        train_request(model, train_slice(cx, "h200:1x8"), 32, 4096);
    const ridge_precision recipes[] = {RIDGE_PRECISION_FP8, RIDGE_PRECISION_FP8_CURRENT,
                                       RIDGE_PRECISION_FP8_BLOCKS};
    double matmul_s[RIDGE_COUNT_OF(recipes)];
    ridge_layout layout = train_layout(1, 8, 1, 1, 1);
    for (size_t i = 0; i < RIDGE_COUNT_OF(recipes); i++) {
        layout.precision = recipes[i];
        layout.microbatch_seqs = 4;
        matmul_s[i] = train_price_of(cx, &request, &layout).parts.matmul_s;
    }
    assert_true(matmul_s[1] > 1.03 * matmul_s[0] && matmul_s[1] < 1.15 * matmul_s[0]);
    assert_true(matmul_s[2] > 1.15 * matmul_s[0] && matmul_s[2] < 1.3 * matmul_s[0]);
}

static void memory_is_what_the_stack_keeps(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = train_dense_model(cx);
    const ridge_memory_parts one = price_with(cx, model, NULL, RIDGE_REMAT_NONE).memory;
    ridge_stack stack = tuned;
    stack.kept_passes = 1.5;
    stack.logit_bytes = 12;
    stack.has_two_gradients = true;
    const ridge_memory_parts more =
        price_with(cx, model, &stack, RIDGE_REMAT_NONE).memory;
    assert_near(more.activations_bytes, 1.5 * one.activations_bytes, 1e-12);
    assert_near(more.logits_bytes, 2 * one.logits_bytes, 1e-12);
    assert_near(more.gradients_bytes, 1.5 * one.gradients_bytes, 1e-12);
    /* softmax, mask and dropout of 16 heads over 2048 keys in each of 4 layers */
    stack = tuned;
    stack.attention = RIDGE_ATTENTION_UNFUSED;
    const ridge_memory_parts unfused =
        price_with(cx, model, &stack, RIDGE_REMAT_NONE).memory;
    assert_near(unfused.activations_bytes - one.activations_bytes,
                4 * 5.0 * 16 * 2048 * 2048, 1e-9);
    /* Half of the products' outputs is less than all that is kept otherwise. */
    stack = tuned;
    stack.selective_matmuls = 0.5;
    assert_true(
        price_with(cx, model, &stack, RIDGE_REMAT_SELECTIVE).memory.activations_bytes <
        0.7 * price_with(cx, model, NULL, RIDGE_REMAT_SELECTIVE)
                  .memory.activations_bytes);
}

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tuned_stack_changes_nothing),
        cmocka_unit_test(each_factor_scales_its_part),
        cmocka_unit_test(attention_that_is_not_fused_streams_its_scores),
        cmocka_unit_test(selective_remat_is_what_the_stack_says),
        cmocka_unit_test(small_experts_are_slow),
        cmocka_unit_test(heads_that_units_cannot_load_are_slow),
        cmocka_unit_test(scales_of_rows_cost_reading),
        cmocka_unit_test(updates_that_are_broadcast_are_waited_for),
        cmocka_unit_test(layers_with_experts_wait_for_their_host),
        cmocka_unit_test(an_eager_host_calls_for_every_operation),
        cmocka_unit_test(a_dispatch_lasts_on_top_of_its_host),
        cmocka_unit_test(a_blocked_host_delays_every_pass),
        cmocka_unit_test(sends_are_split_where_all_hold_the_same),
        cmocka_unit_test(shards_are_copied_in_and_out),
        cmocka_unit_test(recipes_differ_as_measured),
        cmocka_unit_test(memory_is_what_the_stack_keeps),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
