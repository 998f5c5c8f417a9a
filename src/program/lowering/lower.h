/*
 * Lowering a model: what its parts share. Each part adds operations to the block under
 * way and returns the tensor that it made; after a failure all do nothing and return -1
 * (builder.h).
 *
 * Names of dims: B sequences, T tokens, S context or source tokens, D width, V words,
 * N heads, K KV heads, H head dim (HV of values), F, FE, FS feed-forward widths (dense,
 * expert, shared), E experts, C rows of an expert. Parts name their own further ones.
 */
#ifndef RIDGE_PROGRAM_LOWER_H
#define RIDGE_PROGRAM_LOWER_H

#include "builder.h"

/* Keys and values as attention reads them. */
typedef struct ridge__keys {
    int k, v; /* tensors, or -1 */
} ridge__keys;

typedef struct ridge__lower {
    ridge__builder b;
    const ridge_model *model;
    ridge_lowering how;
    int dim_b, dim_t, dim_d, dim_v; /* dim_t: tokens of the stack under way */
    int64_t tokens;                 /* of a sequence of it */
    int vectors_per_norm;           /* 1 weight; 2 weight and bias; 0 neither */
    int64_t final_norm_params;      /* met so far */
    const ridge_layer *layer;       /* under way */
    const char *prefix;             /* of tensors in this block: "layer_3." or "" */
    const char *stem;               /* behind it: "cross_" or "" */
    ridge_part part;                /* of operations */
    int weights_block;              /* block of weights that layers share; -1: own */
    const char *shared_prefix;      /* of those: "set_0_1." */
    bool is_two_stacks;             /* encoder and decoder */
    int memory;                     /* output of the encoder; -1: none */
    ridge__keys last_keys[2];       /* of the last layer: without, with window */
    int embedding;                  /* token table */
    int embedding_map;              /* from its width to D; -1: it has that width */
} ridge__lower;

/** A weight [in.., to..], and a vector [to..] that is added. */
typedef struct ridge__map {
    const char *out, *weight; /* names */
    ridge__dims in, to;
    bool has_bias;
} ridge__map;

/* ---- operations (lower_op.c) ----------------------------------------------------- */

/** A dim by letter and size. */
int ridge__lower_dim(ridge__lower *l, const char *letter, int64_t size);
/** A name with prefix and stem. */
const char *ridge__lower_name(ridge__lower *l, const char *base);
int ridge__lower_tensor(ridge__lower *l, ridge_role role, const char *base,
                        ridge_dtype dtype, ridge__dims dims);
int ridge__lower_weight(ridge__lower *l, const char *base, ridge__dims dims);
/** A vector of weights that no operation reads; nothing if size is 0. */
void ridge__lower_unread(ridge__lower *l, const char *base, int64_t size);
/** Add an operation that makes one activation of these dims. */
int ridge__lower_op(ridge__lower *l, ridge_operation *op, const char *out,
                    ridge__dims dims);
int ridge__lower_einsum(ridge__lower *l, const char *out, int a, int b,
                        ridge__dims dims);
/** x with the map's weight: dims of x without in, then to. */
int ridge__lower_map(ridge__lower *l, int x, const ridge__map *map);
/** An elementwise function of one or two tensors (b -1: one), with the dims of a. */
int ridge__lower_function(ridge__lower *l, const char *out, ridge_function f, int a,
                          int b);
/** x plus a new weight vector. */
int ridge__lower_bias(ridge__lower *l, const char *out, int x, const char *weight,
                      ridge__dims dims);
/** Of the model's kind; with a bias always one that subtracts the mean, such as the
 * indexer's keys have in models of RMS norms.
 * @param vectors  1 weight, 2 weight and bias, 0 neither */
int ridge__lower_norm(ridge__lower *l, const char *out, int x, ridge__dims dims,
                      int vectors);
int ridge__lower_rotary(ridge__lower *l, const char *out, int x);

/* ---- caches and contexts (lower_cache.c) ----------------------------------------- */

bool ridge__lower_has_cache(const ridge__lower *l);
/** Whether attention meets tokens of earlier calls: in decode. */
bool ridge__lower_reads_cache(const ridge__lower *l);
/** Keep x [.., T, ..] in a cache of the context, or window (0: none).
 * @return what attention reads: the cache in decode, else x */
