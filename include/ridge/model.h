/*
 * Models: what a transformer is (kinds of layers, weights, embeddings), read from a
 * Hugging Face config.json or the catalogue, and its arithmetic: parameters, FLOPs,
 * KV cache, activations. Knows nothing of chips, except for number formats.
 *
 * Legend: T sequence, D model width, F feed-forward width, L layers, N query heads,
 * K KV heads, H head dim, V vocabulary, E experts, k experts per token.
 */
#ifndef RIDGE_MODEL_H
#define RIDGE_MODEL_H

#include "ridge/base.h"
#include "ridge/hardware.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- layers ---------------------------------------------------------------------- */

typedef enum ridge_mixer_kind {
    RIDGE_MIXER_NONE,      /* a layer with feed-forward alone (Nemotron-H) */
    RIDGE_MIXER_ATTENTION, /* MHA, GQA, MQA */
    RIDGE_MIXER_MLA,       /* multi-head latent attention */
    RIDGE_MIXER_DELTA,     /* gated delta net: linear attention (Qwen3-Next, 3.5) */
    RIDGE_MIXER_LIGHTNING, /* linear attention with decay (MiniMax, Kimi linear) */
    RIDGE_MIXER_SSM,       /* Mamba-2 state space */
    RIDGE_MIXER_CONV       /* gated short convolution (LFM2) */
} ridge_mixer_kind;

const char *ridge_mixer_kind_text(ridge_mixer_kind kind);

/** The part of a layer that mixes tokens. Fields of other kinds are 0. */
typedef struct ridge_mixer {
    ridge_mixer_kind kind;
    int64_t heads;          /* N */
    int64_t kv_heads;       /* K */
    int64_t head_dim;       /* H of queries and keys; MLA: nope + rope */
    int64_t v_head_dim;     /* H of values */
    int64_t window;         /* sliding window or chunk in tokens; 0: full */
    bool is_window_chunked; /* chunks of window tokens see themselves alone (Llama 4) */
    bool is_causal;
    bool is_cross; /* keys and values from the encoder (or an image) */
    bool has_qkv_bias, has_out_bias;
    bool has_sinks;        /* one learned logit a head (gpt-oss) */
    bool has_out_gate;     /* queries carry a gate of their own size (Qwen3-Next) */
    int64_t qk_norm_width; /* weights of the query and key norms together */
    int64_t extra_params;  /* small vectors not listed elsewhere */

    int64_t q_lora_rank, kv_lora_rank, rope_head_dim; /* MLA; q_lora_rank 0: none */
    int64_t index_heads, index_head_dim, index_topk;  /* sparse indexer (DSA); or 0 */

    int64_t key_heads, key_head_dim; /* DELTA, LIGHTNING */
    int64_t value_heads, value_head_dim;
    int64_t conv_kernel;              /* DELTA, SSM, CONV */
    int64_t state_size, state_groups; /* SSM: d_state, n_groups */
    int64_t norm_groups; /* SSM: the norm of its output has so many means; 0: one */
    bool has_conv_bias, has_proj_bias;

    bool is_key_unbiased; /* has_qkv_bias, but not on keys (Whisper) */
    bool has_shared_kv;   /* keys and values of an earlier layer: none of its own */
    bool has_joint_kv;   /* values are the keys: no wv, but both are cached (Gemma 4) */
    int64_t gate_width;  /* outputs of a gate with a weight of its own; 0: none */
    int64_t gate_rank;   /* LIGHTNING: low-rank gate; 0: full */
    int64_t decay_rank;  /* LIGHTNING: low-rank decay; 0: none */
    bool is_latent_only; /* MLA: heads attend to the latent, no kv_b (DeepSeek-V4) */
    int64_t compress_ratio; /* tokens to one cache entry beyond the window; 0: none */
    int64_t o_lora_rank, o_groups; /* low-rank output in groups of heads; 0: full */
} ridge_mixer;

typedef enum ridge_ffn_kind {
    RIDGE_FFN_NONE,
    RIDGE_FFN_DENSE,
    RIDGE_FFN_MOE
} ridge_ffn_kind;

