/* Feed-forward parts: dense, and what a model's type says of their functions. */
#include "lower.h"

#include <string.h>

int ridge__lower_ffn(ridge__lower *l, int h)
{
    static const ridge__dense DENSE = {"w_gate", "w_up", "w_down", "gate",
                                       "up",     "act",  "ffn"};
    const ridge_ffn *f = &l->layer->ffn;
    const int routed = f->kind == RIDGE_FFN_MOE ? ridge__lower_moe(l, h) : -1;
    if (f->d_ff == 0 && f->kind == RIDGE_FFN_MOE)
        return routed;
    const int dense =
        ridge__lower_dense(l, &DENSE, h, ridge__lower_dim(l, "F", f->d_ff));
    if (f->kind != RIDGE_FFN_MOE)
        return dense;
    return ridge__lower_function(l, "ffn_sum", RIDGE_FUNCTION_ADD, routed, dense);
}
