/*
 * A step of one layout as passes of a pipeline, from the terms of its price: so that a
 * run played out and the price start from the same numbers.
 */
#include "train_simulation.h"

#include "step_program.h"
#include "train_terms.h"

#include "ridge/cost_program.h"

#include <limits.h>

/* A step while it is read. */
typedef struct reading {
    train_case tc;
    const ridge_layout *layout;
    train_groups groups;
    train_terms terms;
    ridge_train_step step;
} reading;

/* ---- stages ---------------------------------------------------------------------- */

static ridge_status fail_degrees(const reading *r)
{
    if (r->tc.steps->status != RIDGE_OK)
        return r->tc.steps->status;
    return ridge_fail(r->tc.cx, RIDGE_E_ARG,
                      "the layout's degrees make no mesh that runs: take another ep");
}

static ridge_status stage_work(const reading *r, const train_stage *stage,
                               ridge_stage_work *out)
{
    ridge_step_end end;
    if (ridge_chip_is_overlapped(r->tc.chip)) {
        *out = train_stage_work(&r->tc, &r->terms, r->layout, stage);
    } else if (!step_program_work(&r->tc, r->layout, stage, out, &end)) {
        return fail_degrees(r);
    }
    out->has_embedding = stage->has_embedding;
    out->has_head = stage->has_head;
    out->layers = 0;
    for (int k = 0; k < r->tc.n_kinds; k++)
        out->layers += stage->layers[k];
    return RIDGE_OK;
}

/* A chunk has an equal share of the layers of the stage that its rank holds; on
 * dualpipe as many as its mean stage. */
static ridge_status chunk_work(const reading *r, const train_stage *stage,
                               int virtual_stage, ridge_stage_work *out)
{
    const ridge_pipeline *p = &r->step.pipeline;
    const bool is_dual = p->kind == RIDGE_SCHEDULE_DUALPIPE;
    const int ways = is_dual ? p->ranks : p->ranks * p->chunks; /* from end to end */
    const size_t kinds = (size_t)r->tc.n_kinds;
    double *layers = ridge_new(ridge_ctx_scratch(r->tc.cx), double, kinds);
    if (layers == NULL)
        return ridge_fail_nomem(r->tc.cx);
    for (size_t k = 0; k < kinds; k++)
        layers[k] = stage->layers[k] / (is_dual ? 1 : p->chunks);
    const train_stage chunk = {.layers = layers,
                               .has_embedding = virtual_stage % ways == 0,
                               .has_head = virtual_stage % ways == ways - 1,
                               .copies = 1,
                               .head_passes = is_dual ? 1 : stage->head_passes,
                               .predictions = stage->predictions,
                               .of_layers = train_stage_total(stage, r->tc.n_kinds),
                               .first = stage->first,
                               .count = 1};
    return stage_work(r, &chunk, out);
}

static ridge_status read_end(const reading *r, int stage, ridge_step_end *out)
{
    ridge_stage_work work;
    if (ridge_chip_is_overlapped(r->tc.chip)) {
        *out = train_step_end(&r->tc, &r->terms, r->layout, stage);
        return RIDGE_OK;
    }
    return step_program_work(&r->tc, r->layout, &r->terms.stages->stages[stage], &work,
                             out)
               ? RIDGE_OK
               : fail_degrees(r);
}

static ridge_status read_stages(reading *r)
{
    const ridge_pipeline *p = &r->step.pipeline;
    ridge_arena *arena = ridge_ctx_arena(r->tc.cx);
    const size_t n = (size_t)p->ranks * (size_t)p->chunks;
    ridge_stage_work *stages = ridge_new(arena, ridge_stage_work, n);
    ridge_step_end *ends = ridge_new(arena, ridge_step_end, (size_t)p->ranks);
    if (stages == NULL || ends == NULL)
        return ridge_fail_nomem(r->tc.cx);
    for (int s = 0; s < p->ranks * p->chunks; s++) {
        const int rank = ridge_pipeline_place_of(p, s).rank;
        const int stage = r->terms.stages->of_rank[rank];
        RIDGE_TRY(chunk_work(r, &r->terms.stages->stages[stage], s, &stages[s]));
        if (s < p->ranks)
            RIDGE_TRY(read_end(r, stage, &ends[rank]));
    }
    r->step.stages = stages;
    r->step.ends = ends;
    return RIDGE_OK;
}

