/*
 * What comes of running a schedule: a timeline, and how many messages must be allowed
 * under way. Running itself is in pipeline_run.c.
 */
#include "pipeline_run.h"

#include <math.h>

/* ---- input --------------------------------------------------------------------- */

/* No sum of times of a schedule is infinite. */
static bool is_time(double time_s)
{
    static const double MOST_S = 1e100;
    return time_s >= 0 && time_s <= MOST_S;
}

static ridge_status check_times(ridge_ctx *cx, const ridge_pipeline *p,
                                const ridge_pipeline_times *times)
{
    if (!is_time(times->send_s)) {
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "sending between ranks takes %s: a time is finite, and 0 or more",
            ridge_format_seconds(times->send_s).s);
    }
    if (times->has_pending_limit && times->pending_most < 0) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "at most %d messages under way: take 0 or more",
                          times->pending_most);
    }
    for (int i = 0; i < p->ranks * p->chunks; i++) {
        const ridge_stage_time *stage = &times->stages[i];
        const double all_s[] = {stage->forward_s, stage->backward_input_s,
                                stage->backward_weight_s};
        for (size_t k = 0; k < RIDGE_COUNT_OF(all_s); k++) {
            if (!is_time(all_s[k])) {
                return ridge_fail(
                    cx, RIDGE_E_ARG,
                    "a pass of stage %d takes %s: a time is finite, and 0 or more", i,
                    ridge_format_seconds(all_s[k]).s);
            }
        }
    }
    return RIDGE_OK;
}

/* ---- ranks that wait for each other -------------------------------------------- */

static ridge_status fail_stuck(ridge_ctx *cx, const ridge__pipeline_run *run, int rank)
{
    const ridge_action *at = &run->schedule->ranks[rank].actions[run->ranks[rank].next];
    const char *what = ridge_pass_letter(at->pass);
    if (run->times->has_pending_limit) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "with %d messages under way rank %d waits for ever before %s "
                          "of chunk %d, microbatch %d: allow more",
                          run->times->pending_most, rank, what, at->chunk,
                          at->microbatch);
    }
    return ridge_fail(cx, RIDGE_E_ARG,
                      "rank %d waits for ever before %s of chunk %d, microbatch %d: "
                      "ranks wait for each other in a circle; change their order",
                      rank, what, at->chunk, at->microbatch);
}

/* ---- timelines ----------------------------------------------------------------- */

static void sum_up(ridge__pipeline_run *run, ridge_pipeline_timeline *out)
{
    const int p = run->schedule->pipeline.ranks;
    *out = (ridge_pipeline_timeline){.ranks = run->out};
    for (int i = 0; i < p; i++) {
        const int n = run->schedule->ranks[i].n;
        ridge_rank_time *rank = &run->out[i];
        rank->start_s = rank->actions[0].start_s;
        rank->end_s = rank->actions[n - 1].end_s;
        out->makespan_s = fmax(out->makespan_s, rank->end_s);
        out->span_s = fmax(out->span_s, rank->end_s - rank->start_s);
    }
    for (int i = 0; i < p; i++)
        run->out[i].bubble_s = out->makespan_s - run->out[i].busy_s;
}

ridge_status ridge_pipeline_play(ridge_ctx *cx, const ridge_pipeline_schedule *schedule,
                                 const ridge_pipeline_times *times,
                                 ridge_pipeline_timeline *out)
{
    RIDGE_TRY(check_times(cx, &schedule->pipeline, times));
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    ridge__pipeline_run run;
    ridge_status st = ridge__run_open(cx, ridge_ctx_arena(cx), schedule, times, &run);
    const int stuck = st == RIDGE_OK ? ridge__run_all(&run) : -1;
    if (stuck >= 0)
        st = fail_stuck(cx, &run, stuck);
    if (st == RIDGE_OK)
        sum_up(&run, out);
    ridge_arena_rewind(scratch, mark);
    return st;
}

/* ---- messages under way -------------------------------------------------------- */

static ridge_status try_times(ridge_ctx *cx, const ridge_pipeline_schedule *schedule,
                              const ridge_pipeline_times *times, bool *is_through)
{
    ridge__pipeline_run run;
    RIDGE_TRY(ridge__run_open(cx, ridge_ctx_scratch(cx), schedule, times, &run));
    const int stuck = ridge__run_all(&run);
    *is_through = stuck < 0;
    return stuck >= 0 && !times->has_pending_limit ? fail_stuck(cx, &run, stuck)
                                                   : RIDGE_OK;
}

ridge_status ridge__run_try(ridge_ctx *cx, const ridge_pipeline_schedule *schedule,
                            bool has_pending_limit, int pending_most, bool *is_through)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    const size_t stages =
        (size_t)schedule->pipeline.ranks * (size_t)schedule->pipeline.chunks;
    const ridge_pipeline_times times = {
        .stages = ridge_new(scratch, ridge_stage_time, stages),
        .has_pending_limit = has_pending_limit,
        .pending_most = pending_most};
    const ridge_status st = times.stages == NULL
                                ? ridge_fail_nomem(cx)
                                : try_times(cx, schedule, &times, is_through);
    ridge_arena_rewind(scratch, mark);
    return st;
}

ridge_status ridge_pipeline_pending(ridge_ctx *cx,
                                    const ridge_pipeline_schedule *schedule, int *out)
{
    bool is_through = false;
    RIDGE_TRY(ridge__run_try(cx, schedule, false, 0, &is_through));
    int most = 0;
    for (;; most++) {
        RIDGE_TRY(ridge__run_try(cx, schedule, true, most, &is_through));
        if (is_through)
            break;
    }
    *out = most;
    return RIDGE_OK;
}
