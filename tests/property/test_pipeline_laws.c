/*
 * Laws of pipeline schedules over random kinds, sizes and times: each pass once and in
 * order, what is held is bounded, they run through however sends wait, equal stages
 * wait as closed forms say, and nothing ends later when anything takes less long.
 */
#include "pipeline_build.h"

#include <math.h>
#include <string.h>

enum { CASES = 1500 };

typedef struct sample {
    ridge_ctx *cx;
    uint64_t seed;
    seeded at;
    ridge_pipeline pipeline;
    ridge_pipeline_schedule schedule;
    ridge_pipeline_times times;
    ridge_pipeline_timeline timeline;
} sample;

#define law(s, what)                                                                   \
    do {                                                                               \
        if (!(what))                                                                   \
            fail_msg("seed %llu, %s p %d v %d m %d: %s",                               \
                     (unsigned long long)(s)->seed,                                    \
                     ridge_schedule_text((s)->pipeline.kind), (s)->pipeline.ranks,     \
                     (s)->pipeline.chunks, (s)->pipeline.microbatches, #what);         \
    } while (0)

static void each_sample(void (*check)(sample *s))
{
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        sample s = {.cx = ridge_ctx_open(), .seed = seed, .at = seed};
        s.pipeline = pipeline_random(&s.at);
        s.schedule = pipeline_make(s.cx, s.pipeline.kind, s.pipeline.ranks,
                                   s.pipeline.chunks, s.pipeline.microbatches);
        s.times = pipeline_random_times(s.cx, &s.pipeline, &s.at);
        s.timeline = pipeline_play(s.cx, &s.schedule, &s.times);
        check(&s);
        ridge_ctx_close(s.cx);
    }
}

static int stages_of(const sample *s)
{
    return s->pipeline.ranks * s->pipeline.chunks;
}

/* ---- orders -------------------------------------------------------------------- */

static void check_places(sample *s)
{
    for (int stage = 0; stage < stages_of(s); stage++) {
        const ridge_pipeline_place place = ridge_pipeline_place_of(&s->pipeline, stage);
        law(s, place.rank >= 0 && place.rank < s->pipeline.ranks);
        law(s, place.chunk >= 0 && place.chunk < s->pipeline.chunks);
        law(s, ridge_pipeline_stage_of(&s->pipeline, place) == stage);
    }
}

static void every_stage_has_one_place(void **state)
{
    (void)state;
    each_sample(check_places);
}

/* Some backward passes whole, some split. */
static bool is_mixed(const sample *s)
{
    return s->pipeline.kind == RIDGE_SCHEDULE_DUALPIPE;
}

static bool is_gradient(ridge_pass pass)
{
    return pass == RIDGE_PASS_BACKWARD || pass == RIDGE_PASS_BACKWARD_INPUT;
}

static int first_of(const sample *s, int chunk)
{
    return ridge_pipeline_range_of(&s->pipeline, chunk).first;
}

static void check_counts(const sample *s, const int *n, int m)
{
    const bool is_split = ridge_schedule_is_split(s->pipeline.kind);
    const int split = n[RIDGE_PASS_BACKWARD_INPUT];
    law(s, n[RIDGE_PASS_FORWARD] == m);
    law(s, n[RIDGE_PASS_BACKWARD] + split == m);
    law(s, n[RIDGE_PASS_BACKWARD_WEIGHT] == split);
    law(s, is_mixed(s) || split == (is_split ? m : 0));
}

/* Counts by chunk and pass are also the next microbatch: each comes in ascending order.
 */
