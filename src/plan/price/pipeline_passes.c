/*
 * Closed forms of pipelines whose stages may differ, each the longest of a few chains
 * of passes that wait for each other. Held against the schedules played pass by pass:
 * see docs/design/simulation.md.
 */
#include "pipeline_passes.h"
#include "larger.h"

#include <math.h>

/* A pipeline, one rank after the other. */
typedef struct pipe_walk {
    const train_stages *stages;
    const stage_pass *passes;
    double m, v;
    double sum_s;     /* forward and backward, of all stages */
    double forward_s; /* of these, forward */
    double late_s;    /* of these, the weights' gradients */
    double most_s;    /* of the slowest */
    double send_s;    /* a message, where ranks do not wait for it */
    double w_most;    /* of ranks with more behind them chains are left out */
} pipe_walk;

static const stage_pass *pass_of(const pipe_walk *p, int64_t rank)
{
    return &p->passes[p->stages->of_rank[rank]];
}

static double total_s(const stage_pass *s)
{
    return s->forward_s + s->backward_s;
}

/*
 * Where messages go beside compute, microbatches cannot follow each other faster than a
 * message comes back. Of 1F1B, from a rank down to any other and up again, passes on
 * each of n ranks let n microbatches go on; n - 1 passes of its own come before or
 * behind:
 *
 *     max over neighbours of  m (their passes + 2 (n - 1) send) / n + (n - 1) max(f, b)
 */
static double rounds_s(const pipe_walk *p, int64_t rank)
{
    const stage_pass *own = pass_of(p, rank);
    const double pass_s = larger(own->forward_s, own->backward_s);
    double most_s = 0;
    double passes_s = 0;
    for (int64_t r = rank; r < p->stages->cut.pp; r++) {
        const double hops = (double)(r - rank);
        passes_s += total_s(pass_of(p, r));
        const double period_s = (passes_s + 2 * hops * p->send_s) / (hops + 1);
        most_s = larger(most_s, p->m * period_s + hops * pass_s);
    }
    return most_s;
}

/* Interleaved: a rank has started only so many passes of all its chunks, and each is on
 * its way down the stages behind and up again: sum over chunks of rounds / started. */
static double chunk_rounds_s(const pipe_walk *p, int64_t rank)
{
    const double pp = (double)p->stages->cut.pp;
    const double w = pp - 1 - (double)rank;
    const double stages =
        p->v * (pp * p->v - (double)rank) - pp * p->v * (p->v - 1) / 2;
    const double work_s = stages * p->sum_s / (pp * p->v);
    const double started = 2 * w + (p->v - 1) * pp + 1;
    return p->m * (work_s + 2 * (stages - p->v) * p->send_s) / started;
}

/*
 * 1F1B. A chain goes down to a rank, through all its passes, and up again. Where the w
 * ranks behind it take longer for a microbatch than its own passes of w others, it goes
 * down to the last one and back: at the start among its first forward passes, at the
 * end among its last backward ones.
 *
 *     max over ranks of  before + m (f + b) + max(0, behind - w f) + max(0, behind - w
 * b)
 *
 * With v chunks a rank, all but the m passes are a v-th as long.
 */
static double one_by_one_s(const pipe_walk *p)
{
    double before_s = 0;
    double most_s = 0;
    for (int64_t r = 0; r < p->stages->cut.pp; r++) {
        const stage_pass *s = pass_of(p, r);
        const double w = (double)(p->stages->cut.pp - 1 - r);
        if (w > p->w_most) {
            before_s += total_s(s);
            continue;
        }
        const double behind_s =
            p->sum_s - before_s - total_s(s) + 2 * w * p->v * p->send_s;
        const double fill_s = before_s / p->v + 2 * (double)r * p->send_s;
        const double wait_s = positive(behind_s - w * s->forward_s) +
                              positive(behind_s - w * s->backward_s);
        most_s = larger(most_s, fill_s + p->m * total_s(s) + wait_s / p->v);
        if (p->send_s > 0)
            most_s = larger(
                most_s, fill_s + (p->v > 1 ? chunk_rounds_s(p, r) : rounds_s(p, r)));
        before_s += total_s(s);
    }
    return most_s;
}

