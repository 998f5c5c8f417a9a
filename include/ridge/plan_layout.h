/*
 * Training layouts: the choices of a plan with their names, and the knobs with which a
 * user fixes some of them.
 */
#ifndef RIDGE_PLAN_LAYOUT_H
#define RIDGE_PLAN_LAYOUT_H

#include "ridge/base.h"
#include "ridge/hardware.h"
#include "ridge/model.h"
#include "ridge/program_remat.h"
#include "ridge/shard.h"
#include "ridge/simulate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- precision ------------------------------------------------------------------- */

/* name, text, what, arithmetic, bytes a parameter: compute copy, gradient, master copy,
 * moments; bytes of a gradient on the network */
/* clang-format off */
#define RIDGE_PRECISION_LIST(X)                                                            \
    X(BF16, "bf16", "bf16 arithmetic, fp32 gradients, master weights and Adam moments",     \
      BF16, 2, 4, 4, 8, 4)                                                                  \
    X(BF16_PURE, "bf16-pure", "bf16 weights and gradients, fp32 Adam moments, no master",   \
      BF16, 2, 2, 0, 8, 2)                                                                  \
    X(BF16_REDUCE, "bf16-reduce", "as bf16, gradients kept and reduced in bf16",            \
      BF16, 2, 2, 4, 8, 2)                                                                  \
    X(FP16, "fp16", "fp16 arithmetic, fp16 gradients, fp32 master weights and moments",     \
      FP16, 2, 2, 4, 8, 2)                                                                  \
    X(FP8, "fp8", "fp8 matmuls, scales from earlier steps (delayed), otherwise as bf16",     \
      FP8, 2, 4, 4, 8, 4)                                                                   \
    X(FP8_CURRENT, "fp8-current", "fp8 matmuls, a scale found for each tensor, otherwise as bf16", \
      FP8, 2, 4, 4, 8, 4)                                                                   \
    X(FP8_BLOCKS, "fp8-blocks", "fp8 matmuls, a scale for 128 elements and 128x128 of a weight", \
      FP8, 2, 4, 4, 8, 4)                                                                   \
    X(FP8_WEIGHTS, "fp8-weights", "as fp8, weights kept and gathered in fp8",              \
      FP8, 1, 4, 4, 8, 4)                                                                   \
    X(FP8_ROWS, "fp8-rows", "fp8 matmuls, a scale for each row and column, otherwise as bf16", \
      FP8, 2, 4, 4, 8, 4)                                                                   \
    X(MXFP8, "mxfp8", "fp8 matmuls, a scale for each 32 elements, otherwise as bf16",       \
      FP8, 2, 4, 4, 8, 4)                                                                   \
    X(FP4, "fp4", "fp4 matmuls, otherwise as bf16", FP4, 2, 4, 4, 8, 4)                     \
    X(TF32, "tf32", "fp32 weights and gradients, TF32 matmuls", TF32, 4, 4, 0, 8, 4)        \
    X(FP32, "fp32", "fp32 throughout", FP32, 4, 4, 0, 8, 4)
/* clang-format on */

typedef enum ridge_precision {
#define RIDGE_PRECISION_ENUM(name, text, what, compute, w, g, ma, mo, r)               \
    RIDGE_PRECISION_##name,
    RIDGE_PRECISION_LIST(RIDGE_PRECISION_ENUM)
#undef RIDGE_PRECISION_ENUM
} ridge_precision;

#define RIDGE_PRECISION_ONE(name, text, what, compute, w, g, ma, mo, r) +1
enum { RIDGE_PRECISION_COUNT = 0 RIDGE_PRECISION_LIST(RIDGE_PRECISION_ONE) };
#undef RIDGE_PRECISION_ONE

/** How operands of 8 bits are scaled. */
typedef enum ridge_scales {
    RIDGE_SCALES_DELAYED, /* one for a tensor, from the maxima of earlier steps */
    RIDGE_SCALES_CURRENT, /* one for a tensor, from its own maximum */
    RIDGE_SCALES_ROWS,    /* one for each row and column */
    RIDGE_SCALES_32,      /* one for each 32 elements */
    RIDGE_SCALES_128      /* one for each 128 elements, and 128x128 of a weight */
} ridge_scales;

/** What a precision policy keeps for each parameter, in bytes. */
typedef struct ridge_policy {
    const char *text;
    const char *what;
    ridge_dtype compute; /* of the linear layers */
    double weight_bytes; /* the copy that computes and that FSDP gathers */
    double gradient_bytes;
    double master_bytes; /* 0: the compute copy is the master */
    double moment_bytes; /* both Adam moments */
    double reduce_bytes; /* a gradient on the network */
    ridge_scales scales; /* of fp8 */
    bool is_frozen;      /* weights have no gradients, so neither copies nor moments */
} ridge_policy;

