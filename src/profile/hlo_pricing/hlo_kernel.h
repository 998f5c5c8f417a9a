/*
 * Which values of a graph are written to memory, and so which operations run as one
 * kernel: as the fusions of a compiled module say, or as a compiler would put them
 * together. Layer-internal.
 */
#ifndef RIDGE_HLO_KERNEL_H
#define RIDGE_HLO_KERNEL_H

#include "hlo_graph.h"

typedef enum hlo_role {
    HLO_ROLE_NAME,   /* names data that are there: no work */
    HLO_ROLE_SOURCE, /* in memory from outside: parameters, constants */
    HLO_ROLE_INSIDE, /* computed within the kernels that use it */
    HLO_ROLE_RESULT  /* written by a kernel */
} hlo_role;

typedef struct hlo_kernel {
    int first_root, n_roots; /* into kernels.roots: nodes that it writes */
    int node;                /* the root that stands for it, the last */
    int async;               /* of nodes; 0: none */
    int done;                /* node that waits for it; -1: none */
} hlo_kernel;

typedef struct hlo_kernels {
    const hlo_graph *graph;
    const hlo_role *roles; /* [graph->n] */
    const int *kernel_of;  /* [graph->n] of results; else -1 */
    int n;
    const hlo_kernel *kernels; /* in the order of their last roots */
    const int *roots;
} hlo_kernels;

/** How kernels are found. */
typedef struct hlo_fusing {
    bool is_compiled;    /* fusions are the module's own */
    bool joins_products; /* what is around a product runs within it (TPU) */
} hlo_fusing;

/** @owner cx. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status hlo_kernels_find(ridge_ctx *cx, const hlo_graph *graph,
                                              const hlo_fusing *how, hlo_kernels *out);

/** Whether an update of a part leaves the rest where it is: the value that it updates
 *  is used by nothing else, and is no argument of the program that stays. */
bool hlo_update_is_in_place(const hlo_graph *graph, int node, const hlo_role *roles,
                            bool is_compiled);

#endif
