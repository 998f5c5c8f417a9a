/* The best size of a model by a scaling law: closed forms of a law's optimum, and the
 * one question that needs a search in one variable. Legend: C FLOPs, N parameters, D
 * tokens, L loss. */
#include "ridge/model_scaling.h"

#include <math.h>

static const double FLOPS_PER_PARAM_TOKEN = 6; /* forward and backward */
static const double FORWARD_FLOPS = 2;         /* of one parameter and token */

ridge_sizing ridge_sizing_of(const ridge_scaling_law *law, double params, double tokens)
{
    ridge_sizing s = {.params = params,
                      .tokens = tokens,
                      .flops = FLOPS_PER_PARAM_TOKEN * params * tokens,
                      .has_loss = law->has_loss};
    if (law->has_loss) {
        s.loss = law->floor + law->a / pow(params, law->alpha) +
                 law->b / pow(tokens, law->beta);
    }
    return s;
}

/* Where D = D1 N^p is best: from alpha a / N^alpha = beta b / D^beta, or from the form
 * N(C). */
static double best_tokens(const ridge_scaling_law *law, double params)
{
    if (law->has_loss) {
        return pow(law->beta * law->b / (law->alpha * law->a), 1 / law->beta) *
               pow(params, law->alpha / law->beta);
    }
    const double flops = law->flops * pow(params / law->params, 1 / law->exponent);
    return flops / (FLOPS_PER_PARAM_TOKEN * params);
}

ridge_sizing ridge_sizing_of_params(const ridge_scaling_law *law, double params)
{
    return ridge_sizing_of(law, params, best_tokens(law, params));
}

ridge_sizing ridge_sizing_of_tokens(const ridge_scaling_law *law, double tokens)
{
    /* D = D1 N^p: the exponent from the form, the factor at N = 1. */
    const double power = law->has_loss ? law->alpha / law->beta : 1 / law->exponent - 1;
    const double one = best_tokens(law, 1);
    return ridge_sizing_of(law, pow(tokens / one, 1 / power), tokens);
}

ridge_sizing ridge_sizing_of_flops(const ridge_scaling_law *law, double flops)
{
    /* C = 6 N D1 N^p */
    const double power = law->has_loss ? law->alpha / law->beta : 1 / law->exponent - 1;
    const double one = best_tokens(law, 1);
    const double params = pow(flops / (FLOPS_PER_PARAM_TOKEN * one), 1 / (1 + power));
    return ridge_sizing_of(law, params, flops / (FLOPS_PER_PARAM_TOKEN * params));
}

ridge_sizing ridge_sizing_of_ratio(const ridge_scaling_law *law, double flops,
                                   double tokens_per_param)
{
    const double params = sqrt(flops / (FLOPS_PER_PARAM_TOKEN * tokens_per_param));
    return ridge_sizing_of(law, params, params * tokens_per_param);
}

static ridge_status check_loss(ridge_ctx *cx, const ridge_scaling_law *law, double loss)
{
    if (!law->has_loss) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s tells no loss: use a law that does, as %s", law->name,
                          RIDGE_SCALING_LAW_DEFAULT);
    }
    if (!(loss > law->floor * (1 + 1e-9))) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a loss of %g is out of reach: by %s even an endless model "
                          "keeps %g",
                          loss, law->name, law->floor);
    }
    return RIDGE_OK;
}

ridge_status ridge_sizing_of_loss(ridge_ctx *cx, const ridge_scaling_law *law,
                                  double loss, ridge_sizing *out)
{
    RIDGE_TRY(check_loss(cx, law, loss));
    /* At the optimum b / D^beta = (alpha / beta) a / N^alpha. */
    const double gap = loss - law->floor;
    const double params =
        pow(law->a * (1 + law->alpha / law->beta) / gap, 1 / law->alpha);
    *out = ridge_sizing_of_params(law, params);
    return RIDGE_OK;
}

double ridge_sizing_service_flops(const ridge_sizing *sizing, double served_tokens)
{
    return FORWARD_FLOPS * sizing->params * served_tokens;
}

/* The model of that size which reaches the loss. */
static ridge_sizing of_size_and_loss(const ridge_scaling_law *law, double params,
                                     double loss)
{
    const double gap = loss - law->floor - law->a / pow(params, law->alpha);
    return ridge_sizing_of(law, params, pow(law->b / gap, 1 / law->beta));
}

static double total_flops(const ridge_scaling_law *law, double log_params, double loss,
                          double served_tokens)
{
    const ridge_sizing s = of_size_and_loss(law, exp(log_params), loss);
    return s.flops + ridge_sizing_service_flops(&s, served_tokens);
}

ridge_status ridge_sizing_of_service(ridge_ctx *cx, const ridge_scaling_law *law,
                                     double loss, double served_tokens,
                                     ridge_sizing *out)
{
    enum { ROUNDS = 200 };
    static const double GOLDEN = 0.6180339887498949;
    ridge_sizing trained;
    RIDGE_TRY(ridge_sizing_of_loss(cx, law, loss, &trained));
    /* The sum has one valley between the least size that can reach the loss and the
     * best for training alone. */
    const double least = pow(law->a / (loss - law->floor), 1 / law->alpha);
    double low = log(least);
    double high = log(trained.params);
    for (int i = 0; i < ROUNDS && high - low > 1e-13 * fabs(high); i++) {
        const double x1 = high - GOLDEN * (high - low);
        const double x2 = low + GOLDEN * (high - low);
        if (total_flops(law, x1, loss, served_tokens) <=
            total_flops(law, x2, loss, served_tokens)) {
            high = x2;
        } else {
            low = x1;
        }
    }
    *out = of_size_and_loss(law, exp((low + high) / 2), loss);
    return RIDGE_OK;
}
