/*
 * Several weights in the rows of one tensor, in ways that only the sizes of the layer's
 * mixer tell apart: projections of recurrent layers, queries and their gates.
 */
#ifndef RIDGE_PACKED_ROWS_H
#define RIDGE_PACKED_ROWS_H

#include "weight_names.h"

#include "ridge/model.h"

/** Rows of one weight: groups times rows, each group's first behind the last's. */
typedef struct ridge__packed_rows {
    int64_t groups;
    int64_t rows;       /* of this weight in a group */
    int64_t first;      /* of them in a group */
    int64_t group_rows; /* of all weights */
} ridge__packed_rows;

/** The mixer of a layer; NULL: the model is not told, or has no such layer. */
const ridge_mixer *ridge__mixer_of(const ridge_model *model, int64_t layer);

/** @return false: a mixer of this kind packs nothing so */
bool ridge__packed_rows_of(const ridge_model *model, const ridge_mixer *mixer,
                           const ridge__packed_name *name, ridge__packed_rows *out);

#endif
