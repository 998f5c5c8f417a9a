/*
 * Which arrays of a layer the backward pass needs, and which of them each remat policy
 * keeps. One list per mixer and feed-forward kind; bytes are sums over the list.
 */
#include "ridge/model.h"

#include <assert.h>
#include <string.h>

/* Sets of policies that keep an array. */
enum {
    KEEP_NONE = 1u << RIDGE_REMAT_NONE,
    KEEP_SELECTIVE = 1u << RIDGE_REMAT_SELECTIVE,
    KEEP_MATMULS = 1u << RIDGE_REMAT_MATMULS,
    KEEP_ELEMENTWISE = 1u << RIDGE_REMAT_ELEMENTWISE,
    KEEP_FFN = 1u << RIDGE_REMAT_FFN,
    KEEP_FULL = 1u << RIDGE_REMAT_FULL,
    BY_OUTPUT = KEEP_NONE | KEEP_SELECTIVE | KEEP_MATMULS | KEEP_ELEMENTWISE,
    BY_ALL = BY_OUTPUT | KEEP_FFN | KEEP_FULL,    /* layer input */
    BY_ELEMENT = KEEP_NONE | KEEP_SELECTIVE,      /* made elementwise */
    BY_SCORES = BY_ELEMENT | KEEP_ELEMENTWISE,    /* made by attention or a scan */
    BY_MATMULS = KEEP_MATMULS | KEEP_ELEMENTWISE, /* a matmul's output that elementwise
                                                     work replaces */
    BY_NONE = KEEP_NONE | KEEP_ELEMENTWISE        /* softmax statistics */
};

enum { ELEMENT_BYTES = 2, FLOAT_BYTES = 4 };

/* A product of dims, in floating point: no overflow to check. */
static double times(int64_t a, int64_t b)
{
    return (double)a * (double)b;
}

typedef struct saved_list {
    ridge_saved *out;
    int n;
} saved_list;

/* Arrays that the backward pass needs for the gradients of weights alone. Attention
 * keeps its own output for its own backward pass, so that one is no operand. */
