/*
 * One rank's machine: the values of a partitioned program in a device's memory, and its
 * instructions carried out by kernels and collectives. Knows nothing of training,
 * schedules or files.
 */
#ifndef RIDGE_EXECUTE_MACHINE_H
#define RIDGE_EXECUTE_MACHINE_H

#include "device.h"
#include "instruction.h"
#include "tensor_part.h"

#include "ridge/execute_comm.h"

typedef struct ridge__machine ridge__machine;

/** Rows of experts as a tensor of some sharding has them: sorted by local expert. */
typedef struct ridge__rows_layout {
    ridge_dim_axes experts, places; /* of E and of C */
    int64_t n;                      /* local experts */
    int64_t *offsets;               /* [n + 1], host memory */
} ridge__rows_layout;

/** How rows go from one layout to one farther from the tokens, and back: an all-to-all
 * of experts, or a gather of the rows of all ranks. */
typedef struct ridge__rows_move {
    int from, to; /* layouts */
    ridge_step_kind kind;
    int axis; /* of the mesh; -1: several */
    int ranks;
    int32_t *send, *receive;   /* rows to and from each rank, [ranks], host memory */
    int32_t *arrival, *resort; /* device memory: which arrived row each row is, and the
                                  reverse; rows arrive by rank, then by expert */
} ridge__rows_move;

enum { RIDGE__ROWS_LAYOUTS = 6 };

/** Which rows a dispatch made of a rank's tokens, and where they went. */
typedef struct ridge__routing {
    int64_t tokens;
    int32_t *token; /* device memory: the token of each row of the first layout */
    int n_layouts, n_moves;
    ridge__rows_layout layouts[RIDGE__ROWS_LAYOUTS];
    ridge__rows_move moves[RIDGE__ROWS_LAYOUTS];
} ridge__routing;

/** A value in the device's memory. */
typedef struct ridge__value {
    void *p;          /* NULL: not there */
    int64_t elements; /* with padding */
    ridge_dtype dtype;
    ridge__routing *routing; /* of a side value of dispatch */
} ridge__value;

/** The values of one microbatch that is under way. */
typedef struct ridge__flight {
    ridge__value *values; /* [n_values] */
    bool adds;            /* gradients are added to what is there */
    int tag;              /* which microbatch and chunk, for messages and traces */
} ridge__flight;

/** One event of a trace. */
typedef struct ridge__trace_event {
    int op, repetition, tag;
    bool is_taken_in; /* by the product before it: no time of its own */
    double start_s, end_s;
} ridge__trace_event;

/** What an optimizer step is told. */
typedef struct ridge__optimizer {
    float rate, beta1, beta2, epsilon, decay;
    float correction1, correction2; /* 1 - beta^step; 1: none */
    float momentum;                 /* of Muon */
    float factor_decay;             /* of Adafactor's mean squares, in this step */
    float scale;                    /* of gradients */
} ridge__optimizer;

/** Angles of rotary. */
typedef struct ridge__rotation {
    const float *frequencies; /* [h / 2] */
    float magnitude;
} ridge__rotation;

enum { RIDGE__ROTATION_COUNT = 3 }; /* the usual one, none, that of windows */

/** Numbers of a model that its program does not say. */
typedef struct ridge__numbers {
    float norm_epsilon;
    ridge__rotation rotations[RIDGE__ROTATION_COUNT];
    const unsigned char *rotation_of; /* [layers of the model]; NULL: the first */
    bool is_gate_whole; /* gates: softmax over all experts, not over the chosen ones */
} ridge__numbers;

/** What a stage hands on. The array is the receiver's of this call: it gives it back to
 * the device once it has been sent. */
typedef struct ridge__message {
    ridge__array array;
    int64_t elements;
    bool is_gradient; /* of the stream, to the stage before */
} ridge__message;

typedef ridge_status ridge__send_fn(void *payload, ridge__machine *m,
                                    const ridge__flight *flight,
                                    const ridge__message *message);

