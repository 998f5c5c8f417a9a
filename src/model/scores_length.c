/* The length at which scores outweigh the rest: they rise with T, the rest does not. */
#include "ridge/model_length.h"

#include <math.h>

static const double LONGEST =
    1e12; /* tokens; beyond it scores are taken to level off */

enum { HALVINGS = 100 };

static double scores_at(const ridge_model *model, double tokens, bool is_causal_half)
{
    return ridge_model_flops_forward(model, tokens, is_causal_half).attention_scores;
}

static double length_of(const ridge_model *model, bool is_causal_half, double flops)
{
    double low = 1;
    double high = LONGEST;
    if (!(flops > 0) || scores_at(model, high, is_causal_half) < flops)
        return (double)INFINITY;
    for (int i = 0; i < HALVINGS && high - low > 1e-9 * high; i++) {
        const double middle = (low + high) / 2;
        if (scores_at(model, middle, is_causal_half) < flops) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

ridge_scores_length ridge_model_scores_length(const ridge_model *model,
                                              bool is_causal_half)
{
    const ridge_flops f = ridge_model_flops_forward(model, 1, is_causal_half);
    const double rest = f.attention_projections + f.mlp + f.router + f.experts;
    return (ridge_scores_length){
        .projections = length_of(model, is_causal_half, f.attention_projections),
        .matmuls = length_of(model, is_causal_half, rest)};
}
