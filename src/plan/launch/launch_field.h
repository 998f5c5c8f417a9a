/*
 * What options of launch configurations say, whatever they are called: the columns that
 * the tables of all frameworks share. A knob is one row here and one in each table.
 */
#ifndef RIDGE_PLAN_LAUNCH_FIELD_H
#define RIDGE_PLAN_LAUNCH_FIELD_H

/* clang-format off */
#define LAUNCH_FIELD_LIST(X)                                                             \
    /* degrees */                                                                        \
    X(TP) X(PP) X(CP) X(EP) X(EXPERT_TP) X(DP_REPLICAS) X(DP_SHARDS)                     \
    X(SP) X(VIRTUAL_STAGES) X(LAYERS_PER_VIRTUAL_STAGE) X(STAGES) X(SCHEDULE)            \
    X(DCN_DP) X(DCN_FSDP) X(DCN_TP) X(DCN_CP) X(DCN_PP) X(DCN_EP)                        \
    X(FSDP_TRANSPOSED) X(TP_SEQUENCE) X(DCN_TP_SEQUENCE) X(PIPELINE_REPEATS)             \
    X(PIPELINE_LAYERS) X(STAGE_LAYERS) X(FIRST_LESS) X(LAST_LESS) X(PIPELINE_MICROBATCH) \
    X(CONVERTERS) X(HARDWARE) X(SCALE) X(SAC_OPTION)                                     \
    /* what data parallelism shards */                                                   \
    X(ZERO_OPTIMIZER) X(ZERO_FULL) X(ZERO_TORCH) X(ZERO_STRATEGY) X(RESHARD)             \
    X(OVERLAP_REDUCE) X(OVERLAP_GATHER) X(TP_OVERLAP)                                    \
    /* batch */                                                                          \
    X(MICROBATCH) X(BATCH) X(LOCAL_BATCH) X(ACCUMULATION) X(MICROBATCHES)                \
    X(SEQ) X(SAMPLES) X(STEPS)                                                           \
    /* recomputation */                                                                  \
    X(REMAT) X(REMAT_METHOD) X(REMAT_LAYERS) X(REMAT_MODULES) X(REMAT_SELECTIVE) X(KEEP_CONTEXT) X(KEEP_Q) X(KEEP_K) X(KEEP_V) \
    X(KEEP_QKV) X(KEEP_OUT) X(KEEP_GATE) X(KEEP_UP) X(KEEP_GATE_UP) X(KEEP_DOWN)         \
    /* precision and optimizer */                                                        \
    X(BF16) X(FP16) X(FP8) X(FP8_RECIPE) X(FP8_GATHER) X(FP4) X(REDUCE_BF16) X(MAIN_GRADS) X(COMPUTE_DTYPE)          \
    X(WEIGHT_DTYPE) X(GRAD_DTYPE) X(OPTIMIZER)                                           \
    /* model by name */                                                                  \
    X(MODEL_NAME) X(MODEL_FLAVOR) X(TOKENIZER_TYPE) X(TOKENIZER_MODEL) X(VOCAB_FILE)     \
    /* model by sizes */                                                                 \
    X(LAYERS) X(D_MODEL) X(D_FF) X(HEADS) X(KV_HEADS) X(HAS_GROUPS) X(HEAD_DIM)          \
    X(V_HEAD_DIM) X(VOCAB) X(VOCAB_MULTIPLE) X(POSITIONS) X(POSITION_KIND) X(ROPE)       \
    X(GATED) X(ACTIVATIONS) X(UNTIED) X(TIED) X(NO_BIAS) X(QKV_BIAS) X(QK_NORM)          \
    X(NORM) X(OUT_GATE) X(WINDOW) X(BLOCK)                                               \
    X(MLA) X(Q_LORA) X(KV_LORA) X(NOPE_DIM) X(ROPE_DIM)                                  \
    X(EXPERTS) X(EXPERTS_PER_TOKEN) X(EXPERT_D_FF) X(SHARED_D_FF) X(SHARED_EXPERTS)      \
    X(SHARED_GATE) X(EXPERT_GROUPS) X(GROUPS_PER_TOKEN) X(ROUTER_BIAS) X(MOE_PATTERN) X(FIRST_DENSE) X(MOE_STEP)              \
    X(FIRST_LAYERS) X(LAST_LAYERS) X(EMBEDDING_STAGE) X(LOSS_STAGE) X(CP_EXCHANGE)       \
    X(OPTIMIZER_OFFLOAD) X(OFFLOAD_FRACTION) X(WEIGHTS_OFFLOAD) X(PRECISION_AWARE)       \
    X(FIRST_MOMENT) X(SECOND_MOMENT) X(MOMENTUM) X(EP_OVERLAP) X(NO_PP_OVERLAP)          \
    X(GROUPED_GEMM) X(DISPATCHER) X(DISPATCHER_BACKEND) X(NO_GRAD_FUSION) X(CHECKPOINT_FORMAT)                 \
    X(SPEC) X(BASE) X(MTP)                                                                      \
    /* serving */                                                                        \
    X(ATTENTION_DP) X(HAS_ATTENTION_DP) X(EXPERT_PARALLEL) X(KV_SPLIT) X(KV_BATCH)       \
    X(SEQUENCES) X(BUDGET) X(CONTEXT) X(PROMPT) X(CACHE_BLOCK) X(MEMORY_SHARE)           \
    X(CACHE_DTYPE) X(CACHE_QUANT) X(QUANT) X(QUANT_LOADED) X(PREFIX_CACHE)               \
    X(NO_PREFIX_CACHE) X(CHUNKED) X(NO_CHUNKED) X(CHUNK) X(NO_GRAPHS) X(GRAPH_SEQS)      \
    X(DRAFT_METHOD) X(DRAFT_MODEL) X(DRAFT_DEPTH) X(DRAFT_NODES) X(DRAFT_WIDTH)          \
    X(DRAFT_LOOKUP) X(DRAFT_JSON)                                                        \
    X(KV_CONNECTOR) X(KV_ROLE) X(KV_JSON) X(ROLE) X(TRANSFER)                            \
    X(NODES) X(NODE_RANK) X(HEAD_ADDRESS) X(LAUNCHED_BY) X(SHARDING_JSON) X(SCAN)        \
    X(WEIGHTS_PATH) X(TOKENIZER) X(PORT) X(EVICTION) X(OVERLAP) X(NO_OVERLAP)\
    X(DRAFT_LAYERS) X(TWO_BATCHES) X(RANKS_LOCAL) X(RANKS_BY)                            \
    X(HAS_REPLICAS) X(REPLICAS) X(REPLICAS_JSON)                                         \
    X(PLANNED) X(PROMPTS_MOST) X(RESERVE) X(MIXED) X(BALANCE) X(BALANCE_WAIT) X(GATHER_WAIT) X(GRAPH_MODE) \
    X(WAITING_SHARE) X(WAITING_STEPS) X(GRAPH_SIZES) X(SHARDED) X(VISIBLE) X(CACHE_BITS)
