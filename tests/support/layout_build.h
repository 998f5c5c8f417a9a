/* A model trained on a slice in some parallel way: lowered, cut, laid out. */
#ifndef RIDGE_TEST_LAYOUT_BUILD_H
#define RIDGE_TEST_LAYOUT_BUILD_H

#include "model_fixture.h"
#include "ridge/cost_program.h"

typedef struct layout_build {
    const ridge_partition *partition;
    ridge_laid_mesh laid;
} layout_build;

/** One microbatch of @p sequences of @p tokens over all chips; bf16. A degree of 0
 *  counts as 1. Fails the test when something is refused. */
layout_build build_layout(ridge_ctx *cx, const ridge_model *model, int64_t sequences,
                          int64_t tokens, const ridge_parallelism *degrees,
                          const ridge_slice *slice);

/** Its timeline. */
ridge_timeline build_timeline(ridge_ctx *cx, const layout_build *layout,
                              const ridge_overlap *overlap);

/** Index of a block by name; fails the test if there is none. */
int build_block_find(const layout_build *layout, const char *name);

#endif
