/*
 * A module on its way to what one of its devices runs: values that lie over a mesh, and
 * operations that say which dims of what they take and make are one. Layer-internal.
 */
#ifndef RIDGE_SPMD_H
#define RIDGE_SPMD_H

#include "hlo_builder.h"
#include "hlo_graph.h"
#include "hlo_sharding.h"
#include "ridge/shard.h"

/** An array of the module; arrays within tuples are values of their own. What a loop
 *  carries is one value: its result, and the parameter of its body and condition. */
typedef struct spmd_value {
    const ridge_hlo_shape *shape;
    ridge_sharding sharding;
    unsigned open; /* bit d: dim d may be cut further than it is said to be */
    bool is_deep;  /* more dims than shardings have: it stays whole */
    bool is_told;  /* an annotation says how it lies */
} spmd_value;

/** Values that an instruction makes or names. */
typedef struct spmd_leaves {
    int n;
    const int *values;
} spmd_leaves;

typedef enum spmd_factor_kind {
    SPMD_PASS,   /* may be cut: all that have it are then cut alike */
    SPMD_REDUCE, /* summed away: cut, it leaves partial results */
    SPMD_WHOLE   /* has to be there entirely */
} spmd_factor_kind;

/** A dim, or a part of a merged one, that an operation treats alike in all its arrays.
 */
typedef struct spmd_factor {
    int64_t size;
    spmd_factor_kind kind;
} spmd_factor;

enum { SPMD_DIM_FACTOR_MAX = 6 };

/** The factors that a dim is made of, outermost first. */
typedef struct spmd_dim {
    int n;
    int factors[SPMD_DIM_FACTOR_MAX];
} spmd_dim;

typedef struct spmd_tensor {
    int value;
    int n; /* dims */
    spmd_dim dims[RIDGE_TENSOR_DIM_MAX];
} spmd_tensor;

/** How partial results are put together. */
typedef enum spmd_reducer {
    SPMD_REDUCER_ADD,
    SPMD_REDUCER_MULTIPLY,
    SPMD_REDUCER_MAXIMUM,
    SPMD_REDUCER_MINIMUM,
    SPMD_REDUCER_AND,
    SPMD_REDUCER_OR,
    SPMD_REDUCER_NONE /* no known one: what is reduced is whole */
} spmd_reducer;

/** What an operation does, as propagation and partitioning see it. */
typedef struct spmd_op {
    int graph, node;
    int n_operands, n; /* tensors: operands, then results */
    spmd_tensor *tensors;
    hlo_list factors; /* spmd_factor */
    spmd_reducer reducer;
    bool is_carry;        /* a loop's state or a branch's result: no work of its own */
    bool is_pointwise;    /* all its arrays lie alike */
    bool is_one_way[2];   /* nothing is learned forward, backward through it */
    int manual;           /* tensor that has the whole array of which the other is one
                             device's part, by axes that propagation leaves alone; -1 */
    ridge_sharding fixed; /* of that tensor: those axes, outside of all others */
    const char *reason;   /* why it takes something whole; NULL: a dim it works along */
} spmd_op;

/** A remark of the answer. */
typedef struct spmd_note {
    const char *text;
    int line;
    double bytes;
} spmd_note;

typedef struct spmd {
    ridge_ctx *cx;
    ridge_arena *scratch;
    const ridge_hlo_module *whole;
    hlo_graphs graphs;
    hlo_mesh named;
    ridge_mesh mesh;
    int axis_of[16][RIDGE_MESH_AXIS_MAX]; /* of a named axis: its axes in the mesh */
    int n_axis_of[16];
    hlo_list values;      /* spmd_value */
    spmd_leaves **leaves; /* [graph][node] */
    hlo_list ops;         /* spmd_op, in the order of the graphs and their nodes */
    int **op_of;          /* [graph][node]: index of its op; -1: a name, or a carry's */
    spmd_leaves outputs;  /* of the entry */
    ridge_sharding *wanted; /* [outputs.n] how they leave; n_dims -1: as they lie */
    int split_axis;         /* of the mesh, that a dim wants a part of; -1: none */
    int64_t split_outer;    /* size of that part */
} spmd;