static void check_order(sample *s)
{
    for (int rank = 0; rank < s->pipeline.ranks; rank++) {
        int next[4][RIDGE_PASS_COUNT] = {{0}};
        for (int i = 0; i < s->schedule.ranks[rank].n; i++) {
            const ridge_action *a = &s->schedule.ranks[rank].actions[i];
            int *of_chunk = next[a->chunk];
            const int before = is_mixed(s) && is_gradient(a->pass)
                                   ? of_chunk[RIDGE_PASS_BACKWARD] +
                                         of_chunk[RIDGE_PASS_BACKWARD_INPUT]
                                   : of_chunk[a->pass];
            const bool is_any = is_mixed(s) && a->pass == RIDGE_PASS_BACKWARD_WEIGHT;
            law(s, is_any || a->microbatch - first_of(s, a->chunk) == before);
            of_chunk[a->pass]++;
            law(s,
                of_chunk[RIDGE_PASS_BACKWARD] + of_chunk[RIDGE_PASS_BACKWARD_INPUT] <=
                    of_chunk[RIDGE_PASS_FORWARD]);
            law(s, of_chunk[RIDGE_PASS_BACKWARD_WEIGHT] <=
                       of_chunk[RIDGE_PASS_BACKWARD_INPUT]);
        }
        for (int chunk = 0; chunk < s->pipeline.chunks; chunk++)
            check_counts(s, next[chunk],
                         ridge_pipeline_range_of(&s->pipeline, chunk).n);
    }
    law(s, ridge_pipeline_schedule_check(s->cx, &s->schedule) == RIDGE_OK);
}

static void every_pass_comes_once_and_in_order(void **state)
{
    (void)state;
    each_sample(check_order);
}

/* Orders with something moved, left out or twice are schedules or refused, and those
 * that are schedules run through. */
static void check_mutant(sample *s)
{
    const int rank = (int)seeded_pick(&s->at, 0, s->pipeline.ranks - 1);
    const ridge_action_list *list = &s->schedule.ranks[rank];
    ridge_action_list *ranks =
        ridge_new(ridge_ctx_arena(s->cx), ridge_action_list, (size_t)s->pipeline.ranks);
    ridge_action *actions =
        ridge_new(ridge_ctx_arena(s->cx), ridge_action, (size_t)list->n);
    for (int i = 0; i < s->pipeline.ranks; i++)
        ranks[i] = s->schedule.ranks[i];
    for (int i = 0; i < list->n; i++)
        actions[i] = list->actions[i];
    const int64_t how = seeded_pick(&s->at, 0, 2);
    const int one = (int)seeded_pick(&s->at, 0, list->n - 1);
    const int other =
        how == 0 && one > 0 ? one - 1 : (int)seeded_pick(&s->at, 0, list->n - 1);
    actions[one] = list->actions[other];
    if (how < 2)
        actions[other] = list->actions[one];
    ranks[rank].actions = actions;
    const ridge_pipeline_schedule mutant = {s->pipeline, ranks};
    const ridge_status st = ridge_pipeline_schedule_check(s->cx, &mutant);
    law(s, st == RIDGE_OK || st == RIDGE_E_ARG);
    law(s, st == RIDGE_E_ARG || how < 2 || one == other);
    ridge_pipeline_timeline timeline;
    if (st == RIDGE_OK)
        law(s, ridge_pipeline_play(s->cx, &mutant, &s->times, &timeline) == RIDGE_OK);
}

static void other_orders_are_checked(void **state)
{
    (void)state;
    each_sample(check_mutant);
}

/* ---- memory -------------------------------------------------------------------- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Microbatches of the largest group that takes turns of chunks. */
static int group_of(const ridge_pipeline *p)
{
    const int groups = p->microbatches / p->ranks;
    return groups < 1 ? p->ranks : (p->microbatches + groups - 1) / groups;
}

/* What include/ridge/simulate.h promises. */
static int in_flight_most(const ridge_pipeline *p, int rank)
{
    const int below = p->ranks - 1 - rank;
    switch (p->kind) {
    case RIDGE_SCHEDULE_GPIPE:
        return p->microbatches;
    case RIDGE_SCHEDULE_1F1B:
        return below + 1;
    case RIDGE_SCHEDULE_INTERLEAVED:
        return p->chunks == 1 ? below + 1
                              : 2 * below + (p->chunks - 1) * group_of(p) + 1;
    case RIDGE_SCHEDULE_ZB_H1:
        return p->ranks;
    case RIDGE_SCHEDULE_ZB_H2:
        return 2 * p->ranks - 1;
    case RIDGE_SCHEDULE_ZB_V:
        return 2 * p->ranks;
    case RIDGE_SCHEDULE_DUALPIPE:
        return p->ranks + 1;
    }
    return 0;
}