const ridge_policy *ridge_precision_policy(ridge_precision precision);
/** Bytes a parameter that stay from step to step: weights, master copy and moments. */
double ridge_policy_state_bytes(const ridge_policy *policy);
/**
 * FLOP/s that an MFU is a share of: the chip's peak in bf16, by which runs in 8 and 4
 * bits are told too, and in fp32 of what computes in fp32.
 * @param used  the format of that peak on this chip; may be NULL
 */
double ridge_policy_mfu_peak(const ridge_policy *policy, const ridge_chip *chip,
                             ridge_dtype *used);
RIDGE_NODISCARD ridge_status ridge_precision_parse(ridge_ctx *cx, const char *text,
                                                   ridge_precision *out);

/* ---- optimizers ------------------------------------------------------------------ */

/* name, text, what, bytes of state a parameter (beside a master copy) where Adam in
 * fp32 has 8 */
/* clang-format off */
#define RIDGE_OPTIMIZER_LIST(X)                                                            \
    X(ADAMW, "adamw", "both moments in fp32", 8)                                            \
    X(ADAMW_BF16, "adamw-bf16", "both moments in bf16", 4)                                  \
    X(ADAMW_8BIT, "adamw-8bit", "both moments in 8 bits, an fp32 scale for each 256", 2.03125) \
    X(ADAFACTOR, "adafactor", "second moments of rows and columns alone, no first", 0)      \
    X(MUON, "muon", "momentum in fp32, made orthogonal by five Newton-Schulz steps", 4)     \
    X(MOMENTUM, "momentum", "SGD with a momentum in fp32", 4)                               \
    X(SGD, "sgd", "no state", 0)                                                            \
    X(LORA, "lora", "weights frozen, adapters of low rank beside them trained", 0)
/* clang-format on */

typedef enum ridge_optimizer {
#define RIDGE_OPTIMIZER_ENUM(name, text, what, bytes) RIDGE_OPTIMIZER_##name,
    RIDGE_OPTIMIZER_LIST(RIDGE_OPTIMIZER_ENUM)
#undef RIDGE_OPTIMIZER_ENUM
} ridge_optimizer;

#define RIDGE_OPTIMIZER_ONE(name, text, what, bytes) +1
enum { RIDGE_OPTIMIZER_COUNT = 0 RIDGE_OPTIMIZER_LIST(RIDGE_OPTIMIZER_ONE) };
#undef RIDGE_OPTIMIZER_ONE

const char *ridge_optimizer_text(ridge_optimizer optimizer);
const char *ridge_optimizer_what(ridge_optimizer optimizer);
/** @errors E_ARG with the nearest names */
RIDGE_NODISCARD ridge_status ridge_optimizer_parse(ridge_ctx *cx, const char *text,
                                                   ridge_optimizer *out);
/** The policy with the moments of an optimizer; gradients, weights and master copy
 * stay, but of frozen weights the copy that computes is all there is.
 * @source hu2021-lora */
ridge_policy ridge_policy_with_optimizer(const ridge_policy *policy,
                                         ridge_optimizer optimizer);

/** Products that have adapters: flags. 0, RIDGE_LORA_ALL, is all of them. */
typedef unsigned ridge_lora_targets;
enum {
    RIDGE_LORA_ALL = 0,
    RIDGE_LORA_Q = 1,
    RIDGE_LORA_K = 2,
    RIDGE_LORA_V = 4,
    RIDGE_LORA_O = 8,
    RIDGE_LORA_GATE = 16,
    RIDGE_LORA_UP = 32,
    RIDGE_LORA_DOWN = 64,
    RIDGE_LORA_JOINT = 128, /* queries, keys and values have one together */
    RIDGE_LORA_ATTENTION = RIDGE_LORA_Q | RIDGE_LORA_K | RIDGE_LORA_V | RIDGE_LORA_O,
    RIDGE_LORA_MLP = RIDGE_LORA_GATE | RIDGE_LORA_UP | RIDGE_LORA_DOWN,
    RIDGE_LORA_EACH = RIDGE_LORA_ATTENTION | RIDGE_LORA_MLP,
    RIDGE_LORA_QKV = RIDGE_LORA_JOINT | RIDGE_LORA_Q | RIDGE_LORA_K | RIDGE_LORA_V
};

