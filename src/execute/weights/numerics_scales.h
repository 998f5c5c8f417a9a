/* Constants of a config beside norms and rotary frequencies: factors, what differs from
 * layer to layer. */
#ifndef RIDGE_NUMERICS_SCALES_H
#define RIDGE_NUMERICS_SCALES_H

#include "ridge/execute_weights.h"

/** What model_type alone tells. @param width  of the stream; 0: not known */
void ridge__numerics_take_type(const char *type, double width, ridge_numerics *n);
/** Factors of embeddings, residuals, scores and logits, and how gates are weighed.
 * @errors E_PARSE values out of range */
RIDGE_NODISCARD ridge_status ridge__numerics_read_scales(ridge_ctx *cx,
                                                         const ridge_node *config,
                                                         ridge_numerics *n);
/** Which layers turn, and how. @errors E_PARSE, E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__numerics_read_layers(ridge_ctx *cx,
                                                         const ridge_node *config,
                                                         ridge_numerics *n);

/** The factors of "longrope" (numerics_long.c). @errors E_PARSE, E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__numerics_read_long(ridge_ctx *cx,
                                                       const ridge_node *s,
                                                       ridge_numerics *n);

#endif
