/* The weights of a layer, from which every count follows: matrices with their shapes
 * and splits, and the vectors beside them. */
#include "config.h"

#include <string.h>

const char *ridge_mixer_kind_text(ridge_mixer_kind kind)
{
    static const char *const TEXTS[] = {[RIDGE_MIXER_NONE] = "none",
                                        [RIDGE_MIXER_ATTENTION] = "attention",
                                        [RIDGE_MIXER_MLA] = "latent attention",
                                        [RIDGE_MIXER_DELTA] = "gated delta net",
                                        [RIDGE_MIXER_LIGHTNING] = "linear attention",
                                        [RIDGE_MIXER_SSM] = "state space",
                                        [RIDGE_MIXER_CONV] = "short convolution"};
    return TEXTS[kind];
}

/* A list being filled. */
typedef struct list {
    ridge_weight *out; /* [RIDGE_WEIGHT_MAX] */
    int n;
    int64_t d_model;
} list;

static void add_matrix(list *l, const char *name, ridge_split split, int64_t in,
                       int64_t out)
{
    l->out[l->n++] = (ridge_weight){.name = name,
                                    .part = RIDGE_PART_ATTENTION,
                                    .split = split,
                                    .in = in,
                                    .out = out,
                                    .copies = 1,
                                    .active_copies = 1};
}

/* Vector parameters of the last weight. */
static void add_bias(list *l, bool has_bias, int64_t params)
{
    if (!has_bias)
        return;
    l->out[l->n - 1].vector_params = params;
    l->out[l->n - 1].active_vector_params = params;
}

static void add_vector(list *l, const char *name, ridge_part part, ridge_split split,
                       int64_t params)
{
    if (params == 0)
        return;
    add_matrix(l, name, split, 0, 0);
    add_bias(l, true, params);
    l->out[l->n - 1].part = part;
}

static void add_mlp_matrix(list *l, const char *name, ridge_split split, int64_t in,
                           int64_t out)
{
    add_matrix(l, name, split, in, out);
    l->out[l->n - 1].part = RIDGE_PART_MLP;
}

/* The indexer of MiniMax M3 scores blocks from D; DeepSeek's takes its queries from the
 * low-rank queries and weighs its heads; DeepSeek-V4's keys are compressed. */
static void add_index(list *l, const ridge_mixer *m)
{
    const int64_t width = m->index_heads * m->index_head_dim;
    if (m->index_heads == 0)
        return;
    if (m->kind == RIDGE_MIXER_ATTENTION) {
        add_matrix(l, "index_q", RIDGE_SPLIT_NONE, l->d_model, width);
        add_matrix(l, "index_k", RIDGE_SPLIT_NONE, l->d_model, m->index_head_dim);
        add_vector(l, "index_norm", RIDGE_PART_NORM, RIDGE_SPLIT_NONE,
                   2 * m->index_head_dim);
        return;
    }
    const int64_t source = m->q_lora_rank > 0 ? m->q_lora_rank : l->d_model;
    add_matrix(l, "index_q", RIDGE_SPLIT_NONE, source, width);
    add_matrix(l, "index_weights", RIDGE_SPLIT_NONE, l->d_model, m->index_heads);
    if (m->is_latent_only) {
        const int64_t doubled = 2 * m->index_head_dim;
        add_matrix(l, "index_compress", RIDGE_SPLIT_NONE, l->d_model, 2 * doubled);
        add_bias(l, true, m->compress_ratio * doubled);
        add_vector(l, "index_norm", RIDGE_PART_NORM, RIDGE_SPLIT_NONE,
                   m->index_head_dim);
    } else {
        add_matrix(l, "index_k", RIDGE_SPLIT_NONE, l->d_model, m->index_head_dim);
        add_vector(l, "index_norm", RIDGE_PART_NORM, RIDGE_SPLIT_NONE,
                   2 * m->index_head_dim);
    }
}

/* wk and wv, unless they are another layer's. */
static void add_keys_values(list *l, const ridge_mixer *m)
{
    const int64_t k_width = m->kv_heads * m->head_dim;
    const int64_t v_width = m->kv_heads * m->v_head_dim;
    if (m->has_shared_kv)
        return;
    add_matrix(l, "wk", RIDGE_SPLIT_KV, l->d_model, k_width);
    add_bias(l, m->has_qkv_bias && !m->is_key_unbiased, k_width);
    if (m->has_joint_kv)
        return;
    add_matrix(l, "wv", RIDGE_SPLIT_KV, l->d_model, v_width);
    add_bias(l, m->has_qkv_bias, v_width);
}

