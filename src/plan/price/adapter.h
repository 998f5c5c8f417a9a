/*
 * Adapters of low rank beside frozen weights: y = x W + (x A) B for W [in, out], A
 * [in, rank] and B [rank, out]. @source hu2021-lora, equation 3
 */
#ifndef RIDGE_PLAN_ADAPTER_H
#define RIDGE_PLAN_ADAPTER_H

#include "layer_time.h"
#include "train_case.h"

/**
 * Add the adapters of a layer to its times, for one microbatch: two products and a sum
 * of the pass forward; four products and a sum of the one back, two of them for the
 * gradients of A and B. All are cut over tp. Nothing where weights are not frozen.
 * @param kind   up to the number of kinds, the head, which has none
 * @param times  in, out
 */
void adapter_add_time(const train_case *tc, int kind, const layer_shape *shape,
                      layer_time *times);

/** Adapters of a layer of a kind, a joint one counted once. */
int adapter_count(const train_case *tc, int kind);
/** Numbers of A and B in a layer of a kind, before any cut; 0: weights are trained. */
double adapter_params(const train_case *tc, int kind);
/** FLOPs of a training token in all of the model's adapters. */
double adapter_flops_per_token(const train_case *tc);
/** Bytes of x A that a token leaves for the pass back in a layer, before any cut. */
double adapter_kept_bytes(const train_case *tc, int kind);
/** Add their weights, gradients and optimizer state on a stage. @param m  in, out */
void adapter_add_state(const train_case *tc, const train_stage *stage,
                       const ridge_layout *layout, ridge_memory_parts *m);
/** Numbers of A and B on a chip of a stage, before ZeRO. */
double adapter_stage_params(const train_case *tc, const train_stage *stage,
                            const ridge_layout *layout);
/** Bytes that their update reads and writes on a chip, once a step. */
double adapter_update_bytes(const train_case *tc, const train_stage *stage,
                            const ridge_layout *layout);

#endif
