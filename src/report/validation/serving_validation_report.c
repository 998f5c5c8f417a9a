/* Predicted against measured serving: the distribution of the errors, every row. */
#include "ridge/report_serving_validation.h"

#include "error_table.h"

static const char *title_of(ridge_ctx *cx, int metric, const char *by)
{
    return ridge_sprintf(ridge_ctx_arena(cx), "%s by %s",
                         ridge_serving_metric_text((ridge_serving_metric)metric), by);
}

static void add_groups(ridge_ctx *cx, const ridge_error_groups *groups, int metric,
                       const char *by, ridge_sections *s)
{
    if (groups->n == 0)
        return;
    ridge_table *t = ridge__error_table(cx, s, title_of(cx, metric, by), by);
    for (int i = 0; i < groups->n; i++)
        ridge__error_row(t, &groups->at[i]);
}

static void add_whole(ridge_ctx *cx, const ridge_serving_validation *v,
                      ridge_sections *s)
{
    ridge_table *t = ridge__error_table(cx, s, "Error", "metric");
    for (int i = 0; i < RIDGE_SERVING_METRIC_COUNT; i++) {
        const char *name = ridge_serving_metric_text((ridge_serving_metric)i);
        ridge_error_summary all = v->errors[i].all;
        ridge_error_summary complete = v->errors[i].complete;
        if (all.rows == 0)
            continue;
        all.name = ridge_sprintf(ridge_ctx_arena(cx), "%s, all rows", name);
        complete.name =
            ridge_sprintf(ridge_ctx_arena(cx), "%s, rows that state enough", name);
        ridge__error_row(t, &complete);
        ridge__error_row(t, &all);
    }
    ridge__section_note(
        s,
        "Error: predicted / measured - 1; median and p90 of its absolute value, bias "
        "its median. Rows state enough when nothing was assumed, and their model "
        "has no layers that could have drafted tokens, or they say what drafted.");
}

static void add_summaries(ridge_ctx *cx, const ridge_serving_validation *v,
                          ridge_sections *s)
{
    add_whole(cx, v, s);
    for (int i = 0; i < RIDGE_SERVING_METRIC_COUNT; i++) {
        const ridge_serving_errors *e = &v->errors[i];
        add_groups(cx, &e->complete_by_chip, i, "chip, rows that state enough", s);
        add_groups(cx, &e->by_chip, i, "chip", s);
        add_groups(cx, &e->by_engine, i, "engine", s);
        add_groups(cx, &e->by_model, i, "model", s);
        add_groups(cx, &e->by_source, i, "source", s);
    }
}

static void add_fits(ridge_ctx *cx, const ridge_serving_validation *v,
                     ridge_sections *s)
{
    const ridge_fit_counts *f = &v->fits;
    if (f->rows == 0)
        return;
    ridge_table *t = ridge__section_add(
        cx, s, "Fits in memory",
        ">rows|>told right|>fits, they say not|>does not, they say so");
    ridge_table_cellf(t, "%d", f->rows);
    ridge_table_cellf(t, "%d", f->right);
    ridge_table_cellf(t, "%d", f->too_many);
    ridge_table_cellf(t, "%d", f->too_few);
}

static void add_skipped(ridge_ctx *cx, const ridge_serving_validation *v,
                        ridge_sections *s)
{
    if (v->n_reasons == 0)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Not predicted", ">rows|why");
    for (int i = 0; i < v->n_reasons; i++) {
        ridge_table_cellf(t, "%d", v->reasons[i].rows);
        ridge_table_cell(t, v->reasons[i].why);
    }
}

/* ---- rows -------------------------------------------------------------------------
 */

static void add_value(ridge_table *t, int metric, double value)
{
    if (value <= 0) {
        ridge_table_cell(t, "-");
    } else if (metric == RIDGE_SERVING_METRIC_THROUGHPUT) {
        ridge_table_cell(t, ridge_format_count(value).s);
    } else {
        ridge_table_cell(t, ridge_format_seconds(value).s);
    }
}

static void add_names(ridge_table *t, const ridge_serving_row *r)
{
    ridge_table_cell(t, r->id);
    ridge_table_cell(t, r->chip);
    ridge_table_cell(t, r->engine);
    ridge_table_cell(t, r->model);
    ridge_table_cell(t, r->what);
}

