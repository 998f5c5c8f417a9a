/*
 * Times of a pipeline schedule found in two ways: as ends that follow from each other,
 * and as the least that satisfy all waits, raised from zero until none is too early.
 */
#include "pipeline_build.h"

#include <math.h>

enum { CASES = 300, STAGES_MOST = 36, MICROBATCHES_MOST = 40, ACTIONS_MOST = 512 };

typedef struct sample {
    ridge_ctx *cx;
    ridge_pipeline pipeline;
    ridge_pipeline_schedule schedule;
    ridge_pipeline_times times;
} sample;

static int stage_of(const sample *s, int rank, const ridge_action *action)
{
    return ridge_pipeline_stage_of(
        &s->pipeline, (ridge_pipeline_place){.rank = rank, .chunk = action->chunk});
}

/* Ends so far, of F and of B or I. */
typedef struct fixpoint {
    double forward_s[STAGES_MOST][MICROBATCHES_MOST];
    double backward_s[STAGES_MOST][MICROBATCHES_MOST];
} fixpoint;

static double work_s(const ridge_stage_time *t, ridge_pass pass)
{
    const double all_s[] = {t->forward_s, t->backward_input_s + t->backward_weight_s,
                            t->backward_input_s, t->backward_weight_s};
    return all_s[pass];
}

/* When a message arrives at a stage: each behind the one before on the line. */
static double arrival_s(const sample *s, double (*ends)[MICROBATCHES_MOST], int source,
                        int stage, int microbatch)
{
    if (ridge_pipeline_place_of(&s->pipeline, source).rank ==
        ridge_pipeline_place_of(&s->pipeline, stage).rank)
        return ends[source][microbatch];
    double line_s = 0;
    const int chunk = ridge_pipeline_place_of(&s->pipeline, stage).chunk;
    for (int i = ridge_pipeline_range_of(&s->pipeline, chunk).first; i <= microbatch;
         i++)
        line_s = fmax(line_s, ends[source][i]) + s->times.send_s;
    return line_s;
}

static double raised_end_s(const sample *s, fixpoint *f, int stage,
                           const ridge_action *a, double free_s)
{
    double(*ends)[MICROBATCHES_MOST] =
        a->pass == RIDGE_PASS_FORWARD ? f->forward_s : f->backward_s;
    const int source = ridge_pipeline_source_of(&s->pipeline, stage, a->pass);
    double start_s = free_s;
    if (source >= 0)
        start_s = fmax(start_s, arrival_s(s, ends, source, stage, a->microbatch));
    const double end_s = start_s + work_s(&s->times.stages[stage], a->pass);
    if (a->pass != RIDGE_PASS_BACKWARD_WEIGHT)
        ends[stage][a->microbatch] = end_s;
    return end_s;
}

/* Once through all lists. @return by how much any end was raised */
static double sweep(const sample *s, fixpoint *f, double (*ends_s)[ACTIONS_MOST])
{
    double change_s = 0;
    for (int rank = 0; rank < s->pipeline.ranks; rank++) {
        double free_s = 0;
        for (int i = 0; i < s->schedule.ranks[rank].n; i++) {
            const ridge_action *a = &s->schedule.ranks[rank].actions[i];
            free_s = raised_end_s(s, f, stage_of(s, rank, a), a, free_s);
            change_s = fmax(change_s, free_s - ends_s[rank][i]);
            ends_s[rank][i] = free_s;
        }
    }
    return change_s;
}

static void assert_same_ends(const sample *s, double (*ends_s)[ACTIONS_MOST])
{
    const ridge_pipeline_timeline t = pipeline_play(s->cx, &s->schedule, &s->times);
    for (int rank = 0; rank < s->pipeline.ranks; rank++) {
        /* Whole numbers of seconds: exact. */
        for (int i = 0; i < s->schedule.ranks[rank].n; i++)
            assert_near(t.ranks[rank].actions[i].end_s, ends_s[rank][i], 0);
    }
}

static void times_are_the_least_that_satisfy_all_waits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        seeded at = seed;
        sample s = {.cx = ridge_ctx_open(), .pipeline = pipeline_random(&at)};
        s.schedule = pipeline_make(s.cx, s.pipeline.kind, s.pipeline.ranks,
                                   s.pipeline.chunks, s.pipeline.microbatches);
        s.times = pipeline_random_times(s.cx, &s.pipeline, &at);
        fixpoint f = {.forward_s = {{0}}};
        double ends_s[STAGES_MOST][ACTIONS_MOST] = {{0}};
        while (sweep(&s, &f, ends_s) > 0)
            continue;
        assert_same_ends(&s, ends_s);
        ridge_ctx_close(s.cx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_the_least_that_satisfy_all_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