spmd_value *spmd_value_at(const spmd *m, int value);
spmd_op *spmd_op_at(const spmd *m, int op);
spmd_factor *spmd_factor_at(const spmd_op *op, int factor);
const hlo_node *spmd_node_of(const spmd *m, const spmd_op *op);
/** Bytes of the whole array. */
double spmd_value_bytes(const spmd *m, int value);

/** Values of all graphs. @errors E_ARG a loop whose state does not fit; E_NOMEM */
RIDGE_NODISCARD ridge_status spmd_values_build(spmd *m);
/** The values that leave a graph, tuples taken apart. */
RIDGE_NODISCARD ridge_status spmd_outputs_of(spmd *m, int graph, spmd_leaves *out);

/** Operations of all graphs with their factors. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status spmd_ops_build(spmd *m);
/** A new factor; -1: out of memory. */
int spmd_factor_add(spmd *m, spmd_op *op, int64_t size, spmd_factor_kind kind);
/** Make a dim of a tensor (of) a factor. */
void spmd_dim_put(spmd_op *op, int tensor, int64_t dim, int factor);
/** A factor of its own for a dim. */
void spmd_dim_new(spmd *m, spmd_op *op, int tensor, int64_t dim, spmd_factor_kind kind);
/** The shape of a tensor. */
const ridge_hlo_shape *spmd_shape_of(const spmd *m, const spmd_op *op, int tensor);
/** What a computation of two scalars does. @param called  -1: none */
spmd_reducer spmd_reducer_find(const spmd *m, int called);

/** Between the whole and the part that a manual computation has. @errors E_PARSE, E_ARG
 *  a malformed sharding */
RIDGE_NODISCARD ridge_status spmd_manual_read(spmd *m);
/** Whether an instruction is such a step. */
bool spmd_manual_is(const ridge_hlo_instruction *i);
/** Rules of collectives within manual computations. @return false: none */
bool spmd_rule_collective(spmd *m, spmd_op *op);

/** Rules of operations that move parts. @return false: not one of these */
bool spmd_rule_moves(spmd *m, spmd_op *op);
/** Rules of products, reductions, sorts. @return false: not one of these */
bool spmd_rule_sums(spmd *m, spmd_op *op);
/** Split and merged dims of a reshape. */
void spmd_rule_reshape(spmd *m, spmd_op *op);

/** The mesh, and what annotations say of values. @param given  other sizes, or NULL
 *  @errors E_ARG, E_PARSE as ridge_hlo_partition_build */
RIDGE_NODISCARD ridge_status spmd_mesh_make(spmd *m, const ridge_mesh *given);
RIDGE_NODISCARD ridge_status spmd_shardings_read(spmd *m);
/** One annotation of an array of that shape. */
RIDGE_NODISCARD ridge_status spmd_sharding_read(spmd *m, ridge_str text,
                                                const ridge_hlo_shape *shape,
                                                ridge_sharding *out);
/** Cut axis @p axis of the mesh into two, the outer one of @p outer devices. @errors
 *  E_ARG: too many axes */
RIDGE_NODISCARD ridge_status spmd_mesh_split(spmd *m, int axis, int64_t outer);

/** Axes of each factor as a tensor's sharding says. @param out  by factor, added to
 *  @param m  split_axis is set where a part of an axis would be needed; NULL: not asked
 */
void spmd_factors_of(const spmd *m, const spmd_op *op, int tensor, ridge_dim_axes *out,
                     spmd *split);
/** The sharding that factors' axes give a tensor. */
ridge_sharding spmd_sharding_of(const spmd *m, const spmd_op *op, int tensor,
                                const ridge_dim_axes *factors);

/** Spread shardings until nothing changes. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status spmd_propagate(spmd *m);

/** The axes of each factor while the operation runs. @param out  [factors]
 *  @errors E_NOMEM */
RIDGE_NODISCARD ridge_status spmd_choose(spmd *m, const spmd_op *op,
                                         ridge_dim_axes *out);

#endif
