/*
 * Sharding: meshes with named axes, how a tensor lies on one, which collectives take
 * one sharding to another, and programs partitioned over a mesh. Knows nothing of time:
 * where a choice needs a cost, the caller brings one.
 */
#ifndef RIDGE_SHARD_H
#define RIDGE_SHARD_H

#include "ridge/base.h"
#include "ridge/hardware.h"
#include "ridge/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- meshes and shardings -------------------------------------------------------- */

typedef struct ridge_mesh_axis {
    const char *name; /* "x", "tp" */
    int64_t size;     /* >= 1 */
} ridge_mesh_axis;

typedef struct ridge_mesh {
    int n;
    ridge_mesh_axis axes[RIDGE_MESH_AXIS_MAX];
} ridge_mesh;

/** "x=4,y=2"; "" is a mesh of one rank. @errors E_PARSE with the place */
RIDGE_NODISCARD ridge_status ridge_mesh_parse(ridge_ctx *cx, const char *text,
                                              ridge_mesh *out);
int64_t ridge_mesh_size(const ridge_mesh *mesh);
/** By name, then by name in another letter case. @return -1: none */
int ridge_mesh_find(const ridge_mesh *mesh, const char *name);

/** The mesh axes over which one dim is cut, outermost first: each cuts into equal
 * chunks, rounded up, what the axes before it leave. */
typedef struct ridge_dim_axes {
    int n;
    int axes[RIDGE_MESH_AXIS_MAX];
} ridge_dim_axes;

/** Orders of n axes: n!, for n up to RIDGE_MESH_AXIS_MAX. */
int64_t ridge_dim_axes_orders(int n);
/** Put a set of axes in its order number @p index, in place.
 * @param index  from 0, below ridge_dim_axes_orders; 0: as they stand */
void ridge_dim_axes_permute(ridge_dim_axes *axes, int64_t index);

/**
 * How a tensor lies on a mesh. An axis cuts at most one dim, or carries partial sums;
 * over the other axes the tensor is replicated.
 */
typedef struct ridge_sharding {
    int n_dims;
    ridge_dim_axes dims[RIDGE_TENSOR_DIM_MAX];
    unsigned partial; /* bit a: partial sums over mesh axis a */
} ridge_sharding;

bool ridge_sharding_equal(const ridge_sharding *a, const ridge_sharding *b);
/** Mesh axes in use, as bits: cut dims and partial sums. */
unsigned ridge_sharding_axes(const ridge_sharding *s);
/** NULL, or why it is illegal: "axis x cuts two dims". */
const char *ridge_sharding_fault(ridge_arena *arena, const ridge_mesh *mesh,
                                 const ridge_sharding *s);
/** Ways in which a dim is cut. */
int64_t ridge_dim_ways(const ridge_mesh *mesh, const ridge_dim_axes *axes);
/** Local length of a dim, padded up where it does not divide. */
int64_t ridge_dim_local(const ridge_mesh *mesh, const ridge_dim_axes *axes,
                        int64_t size);
/** Elements that padding adds to a dim over all its ranks: local x ways - size. */
int64_t ridge_dim_padding(const ridge_mesh *mesh, const ridge_dim_axes *axes,
                          int64_t size);
/** Elements that one rank holds, with padding. @param sizes  of the n_dims dims */
double ridge_sharding_local_elements(const ridge_mesh *mesh, const ridge_sharding *s,
                                     const int64_t *sizes);

/* ---- expressions: A[I@x,J] * B[J,K@y] -> C[I@x,K@y] {U@z} ------------------------ */

enum { RIDGE_EXPR_INPUT_MAX = 4 };

/** An array of an expression: names of dims and how it lies. */
typedef struct ridge_expr_tensor {
    const char *name;
    int n_dims;
    int dims[RIDGE_TENSOR_DIM_MAX]; /* indices into expr->dims */
    ridge_sharding sharding;
    double element_bytes; /* 2 after parsing; set it for other formats */
} ridge_expr_tensor;