/* GPipe: all go down behind the slowest forward pass, and up behind the slowest
 * backward one. */
static double all_then_all_s(const pipe_walk *p)
{
    double forward_s = 0;
    double backward_s = 0;
    for (int i = 0; i < p->stages->n; i++) {
        forward_s = larger(forward_s, p->passes[i].forward_s);
        backward_s = larger(backward_s, p->passes[i].backward_s);
    }
    return p->sum_s + (p->m - 1) * (forward_s + backward_s) +
           2 * (double)(p->stages->cut.pp - 1) * p->send_s;
}

/* Interleaved: ranks are in the same chunk at about the same time, so a microbatch
 * takes what the slowest rank of each chunk does; the head is in the last one. */
static double interleaved_s(const pipe_walk *p)
{
    double chunk_s = 0;
    double last_s = 0;
    for (int i = 0; i < p->stages->n; i++) {
        const stage_pass *s = &p->passes[i];
        const double share_s = (total_s(s) - s->head_s) / p->v;
        chunk_s = larger(chunk_s, share_s);
        last_s = larger(last_s, share_s + s->head_s);
    }
    const double period_s = (p->v - 1) * chunk_s + last_s;
    return one_by_one_s(p) + p->m * positive(period_s - p->most_s);
}

/*
 * ZB-H1 and, twice as deep, ZB-H2: a rank's span from its first pass to its last.
 * Chains as of 1F1B, but only inputs' gradients are waited for, and d times as many
 * passes lie between; seen from the first rank, the last weights' gradients of a rank,
 * d for each rank before it and one, are off the chain, and its own last is on it. Of
 * equal stages (qi2023-zero-bubble, table 2)
 *
 *     zb-h1 (p - 1) max(I, F + I - W)        zb-h2 (p - 1) max(0, I - F, F + I - 2 W)
 */
static double late_weights_s(const pipe_walk *p, double depth)
{
    const stage_pass *first = pass_of(p, 0);
    double before_s = 0;
    double most_s = 0;
    for (int64_t r = 0; r < p->stages->cut.pp; r++) {
        const stage_pass *s = pass_of(p, r);
        const double input_s = total_s(s) - s->weight_s;
        const double w = (double)(p->stages->cut.pp - 1 - r);
        const double behind_s =
            p->sum_s - p->late_s - before_s - input_s + 2 * w * p->send_s;
        const double round_s =
            p->send_s > 0 ? p->m * (input_s + behind_s) / (depth * w + 1) : 0;
        const double own_s = larger(
            round_s, p->m * total_s(s) + positive(behind_s - depth * w * s->forward_s) +
                         positive(behind_s - depth * w * s->backward_s));
        const double off_s = (depth * (double)r + 1) * s->weight_s;
        const double fill_s = before_s + 2 * (double)r * p->send_s;
        most_s = larger(most_s, own_s + positive(fill_s - off_s + first->weight_s));
        before_s += input_s;
    }
    return most_s;
}

/*
 * ZB-V: the slowest rank waits for passes of the n others, less its own that lie
 * between. Found by playing equal stages, where it is exact for W no longer than I:
 *
 *     (p - 1) max(I - W, F - W, I - (F + W) / 2, F - (I + W) / 2, (W - F) / 2, 0)
 */
static double folded_s(const pipe_walk *p)
{
    const stage_pass *own = &p->passes[0];
    for (int i = 1; i < p->stages->n; i++)
        own = total_s(&p->passes[i]) > total_s(own) ? &p->passes[i] : own;
    const double n = (double)(p->stages->cut.pp - 1);
    const double f = own->forward_s;
    const double w = own->weight_s;
    const double i = own->backward_s - w;
    const double w_others = p->late_s - w;
    const double f_others = p->forward_s - f;
    const double i_others = p->sum_s - p->forward_s - p->late_s - i;
    const double back_s = i_others - n * fmin(w, (f + w) / 2);
    const double down_s = f_others - n * fmin(w, (i + w) / 2);
    const double late_s = (w_others - n * f) / 2;
    return p->m * p->most_s + positive(larger(larger(back_s, down_s), late_s));
}

