/* Pipeline schedules: small ones as they are drawn, what they hold, and what is
 * refused.
 */
#include "pipeline_build.h"

#include <limits.h>
#include <string.h>

enum { FIRST_BYTES = 1 << 10, MOST_BYTES = 1 << 22, STEP_BYTES = 1 << 9 };

/* Counts of bytes and microbatches, divided once. */
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

/* ---- names --------------------------------------------------------------------- */

static void kinds_are_parsed_and_misspelt_ones_answered(void **state)
{
    ridge_ctx *cx = *state;
    ridge_schedule kind;
    for (int i = 0; i < RIDGE_SCHEDULE_COUNT; i++) {
        const char *text = ridge_schedule_text((ridge_schedule)i);
        assert_int_equal(ridge_schedule_parse(cx, text, &kind), RIDGE_OK);
        assert_int_equal(kind, i);
        assert_true(strlen(ridge_schedule_what(kind)) > 0);
    }
    pipeline_assert_refused(
        cx, ridge_schedule_parse(cx, "zb-h3", &kind), RIDGE_E_NOTFOUND,
        "unknown pipeline schedule 'zb-h3': use 1f1b, gpipe, interleaved, zb-h1, "
        "zb-h2, zb-v or dualpipe; did you mean zb-h1, zb-h2 or zb-v?");
    assert_int_equal(ridge_schedule_parse(cx, "", &kind), RIDGE_E_NOTFOUND);
    assert_string_equal(ridge_pass_letter(RIDGE_PASS_BACKWARD_INPUT), "I");
    assert_string_equal(ridge_pass_what(RIDGE_PASS_FORWARD), "forward");
    assert_false(ridge_schedule_is_split(RIDGE_SCHEDULE_INTERLEAVED));
    assert_true(ridge_schedule_is_split(RIDGE_SCHEDULE_ZB_V));
}

/* ---- what is refused ----------------------------------------------------------- */

static const struct {
    ridge_pipeline pipeline;
    const char *message;
} contradictions[] = {
    {{RIDGE_SCHEDULE_1F1B, 0, 1, 1}, "a pipeline with 0 ranks: it takes at least 1"},
    {{RIDGE_SCHEDULE_INTERLEAVED, 2, -1, 1},
     "a pipeline with -1 chunks a rank: it takes at least 1"},
    {{RIDGE_SCHEDULE_GPIPE, 2, 1, 0},
     "a pipeline with 0 microbatches: it takes at least 1"},
    {{RIDGE_SCHEDULE_ZB_H1, 4, 2, 8},
     "zb-h1 with 2 chunks a rank: it has one stage a rank; take 1, or interleaved "
     "for more"},
    {{RIDGE_SCHEDULE_ZB_V, 4, 1, 8},
     "zb-v with 1 chunks a rank: its V has two, one down and one up; take 2"},
    {{RIDGE_SCHEDULE_DUALPIPE, 4, 1, 8},
     "dualpipe with 1 chunks a rank: it has two, one each way; take 2"},
    {{RIDGE_SCHEDULE_DUALPIPE, 3, 2, 8},
     "dualpipe on 3 ranks: they work in pairs; take an even number"},
    {{RIDGE_SCHEDULE_DUALPIPE, 4, 2, 6},
     "dualpipe with 6 microbatches: half of them go each way; take an even number, "
     "at "
     "least 8"},
    {{RIDGE_SCHEDULE_DUALPIPE, 4, 2, 9},
     "dualpipe with 9 microbatches: half of them go each way; take an even number, "
     "at "
     "least 8"},
    {{RIDGE_SCHEDULE_INTERLEAVED, 32768, 2, 1},
     "a pipeline of 32768 ranks with 2 chunks each: take at most 32768 chunks in "
     "all"},
    {{RIDGE_SCHEDULE_INTERLEAVED, 4, 3, INT_MAX},
     "2147483647 microbatches through 3 chunks a rank are too many to list: take "
     "fewer"},
};

static void pipelines_that_contradict_themselves_are_refused(void **state)
{
    ridge_ctx *cx = *state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(contradictions); i++) {
        ridge_pipeline_schedule schedule = {.ranks = NULL};
        pipeline_assert_refused(
            cx,
            ridge_pipeline_schedule_make(cx, &contradictions[i].pipeline, &schedule),
            RIDGE_E_ARG, contradictions[i].message);
        assert_null(schedule.ranks);
    }
    const ridge_pipeline none = {(ridge_schedule)RIDGE_SCHEDULE_COUNT, 1, 1, 1};
    assert_int_equal(ridge_pipeline_check(cx, &none), RIDGE_E_ARG);
}

