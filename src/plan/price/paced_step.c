/*
 * The passes of priced stages handed to src/simulate to be played, and what no play of
 * them takes less than: chains of passes that wait for each other.
 * See docs/design/simulation.md.
 */
#include "paced_step.h"
#include "larger.h"

#include "ridge/simulate_pace.h"

#include <limits.h>
#include <math.h>

/* ---- stages --------------------------------------------------------------------- */

/* A V has two chunks a rank: its first rank has both ends, its last one the turn. */
double train_stage_sends(const ridge_layout *l, const train_stage *stage,
                         bool is_backward)
{
    const bool is_folded = l->schedule == RIDGE_SCHEDULE_ZB_V;
    if (l->pp > 1 && l->schedule == RIDGE_SCHEDULE_DUALPIPE)
        return stage->has_head ? 0.5 : 1; /* half of the microbatches end there */
    const bool is_turn = stage->first == l->pp - 1;
    const bool is_end = is_folded     ? stage->has_embedding || is_turn
                        : is_backward ? stage->has_embedding
                                      : stage->has_head;
    if (l->pp == 1)
        return 0;
    return (is_folded ? 2 : (double)l->vpp) - (is_end ? 1 : 0);
}

ridge_pipeline train_pipeline_of(const ridge_layout *l, int64_t microbatches)
{
    return (ridge_pipeline){
        .kind = l->pp > 1 ? ridge_layout_schedule(l) : RIDGE_SCHEDULE_1F1B,
        .ranks = (int)l->pp,
        .chunks = l->pp == 1                       ? 1
                  : ridge_layout_has_two_chunks(l) ? 2
                                                   : (int)l->vpp,
        .microbatches = microbatches < INT_MAX ? (int)microbatches : INT_MAX};
}

bool train_is_barrier_free(const ridge_pipeline *p)
{
    return p->ranks > 1 && ridge_schedule_is_split(p->kind) &&
           p->kind != RIDGE_SCHEDULE_DUALPIPE;
}

void stage_pass_set(stage_pass *pass, const train_stage *stage,
                    const ridge_stage_work *whole, const ridge_stage_work *bare)
{
    const double copies = stage->copies > 1 ? 2 : 1; /* half of the microbatches each */
    pass->own = (ridge_stage_time){ridge_pass_work_s(&bare->forward),
                                   ridge_pass_work_s(&bare->backward_input),
                                   ridge_pass_work_s(&bare->backward_weight)};
    pass->head = (ridge_stage_time){
        copies * positive(ridge_pass_work_s(&whole->forward) - pass->own.forward_s),
        copies * positive(ridge_pass_work_s(&whole->backward_input) -
                          pass->own.backward_input_s),
        copies * positive(ridge_pass_work_s(&whole->backward_weight) -
                          pass->own.backward_weight_s)};
}

void stage_pass_set_end(stage_pass *pass, const ridge_step_end *end)
{
    pass->reduce_s = end->reduce_exposed_s + end->slowdown_s;
    pass->behind_s = end->optimizer_s + end->offload_s + end->gather_exposed_s;
}

/* ---- the play ------------------------------------------------------------------- */

static bool is_sent(const ridge_pipeline *p, int stage, ridge_pass pass)
{
    const int target = ridge_pipeline_target_of(p, stage, pass);
    return target >= 0 && ridge_pipeline_is_remote(p, stage, target);
}

static ridge_stage_time virtual_stage(const ridge_pipeline *p, const stage_pass *pass,
                                      int stage)
{
    const bool is_dual = p->kind == RIDGE_SCHEDULE_DUALPIPE;
    const int ways = is_dual ? p->ranks : p->ranks * p->chunks; /* from end to end */
    const double share = is_dual ? 1 : 1 / (double)p->chunks;
    const double heads = stage % ways == ways - 1 ? 1 : 0;
    ridge_stage_time t = {
        share * pass->own.forward_s + heads * pass->head.forward_s,
        share * pass->own.backward_input_s + heads * pass->head.backward_input_s,
        share * pass->own.backward_weight_s + heads * pass->head.backward_weight_s};
    if (is_sent(p, stage, RIDGE_PASS_FORWARD))
        t.forward_s += pass->down_s;
    if (is_sent(p, stage, RIDGE_PASS_BACKWARD_INPUT))
        t.backward_input_s += pass->up_s;
    return t;
}

static double play(const train_case *tc, const train_stages *stages, ridge_pace *pace,
                   ridge_stage_time *times, double *close_s)
{
    const ridge_pipeline *p = &pace->pipeline;
    double behind_s = 0;
    for (int s = 0; s < p->ranks * p->chunks; s++) {
        const int rank = ridge_pipeline_place_of(p, s).rank;
        times[s] = virtual_stage(p, &stages->passes[stages->of_rank[rank]], s);
    }
    for (int r = 0; r < p->ranks; r++) {
        const stage_pass *pass = &stages->passes[stages->of_rank[r]];
        close_s[r] = pass->reduce_s + (pace->has_barrier ? 0 : pass->behind_s);
        if (pace->has_barrier)
            behind_s = larger(behind_s, pass->behind_s);
    }
    pace->stages = times;
    pace->close_s = close_s;
    return ridge_pacer_step_s(tc->pacer, pace) + behind_s;
}

