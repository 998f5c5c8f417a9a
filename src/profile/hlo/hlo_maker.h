/* A program being made of a module. Layer-internal. */
#ifndef RIDGE_HLO_MAKER_H
#define RIDGE_HLO_MAKER_H

#include "hlo_graph.h"
#include "hlo_sharding.h"

/** A value as the program sees it: a tensor, or a name for a part of one. */
typedef struct hlo_maker {
    ridge_ctx *cx;
    const ridge_hlo_module *m;
    const hlo_graph *g;
    int *first_slot; /* [n + 1] of a node's dims among all */
    int *parent;     /* of each slot: union-find */
    int64_t *sizes;
    int *dim_of; /* of a slot's root: program dim; -1: none yet */
    int n_dims;
    int *
        tensor_of; /* [n] node whose tensor it is; -1: none, a scalar or a mask of it */
    ridge_buf out; /* the block */
    hlo_mesh mesh;
    hlo_list rules;
    int n_made, n_slots;
} hlo_maker;

/** The set that a dim of a value belongs to, by one of it. */
int hlo_maker_root(hlo_maker *k, int slot);
int hlo_maker_slot(const hlo_maker *k, int node, int64_t dim);
const ridge_hlo_shape *hlo_maker_shape(const hlo_maker *k, int node);
/** Join the dims that a node makes one. @errors E_ARG dims that no program has */
RIDGE_NODISCARD ridge_status hlo_maker_join(hlo_maker *k, int node);
/** "line 7: OPCODE WHAT: programs have no such operation". @return E_ARG */
RIDGE_NODISCARD ridge_status hlo_maker_fail(hlo_maker *k, const hlo_node *n,
                                            const char *what);

#endif
