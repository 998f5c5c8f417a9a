/* Where things set in along a curve: the thresholds of plain rooflines on its axis, and
 * the first points at which parts of communication bind the best layouts. */
#include "sweep_marks.h"

#include <math.h>
#include <string.h>

bool ridge_step_is_communication(int part)
{
    static const char *const names[] = {"tp", "cp", "ep", "fsdp", "dp", "pp"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        if (strcmp(ridge_step_text(part), names[i]) == 0)
            return true;
    }
    return false;
}

static const ridge_curve_point *first_answer(const ridge_curve *curve)
{
    for (int i = 0; i < curve->n; i++) {
        if (curve->points[i].why_not == NULL)
            return &curve->points[i];
    }
    return NULL;
}

static void add_mark(ridge_curve *curve, const char *label, double at,
                     bool is_threshold)
{
    if (curve->n_marks == RIDGE_CURVE_MARK_MAX || !(at > 0) || !isfinite(at))
        return;
    curve->marks[curve->n_marks++] = (ridge_curve_mark){label, at, is_threshold};
}

/* The rooflines bind by tokens a chip: a number of chips at a batch that stays, a batch
 * at chips that stay. With weak scaling neither moves along the axis. */
static void add_thresholds(ridge_curve_axis axis, ridge_curve *curve)
{
    const ridge_curve_point *p = first_answer(curve);
    if (p == NULL || curve->kind == RIDGE_CURVE_WEAK || axis == RIDGE_CURVE_SEQ)
        return;
    const ridge_thresholds *t = &p->thresholds;
    const double outer = fmax(t->dp_tokens_per_chip, t->dp_outer_tokens_per_chip);
    const double chips = (double)p->request.slice->chips;
    const double batch = p->request.batch_tokens;
    const bool is_chips = axis == RIDGE_CURVE_CHIPS;
    add_mark(curve, "FSDP binds (roofline)", is_chips ? batch / outer : chips * outer,
             true);
    add_mark(curve, "FSDP with TP binds (roofline)",
             is_chips ? batch / t->mixed_tokens_per_chip
                      : chips * t->mixed_tokens_per_chip,
             true);
}

/* The first point at which a part takes a tenth of the step, while the first point of
 * the curve had less, and the first at which it is the largest part. */
static void add_part(ridge_ctx *cx, int part, ridge_curve *curve)
{
    static const double NOTICED = 0.1;
    bool was_noticed = false;
    for (int i = 0; i < curve->n; i++) {
        const ridge_curve_point *p = &curve->points[i];
        if (p->why_not != NULL)
            continue;
        const double share = ridge_step_get(&p->best.parts, part) / p->best.step_time_s;
        if (share >= NOTICED && !was_noticed) {
            was_noticed = true;
            add_mark(curve,
                     ridge_sprintf(ridge_ctx_arena(cx), "%s takes a tenth of the step",
                                   ridge_step_text(part)),
                     p->value, false);
        }
        if (p->best.bottleneck == part) {
            add_mark(curve,
                     ridge_sprintf(ridge_ctx_arena(cx), "%s is the bottleneck",
                                   ridge_step_text(part)),
                     p->value, false);
            return;
        }
    }
}

static void add_bound(ridge_curve *curve)
{
    for (int i = 0; i < curve->n; i++) {
        if (curve->points[i].why_not == NULL && curve->points[i].is_bound) {
            add_mark(curve, "communication outweighs every other part",
                     curve->points[i].value, false);
            return;
        }
    }
}

static bool is_waiting(int part)
{
    return strcmp(ridge_step_text(part), "bubble") == 0;
}

void sweep_marks_add(ridge_ctx *cx, ridge_curve_axis axis, ridge_curve *curve)
{
    add_thresholds(axis, curve);
    for (int part = 0; part < RIDGE_STEP_COUNT; part++) {
        if (ridge_step_is_communication(part) || is_waiting(part))
            add_part(cx, part, curve);
    }
    add_bound(curve);
}
