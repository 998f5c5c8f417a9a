/* What a layer's times depend on, and sums over its parts. */
#include "layer_time.h"

layer_shape layer_shape_of(const ridge_layout *l)
{
    return (layer_shape){l->tp,     l->cp,
                         l->ep,     l->microbatch_seqs,
                         l->has_sp, l->cp > 1 && l->cp_exchange == RIDGE_CP_ALL_TO_ALL};
}

bool layer_shape_is_same(const layer_shape *a, const layer_shape *b)
{
    return a->tp == b->tp && a->cp == b->cp && a->ep == b->ep &&
           a->microbatch_seqs == b->microbatch_seqs && a->has_sp == b->has_sp &&
           a->is_all_to_all == b->is_all_to_all;
}

double layer_time_fwd_s(const layer_time *t)
{
    return t->matmul_fwd_s + t->attention_fwd_s + t->vector_fwd_s;
}

double layer_time_bwd_s(const layer_time *t)
{
    return t->matmul_bwd_s + t->attention_bwd_s + t->vector_bwd_s;
}

double layer_time_recompute_s(const layer_time *t, int remat)
{
    if (remat >= RIDGE_REMAT_COUNT)
        return t->named == NULL ? 0 : t->named[remat - RIDGE_REMAT_COUNT].again_s;
    switch ((ridge_remat)remat) {
    case RIDGE_REMAT_NONE:
        return 0;
    case RIDGE_REMAT_SELECTIVE:
        return t->selective_s;
    case RIDGE_REMAT_MATMULS:
        return t->attention_fwd_s + t->vector_fwd_s;
    case RIDGE_REMAT_ELEMENTWISE:
        return t->elementwise_s;
    case RIDGE_REMAT_FFN:
        return t->ffn_s;
    case RIDGE_REMAT_FULL:
        break;
    }
    return layer_time_fwd_s(t);
}
