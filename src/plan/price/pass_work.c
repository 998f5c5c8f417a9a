/* The work of one pass of a stage, and the kinds of traffic in it. */
#include "ridge/plan_simulation.h"

const char *ridge_traffic_text(ridge_traffic traffic)
{
    static const char *const texts[] = {
#define TRAFFIC_ROW(name, text) [RIDGE_TRAFFIC_##name] = text,
        RIDGE_TRAFFIC_LIST(TRAFFIC_ROW)
#undef TRAFFIC_ROW
    };
    _Static_assert(RIDGE_COUNT_OF(texts) == RIDGE_TRAFFIC_COUNT, "one row per traffic");
    return texts[traffic];
}

double ridge_pass_work_s(const ridge_pass_work *work)
{
    double sum_s = work->compute_s;
    for (int i = 0; i < RIDGE_TRAFFIC_COUNT; i++)
        sum_s += work->exposed_s[i];
    return sum_s;
}
