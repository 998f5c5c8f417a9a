/*
 * Values of 8 bits with scales: where the scales lie, and how such a value becomes fp32
 * and back. Blocks are the whole tensor's, so that every layout has the same codes.
 */
#ifndef RIDGE_EXECUTE_BLOCK_MOMENTS_H
#define RIDGE_EXECUTE_BLOCK_MOMENTS_H

#include "machine.h"

/** Bytes of a tensor's value: of INT8 codes, then one fp32 scale a block of each row.
 */
size_t ridge__array_bytes(const ridge__machine *m, int tensor);
/** A value's codes and scales; x is NULL. A state called "v_.." has no signs. */
ridge__blocks ridge__moment_blocks(const ridge__machine *m, int tensor,
                                   const ridge__value *v);
/** fp32 of rows first .. first + rows, dense. @param x  device memory */
RIDGE_NODISCARD ridge_status ridge__blocks_unpack(ridge__machine *m,
                                                  const ridge__blocks *b, int64_t first,
                                                  int64_t rows, float *x);
/** Whether a block of a tensor lies on several ranks, which then share its scale. */
bool ridge__blocks_are_shared(const ridge__machine *m, int tensor);
/** The reverse. Where blocks are shared all ranks call it, for all rows at once. */
RIDGE_NODISCARD ridge_status ridge__blocks_pack(ridge__machine *m, int tensor,
                                                const ridge__blocks *b, int64_t first,
                                                int64_t rows, float *x);

#endif