/* clang-format on */

typedef enum launch_field {
    LAUNCH_UNPRICED,       /* changes the time, and is not modelled */
    LAUNCH_UNPRICED_MODEL, /* the same of the model: one that is given knows better */
#define LAUNCH_FIELD_ENUM(name) LAUNCH_##name,
    LAUNCH_FIELD_LIST(LAUNCH_FIELD_ENUM)
#undef LAUNCH_FIELD_ENUM
} launch_field;

#define LAUNCH_FIELD_ONE(name) +1
enum { LAUNCH_FIELD_COUNT = 2 LAUNCH_FIELD_LIST(LAUNCH_FIELD_ONE) };
#undef LAUNCH_FIELD_ONE

/** An option of a framework. */
typedef struct launch_option {
    const char *name;
    launch_field field;
    /* What the framework takes when it is not stated, or NULL. An unpriced option with
     * this value, or one of these ("a|b"), changes nothing. */
    const char *otherwise;
    const char *effect; /* of an unpriced option: what it changes */
} launch_option;

/** The options of a framework that have a meaning here; ends with a NULL name. Options
 * with one field are one option's names over the years, the present one first. */
extern const launch_option launch_megatron_options[];
extern const launch_option launch_bridge_options[];
extern const launch_option launch_maxtext_options[];
extern const launch_option launch_torchtitan_options[];
extern const launch_option server_vllm_options[];
extern const launch_option server_vllm_tpu_options[];
extern const launch_option server_sglang_options[];
extern const launch_option server_trtllm_options[];
extern const launch_option server_tgi_options[];
extern const launch_option server_lmdeploy_options[];
extern const launch_option server_maxtext_options[];

#endif
