/* Pipeline schedules in time: small ones by hand, sends that wait, and bubbles by the
 * published formulas. */
#include "pipeline_build.h"

#include <math.h>

/* Whole numbers of seconds are summed without rounding; fractions of them once. */
static const double EXACT = 1e-15;

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

/* ---- what is refused ----------------------------------------------------------- */

static void times_that_are_none_are_refused(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_pipeline_schedule s = pipeline_make(cx, RIDGE_SCHEDULE_1F1B, 2, 1, 2);
    ridge_pipeline_timeline line;
    ridge_pipeline_times times = pipeline_equal_times(cx, &s, 1, (double)NAN, 1);
    pipeline_assert_refused(
        cx, ridge_pipeline_play(cx, &s, &times, &line), RIDGE_E_ARG,
        "a pass of stage 0 takes n/a: a time is finite, and 0 or more");
    times = pipeline_equal_times(cx, &s, 1, 1, 1);
    times.send_s = -1;
    pipeline_assert_refused(
        cx, ridge_pipeline_play(cx, &s, &times, &line), RIDGE_E_ARG,
        "sending between ranks takes -1 s: a time is finite, and 0 or more");
    times.send_s = (double)INFINITY;
    assert_int_equal(ridge_pipeline_play(cx, &s, &times, &line), RIDGE_E_ARG);
    times.send_s = 0;
    times.has_pending_limit = true;
    times.pending_most = -1;
    pipeline_assert_refused(cx, ridge_pipeline_play(cx, &s, &times, &line), RIDGE_E_ARG,
                            "at most -1 messages under way: take 0 or more");
}

/* ---- time ---------------------------------------------------------------------- */

/* 1F1B over two ranks; F takes 1, B 3, a message 3. The second one waits for the line:
 *     rank 0  F0 0-1  F1 1-2           B0 11-14  B1 15-18
 *     rank 1           F0 4-5  B0 5-8  F1 8-9    B1 9-12 */
static void a_timeline_by_hand(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_pipeline_schedule s = pipeline_make(cx, RIDGE_SCHEDULE_1F1B, 2, 1, 2);
    ridge_pipeline_times times = pipeline_equal_times(cx, &s, 1, 2, 1);
    times.send_s = 3;
    const ridge_pipeline_timeline t = pipeline_play(cx, &s, &times);
    static const double starts[][4] = {{0, 1, 11, 15}, {4, 5, 8, 9}};
    static const double ends[][4] = {{1, 2, 14, 18}, {5, 8, 9, 12}};
    for (int rank = 0; rank < 2; rank++) {
        for (int i = 0; i < 4; i++) {
            assert_near(t.ranks[rank].actions[i].start_s, starts[rank][i], EXACT);
            assert_near(t.ranks[rank].actions[i].end_s, ends[rank][i], EXACT);
        }
    }
    assert_near(t.makespan_s, 18, EXACT);
    assert_near(t.span_s, 18, EXACT);
    assert_near(t.ranks[0].busy_s, 8, EXACT);
    assert_near(t.ranks[1].bubble_s, 10, EXACT);
    assert_near(t.ranks[1].start_s, 4, EXACT);
    assert_near(t.ranks[1].end_s, 12, EXACT);
}

/* Messages that take longer than passes come one after the other. */
static void a_slow_line_is_the_bottleneck(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_pipeline_schedule s = pipeline_make(cx, RIDGE_SCHEDULE_GPIPE, 2, 1, 4);
    ridge_pipeline_times times = pipeline_equal_times(cx, &s, 1, 0, 0);
    times.send_s = 10;
    const ridge_pipeline_timeline t = pipeline_play(cx, &s, &times);
    for (int i = 0; i < 4; i++)
        assert_near(t.ranks[1].actions[i].start_s, 1 + 10 * (i + 1), EXACT);
}

/* The turn of a V stays on its rank. */
static void nothing_is_sent_within_a_rank(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_pipeline_schedule s = pipeline_make(cx, RIDGE_SCHEDULE_ZB_V, 1, 2, 3);
    ridge_pipeline_times times = pipeline_equal_times(cx, &s, 1, 1, 1);
    times.send_s = 100;
    assert_near(pipeline_play(cx, &s, &times).makespan_s, 18, EXACT);
}

static const ridge_pass F = RIDGE_PASS_FORWARD;
static const ridge_pass B = RIDGE_PASS_BACKWARD;

/* 1F1B: each sender waits for the other's receipt, unless one message may be under way.
 */