static double time_s(const ridge_stage_time *t)
{
    return t->forward_s + t->backward_input_s + t->backward_weight_s;
}

double paced_step_s(const train_case *tc, const ridge_layout *l,
                    const train_stages *stages, int64_t microbatches, double send_s)
{
    ridge_arena *scratch = ridge_ctx_scratch(tc->cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    const stage_pass *only = &stages->passes[0];
    ridge_pace pace = {.pipeline = train_pipeline_of(l, microbatches),
                       .microbatches = microbatches,
                       .send_s = send_s};
    const size_t ranks = (size_t)pace.pipeline.ranks;
    double step_s = (double)INFINITY;
    if (l->pp == 1)
        return (double)microbatches * (time_s(&only->own) + time_s(&only->head)) +
               only->reduce_s + only->behind_s;
    pace.has_barrier = !train_is_barrier_free(&pace.pipeline);
    ridge_stage_time *times =
        ridge_new(scratch, ridge_stage_time, ranks * (size_t)pace.pipeline.chunks);
    double *close_s = ridge_new(scratch, double, ranks);
    if (times != NULL && close_s != NULL)
        step_s = play(tc, stages, &pace, times, close_s);
    ridge_arena_rewind(scratch, mark);
    return step_s;
}

/* Sums of the same times in another order. */
static const double ROUNDING = 1e-12;

/* Where more of what comes once a step hides behind the passes than its own rank's, it
 * is that much less. */
void paced_parts_fill(ridge_step_parts *parts, double step_s)
{
    double *const once_s[] = {&parts->dp_s, &parts->slowdown_s, &parts->optimizer_s,
                              &parts->offload_s, &parts->pp_s};
    double over_s;
    parts->bubble_s = 0;
    over_s = ridge_step_total_s(parts) - step_s;
    if (fabs(over_s) <= ROUNDING * step_s)
        return;
    parts->bubble_s = positive(-over_s);
    for (size_t i = 0; i < RIDGE_COUNT_OF(once_s) && over_s > 0; i++) {
        const double less_s = fmin(over_s, *once_s[i]);
        *once_s[i] -= less_s;
        over_s -= less_s;
    }
}

/* ---- what it takes at least ------------------------------------------------------ */

/* A pipeline, one rank after the other. */
typedef struct pipe_walk {
    const ridge_layout *layout;
    const train_stages *stages;
    const double *totals_s;
    double m, v;
    double sum_s;    /* of all stages */
    double most_s;   /* of the slowest */
    double send_s;   /* a message, where ranks do not wait for it */
    double spared_s; /* messages of the first rank that are off the way */
} pipe_walk;

/*
 * 1F1B. A chain goes down to a rank, through all its passes, and up again. Where the w
 * ranks behind it take longer for a microbatch than its own passes of w others, it goes
 * down to the last one and back: at the start among its first forward passes, at the
 * end among its last backward ones. However passes share what a stage takes, that is
 *
 *     max over ranks of  before + m t + max(0, 2 behind - w t)
 *
 * With v chunks a rank the way down to it and up again is a v-th as long, and of the
 * 2 v - 1 messages of the first rank one is on it. The second
 * way back is one of its own only where more microbatches follow than wait behind.
 */
static double one_by_one_s(const pipe_walk *p)
{
    double before_s = 0;
    double most_s = 0;
    for (int64_t r = 0; r < p->layout->pp; r++) {
        const double total_s = p->totals_s[p->stages->of_rank[r]];
        const double w = (double)(p->layout->pp - 1 - r);
        const double behind_s = p->sum_s - before_s - total_s + 2 * w * p->send_s;
        const double wait_s =
            p->v > 1 || p->m < w + 2 ? 0 : positive(2 * behind_s - w * total_s);
        const double spared_s = r > 0 ? p->spared_s : 0;
        const double fill_s = before_s / p->v - spared_s + 2 * (double)r * p->send_s;
        most_s = larger(most_s, fill_s + p->m * total_s + wait_s);
        before_s += total_s;
    }
    return most_s;
}

double paced_least_s(const ridge_layout *l, const train_stages *stages,
                     const double *totals_s, double microbatches, double send_s)
{
    pipe_walk p = {.layout = l,
                   .stages = stages,
                   .totals_s = totals_s,
                   .m = microbatches,
                   .v = (double)l->vpp,
                   .send_s = l->has_pp_overlap ? send_s : 0};
    p.spared_s = l->has_pp_overlap ? 0 : send_s * (p.v - 1) / p.v;
    for (int i = 0; i < stages->n; i++) {
        p.sum_s += stages->stages[i].count * totals_s[i];
        p.most_s = larger(p.most_s, totals_s[i]);
    }
    if (l->pp == 1 || ridge_schedule_is_split(l->schedule))
        return p.m * p.most_s;
    /* GPipe: all go down behind the slowest pass, and up again behind the slowest. */
    if (l->schedule == RIDGE_SCHEDULE_GPIPE)
        return p.sum_s + (p.m - 1) * p.most_s + 2 * (double)(l->pp - 1) * p.send_s;
    return one_by_one_s(&p);
}
