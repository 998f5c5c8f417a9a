/* The range of a latency: where eight of ten measured deployments of the engine lie. */
#include "ridge/plan_service.h"

#include <math.h>

static ridge_range scaled(double bound, double expected, double low, double high)
{
    return (ridge_range){fmax(bound, low * expected), fmax(bound, high * expected)};
}

ridge_range ridge_service_range(const ridge_service_request *request,
                                const ridge_service_price *p,
                                ridge_service_latency latency)
{
    const ridge_engine *e = request->engine;
    const double ttft = p->latency_s[RIDGE_SERVICE_TTFT];
    const double whole = p->latency_s[RIDGE_SERVICE_E2E];
    if (!ridge_engine_is_measured_on(e, request->slice->chip))
        return (ridge_range){0};
    const ridge_range first =
        scaled(p->bound_s[RIDGE_SERVICE_TTFT], ttft, e->ttft_low, e->ttft_high);
    if (latency == RIDGE_SERVICE_TTFT)
        return first;
    if (latency == RIDGE_SERVICE_TPOT)
        return scaled(p->bound_s[RIDGE_SERVICE_TPOT], p->latency_s[RIDGE_SERVICE_TPOT],
                      e->tpot_low, e->tpot_high);
    const double rest = fmax(0, whole - ttft);
    const ridge_range last = {first.low_s + e->tpot_low * rest,
                              first.high_s + e->tpot_high * rest};
    return (ridge_range){fmax(p->bound_s[RIDGE_SERVICE_E2E], last.low_s), last.high_s};
}
