/*
 * A fleet's plan played out. Of one pipeline the passes are those of the sheet that
 * priced it. Of replicas each pool plays its own step, and the fleet's ends with the
 * last of them.
 */
#include "ridge/plan_fleet_simulation.h"

#include "fleet_sheet.h"
#include "train_simulation.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* ---- one pipeline ------------------------------------------------------------------
 */

/* Stages, ends and messages of a step, by rank. */
typedef struct fleet_passes {
    ridge_stage_work *stages;
    ridge_step_end *ends;
    ridge_stage_time *sent_s;
} fleet_passes;

/* A message goes beside compute where the stage's own software lets it. */
static void read_rank(const fleet_sheet *s, int rank, fleet_passes *out)
{
    const int at = s->stages.of_rank[rank];
    const train_stage *stage = &s->stages.stages[at];
    const fleet_part *p = s->parts[s->part_of[rank]];
    ridge_stage_work *work = &out->stages[rank];
    *work = train_stage_work(p->tc, &p->terms, &p->layout, stage);
    work->has_embedding = stage->has_embedding;
    work->has_head = stage->has_head;
    work->layers = train_stage_total(stage, p->tc->n_kinds);
    out->ends[rank] = train_step_end(p->tc, &p->terms, &p->layout, at);
    if (p->layout.has_pp_overlap)
        return;
    out->sent_s[rank].forward_s = train_stage_sends(&p->layout, stage, false) *
                                  fleet_sheet_message(s, rank, rank + 1).expected_s;
    out->sent_s[rank].backward_input_s =
        train_stage_sends(&p->layout, stage, true) *
        fleet_sheet_message(s, rank, rank - 1).expected_s;
}

static ridge_status read_step(const fleet_sheet *s, const ridge_fleet_price *price,
                              ridge_train_step *out)
{
    ridge_ctx *cx = s->fc->cx;
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_layout *l = &s->parts[0]->layout;
    fleet_passes passes = {.stages = ridge_new(arena, ridge_stage_work, (size_t)s->pp),
                           .ends = ridge_new(arena, ridge_step_end, (size_t)s->pp),
                           .sent_s = ridge_new(arena, ridge_stage_time, (size_t)s->pp)};
    if (passes.stages == NULL || passes.ends == NULL || passes.sent_s == NULL)
        return ridge_fail_nomem(cx);
    *out = (ridge_train_step){.slice = price->pools[0].slice, .price = price->price};
    out->price.layout.pp = s->pp;
    out->pipeline = (ridge_pipeline){.kind = ridge_layout_schedule(l),
                                     .ranks = s->pp,
                                     .chunks = 1,
                                     .microbatches = (int)s->microbatches};
    RIDGE_TRY(ridge_pipeline_check(cx, &out->pipeline));
    for (int r = 0; r < s->pp; r++) {
        read_rank(s, r, &passes);
        if (l->has_pp_overlap)
            out->send_s =
                fmax(out->send_s, fleet_sheet_message(s, r, r + 1).expected_s);
    }
    out->stages = passes.stages;
    out->ends = passes.ends;
    out->sent_s = passes.sent_s;
    out->has_barrier = !train_is_barrier_free(&out->pipeline);
    out->is_overlapped = true;
    out->processor_share = 1;
    out->group_chips = train_group_chips(l);
    out->replicas = l->dp * l->fsdp * l->tp * l->cp / out->group_chips;
    return RIDGE_OK;
}

static ridge_status fail_fit(ridge_ctx *cx, ridge_fit fit)
{
    return ridge_fail(cx, RIDGE_E_ARG, "the layout of the fleet is not legal: %s",
                      ridge_fit_text(fit));
}

static ridge_status name_ranks(const fleet_sheet *s, ridge_fleet_simulation *out)
{
    const char **pools =
        ridge_arena_new(ridge_ctx_arena(s->fc->cx), (size_t)s->pp, sizeof *pools);
    if (pools == NULL)
        return ridge_fail_nomem(s->fc->cx);
    for (int r = 0; r < s->pp; r++)
        pools[r] = s->fc->slices[s->parts[s->part_of[r]]->part.pool].text;
    out->rank_pools = pools;
    return RIDGE_OK;
}

