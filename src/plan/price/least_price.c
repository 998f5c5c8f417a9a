/*
 * Terms may grow from the least ones to a layout's: exchanges that take longer expose
 * more, and hide no more than they take. One thing could shorten a step meanwhile: a
 * stage that takes longer by d hides d more of what comes once a step. But all its
 * microbatches take as long, so d is at most a microbatch's share of what the stage
 * waits, or the whole step grows by more. What it waits for its host is part of either
 * pass, and may go from one to the other.
 */
#include "least_price.h"
#include "larger.h"

/* A microbatch; messages beside compute are the play's to place. */
static double total_of(const ridge_layout *l, const stage_time *s)
{
    return stage_time_total_s(s) - (l->has_pp_overlap ? s->parts.pp_s : 0);
}

double least_price_passes_s(const train_case *tc, const train_terms *x,
                            const ridge_layout *l, double m)
{
    const train_stages *stages = x->stages;
    if (!ridge_chip_is_overlapped(tc->chip))
        return 0;
    for (int i = 0; i < stages->n; i++) {
        const stage_time s = train_stage_time(tc, x, l, &stages->stages[i], NULL);
        stages->totals_s[i] = total_of(l, &s);
    }
    return paced_least_s(l, stages, stages->totals_s, m, x->send.expected_s);
}

static stage_pass end_behind(const train_case *tc, const train_terms *x,
                             const ridge_layout *l, int stage, const stage_time *s,
                             double wait_s)
{
    stage_time waiting = *s;
    stage_pass pass = {.reduce_s = 0};
    waiting.fwd_s += wait_s + s->parts.host_s;
    waiting.bwd_s += wait_s + s->parts.host_s;
    const ridge_step_end end = train_end_of(tc, x, l, stage, &waiting);
    stage_pass_set_end(&pass, &end);
    return pass;
}

double least_price_step_s(const train_case *tc, const train_terms *x,
                          const ridge_layout *l, double m, double passes_s)
{
    const ridge_pipeline pipeline = train_pipeline_of(l, 1);
    const bool has_barrier = !train_is_barrier_free(&pipeline);
    double reduced_s = passes_s;
    double behind_s = 0;
    if (!ridge_chip_is_overlapped(tc->chip))
        return 0;
    for (int i = 0; i < x->stages->n; i++) {
        const stage_time s = train_stage_time(tc, x, l, &x->stages->stages[i], NULL);
        const double total_s = total_of(l, &s);
        const stage_pass own = end_behind(tc, x, l, i, &s, 0);
        const stage_pass late =
            end_behind(tc, x, l, i, &s, positive(passes_s / m - total_s));
        const double after_s = own.reduce_s + (has_barrier ? 0 : own.behind_s);
        reduced_s = larger(reduced_s, m * total_s + after_s);
        behind_s = larger(behind_s, has_barrier ? late.behind_s : 0);
    }
    return reduced_s + behind_s;
}

/* ---- terms ----------------------------------------------------------------------- */

static ridge_time smaller(ridge_time a, ridge_time b)
{
    return (ridge_time){a.bound_s < b.bound_s ? a.bound_s : b.bound_s,
                        a.expected_s < b.expected_s ? a.expected_s : b.expected_s};
}

void least_exchanges(const train_case *tc, const layer_exchange *x,
                     layer_exchange *least)
{
    for (int k = 0; k <= tc->n_kinds; k++) {
        for (int c = 0; c < EXCHANGE_CLASSES; c++) {
            layer_exchange *l = &least[k];
            l->fwd[c] = smaller(l->fwd[c], x[k].fwd[c]);
            l->bwd[c] = smaller(l->bwd[c], x[k].bwd[c]);
            l->beside[c] = smaller(l->beside[c], x[k].beside[c]);
        }
    }
}

void least_shards(const train_case *tc, const shard_time *x, shard_time *least)
{
    for (int k = 0; k < tc->n_kinds; k++) {
        least[k].gather = smaller(least[k].gather, x[k].gather);
        least[k].scatter = smaller(least[k].scatter, x[k].scatter);
    }
}

void least_syncs(const train_stages *stages, const step_sync *x, step_sync *least)
{
    for (int i = 0; i < stages->n; i++) {
        least[i].reduce = smaller(least[i].reduce, x[i].reduce);
        least[i].gather = smaller(least[i].gather, x[i].gather);
    }
}
