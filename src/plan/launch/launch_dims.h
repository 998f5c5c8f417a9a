/*
 * The sizes by which launchers describe a transformer, and the model that has them.
 */
#ifndef RIDGE_PLAN_LAUNCH_DIMS_H
#define RIDGE_PLAN_LAUNCH_DIMS_H

#include "ridge/model.h"

enum { LAUNCH_LAYERS_MOST = 10000 };

/** Sizes of a decoder whose layers differ in their feed-forward part alone. */
typedef struct launch_dims {
    int64_t layers, d_model, d_ff, vocab, positions;
    int64_t heads, kv_heads, head_dim, v_head_dim;
    int64_t window; /* 0: full attention */
    bool is_gated, is_tied;
    bool has_qkv_bias, has_out_bias, has_mlp_bias;
    bool has_qk_norm, has_out_gate;
    bool is_layer_norm;         /* else RMS */
    bool has_learned_positions; /* else rotary, or none */
    bool is_mla;
    int64_t q_lora_rank, kv_lora_rank, rope_head_dim; /* head_dim holds nope + rope */
    int64_t experts, experts_per_token, expert_d_ff;  /* experts 0: dense */
    int64_t shared_experts, shared_d_ff;
    int64_t expert_groups,
        groups_per_token; /* that a token chooses from; 0: no groups */
    bool has_shared_gate, has_router_bias;
    bool *is_moe; /* [layers]; NULL: all layers if there are experts */
} launch_dims;

/** A model of these sizes. @param name  borrowed
 * @errors E_ARG sizes that contradict each other, or too large; E_NOMEM. @owner cx */
RIDGE_NODISCARD ridge_status launch_dims_model(ridge_ctx *cx, const launch_dims *dims,
                                               const char *name,
                                               const ridge_model **out);

/** The sizes of a model. @errors E_ARG it is none that they describe; E_NOMEM */
RIDGE_NODISCARD ridge_status launch_dims_of(ridge_ctx *cx, const ridge_model *model,
                                            launch_dims *out);

#endif
