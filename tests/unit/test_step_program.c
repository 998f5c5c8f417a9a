/* Steps of chips that overlap nothing: sums over the program that runs. */
#include "near.h"
#include "train_fixture.h"

/* A slice of the catalogue whose software neither fuses nor overlaps. */
typedef struct plain_slice {
    ridge_measured_chip measured;
    ridge_chip chip;
    ridge_slice slice;
} plain_slice;

static void plain_open(ridge_ctx *cx, const char *text, plain_slice *out)
{
    out->measured = (ridge_measured_chip){
        .source = "calibrate", .date = "2025", .processor_share = 1};
    out->slice = *train_slice(cx, text);
    out->chip = *out->slice.chip;
    out->chip.measured = &out->measured;
    out->slice.chip = &out->chip;
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

static ridge_train_price price(ridge_ctx *cx, const char *slice,
                               const ridge_layout *layout)
{
    plain_slice s;
    plain_open(cx, slice, &s);
    const ridge_train_request request =
        train_request(train_dense_model(cx), &s.slice, 16, 512);
    return train_price_of(cx, &request, layout);
}

static void parts_sum_to_the_step_and_nothing_hides(void **state)
{
    const ridge_layout l = train_layout(1, 1, 1, 1, 1);
    const ridge_train_price p = price(*state, "h100:1", &l);
    assert_near(ridge_step_total_s(&p.parts), p.step_time_s, 1e-12);
    assert_near(p.hidden_communication_s, 0, 0);
    assert_true(p.parts.matmul_s > 0 && p.parts.vector_s > 0);
    assert_true(p.parts.optimizer_s > 0);
    assert_near(p.parts.tp_s + p.parts.dp_s + p.parts.fsdp_s, 0, 0);
    assert_true(p.bound_step_time_s <= p.step_time_s);
}

static void microbatches_repeat_all_but_the_update(void **state)
{
    ridge_layout l = train_layout(1, 1, 1, 1, 1);
    const ridge_train_price many = price(*state, "h100:1", &l);
    l.microbatch_seqs = 16;
    const ridge_train_price one = price(*state, "h100:1", &l);
    assert_int_equal(many.microbatches, 16);
    assert_int_equal(one.microbatches, 1);
    assert_near(many.parts.optimizer_s, one.parts.optimizer_s, 1e-12);
    assert_true(many.parts.matmul_s > one.parts.matmul_s);
    assert_true(many.parts.matmul_s < 16 * one.parts.matmul_s);
}

static void replicas_reduce_once_and_shards_each_time(void **state)
{
    ridge_layout l = train_layout(2, 1, 1, 1, 1);
    const ridge_train_price dp = price(*state, "h100:2", &l);
    l = train_layout(1, 2, 1, 1, 1);
    l.zero_stage = 1;
    const ridge_train_price zero1 = price(*state, "h100:2", &l);
    l.zero_stage = 2;
    const ridge_train_price zero2 = price(*state, "h100:2", &l);
    l.zero_stage = 3;
    const ridge_train_price zero3 = price(*state, "h100:2", &l);
    assert_true(dp.parts.dp_s > 0);
    assert_near(dp.parts.fsdp_s, 0, 0);
    assert_near(zero1.parts.fsdp_s, 0, 0);
    assert_true(zero1.parts.optimizer_s < dp.parts.optimizer_s);
    assert_true(zero2.parts.fsdp_s > 0 && zero2.parts.dp_s > 0);
    assert_true(zero3.parts.fsdp_s > zero2.parts.fsdp_s);
    assert_near(zero3.parts.dp_s, 0, 0);
}

static void tensor_parallel_exchanges_are_exposed(void **state)
{
    ridge_layout l = train_layout(1, 1, 2, 1, 1);
    const ridge_train_price plain = price(*state, "h100:2", &l);
    l.has_tp_overlap = true;
    const ridge_train_price asked = price(*state, "h100:2", &l);
    assert_true(plain.parts.tp_s > 0);
    assert_near(asked.step_time_s, plain.step_time_s, 1e-12);
}

static void what_is_not_kept_is_computed_again(void **state)
{
    ridge_layout l = train_layout(1, 1, 1, 1, 1);
    const ridge_train_price none = price(*state, "h100:1", &l);
    l.remat = RIDGE_REMAT_SELECTIVE; /* scores are never kept: nothing more to do */
    const ridge_train_price selective = price(*state, "h100:1", &l);
    l.remat = RIDGE_REMAT_MATMULS;
    const ridge_train_price matmuls = price(*state, "h100:1", &l);
    l.remat = RIDGE_REMAT_FULL;
    const ridge_train_price full = price(*state, "h100:1", &l);
    assert_near(none.parts.recompute_s, 0, 0);
    assert_near(selective.parts.recompute_s, 0, 0);
    assert_true(matmuls.parts.recompute_s > 0);
    assert_true(full.parts.recompute_s > matmuls.parts.recompute_s);
    assert_true(full.parts.recompute_s <
                full.parts.matmul_s + full.parts.attention_s + full.parts.vector_s);
}

static void a_ring_in_turns_waits_for_the_fullest(void **state)
{
    plain_slice s;
    plain_open(*state, "h100:2", &s);
    const ridge_train_request request =
        train_request(train_dense_model(*state), &s.slice, 16, 4096);
    const ridge_layout l = train_layout(1, 1, 1, 2, 1);
    const ridge_train_price turns = train_price_of(*state, &request, &l);
    s.measured.is_balanced = true;
    const ridge_train_price balanced = train_price_of(*state, &request, &l);
    assert_true(turns.parts.attention_s > 1.2 * balanced.parts.attention_s);
    assert_true(turns.parts.attention_s < 1.5 * balanced.parts.attention_s);
    assert_true(turns.parts.cp_s > 0);
}

static void pipelines_have_their_bubble(void **state)
{
    ridge_layout l = train_layout(1, 1, 1, 1, 2);
    const ridge_train_price plain = price(*state, "h100:2", &l);
    l.vpp = 2;
    const ridge_train_price interleaved = price(*state, "h100:2", &l);
    assert_true(plain.parts.bubble_s > 0);
    /* Half; and the head, in the last chunk alone, is waited for by the others. */
    assert_true(interleaved.parts.bubble_s < plain.parts.bubble_s * 0.7);
    assert_true(interleaved.parts.bubble_s > plain.parts.bubble_s * 0.45);
}

static void ranks_that_wait_leave_shared_processors_to_others(void **state)
{
    plain_slice s;
    plain_open(*state, "h100:4", &s);
    const ridge_train_request request =
        train_request(train_dense_model(*state), &s.slice, 16, 512);
    ridge_layout l = train_layout(1, 1, 1, 1, 4);
    l.microbatch_seqs = 8;
    const ridge_train_price own = train_price_of(*state, &request, &l);
    s.measured.processor_share = 0.75;
    const ridge_train_price most = train_price_of(*state, &request, &l);
    s.measured.processor_share = 0.25;
    const ridge_train_price shared = train_price_of(*state, &request, &l);
    assert_true(most.step_time_s < own.step_time_s);
    assert_true(shared.step_time_s < most.step_time_s);
    assert_near(shared.parts.bubble_s, 0, 0);
}

static void the_search_finds_what_pricing_says(void **state)
{
    plain_slice s;
    ridge_train_result result;
    plain_open(*state, "h100:4", &s);
    ridge_train_request request =
        train_request(train_moe_model(*state), &s.slice, 16, 512);
    assert_int_equal(ridge_train_search(*state, &request, &result), RIDGE_OK);
    assert_true(result.n_layouts > 0);
    for (int i = 0; i < result.n_layouts; i++) {
        const ridge_train_price again =
            train_price_of(*state, &request, &result.layouts[i].layout);
        assert_near(again.step_time_s, result.layouts[i].step_time_s, 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_sum_to_the_step_and_nothing_hides,
                                        open_ctx, close_ctx),
        cmocka_unit_test_setup_teardown(microbatches_repeat_all_but_the_update,
                                        open_ctx, close_ctx),
        cmocka_unit_test_setup_teardown(replicas_reduce_once_and_shards_each_time,
                                        open_ctx, close_ctx),
        cmocka_unit_test_setup_teardown(tensor_parallel_exchanges_are_exposed, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(what_is_not_kept_is_computed_again, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(a_ring_in_turns_waits_for_the_fullest, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(pipelines_have_their_bubble, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(
            ranks_that_wait_leave_shared_processors_to_others, open_ctx, close_ctx),
        cmocka_unit_test_setup_teardown(the_search_finds_what_pricing_says, open_ctx,
                                        close_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