static void add_attention(list *l, const ridge_mixer *m)
{
    const int64_t width = m->heads * m->head_dim;
    const int64_t q_width = m->has_out_gate ? 2 * width : width;
    add_matrix(l, "wq", RIDGE_SPLIT_HEADS, l->d_model, q_width);
    add_bias(l, m->has_qkv_bias, q_width);
    add_keys_values(l, m);
    if (m->gate_width > 0)
        add_matrix(l, "wg", RIDGE_SPLIT_HEADS, l->d_model, m->gate_width);
    add_matrix(l, "wo", RIDGE_SPLIT_IN, m->heads * m->v_head_dim, l->d_model);
    add_bias(l, m->has_out_bias, l->d_model);
    add_vector(l, "qk_norm", RIDGE_PART_NORM, RIDGE_SPLIT_NONE, m->qk_norm_width);
    add_index(l, m);
}

/* Low-rank or plain queries. */
static void add_latent_queries(list *l, const ridge_mixer *m)
{
    const int64_t width = m->heads * m->head_dim;
    if (m->q_lora_rank == 0) {
        add_matrix(l, "wq", RIDGE_SPLIT_HEADS, l->d_model, width);
        return;
    }
    add_matrix(l, "q_a", RIDGE_SPLIT_NONE, l->d_model, m->q_lora_rank);
    add_bias(l, m->has_qkv_bias, m->q_lora_rank);
    add_vector(l, "q_a_norm", RIDGE_PART_NORM, RIDGE_SPLIT_NONE, m->q_lora_rank);
    add_matrix(l, "q_b", RIDGE_SPLIT_HEADS, m->q_lora_rank, width);
}

/* @source deepseek-v2-2024, section 2.1 */
static void add_mla(list *l, const ridge_mixer *m)
{
    const int64_t cached = m->kv_lora_rank + m->rope_head_dim;
    const int64_t nope = m->head_dim - m->rope_head_dim;
    add_latent_queries(l, m);
    add_matrix(l, "kv_a", RIDGE_SPLIT_NONE, l->d_model, cached);
    add_bias(l, m->has_qkv_bias, cached);
    add_vector(l, "kv_a_norm", RIDGE_PART_NORM, RIDGE_SPLIT_NONE, m->kv_lora_rank);
    add_matrix(l, "kv_b", RIDGE_SPLIT_HEADS, m->kv_lora_rank,
               m->heads * (nope + m->v_head_dim));
    if (m->gate_width > 0)
        add_matrix(l, "wg", RIDGE_SPLIT_HEADS, l->d_model, m->gate_width);
    add_matrix(l, "wo", RIDGE_SPLIT_IN, m->heads * m->v_head_dim, l->d_model);
    add_bias(l, m->has_out_bias, l->d_model);
    add_index(l, m);
}

/* Compression of entries beyond the window: at ratio 4 blocks overlap, and widths
 * double. Gate and values of as many numbers, a table of positions, a norm. */
static void add_compressor(list *l, const ridge_mixer *m)
{
    const int64_t width = m->compress_ratio == 4 ? 2 * m->head_dim : m->head_dim;
    if (m->compress_ratio == 0)
        return;
    add_matrix(l, "compress", RIDGE_SPLIT_NONE, l->d_model, 2 * width);
    add_bias(l, true, m->compress_ratio * width);
    add_vector(l, "compress_norm", RIDGE_PART_NORM, RIDGE_SPLIT_NONE, m->head_dim);
}

static void add_latent(list *l, const ridge_mixer *m)
{
    const int64_t width = m->heads * m->head_dim;
    const int64_t low = m->o_groups * m->o_lora_rank;
    add_latent_queries(l, m);
    add_matrix(l, "wkv", RIDGE_SPLIT_NONE, l->d_model, m->head_dim);
    add_vector(l, "kv_norm", RIDGE_PART_NORM, RIDGE_SPLIT_NONE, m->head_dim);
    add_compressor(l, m);
    /* Each group's heads map to its own rank: width x o_lora_rank weights. */
    add_matrix(l, "o_a", RIDGE_SPLIT_HEADS, width / m->o_groups, low);
    add_matrix(l, "o_b", RIDGE_SPLIT_IN, low, l->d_model);
    add_index(l, m);
}

static void add_delta(list *l, const ridge_mixer *m)
{
    const int64_t keys = m->key_heads * m->key_head_dim;
    const int64_t values = m->value_heads * m->value_head_dim;
    add_matrix(l, "in_qkvz", RIDGE_SPLIT_HEADS, l->d_model, 2 * keys + 2 * values);
    add_matrix(l, "in_ba", RIDGE_SPLIT_HEADS, l->d_model, 2 * m->value_heads);
    add_vector(l, "conv", RIDGE_PART_ATTENTION, RIDGE_SPLIT_HEADS,
               (2 * keys + values) * m->conv_kernel);
    /* Decay and time step by head. */
    add_vector(l, "decay", RIDGE_PART_ATTENTION, RIDGE_SPLIT_HEADS, 2 * m->value_heads);
    add_vector(l, "out_norm", RIDGE_PART_NORM, RIDGE_SPLIT_NONE, m->value_head_dim);
    add_matrix(l, "out", RIDGE_SPLIT_IN, values, l->d_model);
}

