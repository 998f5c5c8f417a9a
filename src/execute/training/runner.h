/*
 * One rank of a run: its stages of the pipeline, each a machine; how they exchange
 * messages; weights in and out. Knows nothing of tokens' meaning.
 */
#ifndef RIDGE_EXECUTE_RUNNER_H
#define RIDGE_EXECUTE_RUNNER_H

#include "machine.h"

#include "ridge/execute.h"

/** One chunk of layers on this rank: a virtual stage. */
typedef struct ridge__chunk {
    int stage;                   /* of the model: which of its layers there are */
    int place;                   /* virtual stage of the schedule, 0 .. pp vpp - 1 */
    bool is_copy;                /* of a stage that another rank has too (dualpipe) */
    const ridge_program *full;   /* the whole model's */
    const ridge_stage_row *rows; /* of all stages; NULL: one stage */
    int n_rows;
    ridge__machine *m;
    int tokens, labels;           /* tensors, or -1 */
    int positions;                /* of learned position tables, or -1 */
    int position_offset;          /* row of position 0 */
    int stream, stream_gradient;  /* tensors that other stages send, or -1 */
    int loss, logits;             /* tensors, or -1 */
    int tied, tied_from, tied_to; /* an embedding that two stages have; its gradient, as
                                     the first awaits it, as the last makes it: tensors,
                                     or -1 */
    ridge__flight *flights;       /* [microbatches] */
    bool *is_open;                /* [microbatches] */
    bool has_inputs, has_weights; /* lists that have run in this step */
} ridge__chunk;

/** A message under way: its array lives until it is received. */
typedef struct ridge__sent {
    ridge_pending pending;
    ridge__array array;
    int peer;
    int consumer; /* place in the peer's list of actions at which it is received */
} ridge__sent;

/** A message to a chunk of the same rank. */
typedef struct ridge__local {
    ridge__array array;
    int64_t elements;
    int tag;
} ridge__local;

typedef struct ridge__runner {
    ridge_ctx *cx;
    ridge__device *device;
    const ridge_run_layout *layout;
    ridge_comm *world, *pipe_comm;
    ridge_mesh mesh;       /* of a stage */
    ridge_mesh world_mesh; /* pp in front of it */
    int pipe_rank;
    ridge_pipeline_schedule schedule;
    int n_chunks;
    ridge__chunk *chunks; /* [vpp] */
    ridge__sent *sent;
    int n_sent, sent_most;
    ridge__local *local;
    int n_local;
    int action;           /* place in this rank's list */
    ridge__flight *steps; /* [vpp]: of the step's own lists */
    double trace_start_s;
    int threads;      /* of this rank's own work on the host */
    bool is_borrower; /* the device is another's */
} ridge__runner;

/** What a runner is opened for. */
typedef struct ridge__runner_options {
    const ridge_model *model;
    const ridge_numerics *numerics;
    const ridge_run_layout *layout;
    ridge_lowering lowering;
    int threads;
    const ridge_measured_chip *measured; /* on this machine; NULL: nothing */
    int microbatches;
    int64_t trace_most;
    ridge__documents_fn *documents; /* NULL: none */
    void *documents_payload;
    ridge__runner *lender; /* whose device, weights and caches are used; NULL: own */
} ridge__runner_options;

/** All ranks of the world call it. @errors as ridge_run_train */
RIDGE_NODISCARD ridge_status ridge__runner_open(ridge_ctx *cx, ridge_comm *world,
                                                const ridge__runner_options *options,
                                                ridge__runner **out);
void ridge__runner_close(ridge__runner *r);

/** Carry out this rank's actions of a step. @param feed  fills tokens and labels */
typedef ridge_status ridge__feed_fn(void *payload, ridge__runner *r,
                                    ridge__chunk *chunk, int microbatch,
                                    ridge__flight *flight);
/** Find a chunk's tensors in its machine's program; -1 those that it has not. */
void ridge__chunk_find_tensors(ridge__chunk *chunk);
/** Tell its machine which of the model's layers its blocks are. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__chunk_find_layers(ridge__chunk *chunk);
/** Epsilon, rotary frequencies of every layer, how gates are weighed. @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__runner_numbers(ridge__runner *r,
                                                   const ridge_program *full,
                                                   const ridge__runner_options *options,
                                                   ridge__numbers *out);
/** Called behind each forward pass of the last stage. */
typedef ridge_status ridge__result_fn(void *payload, ridge__runner *r,
                                      ridge__chunk *chunk, int microbatch,
                                      ridge__flight *flight);

typedef struct ridge__step_hooks {
    ridge__feed_fn *feed;
    ridge__result_fn *result;
    void *payload;
    bool is_forward_only;
} ridge__step_hooks;

/** Stages of one copy of the model. */
int ridge__layout_stages(const ridge_run_layout *layout);
/** How many copies of the stages the ranks of a pipeline hold: 1, or 2 (dualpipe). */
int ridge__layout_copies(const ridge_run_layout *layout);

RIDGE_NODISCARD ridge_status ridge__runner_passes(ridge__runner *r,
                                                  const ridge__step_hooks *hooks);
