/* The goals by which slices are compared, and an offer's number for each. */
#include "ridge/plan_offer.h"

#include <math.h>

static const struct {
    const char *text, *what;
} goals[] = {
#define GOAL_ROW(name, text, what) [RIDGE_OFFER_GOAL_##name] = {text, what},
    RIDGE_OFFER_GOAL_LIST(GOAL_ROW)
#undef GOAL_ROW
};

static const char *const fits[] = {
    [RIDGE_OFFER_OK] = "does",
    [RIDGE_OFFER_UNKNOWN] = "what it is compared by is not known",
    [RIDGE_OFFER_LATE] = "misses the deadline",
    [RIDGE_OFFER_STUCK] = "fails too often to get on",
    [RIDGE_OFFER_NONE] = "nothing fits",
    [RIDGE_OFFER_REFUSED] = "refused",
};

_Static_assert(RIDGE_COUNT_OF(fits) == RIDGE_OFFER_FIT_COUNT, "one row per fit");

const char *ridge_offer_goal_text(ridge_offer_goal goal)
{
    return goals[goal].text;
}

const char *ridge_offer_goal_what(ridge_offer_goal goal)
{
    return goals[goal].what;
}

const char *ridge_offer_fit_text(ridge_offer_fit fit)
{
    return fits[fit];
}

ridge_status ridge_offer_goal_parse(ridge_ctx *cx, const char *text,
                                    ridge_offer_goal *out)
{
    for (int i = 0; i < RIDGE_OFFER_GOAL_COUNT; i++) {
        if (ridge_str_is(ridge_str_of(text), goals[i].text)) {
            *out = (ridge_offer_goal)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail(
        cx, RIDGE_E_ARG,
        "'%.40s' is nothing to choose by: choose cost, time, chips, energy "
        "or memory",
        text);
}

static double known(double v)
{
    return v > 0 ? v : (double)INFINITY;
}

double ridge_offer_score(const ridge_offer *o, ridge_offer_goal goal)
{
    const ridge_money *m = &o->money;
    const bool has_total = o->best.has_total;
    switch (goal) {
    case RIDGE_OFFER_GOAL_COST:
        return known(has_total ? m->usd : m->usd_per_million_tokens);
    case RIDGE_OFFER_GOAL_TIME:
        return known(has_total ? m->days : o->best.step_time_s / m->goodput);
    case RIDGE_OFFER_GOAL_CHIPS:
        return known(m->paid_chips);
    case RIDGE_OFFER_GOAL_ENERGY:
        return known(has_total ? m->kwh : m->joules_per_token);
    case RIDGE_OFFER_GOAL_MEMORY:
        break;
    }
    return known(o->best.peak_memory_bytes /
                 ridge_chip_memory_bytes(o->request.slice->chip));
}