/* A map to a width, straight or through a rank. */
static void add_through_rank(list *l, const char *first, const char *second,
                             int64_t rank, int64_t width)
{
    if (rank > 0)
        add_matrix(l, first, RIDGE_SPLIT_NONE, l->d_model, rank);
    add_matrix(l, second, RIDGE_SPLIT_HEADS, rank > 0 ? rank : l->d_model, width);
}

static void add_lightning(list *l, const ridge_mixer *m)
{
    const int64_t keys = m->key_heads * m->key_head_dim;
    const int64_t values = m->value_heads * m->value_head_dim;
    add_matrix(l, "wq", RIDGE_SPLIT_HEADS, l->d_model, keys);
    add_matrix(l, "wk", RIDGE_SPLIT_HEADS, l->d_model, keys);
    add_matrix(l, "wv", RIDGE_SPLIT_HEADS, l->d_model, values);
    add_vector(l, "conv", RIDGE_PART_ATTENTION, RIDGE_SPLIT_HEADS,
               (2 * keys + values) * m->conv_kernel);
    if (m->decay_rank > 0) { /* a decay each channel, a step each head */
        add_through_rank(l, "decay_a", "decay_b", m->decay_rank, keys);
        add_vector(l, "decay", RIDGE_PART_ATTENTION, RIDGE_SPLIT_HEADS,
                   m->key_heads + keys);
        add_matrix(l, "step", RIDGE_SPLIT_HEADS, l->d_model, m->key_heads);
    }
    add_through_rank(l, "gate_a", "gate", m->gate_rank, values);
    add_vector(l, "out_norm", RIDGE_PART_NORM, RIDGE_SPLIT_NONE,
               m->decay_rank > 0 ? m->value_head_dim : values);
    add_matrix(l, "out", RIDGE_SPLIT_IN, values, l->d_model);
}

static void add_state_space(list *l, const ridge_mixer *m)
{
    const int64_t inner = m->heads * m->head_dim;
    const int64_t conv = inner + 2 * m->state_groups * m->state_size;
    const int64_t in_width = inner + conv + m->heads;
    add_matrix(l, "in_proj", RIDGE_SPLIT_HEADS, l->d_model, in_width);
    add_bias(l, m->has_proj_bias, in_width);
    add_vector(l, "conv", RIDGE_PART_ATTENTION, RIDGE_SPLIT_HEADS,
               conv * m->conv_kernel + (m->has_conv_bias ? conv : 0));
    /* Decay, time step and skip by head. */
    add_vector(l, "decay", RIDGE_PART_ATTENTION, RIDGE_SPLIT_HEADS, 3 * m->heads);
    add_vector(l, "out_norm", RIDGE_PART_NORM, RIDGE_SPLIT_NONE, inner);
    add_matrix(l, "out", RIDGE_SPLIT_IN, inner, l->d_model);
    add_bias(l, m->has_proj_bias, l->d_model);
}

static void add_convolution(list *l, const ridge_mixer *m)
{
    const int64_t d = l->d_model;
    add_matrix(l, "in_proj", RIDGE_SPLIT_OUT, d, 3 * d);
    add_bias(l, m->has_proj_bias, 3 * d);
    add_vector(l, "conv", RIDGE_PART_ATTENTION, RIDGE_SPLIT_OUT,
               d * m->conv_kernel + (m->has_conv_bias ? d : 0));
    add_matrix(l, "out", RIDGE_SPLIT_IN, d, d);
    add_bias(l, m->has_proj_bias, d);
}

static void add_mixer(list *l, const ridge_mixer *m)
{
    switch (m->kind) {
    case RIDGE_MIXER_NONE:
        return;
    case RIDGE_MIXER_ATTENTION:
        add_attention(l, m);
        break;
    case RIDGE_MIXER_MLA:
        if (m->is_latent_only) {
            add_latent(l, m);
        } else {
            add_mla(l, m);
        }
        break;
    case RIDGE_MIXER_DELTA:
        add_delta(l, m);
        break;
    case RIDGE_MIXER_LIGHTNING:
        add_lightning(l, m);
        break;
    case RIDGE_MIXER_SSM:
        add_state_space(l, m);
        break;
    case RIDGE_MIXER_CONV:
        add_convolution(l, m);
        break;
    }
    if (m->has_sinks)
        add_vector(l, "sinks", RIDGE_PART_ATTENTION, RIDGE_SPLIT_HEADS, m->heads);
    add_vector(l, "extra", RIDGE_PART_ATTENTION, RIDGE_SPLIT_NONE, m->extra_params);
}