/* name, text, what, products: sets before what they hold */
/* clang-format off */
#define RIDGE_LORA_LIST(X)                                                                 \
    X(QKV, "qkv", "the joint product that makes queries, keys and values", RIDGE_LORA_QKV)  \
    X(ALL, "all", "all products of attention and of dense feed-forwards", RIDGE_LORA_EACH)  \
    X(ATTENTION, "attention", "those of attention", RIDGE_LORA_ATTENTION)                   \
    X(MLP, "mlp", "those of dense feed-forwards and shared experts", RIDGE_LORA_MLP)        \
    X(Q, "q", "what makes queries", RIDGE_LORA_Q)                                           \
    X(K, "k", "what makes keys", RIDGE_LORA_K)                                              \
    X(V, "v", "what makes values", RIDGE_LORA_V)                                            \
    X(O, "o", "what attention ends with", RIDGE_LORA_O)                                     \
    X(GATE, "gate", "gates of feed-forwards", RIDGE_LORA_GATE)                              \
    X(UP, "up", "ways up of feed-forwards", RIDGE_LORA_UP)                                  \
    X(DOWN, "down", "ways down of feed-forwards", RIDGE_LORA_DOWN)
/* clang-format on */

enum { RIDGE_LORA_RANK = 16, RIDGE_LORA_RANK_MOST = 65536 };

/** Adapters of optimizer=lora: beside W [in, out] a product by A [in, rank] and one by
 * B [rank, out], whose sum is added to W's. @source hu2021-lora, equation 3 */
typedef struct ridge_lora {
    int64_t rank; /* 0: RIDGE_LORA_RANK */
    ridge_lora_targets targets;
} ridge_lora;

int64_t ridge_lora_rank(const ridge_lora *lora);
/** The flags of single products. @return never 0 */
ridge_lora_targets ridge_lora_products(ridge_lora_targets targets);
/** "all", "qkv", "q+v", as ridge_lora_parse reads it. @owner the ctx; NULL when memory
 * ran out */
const char *ridge_lora_text(ridge_ctx *cx, ridge_lora_targets targets);
/** Names joined by '+', ',' or spaces: "attention", "q+v", and as PEFT, torchtune and
 *  Megatron call them: "q_proj,v_proj", "linear_qkv". @errors E_ARG with the names */
RIDGE_NODISCARD ridge_status ridge_lora_parse(ridge_ctx *cx, const char *text,
                                              ridge_lora_targets *out);

/* ---- offload to the host --------------------------------------------------------- */

/* What lies in the host's memory and goes over the host's link; flags. */
enum {
    RIDGE_OFFLOAD_NONE = 0,
    RIDGE_OFFLOAD_OPTIMIZER = 1,   /* master weights and moments: once a step */
    RIDGE_OFFLOAD_ACTIVATIONS = 2, /* what is kept for the backward pass */
    RIDGE_OFFLOAD_WEIGHTS = 4,     /* the copy that computes: twice a microbatch */
    RIDGE_OFFLOAD_ALL = 7
};

/** "none", "optimizer+activations"; static; never NULL. */
const char *ridge_offload_text(unsigned offload);
/** Names joined by '+' or ','. @errors E_ARG with the names */
RIDGE_NODISCARD ridge_status ridge_offload_parse(ridge_ctx *cx, const char *text,
                                                 unsigned *out);

/* ---- overlap --------------------------------------------------------------------- */

/* name, text, what, whether it is on unless switched; "chip": as its software does */
/* clang-format off */
#define RIDGE_OVERLAP_LIST(X)                                                              \
    X(TP, "tp_overlap", "TP collectives run as collective matmuls")                         \
    X(FSDP, "fsdp_overlap", "weight gathers and gradient scatters, one layer ahead")        \
    X(DP, "dp_overlap", "gradient reduction behind the last backward pass")                 \
    X(PP, "pp_overlap", "sends between stages behind the next microbatch")                  \
    X(EP, "ep_overlap", "expert all-to-alls behind another microbatch")
/* clang-format on */

typedef enum ridge_overlap_kind {
#define RIDGE_OVERLAP_ENUM(name, text, what) RIDGE_OVERLAP_##name,
    RIDGE_OVERLAP_LIST(RIDGE_OVERLAP_ENUM)
#undef RIDGE_OVERLAP_ENUM
} ridge_overlap_kind;

#define RIDGE_OVERLAP_ONE(name, text, what) +1
enum { RIDGE_OVERLAP_COUNT = 0 RIDGE_OVERLAP_LIST(RIDGE_OVERLAP_ONE) };
#undef RIDGE_OVERLAP_ONE

