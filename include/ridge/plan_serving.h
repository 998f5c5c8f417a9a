/*
 * Serving layouts and what their phases cost: the choices of a deployment, the memory
 * it needs, and the time of prefill, decode and mixed iterations, priced through the
 * same programs as training steps.
 */
#ifndef RIDGE_PLAN_SERVING_H
#define RIDGE_PLAN_SERVING_H

#include "ridge/base.h"
#include "ridge/cost.h"
#include "ridge/hardware.h"
#include "ridge/hardware_engine.h"
#include "ridge/model.h"
#include "ridge/simulate_serving.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- layouts --------------------------------------------------------------------- */

/** Formats in memory and of the arithmetic. */
typedef struct ridge_serving_formats {
    ridge_dtype weight;  /* of dense matrices */
    ridge_dtype expert;  /* of experts' matrices */
    ridge_dtype compute; /* arithmetic of dense matrices: bf16 when weights alone are
                            narrow */
    ridge_dtype expert_compute;
    ridge_dtype activation; /* between operations */
    ridge_dtype cache;      /* keys, values, latents */
    ridge_dtype attention;  /* arithmetic of scores */
    int64_t group;          /* weights to a scale; 0: one a tensor or channel */
} ridge_serving_formats;

/** What caches of a checkpoint are held in where nothing is told: what the engine reads
 *  of the checkpoint, else bf16. @param engine  NULL: none */
ridge_dtype ridge_serving_cache_of(const ridge_model *model,
                                   const ridge_engine *engine);

/** What a checkpoint runs in on a chip: its own formats, multiplied in 16 bits where
 *  weights alone are narrow or the chip lacks the format; the cache in bf16. */
ridge_serving_formats ridge_serving_formats_of(const ridge_model *model,
                                               const ridge_chip *chip);

/* name, text, what */
/* clang-format off */
#define RIDGE_KV_CUT_LIST(X)                                                               \
    X(HEADS, "heads", "KV heads over tp, replicated where tp has more ranks than heads")    \
    X(BATCH, "batch", "sequences over the ranks beyond the KV heads: two all-to-alls a layer") \
    X(SEQUENCE, "sequence", "tokens over the ranks beyond the KV heads: partial softmaxes combined")
/* clang-format on */

typedef enum ridge_kv_cut {
#define RIDGE_KV_CUT_ENUM(name, text, what) RIDGE_KV_CUT_##name,
    RIDGE_KV_CUT_LIST(RIDGE_KV_CUT_ENUM)
#undef RIDGE_KV_CUT_ENUM
} ridge_kv_cut;

/** "heads", and what it says; static */
const char *ridge_kv_cut_text(ridge_kv_cut cut);
const char *ridge_kv_cut_what(ridge_kv_cut cut);

/* name, text, what */
/* clang-format off */
#define RIDGE_DRAFT_LIST(X)                                                                \
    X(NONE, "none", "one token an iteration")                                               \
    X(MODEL, "model", "a smaller model drafts token by token")                              \
    X(MEDUSA, "medusa", "heads beside the last layer draft all positions at once")          \
    X(EAGLE, "eagle", "a layer that reads the target's features drafts token by token")     \
    X(MTP, "mtp", "the model's own multi-token prediction layers")                          \
    X(NGRAM, "ngram", "copied from the prompt: drafting is free")
/* clang-format on */

typedef enum ridge_draft_kind {
#define RIDGE_DRAFT_ENUM(name, text, what) RIDGE_DRAFT_##name,
    RIDGE_DRAFT_LIST(RIDGE_DRAFT_ENUM)
#undef RIDGE_DRAFT_ENUM
} ridge_draft_kind;

/** "eagle", and what it does; static */
const char *ridge_draft_kind_text(ridge_draft_kind kind);
const char *ridge_draft_kind_what(ridge_draft_kind kind);

enum { RIDGE_DRAFT_DEPTH_MAX = 32 };

/** How tokens are drafted. */
typedef struct ridge_draft {
    ridge_draft_kind kind;
    const ridge_model *model; /* MODEL: that drafts; else NULL */
    int64_t depth;            /* K positions drafted */
    int64_t nodes;            /* of the tree that is verified, beside its root;
                                 a chain: depth */
    double accept[RIDGE_DRAFT_DEPTH_MAX]; /* chance that position i is accepted when
                                             those before it are */
} ridge_draft;

