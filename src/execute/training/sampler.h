/* The next token from logits: the likeliest, or drawn. Knows nothing of models. */
#ifndef RIDGE_EXECUTE_SAMPLER_H
#define RIDGE_EXECUTE_SAMPLER_H

#include "ridge/execute.h"

typedef struct ridge__sampler ridge__sampler;

/** @param vocab  logits of a token. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__sampler_open(ridge_ctx *cx,
                                                 const ridge_sampling *sampling,
                                                 int64_t vocab, ridge__sampler **out);
/** The token for a row of logits; the lower id of equal ones. The same seed and logits
 * give the same tokens. */
int32_t ridge__sampler_take(ridge__sampler *s, const float *logits);

#endif