typedef struct ridge_ffn {
    ridge_ffn_kind kind;
    bool is_gated; /* three matrices instead of two */
    bool has_bias;
    int64_t d_ff;    /* dense width; with MOE: width of a dense branch beside it */
    int64_t experts; /* E routed experts */
    int64_t experts_per_token; /* k */
    int64_t expert_groups;     /* tokens choose groups of experts first; 0: no groups */
    int64_t groups_per_token;  /* of them, in which all k experts lie */
    int64_t expert_d_ff;
    int64_t shared_experts; /* always active; 0: none */
    int64_t shared_d_ff;    /* width of all shared experts together */
    int64_t latent_width;   /* experts work on this width instead of D; 0: on D */
    bool has_router_bias;   /* E more parameters */
    bool has_shared_gate;   /* D more parameters */
} ridge_ffn;

/** Layers that are alike. */
typedef struct ridge_layer {
    ridge_mixer mixer;
    bool has_cross; /* a second, cross-attention mixer of the same heads (decoder) */
    ridge_ffn ffn;
    int64_t norm_params; /* of the layer's norms, weights and biases */
    bool is_encoder;
    int64_t count;           /* in the whole model */
    int64_t weight_sets;     /* sets of weights among them; fewer if shared (ALBERT) */
    int64_t per_layer_width; /* of an embedding fed to each layer (Gemma 4); 0: none */
} ridge_layer;

/** Where layers of one kind follow each other. */
typedef struct ridge_run {
    int layer; /* index into model->layers */
    int64_t count;
} ridge_run;

enum { RIDGE_LAYER_KIND_MAX = 64, RIDGE_NOTE_MAX = 16 };

/** What a norm divides by; LAYER subtracts the mean first. */
typedef enum ridge_norm_kind { RIDGE_NORM_RMS, RIDGE_NORM_LAYER } ridge_norm_kind;

const char *ridge_norm_kind_text(ridge_norm_kind kind); /* "rms", "layer" */

/** The function between the maps of a feed-forward part, as far as a config says. */
typedef enum ridge_activation {
    RIDGE_ACTIVATION_UNSTATED, /* the usual one of the type */
    RIDGE_ACTIVATION_GELU,
    RIDGE_ACTIVATION_GELU_TANH, /* approximated by tanh */
    RIDGE_ACTIVATION_RELU,
    RIDGE_ACTIVATION_RELU2,
    RIDGE_ACTIVATION_SILU
} ridge_activation;

/** Groups of weights that a checkpoint quantises alike. */
typedef enum ridge_quant_part {
    RIDGE_QUANT_ATTENTION, /* projections of any mixer */
    RIDGE_QUANT_DENSE,     /* dense feed-forward */
    RIDGE_QUANT_SHARED,    /* shared experts */
    RIDGE_QUANT_EXPERTS,   /* routed experts */
    RIDGE_QUANT_HEAD       /* unembedding */
} ridge_quant_part;

enum { RIDGE_QUANT_PART_COUNT = RIDGE_QUANT_HEAD + 1 };

typedef struct ridge_model {
    const char *name;       /* catalogue name, or that of the file or folder */
    const char *model_type; /* as in config.json */
    int64_t d_model;
    int64_t vocab;
    int64_t layer_count;   /* decoder (and encoder) layers, without MTP layers */
    int64_t max_positions; /* context length that the model states; 0: not stated */
    bool is_tied;          /* unembedding shares the embedding's weights */
    bool has_unembedding;  /* false for encoders without a head */
    bool has_unembedding_bias;
    ridge_norm_kind norm_kind; /* of norms of the stream, queries and keys */
    ridge_activation activation;
    int64_t embedding_params;   /* token table, with learned positions and types */
    int64_t unembedding_params; /* its own weights: 0 when tied */
    int64_t final_norm_params;
    int64_t head_params; /* beside the unembedding: bias, pooler, projections */
    int64_t mtp_params, mtp_depth; /* prediction layers: counted apart, how many */
    int n_mtp_kinds, mtp_kinds[2]; /* kinds of layers that one of them is made of */
    int64_t vision_params; /* tower counted from the config; 0: none or left out */

    int n_layers; /* distinct kinds */
    ridge_layer *layers;
    int n_runs; /* in the order of the model, encoder first */
    ridge_run *runs;

    ridge_dtype weight_dtype; /* of a checkpoint: torch_dtype, or quantised */
    double weight_bits;       /* of a quantised linear weight, with its scales */
    ridge_dtype rest_dtype;   /* of what is not quantised (embeddings, norms) */
    ridge_dtype cache_dtype;  /* that the checkpoint has scales for; else rest_dtype */
    int64_t quant_block;      /* block or group that must not be split; 0: none */
    const char *quant_method; /* "fp8", "gptq", "awq", "modelopt nvfp4", … or NULL */
    bool is_quant_attention, is_quant_ffn, is_quant_shared, is_quant_head;
    double quant_bits[RIDGE_QUANT_PART_COUNT]; /* with scales; 0: in rest_dtype */
    int64_t published_params;   /* from the catalogue's source; 0: none */
    const char *published_note; /* what that number includes; or NULL */
    const char *source;         /* of a catalogue entry */
    int n_notes;                /* what people should know of the reading */
    unsigned guesses; /* bit i: notes[i] was assumed or left out for want of a fact */
    const char *notes[RIDGE_NOTE_MAX];
} ridge_model;

