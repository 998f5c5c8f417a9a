/* Predictions against measurements: the distribution of the errors, and every row. */
#include "error_table.h"

#include "ridge/report.h"

#define ERROR_NOTE                                                                     \
    "Error: predicted / measured - 1; median and p90 of its absolute value, bias its " \
    "median. Where a row is silent the best layout that agrees with it is taken, and " \
    "the row counts as assumed."
#define DISTURBED_NOTE                                                                 \
    "Disturbed rows are not counted: their source ran the same plan in less than 0.8 " \
    "of the time, or one that differs in the batch alone in less than two thirds. "

static void add_overall(ridge_ctx *cx, const ridge_validation *v, ridge_sections *s)
{
    ridge_table *t = ridge__error_table(cx, s, "Error of the step time", "rows");
    ridge__error_row(t, &v->all);
    ridge__error_row(t, &v->complete);
    ridge__error_row(t, &v->assumed);
    ridge_table_rule(t);
    ridge__error_row(t, &v->memory);
    ridge__section_note(s, v->n_disturbed > 0 ? DISTURBED_NOTE ERROR_NOTE : ERROR_NOTE);
}

typedef struct error_groups {
    const char *title, *first; /* of the table, of its first column */
    const ridge_error_summary *groups;
    int n;
} error_groups;

static void add_group(ridge_ctx *cx, ridge_sections *s, const error_groups *g)
{
    if (g->n == 0)
        return;
    ridge_table *t = ridge__error_table(cx, s, g->title, g->first);
    for (int i = 0; i < g->n; i++)
        ridge__error_row(t, &g->groups[i]);
}

static void add_groups(ridge_ctx *cx, const ridge_validation *v, ridge_sections *s)
{
    const error_groups all[] = {
        {"By chip", "chip", v->by_chip, v->n_by_chip},
        {"By chip, plan stated whole", "chip", v->complete_by_chip,
         v->n_complete_by_chip},
        {"By software", "stack", v->by_stack, v->n_by_stack},
        {"By source", "source", v->by_source, v->n_by_source},
        {"Peak memory by source", "source", v->memory_by_source, v->n_memory_by_source},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(all); i++)
        add_group(cx, s, &all[i]);
}

static void add_rankings(ridge_ctx *cx, const ridge_validation *v, ridge_sections *s)
{
    if (v->n_rankings == 0)
        return;
    ridge_table *t =
        ridge__section_add(cx, s, "Order of layouts",
                           "source|model|>layouts|>pairs|>tau|>repeats|>beyond|>tau");
    for (int i = 0; i < v->n_rankings; i++) {
        const ridge_ranking *r = &v->rankings[i];
        ridge_table_cell(t, r->source);
        ridge_table_cell(t, r->model);
        ridge_table_cellf(t, "%d", r->rows);
        ridge_table_cellf(t, "%d", r->pairs);
        ridge_table_cellf(t, "%.2f", r->tau);
        ridge_table_cell(
            t, r->repeats_differ > 0 ? ridge_format_percent(r->repeats_differ).s : "-");
        ridge_table_cellf(t, "%d", r->pairs_beyond);
        ridge_table_cellf(t, "%.2f", r->tau_beyond);
    }
    ridge__section_note(s, "Kendall's tau of chip-seconds a token, predicted against "
                           "measured, over pairs of unlike plans measured 2 % apart or "
                           "more; then over those that differ by more than nine of "
                           "ten pairs of runs of one plan of that source.");
}

static void add_skipped(ridge_ctx *cx, const ridge_validation *v, ridge_sections *s)
{
    if (v->n_predicted == v->n_rows)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Not predicted", "row|model|why");
    for (int i = 0; i < v->n_rows; i++) {
        const ridge_validation_row *r = &v->rows[i];
        if (r->is_predicted)
            continue;
        ridge_table_cell(t, r->id);
        ridge_table_cell(t, r->model);
        ridge_table_cell(t, r->why_skipped == NULL ? "" : r->why_skipped);
    }
}

