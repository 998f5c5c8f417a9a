/*
 * Terms may grow from the least ones to a layout's: exchanges that take longer expose
 * more, and hide no more than they take. Two things could shorten a step meanwhile. A
 * pass that grows alone changes how passes fall between each other: see
 * pipeline_least_s. And a stage that takes longer by d hides d more of what comes once
 * a step; but all its microbatches take as long, so d is at most a microbatch's share
 * of what the stage waits, or the whole step grows by more. What it waits for its host
 * is part of either pass, and may go from one to the other.
 */
#include "least_price.h"
#include "larger.h"

double least_price_passes_s(const train_case *tc, const train_terms *x,
                            const ridge_layout *l, double m)
{
    const train_stages *stages = x->stages;
    const double send_s = l->has_pp_overlap ? x->send.expected_s : 0;
    if (!ridge_chip_is_overlapped(tc->chip))
        return 0;
    for (int i = 0; i < stages->n; i++) {
        const stage_time s = train_stage_time(tc, x, l, &stages->stages[i], NULL);
        const double half_s = stage_time_total_s(&s) / 2;
        stages->passes[i] = (stage_pass){.forward_s = half_s, .backward_s = half_s};
    }
    return pipeline_least_s(l, stages, stages->passes, m, send_s);
}

double least_price_step_s(const train_case *tc, const train_terms *x,
                          const ridge_layout *l, double m, double passes_s)
{
    double end_s = 0;
    if (!ridge_chip_is_overlapped(tc->chip))
        return 0;
    for (int i = 0; i < x->stages->n; i++) {
        stage_time s = train_stage_time(tc, x, l, &x->stages->stages[i], NULL);
        const double wait_s =
            positive(passes_s / m - stage_time_total_s(&s)) + s.parts.host_s;
        s.fwd_s += wait_s;
        s.bwd_s += wait_s;
        end_s = larger(end_s, train_end_s(tc, x, l, i, &s));
    }
    return passes_s + end_s;
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
