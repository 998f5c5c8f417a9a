/*
 * Layers as programs: a microbatch of the model lowered once, cut by the degrees of a
 * layout, and priced block by block. What the search sums is read off here.
 */
#ifndef RIDGE_PLAN_LAYER_PROGRAM_H
#define RIDGE_PLAN_LAYER_PROGRAM_H

#include "layer_time.h"

/** Lower the model, if it is not. @errors E_ARG, E_NOMEM */
RIDGE_NODISCARD ridge_status train_programs_open(train_case *tc);
/** Forget the cuts, whose memory the caller takes back. */
void train_programs_forget(train_case *tc);

/**
 * Times of every kind of layer and of the head, for one shape.
 * @param out  [kinds + 1]
 * @errors E_ARG sizes that overflow; E_NOMEM
 */
RIDGE_NODISCARD ridge_status train_program_times(train_case *tc,
                                                 const layer_shape *shape,
                                                 layer_time *out);

#endif
