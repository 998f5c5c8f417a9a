/*
 * Running a schedule. Since each rank's order is fixed, an action starts at the latest
 * of a few times: the end of the one before it on its rank, the arrival of what it
 * needs, and the receipt of what its rank may not send more of. So times are found one
 * after the other, as soon as those are known; ranks that cannot go on wait in a
 * circle.
 */
#include "pipeline_run.h"

#include <math.h>

/* ---- messages ------------------------------------------------------------------ */

int ridge__way_of(ridge_pass pass)
{
    return pass == RIDGE_PASS_FORWARD ? RIDGE__DOWN : RIDGE__UP;
}

static size_t cell(const ridge__pipeline_run *run, int stage, int n)
{
    return (size_t)stage * (size_t)run->schedule->pipeline.microbatches + (size_t)n;
}

/* Hand on what an action made, and note what must be received before its rank goes on.
 */
static void send(ridge__pipeline_run *run, ridge__rank_run *rank,
                 const ridge_action *action, int stage)
{
    const int target =
        ridge_pipeline_target_of(&run->schedule->pipeline, stage, action->pass);
    if (target < 0)
        return;
    ridge__mail *mail = &run->mail[ridge__way_of(action->pass)];
    double *arrival_s = &mail->arrival_s[cell(run, target, action->microbatch)];
    *arrival_s = rank->free_s;
    if (!ridge_pipeline_is_remote(&run->schedule->pipeline, stage, target))
        return;
    *arrival_s = fmax(*arrival_s, mail->line_free_s[target]) + run->times->send_s;
    mail->line_free_s[target] = *arrival_s;
    const int before = mail->n_sent[target]++ - run->times->pending_most;
    if (mail->received_s != NULL && before >= 0)
        rank->sent_s = &mail->received_s[cell(run, target, before)];
}

static void receive(ridge__pipeline_run *run, const ridge_action *action, int stage,
                    double start_s)
{
    const ridge_pipeline *p = &run->schedule->pipeline;
    const int source = ridge_pipeline_source_of(p, stage, action->pass);
    ridge__mail *mail = &run->mail[ridge__way_of(action->pass)];
    if (mail->received_s != NULL && source >= 0 &&
        ridge_pipeline_is_remote(p, stage, source))
        mail->received_s[cell(run, stage, mail->n_received[stage]++)] = start_s;
}

/* ---- actions ------------------------------------------------------------------- */

/* INFINITY: not known yet. */
static double start_of(const ridge__pipeline_run *run, const ridge__rank_run *rank,
                       const ridge_action *action, int stage)
{
    const double free_s =
        rank->sent_s == NULL ? rank->free_s : fmax(rank->free_s, *rank->sent_s);
    if (ridge_pipeline_source_of(&run->schedule->pipeline, stage, action->pass) < 0)
        return free_s;
    const ridge__mail *mail = &run->mail[ridge__way_of(action->pass)];
    return fmax(free_s, mail->arrival_s[cell(run, stage, action->microbatch)]);
}

static double duration_of(const ridge_stage_time *stage, ridge_pass pass)
{
    switch (pass) {
    case RIDGE_PASS_FORWARD:
        return stage->forward_s;
    case RIDGE_PASS_BACKWARD:
        return stage->backward_input_s + stage->backward_weight_s;
    case RIDGE_PASS_BACKWARD_INPUT:
        return stage->backward_input_s;
    case RIDGE_PASS_BACKWARD_WEIGHT:
        return stage->backward_weight_s;
    }
    return 0;
}

/* Run what a rank can. @return whether there was any */
static bool rank_go_on(ridge__pipeline_run *run, int index)
{
    const ridge_action_list *list = &run->schedule->ranks[index];
    ridge__rank_run *rank = &run->ranks[index];
    const int first = rank->next;
    for (; rank->next < list->n; rank->next++) {
        const ridge_action *action = &list->actions[rank->next];
        const int stage = ridge_pipeline_stage_of(
            &run->schedule->pipeline,
            (ridge_pipeline_place){.rank = index, .chunk = action->chunk});
        const double start_s = start_of(run, rank, action, stage);
        if (isinf(start_s))
            break;
        const double work_s = duration_of(&run->times->stages[stage], action->pass);
        rank->free_s = start_s + work_s;
        rank->sent_s = NULL;
        run->out[index].busy_s += work_s;
        run->actions[index][rank->next] =
            (ridge_action_time){.start_s = start_s, .end_s = rank->free_s};
        receive(run, action, stage, start_s);
        send(run, rank, action, stage);
    }
    return rank->next > first;
}

/* Down and up the ranks, as the messages go. */
int ridge__run_all(ridge__pipeline_run *run)
{
    const int p = run->schedule->pipeline.ranks;
    bool has_moved = true;
    while (has_moved) {
        has_moved = false;
        for (int i = 0; i < p; i++)
            has_moved = rank_go_on(run, i) || has_moved;
        for (int i = p - 1; i >= 0; i--)
            has_moved = rank_go_on(run, i) || has_moved;
    }
    for (int i = 0; i < p; i++) {
        if (run->ranks[i].next < run->schedule->ranks[i].n)
            return i;
    }
    return -1;
}

/* ---- opening ------------------------------------------------------------------- */

/* @return n times that are not known; NULL: no memory */
static double *unknown_times(ridge_arena *arena, size_t n)
{
    double *times = ridge_new(arena, double, n);
    for (size_t i = 0; times != NULL && i < n; i++)
        times[i] = (double)INFINITY;
    return times;
}

static bool mail_open(ridge_arena *arena, const ridge__pipeline_run *run,
                      ridge__mail *mail)
{
    const size_t stages = (size_t)run->stages;
    const size_t cells = stages * (size_t)run->schedule->pipeline.microbatches;
    *mail = (ridge__mail){.arrival_s = unknown_times(arena, cells),
                          .line_free_s = ridge_new(arena, double, stages),
                          .n_sent = ridge_new(arena, int, stages),
                          .n_received = ridge_new(arena, int, stages)};
    if (run->times->has_pending_limit) {
        mail->received_s = unknown_times(arena, cells);
        if (mail->received_s == NULL)
            return false;
    }
    return mail->arrival_s != NULL && mail->line_free_s != NULL &&
           mail->n_sent != NULL && mail->n_received != NULL;
}

ridge_status ridge__run_open(ridge_ctx *cx, ridge_arena *arena,
                             const ridge_pipeline_schedule *schedule,
                             const ridge_pipeline_times *times,
                             ridge__pipeline_run *out)
{
    const ridge_pipeline *p = &schedule->pipeline;
    const size_t ranks = (size_t)p->ranks;
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    *out = (ridge__pipeline_run){.schedule = schedule,
                                 .times = times,
                                 .stages = p->ranks * p->chunks,
                                 .ranks = ridge_new(scratch, ridge__rank_run, ranks),
                                 .out = ridge_new(arena, ridge_rank_time, ranks),
                                 .actions =
                                     ridge_new(scratch, ridge_action_time *, ranks)};
    if (out->ranks == NULL || out->out == NULL || out->actions == NULL ||
        !mail_open(scratch, out, &out->mail[RIDGE__DOWN]) ||
        !mail_open(scratch, out, &out->mail[RIDGE__UP]))
        return ridge_fail_nomem(cx);
    for (int i = 0; i < p->ranks; i++) {
        out->actions[i] =
            ridge_new(arena, ridge_action_time, (size_t)schedule->ranks[i].n);
        if (out->actions[i] == NULL)
            return ridge_fail_nomem(cx);
        out->out[i].actions = out->actions[i];
    }
    return RIDGE_OK;
}
