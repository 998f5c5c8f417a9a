/* Charts of services: what a user gets against what a chip gives. */
#include "service_text.h"

typedef double number_fn(const ridge_service_price *p);

/* A front, and what of its deployments is drawn. Fronts come with the most tokens a
 * chip first, the slowest: where x ascends backwards they are reversed. */
typedef struct front_curve {
    const ridge_service_price *front;
    int n;
    number_fn *x, *y;
    bool is_reversed;
} front_curve;

static double speed_x(const ridge_service_price *p)
{
    return p->user_tokens_per_s;
}

static double speed_y(const ridge_service_price *p)
{
    return p->tokens_per_s_per_chip;
}

static double cost_x(const ridge_service_price *p)
{
    return p->latency_s[RIDGE_SERVICE_E2E];
}

static double cost_y(const ridge_service_price *p)
{
    return p->usd_per_million_tokens;
}

/* The deployments of a mode as a series. @return false: there are none, or no memory */
static bool add_series(ridge_ctx *cx, const front_curve *c, ridge_service_mode mode,
                       ridge_chart *chart)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    double *xs = ridge_new(arena, double, (size_t)c->n + 1);
    double *ys = ridge_new(arena, double, (size_t)c->n + 1);
    size_t kept = 0;
    if (xs == NULL || ys == NULL)
        return false;
    for (int i = 0; i < c->n; i++) {
        const ridge_service_price *p = &c->front[c->is_reversed ? c->n - 1 - i : i];
        if (p->choice.mode != mode)
            continue;
        xs[kept] = c->x(p);
        ys[kept++] = c->y(p);
    }
    if (kept > 0)
        chart->series[chart->n_series++] =
            (ridge_series){ridge_service_mode_text(mode), xs, ys, kept};
    return kept > 0;
}

/* A series for each mode. */
static bool add_modes(ridge_ctx *cx, const front_curve *c, ridge_chart *chart)
{
    if (c->n < 2)
        return false;
    const bool one = add_series(cx, c, RIDGE_SERVICE_MODE_AGGREGATED, chart);
    const bool two = add_series(cx, c, RIDGE_SERVICE_MODE_DISAGGREGATED, chart);
    return one || two;
}

bool ridge__service_chart_speed(ridge_ctx *cx, const ridge_service_view *v,
                                ridge_chart *out)
{
    const ridge_service_result *r = v->result;
    const double goal = v->request->goals.most_s[RIDGE_SERVICE_TPOT];
    const front_curve curve = {r->speed_front, r->n_speed_front, speed_x, speed_y,
                               false};
    *out = (ridge_chart){.title = "Speed of a user against throughput of a chip",
                         .x_label = "tokens/s of a user",
                         .y_label = "tokens/s a chip",
                         .is_x_log = true,
                         .is_y_log = true};
    if (!add_modes(cx, &curve, out))
        return false;
    if (goal < 1e6)
        out->markers[out->n_markers++] = (ridge_marker){"goal", 1 / goal, true};
    return true;
}

bool ridge__service_chart_cost(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_chart *out)
{
    const ridge_service_result *r = v->result;
    const double goal = v->request->goals.most_s[RIDGE_SERVICE_E2E];
    const front_curve curve = {r->cost_front, r->n_cost_front, cost_x, cost_y, true};
    *out = (ridge_chart){.title = "Latency against cost",
                         .x_label = "seconds to the last token",
                         .y_label = "$ a million output tokens",
                         .is_x_log = true,
                         .is_y_log = true};
    if (r->n_cost_front == 0 || r->cost_front[0].usd_per_million_tokens <= 0 ||
        !add_modes(cx, &curve, out))
        return false;
    if (goal < 1e12)
        out->markers[out->n_markers++] = (ridge_marker){"goal", goal, true};
    return true;
}
