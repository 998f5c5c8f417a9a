/* Compute and exchanges of one layer of each kind on one chip, for one microbatch. */
#ifndef RIDGE_PLAN_LAYER_TIME_H
#define RIDGE_PLAN_LAYER_TIME_H

#include "ridge/cost.h"
#include "ridge/plan_layout.h"

/** Over which axes a layer exchanges. */
typedef enum exchange_class {
    EXCHANGE_TP,
    EXCHANGE_CP,
    EXCHANGE_EP,
    EXCHANGE_CLASSES
} exchange_class;

/** One collective within a layer. */
typedef struct layer_exchange_item {
    ridge_collective kind;
    exchange_class part;
    bool is_backward;
    bool is_beside; /* off the critical path: it runs beside a product */
    int count;      /* that many alike */
    double bytes;   /* V as ridge_collective_price takes it */
} layer_exchange_item;

enum { LAYER_EXCHANGE_MAX = 24 };

/** What naming a set of operations comes to in a layer. */
typedef struct named_time {
    double again_s;
    double experts_share; /* of the products of experts that are done again */
    double freed_bytes;   /* of one token on one chip */
} named_time;

/** Seconds of one pass over one layer (or the head), and what it exchanges. */
typedef struct layer_time {
    double matmul_fwd_s, matmul_bwd_s;
    double attention_fwd_s, attention_bwd_s;
    double vector_fwd_s, vector_bwd_s;
    double experts_fwd_s, experts_bwd_s; /* of matmul: those of routed experts */
    double bound_fwd_s, bound_bwd_s;     /* at peak rates */
    /* forward work that a policy does again */
    double selective_s, elementwise_s, ffn_s;
    const named_time *named; /* [tc->n_named] */
    bool is_fwd_read, is_bwd_read;
    int n_exchanges;
    layer_exchange_item exchanges[LAYER_EXCHANGE_MAX];
} layer_time;

/** What a layer's compute depends on. */
typedef struct layer_shape {
    int64_t tp, cp, ep;
    int64_t microbatch_seqs;
    bool has_sp;
    bool is_all_to_all; /* cp exchanges tokens for heads */
} layer_shape;

layer_shape layer_shape_of(const ridge_layout *layout);
bool layer_shape_is_same(const layer_shape *a, const layer_shape *b);

double layer_time_fwd_s(const layer_time *t);
double layer_time_bwd_s(const layer_time *t);
/** Forward work that is done again. @param remat  as train_remat_index */
double layer_time_recompute_s(const layer_time *t, int remat);

#endif
