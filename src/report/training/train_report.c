/* The best training layouts for people: their table, the winner's step and memory,
 * and where communication begins to bind. */
#include "guess_note.h"
#include "layouts_section.h"
#include "money_report.h"
#include "reasons_section.h"

#include <math.h>

static void add_step(ridge_ctx *cx, const ridge_train_price *p, ridge_sections *s)
{
    ridge_table *t =
        ridge__section_add(cx, s, "Step of the best layout", "part|>time|>share|what");
    for (int i = 0; i < RIDGE_STEP_COUNT; i++) {
        double part_s = ridge_step_get(&p->parts, i);
        if (part_s <= 0)
            continue;
        ridge_table_cell(t, ridge_step_text(i));
        ridge_table_cell(t, ridge_format_seconds(part_s).s);
        ridge_table_cell(t, ridge_format_percent(part_s / p->step_time_s).s);
        ridge_table_cell(t, ridge_step_what(i));
    }
    ridge_table_rule(t);
    ridge_table_cell(t, "step");
    ridge_table_cell(t, ridge_format_seconds(p->step_time_s).s);
    ridge_table_cell(t, ridge_format_percent(1).s);
    ridge_table_cellf(t, "and %s of communication hidden behind compute",
                      ridge_format_seconds(p->hidden_communication_s).s);
}

/* Share of the memory from which on a layout may not fit in practice. */
static const double TIGHT = 0.95;

static void add_memory(ridge_ctx *cx, const ridge_train_view *v,
                       const ridge_train_price *p, ridge_sections *s)
{
    ridge_table *t = ridge__section_add(cx, s, "Memory of its fullest stage",
                                        "part|>bytes|>share|what");
    double hbm_bytes = ridge_chip_memory_bytes(v->request->slice->chip);
    for (int i = 0; i < RIDGE_MEMORY_COUNT; i++) {
        double bytes = ridge_memory_part_get(&p->memory, i);
        if (bytes <= 0)
            continue;
        ridge_table_cell(t, ridge_memory_part_text(i));
        ridge_table_cell(t, ridge_format_bytes(bytes).s);
        ridge_table_cell(t, ridge_format_percent(bytes / hbm_bytes).s);
        ridge_table_cell(t, ridge_memory_part_what(i));
    }
    ridge_table_rule(t);
    ridge_table_cell(t, "peak");
    ridge_table_cell(t, ridge_format_bytes(p->peak_memory_bytes).s);
    ridge_table_cell(t, ridge_format_percent(p->peak_memory_bytes / hbm_bytes).s);
    ridge_table_cellf(t, "of %s of HBM, stage %d of %lld",
                      ridge_format_bytes(hbm_bytes).s, p->fullest_stage + 1,
                      (long long)p->layout.pp);
    if (p->peak_memory_bytes > TIGHT * hbm_bytes)
        ridge__section_note(s,
                            "Tight: half of the measured runs took 11 % more or less "
                            "than predicted (docs/accuracy.md). --headroom 10% finds "
                            "layouts that leave room.");
}

static void add_threshold(ridge_table *t, const char *name, double value,
                          const char *meaning)
{
    if (value <= 0)
        return;
    ridge_table_cell(t, name);
    ridge_table_cell(t, isinf(value)   ? "any"
                        : value >= 1e8 ? ridge_format_count(value).s
                        : value >= 100 ? ridge_format_exact((int64_t)round(value)).s
                                       : ridge_format_double(value).s);
    ridge_table_cell(t, meaning);
}

static bool is_torus_slice(const ridge_slice *slice)
{
    return slice->axes[0].kind == RIDGE_AXIS_TORUS;
}

/* Tokens a chip from which on replicas and shards are no longer waited for. */
static void add_data_thresholds(ridge_ctx *cx, const ridge_thresholds *h, bool is_torus,
                                ridge_table *t)
{
    add_threshold(t, "alpha", h->alpha,
                  is_torus ? "FLOPs a chip does while a byte crosses one axis"
                           : "FLOPs a chip does while a byte leaves it inside a node");
    add_threshold(t, "tokens a chip", h->tokens_per_chip, "of this batch");
    add_threshold(t, "DP, FSDP", h->dp_tokens_per_chip,
                  is_torus ? "tokens a chip: compute bound above, on all axes"
                           : "tokens a chip: compute bound above, inside a node");
    add_threshold(t, "DP, FSDP outside", h->dp_outer_tokens_per_chip,
                  "tokens a chip: the same across nodes");
    add_threshold(
        t, "DP, FSDP, these nodes", h->dp_nodes_tokens_per_chip,
        "tokens a chip: (M - 1) / M of it over M nodes, a node's own part stays");
    add_threshold(
        t, "DP, switches add", h->dp_reduced_tokens_per_chip,
        "tokens a chip: of DP alone, inside a node whose switches add, at best");
    add_threshold(t, "DP, so outside", h->dp_outer_reduced_tokens_per_chip,
                  "tokens a chip: the same across nodes");
    add_threshold(t, "DP, FSDP of experts", h->dp_experts_tokens_per_chip,
                  ridge_sprintf(ridge_ctx_arena(cx),
                                "tokens a chip: E / k = %s times as many",
                                ridge_format_double(h->expert_factor).s));
}

