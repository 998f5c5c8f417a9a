/* Sizes of models for a budget: what is given becomes FLOPs, FLOPs a size by the law,
 * and the size days and dollars at the speed of such models on the slice. */
#include "ridge/plan_sizing.h"

#include <math.h>
#include <string.h>

/* Tokens a parameter that the table goes through: from short of the best to far beyond.
 */
static const double ratios[RIDGE_RATIO_COUNT] = {5, 10, 20, 50, 100, 200, 500, 1000};

static const double AMOUNT_LEAST = 1e-3;
static const double AMOUNT_MOST = 1e32;

static bool needs_slice(ridge_sizing_given given)
{
    return given == RIDGE_GIVEN_USD || given == RIDGE_GIVEN_CHIP_HOURS ||
           given == RIDGE_GIVEN_DAYS;
}

static bool is_amount(double v)
{
    return v >= AMOUNT_LEAST && v <= AMOUNT_MOST;
}

static ridge_status check(ridge_ctx *cx, const ridge_sizing_request *r)
{
    if (!is_amount(r->amount) ||
        (r->given == RIDGE_GIVEN_BOTH && !is_amount(r->second))) {
        return ridge_fail(cx, RIDGE_E_ARG, "a budget of %g: expected %g to %g",
                          r->amount, AMOUNT_LEAST, AMOUNT_MOST);
    }
    if (needs_slice(r->given) && r->slice == NULL) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "dollars, chip-hours and days buy FLOPs only on a slice: add "
                          "--on SLICE");
    }
    if (r->given == RIDGE_GIVEN_USD && !r->money->has_price) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "no price of %s is published: give --price USD",
                          r->slice->chip->name);
    }
    if (r->tokens_per_param < 0 || !(r->served_tokens >= 0)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "tokens a parameter and tokens served are not below 0");
    }
    return RIDGE_OK;
}

/* Seconds of the slice that the budget pays for. */
static double budget_s(const ridge_sizing_request *r)
{
    const double chips = (double)r->slice->chips;
    switch (r->given) {
    case RIDGE_GIVEN_USD:
        return r->amount / r->money->price.usd_per_chip_hour / chips * RIDGE_HOUR_S;
    case RIDGE_GIVEN_CHIP_HOURS:
        return r->amount / chips * RIDGE_HOUR_S;
    case RIDGE_GIVEN_DAYS:
        return r->amount * RIDGE_DAY_S;
    case RIDGE_GIVEN_FLOPS:
    case RIDGE_GIVEN_PARAMS:
    case RIDGE_GIVEN_TOKENS:
    case RIDGE_GIVEN_BOTH:
    case RIDGE_GIVEN_LOSS:
        break;
    }
    return 0;
}

static ridge_sizing size_of_flops(const ridge_sizing_request *r, double flops)
{
    return r->tokens_per_param > 0
               ? ridge_sizing_of_ratio(r->law, flops, r->tokens_per_param)
               : ridge_sizing_of_flops(r->law, flops);
}

/* The fixed point of a size and the speed of models of that size: a few rounds, until
 * the nearest model stays the same. */
static ridge_status size_of_time(ridge_ctx *cx, const ridge_sizing_request *r,
                                 ridge_sizing *out, ridge_size_speed *speed)
{
    enum { ROUNDS_MOST = 6 };
    static const double FIRST_MFU = 0.4;
    const double seconds = budget_s(r);
    const double peak = (double)r->slice->chips *
                        ridge_chip_peak(r->slice->chip, RIDGE_DTYPE_BF16, NULL);
    ridge_sizing size = size_of_flops(r, peak * FIRST_MFU * seconds);
    const char *before = NULL;
    for (int i = 0; i < ROUNDS_MOST; i++) {
        RIDGE_TRY(ridge_size_speed_find(cx, r, size.params, speed));
        size = size_of_flops(r, speed->flops_per_s * seconds);
        if (speed->model_name == NULL ||
            (before != NULL && strcmp(before, speed->model_name) == 0))
            break;
        before = speed->model_name;
    }
    *out = size;
    return RIDGE_OK;
}