/* Two ranks, two microbatches, each rank's order as given. */
static ridge_status check_orders(ridge_ctx *cx, const ridge_action *first, int n_first,
                                 const ridge_action *last, int n_last)
{
    const ridge_action_list ranks[] = {{first, n_first}, {last, n_last}};
    const ridge_pipeline_schedule schedule = {
        .pipeline = {RIDGE_SCHEDULE_1F1B, 2, 1, 2}, .ranks = ranks};
    return ridge_pipeline_schedule_check(cx, &schedule);
}

static const ridge_pass F = RIDGE_PASS_FORWARD;
static const ridge_pass B = RIDGE_PASS_BACKWARD;
static const ridge_pass I = RIDGE_PASS_BACKWARD_INPUT;
static const ridge_pass W = RIDGE_PASS_BACKWARD_WEIGHT;

static void orders_that_are_none_are_refused(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_action good[] = {{F, 0, 0}, {F, 0, 1}, {B, 0, 0}, {B, 0, 1}};
    const ridge_action split[] = {
        {F, 0, 1}, {F, 0, 0}, {I, 0, 0}, {B, 0, 1}, {W, 0, 0}};
    assert_int_equal(check_orders(cx, good, 4, good, 4), RIDGE_OK);
    assert_int_equal(check_orders(cx, good, 4, split, 5), RIDGE_OK);

    pipeline_assert_refused(
        cx, check_orders(cx, good, 4, good, 3), RIDGE_E_ARG,
        "rank 1: chunk 0, microbatch 1 is left without B, or I and W: add "
        "it");
    pipeline_assert_refused(cx, check_orders(cx, good, 4, split, 4), RIDGE_E_ARG,
                            "rank 1: chunk 0, microbatch 0 is left without W: add it");
    pipeline_assert_refused(
        cx, check_orders(cx, good, 1, good, 4), RIDGE_E_ARG,
        "rank 0: chunk 0, microbatch 0 is left without B, or I and W: add "
        "it");
    const ridge_action twice[] = {{F, 0, 0}, {F, 0, 0}};
    pipeline_assert_refused(
        cx, check_orders(cx, twice, 2, good, 4), RIDGE_E_ARG,
        "rank 0: F of chunk 0, microbatch 0 out of place: it comes once, "
        "first");
    const ridge_action early[] = {{W, 0, 0}};
    pipeline_assert_refused(
        cx, check_orders(cx, early, 1, good, 4), RIDGE_E_ARG,
        "rank 0: W of chunk 0, microbatch 0 out of place: it comes once, "
        "behind I");
    const ridge_action outside[] = {{F, 0, 2}};
    pipeline_assert_refused(
        cx, check_orders(cx, outside, 1, good, 4), RIDGE_E_ARG,
        "rank 0: F of chunk 0, microbatch 2: there are 1 chunks and 2 "
        "microbatches");
    const ridge_action unknown[] = {{(ridge_pass)7, 0, 0}};
    pipeline_assert_refused(cx, check_orders(cx, unknown, 1, good, 4), RIDGE_E_ARG,
                            "rank 0: no such pass: 7");
}

/* The first rank wants a gradient before it has sent what the last one makes it of. */
static void ranks_that_wait_in_a_circle_are_refused(void **state)
{
    const ridge_action first[] = {{F, 0, 0}, {B, 0, 0}, {F, 0, 1}, {B, 0, 1}};
    const ridge_action last[] = {{F, 0, 0}, {F, 0, 1}, {B, 0, 0}, {B, 0, 1}};
    pipeline_assert_refused(
        *state, check_orders(*state, first, 4, last, 4), RIDGE_E_ARG,
        "rank 0 waits for ever before B of chunk 0, microbatch 0: ranks wait "
        "for each other in a circle; change their order");
}

/* ---- orders -------------------------------------------------------------------- */

