/* What a chip holds of a tensor and uses of it, in elements and bytes. */
#ifndef RIDGE_COST_LOCAL_SIZE_H
#define RIDGE_COST_LOCAL_SIZE_H

#include "ridge/shard.h"

/** Local length of the dim at a position, padding by cuts counted, rows that are free
 * on average (ridge_program_dim.used) not. */
double ridge__local_length(const ridge_partition *p, int tensor, int position);
/** A partition that knows them, for many readers. @owner scratch of cx. @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__local_lengths_find(ridge_ctx *cx,
                                                       const ridge_partition *p,
                                                       ridge_partition *out);
/** Position of a program dim in a tensor; -1: none. */
int ridge__dim_position(const ridge_partition *p, int tensor, int dim);
/** Local length of a program dim; 1 where the tensor lacks it. */
double ridge__local_length_of(const ridge_partition *p, int tensor, int dim);
double ridge__local_elements(const ridge_partition *p, int tensor);
/** Local elements of an operation's largest operand over its global ones: the share of
 *  the work that a chip does. */
double ridge__local_share(const ridge_partition *p, const ridge_operation *o);
double ridge__tensor_bytes(const ridge_partition *p, int tensor);

#endif