/* Ways up to which layers are worth cutting, and mixes of that with shards. */
static void add_cut_thresholds(const ridge_thresholds *h, const ridge_slice *slice,
                               ridge_table *t)
{
    const bool is_torus = is_torus_slice(slice);
    const char *ways = slice->slices > 1 ? "ways in a slice, before rounding"
                                         : "ways, before rounding";
    if (is_torus) {
        add_threshold(t, "TP", h->tp_ways, "ways: compute bound below, on one axis");
        add_threshold(t, "TP, two axes", h->tp_ways_all_axes, "ways");
    } else {
        add_threshold(t, "TP", h->tp_ways, "ways: compute bound below, inside a node");
    }
    add_threshold(t, "TP over two nodes", h->tp_ways_two_nodes, "ways");
    add_threshold(t, "TP across nodes", h->tp_ways_across_nodes,
                  "ways, were all of it to cross");
    add_threshold(t, "EP", h->ep_ways,
                  "ways: experts' exchange takes less than their products below");
    add_threshold(t, "FSDP with TP", h->mixed_tokens_per_chip,
                  h->mixed_tokens_per_chip < h->dp_tokens_per_chip
                      ? "tokens a chip: the mix is compute bound above"
                      : "tokens a chip: more than FSDP alone, mixing does not help");
    add_threshold(t, "FSDP with TP of experts", h->mixed_experts_tokens_per_chip,
                  "tokens a chip");
    add_threshold(t, "best FSDP of a mix", h->fsdp_optimal, ways);
    add_threshold(t, "with TP", h->tp_optimal, ways);
}

/* How large pods, slices and models may be. */
static void add_size_thresholds(const ridge_thresholds *h, ridge_table *t)
{
    add_threshold(t, "batch a pod", h->pod_tokens,
                  "tokens: DP over DCN is compute bound above");
    add_threshold(t, "batch a pod, of experts", h->pod_experts_tokens,
                  "tokens: the same of experts' weights");
    add_threshold(t, "chips, FSDP", h->max_chips_fsdp, "most at this batch");
    add_threshold(t, "chips, FSDP with TP", h->max_chips_mixed, "most at this batch");
    add_threshold(t, "chips, FSDP of experts", h->max_chips_fsdp_experts,
                  "most at this batch, of experts' weights");
    add_threshold(t, "chips, FSDP, TP of experts", h->max_chips_mixed_experts,
                  "most at this batch");
    add_threshold(t, "parameters, DP alone", h->dp_parameters_most,
                  "most: weights of 2 bytes, two moments of 4, on each chip");
}

static void add_thresholds(ridge_ctx *cx, const ridge_train_view *v, ridge_sections *s)
{
    const ridge_thresholds *h = v->thresholds;
    if (h->alpha <= 0)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Where communication begins to bind",
                                        "threshold|>value|meaning");
    add_data_thresholds(cx, h, is_torus_slice(v->request->slice), t);
    add_cut_thresholds(h, v->request->slice, t);
    add_size_thresholds(h, t);
    ridge__section_note(s, "Plain rooflines of two matmuls a layer (scaling-book-2025, "
                           "chapters 5 and 12); the times above go beyond them.");
}

/* When nothing fits: how far the nearest layout is from it. */
static void add_nothing(ridge_ctx *cx, const ridge_train_view *v, ridge_sections *s)
{
    const ridge_train_result *r = v->result;
    ridge_table *t = ridge__section_add(cx, s, "Nothing fits", "reason|>layouts");
    for (int i = 1; i < RIDGE_FIT_COUNT; i++) {
        if (r->refused[i] == 0)
            continue;
        ridge_table_cell(t, ridge_fit_text((ridge_fit)i));
        ridge_table_cell(t, ridge_format_exact(r->refused[i]).s);
    }
    if (!r->has_nearest)
        return;
    const ridge_layout *l = &r->nearest.layout;
    double hbm_bytes = ridge_chip_memory_bytes(v->request->slice->chip);
    double over = r->nearest.peak_memory_bytes / hbm_bytes;
    ridge__section_note(
        s, ridge_sprintf(
               ridge_ctx_arena(cx),
               "The nearest needs %s of %s a chip: dp=%lld fsdp=%lld tp=%lld cp=%lld "
               "pp=%lld ep=%lld zero=%d remat=%s: %.1f times what there is.",
               ridge_format_bytes(r->nearest.peak_memory_bytes).s,
               ridge_format_bytes(hbm_bytes).s, (long long)l->dp, (long long)l->fsdp,
               (long long)l->tp, (long long)l->cp, (long long)l->pp, (long long)l->ep,
               l->zero_stage, ridge_layout_remat_text(cx, l), over));
}

