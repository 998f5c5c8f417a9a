/* Scaling curves for people: a table for each, where bounds set in, and charts. */
#include "guess_note.h"
#include "sweep_chart.h"

#include "layout_text.h"
#include "section.h"

enum { CHART_WIDTH = 76, CHART_HEIGHT = 18, SVG_WIDTH = 720, SVG_HEIGHT = 420 };

static void add_money(ridge_table *t, const ridge_curve_view *v,
                      const ridge_curve_point *p)
{
    if (!v->has_money)
        return;
    const ridge_money *m = &p->money;
    ridge_table_cell(t, m->has_goodput ? ridge_format_percent(m->goodput).s : "-");
    ridge_table_cell(t,
                     m->days > 0 ? ridge_format_seconds(m->days * RIDGE_DAY_S).s : "-");
    ridge_table_cell(t, m->usd > 0 ? ridge_format_usd(m->usd).s : "-");
}

static void add_refused(ridge_table *t, const ridge_curve_view *v,
                        const ridge_curve_point *p)
{
    const int blanks = v->has_money ? 11 : 8;
    for (int i = 0; i < blanks; i++)
        ridge_table_cell(t, "-");
    ridge_table_cell(t, p->why_not);
}

static void add_point(ridge_ctx *cx, ridge_table *t, const ridge_curve_view *v,
                      const ridge_curve_point *p)
{
    const ridge_curve_axis axis = v->study->range.axis;
    ridge_table_cell(t, axis == RIDGE_CURVE_CHIPS
                            ? ridge_format_exact((int64_t)p->value).s
                            : ridge_format_count(p->value).s);
    ridge_table_cell(t, p->request.slice->text);
    ridge_table_cell(t, ridge_format_count(p->request.batch_tokens).s);
    if (p->why_not != NULL) {
        add_refused(t, v, p);
        return;
    }
    const ridge_train_price *best = &p->best;
    ridge_table_cell(t, ridge_format_seconds(best->step_time_s).s);
    ridge_table_cell(t, ridge_format_percent(best->mfu).s);
    ridge_table_cell(t, ridge_format_count(best->tokens_per_s_per_chip).s);
    ridge_table_cellf(t, "%.2f x", p->speedup);
    ridge_table_cell(t, ridge_format_percent(p->efficiency).s);
    ridge_table_cell(t, ridge_format_percent(p->communication).s);
    ridge_table_cell(t,
                     ridge_format_percent(best->parts.bubble_s / best->step_time_s).s);
    ridge_table_cellf(
        t, "%s %s", ridge_step_text(best->bottleneck),
        ridge_format_percent(ridge_step_get(&best->parts, best->bottleneck) /
                             best->step_time_s)
            .s);
    add_money(t, v, p);
    ridge_table_cell(t, ridge__layout_text(cx, &best->layout));
}

static const char *curve_title(const ridge_curve *curve)
{
    switch (curve->kind) {
    case RIDGE_CURVE_STRONG:
        return "Strong scaling: the batch stays";
    case RIDGE_CURVE_WEAK:
        return "Weak scaling: the batch grows with the chips";
    case RIDGE_CURVE_PLAIN:
        break;
    }
    return "The best layout of each point";
}

static void add_marks(ridge_ctx *cx, const ridge_curve_view *v,
                      const ridge_curve *curve, ridge_sections *s)
{
    if (curve->n_marks == 0)
        return;
    ridge_table *t = ridge__section_add(cx, s,
                                        curve->kind == RIDGE_CURVE_WEAK
                                            ? "Where bounds set in, weak scaling"
                                            : "Where bounds set in",
                                        "what|>at|from");
    for (int i = 0; i < curve->n_marks; i++) {
        const ridge_curve_mark *m = &curve->marks[i];
        ridge_table_cell(t, m->label);
        ridge_table_cellf(t, "%s %s", ridge_format_count(m->at).s,
                          v->study->range.axis == RIDGE_CURVE_CHIPS ? "chips"
                                                                    : "tokens");
        ridge_table_cell(t, m->is_threshold
                                ? "plain rooflines, scaling-book-2025 chapters 5 and 12"
                                : "the first such point, in its best layout");
    }
}

