/*
 * Layers as programs: a microbatch of the model lowered once, cut by the degrees of a
 * layout, and priced block by block. What the search sums is read off here.
 */
#ifndef RIDGE_PLAN_LAYER_PROGRAM_H
#define RIDGE_PLAN_LAYER_PROGRAM_H

#include "layer_time.h"
#include "train_case.h"

/** Lower the model, if it is not. @errors E_ARG, E_NOMEM */
RIDGE_NODISCARD ridge_status train_programs_open(train_case *tc);
/** Forget the cuts, whose memory the caller takes back. */
void train_programs_forget(train_case *tc);

/** Add to layers' times that the gradients kept from earlier microbatches are read and
 *  written. @param times  [kinds + 1] */
void train_program_accumulate(const train_case *tc, const layer_shape *shape,
                              layer_time *times);

/**
 * Times of every kind of layer and of the head, for one shape, without that.
 * @param out  [kinds + 1]
 * @errors E_ARG sizes that overflow; E_NOMEM
 */
RIDGE_NODISCARD ridge_status train_program_times(train_case *tc,
                                                 const layer_shape *shape,
                                                 layer_time *out);

/** Bytes of a token that naming each of the case's sets frees in a layer of each kind.
 *  @param out  [kinds] */
RIDGE_NODISCARD ridge_status train_program_freed(train_case *tc, int64_t tp, int64_t ep,
                                                 bool has_sp,
                                                 double (*out)[NAMED_MOST]);
/** FLOPs of products that a token does again in all layers, of a policy or of named
 *  operations, whose program was lowered to price the layout */
double train_again_flops(const train_case *tc, const ridge_layout *layout);
/** Operations of the model's layers. @errors E_ARG, E_NOMEM */
RIDGE_NODISCARD ridge_status train_program_ops(train_case *tc, ridge_remat_ops *out);
/** Let the case's sets be those from the cheapest to all, for one shape. */
RIDGE_NODISCARD ridge_status train_program_ladder(train_case *tc,
                                                  const layer_shape *shape);

#endif
