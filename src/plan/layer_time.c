/* Sums over a layer's parts. */
#include "layer_time.h"

double layer_time_fwd_s(const layer_time *t)
{
    return t->matmul_fwd_s + t->attention_fwd_s + t->vector_fwd_s;
}

double layer_time_bwd_s(const layer_time *t)
{
    return t->matmul_bwd_s + t->attention_bwd_s + t->vector_bwd_s;
}

double layer_time_recompute_s(const layer_time *t, ridge_remat remat)
{
    switch (remat) {
    case RIDGE_REMAT_NONE:
        return 0;
    case RIDGE_REMAT_SELECTIVE:
        return t->selective_s;
    case RIDGE_REMAT_MATMULS:
        return t->attention_fwd_s + t->vector_fwd_s;
    case RIDGE_REMAT_FULL:
        break;
    }
    return layer_time_fwd_s(t);
}