/* ---- reading -------------------------------------------------------------------- */

/** The models built in and those of --data DIR. */
typedef struct ridge_library ridge_library;

/** @param dir  folder with models/, or NULL. @errors E_PARSE, E_IO */
RIDGE_NODISCARD ridge_status ridge_library_open(ridge_ctx *cx, const char *dir,
                                                const ridge_library **out);
size_t ridge_library_count(const ridge_library *library);
/** Canonical name of entry @p index, sorted. */
const char *ridge_library_name(const ridge_library *library, size_t index);
/** The name by which the Hugging Face hub knows a model of the library, "WHO/NAME": the
 * first such alias. @owner the ctx @return NULL: none, or no model of the library */
const char *ridge_library_hub_name(ridge_ctx *cx, const ridge_library *library,
                                   const char *name);

/** A model by catalogue name (any case, aliases), by path to a config.json or to its
 * folder, or to a .json of Ridge's own (the catalogue's format). @owner the ctx
 * @errors E_NOTFOUND with the nearest names; E_PARSE with file:line and what is missing
 */
RIDGE_NODISCARD ridge_status ridge_model_load(ridge_ctx *cx,
                                              const ridge_library *library,
                                              const char *name_or_path,
                                              const ridge_model **out);

/** Read one config (already parsed). @param name  what to call the model */
RIDGE_NODISCARD ridge_status ridge_model_from_config(ridge_ctx *cx, ridge_node config,
                                                     const char *name,
                                                     const ridge_model **out);

/** What lies beside a config.json: the check on its bytes. */
typedef struct ridge_checkpoint {
    const char *path;
    double total_bytes; /* sum of tensors, as the index or the header says */
    int64_t tensors;
    int64_t total_params; /* if the index states it or the header allows; 0 */
    double predicted_bytes;
    const char *verdict; /* "agrees", or what the difference is and why */
    bool agrees;
} ridge_checkpoint;

/** Compare with model.safetensors.index.json, pytorch_model.bin.index.json or a
 *  safetensors header. @param path  of that file. @errors E_PARSE, E_IO */
RIDGE_NODISCARD ridge_status ridge_checkpoint_check(ridge_ctx *cx,
                                                    const ridge_model *model,
                                                    const char *path,
                                                    ridge_checkpoint *out);
/** The checkpoint file beside a config path or in a folder, or NULL. */
const char *ridge_checkpoint_find(ridge_ctx *cx, const char *path);

/* ---- weights and parameters ----------------------------------------------------- */

typedef enum ridge_part {
    RIDGE_PART_ATTENTION, /* projections of any mixer */
    RIDGE_PART_MLP,       /* dense feed-forward and shared experts */
    RIDGE_PART_ROUTER,
    RIDGE_PART_EXPERTS,
    RIDGE_PART_NORM
} ridge_part;

enum { RIDGE_PART_COUNT = RIDGE_PART_NORM + 1 };

typedef enum ridge_split {
    RIDGE_SPLIT_NONE,  /* replicated under tensor parallelism */
    RIDGE_SPLIT_HEADS, /* output split by query heads (column parallel) */
    RIDGE_SPLIT_KV,    /* output split by KV heads; replicated beyond them */
    RIDGE_SPLIT_OUT,   /* output features split (column parallel) */
    RIDGE_SPLIT_IN     /* input features split (row parallel): partial sums follow */
} ridge_split;