/** A sharded einsum. */
typedef struct ridge_expr {
    int n_dims;
    ridge_program_dim dims[RIDGE_PROGRAM_DIM_MAX];
    ridge_mesh mesh;
    int n_inputs;
    ridge_expr_tensor inputs[RIDGE_EXPR_INPUT_MAX];
    ridge_expr_tensor output;
} ridge_expr;

/**
 * Read an expression:
 *
 *     A[I@x,J] * B[J,K@y] -> C[I@x,K@y]{U@z}
 *
 * The * may be left out. A dim lies over several axes as I@xy where the axes are single
 * letters, or as I@(tp,dp) or I@tp+dp, outermost first. The book's subscripts I_X, I_XY
 * and {U_X} say the same; axes match in any letter case. {U@z} are partial sums, of an
 * input too. Without an arrow the output "out" holds the dims of exactly one input in
 * their order, cut as there, and no partial sums; an axis that would cut two of them
 * stays with the first.
 * @param mesh  "x=4,y=2"; @param dims  "I=1024,J=4096"
 * @errors E_PARSE with the text, the column and how to mend it; E_ARG an illegal
 *         sharding with its reason
 */
RIDGE_NODISCARD ridge_status ridge_expr_parse(ridge_ctx *cx, const char *text,
                                              const char *mesh, const char *dims,
                                              ridge_expr *out);

/** Where the text of an expression, of its mesh or of its sizes is wrong. */
typedef struct ridge_expr_fault {
    const char *text; /* the one of the three; borrowed. NULL: no place to show */
    size_t column;    /* in it, from 1 */
} ridge_expr_fault;

/** The texts of an expression, for ridge_expr_parse_at. */
typedef struct ridge_expr_texts {
    const char *expr, *mesh, *dims;
} ridge_expr_texts;

/** ridge_expr_parse that also tells the place of a fault. @param fault  out, on failure
 */
RIDGE_NODISCARD ridge_status ridge_expr_parse_at(ridge_ctx *cx,
                                                 const ridge_expr_texts *texts,
                                                 ridge_expr_fault *fault,
                                                 ridge_expr *out);
/** The line that is wrong and a caret under the place; nothing when it has none. */
void ridge_expr_fault_write(const ridge_expr_fault *fault, ridge_buf *out);

/** The sizes of an array's dims, into RIDGE_TENSOR_DIM_MAX places. */
void ridge_expr_tensor_sizes(const ridge_expr *expr, const ridge_expr_tensor *t,
                             int64_t *sizes);
/** Input @p operand, or the output for n_inputs. */
const ridge_expr_tensor *ridge_expr_operand(const ridge_expr *expr, int operand);
/** The whole expression in its notation. */
void ridge_expr_write(const ridge_expr *expr, ridge_buf *out);
/** The notation of one array, "A[I@x,J]{U@y}". */
void ridge_expr_tensor_write(const ridge_expr *expr, const ridge_expr_tensor *t,
                             ridge_buf *out);

/* ---- collective steps ------------------------------------------------------------ */

/* name, text. Numbers agree with ridge_collective of cost.h where both have the kind.
 */
/* clang-format off */
#define RIDGE_STEP_KIND_LIST(X)             \
    X(ALL_GATHER, "AllGather")              \
    X(REDUCE_SCATTER, "ReduceScatter")      \
    X(ALL_REDUCE, "AllReduce")              \
    X(ALL_TO_ALL, "AllToAll")               \
    X(SLICE, "Slice")  /* drop what other ranks hold: nothing moves */
/* clang-format on */

typedef enum ridge_step_kind {
#define RIDGE_STEP_KIND_ENUM(name, text) RIDGE_STEP_##name,
    RIDGE_STEP_KIND_LIST(RIDGE_STEP_KIND_ENUM)
#undef RIDGE_STEP_KIND_ENUM
} ridge_step_kind;

#define RIDGE_STEP_KIND_ONE(name, text) +1
enum { RIDGE_STEP_KIND_COUNT = 0 RIDGE_STEP_KIND_LIST(RIDGE_STEP_KIND_ONE) };
#undef RIDGE_STEP_KIND_ONE

const char *ridge_step_kind_text(ridge_step_kind kind);

