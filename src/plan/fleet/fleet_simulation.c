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
    ridge_stage_work *stages; /* [p v] */
    ridge_step_end *ends;     /* [p] */
    ridge_stage_time *sent_s; /* [p v] */
} fleet_passes;

/* A virtual stage has its share of the layers of its rank. A message goes beside
 * compute where the stage's own software lets it. */
static ridge_status read_stage(const fleet_sheet *s, const ridge_pipeline *pipeline,
                               int index, fleet_passes *out)
{
    const int rank = ridge_pipeline_place_of(pipeline, index).rank;
    const int last = pipeline->ranks * pipeline->chunks - 1;
    const fleet_part *p = s->parts[s->part_of[rank]];
    const int kinds = p->tc->n_kinds;
    train_stage stage = s->stages.stages[s->stages.of_rank[rank]];
    double *layers = ridge_new(ridge_ctx_arena(s->fc->cx), double, (size_t)kinds);
    ridge_stage_work *work = &out->stages[index];
    if (layers == NULL)
        return ridge_fail_nomem(s->fc->cx);
    for (int k = 0; k < kinds; k++)
        layers[k] = stage.layers[k] / pipeline->chunks;
    stage.layers = layers;
    stage.has_embedding = index == 0;
    stage.has_head = index == last;
    *work = train_stage_work(p->tc, &p->terms, &p->layout, &stage);
    work->has_embedding = stage.has_embedding;
    work->has_head = stage.has_head;
    work->layers = train_stage_total(&stage, kinds);
    if (p->layout.has_pp_overlap)
        return RIDGE_OK;
    if (index < last)
        out->sent_s[index].forward_s =
            fleet_sheet_message(s, rank, rank + 1).expected_s;
    if (index > 0)
        out->sent_s[index].backward_input_s =
            fleet_sheet_message(s, rank, rank - 1).expected_s;
    return RIDGE_OK;
}

/* The network of each rank: its pool's; messages to another pool go between them. */
static ridge_status read_networks(const fleet_sheet *s, ridge_train_step *out)
{
    ridge_step_network *networks =
        ridge_new(ridge_ctx_arena(s->fc->cx), ridge_step_network, (size_t)s->pp);
    if (networks == NULL)
        return ridge_fail_nomem(s->fc->cx);
    for (int r = 0; r < s->pp; r++) {
        const fleet_part *own = s->parts[s->part_of[r]];
        const fleet_part *next = s->parts[s->part_of[r + 1 < s->pp ? r + 1 : r - 1]];
        networks[r] = train_step_network(own->tc->slice, &own->groups);
        if (own == next)
            continue;
        networks[r].pp_slice = &s->fc->between[own->part.pool][next->part.pool];
        networks[r].pp = (ridge_group){
            .n_spans = 1, .spans = {{.axis = 0, .size = 2, .stride = 1}}, .ranks = 2};
    }
    out->networks = networks;
    return RIDGE_OK;
}

static ridge_status read_step(const fleet_sheet *s, const ridge_fleet_price *price,
                              ridge_train_step *out)
{
    ridge_ctx *cx = s->fc->cx;
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_layout *l = &s->parts[0]->layout;
    const size_t n = (size_t)s->pp * (size_t)l->vpp;
    fleet_passes passes = {.stages = ridge_new(arena, ridge_stage_work, n),
                           .ends = ridge_new(arena, ridge_step_end, (size_t)s->pp),
                           .sent_s = ridge_new(arena, ridge_stage_time, n)};
    if (passes.stages == NULL || passes.ends == NULL || passes.sent_s == NULL)
        return ridge_fail_nomem(cx);
    *out = (ridge_train_step){.slice = price->pools[0].slice, .price = price->price};
    out->price.layout.pp = s->pp;
    out->pipeline = train_pipeline_of(&out->price.layout, s->microbatches);
    RIDGE_TRY(ridge_pipeline_check(cx, &out->pipeline));
    for (int r = 0; r < s->pp; r++) {
        const fleet_part *p = s->parts[s->part_of[r]];
        passes.ends[r] =
            train_step_end(p->tc, &p->terms, &p->layout, s->stages.of_rank[r]);
        if (l->has_pp_overlap)
            out->send_s =
                fmax(out->send_s, fleet_sheet_message(s, r, r + 1).expected_s);
    }
    for (int i = 0; i < (int)n; i++)
        RIDGE_TRY(read_stage(s, &out->pipeline, i, &passes));
    out->stages = passes.stages;
    out->ends = passes.ends;
    out->sent_s = passes.sent_s;
    RIDGE_TRY(read_networks(s, out));
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

/* The run of all pools: what one of them does not know, none does. */
static ridge_status play_run(const fleet_case *fc,
                             const ridge_simulation_request *asked,
                             const ridge_train_price *price, ridge_run_simulation *run)
{
    ridge_fleet_result *pools =
        ridge_new(ridge_ctx_arena(fc->cx), ridge_fleet_result, 1);
    ridge_train_price mean = *price;
    if (pools == NULL)
        return ridge_fail_nomem(fc->cx);
    pools->n_pools = fc->n;
    ridge_train_request told = *fc->request; /* whose failures an error is about */
    ridge_simulation_request of = *asked;
    for (int i = 0; i < fc->n; i++) {
        pools->requests[i] = fc->requests[i];
        if (ridge_money_mtbf_s(&fc->slices[i], &asked->money[i]) > 0)
            continue;
        told.slice = &fc->slices[i];
        of.money = &asked->money[i];
    }
    run->closed = ridge_fleet_money(pools, &mean, asked->money);
    return train_simulation_run(fc->cx, &told, &of, mean.step_time_s, run);
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
                                  const ridge_simulation_request *asked,
                                  ridge_fleet_simulation *out)
{
    const ridge_step_trouble *trouble = &asked->trouble;
    fleet_case *fc = NULL;
    RIDGE_TRY(fleet_case_open(cx, request, &fc));
    *out = (ridge_fleet_simulation){.is_replicas = plan->is_replicas};
    RIDGE_TRY(plan->is_replicas ? play_replicas(fc, plan, trouble, out)
                                : play_pipeline(fc, plan, trouble, out));
    if (!asked->has_failures)
        return RIDGE_OK;
    ridge_train_price price = out->pools[0].simulation.step.price;
    price.step_time_s = out->mean_s;
    RIDGE_TRY(play_run(fc, asked, &price, &out->run));
    out->has_failures = true;
    out->pools[0].simulation.run = out->run;
    out->pools[0].simulation.has_failures = !plan->is_replicas;
    return RIDGE_OK;
}