static void sends_that_wait_for_receipt(void **state)
{
    ridge_ctx *cx = *state;
    ridge_pipeline_schedule s = pipeline_make(cx, RIDGE_SCHEDULE_1F1B, 2, 1, 4);
    ridge_pipeline_times times = pipeline_equal_times(cx, &s, 1, 1, 1);
    ridge_pipeline_timeline t;
    times.has_pending_limit = true;
    pipeline_assert_refused(
        cx, ridge_pipeline_play(cx, &s, &times, &t), RIDGE_E_ARG,
        "with 0 messages under way rank 0 waits for ever before B of chunk 0, "
        "microbatch 0: allow more");
    times.pending_most = 1;
    assert_int_equal(ridge_pipeline_play(cx, &s, &times, &t), RIDGE_OK);
    int pending = -1;
    assert_int_equal(ridge_pipeline_pending(cx, &s, &pending), RIDGE_OK);
    assert_int_equal(pending, 1);

    s = pipeline_make(cx, RIDGE_SCHEDULE_GPIPE, 3, 1, 4);
    assert_int_equal(ridge_pipeline_pending(cx, &s, &pending), RIDGE_OK);
    assert_int_equal(pending, 0);
    const ridge_action first[] = {{F, 0, 0}, {B, 0, 0}, {F, 0, 1}, {B, 0, 1}};
    const ridge_action last[] = {{F, 0, 0}, {F, 0, 1}, {B, 0, 0}, {B, 0, 1}};
    const ridge_action_list ranks[] = {{first, 4}, {last, 4}};
    s = (ridge_pipeline_schedule){{RIDGE_SCHEDULE_1F1B, 2, 1, 2}, ranks};
    assert_int_equal(ridge_pipeline_pending(cx, &s, &pending), RIDGE_E_ARG);
}

/* With unlimited sends the receiver is late; with a wait for receipt the sender is. */
static void a_sender_waits_until_it_is_received(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_pipeline_schedule s = pipeline_make(cx, RIDGE_SCHEDULE_GPIPE, 2, 1, 3);
    const ridge_stage_time stages[] = {{1, 1, 1}, {10, 1, 1}};
    ridge_pipeline_times times = {.stages = stages, .has_pending_limit = true};
    ridge_pipeline_timeline t = pipeline_play(cx, &s, &times);
    assert_near(t.ranks[0].actions[1].start_s, 1, EXACT);
    assert_near(t.ranks[0].actions[2].start_s, 11, EXACT); /* F1 received at 11 */
    times.pending_most = 1;
    t = pipeline_play(cx, &s, &times);
    assert_near(t.ranks[0].actions[2].start_s, 2, EXACT);
}

/* ---- published bubbles --------------------------------------------------------- */

typedef struct published {
    ridge_schedule kind;
    int ranks, chunks, microbatches;
    double bubble; /* of the step */
} published;

static double fraction(int bubble, int work)
{
    return (double)bubble / (bubble + work);
}

static void assert_bubble(ridge_ctx *cx, const published *c)
{
    const ridge_pipeline_schedule s =
        pipeline_make(cx, c->kind, c->ranks, c->chunks, c->microbatches);
    const ridge_pipeline_times times = pipeline_equal_times(cx, &s, 2, 3, 1);
    const ridge_pipeline_timeline t = pipeline_play(cx, &s, &times);
    for (int rank = 0; rank < c->ranks; rank++)
        assert_near(t.ranks[rank].bubble_s / t.makespan_s, c->bubble, 2 * EXACT);
    assert_near(t.span_s, t.makespan_s, EXACT);
}

/* (p - 1) / (m + p - 1) (huang2019-gpipe section 2.3), (p - 1) / (v m + p - 1)
 * (narayanan2021 section 2.2: 1 / v of (p - 1) / m of the ideal time), whatever the
 * passes take. */
static void bubbles_of_whole_backward_passes(void **state)
{
    for (int p = 1; p <= 8; p++) {
        for (int m = p; m <= 4 * p; m++) {
            const published cases[] = {
                {RIDGE_SCHEDULE_GPIPE, p, 1, m, fraction(p - 1, m)},
                {RIDGE_SCHEDULE_1F1B, p, 1, m, fraction(p - 1, m)},
                {RIDGE_SCHEDULE_INTERLEAVED, p, 1, m, fraction(p - 1, m)},
                {RIDGE_SCHEDULE_INTERLEAVED, p, 2, m, fraction(p - 1, 2 * m)},
                {RIDGE_SCHEDULE_INTERLEAVED, p, 3, m, fraction(p - 1, 3 * m)},
            };
            for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++)
                assert_bubble(*state, &cases[i]);
        }
    }
}