static const struct {
    ridge_schedule kind;
    int ranks, chunks, microbatches;
    int rank;
    const char *order;
} small_orders[] = {
    {RIDGE_SCHEDULE_GPIPE, 2, 1, 3, 0, "F0 F1 F2 B0 B1 B2"},
    {RIDGE_SCHEDULE_1F1B, 3, 1, 4, 0, "F0 F1 F2 B0 F3 B1 B2 B3"},
    {RIDGE_SCHEDULE_1F1B, 3, 1, 4, 1, "F0 F1 B0 F2 B1 F3 B2 B3"},
    {RIDGE_SCHEDULE_1F1B, 3, 1, 4, 2, "F0 B0 F1 B1 F2 B2 F3 B3"},
    {RIDGE_SCHEDULE_1F1B, 4, 1, 2, 0, "F0 F1 B0 B1"},
    {RIDGE_SCHEDULE_INTERLEAVED, 2, 2, 2, 0, "F0.0 F0.1 F1.0 F1.1 B1.0 B1.1 B0.0 B0.1"},
    {RIDGE_SCHEDULE_INTERLEAVED, 2, 2, 4, 1,
     "F0.0 F0.1 F1.0 B1.0 F1.1 B1.1 F0.2 B0.0 F0.3 B0.1 F1.2 B1.2 F1.3 B1.3 B0.2 "
     "B0.3"},
    {RIDGE_SCHEDULE_INTERLEAVED, 2, 2, 3, 1,
     "F0.0 F0.1 F0.2 F1.0 B1.0 F1.1 B1.1 F1.2 B1.2 B0.0 B0.1 B0.2"},
    {RIDGE_SCHEDULE_INTERLEAVED, 2, 2, 1, 0, "F0.0 F1.0 B1.0 B0.0"},
    {RIDGE_SCHEDULE_ZB_H1, 3, 1, 4, 0, "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3"},
    {RIDGE_SCHEDULE_ZB_H1, 3, 1, 4, 2, "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3"},
    {RIDGE_SCHEDULE_ZB_H2, 2, 1, 4, 0, "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3"},
    {RIDGE_SCHEDULE_ZB_H2, 2, 1, 4, 1, "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3"},
    {RIDGE_SCHEDULE_ZB_V, 2, 2, 3, 0,
     "F0.0 F0.1 F0.2 F1.0 I1.0 W1.0 F1.1 I1.1 W1.1 I0.0 W0.0 F1.2 I1.2 W1.2 I0.1 "
     "W0.1 I0.2 W0.2"},
    {RIDGE_SCHEDULE_ZB_V, 1, 2, 1, 0, "F0.0 F1.0 I1.0 W1.0 I0.0 W0.0"},
    {RIDGE_SCHEDULE_DUALPIPE, 2, 2, 4, 0,
     "F0.0 F1.2 F0.1 B1.2 F1.3 B0.0 B1.3 I0.1 W0.1"},
    {RIDGE_SCHEDULE_DUALPIPE, 2, 2, 4, 1,
     "F1.2 F0.0 F1.3 B0.0 F0.1 B1.2 B0.1 I1.3 W1.3"},
    {RIDGE_SCHEDULE_DUALPIPE, 4, 2, 8, 0,
     "F0.0 F0.1 F0.2 F1.4 I1.4 W1.4 F1.5 F0.3 B1.5 F1.6 B0.0 B1.6 F1.7 B0.1 B1.7 "
     "I0.2 W0.2 I0.3 W0.3"},
};

static void small_orders_are_as_drawn(void **state)
{
    ridge_ctx *cx = *state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(small_orders); i++) {
        const ridge_pipeline_schedule s =
            pipeline_make(cx, small_orders[i].kind, small_orders[i].ranks,
                          small_orders[i].chunks, small_orders[i].microbatches);
        assert_string_equal(pipeline_text(cx, &s, small_orders[i].rank),
                            small_orders[i].order);
    }
}

static void stages_lie_in_rounds_or_in_a_v(void **state)
{
    (void)state;
    const ridge_pipeline rounds = {RIDGE_SCHEDULE_INTERLEAVED, 4, 3, 1};
    const ridge_pipeline v = {RIDGE_SCHEDULE_ZB_V, 4, 2, 1};
    const ridge_pipeline_place place = {.rank = 1, .chunk = 1};
    assert_int_equal(ridge_pipeline_stage_of(&rounds, place), 5);
    assert_int_equal(ridge_pipeline_stage_of(&v, place), 6);
    assert_int_equal(ridge_pipeline_place_of(&v, 7).rank, 0);
    assert_int_equal(ridge_pipeline_place_of(&v, 7).chunk, 1);
    assert_int_equal(ridge_pipeline_place_of(&v, 3).rank, 3);
    assert_int_equal(ridge_pipeline_place_of(&v, 4).rank, 3);
    assert_int_equal(ridge_pipeline_place_of(&rounds, 11).rank, 3);
    assert_int_equal(ridge_pipeline_place_of(&rounds, 11).chunk, 2);
}

/* ---- memory -------------------------------------------------------------------- */

