/* Sizes of models for a budget, for people: the answer, the same FLOPs at other tokens
 * a parameter, and what other laws say. */
#include "ridge/report.h"
#include "ridge/report_sizing.h"

#include "section.h"

#include <math.h>

static void add_size(ridge_table *t, const char *name, const ridge_sizing_view *v,
                     const ridge_sized *s)
{
    const ridge_sizing *z = &s->size;
    ridge_table_cell(t, name);
    ridge_table_cell(t, ridge_format_count(z->params).s);
    ridge_table_cell(t, ridge_format_count(z->tokens).s);
    ridge_table_cell(t, ridge_format_double(z->tokens / z->params).s);
    ridge_table_cell(t, ridge_format_sci(z->flops).s);
    ridge_table_cell(t, z->has_loss ? ridge_format_double(z->loss).s : "-");
    if (!v->study->has_speed)
        return;
    ridge_table_cell(t, ridge_format_seconds(s->days * RIDGE_DAY_S).s);
    ridge_table_cell(t, ridge_format_count(s->chip_hours).s);
    ridge_table_cell(t, s->usd > 0 ? ridge_format_usd(s->usd).s : "-");
}

static const char *columns(const ridge_sizing_view *v)
{
    return v->study->has_speed ? "size|>parameters|>tokens|>tokens a parameter|>FLOPs|>"
                                 "loss|>time|>chip-hours|>cost"
                               : "size|>parameters|>tokens|>tokens a parameter|>FLOPs|>"
                                 "loss";
}

static const char *speed_note(ridge_ctx *cx, const ridge_sizing_view *v)
{
    const ridge_size_speed *s = &v->study->speed;
    const ridge_sizing_request *r = v->request;
    ridge_arena *arena = ridge_ctx_arena(cx);
    const char *price =
        r->money->has_price ? ridge_price_text(cx, &r->money->price) : NULL;
    const char *dollars =
        price == NULL
            ? ridge_sprintf(arena, " No price of %s is known.", r->slice->chip->name)
            : ridge_sprintf(arena, " Price: %s a chip-hour, %s.",
                            ridge_format_usd(r->money->price.usd_per_chip_hour).s,
                            price);
    if (s->model_name == NULL) {
        return ridge_sprintf(arena,
                             "%s at an MFU of %s, as given; failures left out.%s",
                             r->slice->text, ridge_format_percent(s->mfu).s, dollars);
    }
    return ridge_sprintf(
        arena,
        "%s at an MFU of %s: that of %s, the nearest dense model of the catalogue, in "
        "its best layout with %s tokens a step of sequences of %s; goodput %s.%s",
        r->slice->text, ridge_format_percent(s->mfu).s, s->model_name,
        ridge_format_count(r->batch_tokens).s, ridge_format_count(r->seq_tokens).s,
        s->goodput < 1 ? ridge_format_percent(s->goodput).s : "not known", dollars);
}

static void add_answer(ridge_ctx *cx, const ridge_sizing_view *v, ridge_sections *s)
{
    const ridge_sizing_study *study = v->study;
    ridge_table *t = ridge__section_add(cx, s, "Size", columns(v));
    add_size(t, "answer", v, &study->best);
    if (study->has_served)
        add_size(t, "with inference", v, &study->served);
    if (study->has_speed)
        ridge__section_note(s, speed_note(cx, v));
    if (!study->has_served)
        return;
    ridge__section_note(
        s, ridge_sprintf(
               ridge_ctx_arena(cx),
               "With %s tokens served, training and inference take %s FLOPs for the "
               "answer and %s for the size that counts both (sardana2023).",
               ridge_format_count(v->request->served_tokens).s,
               ridge_format_sci(study->best_total_flops).s,
               ridge_format_sci(study->served_total_flops).s));
}

static void add_ratios(ridge_ctx *cx, const ridge_sizing_view *v, ridge_sections *s)
{
    ridge_table *t =
        ridge__section_add(cx, s, "The same FLOPs at other tokens a parameter",
                           ">tokens a parameter|>parameters|>tokens|>loss|>more FLOPs "
                           "than its loss needs");
    for (int i = 0; i < v->study->n_ratios; i++) {
        const ridge_sized *r = &v->study->ratios[i];
        ridge_table_cell(t, ridge_format_double(r->size.tokens / r->size.params).s);
        ridge_table_cell(t, ridge_format_count(r->size.params).s);
        ridge_table_cell(t, ridge_format_count(r->size.tokens).s);
        ridge_table_cell(t,
                         r->size.has_loss ? ridge_format_double(r->size.loss).s : "-");
        ridge_table_cell(t, r->size.has_loss ? ridge_format_percent(r->waste).s : "-");
    }
}

static void add_laws(ridge_ctx *cx, const ridge_sizing_view *v, ridge_sections *s)
{
    ridge_table *t = ridge__section_add(
        cx, s, "The best of these FLOPs by each law",
        "law|>parameters|>tokens|>tokens a parameter|>loss|source|what");
    for (int i = 0; i < v->study->n_laws; i++) {
        const ridge_scaling_law *law = &v->study->laws[i];
        const ridge_sizing *z = &v->study->by_law[i];
        ridge_table_cell(t, law->name);
        ridge_table_cell(t, ridge_format_count(z->params).s);
        ridge_table_cell(t, ridge_format_count(z->tokens).s);
        ridge_table_cell(t, ridge_format_double(z->tokens / z->params).s);
        ridge_table_cell(t, z->has_loss ? ridge_format_double(z->loss).s : "-");
        ridge_table_cell(t, law->source);
        ridge_table_cell(t, law->full_name);
    }
    ridge__section_note(s,
                        "Dense models, FLOPs 6 N D, losses in nats a token on the text "
                        "that the law was fitted on: compare them with each other, "
                        "not with those of other data.");
}

static void build(ridge_ctx *cx, const ridge_sizing_view *v, ridge_sections *s)
{
    const ridge_scaling_law *law = v->request->law;
    ridge_arena *arena = ridge_ctx_arena(cx);
    s->title = ridge_sprintf(arena, "Sizes for %s FLOPs",
                             ridge_format_sci(v->study->best.size.flops).s);
    s->subtitle = ridge_sprintf(arena, "by %s: %s (%s, %s)", law->name, law->full_name,
                                law->source, law->date);
    add_answer(cx, v, s);
    add_ratios(cx, v, s);
    add_laws(cx, v, s);
}

void ridge_sizing_write_text(ridge_ctx *cx, const ridge_sizing_view *view,
                             bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
}

static void add_chart(const ridge_sizing_view *v, ridge_buf *out)
{
    double x[RIDGE_RATIO_COUNT];
    double y[RIDGE_RATIO_COUNT];
    const ridge_sizing *best = &v->study->best.size;
    for (int i = 0; i < v->study->n_ratios; i++) {
        x[i] = v->study->ratios[i].size.tokens / v->study->ratios[i].size.params;
        y[i] = v->study->ratios[i].size.loss;
    }
    const ridge_chart chart = {
        .title = "Loss of the same FLOPs",
        .x_label = "tokens a parameter",
        .y_label = "loss (nats a token)",
        .is_x_log = true,
        .series = {{v->request->law->name, x, y, (size_t)v->study->n_ratios}},
        .n_series = 1,
        .markers = {{"answer", best->tokens / best->params, true}},
        .n_markers = 1};
    ridge_html_chart(out, &chart);
}

void ridge_sizing_write_html(ridge_ctx *cx, const ridge_sizing_view *view,
                             ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__page_begin(&s, out);
    if (view->request->law->has_loss)
        add_chart(view, out);
    ridge__page_end(&s, out);
}
