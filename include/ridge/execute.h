/*
 * Partitioned programs executed for real: training and generation on a mesh of ranks.
 * What runs is what is priced: the same lowering, the same partition, the same names.
 * Ranks and collectives are in execute_comm.h, text in execute_text.h, weights and
 * checkpoints in execute_weights.h.
 */
#ifndef RIDGE_EXECUTE_H
#define RIDGE_EXECUTE_H

#include "ridge/base.h"
#include "ridge/execute_comm.h"
#include "ridge/execute_text.h"
#include "ridge/execute_weights.h"
#include "ridge/hardware_measured.h"
#include "ridge/model.h"
#include "ridge/program_remat.h"
#include "ridge/shard.h"
#include "ridge/simulate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- layouts --------------------------------------------------------------------- */

/** How a model is spread over ranks. Ranks are numbered stage by stage, and within a
 * stage by the mesh of ridge_parallelism_rules: their number is pp times its size. */
typedef struct ridge_run_layout {
    ridge_parallelism degrees;
    int pp, vpp; /* pipeline ranks, chunks of layers on each; 1 */
    ridge_schedule schedule;
    int64_t microbatch_seqs;     /* sequences of a microbatch on each replica */
    const int64_t *stage_layers; /* [pp * vpp] layers of each stage, in the order of the
                                    model; NULL: an even deal. 0 at an end: the
                                    embedding, or the head and the loss, alone */
    ridge_remat remat;
    ridge_remat_ops
        remat_ops; /* operations that are done again instead; 0: the policy */
    int64_t
        remat_layers;   /* of each rank's; its other layers keep all. 0: every layer */
    ridge_dtype weight; /* FP32 or BF16: of weights and activations */
    ridge_dtype gradient; /* of sums of gradients, and on the network */
    bool has_master;      /* fp32 master weights beside BF16 ones */
    ridge_update update;
} ridge_run_layout;

/** One rank, one sequence a microbatch, everything kept, fp32. */
ridge_run_layout ridge_run_layout_single(void);
/** Ranks that a layout takes. */
int64_t ridge_run_layout_ranks(const ridge_run_layout *layout);
/** Sequences of a microbatch over all replicas. */
int64_t ridge_run_layout_sequences(const ridge_run_layout *layout);
/** "tp=2 pp=2 1f1b microbatch=4 remat=full", in the ctx's arena. */
const char *ridge_run_layout_text(ridge_ctx *cx, const ridge_run_layout *layout);

/* ---- training -------------------------------------------------------------------- */

/* name, text, what */
/* clang-format off */
#define RIDGE_RATE_LIST(X)                                                     \
    X(CONSTANT, "constant", "the peak rate after the warm-up")                  \
    X(COSINE, "cosine", "half a cosine from the peak to the least rate")        \
    X(LINEAR, "linear", "a line from the peak to the least rate")
/* clang-format on */

typedef enum ridge_rate_kind {
#define RIDGE_RATE_ENUM(name, text, what) RIDGE_RATE_##name,
    RIDGE_RATE_LIST(RIDGE_RATE_ENUM)
#undef RIDGE_RATE_ENUM
} ridge_rate_kind;

const char *ridge_rate_kind_text(ridge_rate_kind kind);
RIDGE_NODISCARD ridge_status ridge_rate_kind_parse(ridge_ctx *cx, const char *text,
                                                   ridge_rate_kind *out);

/** How weights learn: the optimizer's numbers, its rate over the steps, clipping by the
 * global norm. @source kingma2015, loshchilov2019, pascanu2013, jordan2024-muon,
 * shazeer2018 */
typedef struct ridge_learning {
    ridge_rate_kind kind;
    double rate;         /* peak */
    double least;        /* at the end, as a part of the peak; 0 to 1 */
    int64_t warmup;      /* steps of a line from 0 to the peak */
    double beta1, beta2; /* 0.9, 0.95 */
    double epsilon;      /* 1e-8 */
    double momentum;     /* of Muon: 0.95 */
    double factor_power; /* Adafactor keeps 1 - step^-this of its averages: 0.8 */
    double decay;        /* of matrices; vectors (norms) have none */
    double clip;         /* largest norm of all gradients; 0: none */
} ridge_learning;

/** Rate 3e-4 on a cosine to a tenth, warm-up 0, decay 0.1, clip 1. */
ridge_learning ridge_learning_usual(void);
/** The rate of a step, 0 the first, of @p steps in all. */
double ridge_learning_rate(const ridge_learning *learning, int64_t step, int64_t steps);

/** What happened in a step, or in an evaluation. */
typedef struct ridge_run_event {
    int64_t step;         /* from 1 */
    double loss;          /* mean nats a token */
    double gradient_norm; /* before clipping */
    double rate;
    double step_s; /* wall time */
    double tokens_per_s;
    double peak_flops_per_s; /* of all ranks, measured; 0: not */
    bool is_evaluation;      /* then only step and loss are set */
    const char *checkpoint;  /* path of one that was written; NULL */
} ridge_run_event;

