/*
 * A training problem made ready for pricing many layouts: what does not change from one
 * layout to the next is worked out once.
 */
#ifndef RIDGE_PLAN_TRAIN_CASE_H
#define RIDGE_PLAN_TRAIN_CASE_H

#include "ridge/plan.h"

/** The kinds of layers that a stage holds. */
typedef struct train_stage {
    const double *layers; /* [kinds] how many of each kind */
    bool has_embedding, has_head;
    double copies;      /* of a stage's worth of weights: 1, or 2 where it is dual */
    double head_passes; /* a microbatch: 1, or a half; more with prediction layers */
    double predictions; /* prediction layers, whose layers stand in `layers` too */
    double of_layers;   /* of the stage that it is a part of; 0: it is whole */
    int first;          /* earliest stage that looks like this: the fullest */
    int count;          /* stages that look like this */
} train_stage;

/** How layers are dealt out: the choices of a layout that decide it. */
typedef struct stage_cut {
    int64_t pp;
    int64_t first_layers, last_layers; /* or RIDGE_STAGE_* */
    int64_t mtp;                       /* prediction layers, on the last stage */
    bool is_folded; /* two chunks a rank, the second back up: its ends on rank 0 */
    bool is_dual;   /* two stages a rank, of a pipeline each way */
} stage_cut;

stage_cut stage_cut_of(const ridge_layout *layout);

/** Layers of stage s of pp, where they are dealt as evenly as can be. */
int64_t train_stage_size(int64_t layers, int64_t pp, int64_t s);

/** Whether there are layers enough, and none left over. */
bool train_stages_exist(int64_t layers, const stage_cut *cut);

/** Whether pp x vpp chunks have a layer each, or all but the first and the last, which
 * then hold the embedding and the head alone, as Megatron-LM counts them. */
bool train_chunks_exist(int64_t layers, int64_t pp, int64_t vpp);
/** Layers of stage s, 0 .. pp - 1, of a cut that exists. */
int64_t train_stage_layers(int64_t layers, const stage_cut *cut, int64_t s);

/** The stages of a pipeline; stages that are alike stand once. */
typedef struct train_stages {
    stage_cut cut;
    int n;
    train_stage *stages;
    int *of_rank;               /* [pp] which of the stages a rank has */
    struct stage_pass *passes;  /* [n] scratch of a price, see paced_step.h */
    double *totals_s;           /* [n] the same of a bound */
    ridge_memory_parts *states; /* [n] scratch of a search, see search_memory.h */
    double layers_most;         /* of any stage */
} train_stages;

enum { NAMED_MOST = 24 };

/** The model's programs, lowered and cut, see layer_program.h. */
typedef struct train_programs train_programs;

typedef struct train_case {
    ridge_ctx *cx;
    const ridge_train_request *request;
    const ridge_model *model;
    const ridge_slice *slice;
    const ridge_chip *chip;
    const ridge_policy *policy; /* of the precision, with the optimizer's moments */
    const ridge_stack *stack;   /* NULL: well tuned */
    ridge_params params;
    int n_kinds;
    const ridge_layer *kinds;
    ridge_weight (*weights)[RIDGE_WEIGHT_MAX]; /* [kinds] */
    int *n_weights;                            /* [kinds] */
    int64_t batch_seqs;
    double seq_tokens;
    double usable_bytes;        /* of a chip's memory */
    double flops_per_token;     /* training, by the request's convention */
    double mtp_flops_per_token; /* the same of one prediction layer */
    double usd_per_chip_hour;   /* 0: not known */
    train_stages *stages_by_pp; /* memo, n_stages_by_pp entries */
    int n_stages_by_pp, cap_stages_by_pp;
    train_programs *programs;    /* NULL until the first is wanted */
    struct step_memo *steps;     /* of chips that overlap nothing, see step_program.h */
    struct ridge_pacer *pacer;   /* plays steps */
    ridge_status status;         /* of the last terms that could not be made */
    ridge_lora lora;             /* of frozen weights' adapters */
    const double *forward_calls; /* [kinds] of the host; NULL: no eager stack */
    int n_named; /* sets of operations that layouts may do again, one by one */
    ridge_remat_ops named[NAMED_MOST];
} train_case;

/** @errors as ridge_train_check; E_NOMEM. @owner cx */
RIDGE_NODISCARD ridge_status train_case_open(ridge_ctx *cx,
                                             const ridge_train_request *request,
                                             train_case *out);

/** Forget what was worked out for layouts; the caller has taken its memory back.
 * @return false when memory ran out */
bool train_case_forget(train_case *tc);

/** What kept a layout from being priced. @errors of layers' programs; E_NOMEM */
ridge_status train_case_status(const train_case *tc);

/** Take a layout's precision, optimizer and adapters. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status train_case_set_policy(train_case *tc,
                                                   ridge_precision precision,
                                                   ridge_optimizer optimizer,
                                                   const ridge_lora *lora);

/** Take the operations that a layout does again, if it names them. */
void train_case_set_remat(train_case *tc, const ridge_layout *layout);
/** Policies, and beyond RIDGE_REMAT_COUNT the case's sets of named operations. */
int train_remat_index(const train_case *tc, const ridge_layout *layout);

/** Bytes a second between a chip and its host, one direction; 0: not known. */
double train_host_bytes_per_s(const ridge_chip *chip);

/** The stages of a layout's cut, which exists, from the memo. NULL when memory ran out.
 */
const train_stages *train_case_stages(train_case *tc, const ridge_layout *layout);

/** Shards of the tensors that ZeRO cuts, and replicas of each shard. */
typedef struct train_ways {
    int64_t shards, replicas; /* of dense parameters */
    int64_t expert_width;     /* ways in which the width of an expert is cut */
    int64_t expert_shards, expert_replicas; /* of routed experts */
} train_ways;

train_ways train_layout_ways(const ridge_layout *layout);

/**
 * Ways in which tp cuts the width of routed experts. An ep that tp divides deals out
 * whole experts over the ranks of tp and others; else ep lies outside tp, and tp cuts
 * what each of its ranks holds.
 */
int64_t train_expert_width(int64_t tp, int64_t ep);

/** Parameters of one layer that a chip holds before ZeRO: cut by tp and ep. */
typedef struct train_params {
    double dense, expert;
} train_params;

train_params train_layer_params(const train_case *tc, int kind, int64_t tp, int64_t ep);

/** Training FLOPs of a token, with the prediction layers that a layout trains and
 * without gradients of frozen weights. */
double train_flops_per_token(const train_case *tc, const ridge_layout *layout);

/** Parameters of embedding, head and prediction layers' own maps on a chip, before
 * ZeRO. */
double train_embedding_params(const train_case *tc, const train_stage *stage,
                              int64_t tp, int64_t pp);

/** KV heads of a layer that share a cut: the most ways in which wk and wv are cut. */
int64_t train_kv_ways(const ridge_mixer *mixer, int64_t tp);

#endif