static ridge_status play_pipeline(fleet_case *fc, const ridge_fleet_plan *plan,
                                  const ridge_step_trouble *trouble,
                                  ridge_fleet_simulation *out)
{
    fleet_sheet *sheet = NULL;
    ridge_fleet_price *price = ridge_new(ridge_ctx_arena(fc->cx), ridge_fleet_price, 1);
    ridge_train_simulation *sim = &out->pools[0].simulation;
    if (price == NULL)
        return ridge_fail_nomem(fc->cx);
    RIDGE_TRY(fleet_layout_price(fc, &plan->pipeline, &sheet, price));
    if (price->price.fit != RIDGE_FIT_OK)
        return fail_fit(fc->cx, price->price.fit);
    if (sheet->microbatches > INT_MAX)
        return ridge_fail(fc->cx, RIDGE_E_ARG,
                          "%lld microbatches a step are too many to play: take a "
                          "larger microbatch",
                          (long long)sheet->microbatches);
    RIDGE_TRY(read_step(sheet, price, &sim->step));
    RIDGE_TRY(name_ranks(sheet, out));
    RIDGE_TRY(train_simulation_play(fc->cx, trouble, sim));
    out->n = 1;
    out->closed_s = price->price.step_time_s;
    out->played_s = sim->outcome.calm_s;
    out->mean_s = sim->outcome.mean_s;
    out->p90_s = sim->outcome.p90_s;
    return RIDGE_OK;
}

/* ---- replicas ----------------------------------------------------------------------
 */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Each step ends with its last pool. */
static ridge_status join_steps(ridge_ctx *cx, ridge_fleet_simulation *out)
{
    const int64_t n = out->pools[0].simulation.outcome.steps;
    double *steps = ridge_new(ridge_ctx_arena(cx), double, (size_t)n);
    if (steps == NULL)
        return ridge_fail_nomem(cx);
    for (int64_t i = 0; i < n; i++) {
        for (int p = 0; p < out->n; p++)
            steps[i] = fmax(steps[i], out->pools[p].simulation.outcome.steps_s[i]);
        out->mean_s += steps[i] / (double)n;
    }
    qsort(steps, (size_t)n, sizeof *steps, compare_doubles);
    out->p90_s = steps[(int64_t)ceil(0.9 * (double)n) - 1];
    return RIDGE_OK;
}

static ridge_status play_replicas(fleet_case *fc, const ridge_fleet_plan *plan,
                                  const ridge_step_trouble *trouble,
                                  ridge_fleet_simulation *out)
{
    ridge_fleet_replicas r;
    RIDGE_TRY(ridge_fleet_replicas_price(fc->cx, fc->request, plan->shares,
                                         plan->n_shares, &r));
    if (r.price.fit != RIDGE_FIT_OK)
        return fail_fit(fc->cx, r.price.fit);
    if (trouble->stragglers > 0)
        return ridge_fail(fc->cx, RIDGE_E_ARG,
                          "stragglers: of replicas in %d pools nothing says which pool "
                          "they are in: play the plan of one pool",
                          r.n);
    out->n = r.n;
    out->closed_s = r.price.step_time_s;
    for (int i = 0; i < r.n; i++) {
        ridge_fleet_played *pool = &out->pools[i];
        ridge_simulation_request asked = {.trouble = *trouble};
        asked.trouble.seed += (uint64_t)i;
        pool->batch_seqs = r.shares[i].batch_seqs;
        pool->request = fc->requests[r.shares[i].pool];
        pool->request.batch_tokens = (double)pool->batch_seqs * fc->pools[0].seq_tokens;
        pool->request.between = &fc->together[r.shares[i].pool];
        RIDGE_TRY(ridge_train_simulate(fc->cx, &pool->request,
                                       &r.shares[i].price.layout, &asked,
                                       &pool->simulation));
        out->played_s = fmax(out->played_s, pool->simulation.outcome.calm_s);
    }
    return join_steps(fc->cx, out);
}

ridge_status ridge_fleet_simulate(ridge_ctx *cx, const ridge_train_request *request,
                                  const ridge_fleet_plan *plan,
                                  const ridge_step_trouble *trouble,
                                  ridge_fleet_simulation *out)
{
    fleet_case *fc = NULL;
    RIDGE_TRY(fleet_case_open(cx, request, &fc));
    *out = (ridge_fleet_simulation){.is_replicas = plan->is_replicas};
    return plan->is_replicas ? play_replicas(fc, plan, trouble, out)
                             : play_pipeline(fc, plan, trouble, out);
}