/* What a rank waits between its first start and its last end, in the worst rank. */
static double waiting_s(ridge_ctx *cx, ridge_schedule kind, int ranks, int microbatches,
                        const ridge_stage_time *time)
{
    const bool is_folded =
        kind == RIDGE_SCHEDULE_ZB_V || kind == RIDGE_SCHEDULE_DUALPIPE;
    const int chunks = is_folded ? 2 : 1;
    const ridge_pipeline_schedule s =
        pipeline_make(cx, kind, ranks, chunks, microbatches);
    const ridge_pipeline_times times = pipeline_equal_times(
        cx, &s, time->forward_s, time->backward_input_s, time->backward_weight_s);
    const ridge_pipeline_timeline t = pipeline_play(cx, &s, &times);
    return t.span_s - t.ranks[0].busy_s;
}

/* qi2023-zero-bubble, table 2: (p - 1) (F + I - W) and (p - 1) (F + I - 2 W), where it
 * is not the arrival of the first gradient that is waited for. */
static void bubbles_of_split_backward_passes(void **state)
{
    ridge_ctx *cx = *state;
    static const ridge_stage_time times[] = {{1, 1, 1}, {2, 3, 1}, {3, 2, 1},
                                             {1, 2, 3}, {5, 4, 4}, {1, 1, 0}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(times); i++) {
        const double f = times[i].forward_s;
        const double b = times[i].backward_input_s;
        const double w = times[i].backward_weight_s;
        for (int p = 1; p <= 8; p++) {
            for (int m = 2 * p - 1; m <= 4 * p; m++) {
                assert_near(waiting_s(cx, RIDGE_SCHEDULE_ZB_H1, p, m, &times[i]),
                            (p - 1) * fmax(b, f + b - w), EXACT);
                assert_near(waiting_s(cx, RIDGE_SCHEDULE_ZB_H2, p, m, &times[i]),
                            (p - 1) * fmax(fmax(0, b - f), f + b - 2 * w), EXACT);
            }
        }
    }
}

/* Equal passes: a third of 1F1B's bubble, and none at all. */
static void equal_passes_leave_a_third_or_nothing(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_stage_time one = {1, 1, 1};
    for (int p = 1; p <= 12; p++) {
        for (int m = 2 * p - 1; m <= 3 * p; m++) {
            assert_near(3 * waiting_s(cx, RIDGE_SCHEDULE_ZB_H1, p, m, &one),
                        waiting_s(cx, RIDGE_SCHEDULE_1F1B, p, m, &one), EXACT);
            assert_near(waiting_s(cx, RIDGE_SCHEDULE_ZB_H2, p, m, &one), 0, EXACT);
            assert_near(waiting_s(cx, RIDGE_SCHEDULE_ZB_V, p, m, &one), 0, EXACT);
        }
    }
}

/* Both ways at once, two stages a rank: (p / 2 - 1) (F + I - W) at best, and exactly
 * for equal passes. Table 2 of deepseek-v3-2024 counts a forward and a backward pass as
 * one that waits for both, which is no less: (p / 2 - 1) (F + 2 I - W). */
static void check_dualpipe(ridge_ctx *cx, const ridge_stage_time *t, int p, int m)
{
    const double least_s = t->forward_s + t->backward_input_s - t->backward_weight_s;
    const double published_s = least_s + t->backward_input_s;
    const double waits_s = waiting_s(cx, RIDGE_SCHEDULE_DUALPIPE, p, m, t);
    assert_true(waits_s >= (p / 2.0 - 1) * least_s);
    assert_true(waits_s <= (p / 2.0 - 1) * published_s);
    if (t->forward_s == t->backward_input_s && t->forward_s == t->backward_weight_s)
        assert_near(waits_s, (p / 2.0 - 1) * t->forward_s, EXACT);
}

static void both_ways_leave_half_of_the_ranks(void **state)
{
    ridge_ctx *cx = *state;
    static const ridge_stage_time times[] = {{1, 1, 1}, {2, 3, 1}, {3, 3, 2},
                                             {5, 4, 4}, {1, 2, 2}, {3, 2, 1}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(times); i++) {
        for (int p = 2; p <= 16; p += 2) {
            for (int m = 2 * p; m <= 3 * p; m += 2)
                check_dualpipe(cx, &times[i], p, m);
        }
    }
}

#define with_ctx(test) cmocka_unit_test_setup_teardown(test, open_ctx, close_ctx)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_ctx(times_that_are_none_are_refused),
        with_ctx(a_timeline_by_hand),
        with_ctx(a_slow_line_is_the_bottleneck),
        with_ctx(nothing_is_sent_within_a_rank),
        with_ctx(sends_that_wait_for_receipt),
        with_ctx(a_sender_waits_until_it_is_received),
        with_ctx(bubbles_of_whole_backward_passes),
        with_ctx(bubbles_of_split_backward_passes),
        with_ctx(equal_passes_leave_a_third_or_nothing),
        with_ctx(both_ways_leave_half_of_the_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
