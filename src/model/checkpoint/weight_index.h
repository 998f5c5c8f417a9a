/* The index of a sharded checkpoint: *.safetensors.index.json, *.bin.index.json. */
#ifndef RIDGE_WEIGHT_INDEX_H
#define RIDGE_WEIGHT_INDEX_H

#include "safetensors.h"

/**
 * Read an index: metadata.total_size, total_parameters if stated, names of weight_map.
 *
 * Some mirrors hold several JSON documents one after the other: the first is read.
 *
 * @errors E_PARSE without a total_size
 */
RIDGE_NODISCARD ridge_status ridge__weight_index_sum(ridge_ctx *cx, ridge_str text,
                                                     const char *file,
                                                     const ridge_model *model,
                                                     ridge__tensor_sums *out);

#endif