static void build(ridge_ctx *cx, const ridge_curve_view *v, ridge_sections *s)
{
    const ridge_curve_study *study = v->study;
    ridge_arena *arena = ridge_ctx_arena(cx);
    s->title =
        ridge_sprintf(arena, "%s on %s, by %s", v->model_name, v->request->slice->text,
                      ridge_curve_axis_text(study->range.axis));
    s->subtitle = ridge_sprintf(
        arena, "%s, sequences of %s, %s tokens a step at the first point",
        v->request->slice->chip->full_name,
        ridge_format_count(study->curves[0].points[0].request.seq_tokens).s,
        ridge_format_count(study->curves[0].points[0].request.batch_tokens).s);
    ridge__guess_note_add(cx, v->request->model, s);
    for (int c = 0; c < study->n_curves; c++) {
        const ridge_curve *curve = &study->curves[c];
        ridge_table *t = ridge__section_add(
            cx, s, curve_title(curve),
            v->has_money
                ? ">point|slice|>batch|>step|>MFU|>tokens/s a chip|>speed|>"
                  "efficiency|>exposed|>bubble|bottleneck|>goodput|>time|>cost|"
                  "layout"
                : ">point|slice|>batch|>step|>MFU|>tokens/s a chip|>speed|>"
                  "efficiency|>exposed|>bubble|bottleneck|layout");
        for (int i = 0; i < curve->n; i++)
            add_point(cx, t, v, &curve->points[i]);
    }
    for (int c = 0; c < study->n_curves; c++)
        add_marks(cx, v, &study->curves[c], s);
    ridge__section_note(
        s,
        ridge_sprintf(arena,
                      "Speed and efficiency are those of tokens a second, against the "
                      "first point. %s layouts covered in %s.",
                      ridge_format_exact(study->covered).s,
                      ridge_format_seconds(study->seconds).s));
}

void ridge_curve_write_text(ridge_ctx *cx, const ridge_curve_view *view,
                            bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    ridge_chart chart;
    build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
    if (!ridge__curve_chart(cx, view, &chart))
        return;
    ridge_buf_puts(out, "\n");
    ridge_chart_write_text(&chart, CHART_WIDTH, CHART_HEIGHT, with_colour, out);
}

void ridge_curve_write_svg(ridge_ctx *cx, const ridge_curve_view *view, ridge_buf *out)
{
    ridge_chart chart;
    ridge__curve_chart(cx, view, &chart);
    ridge_chart_write_svg(&chart, SVG_WIDTH, SVG_HEIGHT, out);
}

/* The parts of each point's step, as shares: points of any size stand side by side. */
static void add_bars(ridge_ctx *cx, const ridge_curve *curve, ridge_buf *out)
{
    const char *rows[RIDGE_CURVE_MAX];
    const char *names[RIDGE_STEP_COUNT];
    double values[RIDGE_CURVE_MAX * RIDGE_STEP_COUNT];
    size_t n = 0;
    for (int i = 0; i < RIDGE_STEP_COUNT; i++)
        names[i] = ridge_step_text(i);
    for (int k = 0; k < curve->n; k++) {
        const ridge_curve_point *p = &curve->points[k];
        if (p->why_not != NULL)
            continue;
        const char *name =
            ridge_sprintf(ridge_ctx_arena(cx), "%s, %s", p->request.slice->text,
                          ridge_format_count(p->value).s);
        rows[n] = name == NULL ? "" : name;
        for (int i = 0; i < RIDGE_STEP_COUNT; i++) {
            values[n * RIDGE_STEP_COUNT + (size_t)i] =
                100 * ridge_step_get(&p->best.parts, i) / p->best.step_time_s;
        }
        n++;
    }
    ridge_html_heading(out, curve->kind == RIDGE_CURVE_WEAK
                                ? "Where the step goes, weak scaling"
                                : "Where the step goes");
    ridge_html_bars(out, rows, n, names, RIDGE_STEP_COUNT, values, "%");
}

void ridge_curve_write_html(ridge_ctx *cx, const ridge_curve_view *view, ridge_buf *out)
{
    ridge_sections s = {0};
    ridge_chart chart;
    build(cx, view, &s);
    ridge__page_begin(&s, out);
    if (ridge__curve_chart(cx, view, &chart))
        ridge_html_chart(out, &chart);
    if (ridge__curve_chart_speed(cx, view, &chart))
        ridge_html_chart(out, &chart);
    for (int c = 0; c < view->study->n_curves; c++)
        add_bars(cx, &view->study->curves[c], out);
    ridge__page_end(&s, out);
}