/**
 * One replica: tp x attention_dp x pp chips. Dense layers and attention are cut tp ways
 * for each of the attention_dp groups, which have sequences and caches of their own;
 * experts, and copies of hot ones, are dealt ep ways over all tp x attention_dp chips,
 * and what ep leaves cuts their width. Feed-forwards without experts are cut tp ways.
 */
typedef struct ridge_serving_layout {
    int64_t tp, pp, ep, attention_dp; /* each >= 1; ep divides tp x attention_dp */
    int64_t redundant_experts; /* of a layer, beside its experts: copies of hot ones,
                                  placed by load; ep divides experts and these */
    ridge_kv_cut kv_cut;
    bool is_weight_gathered; /* weights cut over tp are gathered, tokens stay */
    int64_t tp_d; /* of tp, the ranks that cut D of dense feed-forwards while the others
                     cut F: weights stationary on two axes; 0, 1: all cut F */
    bool has_two_batches; /* halves of an iteration, each of which computes while the
                             other's rows are on their way to experts and back */
    ridge_serving_formats formats;
    int64_t sequences;     /* most at once, of the replica */
    int64_t budget_tokens; /* of an iteration, of an attention rank */
    ridge_draft draft;
    int placement; /* below ridge_serving_placement_count */
} ridge_serving_layout;

/** Ways to lay layouts on a slice: orders of its torus axes. A layout's placement is
 *  below it. */
int ridge_serving_placement_count(const ridge_slice *slice);

/** Chips of one replica. */
int64_t ridge_serving_layout_chips(const ridge_serving_layout *layout);

/* ---- the case -------------------------------------------------------------------- */

/** A model on a slice under an engine: what all layouts have in common. */
typedef struct ridge_serving_case {
    const ridge_model *model;
    const ridge_slice *slice; /* of the whole deployment */
    const ridge_engine *engine;
    double expert_skew;    /* as ridge_experts.skew */
    double longest_tokens; /* of a sequence, prompt and output: max_model_len */
    double source_tokens;  /* of an encoder or an image, that cross-attention meets; 0:
                              no image, or the longest that an encoder takes */
} ridge_serving_case;

/** What one iteration holds on one attention rank, in the mean of all. */
typedef struct ridge_serving_load {
    double decode_sequences;
    double decode_context; /* tokens in the cache of each, in the mean */
    double chunk_tokens;   /* of prompts; 0: none */
    double chunks;         /* prompts that they belong to */
    double chunk_context;  /* tokens in the cache before each chunk */
    double finishing;      /* chunks that end their prompt, and sample */
    double fullest;        /* chunks of the rank that has most: it is waited for;
                              0: all have as many */
} ridge_serving_load;

/* name, key: what the time of an iteration is made of; they sum to it */
/* clang-format off */
#define RIDGE_SERVING_PART_LIST(X)                                                         \
    X(DENSE, "dense")           /* products of attention and dense feed-forwards */         \
    X(EXPERTS, "experts")       /* feed-forwards of experts, with what routing costs */     \
    X(HEAD, "head")             /* unembedding and sampling */                              \
    X(PREFILL_ATTENTION, "prefill_attention")                                              \
    X(DECODE_ATTENTION, "decode_attention")  /* reads of the cache */                       \
    X(VECTOR, "vector")         /* norms, rotary, quantisation, embedding */                \
    X(TP, "tp")                 /* collectives of dense layers */                           \
    X(EP, "ep")                 /* dispatch and combine */                                  \
    X(KV, "kv")                 /* collectives of a cut cache */                            \
    X(PP, "pp")                 /* sends between stages */                                  \
    X(DRAFT, "draft")                                                                      \
    X(STAGES, "stages")         /* batches of a pipeline wait for longer ones: of a          \
                                   steady state, not of one iteration */                    \
    X(LAUNCH, "launch")         /* kernels' launches that nothing hides */                  \
    X(HOST, "host")             /* the engine's host, where it is not hidden */
/* clang-format on */

