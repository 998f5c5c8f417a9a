/* One module being studied: its graphs with their kernels, and each kernel priced.
 * Layer-internal. */
#ifndef RIDGE_HLO_PRICING_H
#define RIDGE_HLO_PRICING_H

#include "hlo_attention.h"
#include "ridge/profile_hlo_study.h"

/** What a kernel became, beside its place. */
typedef struct hlo_priced {
    ridge_hlo_op op;
    bool is_priced;  /* false: control, or nothing to do */
    unsigned axes;   /* of the slice that it uses, as bits */
    bool is_dropped; /* on a branch that is not taken */
} hlo_priced;

typedef struct hlo_pricing {
    ridge_ctx *cx;
    const ridge_hlo_module *module;
    const ridge_slice *slice; /* NULL: none */
    const ridge_chip *chip;   /* NULL: none */
    bool is_compiled;
    int64_t devices;
    hlo_graphs graphs;
    hlo_kernels *kernels;   /* [graphs.n] */
    hlo_priced **priced;    /* [graphs.n][kernels.n] */
    double *graph_s;        /* [graphs.n] expected time of one run */
    bool *is_dropped_graph; /* [graphs.n] */
    int n_pieces;           /* attentions in pieces */
    hlo_attention_pieces *pieces;
    int *piece_graphs; /* [n_pieces] */
} hlo_pricing;

/** Price every kernel of every graph. @errors E_PARSE malformed attributes; E_NOMEM */
RIDGE_NODISCARD ridge_status hlo_price_kernels(hlo_pricing *p);

/** Play the graphs: what collectives and copies hide behind, and what is exposed; a
 *  conditional takes its slowest branch. Sets the ops' exposed_s and hidden_s and
 *  graph_s. */
RIDGE_NODISCARD ridge_status hlo_timeline_play(hlo_pricing *p);

/** Memory by liveness. */
RIDGE_NODISCARD ridge_status hlo_memory_find(hlo_pricing *p, ridge_hlo_memory *out);

/** Sum up: ops in order, totals, shares, degrees, buckets, advice. */
RIDGE_NODISCARD ridge_status hlo_totals_fill(hlo_pricing *p, ridge_hlo_study *out);
void hlo_degrees_find(ridge_hlo_study *out);
RIDGE_NODISCARD ridge_status hlo_buckets_fill(ridge_ctx *cx, ridge_hlo_study *out);
RIDGE_NODISCARD ridge_status hlo_advice_find(hlo_pricing *p, ridge_hlo_study *out);

#endif
