/* What running a partitioned program showed, as a section and as JSON. */
#ifndef RIDGE_REPORT_PARTITION_PROOF_H
#define RIDGE_REPORT_PARTITION_PROOF_H

#include "section.h"

#include "ridge/report_shard.h"

/** A section of a view that has a run. */
void ridge__partition_proof_add(ridge_ctx *cx, const ridge_partition_view *view,
                                ridge_sections *out);
/** Set "run" of such a view. */
void ridge__partition_proof_set(ridge_ctx *cx, const ridge_partition_view *view,
                                ridge_json *object);

#endif