/**
 * Reduce gradients, clip, update.
 * @param optimizer  its scale is that of gradients before clipping
 * @param clip       largest norm; 0: none
 * @param norm       out: of scaled gradients, before clipping
 */
RIDGE_NODISCARD ridge_status ridge__runner_update(ridge__runner *r,
                                                  const ridge__optimizer *optimizer,
                                                  double clip, double *norm);

/** An update of the step: its weight and the gradient that it reads. */
typedef struct ridge__updated {
    ridge__chunk *chunk;
    int weight, gradient; /* tensors */
    ridge__value *value;  /* of the gradient */
} ridge__updated;

typedef ridge_status ridge__update_visit(ridge__runner *r, const ridge__updated *u,
                                         void *payload);
/** Each update of a chunk, in the order of its list. */
RIDGE_NODISCARD ridge_status ridge__chunk_each_update(ridge__runner *r,
                                                      ridge__chunk *chunk,
                                                      ridge__update_visit *visit,
                                                      void *payload);
/** Gradients of stages that two ranks hold, added up: both then have the sum. */
RIDGE_NODISCARD ridge_status ridge__runner_sum_copies(ridge__runner *r);

/* ---- messages of the pipeline ------------------------------------------------------
 */

ridge_status ridge__runner_send(void *payload, ridge__machine *m,
                                const ridge__flight *flight,
                                const ridge__message *message);
/** What another stage made for a tensor of this chunk. */
RIDGE_NODISCARD ridge_status ridge__runner_receive(ridge__runner *r,
                                                   ridge__chunk *chunk, int microbatch,
                                                   bool is_gradient,
                                                   ridge__flight *flight);
RIDGE_NODISCARD ridge_status ridge__runner_settle(ridge__runner *r);
/** One value onto another of as many elements, or added to it. */
RIDGE_NODISCARD ridge_status ridge__runner_copy_value(ridge__runner *r,
                                                      const ridge__value *from,
                                                      const ridge__value *to,
                                                      bool is_added);
/** The last stage's gradient of a tied embedding, added to the first one's. */
RIDGE_NODISCARD ridge_status ridge__runner_tie_gradients(ridge__runner *r);
/** The first stage's tied embedding, to the last one. */
RIDGE_NODISCARD ridge_status ridge__runner_tie_weights(ridge__runner *r);

/* ---- sharing numbers ---------------------------------------------------------------
 */

/** n doubles of each rank of a group -> out [ranks, n], in host memory. */
RIDGE_NODISCARD ridge_status ridge__share_doubles(ridge__runner *r, ridge_comm *comm,
                                                  const double *in, int n, double *out);
/** The sum over all ranks of the world, in their order. */
RIDGE_NODISCARD ridge_status ridge__share_sum(ridge__runner *r, double in, double *out);

/* ---- weights -----------------------------------------------------------------------
 */

/** Layers of the model in front of a block of the whole program. */
int64_t ridge__layers_before(const ridge_program *full, int block);
/** The model's layer of the first repetition of a block; -1: it is none. */
int64_t ridge__block_layer(const ridge__chunk *chunk, int block);
/** The model's layer of a value; -1: of none. */
int64_t ridge__value_layer(const ridge__chunk *chunk, int tensor, int64_t repetition);
/** How many ranks of a stage hold the same part of a tensor. */
int64_t ridge__tensor_replicas(const ridge__machine *m, int tensor);
/** Whether this rank writes its part: the first of those that have it. */
bool ridge__tensor_is_mine(const ridge__machine *m, int tensor);
/** Whether a tensor of this chunk is also that of the first stage. */
bool ridge__tensor_is_tied(const ridge__runner *r, const ridge__chunk *chunk,
                           int tensor);
/** Whether the first and the last stage share the embedding. */
bool ridge__runner_is_tied(const ridge__runner *r);
ridge_region ridge__tensor_region(const ridge__machine *m, int tensor);

/** New weights by counter: any layout gets the same. Norms are 1, biases 0, moments 0.
 */
RIDGE_NODISCARD ridge_status ridge__runner_init(ridge__runner *r, uint64_t seed,
                                                double scale);
RIDGE_NODISCARD ridge_status
ridge__runner_read_source(ridge__runner *r, const ridge_weight_source *source,
                          const ridge_numerics *numerics);
/** Whether the ranks together have read all that the model's layers have in a
 * checkpoint: what is left is arithmetic that the program does not have. All ranks call
 * it. @errors E_ARG with the name of a weight */
RIDGE_NODISCARD ridge_status ridge__weights_are_used(ridge__runner *r,
                                                     const ridge_weight_source *source);
/** @param with_states  optimizer states too */
RIDGE_NODISCARD ridge_status ridge__runner_read_checkpoint(
    ridge__runner *r, const ridge_checkpoint_reader *reader, bool with_states);
/** All ranks call it. @param state  of the leading rank @param path  out, there */
RIDGE_NODISCARD ridge_status ridge__runner_write(ridge__runner *r,
                                                 const ridge_checkpoint_plan *plan,
                                                 const char **path);
/** Bytes of weights and states on this rank. */
double ridge__runner_fixed_bytes(const ridge__runner *r);

#endif