/* Three matrices, or two if not gated. */
static void add_feed_forward(list *l, const char *const names[3], const ridge_ffn *f,
                             int64_t width)
{
    for (int i = f->is_gated ? 0 : 1; i < 2; i++) {
        add_mlp_matrix(l, names[i], RIDGE_SPLIT_OUT, l->d_model, width);
        add_bias(l, f->has_bias, width);
    }
    add_mlp_matrix(l, names[2], RIDGE_SPLIT_IN, width, l->d_model);
    add_bias(l, f->has_bias, l->d_model);
}

/* The same for each of E experts, of which a token meets k. */
static void add_expert_matrices(list *l, const ridge_ffn *f, int64_t width)
{
    static const char *const NAMES[3] = {"expert_gate", "expert_up", "expert_down"};
    const int start = l->n;
    const int64_t outer = l->d_model;
    l->d_model = width;
    add_feed_forward(l, NAMES, f, f->expert_d_ff);
    l->d_model = outer;
    for (int i = start; i < l->n; i++) {
        ridge_weight *w = &l->out[i];
        w->part = RIDGE_PART_EXPERTS;
        w->copies = f->experts;
        w->active_copies = f->experts_per_token;
        w->active_vector_params = f->experts_per_token * w->vector_params;
        w->vector_params *= f->experts;
    }
}

static void add_experts(list *l, const ridge_ffn *f)
{
    static const char *const SHARED[3] = {"shared_gate", "shared_up", "shared_down"};
    const int64_t width = f->latent_width > 0 ? f->latent_width : l->d_model;
    add_matrix(l, "router", RIDGE_SPLIT_NONE, l->d_model, f->experts);
    add_bias(l, f->has_router_bias, f->experts);
    l->out[l->n - 1].part = RIDGE_PART_ROUTER;
    if (f->latent_width > 0)
        add_mlp_matrix(l, "latent_down", RIDGE_SPLIT_NONE, l->d_model, width);
    add_expert_matrices(l, f, width);
    if (f->latent_width > 0)
        add_mlp_matrix(l, "latent_up", RIDGE_SPLIT_NONE, width, l->d_model);
    if (f->shared_d_ff > 0)
        add_feed_forward(l, SHARED, f, f->shared_d_ff);
    if (f->has_shared_gate)
        add_mlp_matrix(l, "shared_scale", RIDGE_SPLIT_NONE, l->d_model, 1);
}

static void add_ffn(list *l, const ridge_ffn *f)
{
    static const char *const DENSE[3] = {"w_gate", "w_up", "w_down"};
    if (f->kind == RIDGE_FFN_MOE)
        add_experts(l, f);
    if (f->d_ff > 0)
        add_feed_forward(l, DENSE, f, f->d_ff);
}

/* A second attention, from the decoder to the encoder's output. */
static void add_cross(list *l, const ridge_mixer *m)
{
    const int start = l->n;
    static const char *const NAMES[] = {"cross_q", "cross_k", "cross_v", "cross_o"};
    add_attention(l, m);
    for (int i = start; i < l->n && i - start < (int)RIDGE_COUNT_OF(NAMES); i++)
        l->out[i].name = NAMES[i - start];
}

/* Gemma 4's embedding of each layer: a share of the projection that is added to it, a
 * gate to its width, and a map back. */
static void add_per_layer(list *l, int64_t width)
{
    if (width == 0)
        return;
    add_mlp_matrix(l, "per_layer_in", RIDGE_SPLIT_NONE, l->d_model, width);
    add_mlp_matrix(l, "per_layer_gate", RIDGE_SPLIT_NONE, l->d_model, width);
    add_mlp_matrix(l, "per_layer_out", RIDGE_SPLIT_NONE, width, l->d_model);
}

int ridge_layer_weights(const ridge_model *model, const ridge_layer *layer,
                        ridge_weight *out)
{
    list l = {.out = out, .d_model = model->d_model};
    add_vector(&l, "norms", RIDGE_PART_NORM, RIDGE_SPLIT_NONE, layer->norm_params);
    add_mixer(&l, &layer->mixer);
    if (layer->has_cross)
        add_cross(&l, &layer->mixer);
    add_ffn(&l, &layer->ffn);
    add_per_layer(&l, layer->per_layer_width);
    return l.n;
}
