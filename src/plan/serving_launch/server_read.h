/*
 * From a server's settings to a pool of a deployment: one reader an engine, and what
 * they share.
 */
#ifndef RIDGE_PLAN_SERVER_READ_H
#define RIDGE_PLAN_SERVER_READ_H

#include "server_command.h"
#include "server_formats.h"

typedef struct server_reader {
    ridge_ctx *cx;
    launch_sheet sheet;
    ridge_launch notes; /* what the sheet says goes here, then to the launch */
    const server_command *server;
    const ridge_serving_launch_query *query;
    server_dialect dialect;
    ridge_serving_launch *launch;
    ridge_deployment *deployment;
    ridge_service_pool *pool;
    ridge_serving_layout *layout; /* the pool's */
    ridge_engine *engine;         /* of its own: what is stated is set in it */
    const ridge_model *model;
    const char *quantised_name; /* of a checkpoint of it; NULL: it is the model's */
} server_reader;

/** Add a server as the launch's next pool: there is room for it.
 * @errors E_PARSE, E_ARG, E_NOTFOUND with file:line; E_NOMEM */
RIDGE_NODISCARD ridge_status server_pool_add(ridge_ctx *cx, server_command *server,
                                             const ridge_serving_launch_query *query,
                                             ridge_serving_launch *launch);

/** A stated positive count, or @p otherwise with a note of it.
 * @errors E_PARSE with file:line */
RIDGE_NODISCARD ridge_status server_read_count(server_reader *r, launch_field field,
                                               int64_t otherwise, int64_t *out);
/** Formats, CONTEXT, CACHE_BLOCK, prefix cache, chunks, graphs. @errors E_PARSE */
RIDGE_NODISCARD ridge_status server_read_common(server_reader *r);
/** What is stated of the scheduler: iterations planned at once, chunks, prompts of an
 *  iteration, room kept free, ranks that wait for each other. @errors E_PARSE */
RIDGE_NODISCARD ridge_status server_read_schedule(server_reader *r);
/** MEMORY_SHARE as the engine counts it. @errors E_PARSE */
RIDGE_NODISCARD ridge_status server_read_share(server_reader *r);
/** The model that drafts, by name. @errors E_NOTFOUND */
RIDGE_NODISCARD ridge_status server_read_draft_model(server_reader *r);
/** KV_SPLIT: tokens over the ranks beyond the KV heads. @errors E_ARG, E_PARSE */
RIDGE_NODISCARD ridge_status server_read_split(server_reader *r);
/** REPLICAS, of a pool whose degrees are read. @errors E_ARG, E_PARSE */
RIDGE_NODISCARD ridge_status server_read_copies(server_reader *r);
/** Members of the model's configuration that a command overrides: @p longest where they
 *  say how long sequences are; others are noted. */
void server_read_overrides(server_reader *r, int64_t *longest);
/** A count as vLLM reads it: 32k is 32,000, 32K is 32,768. @return false: it is none */
bool server_human_count(const char *text, int64_t *out);
/** "file:line: name value: effect" among what is not priced. */
void server_read_note(server_reader *r, launch_field field, const char *effect);

/* Degrees, limits, drafts and roles. @errors E_PARSE, E_ARG, E_NOTFOUND */
RIDGE_NODISCARD ridge_status server_vllm_read(server_reader *r);
RIDGE_NODISCARD ridge_status server_sglang_read(server_reader *r);
RIDGE_NODISCARD ridge_status server_trtllm_read(server_reader *r);
RIDGE_NODISCARD ridge_status server_tgi_read(server_reader *r);
RIDGE_NODISCARD ridge_status server_lmdeploy_read(server_reader *r);
RIDGE_NODISCARD ridge_status server_maxtext_read(server_reader *r);

#endif
