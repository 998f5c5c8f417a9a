/* Words of services: latencies, aims, modes, goals. */
#include "ridge/plan_money.h"
#include "ridge/plan_service.h"

#include <math.h>
#include <string.h>

typedef struct word {
    const char *text;
    const char *what;
} word;

/* clang-format off */
#define WORD(name, text, what) {text, what},
static const word latencies[] = {RIDGE_SERVICE_LATENCY_LIST(WORD)};
static const word aims[] = {RIDGE_SERVICE_AIM_LIST(WORD)};
static const word modes[] = {RIDGE_SERVICE_MODE_LIST(WORD)};
#undef WORD
#define FIT(name, what) what,
static const char *const fits[] = {RIDGE_SERVICE_FIT_LIST(FIT)};
#undef FIT
/* clang-format on */

const char *ridge_service_latency_text(ridge_service_latency latency)
{
    return latencies[latency].text;
}

const char *ridge_service_latency_what(ridge_service_latency latency)
{
    return latencies[latency].what;
}

const char *ridge_service_aim_text(ridge_service_aim aim)
{
    return aims[aim].text;
}

const char *ridge_service_aim_what(ridge_service_aim aim)
{
    return aims[aim].what;
}

const char *ridge_service_mode_text(ridge_service_mode mode)
{
    return modes[mode].text;
}

const char *ridge_service_power_text(ridge_service_power power)
{
    static const char *const texts[] = {"unknown", "given", "drawn", "training",
                                        "rating"};
    return texts[power];
}

const char *ridge_service_fit_text(ridge_service_fit fit)
{
    return fits[fit];
}

const char *ridge_service_role_text(ridge_service_role role)
{
    switch (role) {
    case RIDGE_SERVICE_ROLE_BOTH:
        break;
    case RIDGE_SERVICE_ROLE_PREFILL:
        return "prefill";
    case RIDGE_SERVICE_ROLE_DECODE:
        return "decode";
    }
    return "server";
}

ridge_status ridge_service_aim_parse(ridge_ctx *cx, const char *text,
                                     ridge_service_aim *out)
{
    const char *names[RIDGE_SERVICE_AIM_COUNT];
    for (int i = 0; i < RIDGE_SERVICE_AIM_COUNT; i++) {
        names[i] = aims[i].text;
        if (strcmp(text, names[i]) == 0) {
            *out = (ridge_service_aim)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail_name(cx, RIDGE_E_ARG, "aim", text, names,
                           RIDGE_SERVICE_AIM_COUNT);
}

/* ---- goals ----------------------------------------------------------------------- */

ridge_service_goals ridge_service_goals_none(void)
{
    ridge_service_goals g = {.quantile = 0};
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++)
        g.most_s[i] = (double)INFINITY;
    return g;
}

static ridge_status fail_goal(ridge_ctx *cx, ridge_str item)
{
    return ridge_fail(cx, RIDGE_E_ARG,
                      "goal '%.*s': write ttft=500ms, tpot=30ms, e2e=20s, and p99 for "
                      "a percentile from p50 to p99.9",
                      item.n > 40 ? 40 : (int)item.n, item.p);
}

/* "p99", "p99.9", "mean" */
static ridge_status read_quantile(ridge_ctx *cx, ridge_str item,
                                  ridge_service_goals *out)
{
    double percent;
    if (ridge_str_is(item, "mean")) {
        out->quantile = 0;
        return RIDGE_OK;
    }
    if (item.n < 2 || item.p[0] != 'p' ||
        !ridge_parse_double((ridge_str){item.p + 1, item.n - 1}, &percent) ||
        !(percent >= 50 && percent <= 99.9))
        return fail_goal(cx, item);
    out->quantile = percent / 100;
    return RIDGE_OK;
}

static ridge_status read_latency(ridge_ctx *cx, ridge_str item, ridge_str key,
                                 ridge_str value, ridge_service_goals *out)
{
    int which = 0;
    while (which < RIDGE_SERVICE_LATENCY_COUNT &&
           !ridge_str_is(key, latencies[which].text))
        which++;
    if (ridge_str_is(key, "itl"))
        which = RIDGE_SERVICE_TPOT;
    if (which == RIDGE_SERVICE_LATENCY_COUNT)
        return fail_goal(cx, item);
    const char *text = ridge_str_dup(ridge_ctx_scratch(cx), value);
    double seconds = 0;
    if (text == NULL)
        return ridge_fail_nomem(cx);
    if (ridge_duration_parse(cx, text, &seconds) != RIDGE_OK || !(seconds > 0))
        return fail_goal(cx, item);
    if (ridge_parse_double(value, &seconds) && seconds >= 1) /* many mean ms */
        return ridge_fail(cx, RIDGE_E_ARG,
                          "goal '%s=%.20s' has no unit: write %.20sms or %.20ss",
                          latencies[which].text, text, text, text);
    if (isfinite(out->most_s[which]))
        return ridge_fail(cx, RIDGE_E_ARG, "two goals of %s: give one",
                          latencies[which].text);
    out->most_s[which] = seconds;
    return RIDGE_OK;
}

ridge_status ridge_service_goals_parse(ridge_ctx *cx, const char *text,
                                       ridge_service_goals *out)
{
    ridge_str rest = ridge_str_of(text);
    ridge_service_goals goals = ridge_service_goals_none();
    bool has_quantile = false;
    if (rest.n == 0)
        return fail_goal(cx, rest);
    while (rest.p != NULL) {
        const ridge_str item = ridge_str_trim(ridge_str_cut(&rest, ','));
        ridge_str value = item;
        const ridge_str key = ridge_str_trim(ridge_str_cut(&value, '='));
        if (value.p == NULL && has_quantile)
            return ridge_fail(cx, RIDGE_E_ARG, "two percentiles of goals: give one");
        if (value.p == NULL) {
            RIDGE_TRY(read_quantile(cx, item, &goals));
            has_quantile = true;
        } else {
            RIDGE_TRY(read_latency(cx, item, key, ridge_str_trim(value), &goals));
        }
    }
    *out = goals;
    return RIDGE_OK;
}

int64_t ridge_service_choice_chips(const ridge_service_choice *choice)
{
    int64_t chips = 0;
    for (int i = 0; i < choice->n_pools; i++)
        chips += choice->pools[i].servers *
                 ridge_serving_layout_chips(&choice->pools[i].layout);
    return chips;
}