static const char *padding_note(ridge_ctx *cx, const ridge_train_view *v)
{
    const ridge_train_price *p = &v->result->layouts[0];
    if (p->padded_seqs == 0)
        return "";
    int64_t whole = v->result->batch_seqs + p->padded_seqs;
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "The batch does not divide over the replicas of the best "
        "layout: %lld of %lld places are padding. A batch of %s tokens "
        "(%lld sequences) leaves none idle.",
        (long long)p->padded_seqs, (long long)whole,
        ridge_format_exact((int64_t)((double)whole * v->request->seq_tokens)).s,
        (long long)whole);
}

static void add_winner(ridge_ctx *cx, const ridge_train_view *v, ridge_sections *s)
{
    const ridge_train_price *p = &v->result->layouts[0];
    const char *padding = padding_note(cx, v);
    const char *note = ridge_sprintf(
        ridge_ctx_arena(cx), "%s tokens/s a chip, %s TFLOP/s a chip, HFU %s. %s%s%s.",
        ridge_format_count(p->tokens_per_s_per_chip).s,
        ridge_format_double(p->model_flops_per_s_per_chip / 1e12).s,
        ridge_format_percent(p->hfu).s, padding == NULL ? "" : padding,
        padding == NULL || padding[0] == '\0' ? "Placement: " : " Placement: ",
        ridge_placement_text(cx, v->request, &p->layout));
    add_step(cx, p, s);
    ridge__section_note(s, note);
    add_memory(cx, v, p, s);
    if (v->money != NULL && v->has_money)
        ridge__money_section_add(cx, v->request, p, v->money, s);
}

/* What packing makes of attention, in words. */
static const char *documents_text(ridge_ctx *cx, const ridge_train_request *r)
{
    const ridge_documents *d = &r->documents;
    if (d->tokens <= 0)
        return "";
    return ridge_sprintf(ridge_ctx_arena(cx),
                         ". Packed documents: a token sees %.0f before it in the mean, "
                         "not %.0f; the scores of sequences spread by %s",
                         d->tokens / 2, r->seq_tokens / 2,
                         ridge_format_percent(d->spread).s);
}

static void build(ridge_ctx *cx, const ridge_train_view *v, ridge_sections *s)
{
    const ridge_train_request *r = v->request;
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_train_result *result = v->result;
    s->title = ridge_sprintf(arena, "%s on %s", v->model_name, r->slice->text);
    const char *total = r->total_tokens > 0
                            ? ridge_sprintf(arena, ", %s tokens in all",
                                            ridge_format_count(r->total_tokens).s)
                            : "";
    s->subtitle = ridge_sprintf(
        arena, "%s chip%s (%s), %s tokens a step: %s sequences of %s%s%s",
        ridge_format_exact(r->slice->chips).s, r->slice->chips == 1 ? "" : "s",
        r->slice->chip->full_name, ridge_format_count(result->batch_tokens).s,
        ridge_format_exact(result->batch_seqs).s,
        ridge_format_exact((int64_t)r->seq_tokens).s, total == NULL ? "" : total,
        documents_text(cx, r));
    ridge__guess_note_add(cx, r->model, s);
    if (result->n_layouts == 0) {
        add_nothing(cx, v, s);
    } else {
        ridge__layouts_add(cx, v, s);
        ridge__others_section_add(cx, v, s);
        add_winner(cx, v, s);
        ridge__front_section_add(cx, v, s);
    }
    ridge__reasons_section_add(cx, v, s);
    add_thresholds(cx, v, s);
    ridge__train_rooflines_add(cx, v, s);
}

void ridge_train_write_text(ridge_ctx *cx, const ridge_train_view *view,
                            bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
}

static void add_bars(ridge_ctx *cx, const ridge_train_view *v, ridge_buf *out)
{
    const char *rows[RIDGE_TRAIN_TOP_MAX];
    const char *names[RIDGE_STEP_COUNT];
    double values[RIDGE_TRAIN_TOP_MAX * RIDGE_STEP_COUNT];
    int n = v->result->n_layouts;
    for (int i = 0; i < RIDGE_STEP_COUNT; i++)
        names[i] = ridge_step_text(i);
    for (int r = 0; r < n; r++) {
        const ridge_layout *l = &v->result->layouts[r].layout;
        const char *name = ridge_sprintf(
            ridge_ctx_arena(cx), "dp %lld fsdp %lld tp %lld cp %lld pp %lld ep %lld",
            (long long)l->dp, (long long)l->fsdp, (long long)l->tp, (long long)l->cp,
            (long long)l->pp, (long long)l->ep);
        rows[r] = name == NULL ? "" : name;
        for (int i = 0; i < RIDGE_STEP_COUNT; i++) {
            values[r * RIDGE_STEP_COUNT + i] =
                ridge_step_get(&v->result->layouts[r].parts, i);
        }
    }
    ridge_html_heading(out, "Where the step goes");
    ridge_html_bars(out, rows, (size_t)n, names, RIDGE_STEP_COUNT, values, "s");
}

void ridge_train_write_html(ridge_ctx *cx, const ridge_train_view *view, ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__page_begin(&s, out);
    if (view->result->n_layouts > 0)
        add_bars(cx, view, out);
    ridge__page_end(&s, out);
}
