/* Slices compared, as JSON. */
#include "ridge/report_offer.h"

static void set_offer(ridge_ctx *cx, const ridge_offer_view *v, int index,
                      ridge_json *o)
{
    const ridge_offer *offer = &v->study->offers[index];
    const ridge_slice *slice = offer->request.slice;
    const bool is_priced = offer->fit <= RIDGE_OFFER_STUCK;
    ridge_json_set_text(o, "slice", slice->text);
    ridge_json_set_text(o, "chip", slice->chip->name);
    ridge_json_set_i64(o, "chips", slice->chips);
    ridge_json_set_bool(o, "chosen", index == 0 && v->study->n_ranked > 0);
    ridge_json_set_bool(o, "does", offer->fit <= RIDGE_OFFER_UNKNOWN);
    const char *why_not = offer->fit == RIDGE_OFFER_OK ? NULL
                          : offer->why_not != NULL     ? offer->why_not
                                                   : ridge_offer_fit_text(offer->fit);
    ridge_json_set_text(o, "why_not", why_not);
    ridge_json_set_double(o, "score", offer->score);
    if (!is_priced)
        return;
    ridge_json_set_double(o, "fastest_step_s", offer->fastest_step_s);
    ridge_json_set_double(o, "fastest_peak_memory_bytes", offer->fastest_peak_bytes);
    ridge_json *layout = ridge_train_price_to_json(cx, &offer->request, &offer->best);
    ridge_json_set(layout, "run", ridge_money_to_json(cx, &offer->money));
    ridge_json_set(o, "layout", layout);
}

static void set_kinds(ridge_ctx *cx, const ridge_offer_view *v, ridge_json *object)
{
    ridge_json *kinds = ridge_json_set_array(cx, object, "kinds");
    for (int k = 0; k < v->request->n_kinds; k++) {
        const ridge_offer_kind *kind = &v->request->kinds[k];
        ridge_json *o = ridge_json_push_object(cx, kinds);
        ridge_json_set_text(
            o, "slice", kind->is_open ? kind->slice->chip->name : kind->slice->text);
        ridge_json_set_bool(o, "is_open", kind->is_open);
        ridge_json_set(o, "terms",
                       ridge_money_terms_to_json(cx, kind->slice, &kind->money));
    }
}

void ridge_offer_write_json(ridge_ctx *cx, const ridge_offer_view *v,
                            ridge_json *object)
{
    const ridge_offer_request *q = v->request;
    const ridge_offer_study *study = v->study;
    ridge_json_set_text(object, "model", v->model_name);
    ridge_json_set_text(object, "objective", ridge_offer_goal_text(q->goal));
    ridge_json_set_positive(object, "deadline_days", q->deadline_s / RIDGE_DAY_S);
    if (q->goal == RIDGE_OFFER_GOAL_MEMORY)
        ridge_json_set_double(object, "slack", q->slack);
    ridge_json *slices = ridge_json_set_array(cx, object, "slices");
    for (int i = 0; i < study->n; i++)
        set_offer(cx, v, i, ridge_json_push_object(cx, slices));
    ridge_json *best = ridge_json_set_object(cx, object, "best");
    for (int goal = 0; goal < RIDGE_OFFER_GOAL_COUNT; goal++) {
        const int i = study->best_of[goal];
        ridge_json_set_text(best, ridge_offer_goal_text((ridge_offer_goal)goal),
                            i < 0 ? NULL : study->offers[i].request.slice->text);
    }
    set_kinds(cx, v, object);
    ridge_json *search = ridge_json_set_object(cx, object, "search");
    ridge_json_set_i64(search, "slices", study->n);
    ridge_json_set_i64(search, "covered", study->covered);
    ridge_json_set_double(search, "seconds", study->seconds);
}
