/* Matrices whose parts lie on several ranks, put together and dealt out again. */
#ifndef RIDGE_EXECUTE_WHOLE_MATRIX_H
#define RIDGE_EXECUTE_WHOLE_MATRIX_H

#include "update_call.h"

/** The ranks that hold parts of a matrix, numbered by the axes that cut it. */
typedef struct ridge__matrix_ranks {
    int n;
    int axes[RIDGE_MESH_AXIS_MAX]; /* of the mesh, outermost first */
    int rank, ranks;               /* of this one; of all */
} ridge__matrix_ranks;

ridge__matrix_ranks ridge__matrix_ranks_of(const ridge__call *c, int input,
                                           const ridge__local_matrix *x);
/** A part [batch, rows.., columns..] -> [batch, whole rows, whole columns] on each
 * rank; the part is given back. @errors E_NOMEM, those of collectives */
RIDGE_NODISCARD ridge_status ridge__matrix_gather(ridge__call *c, int input,
                                                  const ridge__local_matrix *x,
                                                  ridge__array part, ridge__array *out);
/** This rank's part of the whole, padded with zeros. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__matrix_take_part(ridge__call *c, int input,
                                                     const ridge__local_matrix *x,
                                                     ridge__array whole,
                                                     ridge__array *out);
/** n fp32 values of the owner to all ranks of the matrix, in place. */
RIDGE_NODISCARD ridge_status ridge__matrix_broadcast(ridge__call *c,
                                                     const ridge__matrix_ranks *r,
                                                     int owner, ridge__array whole,
                                                     int64_t n);

#endif
