/* When drafting pays: speed-up over batch by depth, as a table and a chart. */
#include "ridge/report_speculation.h"

#include "section.h"
#include "service_text.h"
#include "speculation_notes.h"

#include <math.h>
#include <stdio.h>

enum { CHART_WIDTH = 78, CHART_HEIGHT = 18 };

/* ---- the table ------------------------------------------------------------------- */

static bool has_tree(const ridge_speculation_study *s)
{
    return s->rows[0].tree.nodes > 0;
}

static const char *columns_of(ridge_ctx *cx, const ridge_speculation_study *s)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_puts(&b, ">batch|>plain|bound by");
    for (int64_t k = 1; k <= s->deepest; k++)
        ridge_buf_printf(&b, "|>K=%lld", (long long)k);
    ridge_buf_puts(&b, "|>best K|>tokens|>TPOT|>drafting");
    if (has_tree(s))
        ridge_buf_puts(&b, "|>tree|levels|>speed-up");
    return ridge_buf_text(&b);
}

static void add_best(ridge_table *t, const ridge_speculation_row *row)
{
    if (row->best < 0) {
        for (int i = 0; i < 4; i++)
            ridge_table_cell(t, i == 0 ? "none" : "-");
        return;
    }
    const ridge_speculation_point *p = &row->chains[row->best];
    ridge_table_cellf(t, "%lld", (long long)p->depth);
    ridge_table_cellf(t, "%.2f", p->tokens);
    ridge_table_cell(t, ridge_format_seconds(p->tpot_s).s);
    ridge_table_cell(t, ridge_format_percent(p->draft_s / p->iteration_s).s);
}

static void add_tree(ridge_ctx *cx, ridge_table *t, const ridge_speculation_row *row)
{
    ridge_buf levels;
    ridge_buf_init(&levels, ridge_ctx_arena(cx));
    for (int i = 0; i < (int)row->tree.depth; i++)
        ridge_buf_printf(&levels, "%s%lld", i > 0 ? " " : "",
                         (long long)row->widths[i]);
    ridge_table_cellf(t, "%lld", (long long)row->tree.nodes);
    ridge_table_cell(t, ridge_buf_text(&levels));
    ridge_table_cellf(t, "%.2f", row->tree.speedup);
}

static void add_row(ridge_ctx *cx, ridge_table *t, const ridge_speculation_study *s,
                    const ridge_speculation_row *row)
{
    ridge_table_cell(t, ridge_format_count(row->batch).s);
    ridge_table_cell(t, ridge_format_seconds(row->plain_s).s);
    ridge_table_cell(t, ridge_bound_text(row->bound_by));
    for (int k = 0; k < (int)s->deepest; k++)
        ridge_table_cellf(t, "%.2f", row->chains[k].speedup);
    add_best(t, row);
    if (has_tree(s))
        add_tree(cx, t, row);
}

/* "2.31 (5)": the best depth in parentheses. */
static void add_cell(ridge_table *t, const ridge_speculation_cell *cell)
{
    if (!cell->fits) {
        ridge_table_cell(t, "");
    } else if (cell->depth == 0) {
        ridge_table_cell(t, "-");
    } else {
        ridge_table_cellf(t, "%.2f (%lld)", cell->speedup, (long long)cell->depth);
    }
}

static void add_contexts(ridge_ctx *cx, const ridge_speculation_view *v,
                         ridge_sections *s)
{
    const ridge_speculation_query *q = v->query;
    ridge_buf columns;
    ridge_buf_init(&columns, ridge_ctx_arena(cx));
    ridge_buf_puts(&columns, ">batch");
    for (int k = 0; k < q->n_contexts; k++)
        ridge_buf_printf(&columns, "|>%s", ridge_format_count(q->contexts[k]).s);
    ridge_table *t = ridge__section_add(cx, s, "Speed-up over batch by context",
                                        ridge_buf_text(&columns));
    for (int i = 0; t != NULL && i < v->study->n_rows; i++) {
        ridge_table_cell(t, ridge_format_count(v->study->rows[i].batch).s);
        for (int k = 0; k < q->n_contexts; k++)
            add_cell(t, &v->study->rows[i].contexts[k]);
    }
    ridge__section_note(s, "Tokens in the cache of each sequence; in parentheses the "
                           "best depth; -: none is faster; empty: no room.");
}