/* Whole microbatches that the first rank holds: p (1 + (p - 1) / (p v)) interleaved
 * (narayanan2021 section 2.2), p and 2 p - 1 in the zero-bubble schedules. */
static void the_first_rank_holds_what_is_published(void **state)
{
    ridge_ctx *cx = *state;
    enum { P = 8, M = 64 };
    static const struct {
        ridge_schedule kind;
        int chunks;
        double microbatches;
    } cases[] = {
        {RIDGE_SCHEDULE_GPIPE, 1, M},
        {RIDGE_SCHEDULE_1F1B, 1, P},
        {RIDGE_SCHEDULE_INTERLEAVED, 2, P * (1 + (P - 1) / (2.0 * P))},
        {RIDGE_SCHEDULE_INTERLEAVED, 4, P * (1 + (P - 1) / (4.0 * P))},
        {RIDGE_SCHEDULE_ZB_H1, 1, P},
        {RIDGE_SCHEDULE_ZB_H2, 1, 2 * P - 1},
        {RIDGE_SCHEDULE_ZB_V, 2, P},
        {RIDGE_SCHEDULE_DUALPIPE, 2, (P + 1) / 2.0}, /* each of twice the layers */
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const ridge_pipeline_schedule s =
            pipeline_make(cx, cases[i].kind, P, cases[i].chunks, M);
        assert_near((double)ridge_pipeline_in_flight(&s, 0) / cases[i].chunks,
                    cases[i].microbatches, EXACT);
    }
}

static void peaks_count_bytes_by_stage(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_pipeline_held held[] = {{100, 40}, {10, 4}, {1, 8}, {1000, 100}};
    ridge_pipeline_schedule s = pipeline_make(cx, RIDGE_SCHEDULE_ZB_H1, 3, 1, 8);
    assert_near(ridge_pipeline_peak_bytes(&s, 0, held), 300, EXACT);
    /* Two held when the third I is over: F, F and half of the oldest. */
    assert_near(ridge_pipeline_peak_bytes(&s, 1, held), 24, EXACT);
    /* Weights that keep more than the whole: after an I, two behind it. */
    assert_near(ridge_pipeline_peak_bytes(&s, 2, held), 24, EXACT);
    s = pipeline_make(cx, RIDGE_SCHEDULE_INTERLEAVED, 2, 2, 2);
    assert_near(ridge_pipeline_peak_bytes(&s, 0, held), 202, EXACT);
}

/* ---- memory that runs out ------------------------------------------------------ */

static ridge_status work(ridge_ctx *cx)
{
    static const ridge_stage_time stages[8] = {{1, 1, 1}};
    const ridge_pipeline pipeline = {RIDGE_SCHEDULE_ZB_V, 4, 2, 16};
    const ridge_pipeline_times times = {
        .stages = stages, .has_pending_limit = true, .pending_most = 1};
    ridge_pipeline_schedule schedule;
    ridge_pipeline_timeline timeline;
    int pending;
    RIDGE_TRY(ridge_pipeline_schedule_make(cx, &pipeline, &schedule));
    RIDGE_TRY(ridge_pipeline_schedule_check(cx, &schedule));
    RIDGE_TRY(ridge_pipeline_pending(cx, &schedule, &pending));
    return ridge_pipeline_play(cx, &schedule, &times, &timeline);
}

static void short_memory_is_a_status(void **state)
{
    (void)state;
    ridge_status st = RIDGE_E_NOMEM;
    size_t bytes = FIRST_BYTES;
    for (; st == RIDGE_E_NOMEM && bytes < MOST_BYTES; bytes += STEP_BYTES) {
        ridge_ctx *cx = ridge_ctx_open_budget(bytes);
        st = work(cx);
        ridge_ctx_close(cx);
    }
    assert_int_equal(st, RIDGE_OK);
    assert_true(bytes > FIRST_BYTES + 2 * STEP_BYTES);
}

#define with_ctx(test) cmocka_unit_test_setup_teardown(test, open_ctx, close_ctx)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_ctx(kinds_are_parsed_and_misspelt_ones_answered),
        with_ctx(pipelines_that_contradict_themselves_are_refused),
        with_ctx(orders_that_are_none_are_refused),
        with_ctx(ranks_that_wait_in_a_circle_are_refused),
        with_ctx(small_orders_are_as_drawn),
        cmocka_unit_test(stages_lie_in_rounds_or_in_a_v),
        with_ctx(the_first_rank_holds_what_is_published),
        with_ctx(peaks_count_bytes_by_stage),
        cmocka_unit_test(short_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
