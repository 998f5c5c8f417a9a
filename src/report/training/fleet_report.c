/* Layouts over pools of unlike chips, for people. */
#include "ridge/report.h"
#include "ridge/report_fleet.h"

#include "guess_note.h"
#include "layout_text.h"
#include "section.h"

#include <string.h>

static const char *fleet_text(ridge_ctx *cx, const ridge_fleet_price *p,
                              const char *between)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < p->layout.n_parts; i++)
        ridge_buf_printf(&b, "%s%s", i > 0 ? between : "", p->pools[i].slice->text);
    return ridge_buf_text(&b);
}

static const char *stages_text(ridge_ctx *cx, const ridge_fleet_price *p)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < p->layout.n_parts; i++)
        ridge_buf_printf(&b, "%s%lld", i > 0 ? "+" : "",
                         (long long)p->pools[i].part.stages);
    if (p->layout.common.vpp > 1)
        ridge_buf_printf(&b, "v%lld", (long long)p->layout.common.vpp);
    return ridge_buf_text(&b);
}

/* What a pool computes again and keeps on its hosts. */
static const char *memory_text(ridge_ctx *cx, const ridge_fleet_price *p,
                               const ridge_fleet_pool *pool)
{
    const unsigned offload = p->layout.common.offload;
    const char *remat = ridge_remat_text(pool->part.remat);
    if (offload == RIDGE_OFFLOAD_NONE)
        return remat;
    return ridge_sprintf(ridge_ctx_arena(cx), "%s; offload %s", remat,
                         ridge_offload_text(offload));
}

static void add_sums(ridge_table *t, const ridge_fleet_view *v,
                     const ridge_train_price *p)
{
    const ridge_money m = ridge_fleet_money(v->result, p, v->money);
    ridge_table_cell(t,
                     m.days > 0 ? ridge_format_seconds(m.days * RIDGE_DAY_S).s : "-");
    ridge_table_cell(t, m.usd > 0 ? ridge_format_usd(m.usd).s : "-");
}

static void add_layouts(ridge_ctx *cx, const ridge_fleet_view *v, ridge_sections *s)
{
    const ridge_fleet_result *r = v->result;
    ridge_table *t = ridge__section_add(
        cx, s, "One pipeline over all pools",
        ">#|>step|>bound|>MFU|>dp|>fsdp|>tp|>cp|>ep|>pp|>ZeRO|>microb.|order of pools|"
        ">time|>cost|bottleneck");
    for (int i = 0; i < r->n_layouts; i++) {
        const ridge_fleet_price *p = &r->layouts[i];
        const ridge_layout *l = &p->layout.common;
        const int64_t degrees[] = {l->dp, l->fsdp, l->tp, l->cp, l->ep};
        ridge_table_cellf(t, "%d", i + 1);
        ridge_table_cell(t, ridge_format_seconds(p->price.step_time_s).s);
        ridge_table_cell(t, ridge_format_seconds(p->price.bound_step_time_s).s);
        ridge_table_cell(t, ridge_format_percent(p->price.mfu).s);
        for (size_t k = 0; k < RIDGE_COUNT_OF(degrees); k++)
            ridge_table_cellf(t, "%lld", (long long)degrees[k]);
        ridge_table_cell(t, stages_text(cx, p));
        ridge_table_cellf(t, "%d", l->zero_stage);
        ridge_table_cellf(t, "%lldx%lld", (long long)l->microbatch_seqs,
                          (long long)p->price.microbatches);
        ridge_table_cell(t, fleet_text(cx, p, " > "));
        add_sums(t, v, &p->price);
        ridge_table_cellf(
            t, "%s %s", ridge_step_text(p->price.bottleneck),
            ridge_format_percent(ridge_step_get(&p->price.parts, p->price.bottleneck) /
                                 p->price.step_time_s)
                .s);
    }
}

/* ---- the best one -----------------------------------------------------------------
 */