static ridge_status find_size(ridge_ctx *cx, const ridge_sizing_request *r,
                              ridge_sizing_study *study)
{
    const double ratio = r->tokens_per_param;
    ridge_sizing *size = &study->best.size;
    switch (r->given) {
    case RIDGE_GIVEN_FLOPS:
        *size = size_of_flops(r, r->amount);
        return RIDGE_OK;
    case RIDGE_GIVEN_PARAMS:
        *size = ratio > 0 ? ridge_sizing_of(r->law, r->amount, r->amount * ratio)
                          : ridge_sizing_of_params(r->law, r->amount);
        return RIDGE_OK;
    case RIDGE_GIVEN_TOKENS:
        *size = ratio > 0 ? ridge_sizing_of(r->law, r->amount / ratio, r->amount)
                          : ridge_sizing_of_tokens(r->law, r->amount);
        return RIDGE_OK;
    case RIDGE_GIVEN_BOTH:
        *size = ridge_sizing_of(r->law, r->amount, r->second);
        return RIDGE_OK;
    case RIDGE_GIVEN_LOSS:
        return ridge_sizing_of_loss(cx, r->law, r->amount, size);
    case RIDGE_GIVEN_USD:
    case RIDGE_GIVEN_CHIP_HOURS:
    case RIDGE_GIVEN_DAYS:
        break;
    }
    study->has_speed = true;
    return size_of_time(cx, r, size, &study->speed);
}

/* What a size takes on the slice, and how far it is from the fewest FLOPs. */
static ridge_status price_size(ridge_ctx *cx, const ridge_sizing_request *r,
                               const ridge_size_speed *speed, ridge_sized *sized)
{
    if (sized->size.has_loss) {
        ridge_sizing least;
        RIDGE_TRY(ridge_sizing_of_loss(cx, r->law, sized->size.loss, &least));
        sized->waste = sized->size.flops / least.flops - 1;
        if (sized->waste < 1e-9) /* by rounding */
            sized->waste = 0;
    }
    if (speed == NULL)
        return RIDGE_OK;
    const double seconds = sized->size.flops / speed->flops_per_s;
    sized->days = seconds / RIDGE_DAY_S;
    sized->chip_hours = seconds / RIDGE_HOUR_S * (double)r->slice->chips;
    if (r->money->has_price)
        sized->usd = sized->chip_hours * r->money->price.usd_per_chip_hour;
    return RIDGE_OK;
}

static ridge_status add_service(ridge_ctx *cx, const ridge_sizing_request *r,
                                const ridge_size_speed *speed,
                                ridge_sizing_study *study)
{
    if (r->served_tokens == 0)
        return RIDGE_OK;
    study->has_served = true;
    RIDGE_TRY(ridge_sizing_of_service(cx, r->law, study->best.size.loss,
                                      r->served_tokens, &study->served.size));
    RIDGE_TRY(price_size(cx, r, speed, &study->served));
    study->best_total_flops =
        study->best.size.flops +
        ridge_sizing_service_flops(&study->best.size, r->served_tokens);
    study->served_total_flops =
        study->served.size.flops +
        ridge_sizing_service_flops(&study->served.size, r->served_tokens);
    return RIDGE_OK;
}

static ridge_status add_tables(ridge_ctx *cx, const ridge_sizing_request *r,
                               const ridge_size_speed *speed, ridge_sizing_study *study)
{
    const double flops = study->best.size.flops;
    study->n_ratios = RIDGE_RATIO_COUNT;
    for (int i = 0; i < study->n_ratios; i++) {
        study->ratios[i].size = ridge_sizing_of_ratio(r->law, flops, ratios[i]);
        RIDGE_TRY(price_size(cx, r, speed, &study->ratios[i]));
    }
    const size_t n = ridge_scaling_law_count();
    study->n_laws = (int)(n < RIDGE_LAW_MAX ? n : RIDGE_LAW_MAX);
    for (int i = 0; i < study->n_laws; i++) {
        RIDGE_TRY(ridge_scaling_law_at(cx, (size_t)i, &study->laws[i]));
        study->by_law[i] = ridge_sizing_of_flops(&study->laws[i], flops);
    }
    return RIDGE_OK;
}

ridge_status ridge_sizing_study_fill(ridge_ctx *cx, const ridge_sizing_request *r,
                                     ridge_sizing_study *out)
{
    ridge_sizing_study study = {0};
    RIDGE_TRY(check(cx, r));
    RIDGE_TRY(find_size(cx, r, &study));
    if (r->slice != NULL && !study.has_speed) {
        RIDGE_TRY(ridge_size_speed_find(cx, r, study.best.size.params, &study.speed));
        study.has_speed = true;
    }
    const ridge_size_speed *speed = study.has_speed ? &study.speed : NULL;
    RIDGE_TRY(price_size(cx, r, speed, &study.best));
    RIDGE_TRY(add_service(cx, r, speed, &study));
    RIDGE_TRY(add_tables(cx, r, speed, &study));
    *out = study;
    return RIDGE_OK;
}
