/* Values of a config by their many names, checked: every complaint names the place. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { KEY_MAX = 12, NOTE_CHARS = 320 };

/* Bounds keep a layer's dims so small that sums of a few products fit 63 bits. */
#define MOST_LAYERS 1000000
#define MOST_HEADS  1000000
#define MOST_WIDTH  100000000
#define MOST_ROWS   1000000000

typedef struct field_row {
    int64_t low, high;
    const char *keys[KEY_MAX]; /* the usual name first */
} field_row;

/* clang-format off */
static const field_row FIELDS[] = {
    [RIDGE__F_D_MODEL] = {1, MOST_WIDTH, {"hidden_size", "n_embd", "n_embed", "d_model", "dim", "block_dim"}},
    [RIDGE__F_LAYERS] = {1, MOST_LAYERS, {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}},
    [RIDGE__F_ENCODER_LAYERS] = {0, MOST_LAYERS, {"encoder_layers", "num_layers", "num_hidden_layers"}},
    [RIDGE__F_DECODER_LAYERS] = {1, MOST_LAYERS, {"decoder_layers", "num_decoder_layers"}},
    [RIDGE__F_HEADS] = {1, MOST_HEADS, {"num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads"}},
    [RIDGE__F_ENCODER_HEADS] = {1, MOST_HEADS, {"encoder_attention_heads", "num_attention_heads", "num_heads"}},
    [RIDGE__F_KV_HEADS] = {1, MOST_HEADS, {"num_key_value_heads", "n_head_kv", "num_kv_heads", "n_kv_heads", "attn_config.kv_n_heads", "num_attention_groups"}},
    [RIDGE__F_HEAD_DIM] = {1, MOST_HEADS, {"head_dim", "attention_head_dim", "kv_channels", "d_kv"}},
    [RIDGE__F_D_FF] = {1, MOST_WIDTH, {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "d_ff", "hidden_dim", "inter_dim", "ff_intermediate_size", "ffn_config.ffn_hidden_size", "decoder_ffn_dim", "intermediate_dim"}},
    [RIDGE__F_ENCODER_D_FF] = {1, MOST_WIDTH, {"encoder_ffn_dim", "d_ff", "intermediate_size"}},
    [RIDGE__F_DENSE_D_FF] = {1, MOST_WIDTH, {"intermediate_size_mlp", "dense_intermediate_size"}},
    [RIDGE__F_VOCAB] = {-1, MOST_ROWS, {"vocab_size", "padded_vocab_size"}},
    [RIDGE__F_POSITIONS] = {1, MOST_ROWS, {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length", "max_sequence_length", "max_target_positions"}},
    [RIDGE__F_TYPES] = {0, MOST_HEADS, {"type_vocab_size"}},
    [RIDGE__F_EMBEDDING] = {1, MOST_WIDTH, {"embedding_size", "word_embed_proj_dim"}},
    [RIDGE__F_WINDOW] = {0, MOST_ROWS, {"sliding_window", "sliding_window_size", "window_size", "local_attention"}},
    [RIDGE__F_CHUNK] = {1, MOST_ROWS, {"attention_chunk_size"}},
    [RIDGE__F_EXPERTS] = {0, MOST_HEADS, {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "ffn_config.moe_num_experts"}},
    [RIDGE__F_EXPERTS_PER_TOKEN] = {1, MOST_HEADS, {"num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_top_k", "moe_topk", "moe_k", "n_activated_experts", "ffn_config.moe_top_k", "top_k_experts"}},
    [RIDGE__F_EXPERT_GROUPS] = {0, MOST_HEADS, {"n_group", "moe_router_num_groups"}},
    [RIDGE__F_GROUPS_PER_TOKEN] = {0, MOST_HEADS, {"topk_group", "moe_router_group_topk"}},
    [RIDGE__F_EXPERT_D_FF] = {1, MOST_WIDTH, {"moe_intermediate_size", "expert_intermediate_size", "moe_inter_dim"}},
    [RIDGE__F_SHARED_EXPERTS] = {0, MOST_HEADS, {"n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts"}},
    [RIDGE__F_SHARED_D_FF] = {0, MOST_WIDTH, {"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim"}},
    [RIDGE__F_LATENT_WIDTH] = {1, MOST_WIDTH, {"moe_latent_size", "routed_expert_hidden_size"}},
    [RIDGE__F_FIRST_DENSE] = {0, MOST_LAYERS, {"first_k_dense_replace", "num_dense_layers", "n_dense_layers"}},
    [RIDGE__F_KV_LORA] = {0, MOST_WIDTH, {"kv_lora_rank"}},
    [RIDGE__F_Q_LORA] = {0, MOST_WIDTH, {"q_lora_rank"}},
    [RIDGE__F_NOPE_DIM] = {0, MOST_HEADS, {"qk_nope_head_dim"}},
    [RIDGE__F_ROPE_DIM] = {0, MOST_HEADS, {"qk_rope_head_dim"}},
    [RIDGE__F_V_DIM] = {0, MOST_HEADS, {"v_head_dim"}},
    [RIDGE__F_INDEX_HEADS] = {1, MOST_HEADS, {"index_n_heads", "sparse_attention_config.sparse_num_index_heads"}},
    [RIDGE__F_INDEX_DIM] = {1, MOST_HEADS, {"index_head_dim", "sparse_attention_config.sparse_index_dim"}},
    [RIDGE__F_INDEX_TOPK] = {1, MOST_ROWS, {"index_topk"}},
    [RIDGE__F_O_LORA] = {1, MOST_WIDTH, {"o_lora_rank"}},
    [RIDGE__F_O_GROUPS] = {1, MOST_HEADS, {"o_groups"}},
    [RIDGE__F_STREAMS] = {1, 1000, {"hc_mult"}},
    [RIDGE__F_LINEAR_KEY_HEADS] = {1, MOST_HEADS, {"linear_num_key_heads", "linear_attn_config.num_heads"}},
    [RIDGE__F_LINEAR_KEY_DIM] = {1, MOST_HEADS, {"linear_key_head_dim", "linear_attn_config.head_dim"}},
    [RIDGE__F_LINEAR_VALUE_HEADS] = {1, MOST_HEADS, {"linear_num_value_heads", "linear_attn_config.num_heads"}},
    [RIDGE__F_LINEAR_VALUE_DIM] = {1, MOST_HEADS, {"linear_value_head_dim", "linear_attn_config.head_dim"}},
    [RIDGE__F_CONV_KERNEL] = {1, MOST_HEADS, {"linear_conv_kernel_dim", "conv_kernel", "mamba_d_conv", "conv_L_cache", "linear_attn_config.short_conv_kernel_size"}},
    [RIDGE__F_SSM_HEADS] = {1, MOST_HEADS, {"mamba_num_heads", "mamba_n_heads"}},
    [RIDGE__F_SSM_HEAD_DIM] = {1, MOST_HEADS, {"mamba_head_dim", "mamba_d_head"}},
    [RIDGE__F_SSM_STATE] = {1, MOST_HEADS, {"ssm_state_size", "mamba_d_state"}},
    [RIDGE__F_SSM_GROUPS] = {1, MOST_HEADS, {"n_groups", "mamba_n_groups"}},
    [RIDGE__F_GLOBAL_HEAD_DIM] = {1, MOST_HEADS, {"global_head_dim"}},
    [RIDGE__F_GLOBAL_KV_HEADS] = {1, MOST_HEADS, {"num_global_key_value_heads"}},
    [RIDGE__F_KV_SHARED_LAYERS] = {0, MOST_LAYERS, {"num_kv_shared_layers"}},
    [RIDGE__F_PER_LAYER_WIDTH] = {0, MOST_WIDTH, {"hidden_size_per_layer_input"}},
    [RIDGE__F_PER_LAYER_VOCAB] = {1, MOST_ROWS, {"vocab_size_per_layer_input"}},
    [RIDGE__F_MTP_LAYERS] = {0, 1000, {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}},
};
/* clang-format on */

_Static_assert(RIDGE_COUNT_OF(FIELDS) == RIDGE__F_COUNT, "one row per field");

bool ridge__arch_has(const ridge__config *c, unsigned flag)
{
    return (c->arch->flags & flag) != 0;
}

bool ridge__has_encoder(const ridge__config *c, const ridge__choice *choice)
{
    return choice->is_encoder && ridge__arch_has(c, RIDGE__A_ENCODER_DECODER);
}

/* The member of an object within text. The object's node must outlive the result, so it
 * is kept in the arena. */
static ridge_node find_within(const ridge__config *c, const char *key, const char *dot)
{
    const ridge_node none = {.doc = c->text.doc};
    ridge_arena *arena = ridge_ctx_arena(c->cx);
    const char *name = ridge_str_dup(arena, (ridge_str){key, (size_t)(dot - key)});
    ridge_node *object = ridge_new(arena, ridge_node, 1);
    if (name == NULL || object == NULL)
        return none;
    *object = ridge_json_get(&c->text, name);
    return ridge_json_is_absent(*object) ? none : ridge_json_get(object, dot + 1);
}

ridge_node ridge__config_find(const ridge__config *c, const char *key)
{
    const char *dot = strchr(key, '.');
    return dot == NULL ? ridge_json_get(&c->text, key) : find_within(c, key, dot);
}

static ridge_node find_field(const ridge__config *c, const field_row *row)
{
    for (int i = 0; i < KEY_MAX && row->keys[i] != NULL; i++) {
        ridge_node n = ridge__config_find(c, row->keys[i]);
        if (!ridge_json_is_absent(n))
            return n;
    }
    return (ridge_node){.doc = c->text.doc};
}

ridge_status ridge__config_get(const ridge__config *c, ridge__field field,
                               int64_t otherwise, int64_t *out)
{
    const field_row *row = &FIELDS[field];
    ridge_node n = find_field(c, row);
    if (ridge_json_is_absent(n)) {
        *out = otherwise;
        return RIDGE_OK;
    }
    return ridge_json_want_i64(c->cx, n, row->low, row->high, out);
}

ridge_status ridge__config_need(const ridge__config *c, ridge__field field,
                                int64_t *out)
{
    const field_row *row = &FIELDS[field];
    ridge_node n = find_field(c, row);
    if (!ridge_json_is_absent(n))
        return ridge_json_want_i64(c->cx, n, row->low, row->high, out);
    ridge_buf names;
    ridge_buf_init(&names, ridge_ctx_scratch(c->cx));
    for (int i = 1; i < KEY_MAX && row->keys[i] != NULL; i++)
        ridge_buf_printf(&names, "%s%s", i == 1 ? " (or " : ", ", row->keys[i]);
    if (names.n > 0)
        ridge_buf_puts(&names, ")");
    return ridge_json_fail(c->cx, c->text, "missing %s%s: a %s model needs it",
                           row->keys[0], ridge_buf_text(&names), c->arch_name);
}

ridge_status ridge__config_assume(ridge__config *c, ridge__field field, int64_t usual,
                                  int64_t *out)
{
    const field_row *row = &FIELDS[field];
    if (usual > 0 && ridge_json_is_absent(find_field(c, row))) {
        ridge__config_guess(c, "%s is absent: %lld taken, as usual for %s",
                            row->keys[0], (long long)usual, c->arch_name);
    }
    return ridge__config_get(c, field, usual, out);
}

ridge_status ridge__config_usual(ridge__config *c, ridge__field field, int64_t usual,
                                 int64_t *out)
{
    const field_row *row = &FIELDS[field];
    if (!c->is_nested || usual == 0 || !ridge_json_is_absent(find_field(c, row)))
        return ridge__config_need(c, field, out);
    return ridge__config_assume(c, field, usual, out);
}

ridge_status ridge__config_flag(const ridge__config *c, const char *key, bool otherwise,
                                bool *out)
{
    *out = otherwise;
    if (key == NULL)
        return RIDGE_OK;
    const bool is_inverted = key[0] == '!';
    ridge_node n = ridge__config_find(c, is_inverted ? key + 1 : key);
    bool value;
    if (ridge_json_is_absent(n))
        return RIDGE_OK;
    if (ridge_json_bool(n, &value)) {
        *out = value != is_inverted;
        return RIDGE_OK;
    }
    return ridge_json_fail(c->cx, n, "expected true or false");
}

ridge_status ridge__config_switch(const ridge__config *c, const char *key,
                                  unsigned flag, bool *out)
{
    return ridge__config_flag(c, key, ridge__arch_has(c, flag), out);
}

const char *ridge__config_text(const ridge__config *c, const char *key,
                               const char *otherwise)
{
    const char *text = otherwise;
    return ridge_json_text(ridge__config_find(c, key), &text) ? text : otherwise;
}

bool ridge__config_marks(const ridge__config *c, const char *key, int64_t base,
                         bool *marks)
{
    ridge_node list = ridge__config_find(c, key);
    if (ridge_json_kind_of(list) != RIDGE_JSON_ARRAY)
        return false;
    for (size_t i = 0; i < ridge_json_size(list); i++) {
        int64_t v;
        if (!ridge_json_i64(ridge_json_at(&list, i), &v))
            return false;
        if (v >= base && v - base < c->layer_count)
            marks[v - base] = true;
    }
    return true;
}

/* @return its index; -1 if it is there already, or there is no room */
RIDGE_PRINTF(2, 0)
static int add_note(ridge__config *c, const char *fmt, va_list args)
{
    char text[NOTE_CHARS];
    vsnprintf(text, sizeof text, fmt, args);
    for (char *p = text; *p != '\0'; p++) {
        if ((unsigned char)*p < ' ')
            *p = '?';
    }
    for (int i = 0; i < c->model->n_notes; i++) {
        if (strcmp(c->model->notes[i], text) == 0)
            return -1;
    }
    if (c->model->n_notes == RIDGE_NOTE_MAX)
        return -1;
    const char *note = ridge_str_dup(ridge_ctx_arena(c->cx), ridge_str_of(text));
    if (note == NULL)
        return -1;
    c->model->notes[c->model->n_notes] = note;
    return c->model->n_notes++;
}

void ridge__config_note(ridge__config *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_note(c, fmt, args);
    va_end(args);
}

void ridge__config_guess(ridge__config *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int at = add_note(c, fmt, args);
    va_end(args);
    if (at >= 0)
        c->model->guesses |= 1u << at;
}