/** One weight of a layer: copies matrices [in, out], each with vector parameters beside
 * it. A token multiplies with active_copies of them. */
typedef struct ridge_weight {
    const char *name; /* "wq", "w_gate", "expert_down" */
    ridge_part part;
    ridge_split split;
    int64_t in, out;       /* 0 for a pure vector */
    int64_t copies;        /* 1, or E */
    int64_t active_copies; /* 1, or k */
    int64_t vector_params; /* biases, norms, convolutions: all copies together */
    int64_t active_vector_params;
} ridge_weight;

enum { RIDGE_WEIGHT_MAX = 32 };

/** The weights of one layer, in the order of use; every count is derived from these.
 * @param out  room for RIDGE_WEIGHT_MAX @return how many */
int ridge_layer_weights(const ridge_model *model, const ridge_layer *layer,
                        ridge_weight *out);

typedef struct ridge_params {
    int64_t total;                  /* without MTP layers and vision tower */
    int64_t active;                 /* used for one token; embeddings counted whole */
    int64_t embedding, unembedding; /* unembedding with the model's head_params */
    int64_t attention, mlp, router, experts, norm;
    int64_t experts_active;
    int64_t matmul_active; /* weights that multiply, once a token, with unembedding */
    int64_t mtp, vision;   /* beside the total */
} ridge_params;

/** Exact parameter counts. Overflow was excluded when the model was read. */
ridge_params ridge_model_params(const ridge_model *model);
/** Whether a layer of it has routed experts. */
bool ridge_model_has_experts(const ridge_model *model);

/** Bytes of the weights in the checkpoint's own formats. */
double ridge_model_weight_bytes(const ridge_model *model);
/** The same if every weight were in @p dtype. */
double ridge_model_weight_bytes_as(const ridge_model *model, ridge_dtype dtype);

/* ---- FLOPs ---------------------------------------------------------------------- */

/* How a source counts the FLOPs of a token in training; name, text */
/* clang-format off */
#define RIDGE_CONVENTION_LIST(X)                                                            \
    X(MATMUL_CAUSAL, "causal", "every matmul, attention scores with the causal half")         \
    X(MATMUL_FULL, "full", "every matmul, attention scores over the full square")             \
    X(SIX_N, "6n", "6 x active parameters, no attention scores")                              \
    X(SIX_N_NO_EMBED, "6n-no-embed", "6 x active parameters without the embedding table")     \
    X(PALM, "palm", "6N + 12 L N H T: full attention square (PaLM, LLM Foundry)")             \
    X(PALM_CAUSAL, "palm-causal", "6N + 6 L N H T: causal half of the attention square")       \
    X(MEGATRON, "megatron", "72 B L T D^2 (1 + T/6D + V/12DL) and its GQA, gated, MoE forms")
/* clang-format on */

typedef enum ridge_convention {
#define RIDGE_CONVENTION_ENUM(name, text, what) RIDGE_CONVENTION_##name,
    RIDGE_CONVENTION_LIST(RIDGE_CONVENTION_ENUM)
#undef RIDGE_CONVENTION_ENUM
} ridge_convention;

#define RIDGE_CONVENTION_ONE(name, text, what) +1
enum { RIDGE_CONVENTION_COUNT = 0 RIDGE_CONVENTION_LIST(RIDGE_CONVENTION_ONE) };
#undef RIDGE_CONVENTION_ONE

const char *ridge_convention_text(ridge_convention c);
const char *ridge_convention_what(ridge_convention c);
RIDGE_NODISCARD ridge_status ridge_convention_parse(ridge_ctx *cx, const char *text,
                                                    ridge_convention *out);

/** Matmul FLOPs of one token, forward, averaged over a sequence of T. */
typedef struct ridge_flops {
    double attention_projections, attention_scores;
    double mlp, router, experts;
    double unembedding;
    double embedding; /* always 0: a lookup multiplies nothing */
    double vector; /* elementwise: norms, activations, rotary, softmax; not in total */
    double total;  /* sum of the matmul parts */
} ridge_flops;