/* DualPipe, where a forward pass and the backward pass beside it are one that waits for
 * both: half of the others, but for the rank's own pair, add F + 2 B - 3 W
 * (deepseek-v3-2024, table 2). */
static double both_ways_s(const pipe_walk *p)
{
    double wait_s = 0;
    double own_s = 0;
    for (int i = 0; i < p->stages->n; i++) {
        const stage_pass *s = &p->passes[i];
        const double one_s =
            positive(total_s(s) + s->backward_s - 3 * s->weight_s + 2 * p->send_s) / 2;
        wait_s += p->stages->stages[i].count * one_s;
        own_s = total_s(s) >= p->most_s ? one_s : own_s;
    }
    return p->m * p->most_s + positive(wait_s - 2 * own_s);
}

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

double stage_pass_send(stage_pass *pass, const ridge_layout *l,
                       const train_stage *stage, double send_s)
{
    const double down_s = train_stage_sends(l, stage, false) * send_s;
    const double up_s = train_stage_sends(l, stage, true) * send_s;
    pass->forward_s += down_s;
    pass->backward_s += up_s;
    return down_s + up_s;
}

static pipe_walk walk_of(const ridge_layout *l, const train_stages *stages,
                         const stage_pass *passes, double microbatches, double send_s)
{
    pipe_walk p = {.stages = stages,
                   .send_s = send_s,
                   .passes = passes,
                   .m = microbatches,
                   .v = l->pp > 1 ? (double)l->vpp : 1,
                   .w_most = (double)l->pp};
    for (int i = 0; i < stages->n; i++) {
        p.sum_s += stages->stages[i].count * total_s(&passes[i]);
        p.forward_s += stages->stages[i].count * passes[i].forward_s;
        p.late_s += stages->stages[i].count * passes[i].weight_s;
        p.most_s = larger(p.most_s, total_s(&passes[i]));
    }
    return p;
}

double pipeline_passes_s(const ridge_layout *l, const train_stages *stages,
                         const stage_pass *passes, double microbatches, double send_s)
{
    const pipe_walk p = walk_of(l, stages, passes, microbatches, send_s);
    if (l->pp == 1)
        return p.m * p.most_s;
    switch (ridge_layout_schedule(l)) {
    case RIDGE_SCHEDULE_GPIPE:
        return all_then_all_s(&p);
    case RIDGE_SCHEDULE_INTERLEAVED:
        return interleaved_s(&p);
    case RIDGE_SCHEDULE_ZB_H1:
        return late_weights_s(&p, 1);
    case RIDGE_SCHEDULE_ZB_H2:
        return late_weights_s(&p, 2);
    case RIDGE_SCHEDULE_ZB_V:
        return folded_s(&p);
    case RIDGE_SCHEDULE_DUALPIPE:
        return both_ways_s(&p);
    case RIDGE_SCHEDULE_1F1B:
        break;
    }
    return one_by_one_s(&p);
}

/* A rank that takes longer makes its own chain shorter only where more ranks wait
 * behind it than it has passes of the others between. */
double pipeline_least_s(const ridge_layout *l, const train_stages *stages,
                        const stage_pass *halves, double microbatches, double send_s)
{
    pipe_walk p = walk_of(l, stages, halves, microbatches, send_s);
    if (l->pp == 1 || ridge_schedule_is_split(l->schedule))
        return p.m * p.most_s;
    if (l->schedule == RIDGE_SCHEDULE_GPIPE)
        return all_then_all_s(&p);
    p.w_most = p.m * p.v;
    return one_by_one_s(&p);
}