static void check_memory(sample *s)
{
    const ridge_pipeline *p = &s->pipeline;
    ridge_pipeline_held held[64];
    for (int i = 0; i < stages_of(s); i++)
        held[i] = (ridge_pipeline_held){8, 8};
    for (int rank = 0; rank < p->ranks; rank++) {
        const int most = least(in_flight_most(p, rank), p->chunks * p->microbatches);
        const int got = ridge_pipeline_in_flight(&s->schedule, rank);
        law(s, got <= most);
        /* Enough microbatches reach it. */
        law(s, got == most || p->microbatches < 2 * p->ranks);
        law(s, ridge_pipeline_peak_bytes(&s->schedule, rank, held) == 8.0 * got);
    }
}

static void what_is_held_is_bounded(void **state)
{
    (void)state;
    each_sample(check_memory);
}

/* ---- time ---------------------------------------------------------------------- */

/* Whole numbers: sums are exact. */
static void check_sums(sample *s)
{
    double latest_s = 0;
    double span_s = 0;
    for (int rank = 0; rank < s->pipeline.ranks; rank++) {
        const ridge_rank_time *r = &s->timeline.ranks[rank];
        double busy_s = 0;
        double free_s = 0;
        for (int i = 0; i < s->schedule.ranks[rank].n; i++) {
            law(s, r->actions[i].start_s >= free_s);
            free_s = r->actions[i].end_s;
            busy_s += free_s - r->actions[i].start_s;
        }
        law(s, r->busy_s == busy_s);
        law(s, r->busy_s + r->bubble_s == s->timeline.makespan_s);
        law(s, r->bubble_s >= 0);
        law(s, r->start_s == r->actions[0].start_s && r->end_s == free_s);
        latest_s = fmax(latest_s, free_s);
        span_s = fmax(span_s, free_s - r->start_s);
    }
    law(s, s->timeline.makespan_s == latest_s);
    law(s, s->timeline.span_s == span_s);
}

static void busy_and_bubble_are_the_makespan(void **state)
{
    (void)state;
    each_sample(check_sums);
}

/* One microbatch goes down all stages of a copy and up again, whatever else happens. */
static void check_bound(sample *s)
{
    const ridge_pipeline *p = &s->pipeline;
    double path_s = 0;
    for (int stage = 0; stage < stages_of(s); stage++) {
        const int next = ridge_pipeline_target_of(p, stage, RIDGE_PASS_FORWARD);
        path_s +=
            s->times.stages[stage].forward_s + s->times.stages[stage].backward_input_s;
        law(s,
            next < 0 || ridge_pipeline_source_of(p, next, RIDGE_PASS_FORWARD) == stage);
        if (next < 0) {
            law(s, s->timeline.makespan_s >= path_s);
            path_s = 0;
        } else if (ridge_pipeline_is_remote(p, stage, next)) {
            path_s += 2 * s->times.send_s;
        }
    }
}

static void nothing_is_faster_than_one_microbatch(void **state)
{
    (void)state;
    each_sample(check_bound);
}

static bool is_no_earlier(const sample *s, const ridge_pipeline_timeline *later)
{
    bool is_so = later->makespan_s >= s->timeline.makespan_s;
    for (int rank = 0; rank < s->pipeline.ranks; rank++) {
        for (int i = 0; i < s->schedule.ranks[rank].n; i++) {
            is_so = is_so && later->ranks[rank].actions[i].end_s >=
                                 s->timeline.ranks[rank].actions[i].end_s;
        }
    }
    return is_so;
}

