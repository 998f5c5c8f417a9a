/* The key "sweep" of `train --sweep --json`. */
#include "ridge/report_sweep.h"

static void set_answer(ridge_ctx *cx, const ridge_curve_point *p, ridge_json *o)
{
    ridge_json_set_double(o, "tokens_per_s", p->tokens_per_s);
    ridge_json_set_double(o, "speedup", p->speedup);
    ridge_json_set_double(o, "efficiency", p->efficiency);
    ridge_json_set_double(o, "exposed_communication", p->communication);
    ridge_json_set_bool(o, "is_communication_bound", p->is_bound);
    ridge_json *layout = ridge_train_price_to_json(cx, &p->request, &p->best);
    ridge_json_set(layout, "run", ridge_money_to_json(cx, &p->money));
    ridge_json_set(o, "layout", layout);
}

static void set_point(ridge_ctx *cx, const ridge_curve_point *p, ridge_json *o)
{
    ridge_json_set_double(o, "value", p->value);
    ridge_json_set_i64(o, "chips", p->request.slice->chips);
    ridge_json_set_text(o, "slice", p->request.slice->text);
    ridge_json_set_double(o, "batch_tokens", p->request.batch_tokens);
    ridge_json_set_double(o, "seq_tokens", p->request.seq_tokens);
    ridge_json_set_text(o, "why_not", p->why_not);
    if (p->why_not == NULL)
        set_answer(cx, p, o);
}

static void set_curve(ridge_ctx *cx, const ridge_curve *curve, ridge_json *o)
{
    ridge_json_set_text(o, "kind", ridge_curve_kind_text(curve->kind));
    ridge_json *points = ridge_json_set_array(cx, o, "points");
    for (int i = 0; i < curve->n; i++)
        set_point(cx, &curve->points[i], ridge_json_push_object(cx, points));
    ridge_json *marks = ridge_json_set_array(cx, o, "marks");
    for (int i = 0; i < curve->n_marks; i++) {
        ridge_json *mark = ridge_json_push_object(cx, marks);
        ridge_json_set_text(mark, "label", curve->marks[i].label);
        ridge_json_set_double(mark, "at", curve->marks[i].at);
        ridge_json_set_bool(mark, "is_threshold", curve->marks[i].is_threshold);
    }
}

void ridge_curve_write_json(ridge_ctx *cx, const ridge_curve_view *v,
                            ridge_json *object)
{
    const ridge_curve_study *study = v->study;
    ridge_json_set_text(object, "model", v->model_name);
    ridge_json_set_text(object, "slice", v->request->slice->text);
    ridge_json *sweep = ridge_json_set_object(cx, object, "sweep");
    ridge_json_set_text(sweep, "axis", ridge_curve_axis_text(study->range.axis));
    ridge_json *curves = ridge_json_set_array(cx, sweep, "curves");
    for (int c = 0; c < study->n_curves; c++)
        set_curve(cx, &study->curves[c], ridge_json_push_object(cx, curves));
    ridge_json_set_i64(sweep, "covered", study->covered);
    ridge_json_set_double(sweep, "seconds", study->seconds);
    ridge_json_set(object, "terms",
                   ridge_money_terms_to_json(cx, v->request->slice, v->money));
}