static void add_pools(ridge_ctx *cx, const ridge_fleet_view *v, ridge_sections *s)
{
    const ridge_fleet_price *p = &v->result->layouts[0];
    ridge_table *t = ridge__section_add(cx, s, "The best pipeline, pool by pool",
                                        "pool|>chips|>stages|>layers|>a stage|remat|"
                                        ">microbatch|>waits|>memory|>of HBM|placement");
    for (int i = 0; i < p->layout.n_parts; i++) {
        const ridge_fleet_pool *q = &p->pools[i];
        const ridge_train_request *alone = &v->result->requests[q->part.pool];
        ridge_layout local = p->layout.common;
        local.pp = q->part.stages;
        local.placement = q->part.placement;
        ridge_table_cell(t, alone->slice->text);
        ridge_table_cell(t, ridge_format_exact(alone->slice->chips).s);
        ridge_table_cellf(t, "%lld", (long long)q->part.stages);
        ridge_table_cellf(t, "%lld", (long long)q->layers);
        if (q->layers_least == q->layers_most) {
            ridge_table_cellf(t, "%lld", (long long)q->layers_most);
        } else {
            ridge_table_cellf(t, "%lld-%lld", (long long)q->layers_least,
                              (long long)q->layers_most);
        }
        ridge_table_cell(t, memory_text(cx, p, q));
        ridge_table_cell(t, ridge_format_seconds(q->stage_s).s);
        ridge_table_cell(t, ridge_format_percent(q->waiting).s);
        ridge_table_cell(t, ridge_format_bytes(q->peak_memory_bytes).s);
        ridge_table_cell(
            t, ridge_format_percent(q->peak_memory_bytes /
                                    ridge_chip_memory_bytes(alone->slice->chip))
                   .s);
        ridge_table_cell(t, ridge_placement_text(cx, alone, &local));
    }
    ridge__section_note(
        s, ridge_sprintf(
               ridge_ctx_arena(cx),
               "In the order of the pipeline; a microbatch is what its slowest "
               "stage takes, forward, backward and messages; it waits while it has "
               "none. %s has the "
               "slowest stage; a message between pools takes %s.",
               p->pools[p->slowest].slice->text, ridge_format_seconds(p->between_s).s));
}

static void add_parts(ridge_ctx *cx, const ridge_fleet_view *v, ridge_sections *s)
{
    const ridge_train_price *p = &v->result->layouts[0].price;
    ridge_table *t = ridge__section_add(cx, s, "Where the step of the pipeline goes",
                                        "part of the slowest stage|>time|>share");
    for (int i = 0; i < RIDGE_STEP_COUNT; i++) {
        const double part_s = ridge_step_get(&p->parts, i);
        if (part_s <= 0)
            continue;
        ridge_table_cell(t, ridge_step_text(i));
        ridge_table_cell(t, ridge_format_seconds(part_s).s);
        ridge_table_cell(t, ridge_format_percent(part_s / p->step_time_s).s);
    }
    ridge_table_cell(t, "step");
    ridge_table_cell(t, ridge_format_seconds(p->step_time_s).s);
    ridge_table_cell(t, ridge_format_percent(1).s);
}

/* ---- each pool by itself ----------------------------------------------------------
 */

/* Of the better way; 0: neither fits. */
static double best_step_s(const ridge_fleet_result *r)
{
    const double pipeline_s = r->n_layouts > 0 ? r->layouts[0].price.step_time_s : 0;
    const double replicas_s = r->replicas.n > 0 ? r->replicas.price.step_time_s : 0;
    if (pipeline_s <= 0 || replicas_s <= 0)
        return pipeline_s + replicas_s;
    return pipeline_s < replicas_s ? pipeline_s : replicas_s;
}

/* Steps of pools that would share a batch without a loss: rates add up. */
static double together_s(const ridge_fleet_result *r)
{
    double rate = 0;
    for (int i = 0; i < r->n_pools; i++)
        rate += r->has_alone[i] ? 1 / r->alone[i].step_time_s : 0;
    return rate > 0 ? 1 / rate : 0;
}

static void add_alone(ridge_ctx *cx, const ridge_fleet_view *v, ridge_sections *s)
{
    const ridge_fleet_result *r = v->result;
    ridge_table *t = ridge__section_add(cx, s, "Each pool by itself",
                                        "pool|>step|>MFU|>the fleet is faster by");
    for (int i = 0; i < r->n_pools; i++) {
        ridge_table_cell(t, r->requests[i].slice->text);
        if (!r->has_alone[i]) {
            ridge_table_cell(t, "nothing fits");
            ridge_table_cell(t, "-");
            ridge_table_cell(t, "-");
            continue;
        }
        ridge_table_cell(t, ridge_format_seconds(r->alone[i].step_time_s).s);
        ridge_table_cell(t, ridge_format_percent(r->alone[i].mfu).s);
        const double best_s = best_step_s(r);
        if (best_s > 0)
            ridge_table_cellf(t, "%.2f x", r->alone[i].step_time_s / best_s);
        else
            ridge_table_cell(t, "-");
    }
    const double least_s = together_s(r);
    if (least_s > 0 && best_step_s(r) > 0)
        ridge__section_note(
            s,
            ridge_sprintf(ridge_ctx_arena(cx),
                          "The best layouts of the pools, rates added up, would "
                          "take %s a step: what neither waiting nor reducing between "
                          "pools would leave.",
                          ridge_format_seconds(least_s).s));
}

