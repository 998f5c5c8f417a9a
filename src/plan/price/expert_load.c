/* How much more the busiest rank of experts has to do than the mean one. */
#include "train_price.h"

#include <math.h>

/* Rows that a rank gets of a microbatch, if tokens choose evenly: as many as its own
 * tokens send out. Models with several kinds of mixtures have the kind of most rows. */
static double rows_per_rank(const train_case *tc, const ridge_layout *l)
{
    double chosen = 0;
    for (int k = 0; k < tc->n_kinds; k++) {
        if (tc->kinds[k].ffn.kind == RIDGE_FFN_MOE)
            chosen = fmax(chosen, (double)tc->kinds[k].ffn.experts_per_token);
    }
    double width = (double)train_expert_width(l->tp, l->ep);
    return chosen * train_tokens(tc, l) * width / (double)l->tp;
}

double train_expert_imbalance(const train_case *tc, const ridge_layout *l)
{
    double rows = rows_per_rank(tc, l);
    if (rows <= 0 || l->ep <= 1)
        return 1;
    double chance = sqrt(2 * log((double)l->ep) / rows);
    return fmax(1, tc->request->expert_imbalance) + chance;
}
