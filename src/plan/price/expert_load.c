/*
 * How much more the busiest rank of experts has to do than the mean one. Each token of
 * a group of Z ranks chooses k of E experts: a rank's rows have the mean r and the
 * variance r (1 - 1/Z) (E - k) / (E - 1), and what one rank has the others lack, which
 * stretches the fullest one's distance by sqrt(Z / (Z - 1)). That of many rows is
 * normal:
 *
 *     busiest / mean = 1 + sqrt((E - k) / ((E - 1) r)) x the largest of Z normal
 * variables
 *
 * ridge_routing_find has the same of any number of rows.
 */
#include "train_price.h"

#include "ridge/simulate_chance.h"

#include <math.h>

/* Of a kind, in units of the mean; 0: it has no experts to choose from. */
static double spread_of(const ridge_ffn *ffn, double tokens)
{
    const double experts = (double)ffn->experts;
    const double chosen = (double)ffn->experts_per_token;
    if (ffn->kind != RIDGE_FFN_MOE || experts < 2 || chosen * tokens <= 0)
        return 0;
    return sqrt((experts - chosen) / ((experts - 1) * chosen * tokens));
}

double train_expert_imbalance(const train_case *tc, const ridge_layout *l)
{
    const double width = (double)train_expert_width(l->tp, l->ep);
    /* As many as a rank's own tokens send out. */
    const double tokens = train_tokens(tc, l) * width / (double)l->tp;
    double spread = 0;
    bool has_experts = false;
    for (int k = 0; k < tc->n_kinds; k++) {
        const ridge_ffn *ffn = &tc->kinds[k].ffn;
        has_experts = has_experts || ffn->kind == RIDGE_FFN_MOE;
        spread = fmax(spread, spread_of(ffn, tokens));
    }
    if (!has_experts || l->ep <= 1)
        return 1;
    return fmax(1, tc->request->expert_imbalance) +
           spread * ridge_normal_largest((double)l->ep);
}