/* ---- both ways --------------------------------------------------------------------
 */

static void add_way(ridge_table *t, const ridge_fleet_view *v, const char *way,
                    const ridge_train_price *p)
{
    ridge_table_cell(t, way);
    ridge_table_cell(t, ridge_format_seconds(p->step_time_s).s);
    ridge_table_cell(t, ridge_format_seconds(p->bound_step_time_s).s);
    ridge_table_cell(t, ridge_format_percent(p->mfu).s);
    add_sums(t, v, p);
    ridge_table_cellf(
        t, "%s %s", ridge_step_text(p->bottleneck),
        ridge_format_percent(ridge_step_get(&p->parts, p->bottleneck) / p->step_time_s)
            .s);
}

static void add_ways(ridge_ctx *cx, const ridge_fleet_view *v, ridge_sections *s)
{
    const ridge_fleet_result *r = v->result;
    ridge_table *t = ridge__section_add(cx, s, "Ways to use the pools",
                                        "way|>step|>bound|>MFU|>time|>cost|bottleneck");
    const bool is_second =
        r->replicas.n > 0 && (r->n_layouts == 0 || r->replicas.price.step_time_s <
                                                       r->layouts[0].price.step_time_s);
    for (int i = 0; i < 2; i++) {
        if ((i == 0) == is_second && r->replicas.n > 0)
            add_way(t, v, "replicas in each pool", &r->replicas.price);
        if ((i == 0) != is_second && r->n_layouts > 0)
            add_way(t, v, "one pipeline over all pools", &r->layouts[0].price);
    }
    if (r->why_no_replicas != NULL)
        ridge__section_note(s, ridge_sprintf(ridge_ctx_arena(cx),
                                             "Replicas in each pool were not looked "
                                             "for: %s.",
                                             r->why_no_replicas));
    else if (r->replicas.n == 0)
        ridge__section_note(s, "Replicas in each pool do not fit: one pool at least "
                               "does not hold the model by itself.");
    else if (r->why_no_pipeline != NULL)
        ridge__section_note(s, ridge_sprintf(ridge_ctx_arena(cx),
                                             "One pipeline over all pools was not "
                                             "looked for: %s.",
                                             r->why_no_pipeline));
    else if (r->n_layouts == 0)
        ridge__section_note(s, "No pipeline over all pools fits. Chips of a stage have "
                               "to divide each pool, and stages are no more than "
                               "layers.");
}

static void add_share(ridge_ctx *cx, const ridge_fleet_share *share,
                      const ridge_train_request *alone, ridge_table *t)
{
    const ridge_train_price *p = &share->price;
    const double of_hbm =
        p->peak_memory_bytes / ridge_chip_memory_bytes(alone->slice->chip);
    ridge_table_cell(t, alone->slice->text);
    ridge_table_cell(t, ridge_format_exact(alone->slice->chips).s);
    ridge_table_cell(t, ridge_format_exact(share->batch_seqs).s);
    ridge_table_cell(t, ridge_format_seconds(p->step_time_s).s);
    ridge_table_cell(t, ridge_format_percent(share->waiting).s);
    ridge_table_cell(t, ridge_format_percent(p->mfu).s);
    ridge_table_cell(t, ridge__layout_text(cx, &p->layout));
    ridge_table_cellf(t, "%d", p->layout.zero_stage);
    ridge_table_cellf(t, "%lldx%lld", (long long)p->layout.microbatch_seqs,
                      (long long)p->microbatches);
    ridge_table_cell(t, ridge_layout_remat_text(cx, &p->layout));
    ridge_table_cell(t, ridge_format_bytes(p->peak_memory_bytes).s);
    ridge_table_cell(t, ridge_format_percent(of_hbm).s);
    ridge_table_cell(t, ridge_placement_text(cx, alone, &p->layout));
}