static void add_fit(ridge_table *t, const ridge_serving_row *r)
{
    add_names(t, r);
    ridge_table_cell(t, "fits in memory");
    ridge_table_cell(t, r->fits_measured ? "yes" : "no");
    ridge_table_cell(t, r->fits_predicted ? "yes" : "no");
    ridge_table_cell(t, "-");
    ridge_table_cell(t, ridge_drafting_text(r->drafting));
    ridge_table_cell(t, r->assumed);
}

static void add_row(ridge_table *t, const ridge_serving_row *r)
{
    if (r->has_fit)
        add_fit(t, r);
    for (int i = 0; i < RIDGE_SERVING_METRIC_COUNT; i++) {
        const ridge_serving_figure *f = &r->figures[i];
        if (f->measured <= 0 || f->predicted <= 0)
            continue;
        add_names(t, r);
        ridge_table_cell(t, ridge_serving_metric_text((ridge_serving_metric)i));
        add_value(t, i, f->measured);
        add_value(t, i, f->predicted);
        ridge__error_cell(t, f->relative_error);
        ridge_table_cell(t, ridge_drafting_text(r->drafting));
        ridge_table_cell(t, r->assumed);
    }
}

static void add_contradictions(ridge_ctx *cx, const ridge_serving_validation *v,
                               ridge_sections *s)
{
    if (v->n_contradicts == 0)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Rows that contradict themselves",
                                        "row|chip|engine|model|why");
    for (int i = 0; i < v->n_rows; i++) {
        const ridge_serving_row *r = &v->rows[i];
        if (!r->is_predicted || r->contradiction == RIDGE_CONTRADICTION_NONE)
            continue;
        ridge_table_cell(t, r->id);
        ridge_table_cell(t, r->chip);
        ridge_table_cell(t, r->engine);
        ridge_table_cell(t, r->model);
        ridge_table_cell(t, ridge_contradiction_text(r->contradiction));
    }
    ridge__section_note(
        s, "By Little's law (requests in flight = rate x time of one), or means over "
           "requests far above means over tokens. Tokens/s of these rows are counted.");
}

static void add_rows(ridge_ctx *cx, const ridge_serving_validation *v,
                     ridge_sections *s)
{
    ridge_table *t =
        ridge__section_add(cx, s, "Rows",
                           "row|chip|engine|model|what|metric|>measured|>predicted|"
                           ">error|drafting|assumed");
    for (int i = 0; i < v->n_rows; i++) {
        if (v->rows[i].is_predicted)
            add_row(t, &v->rows[i]);
    }
    ridge_table *skipped =
        ridge__section_add(cx, s, "Rows not predicted", "row|chip|engine|model|why");
    for (int i = 0; i < v->n_rows; i++) {
        const ridge_serving_row *r = &v->rows[i];
        if (r->is_predicted)
            continue;
        ridge_table_cell(skipped, r->id);
        ridge_table_cell(skipped, r->chip);
        ridge_table_cell(skipped, r->engine);
        ridge_table_cell(skipped, r->model);
        ridge_table_cell(skipped, r->why_skipped);
    }
}

static void build(ridge_ctx *cx, const ridge_serving_validation_view *view,
                  ridge_sections *s)
{
    const ridge_serving_validation *v = view->validation;
    ridge_arena *arena = ridge_ctx_arena(cx);
    s->title = ridge_sprintf(arena, "%s: predicted against measured", view->path);
    s->subtitle = ridge_sprintf(
        arena,
        "%d rows of serving: %d predicted, %d of them state enough, %d drafted "
        "(quicker than one token an iteration can be, or than a row stated alike; not "
        "counted), %d contradict themselves (not counted), %d not "
        "predicted",
        v->n_rows, v->n_predicted, v->n_complete, v->n_drafted, v->n_contradicts,
        v->n_rows - v->n_predicted);
    add_summaries(cx, v, s);
    add_fits(cx, v, s);
    add_contradictions(cx, v, s);
    add_skipped(cx, v, s);
    if (view->has_rows)
        add_rows(cx, v, s);
}

void ridge_serving_validation_write_text(ridge_ctx *cx,
                                         const ridge_serving_validation_view *view,
                                         bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
}

void ridge_serving_validation_write_html(ridge_ctx *cx,
                                         const ridge_serving_validation_view *view,
                                         ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__page_write(&s, out);
}