/** Called by the leading rank alone, in its thread; text is borrowed for the call. */
typedef void ridge_run_watch(void *payload, const ridge_run_event *event);

/** A training run. Borrowed pointers outlive it. */
typedef struct ridge_train_run {
    const ridge_model *model;
    ridge_numerics numerics;
    ridge_run_layout layout;
    ridge_ranks ranks; /* as many as the layout takes */
    int threads; /* that compute for each rank; 0: processors / ranks, at least 1 */
    /* on this machine: products of bf16 go the way that was quicker. NULL: they are
     * made fp32 first, unless the CPU has matrix tiles */
    const ridge_measured_chip *measured;
    int64_t seq_tokens;
    int64_t batch_seqs; /* of a step; a last microbatch is filled up with nothing */
    int64_t steps;      /* in all, with those before a resume */
    ridge_learning learning;
    const ridge_token_data *data;
    bool has_documents;   /* a token attends to its own document alone */
    int32_t document_end; /* the token that ends one, and belongs to it */
    uint64_t seed;
    bool is_peak_measured; /* tells the machine's FMA peak: a tenth of a second */
    double init_scale;     /* standard deviation of new weights; 0: 0.02 */
    int64_t eval_every, eval_seqs; /* 0: no evaluation */
    const char *checkpoint_dir;    /* NULL: none are written */
    int64_t checkpoint_every;      /* steps; the last step writes one too */
    int keep;                      /* checkpoints that stay; 0: all */
    bool is_resumed;        /* from the newest in checkpoint_dir, if there is one */
    const char *weights;    /* of others, to begin with; NULL: new ones */
    const char *trace;      /* file for a trace of the last step; NULL */
    ridge_run_watch *watch; /* or NULL */
    void *payload;
} ridge_train_run;

typedef struct ridge_train_report {
    int64_t first_step, last_step; /* that ran */
    double first_loss, last_loss;
    double eval_loss;     /* of the last evaluation; NaN: none */
    double median_step_s; /* without the first two steps, if there are more */
    double tokens_per_s;
    double peak_flops_per_s; /* of all ranks, fp32; the best measured; 0: none */
    double expert_load; /* rows of experts in the last step: the busiest rank's over the
                           mean; 0: no experts */
    int ranks;
    double *peak_memory_bytes; /* [ranks]: of arrays on the device; owned by the ctx */
    double *weight_bytes;      /* [ranks]: weights and optimizer state */
} ridge_train_report;

/**
 * Train. Every layout gives the same losses and weights, to float tolerance.
 *
 * The batch of step s is drawn by (seed, s) alone; sums of gradients are divided by the
 * tokens of the batch. Checkpoints are whole or not there.
 * @owner the ctx
 * @errors E_ARG ranks, sizes that do not divide, operations without kernels; E_IO,
 *         E_PARSE of files; E_NOMEM; E_CANCELLED
 */
RIDGE_NODISCARD ridge_status ridge_run_train(ridge_ctx *cx, const ridge_train_run *run,
                                             ridge_train_report *out);

/* ---- generation ------------------------------------------------------------------ */

/** How the next token is taken. */
typedef struct ridge_sampling {
    double temperature; /* 0: the likeliest */
    int64_t top_k;      /* 0: all */
    double top_p;       /* 1: all */
    uint64_t seed;
} ridge_sampling;

/** Called by the leading rank with each new token. @return false to stop */
typedef bool ridge_token_watch(void *payload, int32_t token);

typedef struct ridge_generate_run {
    const ridge_model *model;
    ridge_numerics numerics;
    ridge_run_layout layout; /* dp, fsdp, cp and ep of 1 are used; others are refused */
    ridge_ranks ranks;
    int threads;
    const ridge_measured_chip *measured; /* as of a training run */
    const char *weights;                 /* of others; or NULL */
    const char *checkpoint;              /* of Ridge; or NULL */
    const int32_t *prompt;
    int64_t n_prompt; /* >= 1 */
    int64_t n_new;    /* most new tokens */
    int32_t stop;     /* token that ends the text; -1: none */
    int64_t context;  /* room of the cache; 0: prompt and new tokens */
    ridge_sampling sampling;
    ridge_token_watch *watch;
    void *payload;
} ridge_generate_run;

typedef struct ridge_generate_report {
    int64_t n; /* new tokens */
    int32_t *tokens;
    double prefill_s, decode_s; /* of the prompt; of all tokens after the first */
} ridge_generate_report;

/**
 * Continue a prompt. Every layout gives the same tokens, to float tolerance.
 * @owner the ctx
 * @errors as ridge_run_train; E_ARG neither weights nor checkpoint, or both
 */
RIDGE_NODISCARD ridge_status ridge_run_generate(ridge_ctx *cx,
                                                const ridge_generate_run *run,
                                                ridge_generate_report *out);

#ifdef __cplusplus
}
#endif

#endif