/** Where the document of each token begins, in its sequence: out [sequences, tokens],
 * host memory. @param tag  of the flight */
typedef ridge_status ridge__documents_fn(void *payload, int tag, ridge__span sequences,
                                         ridge__span tokens, int32_t *out);

typedef struct ridge__machine_options {
    const ridge_mesh *world; /* of all ranks, with the partition's mesh as its last
                                axes; NULL: the partition's is the world's */
    ridge__unrolling unrolling;
    ridge__numbers numbers;
    ridge_dtype gradient; /* of sums over microbatches: FP32, or as the gradient is */
    int64_t trace_most;   /* events to keep; 0: none */
    double memory_bytes;  /* that weights, states and gradients may take; 0: any */
    ridge__send_fn *send; /* of pipelines; NULL: programs without sends */
    void *send_payload;
    ridge__documents_fn *documents; /* attention stays inside of them; NULL: none */
    void *documents_payload;
    const ridge__machine *lender; /* of the same model: its weights and caches are used;
                                     NULL: own ones */
} ridge__machine_options;

enum { RIDGE__ROWS_LOG_MOST = 4096 };

/** Rows of experts that this rank multiplied, product by product of the forward pass
 * since ridge__machine_begin; what goes beyond is left out. */
typedef struct ridge__rows_log {
    int n;
    int32_t rows[RIDGE__ROWS_LOG_MOST];
} ridge__rows_log;

struct ridge__machine {
    ridge_ctx *cx;
    ridge__device *device;
    const ridge_partition *partition;
    const ridge_program *program;
    ridge__machine_options options;
    ridge__unrolled unrolled;
    int64_t coords[RIDGE_MESH_AXIS_MAX];
    ridge__tensor_part *parts; /* [n_tensors] */
    ridge_dtype *formats;      /* [n_tensors]: FP32 or BF16 */
    ridge_comm **groups;       /* [n_ops]: of collectives; NULL otherwise */
    ridge_comm *axis_groups[RIDGE_MESH_AXIS_MAX];
    ridge__value *fixed; /* [n_values]: weights, states, caches, gradients */
    ridge__optimizer optimizer;
    int64_t position;           /* of the first query token: what caches hold before */
    const int64_t *block_layer; /* [n_blocks]: the model's layer of its first
                                   repetition; NULL: not told */
    ridge__trace_event *trace;
    int64_t n_trace;
    bool is_traced;
    ridge__rows_log rows;
    ridge__array *muon_parts; /* [updates], worked out ahead: update_muon.c; NULL */
};

/**
 * Unroll the program and make room for what is fixed. All ranks of the world call it
 * together.
 * @owner cx for the tables; the device for the arrays, until ridge__machine_close
 * @errors E_ARG an operation that cannot be run, with its name and why; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__machine_open(ridge_ctx *cx, ridge__device *device,
                                                 ridge_comm *world,
                                                 const ridge_partition *partition,
                                                 const ridge__machine_options *options,
                                                 ridge__machine **out);
void ridge__machine_close(ridge__machine *m);
/** Weights, states, caches and gradients at zero, or those of the lender.
 * @errors E_NOMEM more than options.memory_bytes, or than there is */
RIDGE_NODISCARD ridge_status ridge__machine_make_fixed(ridge__machine *m);

/** @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__flight_open(ridge__machine *m, ridge__flight *out);
/** Give its arrays back; it can be used again. */
void ridge__flight_close(ridge__machine *m, ridge__flight *flight);

/** Carry out a list for a microbatch; the step's lists take a flight of their own. */
RIDGE_NODISCARD ridge_status ridge__machine_run(ridge__machine *m,
                                                ridge__flight *flight,
                                                ridge__list_kind list);
/** Before the first microbatch of a step: sums that only ever add start at zero. */
RIDGE_NODISCARD ridge_status ridge__machine_begin(ridge__machine *m);