/**
 * Matmul FLOPs by part: 2 in out active_copies of every weight, the unembedding 2 D V
 * whether tied or not, and the scores of ridge_layer_scores_flops(). An encoder-decoder
 * counts one source and one target token, sequences of T each.
 *
 * @param seq_tokens  T >= 1. @param is_causal_half  count the causal half of scores
 * @source scaling-book-2025, chapter 4
 */
ridge_flops ridge_model_flops_forward(const ridge_model *model, double seq_tokens,
                                      bool is_causal_half);

/**
 * Tokens that a query of this mixer meets on average over a sequence of T: T, or the
 * window; with the causal half T/2, and W - W^2/2T under a window W.
 *
 * Sparse attention (index_topk) meets no more than the chosen tokens. 0 for mixers that
 * compare no tokens, and for cross-attention to an image, which may be absent.
 */
double ridge_mixer_context_tokens(const ridge_mixer *mixer, double seq_tokens,
                                  bool is_causal_half);

/**
 * FLOPs of one token in one layer for mixing tokens, projections apart.
 *
 *     attention  2 N (H + Hv) context, + 2 Ni Hi T of a sparse indexer
 *     delta      heads (6 Hk Hv + (6 Hk + 4 Hv) c)        c: tokens of a chunk, 64
 *     lightning  heads (4 Hk Hv + (2 Hk + 2 Hv) c)        chunk of 256
 *     SSM        4 heads P N + (2 N groups + 2 P heads) c  chunk of 256
 *
 * @note  Scans cost the same at every T beyond a chunk. A short convolution is no
 *        matmul.
 * @source dao2024-mamba2 (state space duality, section 6), yang2024-deltanet (chunks),
 *         qin2024 (lightning attention), deepseek-v32-2025 (sparse indexer)
 */
double ridge_layer_scores_flops(const ridge_layer *layer, double seq_tokens,
                                bool is_causal_half);

/**
 * FLOPs of one token of a training step (forward and backward, no recomputation) as a
 * convention counts them. The backward pass is twice the forward.
 *
 *     causal, full  3 x forward
 *     6n            6 x active parameters, a tied table once (the book's 6 N)
 *     6n-no-embed   the same without lookup tables; a tied one stays as the unembedding
 *     palm          6 N + 12 L N H T, windows ignored as printed; palm-causal: half
 *     megatron      3 x matmuls + 12 L N H T: routers left out, windows ignored
 *
 * @source scaling-book-2025 chapter 4 (6n), kaplan2020 2.1 (6n-no-embed), palm2022
 *         appendix B and llm-foundry-2023 (palm), narayanan2021 section 5.1 and
 *         korthikanti2022 appendix A (megatron)
 */
double ridge_model_flops_train(const ridge_model *model, double seq_tokens,
                               ridge_convention convention);

/** Of one multi-token prediction layer: map, layer, head. @source deepseek-v3-2024 2.2
 */
double ridge_model_flops_mtp(const ridge_model *model, double seq_tokens,
                             ridge_convention convention);

/* ---- remat, activations, KV cache ----------------------------------------------- */

/* clang-format off */
#define RIDGE_REMAT_LIST(X)                                                             \
    X(NONE, "none", "every intermediate is kept")                                       \
    X(SELECTIVE, "selective", "attention scores are recomputed, all else is kept")      \
    X(MATMULS, "matmuls", "outputs of matmuls are kept, attention and elementwise recomputed") \
    X(FULL, "full", "only layer inputs are kept") \
    X(ELEMENTWISE, "elementwise", "norms and activations are recomputed, matmuls and attention kept") \
    X(FFN, "ffn", "norms and the feed-forward are recomputed, all else is kept")
/* clang-format on */

typedef enum ridge_remat {
#define RIDGE_REMAT_ENUM(name, text, what) RIDGE_REMAT_##name,
    RIDGE_REMAT_LIST(RIDGE_REMAT_ENUM)
#undef RIDGE_REMAT_ENUM
} ridge_remat;

#define RIDGE_REMAT_ONE(name, text, what) +1
enum { RIDGE_REMAT_COUNT = 0 RIDGE_REMAT_LIST(RIDGE_REMAT_ONE) };
#undef RIDGE_REMAT_ONE

