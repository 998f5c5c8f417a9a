/* Calls as values: whether those of two ranks match, how they read, how large they are.
 */
#ifndef RIDGE_EXECUTE_COMM_CALL_H
#define RIDGE_EXECUTE_COMM_CALL_H

#include "comm_engine.h"

/** A call without its addresses, to be sent and compared. */
typedef struct ridge__call_signature {
    int64_t kind, element, reduce, peer;
    int64_t outer, full, inner, n;
} ridge__call_signature;

ridge__call_signature ridge__call_signature_of(const ridge__comm_call *call);
bool ridge__call_signature_equal(const ridge__call_signature *a,
                                 const ridge__call_signature *b);

/** "all-gather of f32 [2, 8, 4]", "broadcast of 7 i32 from rank 2". */
typedef struct ridge__call_text {
    char s[128];
} ridge__call_text;

ridge__call_text ridge__call_signature_text(const ridge__call_signature *s);

/** Fail because two ranks of the world called different things, the lower rank's first.
 * @return E_IO */
RIDGE_NODISCARD ridge_status ridge__call_fail_mismatch(ridge_ctx *cx, int rank_a,
                                                       const ridge__call_signature *a,
                                                       int rank_b,
                                                       const ridge__call_signature *b);
/** Fail because rank_a sends another number of rows to rank_b than that receives. */
RIDGE_NODISCARD ridge_status ridge__call_fail_rows(ridge_ctx *cx, int rank_a, int sent,
                                                   int rank_b, int received);

/** Fail because what rank_a sends is not what rank_b receives. */
RIDGE_NODISCARD ridge_status
ridge__call_fail_message(ridge_ctx *cx, int rank_a, const ridge__call_signature *sent,
                         int rank_b, const ridge__call_signature *received, int tag);

/** Elements of a dim's chunk that rank holds and that are no padding. */
int64_t ridge__cut_valid(const ridge_cut *cut, int ranks, int rank);

#endif
