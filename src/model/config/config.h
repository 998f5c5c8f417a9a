/*
 * Reading a model from config.json: what the readers of its parts share. A config is
 * read in this order: common sizes, what each layer is (pattern), each kind of layer
 * (attention, feed-forward), embeddings and head, quantisation, vision tower.
 */
#ifndef RIDGE_MODEL_CONFIG_H
#define RIDGE_MODEL_CONFIG_H

#include "architecture.h"

#include "ridge/model.h"

/* What a layer mixes tokens with, as patterns say it. */
typedef enum ridge__mix {
    RIDGE__MIX_FULL,
    RIDGE__MIX_SLIDING,
    RIDGE__MIX_CHUNKED,
    RIDGE__MIX_CROSS,
    RIDGE__MIX_LINEAR,
    RIDGE__MIX_SSM,
    RIDGE__MIX_CONV,
    RIDGE__MIX_NONE
} ridge__mix;

typedef enum ridge__feed {
    RIDGE__FEED_DENSE,
    RIDGE__FEED_MOE,
    RIDGE__FEED_NONE
} ridge__feed;

/* Everything in which layers of one model may differ. */
typedef struct ridge__choice {
    ridge__mix mix;
    ridge__feed feed;
    bool is_encoder;
    bool has_cross;
    bool has_shared_kv;
    bool has_index;        /* sparse indexer of its own */
    bool has_hash_route;   /* experts by a table of tokens: no router bias */
    bool lacks_first_norm; /* ModernBERT's first layer */
    int64_t compress_ratio;
    int64_t heads; /* where layers have counts of their own; 0: that of the model */
} ridge__choice;

typedef struct ridge__config {
    ridge_ctx *cx;
    ridge_node root;  /* the whole file */
    ridge_node text;  /* what describes the language model: root, or a member of it */
    ridge_node quant; /* hf_quant_config.json's "quantization" beside it, or absent */
    bool is_nested;   /* text is a member */
    const ridge__arch *arch;
    const char *arch_name;
    ridge_model *model;
    int64_t layer_count;    /* encoder layers first */
    ridge__choice *choices; /* [layer_count] */
} ridge__config;

/* ---- values (config_value.c) ----------------------------------------------------- */

/* Sizes that have several names. */
typedef enum ridge__field {
    RIDGE__F_D_MODEL,
    RIDGE__F_LAYERS,
    RIDGE__F_ENCODER_LAYERS,
    RIDGE__F_DECODER_LAYERS,
    RIDGE__F_HEADS,
    RIDGE__F_ENCODER_HEADS,
    RIDGE__F_KV_HEADS,
    RIDGE__F_HEAD_DIM,
    RIDGE__F_D_FF,
    RIDGE__F_ENCODER_D_FF,
    RIDGE__F_DENSE_D_FF, /* dense layers, where D_FF means experts */
    RIDGE__F_VOCAB,
    RIDGE__F_POSITIONS,
    RIDGE__F_TYPES, /* token types */
    RIDGE__F_EMBEDDING,
    RIDGE__F_WINDOW,
    RIDGE__F_CHUNK,
    RIDGE__F_EXPERTS,
    RIDGE__F_EXPERTS_PER_TOKEN,
    RIDGE__F_EXPERT_GROUPS,
    RIDGE__F_GROUPS_PER_TOKEN,
    RIDGE__F_EXPERT_D_FF,
    RIDGE__F_SHARED_EXPERTS,
    RIDGE__F_SHARED_D_FF,
    RIDGE__F_LATENT_WIDTH,
    RIDGE__F_FIRST_DENSE,
    RIDGE__F_KV_LORA,
    RIDGE__F_Q_LORA,
    RIDGE__F_NOPE_DIM,
    RIDGE__F_ROPE_DIM,
    RIDGE__F_V_DIM,
    RIDGE__F_INDEX_HEADS,
    RIDGE__F_INDEX_DIM,
    RIDGE__F_INDEX_TOPK,
    RIDGE__F_O_LORA,
    RIDGE__F_O_GROUPS,
    RIDGE__F_STREAMS, /* hyper-connections: residual streams */
    RIDGE__F_LINEAR_KEY_HEADS,
    RIDGE__F_LINEAR_KEY_DIM,
    RIDGE__F_LINEAR_VALUE_HEADS,
    RIDGE__F_LINEAR_VALUE_DIM,
    RIDGE__F_CONV_KERNEL,
    RIDGE__F_SSM_HEADS,
    RIDGE__F_SSM_HEAD_DIM,
    RIDGE__F_SSM_STATE,
    RIDGE__F_SSM_GROUPS,
    RIDGE__F_GLOBAL_HEAD_DIM,
    RIDGE__F_GLOBAL_KV_HEADS,
    RIDGE__F_KV_SHARED_LAYERS,
    RIDGE__F_PER_LAYER_WIDTH,
    RIDGE__F_PER_LAYER_VOCAB,
    RIDGE__F_MTP_LAYERS,
    RIDGE__F_COUNT
} ridge__field;

/** The member by its name, or "object.name"; absent if it is not there or null. */
ridge_node ridge__config_find(const ridge__config *c, const char *key);

/** A size by any of its names; @p otherwise if absent. @errors E_PARSE */
RIDGE_NODISCARD ridge_status ridge__config_get(const ridge__config *c,
                                               ridge__field field, int64_t otherwise,
                                               int64_t *out);

/** A size that the architecture has in common, taken with a note if absent.
 * @param usual  of the architecture; 0: it has none, and absent gives 0 */