const char *ridge_remat_text(ridge_remat remat);
const char *ridge_remat_what(ridge_remat remat);
RIDGE_NODISCARD ridge_status ridge_remat_parse(ridge_ctx *cx, const char *text,
                                               ridge_remat *out);

/**
 * Forward matmul FLOPs of a token that a policy computes again in the backward pass:
 * none and elementwise 0; selective and matmuls the scores (QK and AV); ffn what the
 * feed-forward computes before its last product; full every layer, without the
 * unembedding.
 *
 * @note  A flash kernel recomputes QK inside its backward pass under every policy: five
 *        matmuls for four. That is the kernel's, and in no convention; an HFU that
 *        counts it adds half of the scores' forward FLOPs.
 * @source korthikanti2022 sections 4-5, scaling-book-2025 chapter 4
 */
double ridge_model_flops_remat(const ridge_model *model, double seq_tokens,
                               bool is_causal_half, ridge_remat remat);

/** An array that the backward pass needs: width elements a token. */
typedef struct ridge_saved {
    const char *name;
    double width; /* elements per token */
    double bytes_per_element;
    int64_t split_most;  /* more TP ways than this replicate it; 0: no limit */
    unsigned kept_by;    /* bit (1u << ridge_remat) set: that policy keeps it */
    bool is_split_by_tp; /* otherwise replicated, or split by SP */
    bool is_operand;     /* kept as the operand of a product: in its format */
} ridge_saved;

enum { RIDGE_SAVED_MAX = 32 };

/**
 * Arrays of one layer that are kept for the backward pass with fused (flash) attention
 * and 2-byte activations.
 *
 * A GPT layer (MHA, F = 4D, GELU) keeps 32 D bytes a token and 4 bytes a head for the
 * softmax: the paper's 34 without its two dropout masks, which models of today lack.
 * Routed experts count k rows a token, as if balanced. Left out: norm statistics,
 * second norms of sandwich layouts, and what a parallel block shares.
 *
 * @param out  room for RIDGE_SAVED_MAX
 * @source korthikanti2022, section 4 (without the T^2 terms that flash attention drops)
 */
int ridge_layer_saved(const ridge_model *model, const ridge_layer *layer,
                      ridge_saved *out);

/** Activation bytes of one token in one layer under a policy, on one chip of tp. */
double ridge_layer_activation_bytes(const ridge_model *model, const ridge_layer *layer,
                                    ridge_remat remat, int64_t tp, bool has_sp);

typedef struct ridge_kv {
    double bytes_per_token; /* one more token of context, before any window fills */
    double bytes_per_token_long;     /* the same once every window is full; compressed
                                        entries as their share */
    double state_bytes_per_sequence; /* SSM, delta and convolution states */
} ridge_kv;

ridge_kv ridge_model_kv(const ridge_model *model, ridge_dtype dtype);

/** Bytes needed for one sequence of @p tokens (windows capped), or reserved by an
 *  engine that pages every layer alike (is_unified). */
double ridge_model_kv_bytes(const ridge_model *model, ridge_dtype dtype, double tokens,
                            bool is_unified);

/* ---- which degrees are legal ---------------------------------------------------- */

typedef enum ridge_tp_verdict {
    RIDGE_TP_OK,            /* query and KV heads split evenly */
    RIDGE_TP_REPLICATES_KV, /* beyond the KV heads: each is held tp/K times */
    RIDGE_TP_HEADS,         /* query heads do not divide */
    RIDGE_TP_KV_HEADS,      /* KV heads neither divide nor are divided */
    RIDGE_TP_WIDTH,         /* a feed-forward width does not divide */
    RIDGE_TP_BLOCK          /* a quantised block would be cut */
} ridge_tp_verdict;

/** Whether the text model can be split tp ways, and if not, why: heads, then widths,
 * then blocks. Routed experts may be dealt whole: ridge_model_expert_tp() cuts them. */
ridge_tp_verdict ridge_model_tp(const ridge_model *model, int64_t tp);
/** Whether each routed expert can be cut tp ways; OK for a dense model. */
ridge_tp_verdict ridge_model_expert_tp(const ridge_model *model, int64_t tp);
/** The same in words with the numbers, for messages; lives in @p arena. */
const char *ridge_model_tp_text(ridge_arena *arena, const ridge_model *model,
                                int64_t tp);

#ifdef __cplusplus
}
#endif

#endif
