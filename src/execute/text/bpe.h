/* Byte pair encoding: neighbouring tokens are joined, best pair first. */
#ifndef RIDGE_BPE_H
#define RIDGE_BPE_H

#include "merge_table.h"

typedef struct ridge__bpe_node {
    int32_t id;
    int32_t before, after; /* neighbours; -1: none. id -1: joined to the one before */
} ridge__bpe_node;

typedef struct ridge__bpe_offer {
    uint64_t order;      /* rank, then place: the lowest goes first */
    int32_t left, right; /* ids, as they were when it was made */
} ridge__bpe_offer;

/** Memory that merging long pieces needs, kept from one to the next. Zero at first. */
typedef struct ridge__bpe_work {
    ridge__bpe_node *nodes;
    ridge__bpe_offer *heap;
    size_t cap_nodes, cap_heap, n_heap;
} ridge__bpe_work;

/**
 * Join neighbours while the table has a merge for any: the one of the lowest rank, of
 * several the leftmost.
 *
 * @param ids  n of them, n <= INT32_MAX; in place
 * @param n    in: before, out: after
 * @errors E_NOMEM (from the scratch arena, where @p work lives)
 * @source sennrich2016, section 3.2
 */
RIDGE_NODISCARD ridge_status ridge__bpe_merge(ridge_ctx *cx,
                                              const ridge__merge_table *table,
                                              ridge__bpe_work *work, int32_t *ids,
                                              size_t *n);

#endif
