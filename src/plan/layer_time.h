/* Compute of one layer of each kind on one chip, for one microbatch. */
#ifndef RIDGE_PLAN_LAYER_TIME_H
#define RIDGE_PLAN_LAYER_TIME_H

#include "train_case.h"

/** Seconds of one pass over one layer (or the head), and the bytes it exchanges. */
typedef struct layer_time {
    double matmul_fwd_s, matmul_bwd_s;
    double attention_fwd_s, attention_bwd_s;
    double vector_fwd_s, vector_bwd_s;
    double bound_fwd_s, bound_bwd_s; /* at peak rates */
    double tp_bytes;  /* gathered array of one all-gather; 0: no TP block */
    double tp_blocks; /* all-gather and reduce-scatter pairs in the forward pass */
    double cp_bytes;  /* keys and values gathered over cp; 0 without cp */
    double ep_bytes;  /* one all-to-all: all bytes of the ep group */
} layer_time;

/** What a layer's compute depends on. */
typedef struct layer_shape {
    int64_t tp, cp, ep;
    int64_t microbatch_seqs;
    bool has_sp;
} layer_shape;

layer_time train_layer_time(const train_case *tc, int kind, const layer_shape *shape);

/** Head and loss on the last stage, with the embedding's lookup. */
layer_time train_head_time(const train_case *tc, const layer_shape *shape);

/** Both passes of attention over the forward one. */
double layer_time_attention_passes(void);

double layer_time_fwd_s(const layer_time *t);
double layer_time_bwd_s(const layer_time *t);
/** Forward work that a remat policy does again. */
double layer_time_recompute_s(const layer_time *t, ridge_remat remat);

#endif
