/*
 * A module as graphs of values: one for the entry, one for each body and condition of a
 * loop and each branch. Calls are put in place; insides of fusions stand among the
 * others and say which fusion they are of. Tuples are looked through. Layer-internal.
 */
#ifndef RIDGE_HLO_GRAPH_H
#define RIDGE_HLO_GRAPH_H

#include "ridge/profile_hlo.h"

typedef struct hlo_node {
    const ridge_hlo_instruction *i;
    int n_inputs;
    const int *inputs;                   /* nodes of the graph, before this one */
    const ridge_hlo_instruction *within; /* the outermost fusion or async wrapper that
                                            it is inside of; NULL: none */
    int fusion; /* fusion as compiled whose inside this is, from 1; 0: none */
    int async;  /* async wrapper whose inside this is, from 1; 0: none */
    int n_graphs, first_graph; /* a loop: condition, body; a conditional: branches */
    int n_users;
    int first_user; /* into graph.users */
    bool is_output; /* of the graph, or of its fusion */
    bool is_fusion_output;
    bool is_renamed; /* lays nothing out anew though its opcode may: a transposition
                        within the layout, a broadcast over single elements */
} hlo_node;

typedef enum hlo_graph_kind {
    HLO_GRAPH_ENTRY,
    HLO_GRAPH_BODY,
    HLO_GRAPH_CONDITION,
    HLO_GRAPH_BRANCH
} hlo_graph_kind;

typedef struct hlo_graph {
    hlo_graph_kind kind;
    int computation;
    int parent;      /* graph with the loop; -1: none */
    double times;    /* that it runs in a run of the module */
    double rounds;   /* of its loop; 1 otherwise */
    bool is_unknown; /* so is how often the loop runs: once is taken */
    bool is_fused;   /* a fusion whose caller was cut off: one kernel */
    int n;
    const hlo_node *nodes;
    int *users;    /* of all nodes, one node's together */
    int n_outputs; /* values that leave it: the root, or what its tuple holds */
    const int *outputs;
    int n_fusions, n_asyncs;
} hlo_graph;

typedef struct hlo_graphs {
    const ridge_hlo_module *module;
    int n;
    const hlo_graph *graphs; /* what is called stands behind its caller */
    int n_unknown_loops;
} hlo_graphs;

/**
 * @param rounds  of loops that do not tell; 0: one
 * @owner cx
 * @errors E_ARG a module that becomes too large when its calls are put in; E_NOMEM
 */
RIDGE_NODISCARD ridge_status hlo_graphs_build(ridge_ctx *cx,
                                              const ridge_hlo_module *module,
                                              double rounds, hlo_graphs *out);

/** Whether a module says itself what is fused: it was optimised. */
bool hlo_module_is_compiled(const ridge_hlo_module *module);

/** The value that stands behind a node which only names it again: bitcasts, reshapes
 *  and ends of asynchronous operations. */
int hlo_graph_value(const hlo_graph *graph, int node);
/** What it writes: of an asynchronous start without the operands that its tuple names
 *  again. */
const ridge_hlo_shape *hlo_node_written(const hlo_node *node);
/** Whether a node only names data that are there, or none. */
bool hlo_node_is_free(const hlo_node *node);

#endif
