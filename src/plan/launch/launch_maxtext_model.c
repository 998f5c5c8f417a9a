/* The model in a MaxText configuration: by name, or by sizes over those of base.yml.
 * @source maxtext-2025, configs/base.yml and models/ */
#include "launch_dims.h"
#include "launch_read.h"

#include <string.h>

static const int64_t MOST = 100000000;

/* Blocks whose layers are as the sizes say. */
typedef struct block_form {
    const char *name;
    bool has_qk_norm, is_gpt3;
} block_form;

static const block_form blocks[] = {
    {"default", false, false}, {"llama2", false, false},    {"llama3", false, false},
    {"mistral", false, false}, {"mixtral", false, false},   {"deepseek", false, false},
    {"qwen3", true, false},    {"qwen3_moe", true, false},  {"gpt3", false, true},
    {"simple", false, false},  {"simple_mlp", false, false}};

static ridge_status find_block(launch_sheet *s, const block_form **out)
{
    const char *name = "llama2";
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_BLOCK, &name));
    for (size_t i = 0; i < RIDGE_COUNT_OF(blocks); i++) {
        if (strcmp(name, blocks[i].name) == 0) {
            *out = &blocks[i];
            return RIDGE_OK;
        }
    }
    return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_BLOCK,
                             "layers of '%.40s' differ beyond their sizes: give the "
                             "model as well, as in ridge train llama-4-maverick --from "
                             "FILE",
                             name);
}

static ridge_status read_attention(launch_sheet *s, const block_form *block,
                                   launch_dims *d)
{
    const char *type = "global";
    int64_t nope = 0;
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_HEADS, 1, MOST, &d->heads));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_KV_HEADS, 1, MOST, &d->kv_heads));
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_MLA, &type));
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_WINDOW, &d->window));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_QKV_BIAS, &d->has_qkv_bias));
    d->has_qk_norm = block->has_qk_norm;
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_QK_NORM, &d->has_qk_norm));
    d->has_qk_norm = d->has_qk_norm || block->has_qk_norm;
    d->is_mla = strcmp(type, "mla") == 0;
    if (!d->is_mla) {
        RIDGE_TRY(launch_sheet_i64(s, LAUNCH_HEAD_DIM, 1, MOST, &d->head_dim));
        d->v_head_dim = d->head_dim;
        if (strcmp(type, "local_sliding") != 0)
            d->window = 0;
        return RIDGE_OK;
    }
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_Q_LORA, 0, MOST, &d->q_lora_rank));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_KV_LORA, 1, MOST, &d->kv_lora_rank));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_NOPE_DIM, 1, MOST, &nope));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_ROPE_DIM, 0, MOST, &d->rope_head_dim));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_V_HEAD_DIM, 1, MOST, &d->v_head_dim));
    d->head_dim = nope + d->rope_head_dim;
    d->kv_heads = d->heads;
    return RIDGE_OK;
}

static ridge_status read_experts(launch_sheet *s, launch_dims *d)
{
    int64_t first = 0;
    int64_t step = 1;
    int64_t width = -1;
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_EXPERTS, 1, MOST, &d->experts));
    if (d->experts == 1) {
        d->experts = 0;
        return RIDGE_OK;
    }
    RIDGE_TRY(
        launch_sheet_i64(s, LAUNCH_EXPERTS_PER_TOKEN, 1, MOST, &d->experts_per_token));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_EXPERT_D_FF, -1, MOST, &width));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_SHARED_EXPERTS, 0, 10000, &d->shared_experts));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_FIRST_DENSE, 0, MOST, &first));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_MOE_STEP, 1, MOST, &step));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_ROUTER_BIAS, &d->has_router_bias));
    d->expert_d_ff = width > 0 ? width : d->d_ff;
    d->shared_d_ff = d->shared_experts * d->expert_d_ff;
    d->is_moe = ridge_new(ridge_ctx_arena(s->cx), bool, (size_t)d->layers);
    if (d->is_moe == NULL)
        return ridge_fail_nomem(s->cx);
    for (int64_t i = 0; i < d->layers; i++)
        d->is_moe[i] = i >= first && (i + 1) % step == 0;
    return RIDGE_OK;
}

static ridge_status read_form(launch_sheet *s, const block_form *block, launch_dims *d)
{
    const char *activations = "[silu,linear]";
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_ACTIVATIONS, &activations));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_TIED, &d->is_tied));
    d->is_gated = strchr(activations, ',') != NULL;
    if (!block->is_gpt3)
        return RIDGE_OK;
    d->is_layer_norm = d->has_learned_positions = true;
    d->has_qkv_bias = d->has_out_bias = d->has_mlp_bias = true;
    return launch_sheet_i64(s, LAUNCH_POSITIONS, 1, MOST, &d->positions);
}

static ridge_status read_sizes(launch_sheet *s, ridge_launch *launch)
{
    launch_dims d = {0};
    const block_form *block = NULL;
    int64_t scale = 1;
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_SCALE, 1, MOST, &scale));
    if (scale != 1) {
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_SCALE,
                                 "write the sizes that it makes instead");
    }
    RIDGE_TRY(find_block(s, &block));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_LAYERS, 1, LAUNCH_LAYERS_MOST, &d.layers));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_D_MODEL, 1, MOST, &d.d_model));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_D_FF, 1, MOST, &d.d_ff));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_VOCAB, 1, MOST, &d.vocab));
    RIDGE_TRY(read_attention(s, block, &d));
    RIDGE_TRY(read_form(s, block, &d));
    RIDGE_TRY(read_experts(s, &d));
    launch->model_name = launch_model_title(s);
    const ridge_status st =
        launch_dims_model(s->cx, &d, launch->model_name, &launch->model);
    if (st != RIDGE_OK)
        ridge_ctx_note(s->cx, "%s", s->file);
    return st;
}

ridge_status launch_maxtext_model(launch_sheet *s, const ridge_launch_query *query,
                                  ridge_launch *launch)
{
    const char *name = "default";
    if (query->model != NULL) {
        launch->model = query->model;
        launch->model_name = query->model->name;
        return RIDGE_OK;
    }
    if (launch_sheet_has(s, LAUNCH_MODEL_NAME))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_MODEL_NAME, &name));
    if (strcmp(name, "default") != 0)
        return launch_model_find(s, query, LAUNCH_MODEL_NAME, name, launch);
    return read_sizes(s, launch);
}