const char *ridge_overlap_kind_text(ridge_overlap_kind overlap);
const char *ridge_overlap_kind_what(ridge_overlap_kind overlap);

/* ---- context parallelism --------------------------------------------------------- */

/* How keys and values meet queries on other ranks of cp. */
/* clang-format off */
#define RIDGE_CONTEXT_LIST(X)                                                              \
    X(RING, "ring", "keys and values go round behind the scores of the last chunk")         \
    X(GATHER, "gather", "keys and values are gathered before the scores")                   \
    X(ALL_TO_ALL, "all-to-all", "tokens are exchanged for heads and back (Ulysses)")
/* clang-format on */

typedef enum ridge_cp_exchange {
#define RIDGE_CONTEXT_ENUM(name, text, what) RIDGE_CP_##name,
    RIDGE_CONTEXT_LIST(RIDGE_CONTEXT_ENUM)
#undef RIDGE_CONTEXT_ENUM
} ridge_cp_exchange;

#define RIDGE_CONTEXT_ONE(name, text, what) +1
enum { RIDGE_CP_COUNT = 0 RIDGE_CONTEXT_LIST(RIDGE_CONTEXT_ONE) };
#undef RIDGE_CONTEXT_ONE

const char *ridge_cp_text(ridge_cp_exchange exchange);
RIDGE_NODISCARD ridge_status ridge_cp_parse(ridge_ctx *cx, const char *text,
                                            ridge_cp_exchange *out);

/* ---- experts --------------------------------------------------------------------- */

/* How tokens reach their experts, and what the experts made comes back. */
/* clang-format off */
#define RIDGE_DISPATCH_LIST(X)                                                             \
    X(COPIES, "copies", "a copy of a token for each of its experts, by an all-to-all")      \
    X(ONCE, "once", "one copy to each node, spread there to each rank once (DeepEP, HybridEP)") \
    X(ONCE_FP8, "once-fp8", "as once, sent out in fp8 and combined in bf16")
/* clang-format on */

typedef enum ridge_ep_dispatch {
#define RIDGE_DISPATCH_ENUM(name, text, what) RIDGE_DISPATCH_##name,
    RIDGE_DISPATCH_LIST(RIDGE_DISPATCH_ENUM)
#undef RIDGE_DISPATCH_ENUM
} ridge_ep_dispatch;

#define RIDGE_DISPATCH_ONE(name, text, what) +1
enum { RIDGE_DISPATCH_COUNT = 0 RIDGE_DISPATCH_LIST(RIDGE_DISPATCH_ONE) };
#undef RIDGE_DISPATCH_ONE

const char *ridge_ep_dispatch_text(ridge_ep_dispatch dispatch);
const char *ridge_ep_dispatch_what(ridge_ep_dispatch dispatch);
/** @errors E_ARG with the names */
RIDGE_NODISCARD ridge_status ridge_ep_dispatch_parse(ridge_ctx *cx, const char *text,
                                                     ridge_ep_dispatch *out);

/* ---- layouts -------------------------------------------------------------------- */

/** Layers of a first or last stage: as an even deal gives; or none, so that it holds
 *  the embedding, or the head and the loss, alone. */
enum { RIDGE_STAGE_EVEN = 0, RIDGE_STAGE_NONE = -1 };

/**
 * A training layout with every knob set. dp x fsdp x tp x cp x pp = chips; experts are
 * cut ep ways inside tp x cp x fsdp x dp. Weights, gradients and optimizer state are
 * sharded over the fsdp axis by zero_stage and replicated over dp. A layout of zeros
 * but for its degrees is plain: 1F1B, even stages, AdamW, nothing offloaded.
 */
typedef struct ridge_layout {
    int64_t dp, fsdp, tp, cp, pp, ep;
    int zero_stage; /* 0 none, 1 optimizer, 2 and gradients, 3 and weights (FSDP) */
    bool has_sp;    /* activations between TP blocks are cut over tp */
    ridge_cp_exchange cp_exchange;
    ridge_ep_dispatch ep_dispatch;
    ridge_schedule schedule;           /* 1F1B with vpp > 1 is interleaved */
    int64_t vpp;                       /* virtual stages a rank; 1: one */
    int64_t first_layers, last_layers; /* of those stages, or RIDGE_STAGE_* */
    int64_t mtp; /* multi-token prediction layers that are trained, beside the head */
    int64_t microbatch_seqs;
    ridge_remat remat;         /* or RIDGE_REMAT_OPERATIONS: those of remat_ops */
    ridge_remat_ops remat_ops; /* 0: of a policy */
    int64_t remat_layers; /* of each stage; its other layers keep all. 0: every layer */
    unsigned offload;     /* RIDGE_OFFLOAD_* */
    ridge_precision precision;
    ridge_optimizer optimizer;
    ridge_lora lora;      /* of optimizer=lora */
    bool has_tp_overlap;  /* TP collectives run as collective matmuls */
    bool is_fsdp_exposed; /* no prefetch of weights, scatters waited for */
    bool is_dp_exposed;   /* gradients reduced after the backward pass */
    bool has_pp_overlap;  /* sends hide behind compute */
    bool has_ep_overlap;  /* expert all-to-alls hide behind another microbatch */
    int placement; /* which order of mesh and network axes, see ridge_placement_text */
} ridge_layout;

