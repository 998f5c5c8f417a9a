/* Parts of a checkpoint's tensors: which file holds which region. */
#ifndef RIDGE_CHECKPOINT_PART_H
#define RIDGE_CHECKPOINT_PART_H

#include "stored_tensor.h"

/** A region of a tensor as a file holds it. */
typedef struct ridge__part {
    const char *name;
    int64_t layer;
    int file; /* index: the writing rank */
    ridge_region region;
    ridge__stored_tensor stored; /* of the region's counts */
} ridge__part;

/** Parts of one tensor: [first, first + n) of a sorted list. */
typedef struct ridge__part_group {
    size_t first, n;
} ridge__part_group;

/** A list of parts of any tensors. */
typedef struct ridge__part_list {
    ridge__part *parts; /* sorted by name, layer and start */
    size_t n;
    ridge__part_group *groups; /* [n_groups], a tensor each */
    size_t n_groups;
} ridge__part_list;

/** Sort parts and group them into tensors. @owner the ctx. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__part_list_sort(ridge_ctx *cx,
                                                   ridge__part_list *list);
/** That the parts of each tensor have one format and shape, and cover it once.
 * @param file  for messages. @errors E_PARSE with the tensor and the place */
RIDGE_NODISCARD ridge_status ridge__part_list_check(ridge_ctx *cx,
                                                    const ridge__part_list *list,
                                                    const char *file);
/** The parts of a tensor; NULL: there is none. */
const ridge__part_group *ridge__part_list_find(const ridge__part_list *list,
                                               const char *name, int64_t layer);
/** "wq of layer 3", "embedding": in the scratch arena. */
const char *ridge__checkpoint_part_text(ridge_ctx *cx, const char *name, int64_t layer);

#endif
