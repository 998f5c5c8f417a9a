/* A checkpoint of others as tensors by name. */
#ifndef RIDGE_WEIGHT_SOURCE_H
#define RIDGE_WEIGHT_SOURCE_H

#include "mapped_file.h"
#include "stored_tensor.h"
#include "token_table.h"
#include "weight_names.h"

struct ridge_weight_source {
    const char *path;
    const char *format;
    ridge_numerics numerics;
    size_t n;
    ridge__stored_tensor *tensors;
    ridge__token_table names; /* index of a tensor */
    bool *is_read;            /* [n]: a part of it has been asked for */
    const ridge__weight_family *family;
    const ridge_model *model; /* that it is read for; NULL: not told */
    const char *prefix;       /* before "embed_tokens.weight": "model." */
    double bytes;
};

/** Name the tensors of a source. @errors E_PARSE a name twice; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__weight_source_index(ridge_ctx *cx,
                                                        ridge_weight_source *source);

/** Whether a tensor belongs to a layer, of those that the model has, and is a weight:
 * no mask, no table of angles. */
bool ridge__weight_source_is_expected(const ridge_weight_source *source, size_t tensor,
                                      int64_t layer_count);

/** The tensors of a llama2.c checkpoint under the names of Hugging Face.
 * @errors E_PARSE, E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__llama2c_read(ridge_ctx *cx,
                                                 const ridge__mapped_file *file,
                                                 ridge_weight_source *source);

#endif
