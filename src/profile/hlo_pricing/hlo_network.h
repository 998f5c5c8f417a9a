/* Collectives of a module on the slice. Layer-internal. */
#ifndef RIDGE_HLO_NETWORK_H
#define RIDGE_HLO_NETWORK_H

#include "ridge/profile_hlo_study.h"

/** Whether an instruction is a collective that takes time: a receive is its send's. */
bool hlo_collective_is(const ridge_hlo_instruction *i);

/**
 * A collective's kind, bytes and groups, and where they lie on a slice.
 * @param input_bytes  of all operands on one device
 * @param slice        NULL: it is not laid
 * @errors E_PARSE groups that are malformed; E_NOMEM
 */
RIDGE_NODISCARD ridge_status hlo_collective_find(ridge_ctx *cx,
                                                 const ridge_hlo_instruction *i,
                                                 double input_bytes, int64_t devices,
                                                 const ridge_slice *slice,
                                                 ridge_hlo_collective *out);
/** "1 x 4 ranks, stride 1, dim 2": its groups. @owner cx; "" without memory */
const char *hlo_collective_text(ridge_ctx *cx, const ridge_hlo_instruction *i,
                                const ridge_hlo_collective *c);

#endif
