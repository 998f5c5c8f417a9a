/*
 * A pool of a deployment on its way into an engine's options: a value for each field
 * that the engine is to be told.
 */
#ifndef RIDGE_PLAN_SERVER_DRAFT_H
#define RIDGE_PLAN_SERVER_DRAFT_H

#include "launch_draft.h"
#include "server_formats.h"

typedef struct server_draft {
    launch_draft sheet; /* of which the request and the training layout are unused */
    const ridge_deployment *deployment;
    const ridge_service_pool *pool;
    const ridge_serving_layout *layout; /* the pool's */
    const ridge_model *model;
    const ridge_engine *engine;
    ridge_serving_launcher launcher;
    server_dialect dialect;
    bool is_own;   /* the plan's engine is the one that is written for */
    int64_t chips; /* of one server */
    int64_t nodes; /* that one server spans; 1 where the slice is not known */
} server_draft;

/** What all engines need of a pool. @param draft  its sheet has a ctx and where to
 * write
 * @errors E_ARG weights that are gathered, which no engine does; chips that the engine
 *         does not run on; E_NOMEM */
RIDGE_NODISCARD ridge_status server_draft_open(server_draft *draft,
                                               ridge_serving_launcher launcher,
                                               const ridge_deployment *deployment,
                                               int pool);

/** Weights, products and cache: QUANT, CACHE_DTYPE.
 * @errors E_ARG formats that the engine has no word for */
RIDGE_NODISCARD ridge_status server_draft_formats(server_draft *draft);
/** SEQUENCES of an attention rank times @p ranks, CONTEXT, CACHE_BLOCK. */
void server_draft_limits(server_draft *draft, int64_t ranks);
/** MEMORY_SHARE, where the plan is for this engine: others count it otherwise. */
void server_draft_share(server_draft *draft);
/** The model that drafts, or a word for the reader to replace, noted. */
const char *server_draft_model_name(server_draft *draft);
/** TP, where nothing else divides a model. @errors E_ARG other degrees, a cache cut
 *  otherwise than by heads */
RIDGE_NODISCARD ridge_status server_draft_tp_alone(server_draft *draft);
/** Chains alone. @errors E_ARG a tree */
RIDGE_NODISCARD ridge_status server_draft_check_chain(server_draft *draft);

/** "# " before lines about what follows: servers, chips, and notes at the top. */
void server_draft_heading(server_draft *draft);

/** Options after what starts the server: one a line, each with "--", in the order of a
 * table. @param is_last  whether nothing of the command follows */
void server_draft_put_flags(server_draft *draft, const launch_option *options);
/** The same as "key: value" lines; keys with dots are nested mappings. */
void server_draft_put_yaml(server_draft *draft, const launch_option *options,
                           int indent);

/* Writers of one pool. @errors E_ARG what the engine cannot express; E_NOMEM */
RIDGE_NODISCARD ridge_status server_vllm_write(server_draft *draft);
RIDGE_NODISCARD ridge_status server_sglang_write(server_draft *draft);
RIDGE_NODISCARD ridge_status server_trtllm_write(server_draft *draft);
RIDGE_NODISCARD ridge_status server_tgi_write(server_draft *draft);
RIDGE_NODISCARD ridge_status server_lmdeploy_write(server_draft *draft);
RIDGE_NODISCARD ridge_status server_maxtext_write(server_draft *draft);
/* What stands before the servers of two pools: requests are handed on there. */
void server_vllm_put_front(server_draft *draft);
void server_sglang_put_front(server_draft *draft);
void server_trtllm_put_front(server_draft *draft);

#endif
