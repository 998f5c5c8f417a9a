/* What a model_type means where its config.json is silent: one row of facts each. */
#ifndef RIDGE_MODEL_ARCHITECTURE_H
#define RIDGE_MODEL_ARCHITECTURE_H

#include "ridge/base.h"

/* Weights of one norm, in units of the model width. */
typedef enum ridge__norm {
    RIDGE__NORM_RMS,           /* D */
    RIDGE__NORM_LAYER,         /* 2 D: weight and bias */
    RIDGE__NORM_LAYER_NO_BIAS, /* D */
    RIDGE__NORM_NONE           /* no weights */
} ridge__norm;

/* Norms of queries and keys. */
typedef enum ridge__qk_norm {
    RIDGE__QK_NONE,
    RIDGE__QK_HEAD,      /* one weight vector of H each */
    RIDGE__QK_HEAD_BIAS, /* the same with biases */
    RIDGE__QK_EACH       /* every head its own: N H + K H */
} ridge__qk_norm;

/* Facts that hold unless the config says otherwise. */
enum {
    RIDGE__A_TIED = 1u << 0,
    RIDGE__A_QKV_BIAS = 1u << 1,
    RIDGE__A_OUT_BIAS = 1u << 2,
    RIDGE__A_MLP_BIAS = 1u << 3,
    RIDGE__A_NOT_GATED = 1u << 4,
    RIDGE__A_HEAD_BIAS = 1u << 5,
    RIDGE__A_ENCODER = 1u << 6, /* every token sees every other */
    RIDGE__A_ENCODER_DECODER = 1u << 7,
    RIDGE__A_LEARNED = 1u << 8, /* learned positions */
    RIDGE__A_EMBED_NORM = 1u << 9,
    RIDGE__A_NO_FINAL_NORM = 1u << 10,
    RIDGE__A_POOLER = 1u << 11,  /* BERT's, when there is no head */
    RIDGE__A_QK_ON = 1u << 12,   /* qk_key absent means on */
    RIDGE__A_HALF_FF = 1u << 13, /* intermediate_size counts gate and up */
    RIDGE__A_SINKS = 1u << 14,
    RIDGE__A_OUT_GATE = 1u << 15,
    RIDGE__A_SHARED_GATE = 1u << 16,
    RIDGE__A_SHARED_ONE = 1u << 17, /* one shared expert as wide as an expert */
    RIDGE__A_ROUTER_BIAS = 1u << 18,
    RIDGE__A_HEAD_GATE = 1u << 19,    /* one gate a head, with a weight of its own */
    RIDGE__A_MULTI_QUERY = 1u << 20,  /* multi_query absent means one KV head */
    RIDGE__A_MTP_DENSE = 1u << 21,    /* prediction layers are dense */
    RIDGE__A_LOCAL_FILTER = 1u << 22, /* Yuan's convolutions before attention */
    RIDGE__A_WINDOW_SWITCH = 1u
                             << 23, /* sliding_window counts with use_sliding_window */
    RIDGE__A_NARROW_EMBED = 1u << 24, /* tables of another width than D */
    RIDGE__A_WIDE_FF = 1u << 25,      /* absent feed-forward width is 4 D */
    RIDGE__A_NATIVE = 1u << 26,       /* a checkpoint's own parameter file */
    RIDGE__A_ONE_SET = 1u << 27,      /* layers share one set of weights (ALBERT) */
    RIDGE__A_CONV_BIAS = 1u << 28,
    RIDGE__A_KEY_UNBIASED = 1u << 29,
    RIDGE__A_GROUP_NORM = 1u << 30 /* the norm of a state space goes by its groups */
};

/* Sizes that a config may leave out when it describes a part of a model. */
typedef struct ridge__dims {
    int64_t d_model, layers, heads, kv_heads, d_ff, vocab;
} ridge__dims;

typedef struct ridge__arch {
    const char
        *names; /* model_type and its other names, '|' between, '|' at the ends */
    unsigned flags;
    ridge__norm norm;
    int norms; /* a layer */
    ridge__qk_norm qk_norm;
    const char *qk_key; /* switches the norms of queries and keys; NULL: always */
    const char *qkv_bias_key, *out_bias_key, *mlp_bias_key, *head_bias_key,
        *norm_bias_key;      /* or NULL; "!key" is on when key is false */
    int64_t head_dim;        /* 0: D / N */
    bool is_v_even;          /* MLA's v_head_dim may be absent: D / N */
    int64_t global_head_dim; /* of full layers; 0: that of all */
    int64_t window;          /* where sliding layers do not state it */
    int64_t window_pattern;  /* every n-th layer is full; 0: all alike */
    int64_t extra_rows;      /* of the token table, beyond vocab_size */
    int64_t position_offset; /* rows of the position table before position 0 */
    ridge__dims dims;
} ridge__arch;

/** @return the row of a model_type, of a class in architectures[], or NULL. */
const ridge__arch *ridge__arch_find(const char *model_type);

/** @return the row by class name, "LlamaForCausalLM"; or NULL. */
const ridge__arch *ridge__arch_find_class(const char *class_name);

/** Row for configs of no known type that have the usual keys. */
const ridge__arch *ridge__arch_generic(void);

/** @return the first of a row's names, in @p arena; NULL once the budget is spent. */
const char *ridge__arch_name(ridge_arena *arena, const ridge__arch *arch);

/** Names nearest to an unknown model_type, as a hint for a message; never NULL. */
const char *ridge__arch_suggestion(ridge_arena *arena, const char *model_type);

#endif
