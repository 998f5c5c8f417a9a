/* Predicted and measured side by side. */
#include "profile_sections.h"

#include "ridge/report.h"

#include <math.h>

enum { PLAN_ROWS = 24 };

static void time_cell(ridge_table *t, bool has, double seconds)
{
    ridge_table_cell(t, has ? ridge_format_seconds(seconds).s : "-");
}

static void row_add(ridge_ctx *cx, ridge_table *t, const ridge_plan_row *r)
{
    const double delta = r->measured_s - r->predicted_s;
    ridge_table_cell(t, profile_name_text(cx, r->name, 48));
    time_cell(t, r->has_predicted, r->predicted_s);
    time_cell(t, r->has_measured, r->measured_s);
    if (!r->has_predicted || !r->has_measured) {
        ridge_table_cell(t, "");
        ridge_table_cell(t, "");
        return;
    }
    ridge_table_cellf(t, "%s%s", delta < 0 ? "-" : "+",
                      ridge_format_seconds(fabs(delta)).s);
    if (r->predicted_s > 0)
        ridge_table_cellf(t, "%.2f", r->measured_s / r->predicted_s);
    else
        ridge_table_cell(t, "");
}

static void count_cell(ridge_table *t, double count)
{
    ridge_table_cell(t, count > 0 ? ridge_format_count(count).s : "");
}

static void build(ridge_ctx *cx, const ridge_plan_comparison *c, ridge_sections *s)
{
    s->title =
        ridge_sprintf(ridge_ctx_arena(cx), "%s against its plan", c->profile->path);
    s->subtitle = ridge_sprintf(
        ridge_ctx_arena(cx), "%s; a step on average of %lld; %lld microbatch%s",
        c->request->slice->text, (long long)c->profile->steps,
        (long long)c->price.microbatches, c->price.microbatches == 1 ? "" : "es");
    ridge_table *t = ridge__section_add(
        cx, s, "Step", "part|>predicted|>measured|>difference|>ratio|what");
    for (int i = 0; i < c->n_parts; i++) {
        row_add(cx, t, &c->parts[i]);
        ridge_table_cell(t, c->parts[i].how);
    }
    if (c->warning != NULL)
        ridge__section_note(s, c->warning);
    if (c->n_rows == 0) {
        if (c->note != NULL)
            ridge__section_note(
                s, ridge_sprintf(ridge_ctx_arena(cx), "No operations: %s.", c->note));
        return;
    }
    t = ridge__section_add(cx, s,
                           "Operations and collectives, largest disagreement first",
                           "|>predicted|>measured|>difference|>ratio|>calls "
                           "predicted|>measured|matched");
    for (int i = 0; i < c->n_rows && i < PLAN_ROWS; i++) {
        row_add(cx, t, &c->rows[i]);
        count_cell(t, c->rows[i].predicted_count);
        count_cell(t, c->rows[i].measured_count);
        ridge_table_cell(t, c->rows[i].how);
    }
    ridge__section_note(
        s,
        ridge_sprintf(ridge_ctx_arena(cx),
                      "Times of collectives are while they run, hidden or not. Each "
                      "microbatch is taken to gather and to reduce, and nothing to be "
                      "computed again.%s%s",
                      c->note ? " " : "", c->note ? c->note : ""));
}

void ridge_plan_comparison_write_text(ridge_ctx *cx, const ridge_plan_comparison *c,
                                      bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, c, &s);
    ridge__sections_write_text(&s, with_colour, out);
}

void ridge_plan_comparison_write_html(ridge_ctx *cx, const ridge_plan_comparison *c,
                                      ridge_buf *out)
{
    static const char *const rows[] = {"predicted", "measured"};
    const char *names[RIDGE_PLAN_PART_MAX];
    double values[2 * RIDGE_PLAN_PART_MAX];
    size_t n = 0;
    ridge_sections s = {0};
    build(cx, c, &s);
    ridge__page_begin(&s, out);
    ridge_html_heading(out, "Where a step goes");
    /* Without the step itself, and without what is in no sum. */
    for (int i = 1; i + 1 < c->n_parts; i++)
        names[n++] = c->parts[i].name;
    for (size_t i = 0; i < n; i++) {
        values[i] = c->parts[i + 1].predicted_s;
        values[n + i] = c->parts[i + 1].measured_s;
    }
    ridge_html_bars(out, rows, RIDGE_COUNT_OF(rows), names, n, values, "s");
    ridge__page_end(&s, out);
}

/* ---- JSON ------------------------------------------------------------------------ */

static void push_row(ridge_ctx *cx, ridge_json *all, const ridge_plan_row *r)
{
    ridge_json *o = ridge_json_push_object(cx, all);
    ridge_json_set_text(o, "name", r->name);
    ridge_json_set_text(o, "matched", r->how);
    ridge_json_set_double(o, "predicted_s",
                          r->has_predicted ? r->predicted_s : nan(""));
    ridge_json_set_double(o, "measured_s", r->has_measured ? r->measured_s : nan(""));
    if (r->predicted_count > 0)
        ridge_json_set_double(o, "predicted_count", r->predicted_count);
    if (r->measured_count > 0)
        ridge_json_set_double(o, "measured_count", r->measured_count);
}

void ridge_plan_comparison_write_json(ridge_ctx *cx, const ridge_plan_comparison *c,
                                      ridge_json *object)
{
    ridge_json *plan = ridge_json_set_object(cx, object, "plan");
    ridge_json_set_text(plan, "slice", c->request->slice->text);
    ridge_json_set_i64(plan, "microbatches", c->price.microbatches);
    ridge_json *parts = ridge_json_set_array(cx, plan, "parts");
    for (int i = 0; i < c->n_parts; i++)
        push_row(cx, parts, &c->parts[i]);
    ridge_json *rows = ridge_json_set_array(cx, plan, "rows");
    for (int i = 0; i < c->n_rows; i++)
        push_row(cx, rows, &c->rows[i]);
    ridge_json_set_text(plan, "note", c->note);
    ridge_json_set_text(plan, "warning", c->warning);
}
