/* The points of a sweep, each searched on a thread in a request of its own, and how
 * they compare with the first. */
#include "ridge/plan_sweep.h"

#include "sweep_marks.h"

#include <math.h>

/* One point's own request: arenas are not shared between threads. */
typedef struct sweep_item {
    ridge_ctx *cx;
    ridge_curve_point *point;
    int64_t covered;
    ridge_status st;
} sweep_item;

typedef struct sweep_job {
    const ridge_money_request *money;
    ridge_progress *progress; /* drawn by the first worker alone */
    int64_t n;
    sweep_item items[2 * RIDGE_CURVE_MAX];
} sweep_job;

static void close_ctx(void *cx)
{
    ridge_ctx_close(cx);
}

/* Best layout of a point, or why there is none. */
static ridge_status search(ridge_ctx *cx, const ridge_money_request *money,
                           ridge_curve_point *p, int64_t *covered)
{
    ridge_train_result result;
    RIDGE_TRY(ridge_train_search(cx, &p->request, &result));
    *covered = result.covered;
    if (result.n_layouts == 0) {
        p->why_not = "nothing fits";
        return RIDGE_OK;
    }
    p->request.batch_tokens = result.batch_tokens;
    p->best = result.layouts[0];
    p->thresholds = ridge_train_thresholds(&p->request);
    p->money = ridge_train_money(&p->request, &p->best, money);
    return RIDGE_OK;
}

static void run_item(void *payload, int64_t index, int worker)
{
    sweep_job *job = payload;
    sweep_item *item = &job->items[index];
    if (item->point->why_not != NULL)
        return;
    item->st = search(item->cx, job->money, item->point, &item->covered);
    if (item->st == RIDGE_E_ARG) { /* a knob that this point cannot take */
        item->point->why_not = ridge_ctx_message(item->cx);
        item->st = RIDGE_OK;
    }
    if (worker == 0 && job->progress != NULL)
        ridge_progress_show(job->progress, (double)index / (double)job->n,
                            "points searched");
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
        p->request.workers = 1; /* the points share the processors */
        p->request.progress = NULL;
        RIDGE_TRY(set_point(cx, catalog, range, p));
        if (curve->kind == RIDGE_CURVE_WEAK)
            scale_weak(range, p->value, p);
    }
    return RIDGE_OK;
}

static ridge_status add_items(ridge_ctx *cx, ridge_curve *curve, sweep_job *job)
{
    for (int i = 0; i < curve->n; i++) {
        sweep_item *item = &job->items[job->n++];
        *item = (sweep_item){.cx = ridge_ctx_open(), .point = &curve->points[i]};
        if (item->cx == NULL)
            return ridge_fail_nomem(cx);
        RIDGE_TRY(ridge_ctx_defer(cx, close_ctx, item->cx));
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

static ridge_status take_failure(ridge_ctx *cx, const sweep_job *job)
{
    for (int64_t i = 0; i < job->n; i++) {
        if (job->items[i].st != RIDGE_OK)
            return ridge_fail(cx, job->items[i].st, "%s",
                              ridge_ctx_message(job->items[i].cx));
    }
    return RIDGE_OK;
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
    out->covered = 0;
    for (int c = 0; c < out->n_curves; c++) {
        out->curves[c].n_marks = 0;
        RIDGE_TRY(fill_curve(cx, catalog, request, range, &out->curves[c]));
        RIDGE_TRY(add_items(cx, &out->curves[c], job));
    }
    RIDGE_TRY(ridge_parallel(cx, ridge_processor_count(), job->n, run_item, job));
    RIDGE_TRY(take_failure(cx, job));
    for (int64_t i = 0; i < job->n; i++)
        out->covered += job->items[i].covered;
    for (int c = 0; c < out->n_curves; c++) {
        compare_all(&out->curves[c]);
        sweep_marks_add(cx, range->axis, &out->curves[c]);
    }
    out->seconds = ridge_clock_s() - start_s;
    return RIDGE_OK;
}
