/* Building one slice from a system and a checked request. */
#ifndef RIDGE_SLICE_BUILD_H
#define RIDGE_SLICE_BUILD_H

#include "ridge/hardware.h"

/** Most chips of a slice; beyond any machine, and far below overflow. */
enum { SLICE_CHIPS_MAX = 100000000 };

enum { REQUEST_RANK_MAX = 4 };

/** What the notation asks for: "2*v5p:8x16x16". */
typedef struct slice_request {
    const char *name; /* canonical, for messages and the slice's text */
    const ridge_chip *chip;
    const ridge_system *system;
    int64_t slices;
    int rank; /* numbers of the shape; 0: none was given */
    int64_t shape[REQUEST_RANK_MAX];
} slice_request;

/** @errors E_ARG: an illegal shape, with the rule and the nearest legal ones; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__slice_build(ridge_ctx *cx, const slice_request *q,
                                                ridge_slice **out);

#endif
