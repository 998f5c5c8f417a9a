/*
 * The search for shardings as a graph: nodes that choose a state, costs of states and
 * of pairs of states. Layer-internal.
 */
#ifndef RIDGE_PLAN_CHAIN_GRAPH_H
#define RIDGE_PLAN_CHAIN_GRAPH_H

#include "chain_op.h"

/** Ways in which one array lies over the states of a node. */
typedef struct chain_kinds {
    int n;
    ridge_sharding *kinds;
    int *of; /* [states] */
} chain_kinds;

/** An operation, or a tensor that is kept in one sharding. */
typedef struct chain_node {
    int op;     /* index into the graph's ops; -1: a kept tensor */
    int tensor; /* kept, or made by the operation */
    int n_states;
    double *cost;                                  /* [states] */
    chain_kinds arrays[RIDGE_CHAIN_INPUT_MAX + 1]; /* inputs, output; kept: output */
} chain_node;

/** A tensor on its way between nodes. */
typedef struct chain_link {
    int tensor;
    int from;           /* node that has it; -1: given */
    int to;             /* node that takes it; -1: as wanted at the end */
    int array;          /* of the taker: an input; of a kept tensor: its output */
    ridge_sharding end; /* given or wanted, where from or to is -1 */
    double *cost;       /* [kinds of from][kinds of to], 1 for an end */
} chain_link;

typedef struct chain_graph {
    const ridge_chain_request *request;
    int n_ops, n_nodes, n_links;
    chain_op *ops;     /* of each operation of the program, in its order */
    chain_node *nodes; /* the operations first */
    chain_link *links;
} chain_graph;

enum { CHAIN_OP_MAX = 64, CHAIN_STATE_MAX = 3000 };

/** @errors E_ARG what is not searched, or more than CHAIN_STATE_MAX states; E_NOMEM */
RIDGE_NODISCARD ridge_status chain_graph_build(ridge_ctx *cx,
                                               const ridge_chain_request *request,
                                               chain_graph *out);

/** Fill in the steps of a move of which tensor, from and to are set.
 * @return false: there are none */
bool chain_move_find(ridge_ctx *cx, const ridge_chain_request *request,
                     ridge_chain_move *m);

/** Kinds at an end of a link: 1 where it is given or wanted. */
int chain_link_kinds(const chain_graph *graph, const chain_link *link, bool is_from);
/** The kind of a node's state at an end of a link. */
int chain_link_kind(const chain_graph *graph, const chain_link *link, bool is_from,
                    int state);
const ridge_sharding *chain_link_sharding(const chain_graph *graph,
                                          const chain_link *link, bool is_from,
                                          int kind);

/**
 * The cheapest states of all nodes, by eliminating one node after the other.
 * @param states  out: one for each node
 * @errors E_ARG when too many nodes hang together; E_NOMEM
 */
RIDGE_NODISCARD ridge_status chain_graph_solve(ridge_ctx *cx, const chain_graph *graph,
                                               int *states, double *cost);

/** Cost of a choice of states. */
double chain_graph_cost(const chain_graph *graph, const int *states);

#endif
