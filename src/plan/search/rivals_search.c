/*
 * Several models on one slice, each with its best layout. With F FLOPs a token and R
 * FLOP/s of a chip, a token takes F / (R chips): a model whose token takes x times as
 * long has to reach the same quality with 1 / x of the tokens.
 */
#include "ridge/plan_rivals.h"

#include <math.h>

/* What holds for one model alone is its answer. */
static ridge_status take_failure(ridge_ctx *cx, ridge_status st, ridge_rival_answer *a)
{
    if (st != RIDGE_E_ARG)
        return st;
    a->why_not =
        ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(ridge_ctx_message(cx)));
    return a->why_not == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
}

static ridge_status find_best(ridge_ctx *cx, const ridge_money_request *money,
                              ridge_rival_answer *a)
{
    ridge_train_result result = {0};
    const ridge_status st = ridge_train_search(cx, &a->request, &result);
    if (st != RIDGE_OK)
        return take_failure(cx, st, a);
    a->covered = result.covered;
    if (result.n_layouts == 0) {
        a->why_not = "no layout fits into the memory of the chips";
        return RIDGE_OK;
    }
    a->best = result.layouts[0];
    a->money = ridge_train_money(&a->request, &a->best, money);
    a->flops_per_token =
        a->best.model_flops_per_s_per_chip / a->best.tokens_per_s_per_chip;
    return RIDGE_OK;
}

static double loss_of(const ridge_rival_answer *a, const ridge_scaling_law *law,
                      double tokens)
{
    const ridge_params params = ridge_model_params(a->request.model);
    if (a->why_not != NULL || params.experts > 0 || !law->has_loss || !(tokens > 0))
        return nan("");
    return ridge_sizing_of(law, (double)params.total, tokens).loss;
}

static void compare(const ridge_rival_answer *first, const ridge_scaling_law *law,
                    ridge_rival_answer *a)
{
    const bool has_both = first->why_not == NULL && a->why_not == NULL;
    const double tokens = a->request.total_tokens;
    a->work_ratio = has_both ? a->flops_per_token / first->flops_per_token : nan("");
    a->efficiency_ratio = has_both ? a->best.model_flops_per_s_per_chip /
                                         first->best.model_flops_per_s_per_chip
                                   : nan("");
    a->time_ratio = a->work_ratio / a->efficiency_ratio;
    a->loss = loss_of(a, law, tokens);
    a->loss_at_time = has_both ? loss_of(a, law, tokens / a->time_ratio) : nan("");
}

ridge_status ridge_rivals_compare(ridge_ctx *cx, const ridge_train_request *request,
                                  const ridge_rival *rivals, int n,
                                  const ridge_money_request *money,
                                  const ridge_scaling_law *law, ridge_rival_answer *out)
{
    if (n < 2 || n > RIDGE_RIVAL_MAX)
        return ridge_fail(cx, RIDGE_E_ARG, "models to compare: expected 2 to %d",
                          RIDGE_RIVAL_MAX);
    for (int i = 0; i < n; i++) {
        out[i] = (ridge_rival_answer){.request = *request};
        out[i].request.model = rivals[i].model;
        out[i].request.top = 1;
        out[i].request.front = 0;
        RIDGE_TRY(ridge_layer_shelf_open(cx, &out[i].request.shelf));
        RIDGE_TRY(find_best(cx, money, &out[i]));
    }
    for (int i = 0; i < n; i++)
        compare(&out[0], law, &out[i]);
    return RIDGE_OK;
}