static void add_rows(ridge_ctx *cx, const ridge_validation *v, ridge_sections *s)
{
    ridge_table *t = ridge__section_add(
        cx, s, "Rows", "row|chip|model|>measured|>predicted|>error|assumed");
    for (int i = 0; i < v->n_rows; i++) {
        const ridge_validation_row *r = &v->rows[i];
        if (!r->is_predicted)
            continue;
        ridge_table_cell(t, r->id);
        ridge_table_cell(t, r->chip);
        ridge_table_cell(t, r->model);
        ridge_table_cell(t, ridge_format_seconds(r->measured_step_s).s);
        ridge_table_cell(t, ridge_format_seconds(r->predicted_step_s).s);
        ridge__error_cell(t, r->relative_error);
        ridge_table_cell(t, r->assumed);
    }
}

static void build(ridge_ctx *cx, const ridge_validation_view *view, ridge_sections *s)
{
    const ridge_validation *v = view->validation;
    s->title = ridge_sprintf(ridge_ctx_arena(cx), "%s: predicted against measured",
                             view->path);
    s->subtitle = ridge_sprintf(
        ridge_ctx_arena(cx),
        "%d rows: %d predicted (%d state their whole plan, %d are disturbed), "
        "%d not predicted",
        v->n_rows, v->n_predicted, v->n_complete, v->n_disturbed,
        v->n_rows - v->n_predicted);
    add_overall(cx, v, s);
    add_groups(cx, v, s);
    add_rankings(cx, v, s);
    if (view->has_rows) {
        add_rows(cx, v, s);
        add_skipped(cx, v, s);
    }
}

void ridge_validation_write_text(ridge_ctx *cx, const ridge_validation_view *view,
                                 bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
}

void ridge_validation_write_html(ridge_ctx *cx, const ridge_validation_view *view,
                                 ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__page_write(&s, out);
}

/* ---- JSON ------------------------------------------------------------------------ */

/* The layout that was taken, and what its time and memory are made of. */
static void set_price(ridge_ctx *cx, ridge_json *row, const ridge_train_price *p)
{
    const ridge_layout *l = &p->layout;
    ridge_json *layout = ridge_json_set_object(cx, row, "layout");
    const struct {
        const char *name;
        int64_t value;
    } degrees[] = {{"dp", l->dp},
                   {"fsdp", l->fsdp},
                   {"tp", l->tp},
                   {"cp", l->cp},
                   {"pp", l->pp},
                   {"ep", l->ep},
                   {"vpp", l->vpp},
                   {"zero_stage", l->zero_stage},
                   {"microbatch_seqs", l->microbatch_seqs},
                   {"microbatches", p->microbatches}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++)
        ridge_json_set_i64(layout, degrees[i].name, degrees[i].value);
    ridge_json_set_bool(layout, "sp", l->has_sp);
    ridge_json_set_text(layout, "remat", ridge_layout_remat_text(cx, l));
    ridge_json_set_text(layout, "precision",
                        ridge_precision_policy(l->precision)->text);
    ridge_json *parts = ridge_json_set_object(cx, row, "breakdown");
    for (int i = 0; i < RIDGE_STEP_COUNT; i++)
        ridge_json_set_double(parts, ridge_step_text(i), ridge_step_get(&p->parts, i));
    ridge_json *memory = ridge_json_set_object(cx, row, "memory");
    for (int i = 0; i < RIDGE_MEMORY_COUNT; i++) {
        ridge_json_set_double(memory, ridge_memory_part_text(i),
                              ridge_memory_part_get(&p->memory, i));
    }
}