/** "full", "h+up+act" in the ctx's arena; NULL when memory ran out. */
const char *ridge_layout_remat_text(ridge_ctx *cx, const ridge_layout *layout);

/** The schedule that runs: interleaved where 1F1B has several virtual stages. */
ridge_schedule ridge_layout_schedule(const ridge_layout *layout);
/** Whether each rank of its pipeline has two chunks: zb-v, dualpipe. */
bool ridge_layout_has_two_chunks(const ridge_layout *layout);
/**
 * Layers of a stage in the order of the model, as they are priced: stage c pp + r is
 * chunk c of rank r, of zb-v and dualpipe the second chunks in reverse order. A rank's
 * layers are dealt out evenly to its chunks, the first ones get what is over.
 * @param layers  of the model
 * @param stage   0 .. pp x chunks - 1
 */
int64_t ridge_layout_stage_layers(const ridge_layout *layout, int64_t layers,
                                  int64_t stage);
bool ridge_layout_has_overlap(const ridge_layout *layout, ridge_overlap_kind overlap);
void ridge_layout_set_overlap(ridge_layout *layout, ridge_overlap_kind overlap,
                              bool is_on);

enum { RIDGE_MTP_MOST = 16 };

enum {
    RIDGE_ZERO_FREE = -1,
    RIDGE_REMAT_FREE = -1,
    RIDGE_FLAG_FREE = -1,
    RIDGE_PLACEMENT_MOST = 732, /* numbers of placements on a torus of three axes */
    RIDGE_KNOB_FREE = -1,       /* schedule, offload: what frameworks run unasked */
    RIDGE_KNOB_ANY = -2         /* schedule, offload: everything */
};

/** Knobs that the user fixed; 0 (or *_FREE) leaves a knob to the search. */
typedef struct ridge_knobs {
    int64_t dp, fsdp, tp, cp, pp, ep, vpp, microbatch_seqs;
    int64_t remat_layers; /* 0: free */
    int mtp;              /* multi-token prediction layers that are trained */
    int64_t first_layers, last_layers;
    bool is_first_fixed, is_last_fixed;
    int zero_stage;
    int remat; /* a policy, RIDGE_REMAT_FREE, or RIDGE_REMAT_OPERATIONS: */
    ridge_remat_ops remat_ops; /* those, or 0: the search chooses them */
    int has_sp;
    int schedule;    /* ridge_schedule, RIDGE_KNOB_FREE or RIDGE_KNOB_ANY */
    int offload;     /* flags, RIDGE_KNOB_FREE or RIDGE_KNOB_ANY */
    int cp_exchange; /* or RIDGE_KNOB_FREE */
    int placement; /* its number, RIDGE_KNOB_FREE: the usual ones, or RIDGE_KNOB_ANY */
    int ep_dispatch; /* or RIDGE_KNOB_FREE: as the stack has it, else copies */
    int overlap[RIDGE_OVERLAP_COUNT]; /* 0, 1 or RIDGE_FLAG_FREE */
    ridge_precision precision;
    ridge_optimizer optimizer;
    ridge_lora lora;
} ridge_knobs;

ridge_knobs ridge_knobs_free(void);
/** Set one knob from text, as in "tp=8", "remat=full", "precision=fp8".
 * @errors E_ARG unknown key (with the nearest) or value */
RIDGE_NODISCARD ridge_status ridge_knobs_set(ridge_ctx *cx, ridge_knobs *knobs,
                                             const char *key, const char *value);
/** Whether fixed knobs agree with each other and with the model's layers, on whatever
 * hardware. @errors E_ARG names the contradiction and what to change */
RIDGE_NODISCARD ridge_status ridge_knobs_check(ridge_ctx *cx, const ridge_knobs *knobs,
                                               const ridge_model *model);

#ifdef __cplusplus
}
#endif

#endif