static void add_replicas(ridge_ctx *cx, const ridge_fleet_view *v, ridge_sections *s)
{
    const ridge_fleet_replicas *r = &v->result->replicas;
    ridge_table *t = ridge__section_add(
        cx, s, "Replicas in each pool",
        "pool|>chips|>sequences|>step|>waits|>MFU|layout|>ZeRO|>microb.|remat|>memory|"
        ">of HBM|placement");
    for (int i = 0; i < r->n; i++)
        add_share(cx, &r->shares[i], &v->result->requests[r->shares[i].pool], t);
    const char *padding =
        r->price.padded_seqs == 0
            ? ""
            : ridge_sprintf(ridge_ctx_arena(cx),
                            " Shares do not divide over the replicas: %s places are "
                            "padding.",
                            ridge_format_exact(r->price.padded_seqs).s);
    ridge__section_note(
        s, ridge_sprintf(ridge_ctx_arena(cx),
                         "Each pool holds whole replicas, laid out as suits its chips, "
                         "and its share of the batch; gradients are reduced in the "
                         "pool, then with the other pools, each chip its part. %s "
                         "takes longest.%s",
                         v->result->requests[r->shares[r->slowest].pool].slice->text,
                         padding != NULL ? padding : ""));
}

static void build(ridge_ctx *cx, const ridge_fleet_view *v, ridge_sections *s)
{
    const ridge_fleet_result *r = v->result;
    ridge_arena *arena = ridge_ctx_arena(cx);
    ridge_buf names;
    ridge_buf_init(&names, arena);
    for (int i = 0; i < r->n_pools; i++)
        ridge_buf_printf(&names, "%s%s", i > 0 ? "+" : "", r->requests[i].slice->text);
    s->title = ridge_sprintf(arena, "%s on %s", v->model_name, ridge_buf_text(&names));
    s->subtitle =
        ridge_sprintf(arena, "%s chips in %d pools, %s tokens a step: %s sequences",
                      ridge_format_exact(r->chips).s, r->n_pools,
                      ridge_format_exact((int64_t)r->batch_tokens).s,
                      ridge_format_exact(r->batch_seqs).s);
    ridge__guess_note_add(cx, r->requests[0].model, s);
    if (r->n_layouts > 0 || r->replicas.n > 0)
        add_ways(cx, v, s);
    else
        ridge__section_note(
            s, "No layout over all pools fits, neither as one pipeline nor "
               "as replicas in each pool. Chips of a stage have to divide "
               "each pool, and stages are no more than layers.");
    if (r->replicas.n > 0)
        add_replicas(cx, v, s);
    if (r->n_layouts > 0) {
        add_layouts(cx, v, s);
        add_pools(cx, v, s);
        add_parts(cx, v, s);
    }
    add_alone(cx, v, s);
    ridge__section_note(s, ridge_sprintf(arena, "%s layouts covered in %s, %s priced.",
                                         ridge_format_exact(r->covered).s,
                                         ridge_format_seconds(r->seconds).s,
                                         ridge_format_exact(r->priced).s));
}

void ridge_fleet_write_text(ridge_ctx *cx, const ridge_fleet_view *view,
                            bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
}

static void add_bars(ridge_ctx *cx, const ridge_fleet_view *v, ridge_buf *out)
{
    const ridge_fleet_result *r = v->result;
    const char *rows[RIDGE_TRAIN_TOP_MAX];
    const char *names[RIDGE_STEP_COUNT];
    double values[RIDGE_TRAIN_TOP_MAX * RIDGE_STEP_COUNT];
    for (int k = 0; k < RIDGE_STEP_COUNT; k++)
        names[k] = ridge_step_text(k);
    for (int i = 0; i < r->n_layouts; i++) {
        const char *order = fleet_text(cx, &r->layouts[i], " > ");
        rows[i] = order;
        for (int k = 0; k < RIDGE_STEP_COUNT; k++)
            values[i * RIDGE_STEP_COUNT + k] =
                ridge_step_get(&r->layouts[i].price.parts, k);
    }
    ridge_html_heading(out, "Where the step goes");
    ridge_html_bars(out, rows, (size_t)r->n_layouts, names, RIDGE_STEP_COUNT, values,
                    "s");
}

void ridge_fleet_write_html(ridge_ctx *cx, const ridge_fleet_view *view, ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__page_begin(&s, out);
    if (view->result->n_layouts > 0)
        add_bars(cx, view, out);
    ridge__page_end(&s, out);
}