/**
 * One collective on one array: AllGather removes a subscript, ReduceScatter turns a
 * partial sum into one, AllReduce removes a partial sum, AllToAll moves a subscript,
 * Slice adds one. Subscripts come off and go onto the inner end of a dim's axes: what
 * lies outside them stays where it is. A Slice with dim_to -1 keeps the array as it is.
 */
typedef struct ridge_reshard {
    ridge_step_kind kind;
    int operand; /* input index, or n_inputs for the output */
    int n_axes;
    int axes[RIDGE_MESH_AXIS_MAX];
    int dim_from, dim_to; /* position in the array; -1: does not apply */
    /* V of the collective: bytes of one group's global array, with padding, as
     * ridge_collective_price of cost.h takes it. A slice: of what it cuts. */
    double bytes;
} ridge_reshard;

/**
 * The transpose of a step, for the backward pass: AllGather <-> ReduceScatter, AllToAll
 * back, AllReduce <-> a Slice with dim_to -1 (each rank keeps what it has); a Slice
 * becomes an AllGather. @source scaling-book-2025 chapter 3; shoeybi2019 section 3
 */
ridge_reshard ridge_reshard_transpose(const ridge_reshard *step);

/** The sharding after a step. @return false when the step does not apply */
bool ridge_reshard_apply(const ridge_mesh *mesh, ridge_sharding *s,
                         const ridge_reshard *step);

/** Ranks of one group of a step. */
int64_t ridge_reshard_ranks(const ridge_mesh *mesh, const ridge_reshard *step);
/** Bytes that one chip sends: V (n-1)/n for AllGather and ReduceScatter, twice that for
 *  AllReduce, V (n-1)/n^2 for AllToAll, 0 for Slice. @source thakur2005 */
double ridge_reshard_sent_bytes(const ridge_mesh *mesh, const ridge_reshard *step);
/** "AllGather_xy A", "ReduceScatter_x C over K", "AllToAll_x A from J to I". */
void ridge_reshard_write(const ridge_expr *expr, const ridge_reshard *step,
                         ridge_buf *out);

enum { RIDGE_RESHARD_MAX = 16, RIDGE_STRATEGY_MAX = 256 };

/** One right way to compute a sharded einsum. */
typedef struct ridge_strategy {
    int n_steps; /* before the product, then after it */
    int n_before;
    ridge_reshard steps[RIDGE_RESHARD_MAX];
    ridge_sharding inputs[RIDGE_EXPR_INPUT_MAX]; /* as multiplied */
    ridge_sharding output;                       /* as it comes out, before steps */
} ridge_strategy;

/**
 * All right strategies: every set of gathers, slices and moves of operands and of
 * reductions, gathers, slices and moves of the result that ends in the wanted output.
 * None does a step that it could leave out, none spends two steps of an array on an
 * axis where one would do. Where shardings order the axes of a dim differently, the
 * axes in the way are gathered and sliced again. Sorted by bytes sent, then by number
 * of steps, then by operands and axes.
 * @param out  room for RIDGE_STRATEGY_MAX; of more, those that send the most are left
 * out
 * @errors E_ARG when there is none, with the reason, or too many to enumerate; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_expr_strategies(ridge_ctx *cx,
                                                   const ridge_expr *expr,
                                                   ridge_strategy *out, int *n);
/** Bytes that one chip sends in all steps. */
double ridge_strategy_sent_bytes(const ridge_mesh *mesh, const ridge_strategy *s);
/** Share of what all ranks multiply that is padding: 0 when every cut dim divides. */
double ridge_strategy_padding(const ridge_expr *expr, const ridge_strategy *s);
/** The axes that cut a dim of the expression while it is multiplied. */
ridge_dim_axes ridge_strategy_dim_axes(const ridge_expr *expr, const ridge_strategy *s,
                                       int dim);
/** Steps in order, the local product as "multiply": "AllGather_x A; multiply". */
void ridge_strategy_write(const ridge_expr *expr, const ridge_strategy *s,
                          ridge_buf *out);

/**
 * The sequence that takes one sharding of an array to another and sends the fewest
 * bytes. Steps are of operand 0.
 * @param sizes          of the array's dims
 * @param element_bytes  of one element
 * @param out            room for RIDGE_RESHARD_MAX
 * @errors E_ARG when there is none, with the reason: partial sums cannot be made again
 */