RIDGE_NODISCARD ridge_status ridge__config_assume(ridge__config *c, ridge__field field,
                                                  int64_t usual, int64_t *out);

/** A size that must be there. @errors E_PARSE naming the field and the architecture */
RIDGE_NODISCARD ridge_status ridge__config_need(const ridge__config *c,
                                                ridge__field field, int64_t *out);

/** The same, but a part of a model may leave it to the architecture, with a note.
 * @param usual  of the architecture; 0: it must be there */
RIDGE_NODISCARD ridge_status ridge__config_usual(ridge__config *c, ridge__field field,
                                                 int64_t usual, int64_t *out);

/** A switch; @p otherwise if @p key is NULL or absent. "!key" is on when key is false.
 * @errors E_PARSE */
RIDGE_NODISCARD ridge_status ridge__config_flag(const ridge__config *c, const char *key,
                                                bool otherwise, bool *out);

/** A switch that an architecture's flag sets where the config is silent. */
RIDGE_NODISCARD ridge_status ridge__config_switch(const ridge__config *c,
                                                  const char *key, unsigned flag,
                                                  bool *out);

/** A text; @p otherwise if absent or of another kind. */
const char *ridge__config_text(const ridge__config *c, const char *key,
                               const char *otherwise);

/** Mark the layers that an array of numbers names.
 * @param base   the number of the first layer: 0 or 1
 * @param marks  [layer_count], set where named
 * @return false if @p key is no array of numbers */
bool ridge__config_marks(const ridge__config *c, const char *key, int64_t base,
                         bool *marks);

bool ridge__arch_has(const ridge__config *c, unsigned flag);

/** Whether the layer's sizes are those of an encoder beside a decoder. */
bool ridge__has_encoder(const ridge__config *c, const ridge__choice *choice);

/** Add a note once; those beyond RIDGE_NOTE_MAX are dropped. */
RIDGE_PRINTF(2, 3) void ridge__config_note(ridge__config *c, const char *fmt, ...);
/** The same of what the file does not say, so that it had to be assumed or left out. */
RIDGE_PRINTF(2, 3) void ridge__config_guess(ridge__config *c, const char *fmt, ...);

/* ---- parts ----------------------------------------------------------------------- */

/** Fill choices for every layer (config_pattern.c). */
RIDGE_NODISCARD ridge_status ridge__config_pattern(ridge__config *c);

/** Feed-forward part of the pattern (config_sparse.c). */
RIDGE_NODISCARD ridge_status ridge__config_sparse(ridge__config *c);

/** Kinds and runs from choices (config_layer.c). */
RIDGE_NODISCARD ridge_status ridge__config_layers(ridge__config *c);

/** The mixer of a layer (config_attention.c, config_recurrent.c). */
RIDGE_NODISCARD ridge_status ridge__config_mixer(ridge__config *c,
                                                 const ridge__choice *choice,
                                                 ridge_mixer *out);
RIDGE_NODISCARD ridge_status ridge__config_recurrent(ridge__config *c,
                                                     const ridge__choice *choice,
                                                     ridge_mixer *out);

/** The feed-forward part of a layer (config_ffn.c). */
RIDGE_NODISCARD ridge_status ridge__config_ffn(ridge__config *c,
                                               const ridge__choice *choice,
                                               ridge_ffn *out);

/** Embeddings, positions, final norms, head (config_embed.c). */
RIDGE_NODISCARD ridge_status ridge__config_embed(ridge__config *c);

/** Multi-token prediction layers (config_embed.c). */
RIDGE_NODISCARD ridge_status ridge__config_mtp(ridge__config *c);

/** Kind of norms and the activation, which no size tells (config_function.c). */
RIDGE_NODISCARD ridge_status ridge__config_functions(ridge__config *c);

/** Formats of the weights (config_quant.c). */
RIDGE_NODISCARD ridge_status ridge__config_quant(ridge__config *c);

/** The tower beside the language model (config_vision.c). */
RIDGE_NODISCARD ridge_status ridge__config_vision(ridge__config *c);

/** Weights of one norm of this architecture: D, 2 D or 0 (config_layer.c). */
RIDGE_NODISCARD ridge_status ridge__config_norm_params(const ridge__config *c,
                                                       int64_t *out);

/**
 * Read one config.
 * @param root   the config's object
 * @param quant  "quantization" of hf_quant_config.json, or absent
 */
RIDGE_NODISCARD ridge_status ridge__config_read(ridge_ctx *cx, ridge_node root,
                                                ridge_node quant, const char *name,
                                                ridge_model **out);

/* ---- files ----------------------------------------------------------------------- */

/**
 * Read a model from a file: a config.json, the folder that holds one, or a .json of the
 * catalogue ({"name": ..., "config": {...}}).
 * @owner the ctx
 * @errors E_IO, E_PARSE with file:line and what is missing
 */
RIDGE_NODISCARD ridge_status ridge__config_read_path(ridge_ctx *cx, const char *path,
                                                     const ridge_model **out);

/* ---- counts (params.c) ----------------------------------------------------------- */

/** Parameters of one layer of a kind. @return false on overflow */
bool ridge__layer_params(const ridge_model *model, const ridge_layer *layer,
                         int64_t *out);

/** ridge_model_params with overflow told. */
bool ridge__model_count(const ridge_model *model, ridge_params *out);

/** The group by which a weight is quantised; false: never (norms, router). */
bool ridge__weight_quant_part(const ridge_weight *weight, ridge_quant_part *out);

#endif