static bool is_operand(const char *name)
{
    static const char *const names[] = {"mixer_norm", "ffn_norm", "activation",
                                        "expert_in", "cross_norm"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

static void add(saved_list *list, ridge_saved saved)
{
    if (saved.width <= 0)
        return;
    assert(list->n < RIDGE_SAVED_MAX);
    saved.is_operand = is_operand(saved.name);
    list->out[list->n++] = saved;
}

/* An array that every TP rank holds whole, or its share of the sequence under SP. */
static void add_whole(saved_list *list, const char *name, double width, unsigned by)
{
    add(list, (ridge_saved){.name = name,
                            .width = width,
                            .bytes_per_element = ELEMENT_BYTES,
                            .kept_by = by});
}

/* An array of features that TP splits, at most @p most ways (0: any). */
static void add_split(saved_list *list, const char *name, double width, int64_t most,
                      unsigned by)
{
    add(list, (ridge_saved){.name = name,
                            .width = width,
                            .bytes_per_element = ELEMENT_BYTES,
                            .is_split_by_tp = true,
                            .split_most = most,
                            .kept_by = by});
}

static void add_softmax(saved_list *list, int64_t heads)
{
    add(list, (ridge_saved){.name = "softmax_sum",
                            .width = (double)heads,
                            .bytes_per_element = FLOAT_BYTES,
                            .is_split_by_tp = true,
                            .kept_by = BY_NONE});
}

/* Queries, keys, values, output of attention. Rotary needs nothing of its own: its
 * backward pass turns the other way. */
static void list_attention(saved_list *list, const ridge_mixer *m)
{
    int64_t k = m->kv_heads, v_dim = m->v_head_dim > 0 ? m->v_head_dim : m->head_dim;
    double q_width = times(m->heads, m->head_dim), k_width = times(k, m->head_dim);
    double out_width = times(m->heads, v_dim);
    const bool has_norm = m->qk_norm_width > 0;
    const unsigned by = has_norm ? (unsigned)BY_ELEMENT : (unsigned)BY_OUTPUT;
    if (has_norm)
        add_split(list, "q_raw", q_width, 0, BY_OUTPUT);
    add_split(list, "q", q_width, 0, by);
    if (!m->has_shared_kv) { /* otherwise an earlier layer keeps them */
        if (has_norm)
            add_split(list, "k_raw", k_width, k, BY_OUTPUT);
        add_split(list, "k", k_width, k, by);
        add_split(list, "v", times(k, v_dim), k, BY_OUTPUT);
    }
    add_softmax(list, m->heads);
    if (m->has_out_gate || m->gate_width > 0) {
        const double gate = m->gate_width > 0 ? (double)m->gate_width : out_width;
        add_split(list, "out_gate", gate, 0, BY_OUTPUT);
        add_split(list, "attention_out", out_width, 0, BY_SCORES);
        add_split(list, "out_proj_in", out_width, 0, BY_ELEMENT);
        return;
    }
    add_split(list, "out_proj_in", out_width, 0, BY_SCORES);
}

/* Latents are held whole by each rank; queries, keys and values are split by heads. */
static void list_mla(saved_list *list, const ridge_mixer *m)
{
    double q_width = times(m->heads, m->head_dim);
    double v_width = times(m->heads, m->v_head_dim);
    double nope_width = times(m->heads, m->head_dim - m->rope_head_dim);
    add_whole(list, "q_latent", (double)m->q_lora_rank, BY_OUTPUT);
    add_whole(list, "q_latent_norm", (double)m->q_lora_rank, BY_ELEMENT);
    add_split(list, "q", q_width, 0, BY_OUTPUT);
    if (m->is_latent_only) { /* one head of keys, which are the values too */
        add_whole(list, "kv_latent", (double)m->head_dim, BY_OUTPUT);
        add_whole(list, "kv_latent_norm", (double)m->head_dim, BY_ELEMENT);
    } else {
        add_whole(list, "kv_latent", (double)(m->kv_lora_rank + m->rope_head_dim),
                  BY_OUTPUT);
        add_whole(list, "kv_latent_norm", (double)m->kv_lora_rank, BY_ELEMENT);
        add_split(list, "k", q_width, 0, BY_ELEMENT);
        add_split(list, "v", v_width, 0, BY_ELEMENT);
        add_split(list, "kv_up", nope_width + v_width, 0, BY_MATMULS);
    }
    add_softmax(list, m->heads);
    add_split(list, "out_proj_in", v_width, 0, BY_SCORES);
    add_split(list, "out_latent", times(m->o_groups, m->o_lora_rank), 0, BY_OUTPUT);
    add_whole(list, "index_k", (double)m->index_head_dim, BY_OUTPUT);
    add_split(list, "index_q", times(m->index_heads, m->index_head_dim), 0, BY_OUTPUT);
}

/* Linear attention: projections, what the convolution makes of them, output and gate.
 * States between chunks are computed again in the backward pass. */
static void list_linear(saved_list *list, const ridge_mixer *m)
{
    double k_width = times(m->key_heads, m->key_head_dim);
    double v_width = times(m->value_heads, m->value_head_dim);
    add_split(list, "qkv", 2 * k_width + v_width, 0, BY_OUTPUT);
    if (m->conv_kernel > 0)
        add_split(list, "qkv_conv", 2 * k_width + v_width, 0, BY_ELEMENT);
    if (m->kind == RIDGE_MIXER_DELTA)
        add_split(list, "beta_decay", 2.0 * (double)m->value_heads, 0, BY_OUTPUT);
    add_split(list, "out_gate", v_width, 0, BY_OUTPUT);
    add_split(list, "scan_out", v_width, 0, BY_SCORES);
    add_split(list, "out_proj_in", v_width, 0, BY_ELEMENT);
}

static void list_ssm(saved_list *list, const ridge_mixer *m)
{
    double inner = times(m->heads, m->head_dim);
    double conv = inner + 2 * times(m->state_groups, m->state_size);
    add_split(list, "gate", inner, 0, BY_OUTPUT);
    add_split(list, "xbc", conv, 0, BY_OUTPUT);
    add_split(list, "dt", (double)m->heads, 0, BY_OUTPUT);
    add_split(list, "xbc_conv", conv, 0, BY_ELEMENT);
    add_split(list, "scan_out", inner, 0, BY_SCORES);
    add_split(list, "out_proj_in", inner, 0, BY_ELEMENT);
}

static void list_mixer(saved_list *list, const ridge_mixer *m, double d_model)
{
    switch (m->kind) {
    case RIDGE_MIXER_NONE:
        return;
    case RIDGE_MIXER_ATTENTION:
        list_attention(list, m);
        return;
    case RIDGE_MIXER_MLA:
        list_mla(list, m);
        return;
    case RIDGE_MIXER_DELTA:
    case RIDGE_MIXER_LIGHTNING:
        list_linear(list, m);
        return;
    case RIDGE_MIXER_SSM:
        list_ssm(list, m);
        return;
    case RIDGE_MIXER_CONV: /* two gates and the input, and the convolution's output */
        add_split(list, "gates_input", 3 * d_model, 0, BY_OUTPUT);
        add_split(list, "conv_in", d_model, 0, BY_ELEMENT);
        add_split(list, "conv_out", d_model, 0, BY_ELEMENT);
        add_split(list, "out_proj_in", d_model, 0, BY_ELEMENT);
        return;
    }
}

/* width counts every row of a token: before the activation (and its gate), and after
 * it. */
static void list_mlp(saved_list *list, double width, bool is_gated)
{
    if (is_gated)
        add_split(list, "gate", width, 0, BY_OUTPUT);
    add_split(list, "up", width, 0, BY_OUTPUT);
    add_split(list, "activation", width, 0, BY_ELEMENT);
}

static void list_moe(saved_list *list, const ridge_ffn *ffn, double d_model)
{
    double k = (double)ffn->experts_per_token;
    double width = ffn->latent_width > 0 ? (double)ffn->latent_width : d_model;
    ridge_saved router = {.name = "router_logits",
                          .width = (double)ffn->experts,
                          .bytes_per_element = FLOAT_BYTES,
                          .kept_by = BY_OUTPUT};
    add(list, router);
    if (ffn->latent_width > 0)
        add_whole(list, "latent_in", width, BY_OUTPUT);
    add_whole(list, "expert_in", k * width, BY_ELEMENT);
    list_mlp(list, k * (double)ffn->expert_d_ff, ffn->is_gated);
    add_whole(list, "expert_out", k * width, BY_OUTPUT);
    if (ffn->latent_width > 0)
        add_whole(list, "latent_out", width, BY_ELEMENT);
    list_mlp(list, (double)ffn->shared_d_ff, ffn->is_gated);
}

/* What recomputing the feed-forward leaves alone: all of the mixer but its norm. */
static void keep_mixer(saved_list *list)
{
    for (int i = 0; i < list->n; i++) {
        ridge_saved *s = &list->out[i];
        if ((s->kept_by & KEEP_NONE) != 0 && strcmp(s->name, "mixer_norm") != 0 &&
            strcmp(s->name, "cross_norm") != 0)
            s->kept_by |= KEEP_FFN;
    }
}

int ridge_layer_saved(const ridge_model *model, const ridge_layer *layer,
                      ridge_saved *out)
{
    saved_list list = {.out = out};
    const double d = (double)model->d_model;
    const ridge_mixer *m = &layer->mixer;
    const ridge_ffn *ffn = &layer->ffn;
    add_whole(&list, "layer_in", d, BY_ALL);
    if (m->kind != RIDGE_MIXER_NONE) {
        add_whole(&list, "mixer_norm", d, BY_ELEMENT);
        list_mixer(&list, m, d);
        keep_mixer(&list);
    }
    if (layer->has_cross) {
        add_whole(&list, "cross_in", d, BY_OUTPUT);
        add_whole(&list, "cross_norm", d, BY_ELEMENT);
        list_attention(&list, m);
        keep_mixer(&list);
    }
    if (ffn->kind != RIDGE_FFN_NONE) {
        if (m->kind != RIDGE_MIXER_NONE)
            add_whole(&list, "ffn_in", d, BY_OUTPUT | KEEP_FFN);
        add_whole(&list, "ffn_norm", d, BY_ELEMENT);
        list_mlp(&list, (double)ffn->d_ff, ffn->is_gated);
        if (ffn->kind == RIDGE_FFN_MOE)
            list_moe(&list, ffn, d);
    }
    return list.n;
}

double ridge_layer_activation_bytes(const ridge_model *model, const ridge_layer *layer,
                                    ridge_remat remat, int64_t tp, bool has_sp)
{
    ridge_saved saved[RIDGE_SAVED_MAX];
    int n = ridge_layer_saved(model, layer, saved);
    double bytes = 0;
    for (int i = 0; i < n; i++) {
        const ridge_saved *s = &saved[i];
        if ((s->kept_by & (1u << remat)) == 0)
            continue;
        int64_t ways = s->is_split_by_tp || has_sp ? tp : 1;
        if (s->split_most > 0 && s->split_most < ways)
            ways = s->split_most;
        bytes += s->width * s->bytes_per_element / (double)ways;
    }
    return bytes;
}
