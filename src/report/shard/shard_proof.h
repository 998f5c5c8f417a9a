/* What running a sharded einsum showed, as sections and as JSON. */
#ifndef RIDGE_REPORT_SHARD_PROOF_H
#define RIDGE_REPORT_SHARD_PROOF_H

#include "section.h"

#include "ridge/report_shard.h"

/** Sections of a view that has a proof: the first strategy step by step, and all. */
void ridge__shard_proof_add(ridge_ctx *cx, const ridge_shard_view *view,
                            ridge_sections *out);
/** Set "run" of the whole. */
void ridge__shard_proof_set(ridge_ctx *cx, const ridge_shard_proof *proof,
                            ridge_json *object);
/** Set "run" of a strategy, if it was run. */
void ridge__shard_proof_set_strategy(ridge_ctx *cx, const ridge_shard_view *view,
                                     int which, ridge_json *row);

#endif