static void set_row(ridge_ctx *cx, ridge_json *array, const ridge_validation_row *r)
{
    ridge_json *o = ridge_json_push_object(cx, array);
    ridge_json_set_text(o, "id", r->id);
    ridge_json_set_text(o, "chip", r->chip);
    ridge_json_set_text(o, "source", r->source);
    ridge_json_set_text(o, "model", r->model);
    ridge_json_set_double(o, "measured_step_time_s", r->measured_step_s);
    ridge_json_set_double(o, "predicted_step_time_s", r->predicted_step_s);
    ridge_json_set_double(o, "range_low_s", r->range.low_s);
    ridge_json_set_double(o, "range_high_s", r->range.high_s);
    ridge_json_set_double(o, "rel_error", r->relative_error);
    ridge_json_set_text(o, "assumed", r->assumed);
    ridge_json_set_text(o, "stack", r->stack);
    ridge_json_set_bool(o, "disturbed", r->is_disturbed);
    if (r->has_memory) {
        ridge_json_set_double(o, "measured_memory_bytes", r->measured_memory_bytes);
        ridge_json_set_double(o, "predicted_memory_bytes", r->predicted_memory_bytes);
    }
    set_price(cx, o, &r->price);
}

static void set_skipped(ridge_ctx *cx, ridge_json *object, const ridge_validation *v)
{
    ridge_json *skipped = ridge_json_set_array(cx, object, "skipped");
    for (int i = 0; i < v->n_rows; i++) {
        if (v->rows[i].is_predicted)
            continue;
        ridge_json *o = ridge_json_push_object(cx, skipped);
        ridge_json_set_text(o, "id", v->rows[i].id);
        ridge_json_set_text(o, "why", v->rows[i].why_skipped);
    }
}

static void set_rankings(ridge_ctx *cx, ridge_json *object, const ridge_validation *v)
{
    ridge_json *rankings = ridge_json_set_array(cx, object, "rankings");
    for (int i = 0; i < v->n_rankings; i++) {
        ridge_json *o = ridge_json_push_object(cx, rankings);
        ridge_json_set_text(o, "source", v->rankings[i].source);
        ridge_json_set_text(o, "model", v->rankings[i].model);
        ridge_json_set_i64(o, "layouts", v->rankings[i].rows);
        ridge_json_set_i64(o, "pairs", v->rankings[i].pairs);
        ridge_json_set_double(o, "kendall_tau", v->rankings[i].tau);
        ridge_json_set_double(o, "repeats_differ", v->rankings[i].repeats_differ);
        ridge_json_set_i64(o, "pairs_beyond", v->rankings[i].pairs_beyond);
        ridge_json_set_double(o, "kendall_tau_beyond", v->rankings[i].tau_beyond);
    }
}

void ridge_validation_write_json(ridge_ctx *cx, const ridge_validation_view *view,
                                 ridge_json *object)
{
    const ridge_validation *v = view->validation;
    ridge_json_set_i64(object, "rows", v->n_rows);
    ridge_json_set_i64(object, "predicted", v->n_predicted);
    ridge_json_set_double(object, "median_abs_rel_error", v->all.median_abs);
    ridge_json_set_double(object, "p90_abs_rel_error", v->all.p90_abs);
    ridge_json_set_double(object, "bias", v->all.bias);
    ridge__error_set_json(ridge_json_set_object(cx, object, "complete"), &v->complete);
    ridge__error_set_json(ridge_json_set_object(cx, object, "assumed"), &v->assumed);
    ridge__error_set_json(ridge_json_set_object(cx, object, "memory"), &v->memory);
    ridge_json_set_i64(object, "disturbed", v->n_disturbed);
    ridge__error_groups_set_json(cx, object, "by_chip", v->by_chip, v->n_by_chip);
    ridge__error_groups_set_json(cx, object, "complete_by_chip", v->complete_by_chip,
                                 v->n_complete_by_chip);
    ridge__error_groups_set_json(cx, object, "by_stack", v->by_stack, v->n_by_stack);
    ridge__error_groups_set_json(cx, object, "by_source", v->by_source, v->n_by_source);
    ridge__error_groups_set_json(cx, object, "memory_by_source", v->memory_by_source,
                                 v->n_memory_by_source);
    set_rankings(cx, object, v);
    set_skipped(cx, object, v);
    if (!view->has_rows)
        return;
    ridge_json *rows = ridge_json_set_array(cx, object, "row");
    for (int i = 0; i < v->n_rows; i++) {
        if (v->rows[i].is_predicted)
            set_row(cx, rows, &v->rows[i]);
    }
}
