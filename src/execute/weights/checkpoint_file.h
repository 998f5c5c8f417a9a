/* The checkpoint.json of a checkpoint, and the files that it lists. */
#ifndef RIDGE_CHECKPOINT_FILE_H
#define RIDGE_CHECKPOINT_FILE_H

#include "checkpoint_part.h"
#include "mapped_file.h"
#include "safetensors_file.h"

/** A rank's file. */
typedef struct ridge__rank_file {
    ridge__mapped_file map;
    ridge__safetensors tensors;
} ridge__rank_file;

/** Map a rank's file of a folder and list what is in it. @errors E_IO, E_PARSE */
RIDGE_NODISCARD ridge_status ridge__rank_file_open(ridge_ctx *cx, const char *path,
                                                   ridge__rank_file *out);

/**
 * The parts of a rank's file, as its metadata tells.
 * @param file  the rank
 * @param out   room for in->tensors.n
 * @errors E_PARSE keys or places that are none
 */
RIDGE_NODISCARD ridge_status ridge__rank_file_parts(ridge_ctx *cx,
                                                    const ridge__rank_file *in,
                                                    int file, ridge__part *out);

#endif