int ridge__lower_cache(ridge__lower *l, const char *base, int x, int64_t window);
/** A cache of these dims that an operation fills; -1 where nothing is kept. */
int ridge__lower_state(ridge__lower *l, const char *base, ridge_dtype dtype,
                       ridge__dims dims);
/** Tokens that a query of the mixer meets, on average over this call. */
double ridge__lower_context(const ridge__lower *l, const ridge_mixer *m);
/** FLOPs a token of the sparse indexer alone. */
double ridge__lower_index_flops(const ridge__lower *l);
/** FLOPs a token of a scan. */
double ridge__lower_scan_flops(const ridge__lower *l);

/* ---- parts ----------------------------------------------------------------------- */

/** Inputs of an attention; -1: none. */
typedef struct ridge__attend {
    int q, k, v, q_rope, k_rope, sinks, far, chosen;
    bool is_causal;
    int64_t window;
    double context; /* 0: by shape */
    double scale;   /* 0: by shape */
} ridge__attend;

/** o, with the dims of q and the last of v. */
int ridge__lower_attend(ridge__lower *l, const ridge__attend *a);
/** Whether queries see later tokens masked: not when one query ends the context. */
bool ridge__lower_is_causal(const ridge__lower *l, const ridge_mixer *m);
/** The output map wo, from heads to D. */
int ridge__lower_attention_out(ridge__lower *l, int o, int heads, int head_dim);
/** A gate with a weight of its own, if the mixer has one, times o [.., N, HV]. */
int ridge__lower_gate(ridge__lower *l, int h, int o);
/** The sinks of the mixer over these dims; -1: none. */
int ridge__lower_sinks(ridge__lower *l, ridge__dims heads);

/** @param source  what keys and values come from: h, or the encoder's output */
int ridge__lower_attention(ridge__lower *l, int h, int source, bool is_cross);
int ridge__lower_mla(ridge__lower *l, int h);
/** Latent attention without keys of heads, with compressed entries (DeepSeek-V4). */
int ridge__lower_latent(ridge__lower *l, int h);
/** @param queries  what the indexer's queries come from, with its last dim
 *  @param keys  its keys [.., S, HI]; -1: made from h
 *  @return chosen indices, -1 if the mixer has no indexer */
int ridge__lower_index(ridge__lower *l, int h, int queries, int keys);
int ridge__lower_delta(ridge__lower *l, int h);
int ridge__lower_lightning(ridge__lower *l, int h);
int ridge__lower_ssm(ridge__lower *l, int h);
int ridge__lower_convolution(ridge__lower *l, int h);
/** A causal convolution of x, whose last dims are the channels, and its cache. */
int ridge__lower_taps(ridge__lower *l, const char *base, int x, ridge__dims channels,
                      bool has_bias);

int ridge__lower_ffn(ridge__lower *l, int h);
/** Names of a feed-forward part's weights and of what it makes. */
typedef struct ridge__dense {
    const char *gate, *up, *down;
    const char *gate_out, *up_out, *act, *out;
} ridge__dense;

int ridge__lower_dense(ridge__lower *l, const ridge__dense *names, int h,
                       int width_dim);
/** Activation of gate and up (gate -1: not gated). */
int ridge__lower_activation(ridge__lower *l, const char *out, int gate, int up);
int ridge__lower_moe(ridge__lower *l, int h);

/** @return the block's output */
int ridge__lower_layer(ridge__lower *l, int x);

/** Token and position tables; x of the decoder, and of an encoder before it (or -1). */
void ridge__lower_embed(ridge__lower *l, bool has_source, int *x, int *source);
/** Norm, logits, and in training the loss. */
void ridge__lower_head(ridge__lower *l, int x);
int ridge__lower_final_norm(ridge__lower *l, const char *out, int x);

/** What a model's type tells and its sizes do not. */
ridge_function ridge__lower_gate_function(const ridge_model *model, bool is_gated);
bool ridge__lower_has_rotary(const ridge_model *model);

/* ---- what follows the forward pass ----------------------------------------------- */

void ridge__backward(ridge__builder *b);
/** Optimizer steps of all weights with gradients. */
void ridge__update(ridge__builder *b, ridge_update rule);

#endif