static void check_monotone(sample *s)
{
    ridge_stage_time stages[64];
    for (int i = 0; i < stages_of(s); i++)
        stages[i] = s->times.stages[i];
    ridge_pipeline_times slower = s->times;
    slower.stages = stages;
    const int stage = (int)seeded_pick(&s->at, 0, stages_of(s) - 1);
    double *const grows[] = {&stages[stage].forward_s, &stages[stage].backward_input_s,
                             &stages[stage].backward_weight_s, &slower.send_s};
    *grows[seeded_pick(&s->at, 0, 3)] += (double)seeded_pick(&s->at, 1, 50);
    const ridge_pipeline_timeline later = pipeline_play(s->cx, &s->schedule, &slower);
    law(s, is_no_earlier(s, &later));
}

static void nothing_ends_earlier_when_anything_takes_longer(void **state)
{
    (void)state;
    each_sample(check_monotone);
}

/* ---- sends that wait ----------------------------------------------------------- */

/* One message of a stage under way is enough, but where larger groups than p take
 * turns: the first rank gets what the last one sends later by as many microbatches. */
static int pending_most(const ridge_pipeline *p)
{
    return p->kind == RIDGE_SCHEDULE_INTERLEAVED ? group_of(p) - p->ranks + 1 : 1;
}

static void check_pending(sample *s)
{
    int pending = -1;
    law(s, ridge_pipeline_pending(s->cx, &s->schedule, &pending) == RIDGE_OK);
    law(s, pending >= 0 && pending <= pending_most(&s->pipeline));
    ridge_pipeline_times times = s->times;
    times.has_pending_limit = true;
    times.pending_most = pending - 1;
    ridge_pipeline_timeline t;
    if (pending > 0)
        law(s, ridge_pipeline_play(s->cx, &s->schedule, &times, &t) == RIDGE_E_ARG);
    double before_s = (double)INFINITY;
    for (int i = 0; i < 3; i++) {
        times.pending_most = pending + i;
        t = pipeline_play(s->cx, &s->schedule, &times);
        law(s, t.makespan_s <= before_s);
        law(s, is_no_earlier(s, &t));
        before_s = t.makespan_s;
    }
    times.pending_most = s->pipeline.microbatches;
    t = pipeline_play(s->cx, &s->schedule, &times);
    law(s, t.makespan_s == s->timeline.makespan_s);
}

static void a_message_under_way_is_enough(void **state)
{
    (void)state;
    each_sample(check_pending);
}

/* ---- kinds --------------------------------------------------------------------- */

/* Equal stages: weights that come late never cost time. */
static void check_kinds(sample *s)
{
    const int p = s->pipeline.ranks;
    const int m = s->pipeline.microbatches;
    const ridge_pipeline_schedule plain =
        pipeline_make(s->cx, RIDGE_SCHEDULE_1F1B, p, 1, m);
    const ridge_pipeline_schedule late =
        pipeline_make(s->cx, RIDGE_SCHEDULE_ZB_H1, p, 1, m);
    const ridge_stage_time *one = &s->times.stages[0];
    ridge_pipeline_times times = pipeline_equal_times(
        s->cx, &plain, one->forward_s, one->backward_input_s, one->backward_weight_s);
    times.send_s = s->times.send_s;
    law(s, pipeline_play(s->cx, &late, &times).makespan_s <=
               pipeline_play(s->cx, &plain, &times).makespan_s);
}

static void late_weights_never_cost_time(void **state)
{
    (void)state;
    each_sample(check_kinds);
}

/* Beyond the work of a rank, in steps and in spans, by p - 1. Whole numbers: exact. */
static void check_form(sample *s, ridge_schedule kind, double step_s, double span_s)
{
    const int p = s->pipeline.ranks;
    const int m = 2 * p - 1 + s->pipeline.microbatches;
    const ridge_stage_time *one = &s->times.stages[0];
    const ridge_pipeline_schedule schedule = pipeline_make(s->cx, kind, p, 1, m);
    const ridge_pipeline_times times =
        pipeline_equal_times(s->cx, &schedule, one->forward_s, one->backward_input_s,
                             one->backward_weight_s);
    const ridge_pipeline_timeline t = pipeline_play(s->cx, &schedule, &times);
    law(s, t.makespan_s - t.ranks[0].busy_s == (p - 1) * step_s);
    law(s, t.span_s - t.ranks[0].busy_s == (p - 1) * span_s);
}

