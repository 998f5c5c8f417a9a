/* The texts by which a run's failures and checkpoints are told: durations, mean times
 * between failures, ways to checkpoint. */
#include "ridge/plan_money.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *text;
    double seconds;
} units[] = {{"s", 1},     {"min", 60},        {"m", 60},         {"h", 3600},
             {"d", 86400}, {"w", 7 * 86400.0}, {"y", 31557600.0}, /* a Julian year */
             {"ms", 1e-3}, {"us", 1e-6}};

ridge_status ridge_duration_parse(ridge_ctx *cx, const char *text, double *seconds)
{
    const ridge_str whole = ridge_str_trim(ridge_str_of(text));
    double value = 0;
    double unit_s = 1;
    ridge_str number = whole;
    for (size_t i = 0; i < RIDGE_COUNT_OF(units); i++) {
        const size_t n = strlen(units[i].text);
        if (whole.n <= n || memcmp(whole.p + whole.n - n, units[i].text, n) != 0)
            continue;
        const ridge_str rest = ridge_str_trim((ridge_str){whole.p, whole.n - n});
        if (ridge_parse_double(rest, &value)) {
            number = rest;
            unit_s = units[i].seconds;
            break;
        }
    }
    if (!ridge_parse_double(number, &value) || !(value >= 0 && value * unit_s <= 1e15))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "'%.40s' is no duration: write 90s, 30m, 2.5h, 4d or 5y",
                          text);
    *seconds = value * unit_s;
    return RIDGE_OK;
}

ridge_status ridge_mtbf_parse(ridge_ctx *cx, const char *text, ridge_money_request *out)
{
    static const char *const scopes[] = {[RIDGE_MTBF_JOB] = "job",
                                         [RIDGE_MTBF_NODE] = "node",
                                         [RIDGE_MTBF_CHIP] = "chip"};
    const char *colon = strchr(text, ':');
    size_t scope = RIDGE_MTBF_JOB;
    double mtbf_s = 0;
    if (colon != NULL) {
        const ridge_str word = {text, (size_t)(colon - text)};
        while (scope < RIDGE_COUNT_OF(scopes) && !ridge_str_is(word, scopes[scope]))
            scope++;
    }
    if (scope == RIDGE_COUNT_OF(scopes)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "'%.40s': failures are of a job, a node or a chip: write "
                          "2.8h, node:4000h or chip:5y",
                          text);
    }
    RIDGE_TRY(ridge_duration_parse(cx, colon == NULL ? text : colon + 1, &mtbf_s));
    if (!(mtbf_s > 0)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a mean time between failures of 0: expected more; failures "
                          "are left out by `--failures none`");
    }
    out->has_mtbf = true;
    out->mtbf_scope = (ridge_mtbf_scope)scope;
    out->mtbf_s = mtbf_s;
    return RIDGE_OK;
}

ridge_status ridge_checkpoint_parse(ridge_ctx *cx, const char *text,
                                    ridge_money_request *out)
{
    ridge_str rest = ridge_str_of(text);
    const ridge_str way = ridge_str_cut(&rest, ':');
    const bool is_sync = ridge_str_is(way, "sync");
    const bool is_async = ridge_str_is(way, "async");
    const char *interval = is_sync || is_async ? rest.p : text;
    double interval_s = 0;
    if (interval != NULL) {
        if (ridge_duration_parse(cx, interval, &interval_s) != RIDGE_OK) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "'%.40s' is no way to checkpoint: write sync, async, 30m "
                              "or async:10m",
                              text);
        }
        if (!(interval_s > 0))
            return ridge_fail(cx, RIDGE_E_ARG,
                              "checkpoints 0 seconds apart: expected more");
    }
    out->is_async = is_async;
    out->has_interval = interval != NULL;
    out->interval_s = interval_s;
    return RIDGE_OK;
}
