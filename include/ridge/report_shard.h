/*
 * Reports of sharded einsums: strategies with their collectives, priced.
 */
#ifndef RIDGE_REPORT_SHARD_H
#define RIDGE_REPORT_SHARD_H

#include "ridge/base.h"
#include "ridge/cost_partition.h"
#include "ridge/cost_strategy.h"
#include "ridge/execute_shard.h"
#include "ridge/plan_chain.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RIDGE_SHARD_SHOWN = 12 };

/** Strategies of a study that were run. */
typedef struct ridge_shard_proof {
    ridge_strategy_run run;
    int first, n;                         /* of the study's strategies */
    const ridge_strategy_result *results; /* [n] */
} ridge_shard_proof;

/** Whether all numbers are right. */
bool ridge_shard_proof_holds(const ridge_shard_proof *proof);

typedef struct ridge_shard_view {
    const ridge_shard_study *study;
    bool has_all; /* every strategy, not the first RIDGE_SHARD_SHOWN */
    const ridge_shard_proof *proof; /* NULL: nothing was run */
} ridge_shard_view;

void ridge_shard_write_text(ridge_ctx *cx, const ridge_shard_view *view,
                            bool with_colour, ridge_buf *out);
void ridge_shard_write_html(ridge_ctx *cx, const ridge_shard_view *view,
                            ridge_buf *out);
/** Set "strategies" (all of them) and what they hold for: the keys of
 *  `ridge shard --json`. */
void ridge_shard_write_json(ridge_ctx *cx, const ridge_shard_view *view,
                            ridge_json *object);

/* ---- programs -------------------------------------------------------------------- */

void ridge_chain_write_text(ridge_ctx *cx, const ridge_chain_study *study,
                            bool with_colour, ridge_buf *out);
void ridge_chain_write_html(ridge_ctx *cx, const ridge_chain_study *study,
                            ridge_buf *out);
/** Set "operations", "collectives" and totals: `ridge shard --program --auto --json`.
 */
void ridge_chain_write_json(ridge_ctx *cx, const ridge_chain_study *study,
                            ridge_json *object);

/** A program partitioned by rules, and what running it showed. */
typedef struct ridge_partition_view {
    const ridge_partition_study *study;
    const ridge_partition_run *run;       /* NULL: nothing was run */
    const ridge_partition_result *result; /* of the run */
} ridge_partition_view;

void ridge_partition_write_text(ridge_ctx *cx, const ridge_partition_view *view,
                                bool with_colour, ridge_buf *out);
void ridge_partition_write_html(ridge_ctx *cx, const ridge_partition_view *view,
                                ridge_buf *out);
/** Set "blocks" with their operations, "conflicts", "run": `ridge shard --program
 * --json`. */
void ridge_partition_write_json(ridge_ctx *cx, const ridge_partition_view *view,
                                ridge_json *object);

#ifdef __cplusplus
}
#endif

#endif