/* ---- layouts --------------------------------------------------------------------- */

static ridge_status make_pipeline(reading *r)
{
    const ridge_layout *l = r->layout;
    const int64_t m = train_microbatches(&r->tc, l);
    if (m > INT_MAX || l->pp > INT_MAX || l->vpp > INT_MAX) {
        return ridge_fail(r->tc.cx, RIDGE_E_ARG,
                          "%lld microbatches a step are too many to play: take a "
                          "larger microbatch",
                          (long long)m);
    }
    r->step.pipeline = train_pipeline_of(l, m);
    return ridge_pipeline_check(r->tc.cx, &r->step.pipeline);
}

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a;
    int64_t y = b;
    while (y != 0) {
        const int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

int64_t train_group_chips(const ridge_layout *l)
{
    const int64_t chips = l->dp * l->fsdp * l->tp * l->cp;
    const int64_t dense = l->tp * l->cp * (l->zero_stage >= 2 ? l->fsdp : 1);
    const int64_t experts = l->ep * train_layout_ways(l).expert_width;
    const int64_t group = l->ep > 1 ? common_multiple(dense, experts) : dense;
    return chips % group == 0 ? group : chips;
}

ridge_step_network train_step_network(const ridge_slice *slice, const train_groups *g)
{
    return (ridge_step_network){.slice = slice,
                                .traffic = {[RIDGE_TRAFFIC_TP] = g->tp,
                                            [RIDGE_TRAFFIC_CP] = g->cp,
                                            [RIDGE_TRAFFIC_EP] = g->ep,
                                            [RIDGE_TRAFFIC_FSDP] = g->shards},
                                .reduction =
                                    g->replicas.ranks > 1 ? g->replicas : g->shards,
                                .pp_slice = slice,
                                .pp = g->pp};
}

static ridge_status read_layout(reading *r)
{
    ridge_train_step *s = &r->step;
    if (!train_groups_place(r->tc.slice, r->layout, r->layout->placement, &r->groups)) {
        return ridge_fail(r->tc.cx, RIDGE_E_ARG, "the layout does not lie on %s: %s",
                          r->tc.slice->text, ridge_fit_text(RIDGE_FIT_PLACEMENT));
    }
    RIDGE_TRY(make_pipeline(r));
    const layer_shape shape = layer_shape_of(r->layout);
    const layer_time *layers = train_layer_times(&r->tc, &shape);
    if (layers == NULL)
        return r->tc.status == RIDGE_OK ? ridge_fail_nomem(r->tc.cx) : r->tc.status;
    RIDGE_TRY(train_terms_of(&r->tc, layers, r->layout, &r->groups, &r->terms));
    s->group_chips = train_group_chips(r->layout);
    s->replicas = r->layout->dp * r->layout->fsdp * r->layout->tp * r->layout->cp /
                  s->group_chips;
    s->slice = r->tc.slice;
    s->send_s = r->terms.send.expected_s;
    s->is_send_exposed = !r->layout->has_pp_overlap;
    s->has_barrier = !train_is_barrier_free(&s->pipeline);
    s->is_overlapped = ridge_chip_is_overlapped(r->tc.chip);
    s->processor_share = ridge_chip_processor_share(r->tc.chip);
    s->network = train_step_network(r->tc.slice, &r->groups);
    return read_stages(r);
}

ridge_status ridge_train_step_of(ridge_ctx *cx, const ridge_train_request *request,
                                 const ridge_layout *layout, ridge_train_step *out)
{
    reading r = {.layout = layout};
    RIDGE_TRY(ridge_train_price_one(cx, request, layout, &r.step.price));
    if (r.step.price.step_time_s <= 0) {
        return ridge_fail(cx, RIDGE_E_ARG, "the layout is not legal: %s",
                          ridge_fit_text(r.step.price.fit));
    }
    RIDGE_TRY(train_case_open(cx, request, &r.tc));
    RIDGE_TRY(train_case_set_policy(&r.tc, layout->precision, layout->optimizer,
                                    &layout->lora));
    train_case_set_remat(&r.tc, layout);
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
    const ridge_status st = read_layout(&r);
    ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
    if (st == RIDGE_OK)
        *out = r.step;
    return st;
}
