/* What a layer keeps for its backward pass, and does again, by names of operations. */
#ifndef RIDGE_PLAN_NAMED_GRAPH_H
#define RIDGE_PLAN_NAMED_GRAPH_H

#include "layer_time.h"
#include "train_case.h"

#include "ridge/cost_program.h"
#include "ridge/shard.h"

/** What an operation of a layer makes for others, and the backward pass of it. */
typedef struct named_value {
    int maker;
    double bytes, operand_bytes; /* on a chip; where products alone read it */
    bool is_read, is_operand;    /* by the backward pass; by its products alone */
} named_value;

typedef struct named_node {
    ridge_remat_ops name;
    double again_s; /* exchanges: 0, what others sent is kept */
    bool is_expert, is_product;
    bool is_wanted; /* by the backward pass */
    int n_inputs;
    const int *inputs; /* values of this layer */
} named_node;

/** The forward operations of one kind of layer as remat sees them, times included.
 *  Built once, it is asked about many sets of names. */
typedef struct named_graph {
    int n_nodes, n_values;
    named_node *nodes;
    named_value *values;
    double kept_bytes; /* with nothing done again */
    double experts_s;
    double tokens; /* of the cut on a chip */
    /* scratch of a question */
    bool *is_again, *is_wanted; /* [n_nodes] */
    bool *is_read, *is_operand; /* [n_values] */
} named_graph;

/** A kind that has no backward pass gets an empty graph. @return false: memory ran out
 */
bool named_graph_build(ridge_arena *arena, const train_case *tc,
                       const ridge_partition *partition,
                       const ridge_operation_time *times, int kind, double tokens,
                       named_graph *out);

/** What naming operations comes to in one layer. What others exchanged is kept. */
named_time named_graph_time(const named_graph *graph, ridge_remat_ops ops);

#endif