/** The value under a number: fixed, or of the flight. */
ridge__value *ridge__machine_value(ridge__machine *m, ridge__flight *flight, int value);
/** Room for a value if there is none yet. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__value_make(ridge__machine *m, ridge__value *v,
                                               int tensor);
void ridge__value_drop(ridge__machine *m, ridge__value *v);
ridge_dtype ridge__tensor_format(const ridge__machine *m, int tensor);

/* ---- one call of an operation -----------------------------------------------------
 */

/** An instruction with its values: what the calls below work on. */
typedef struct ridge__call {
    ridge__machine *m;
    ridge__flight *flight;
    const ridge__instruction *at;
    const ridge_operation *op;
    ridge__value *in[RIDGE_OP_INPUT_MAX];
    ridge__value *out[RIDGE_OP_OUTPUT_MAX];
    ridge__value *side;
    ridge__array bias; /* of a product that takes in the addition behind it */
    bool adds[RIDGE_OP_OUTPUT_MAX]; /* to what an output holds */
} ridge__call;

/** The part, the tensor and the array of an operand. */
const ridge__tensor_part *ridge__in_part(const ridge__call *c, int input);
const ridge__tensor_part *ridge__out_part(const ridge__call *c, int output);
const ridge_tensor *ridge__in_tensor(const ridge__call *c, int input);
const ridge_tensor *ridge__out_tensor(const ridge__call *c, int output);
ridge__array ridge__in_array(const ridge__call *c, int input);
ridge__array ridge__out_array(const ridge__call *c, int output);
/** The output that is the gradient of an input; -1: none is wanted. */
int ridge__gradient_output(const ridge__call *c, int input);
/** Local sizes of an operand's dims, rows of experts as [rows, ...]. @return how many
 */
int ridge__call_sizes(const ridge__call *c, bool is_output, int index, int64_t *sizes);

/** Device memory for the length of a call. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__scratch_take(ridge__call *c, int64_t elements,
                                                 ridge_dtype dtype, ridge__array *out);
void ridge__scratch_give(ridge__call *c, ridge__array *array);

RIDGE_NODISCARD ridge_status ridge__call_einsum(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_ring_product(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_attention(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_scan(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_norm(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_elementwise(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_gather(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_loss(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_loss_reduce(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_route(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_dispatch(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_combine(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_update(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_collective(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_rows_move(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__call_send(ridge__call *c);

/** A part of an einsum of two factors: some entries of one dim. Operands are 0 and 1,
 * the output is 2. */
typedef struct ridge__piece {
    int dim;                /* program dim */
    int64_t length;         /* entries; 0: nothing happens */
    int64_t first[3];       /* where they begin in an operand that has the dim */
    ridge__array arrays[3]; /* in place of the call's, laid out as these */
    bool is_added;          /* to what the output holds */
} ridge__piece;

RIDGE_NODISCARD ridge_status ridge__call_einsum_piece(ridge__call *c,
                                                      const ridge__piece *piece);

/** Where the rows of each local expert begin in a tensor, [groups + 1]. */
const int64_t *ridge__rows_offsets(const ridge__call *c, int tensor, int *groups);
/** A layout for a tensor's sharding. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__rows_layout_add(ridge__call *c, int tensor,
                                                    int *out);
/** Whether two tensors' rows lie alike. */
bool ridge__rows_are_alike(const ridge__call *c, int a, int b);
/** Room for rows that have been counted. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__rows_make(ridge__call *c, int output);
void ridge__routing_close(ridge__machine *m, ridge__routing *r);

/** The element of collectives for a format. */
ridge_element ridge__element_of(ridge_dtype dtype);
/** Whether the program can be run at all, on a device (NULL: a CPU).
 * @errors E_ARG with the operation and why */
RIDGE_NODISCARD ridge_status ridge__machine_check(ridge_ctx *cx,
                                                  const ridge__device *device,
                                                  const ridge_partition *partition);

#endif
