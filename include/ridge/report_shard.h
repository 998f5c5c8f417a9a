/*
 * Reports of sharded einsums: strategies with their collectives, priced.
 */
#ifndef RIDGE_REPORT_SHARD_H
#define RIDGE_REPORT_SHARD_H

#include "ridge/base.h"
#include "ridge/cost_strategy.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RIDGE_SHARD_SHOWN = 12 };

typedef struct ridge_shard_view {
    const ridge_shard_study *study;
    bool has_all; /* every strategy, not the first RIDGE_SHARD_SHOWN */
} ridge_shard_view;

void ridge_shard_write_text(ridge_ctx *cx, const ridge_shard_view *view,
                            bool with_colour, ridge_buf *out);
void ridge_shard_write_html(ridge_ctx *cx, const ridge_shard_view *view,
                            ridge_buf *out);
/** Set "strategies" (all of them) and what they hold for: the keys of
 *  `ridge shard --json`. */
void ridge_shard_write_json(ridge_ctx *cx, const ridge_shard_view *view,
                            ridge_json *object);

#ifdef __cplusplus
}
#endif

#endif
