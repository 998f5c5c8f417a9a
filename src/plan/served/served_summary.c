/*
 * Distributions of the errors of measured serving by metric: of all rows, of those that
 * state enough, by chip, engine, model and source. Rows that prove to have drafted are
 * counted apart: what was drafted, and how often it was right, is not known of them. So
 * are rows that contradict themselves; where means over requests do, tokens a second
 * are counted.
 */
#include "error_summary.h"
#include "served_run.h"

#include <stdlib.h>
#include <string.h>

typedef const char *row_name(const ridge_serving_row *r);

static const char *chip_of(const ridge_serving_row *r)
{
    return r->chip;
}

static const char *engine_of(const ridge_serving_row *r)
{
    return r->engine;
}

static const char *source_of(const ridge_serving_row *r)
{
    return r->source;
}

static const char *model_of(const ridge_serving_row *r)
{
    return r->model;
}

/* The rows that a summary is of. */
typedef struct row_set {
    const ridge_serving_validation *v;
    ridge_serving_metric metric;
    bool is_complete_only;
    error_entry *entries; /* scratch: as many as there are rows */
    double *errors;
} row_set;

static bool has_drafted(const ridge_serving_row *r)
{
    return r->drafting == RIDGE_DRAFTING_PROVEN || r->drafting == RIDGE_DRAFTING_TWIN;
}

static bool is_credible(const ridge_serving_row *r, ridge_serving_metric metric)
{
    return r->contradiction == RIDGE_CONTRADICTION_NONE ||
           (r->contradiction == RIDGE_CONTRADICTION_GAPS &&
            metric == RIDGE_SERVING_METRIC_THROUGHPUT);
}

static bool is_in(const row_set *set, const ridge_serving_row *r)
{
    const ridge_serving_figure *f = &r->figures[set->metric];
    return r->is_predicted && !has_drafted(r) && is_credible(r, set->metric) &&
           f->measured > 0 && f->predicted > 0 &&
           (r->is_complete || !set->is_complete_only);
}

static ridge_error_summary summarise(const row_set *set, const char *name)
{
    int n = 0;
    for (int i = 0; i < set->v->n_rows; i++) {
        const ridge_serving_row *r = &set->v->rows[i];
        if (is_in(set, r))
            set->errors[n++] = r->figures[set->metric].relative_error;
    }
    return error_summarise(name, set->errors, n);
}

static ridge_status group(ridge_ctx *cx, const row_set *set, row_name *name,
                          ridge_error_groups *out)
{
    int n = 0;
    for (int i = 0; i < set->v->n_rows; i++) {
        const ridge_serving_row *r = &set->v->rows[i];
        if (is_in(set, r)) {
            set->entries[n++] =
                (error_entry){name(r), r->figures[set->metric].relative_error};
        }
    }
    return error_group(cx, set->entries, n, out);
}

static ridge_status summarise_metric(ridge_ctx *cx, row_set *set,
                                     ridge_serving_errors *out)
{
    set->is_complete_only = true;
    out->complete = summarise(set, "rows that state enough");
    RIDGE_TRY(group(cx, set, chip_of, &out->complete_by_chip));
    RIDGE_TRY(group(cx, set, engine_of, &out->complete_by_engine));
    RIDGE_TRY(group(cx, set, source_of, &out->complete_by_source));
    set->is_complete_only = false;
    out->all = summarise(set, "all rows");
    RIDGE_TRY(group(cx, set, chip_of, &out->by_chip));
    RIDGE_TRY(group(cx, set, engine_of, &out->by_engine));
    RIDGE_TRY(group(cx, set, source_of, &out->by_source));
    return group(cx, set, model_of, &out->by_model);
}

/* ---- rows without a prediction -----------------------------------------------------
 */

static int by_text(const void *a, const void *b)
{
    const ridge_skip_reason *x = a;
    const ridge_skip_reason *y = b;
    return strcmp(x->why, y->why);
}

static int by_rows(const void *a, const void *b)
{
    const ridge_skip_reason *x = a;
    const ridge_skip_reason *y = b;
    if (x->rows != y->rows)
        return x->rows < y->rows ? 1 : -1;
    return strcmp(x->why, y->why);
}

static ridge_status count_reasons(ridge_ctx *cx, ridge_serving_validation *v)
{
    ridge_skip_reason *at =
        ridge_new(ridge_ctx_arena(cx), ridge_skip_reason, (size_t)v->n_rows + 1);
    if (at == NULL)
        return ridge_fail_nomem(cx);
    int n = 0;
    for (int i = 0; i < v->n_rows; i++) {
        if (!v->rows[i].is_predicted)
            at[n++] = (ridge_skip_reason){v->rows[i].why_skipped, 1};
    }
    qsort(at, (size_t)n, sizeof *at, by_text);
    int kinds = 0;
    for (int i = 0; i < n; i++) {
        if (kinds > 0 && strcmp(at[kinds - 1].why, at[i].why) == 0) {
            at[kinds - 1].rows++;
        } else {
            at[kinds++] = at[i];
        }
    }
    qsort(at, (size_t)kinds, sizeof *at, by_rows);
    v->reasons = at;
    v->n_reasons = kinds;
    return RIDGE_OK;
}

static void count_fits(ridge_serving_validation *v)
{
    for (int i = 0; i < v->n_rows; i++) {
        const ridge_serving_row *r = &v->rows[i];
        if (!r->is_predicted || !r->has_fit)
            continue;
        v->fits.rows++;
        v->fits.right += r->fits_predicted == r->fits_measured;
        v->fits.too_many += r->fits_predicted && !r->fits_measured;
        v->fits.too_few += !r->fits_predicted && r->fits_measured;
    }
}

ridge_status served_summarise(ridge_ctx *cx, ridge_serving_validation *v)
{
    const size_t room = (size_t)v->n_rows + 1;
    row_set set = {.v = v,
                   .entries = ridge_new(ridge_ctx_arena(cx), error_entry, room),
                   .errors = ridge_new(ridge_ctx_arena(cx), double, room)};
    if (set.entries == NULL || set.errors == NULL)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < v->n_rows; i++) {
        const ridge_serving_row *r = &v->rows[i];
        v->n_predicted += r->is_predicted ? 1 : 0;
        v->n_complete += r->is_complete ? 1 : 0;
        v->n_drafted += has_drafted(r) ? 1 : 0;
        v->n_contradicts +=
            r->is_predicted && r->contradiction != RIDGE_CONTRADICTION_NONE;
    }
    for (int i = 0; i < RIDGE_SERVING_METRIC_COUNT; i++) {
        set.metric = (ridge_serving_metric)i;
        RIDGE_TRY(summarise_metric(cx, &set, &v->errors[i]));
    }
    count_fits(v);
    return count_reasons(cx, v);
}
