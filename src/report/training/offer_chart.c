/* Dollars over days: what each chip asks for more speed. */
#include "offer_chart.h"

static bool has_both(const ridge_offer *o, int kind)
{
    return o->kind == kind && o->fit <= RIDGE_OFFER_LATE && o->money.usd > 0 &&
           o->money.days > 0;
}

/* More chips that take longer and cost more than fewer are of no use. */
static bool is_shown(const ridge_offer_study *study, const ridge_offer *o, int kind)
{
    bool is_useful = has_both(o, kind);
    for (int i = 0; is_useful && i < study->n; i++) {
        const ridge_offer *other = &study->offers[i];
        is_useful =
            !(has_both(other, kind) &&
              other->request.slice->chips < o->request.slice->chips &&
              other->money.days <= o->money.days && other->money.usd <= o->money.usd);
    }
    return is_useful;
}

/* Points of a kind by days, put in place one by one. */
static size_t fill_points(const ridge_offer_study *study, int kind, double *x,
                          double *y)
{
    size_t n = 0;
    for (int i = 0; i < study->n; i++) {
        const ridge_offer *o = &study->offers[i];
        if (!is_shown(study, o, kind))
            continue;
        size_t at = n++;
        for (; at > 0 && x[at - 1] > o->money.days; at--) {
            x[at] = x[at - 1];
            y[at] = y[at - 1];
        }
        x[at] = o->money.days;
        y[at] = o->money.usd;
    }
    return n;
}

bool ridge__offer_chart(ridge_ctx *cx, const ridge_offer_view *view, ridge_chart *out)
{
    const ridge_offer_request *q = view->request;
    const size_t room = (size_t)view->study->n + 1;
    size_t points = 0;
    *out = (ridge_chart){.title = "Cost over time",
                         .x_label = "days",
                         .y_label = "dollars",
                         .is_x_log = true,
                         .is_y_log = true};
    for (int k = 0; k < q->n_kinds && out->n_series < RIDGE_SERIES_MAX; k++) {
        double *x = ridge_new(ridge_ctx_arena(cx), double, room);
        double *y = ridge_new(ridge_ctx_arena(cx), double, room);
        if (x == NULL || y == NULL)
            return false;
        const size_t n = fill_points(view->study, k, x, y);
        const ridge_slice *slice = q->kinds[k].slice;
        const char *name = q->kinds[k].is_open ? slice->chip->name : slice->text;
        if (n > 0)
            out->series[out->n_series++] = (ridge_series){name, x, y, n};
        points += n;
    }
    if (q->deadline_s > 0)
        out->markers[out->n_markers++] =
            (ridge_marker){"deadline", q->deadline_s / RIDGE_DAY_S, true};
    return points >= 2;
}
