/* A layout's step as passes: they sum to what the layout is priced at. */
#include "train_fixture.h"

#include "ridge/plan_simulation.h"

#include <math.h>

/* Sums in another order. */
static const double SAME = 1e-9;

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

static ridge_train_step step_of(ridge_ctx *cx, const ridge_train_request *request,
                                const ridge_layout *layout)
{
    ridge_train_step step = {.stages = NULL};
    assert_ok(cx, ridge_train_step_of(cx, request, layout, &step));
    return step;
}

/* All of a stage, for one microbatch; sends apart. */
static double stage_s(const ridge_stage_work *w)
{
    return ridge_pass_work_s(&w->forward) + ridge_pass_work_s(&w->backward_input) +
           ridge_pass_work_s(&w->backward_weight);
}

static double hidden_s(const ridge_stage_work *w)
{
    double sum_s = 0;
    for (int i = 0; i < RIDGE_TRAFFIC_COUNT; i++)
        sum_s += w->forward.hidden_s[i] + w->backward_input.hidden_s[i] +
                 w->backward_weight.hidden_s[i];
    return sum_s;
}

/* One stage: m passes of it and what closes the step are the step. */
static void assert_sums(ridge_ctx *cx, const ridge_train_request *request,
                        const ridge_layout *layout)
{
    const ridge_train_step step = step_of(cx, request, layout);
    const ridge_step_end *end = &step.ends[0];
    const ridge_train_price *p = &step.price;
    const double m = (double)p->microbatches;
    const double closed_s = end->reduce_exposed_s + end->gather_exposed_s +
                            end->optimizer_s + end->slowdown_s;
    assert_int_equal(step.pipeline.ranks, 1);
    assert_near(m * stage_s(&step.stages[0]) + closed_s, p->step_time_s, SAME);
    assert_near(m * hidden_s(&step.stages[0]) + end->reduce_hidden_s +
                    end->gather_hidden_s,
                p->hidden_communication_s, SAME);
    assert_near(end->optimizer_s, p->parts.optimizer_s, SAME);
    assert_near(end->reduce_exposed_s + end->gather_exposed_s, p->parts.dp_s, SAME);
}

static void passes_sum_to_the_step(void **state)
{
    ridge_ctx *cx = *state;
    static const ridge_remat remats[] = {RIDGE_REMAT_NONE, RIDGE_REMAT_FULL};
    ridge_train_request r =
        train_request(train_dense_model(cx), train_slice(cx, "h100:2x8"), 64, 4096);
    for (int zero = 1; zero <= 3; zero++) {
        for (int i = 0; i < 4; i++) {
            ridge_layout l = train_layout(1, 4, 2, 2, 1);
            l.zero_stage = zero;
            l.has_sp = i % 2 == 1;
            l.has_tp_overlap = i / 2 == 1;
            l.remat = remats[i % 2];
            assert_sums(cx, &r, &l);
        }
    }
    r.model = train_moe_model(cx);
    ridge_layout l = train_layout(2, 4, 2, 1, 1);
    l.ep = 4;
    assert_sums(cx, &r, &l);
}

/* Chunks of a rank are shares of its stage; embedding and head are whole. */
static void chunks_are_shares_of_a_stage(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_train_request r =
        train_request(train_dense_model(cx), train_slice(cx, "h100:1x8"), 64, 4096);
    ridge_layout l = train_layout(4, 1, 1, 1, 2);
    const ridge_train_step whole = step_of(cx, &r, &l);
    l.vpp = 2;
    const ridge_train_step cut = step_of(cx, &r, &l);
    assert_int_equal(cut.pipeline.kind, RIDGE_SCHEDULE_INTERLEAVED);
    assert_int_equal(cut.pipeline.chunks, 2);
    for (int rank = 0; rank < 2; rank++) {
        assert_near(stage_s(&cut.stages[rank]) + stage_s(&cut.stages[2 + rank]),
                    stage_s(&whole.stages[rank]), SAME);
        assert_near(cut.stages[rank].layers, 1, 0);
    }
    assert_true(cut.stages[0].has_embedding && !cut.stages[0].has_head);
    assert_true(cut.stages[3].has_head && !cut.stages[1].has_head);
    assert_true(stage_s(&cut.stages[3]) > stage_s(&cut.stages[1]));
}

static void assert_groups(ridge_ctx *cx, const ridge_train_request *r,
                          const ridge_layout *l, int64_t chips, int64_t replicas)
{
    const ridge_train_step step = step_of(cx, r, l);
    assert_true(step.group_chips == chips);
    assert_true(step.replicas == replicas);
}

/* Who waits for whom within a pass. */
static void groups_are_what_exchanges_in_a_pass(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request r =
        train_request(train_dense_model(cx), train_slice(cx, "h100:2x8"), 64, 4096);
    ridge_layout l = train_layout(2, 2, 2, 1, 2);
    assert_groups(cx, &r, &l, 4, 2);
    l.zero_stage = 1;
    assert_groups(cx, &r, &l, 2, 4);
    l = train_layout(2, 2, 2, 2, 1);
    l.zero_stage = 1;
    assert_groups(cx, &r, &l, 4, 4);
    r.model = train_moe_model(cx);
    l = train_layout(8, 1, 2, 1, 1);
    l.ep = 8;
    assert_groups(cx, &r, &l, 8, 2);
}

static void what_is_not_legal_is_refused(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_step step;
    const ridge_train_request r =
        train_request(train_dense_model(cx), train_slice(cx, "h100:1x8"), 64, 4096);
    ridge_layout l = train_layout(1, 1, 1, 1, 8);
    static const char *const message =
        "the layout is not legal: there are more stages than layers, or stages ask for "
        "more than there are";
    assert_int_equal(ridge_train_step_of(cx, &r, &l, &step), RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx), message);
    l = train_layout(8, 1, 1, 1, 1);
    l.remat = RIDGE_REMAT_FULL;
    l.remat_layers = 5; /* of four */
    assert_int_equal(ridge_train_step_of(cx, &r, &l, &step), RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx), message);
}

#define with_ctx(test) cmocka_unit_test_setup_teardown(test, open_ctx, close_ctx)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_ctx(passes_sum_to_the_step),
        with_ctx(chunks_are_shares_of_a_stage),
        with_ctx(groups_are_what_exchanges_in_a_pass),
        with_ctx(what_is_not_legal_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