RIDGE_NODISCARD ridge_status ridge_reshard_plan(
    ridge_ctx *cx, const ridge_mesh *mesh, const int64_t *sizes, double element_bytes,
    const ridge_sharding *from, const ridge_sharding *to, ridge_reshard *out, int *n);

/**
 * Which of the book's four cases of a sharded matmul the operands are. 1: no contracted
 * dim is cut. 2: one is cut in one input alone, or differently in both. 3: cut alike in
 * both. 4: an axis cuts a free dim of both. The highest that holds, but for 2 before 3.
 * @return 1 to 4; 0 for another shape: not two inputs, nothing contracted, partial sums
 * or a batching dim that lies differently. @source scaling-book-2025 chapter 3
 */
int ridge_expr_case(const ridge_expr *expr);

/* ---- partitioned programs -------------------------------------------------------- */

/** A rule: program dims by name cut over mesh axes, for tensors of a role, or by name.
 */
typedef struct ridge_rule {
    const char *tensor; /* name, or NULL: every tensor of the role */
    ridge_role role;
    const char *dim;
    int n_axes;
    const char *axes[RIDGE_MESH_AXIS_MAX]; /* outermost first */
} ridge_rule;

typedef struct ridge_rules {
    int n;
    const ridge_rule *rules;
} ridge_rules;

/**
 * Rules as arrays with subscripts: "x[B@dp,D] w1[D,F@tp] weight[D@fsdp]". A name is a
 * tensor of the program or a role.
 * @param fault  out, on failure. @owner cx
 * @errors E_PARSE, E_ARG with the text and the column; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_rules_parse(ridge_ctx *cx, const char *text,
                                               const ridge_program *program,
                                               const ridge_mesh *mesh,
                                               ridge_expr_fault *fault,
                                               ridge_rules *out);

/** Cost of one step, for choosing between ways; lower is better. */
typedef double ridge_reshard_cost_fn(void *payload, const ridge_mesh *mesh,
                                     const ridge_reshard *step);

/** A conflict that was resolved: which operation, what was gathered, what else could
 * be. */
typedef struct ridge_conflict {
    int op;
    const char *text;
} ridge_conflict;

/** A program whose tensors lie on a mesh, with collectives put in. Owned by a ctx. */
typedef struct ridge_partition {
    const ridge_program *program; /* with COLLECTIVE operations; dims are global */
    ridge_mesh mesh;
    const ridge_sharding *shardings; /* [n_tensors] */
    const int *copy_of; /* [n_tensors] tensor whose values it holds: itself, or the one
                           that a collective has brought into another layout */
    int n_conflicts;
    const ridge_conflict *conflicts;
    const double *lengths; /* [n_tensors][RIDGE_TENSOR_DIM_MAX] local, in use, of these
                              dims' sizes; NULL: worked out when asked */
} ridge_partition;

/**
 * Propagate shardings from weights and inputs and put in the collectives.
 * Rules of weights, states, caches and inputs say how these lie. Rules of activations
 * say where results are brought. A state starts as its weight, a weight's gradient as
 * the state, any other gradient as its tensor; rules of role GRADIENT are for those of
 * weights. A slice, which moves nothing, is an ELEMENTWISE copy of which each rank
 * keeps its part. A loss cut along V is a partial state of a softmax until two
 * all-reduces of its size have finished it. See docs/design/sharding.md.
 *
 * @param rules  later rules win, and take their axes off other dims of the tensor; a
 * dim that does not divide is padded, but for KV heads: replicated over axes that do
 * not divide them
 * @param cost   NULL: by bytes moved
 * @errors E_ARG an illegal rule, with its reason; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_partition_build(
    ridge_ctx *cx, const ridge_program *program, const ridge_mesh *mesh,
    const ridge_rule *rules, int n_rules, ridge_reshard_cost_fn *cost, void *payload,
    const ridge_partition **out);

/** Local elements of a tensor, with padding. */
double ridge_partition_local_elements(const ridge_partition *p, int tensor);
/** Local length of a dim of a tensor. */
int64_t ridge_partition_local_dim(const ridge_partition *p, int tensor, int position);

