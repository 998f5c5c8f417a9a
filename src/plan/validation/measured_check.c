/*
 * Numbers of a row against each other. Sources print two or three of step time,
 * tokens/s and FLOP/s; where they cannot all be true, nothing can be held against them.
 */
#include "measured_row.h"

#include <math.h>

/* Tokens/s are rounded; FLOPs a token are counted in many ways: by the parameters alone
 * or with the whole square of attention, a fourth forward pass or not, and of hybrid
 * models nobody agrees. What lies outside of all of them is a contradiction. */
static const double TOKENS_SLACK = 0.1;
static const double FLOPS_SLACK = 0.35;

static ridge_status check_tokens(ridge_ctx *cx, double step_s, double said,
                                 const ridge_train_request *r)
{
    const double rate = r->batch_tokens / (step_s * (double)r->slice->chips);
    if (fabs(rate / said - 1) <= TOKENS_SLACK)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "the row contradicts itself: its step time and batch give %.4g "
                      "tokens/s a chip, it says %.4g",
                      rate, said);
}

static ridge_status check_flops(ridge_ctx *cx, double step_s, double said,
                                const ridge_train_request *r)
{
    const double tokens = r->batch_tokens / (step_s * (double)r->slice->chips);
    const double least =
        ridge_model_flops_train(r->model, r->seq_tokens, RIDGE_CONVENTION_SIX_N);
    const double most =
        ridge_model_flops_train(r->model, r->seq_tokens, RIDGE_CONVENTION_PALM);
    const double low = tokens * fmin(least, most) * (1 - FLOPS_SLACK);
    const double high = tokens * fmax(least, most) * 4 / 3 * (1 + FLOPS_SLACK);
    if (said >= low && said <= high)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "the row contradicts itself: its step time and model give %.3g "
                      "TFLOP/s a chip, it says %.3g",
                      tokens * most / 1e12, said / 1e12);
}

ridge_status measured_check(ridge_ctx *cx, const measured_row *row,
                            const ridge_train_request *r)
{
    double step_s;
    double said;
    if (!measured_number(&row->measured, "step_time_s", &step_s) || step_s <= 0)
        return RIDGE_OK;
    if (measured_number(&row->measured, "tokens_per_s_per_chip", &said))
        RIDGE_TRY(check_tokens(cx, step_s, said, r));
    if (measured_number(&row->measured, "tflops_per_chip", &said))
        RIDGE_TRY(check_flops(cx, step_s, said * 1e12, r));
    return RIDGE_OK;
}
