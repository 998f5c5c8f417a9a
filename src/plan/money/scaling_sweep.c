/* The points of a sweep, each searched in a request of its own, and how they compare
 * with the first. */
#include "ridge/plan_sweep.h"

#include "offer_guess.h"
#include "sweep_marks.h"

#include <math.h>

typedef struct sweep_job {
    const ridge_money_request *money;
    ridge_progress *progress;
    int64_t covered;
    int n_known;
    known_layout known[2 * RIDGE_CURVE_MAX];
} sweep_job;

/* Best layout of a point, or why there is none. */
static ridge_status search(ridge_ctx *cx, sweep_job *job, ridge_curve_point *p)
{
    ridge_train_result result;
    RIDGE_TRY(offer_search_knowing(cx, &p->request, job->known, job->n_known, &result));
    job->covered += result.covered;
    if (result.n_layouts == 0) {
        p->why_not = "nothing fits";
        return RIDGE_OK;
    }
    p->request.batch_tokens = result.batch_tokens;
    p->best = result.layouts[0];
    p->thresholds = ridge_train_thresholds(&p->request);
    p->money = ridge_train_money(&p->request, &p->best, job->money);
    job->known[job->n_known++] = (known_layout){p->request.slice, p->best.layout};
    return RIDGE_OK;
}

/* In a request of its own, so that its memory is given back. */
static ridge_status run_point(ridge_ctx *cx, sweep_job *job, ridge_curve_point *p)
{
    if (p->why_not != NULL)
        return RIDGE_OK;
    ridge_ctx *own = ridge_ctx_open();
    if (own == NULL)
        return ridge_fail_nomem(cx);
    ridge_status st = search(own, job, p);
    if (st == RIDGE_E_ARG) { /* a knob that this point cannot take */
        p->why_not =
            ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(ridge_ctx_message(own)));
        st = p->why_not == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
    } else if (st != RIDGE_OK) {
        st = ridge_fail(cx, st, "%s", ridge_ctx_message(own));
    }
    ridge_ctx_close(own);
    return st;
}

/* ---- the points ------------------------------------------------------------------ */

static void scale_weak(const ridge_curve_range *range, double value,
                       ridge_curve_point *p)
{
    p->request.batch_tokens *= value / range->values[0];
}

static ridge_status set_point(ridge_ctx *cx, const ridge_catalog *catalog,
                              const ridge_curve_range *range, ridge_curve_point *p)
{
    switch (range->axis) {
    case RIDGE_CURVE_BATCH:
        p->request.batch_tokens = p->value;
        return RIDGE_OK;
    case RIDGE_CURVE_SEQ:
        p->request.seq_tokens = p->value;
        return RIDGE_OK;
    case RIDGE_CURVE_CHIPS:
        break;
    }
    const ridge_status st = ridge_slice_with_chips(
        cx, catalog, p->request.slice, (int64_t)p->value, &p->request.slice);
    if (st != RIDGE_E_ARG)
        return st;
    p->why_not =
        ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(ridge_ctx_message(cx)));
    return p->why_not == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
}

static ridge_status fill_curve(ridge_ctx *cx, const ridge_catalog *catalog,
                               const ridge_train_request *request,
                               const ridge_curve_range *range, ridge_curve *curve)
{
    curve->n = range->n;
    for (int i = 0; i < curve->n; i++) {
        ridge_curve_point *p = &curve->points[i];
        *p = (ridge_curve_point){.value = range->values[i], .request = *request};
        p->request.top = 1;
        p->request.front = 0;
        p->request.progress = NULL;
        RIDGE_TRY(set_point(cx, catalog, range, p));
        if (curve->kind == RIDGE_CURVE_WEAK)
            scale_weak(range, p->value, p);
    }
    return RIDGE_OK;
}

/* One after the other, each on all processors: what is found bounds those behind it. */
static ridge_status run_curves(ridge_ctx *cx, sweep_job *job, ridge_curve_study *study)
{
    const int all = study->n_curves * study->range.n;
    for (int i = 0; i < all; i++) {
        ridge_curve *curve = &study->curves[i / study->range.n];
        if (job->progress != NULL)
            ridge_progress_show(job->progress, (double)i / (double)all,
                                "points searched");
        RIDGE_TRY(run_point(cx, job, &curve->points[i % study->range.n]));
        if (ridge_ctx_is_cancelled(cx))
            return ridge_fail(cx, RIDGE_E_CANCELLED, "cancelled during the sweep");
    }
    return RIDGE_OK;
}

/* ---- what they say together ---------------------------------------------------------
 */

static void compare(ridge_curve_point *p, const ridge_curve_point *first)
{
    const double chips = (double)p->request.slice->chips;
    double exposed_s = 0;
    p->tokens_per_s = p->best.tokens_per_s_per_chip * chips;
    p->speedup = p->tokens_per_s / (first->best.tokens_per_s_per_chip *
                                    (double)first->request.slice->chips);
    p->efficiency = p->best.tokens_per_s_per_chip / first->best.tokens_per_s_per_chip;
    double other_s = 0;
    for (int part = 0; part < RIDGE_STEP_COUNT; part++) {
        const double part_s = ridge_step_get(&p->best.parts, part);
        if (ridge_step_is_communication(part)) {
            exposed_s += part_s;
        } else {
            other_s = fmax(other_s, part_s);
        }
    }
    p->communication = exposed_s / p->best.step_time_s;
    p->is_bound = exposed_s > other_s;
}

static void compare_all(ridge_curve *curve)
{
    const ridge_curve_point *first = NULL;
    for (int i = 0; i < curve->n; i++) {
        ridge_curve_point *p = &curve->points[i];
        if (p->why_not != NULL)
            continue;
        if (first == NULL)
            first = p;
        compare(p, first);
    }
}

ridge_status ridge_train_sweep(ridge_ctx *cx, const ridge_catalog *catalog,
                               const ridge_train_request *request,
                               const ridge_money_request *money,
                               const ridge_curve_range *range, ridge_curve_study *out)
{
    const double start_s = ridge_clock_s();
    const bool is_chips = range->axis == RIDGE_CURVE_CHIPS;
    if (is_chips && request->slice->next != NULL) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s mixes kinds of chips: the chips of one kind can be swept",
                          request->slice->text);
    }
    sweep_job *job = ridge_new(ridge_ctx_arena(cx), sweep_job, 1);
    if (job == NULL)
        return ridge_fail_nomem(cx);
    job->money = money;
    job->progress = request->progress;
    out->range = *range;
    out->n_curves = is_chips ? 2 : 1;
    out->curves[0].kind = is_chips ? RIDGE_CURVE_STRONG : RIDGE_CURVE_PLAIN;
    out->curves[1].kind = RIDGE_CURVE_WEAK;
    for (int c = 0; c < out->n_curves; c++) {
        out->curves[c].n_marks = 0;
        RIDGE_TRY(fill_curve(cx, catalog, request, range, &out->curves[c]));
    }
    RIDGE_TRY(run_curves(cx, job, out));
    out->covered = job->covered;
    for (int c = 0; c < out->n_curves; c++) {
        compare_all(&out->curves[c]);
        sweep_marks_add(cx, range->axis, &out->curves[c]);
    }
    out->seconds = ridge_clock_s() - start_s;
    return RIDGE_OK;
}