static void fill_sections(ridge_ctx *cx, const ridge_speculation_view *v,
                          ridge_sections *s)
{
    const ridge_draft_kind kind = v->query->speculation.draft.kind;
    *s = (ridge_sections){
        .title = ridge_sprintf(ridge_ctx_arena(cx), "%s on %s, %s: drafts by %s",
                               v->model_name, v->slice_text,
                               ridge__serving_layout_text(cx, v->query->layout),
                               ridge_draft_kind_text(kind)),
        .subtitle = ridge_draft_kind_what(kind)};
    ridge_table *t = ridge__section_add(cx, s, "Speed-up over batch by depth",
                                        columns_of(cx, v->study));
    for (int i = 0; t != NULL && i < v->study->n_rows; i++)
        add_row(cx, t, v->study, &v->study->rows[i]);
    const char *notes[RIDGE_SPECULATION_NOTES_MAX];
    const int n = ridge__speculation_notes(cx, v, notes);
    for (int i = 0; i < n; i++)
        ridge__section_note(s, notes[i]);
    if (v->query->n_contexts > 0)
        add_contexts(cx, v, s);
}

/* ---- the chart ------------------------------------------------------------------- */

/* Depths of which a line is drawn: 1, 2, 4, ... and the deepest. */
static bool is_drawn(int64_t depth, int64_t deepest)
{
    return (depth & (depth - 1)) == 0 || depth == 3 || depth == deepest;
}

static bool add_depth(ridge_ctx *cx, const ridge_speculation_study *s, int k,
                      ridge_chart *chart)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    double *x = ridge_new(arena, double, (size_t)s->n_rows);
    double *y = ridge_new(arena, double, (size_t)s->n_rows);
    const char *name = ridge_sprintf(arena, "K=%d", k + 1);
    if (x == NULL || y == NULL || name == NULL)
        return false;
    for (int i = 0; i < s->n_rows; i++) {
        x[i] = s->rows[i].batch;
        y[i] = s->rows[i].chains[k].speedup;
    }
    chart->series[chart->n_series++] = (ridge_series){name, x, y, (size_t)s->n_rows};
    return true;
}

static bool fill_chart(ridge_ctx *cx, const ridge_speculation_view *v, ridge_chart *out)
{
    const ridge_speculation_study *s = v->study;
    *out = (ridge_chart){.title = "Speed-up of drafting",
                         .x_label = "sequences of an attention rank",
                         .y_label = "speed-up",
                         .is_x_log = true};
    if (s->n_rows < 2)
        return false;
    for (int k = 0; k < (int)s->deepest && out->n_series < RIDGE_SERIES_MAX; k++) {
        if (is_drawn(k + 1, s->deepest) && !add_depth(cx, s, k, out))
            return false;
    }
    out->markers[out->n_markers++] = (ridge_marker){"no gain", 1, false};
    if (s->stops_at > 0 && isfinite(s->stops_at))
        out->markers[out->n_markers++] =
            (ridge_marker){"stops paying", s->stops_at, true};
    return true;
}

/* ---- writers --------------------------------------------------------------------- */

void ridge_speculation_write_text(ridge_ctx *cx, const ridge_speculation_view *view,
                                  bool with_colour, ridge_buf *out)
{
    ridge_sections sections;
    ridge_chart chart;
    fill_sections(cx, view, &sections);
    ridge__sections_write_text(&sections, with_colour, out);
    if (!fill_chart(cx, view, &chart))
        return;
    ridge_buf_puts(out, "\n");
    ridge_chart_write_text(&chart, CHART_WIDTH, CHART_HEIGHT, with_colour, out);
}

void ridge_speculation_write_html(ridge_ctx *cx, const ridge_speculation_view *view,
                                  ridge_buf *out)
{
    ridge_sections sections;
    ridge_chart chart;
    fill_sections(cx, view, &sections);
    ridge__page_begin(&sections, out);
    ridge__sections_write_html(&sections, out);
    if (fill_chart(cx, view, &chart))
        ridge_html_chart(out, &chart);
    ridge_html_end(out);
}

void ridge_speculation_write_svg(ridge_ctx *cx, const ridge_speculation_view *view,
                                 ridge_buf *out)
{
    ridge_chart chart;
    if (fill_chart(cx, view, &chart))
        ridge_chart_write_svg(&chart, 720, 400, out);
}