typedef enum ridge_serving_part {
#define RIDGE_SERVING_PART_ENUM(name, key) RIDGE_SERVING_PART_##name,
    RIDGE_SERVING_PART_LIST(RIDGE_SERVING_PART_ENUM)
#undef RIDGE_SERVING_PART_ENUM
} ridge_serving_part;

#define RIDGE_SERVING_PART_ONE(name, key) +1
enum { RIDGE_SERVING_PART_COUNT = 0 RIDGE_SERVING_PART_LIST(RIDGE_SERVING_PART_ONE) };
#undef RIDGE_SERVING_PART_ONE

/** "dense", "experts", …: keys of --json without _s; static */
const char *ridge_serving_part_text(ridge_serving_part part);

/** The time of one iteration. */
typedef struct ridge_serving_step {
    double expected_s;
    double parts_s[RIDGE_SERVING_PART_COUNT]; /* sum to expected_s */
    double bound_s; /* physics: max(cache + max(flops, weights), network) */
    double bound_flops_s, bound_weights_s, bound_cache_s, bound_network_s;
    double flops, weight_bytes, cache_bytes; /* of one chip */
    ridge_bound bound_by;
} ridge_serving_step;

/* ---- memory ---------------------------------------------------------------------- */

/** Bytes of one chip of the fullest stage. */
typedef struct ridge_serving_memory {
    double weights;
    double activations;           /* of the largest iteration, logits with it */
    double reserve;               /* the engine's own */
    double cache;                 /* what is left for pages */
    double draft;                 /* weights of a drafting model */
    double total;                 /* of HBM that the engine may take */
    double cache_bytes_per_token; /* all layers keep it: as engines print it */
    double state_bytes;           /* of a sequence, whatever its length */
    int64_t block_tokens;
    int64_t blocks; /* of an attention rank, as the engine counts and prints them: all
                       layers keep all tokens */
    /* Where layers with windows give theirs back, pages are of the others alone; what
     * windows and states hold counts as pages of the sequence. Else pages are blocks.
     */
    double page_bytes;        /* on one chip */
    int64_t page_tokens;      /* block_tokens; the longest where no layer grows */
    int64_t pages;            /* of an attention rank */
    int64_t sequence_pages;   /* of a sequence, beside those of its tokens */
    double longest_sequences; /* of the longest length that have room at once */
    bool fits;                /* one of them has */
} ridge_serving_memory;

/* ---- prices ---------------------------------------------------------------------- */

/** What layouts of a case share: lowered programs, cuts, prices. One thread at a time.
 */
typedef struct ridge_serving_desk ridge_serving_desk;

/** @owner cx. @errors E_ARG a model that cannot decode; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_serving_desk_open(ridge_ctx *cx,
                                                     const ridge_serving_case *about,
                                                     ridge_serving_desk **out);

/** Whether a layout is legal, in words. @return NULL: it is; else why not, owned by the
 *  desk's ctx */
const char *ridge_serving_layout_fault(ridge_serving_desk *desk,
                                       const ridge_serving_layout *layout);

/** Why generation has no axis of that name, which training has: "fsdp", "cp", ...
 *  @return NULL: no such axis; static */
const char *ridge_serving_axis_fault(const char *name);

/** What a legal layout costs that is easily overlooked: KV heads on several ranks.
 *  @return NULL: nothing; owned by the desk's ctx */
const char *ridge_serving_layout_note(ridge_serving_desk *desk,
                                      const ridge_serving_layout *layout);

/** @errors E_ARG an illegal layout; E_NOMEM */
RIDGE_NODISCARD ridge_status
ridge_serving_memory_find(ridge_serving_desk *desk, const ridge_serving_layout *layout,
                          ridge_serving_memory *out);

/** The time of an iteration. @errors E_ARG an illegal layout or load; E_NOMEM */
RIDGE_NODISCARD ridge_status
ridge_serving_step_price(ridge_serving_desk *desk, const ridge_serving_layout *layout,
                         const ridge_serving_load *load, ridge_serving_step *out);

/** The same as tables, for the simulator: at the knots they are what
 *  ridge_serving_step_price says.
 * @owner the desk's ctx. @errors as above */
RIDGE_NODISCARD ridge_status
ridge_serving_speed_build(ridge_serving_desk *desk, const ridge_serving_layout *layout,
                          ridge_serving_speed *out);

#ifdef __cplusplus
}
#endif

#endif