void ridge_partition_write(const ridge_partition *p, ridge_buf *out);

/* ---- parallelism as rules -------------------------------------------------------- */

/** How context parallelism brings keys and values to queries. */
typedef enum ridge_context_kind {
    RIDGE_CONTEXT_GATHER, /* keys and values are gathered: at once, or around a ring */
    RIDGE_CONTEXT_ALL_TO_ALL /* tokens are exchanged for heads and back (Ulysses) */
} ridge_context_kind;

/** Degrees of parallelism, each 1 or more; their product is the mesh. */
typedef struct ridge_parallelism {
    int64_t dp;     /* replicas of everything */
    int64_t fsdp;   /* replicas over which ZeRO cuts */
    int64_t ep;     /* experts; also cuts the batch, and with fsdp the other weights */
    int64_t cp;     /* tokens of a sequence */
    int64_t tp;     /* heads, feed-forward width, words */
    int zero_stage; /* 0 to 3: what fsdp cuts: nothing, optimizer state and gradients
                       (1, 2: they differ in how long gradients stay whole), weights too
                     */
    bool is_sequence_parallel; /* tp cuts the tokens of the residual stream too */
    bool is_vocab_parallel;    /* tp cuts embedding and logits along V */
    bool is_expert_whole;      /* tp deals out experts as ep does, instead of cutting
                                  their width */
    ridge_context_kind context;
} ridge_parallelism;

/**
 * The mesh and the rules of a way to parallelise a program: rows of a table, a dim
 * letter with mesh axes each. Axes of size 1 are left out. Where tp does not divide the
 * KV heads it becomes two axes, tp (which cuts them) and tpr (over which they are
 * replicated).
 *
 * @param rules  out: owned by the ctx
 * @errors E_ARG a degree below 1 or a stage outside 0 .. 3; E_NOMEM
 * @source shoeybi2019 (tp), korthikanti2022 (sequence), rajbhandari2020 (ZeRO),
 *         zhao2023-fsdp, liu2023-ring, jacobs2023-ulysses, lepikhin2020 (experts)
 */
RIDGE_NODISCARD ridge_status ridge_parallelism_rules(
    ridge_ctx *cx, const ridge_program *program, const ridge_parallelism *degrees,
    ridge_mesh *mesh, const ridge_rule **rules, int *n_rules);

/** A piece of a block and the pipeline stage that runs it. */
typedef struct ridge_stage_row {
    int block;
    int64_t first,
        count; /* repetitions; of a backward block in the forward numbering */
    int stage;
} ridge_stage_row;

/**
 * The table of an even pipeline: stage s runs layers L s / S to L (s + 1) / S, backward
 * and optimizer blocks where their forward ones run, what stands before the layers on
 * the first stage and what stands behind them on the last. Rows in the order of the
 * blocks.
 * @errors E_ARG stages outside 1 .. layers; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_pipeline_rows(ridge_ctx *cx,
                                                 const ridge_program *program,
                                                 int stages,
                                                 const ridge_stage_row **rows, int *n);

/**
 * The table of a pipeline whose stages have as many layers as is said. The first and
 * the last one may have none: the embedding, or the head and the loss, alone.
 * @param layers  [stages], in the order of the model
 * @errors E_ARG layers that do not add up to the model's, or none between the ends;
 *         E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_pipeline_rows_of(ridge_ctx *cx,
                                                    const ridge_program *program,
                                                    const int64_t *layers, int stages,
                                                    const ridge_stage_row **rows,
                                                    int *n);

/**
 * The program of one stage, of the table above or any other whose pieces of a stage
 * follow each other. A SEND, in a block of its own, hands the residual stream or its
 * gradient to another stage; what is received is declared as input or gradient. A
 * weight that blocks of several stages read (a tied embedding) is in each.
 * @owner the ctx; names and dims are those of @p program, which must outlive it
 * @errors E_ARG no row of that stage; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_pipeline_stage(ridge_ctx *cx,
                                                  const ridge_program *program,
                                                  const ridge_stage_row *rows,
                                                  int n_rows, int stage,
                                                  const ridge_program **out);

#ifdef __cplusplus
}
#endif

#endif