/* docs/design/pipelines.md, "What comes out". */
static void check_forms(sample *s)
{
    const double f = s->times.stages[0].forward_s;
    const double i = s->times.stages[0].backward_input_s;
    const double w = s->times.stages[0].backward_weight_s;
    const double h1_s = fmax(i, f + i - w);
    const double h2_s = fmax(i - f, f + i - 2 * w);
    check_form(s, RIDGE_SCHEDULE_GPIPE, f + i + w, f + i + w);
    check_form(s, RIDGE_SCHEDULE_1F1B, f + i + w, f + i + w);
    check_form(s, RIDGE_SCHEDULE_ZB_H1, fmax(f, h1_s), h1_s);
    check_form(s, RIDGE_SCHEDULE_ZB_H2, fmax(f, h2_s), fmax(0, h2_s));
}

static void equal_stages_wait_as_the_closed_forms_say(void **state)
{
    (void)state;
    each_sample(check_forms);
}

/* Every small pipeline, not just random ones. */
static void all_small_pipelines_run_through(void **state)
{
    (void)state;
    enum { RANKS = 6, CHUNKS = 3, MICROBATCHES = 14 };
    for (int n = 0; n < RIDGE_SCHEDULE_COUNT * RANKS * CHUNKS * MICROBATCHES; n++) {
        const ridge_pipeline p = {
            .kind = (ridge_schedule)(n / (RANKS * CHUNKS * MICROBATCHES)),
            .ranks = n / (CHUNKS * MICROBATCHES) % RANKS + 1,
            .chunks = n / MICROBATCHES % CHUNKS + 1,
            .microbatches = n % MICROBATCHES + 1};
        sample s = {.cx = ridge_ctx_open(), .pipeline = p};
        if (ridge_pipeline_check(s.cx, &p) == RIDGE_OK) {
            s.schedule = pipeline_make(s.cx, p.kind, p.ranks, p.chunks, p.microbatches);
            int pending = -1;
            check_order(&s);
            law(&s, ridge_pipeline_pending(s.cx, &s.schedule, &pending) == RIDGE_OK);
            law(&s, pending <= pending_most(&p));
        }
        ridge_ctx_close(s.cx);
    }
}

static void check_same(sample *s)
{
    const ridge_pipeline *p = &s->pipeline;
    const ridge_pipeline_schedule again =
        pipeline_make(s->cx, p->kind, p->ranks, p->chunks, p->microbatches);
    const ridge_pipeline_timeline t = pipeline_play(s->cx, &again, &s->times);
    for (int rank = 0; rank < p->ranks; rank++) {
        const size_t n = (size_t)s->schedule.ranks[rank].n;
        law(s, again.ranks[rank].n == s->schedule.ranks[rank].n);
        law(s, memcmp(again.ranks[rank].actions, s->schedule.ranks[rank].actions,
                      n * sizeof(ridge_action)) == 0);
        law(s, memcmp(t.ranks[rank].actions, s->timeline.ranks[rank].actions,
                      n * sizeof(ridge_action_time)) == 0);
    }
}

static void the_same_comes_out_twice(void **state)
{
    (void)state;
    each_sample(check_same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stage_has_one_place),
        cmocka_unit_test(every_pass_comes_once_and_in_order),
        cmocka_unit_test(other_orders_are_checked),
        cmocka_unit_test(what_is_held_is_bounded),
        cmocka_unit_test(busy_and_bubble_are_the_makespan),
        cmocka_unit_test(nothing_is_faster_than_one_microbatch),
        cmocka_unit_test(nothing_ends_earlier_when_anything_takes_longer),
        cmocka_unit_test(a_message_under_way_is_enough),
        cmocka_unit_test(late_weights_never_cost_time),
        cmocka_unit_test(equal_stages_wait_as_the_closed_forms_say),
        cmocka_unit_test(all_small_pipelines_run_through),
        cmocka_unit_test(the_same_comes_out_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
