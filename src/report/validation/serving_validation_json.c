/* JSON of predicted against measured serving. */
#include "ridge/report_serving_validation.h"

#include "error_table.h"

static void set_errors(ridge_ctx *cx, ridge_json *object, const ridge_serving_errors *e)
{
    ridge__error_set_json(ridge_json_set_object(cx, object, "all"), &e->all);
    ridge__error_set_json(ridge_json_set_object(cx, object, "complete"), &e->complete);
    ridge__error_groups_set_json(cx, object, "complete_by_chip", e->complete_by_chip.at,
                                 e->complete_by_chip.n);
    ridge__error_groups_set_json(cx, object, "complete_by_engine",
                                 e->complete_by_engine.at, e->complete_by_engine.n);
    ridge__error_groups_set_json(cx, object, "complete_by_source",
                                 e->complete_by_source.at, e->complete_by_source.n);
    ridge__error_groups_set_json(cx, object, "by_chip", e->by_chip.at, e->by_chip.n);
    ridge__error_groups_set_json(cx, object, "by_engine", e->by_engine.at,
                                 e->by_engine.n);
    ridge__error_groups_set_json(cx, object, "by_model", e->by_model.at, e->by_model.n);
    ridge__error_groups_set_json(cx, object, "by_source", e->by_source.at,
                                 e->by_source.n);
}

static void set_figure(ridge_json *o, const ridge_serving_figure *f)
{
    ridge_json_set_double(o, "measured", f->measured);
    ridge_json_set_double(o, "predicted", f->predicted);
    ridge_json_set_double(o, "rel_error", f->relative_error);
}

/* An iteration by part. */
static void set_step(ridge_ctx *cx, ridge_json *o, const char *name,
                     const ridge_serving_step *step)
{
    if (step->expected_s <= 0)
        return;
    ridge_json *parts = ridge_json_set_object(cx, o, name);
    ridge_json_set_double(parts, "expected_s", step->expected_s);
    ridge_json_set_double(parts, "bound_s", step->bound_s);
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++) {
        const char *key = ridge_sprintf(ridge_ctx_arena(cx), "%s_s",
                                        ridge_serving_part_text((ridge_serving_part)i));
        if (key != NULL)
            ridge_json_set_double(parts, key, step->parts_s[i]);
    }
}

static void set_row(ridge_ctx *cx, ridge_json *array, const ridge_serving_row *r)
{
    ridge_json *o = ridge_json_push_object(cx, array);
    ridge_json_set_text(o, "id", r->id);
    ridge_json_set_i64(o, "line", r->line);
    ridge_json_set_text(o, "source", r->source);
    ridge_json_set_text(o, "chip", r->chip);
    ridge_json_set_text(o, "engine", r->engine);
    ridge_json_set_text(o, "model", r->model);
    ridge_json_set_text(o, "what", r->what);
    ridge_json_set_bool(o, "complete", r->is_complete);
    ridge_json_set_text(o, "drafting", ridge_drafting_text(r->drafting));
    ridge_json_set_text(o, "assumed", r->assumed);
    if (r->contradiction != RIDGE_CONTRADICTION_NONE) {
        ridge_json_set_text(o, "contradiction",
                            ridge_contradiction_text(r->contradiction));
        ridge_json_set_bool(o, "counts_tokens_per_s",
                            r->contradiction == RIDGE_CONTRADICTION_GAPS);
    }
    for (int i = 0; i < RIDGE_SERVING_METRIC_COUNT; i++) {
        const char *key = ridge_serving_metric_key((ridge_serving_metric)i);
        if (r->figures[i].measured > 0 && r->figures[i].predicted > 0)
            set_figure(ridge_json_set_object(cx, o, key), &r->figures[i]);
    }
    if (r->has_fit) {
        ridge_json *fits = ridge_json_set_object(cx, o, "fits_in_memory");
        ridge_json_set_bool(fits, "measured", r->fits_measured);
        ridge_json_set_bool(fits, "predicted", r->fits_predicted);
    }
    set_step(cx, o, "decode_iteration", &r->decode);
    set_step(cx, o, "prompt_iteration", &r->prompt);
}

static void set_skipped(ridge_ctx *cx, ridge_json *object,
                        const ridge_serving_validation *v)
{
    ridge_json *skipped = ridge_json_set_array(cx, object, "skipped");
    for (int i = 0; i < v->n_rows; i++) {
        const ridge_serving_row *r = &v->rows[i];
        if (r->is_predicted)
            continue;
        ridge_json *o = ridge_json_push_object(cx, skipped);
        ridge_json_set_text(o, "id", r->id);
        ridge_json_set_text(o, "why", r->why_skipped);
    }
}

/* The metric that a file of one number would have: TPOT, or what there is instead. */
static const ridge_error_summary *main_error(const ridge_serving_validation *v)
{
    const ridge_error_summary *tpot = &v->errors[RIDGE_SERVING_METRIC_TPOT].all;
    const ridge_error_summary *rate = &v->errors[RIDGE_SERVING_METRIC_THROUGHPUT].all;
    return tpot->rows >= rate->rows ? tpot : rate;
}

void ridge_serving_validation_write_json(ridge_ctx *cx,
                                         const ridge_serving_validation_view *view,
                                         ridge_json *object)
{
    const ridge_serving_validation *v = view->validation;
    const ridge_error_summary *e = main_error(v);
    ridge_json_set_text(object, "measured", "serving");
    ridge_json_set_i64(object, "rows", v->n_rows);
    ridge_json_set_i64(object, "predicted", v->n_predicted);
    ridge_json_set_i64(object, "complete", v->n_complete);
    ridge_json_set_i64(object, "drafted", v->n_drafted);
    ridge_json_set_i64(object, "contradict", v->n_contradicts);
    ridge_json_set_double(object, "median_abs_rel_error", e->median_abs);
    ridge_json_set_double(object, "p90_abs_rel_error", e->p90_abs);
    ridge_json_set_double(object, "bias", e->bias);
    ridge_json *metrics = ridge_json_set_object(cx, object, "metrics");
    for (int i = 0; i < RIDGE_SERVING_METRIC_COUNT; i++) {
        const char *key = ridge_serving_metric_key((ridge_serving_metric)i);
        if (v->errors[i].all.rows > 0)
            set_errors(cx, ridge_json_set_object(cx, metrics, key), &v->errors[i]);
    }
    if (v->fits.rows > 0) {
        ridge_json *fits = ridge_json_set_object(cx, object, "fits_in_memory");
        ridge_json_set_i64(fits, "rows", v->fits.rows);
        ridge_json_set_i64(fits, "right", v->fits.right);
        ridge_json_set_i64(fits, "too_many", v->fits.too_many);
        ridge_json_set_i64(fits, "too_few", v->fits.too_few);
    }
    set_skipped(cx, object, v);
    if (!view->has_rows)
        return;
    ridge_json *rows = ridge_json_set_array(cx, object, "row");
    for (int i = 0; i < v->n_rows; i++) {
        if (v->rows[i].is_predicted)
            set_row(cx, rows, &v->rows[i]);
    }
}
