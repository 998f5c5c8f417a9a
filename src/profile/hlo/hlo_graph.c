#include "hlo_graph.h"
#include "hlo_attribute.h"
#include "hlo_builder.h"
#include "hlo_trip.h"

#include <string.h>

enum { NODES_LEAST = 1 << 17, NODES_EACH = 64, NODES_MOST = 1 << 23, DEPTH_MOST = 256 };

/** One graph while it grows. */
typedef struct growth {
    ridge_ctx *cx;
    hlo_list *graphs; /* of all */
    const ridge_hlo_module *module;
    hlo_list nodes;
    hlo_graph *graph;
    int index; /* of the graph */
    double rounds;
    int *total;
    int most; /* nodes of all graphs: in proportion to the module */
    bool is_compiled;
} growth;

/** What a called computation gets and where it stands. */
typedef struct call_place {
    const int *args;
    int n_args;
    int fusion, async, depth;
    const ridge_hlo_instruction *within;
} call_place;

static hlo_node *node_at(const growth *g, int index)
{
    return (hlo_node *)(void *)g->nodes.items + index;
}

static ridge_status inline_computation(growth *g, int computation,
                                       const call_place *place, int *out);

/* ---- names for values -------------------------------------------------------------
 */

/* Element k of a tuple that is known; -1: it has to be taken out when it is there. */
static int tuple_part(const growth *g, int tuple, int64_t k)
{
    const hlo_node *node = node_at(g, tuple);
    return node->i->code == RIDGE_HLO_OP_TUPLE && k >= 0 && k < node->n_inputs
               ? node->inputs[k]
               : -1;
}

/* Whether the result of a transposition lies as its operand does. */
static bool is_same_order(const ridge_hlo_instruction *i, const ridge_hlo_shape *in)
{
    int64_t from[RIDGE_HLO_RANK_MAX];
    const ridge_hlo_shape *out = &i->shape;
    const int n = hlo_attribute_ints(i, "dimensions", from, RIDGE_HLO_RANK_MAX);
    int at = 0;
    if (n != out->n || in->n != out->n)
        return false;
    for (int k = 0; k < n; k++) {
        const int dim = out->layout ? out->layout->minor_to_major[k] : n - 1 - k;
        if (from[dim] < 0 || from[dim] >= n)
            return false;
        if (out->dims[dim] == 1)
            continue;
        int other;
        do {
            if (at == n)
                return false;
            other = in->layout ? in->layout->minor_to_major[at] : n - 1 - at;
            at++;
        } while (in->dims[other] == 1);
        if (from[dim] != other)
            return false;
    }
    return true;
}

/* What compilers make a bitcast of. */
static bool is_renamed(const growth *g, const ridge_hlo_instruction *i,
                       const int *inputs, int n)
{
    if (g->is_compiled || n < 1 || ridge_hlo_shape_is_tuple(&i->shape))
        return false;
    const ridge_hlo_shape *in = &node_at(g, inputs[0])->i->shape;
    if (ridge_hlo_shape_is_tuple(in) || in->type != i->shape.type ||
        ridge_hlo_shape_elements(in) != ridge_hlo_shape_elements(&i->shape))
        return false;
    if (i->code == RIDGE_HLO_OP_TRANSPOSE)
        return is_same_order(i, in);
    return i->code == RIDGE_HLO_OP_BROADCAST || i->code == RIDGE_HLO_OP_SLICE ||
           i->code == RIDGE_HLO_OP_DYNAMIC_SLICE || i->code == RIDGE_HLO_OP_CONVERT ||
           i->code == RIDGE_HLO_OP_REDUCE ||
           (i->code == RIDGE_HLO_OP_CONCATENATE && n == 1);
}

static ridge_status add_node(growth *g, const ridge_hlo_instruction *i,
                             const int *inputs, const call_place *place, int *out)
{
    hlo_node *node = hlo_list_push(ridge_ctx_scratch(g->cx), &g->nodes);
    int *kept = ridge_new(ridge_ctx_arena(g->cx), int, (size_t)i->n_operands);
    if (node == NULL || kept == NULL)
        return ridge_fail_nomem(g->cx);
    if (++*g->total > g->most) {
        return ridge_fail(g->cx, RIDGE_E_ARG,
                          "the module has more than %d operations once its calls are "
                          "put in: analyse a part of it",
                          g->most);
    }
    if (i->n_operands > 0)
        memcpy(kept, inputs, (size_t)i->n_operands * sizeof *kept);
    *node = (hlo_node){.i = i,
                       .n_inputs = i->n_operands,
                       .inputs = kept,
                       .within = place->within,
                       .fusion = place->fusion,
                       .async = place->async,
                       .is_renamed = is_renamed(g, i, inputs, i->n_operands)};
    *out = g->nodes.n - 1;
    return RIDGE_OK;
}

/* ---- loops and branches -----------------------------------------------------------
 */

static ridge_status push_graph(growth *g, hlo_graph_kind kind, int computation,
                               double times, double rounds, bool is_unknown)
{
    hlo_graph *new = hlo_list_push(ridge_ctx_scratch(g->cx), g->graphs);
    if (new == NULL)
        return ridge_fail_nomem(g->cx);
    *new = (hlo_graph){.kind = kind,
                       .computation = computation,
                       .parent = g->index,
                       .times = times,
                       .rounds = rounds,
                       .is_unknown = is_unknown};
    return RIDGE_OK;
}

static ridge_status add_loop(growth *g, int computation, int node)
{
    const ridge_hlo_instruction *i = node_at(g, node)->i;
    const hlo_graph *graph =
        (const hlo_graph *)(const void *)g->graphs->items + g->index;
    const double times = graph->times;
    double rounds = g->rounds > 0 ? g->rounds : 1;
    const bool is_known =
        hlo_trip_count(g->cx, g->module, computation, i, &rounds) || g->rounds > 0;
    node_at(g, node)->first_graph = g->graphs->n;
    if (i->n_called < 2 || i->called[0] < 0 || i->called[1] < 0)
        return RIDGE_OK; /* noted as missing when it was read */
    node_at(g, node)->n_graphs = 2;
    RIDGE_TRY(push_graph(g, HLO_GRAPH_CONDITION, i->called[0], times * (rounds + 1), 1,
                         !is_known));
    return push_graph(g, HLO_GRAPH_BODY, i->called[1], times * rounds, rounds,
                      !is_known);
}

static ridge_status add_branches(growth *g, int node)
{
    const ridge_hlo_instruction *i = node_at(g, node)->i;
    const hlo_graph *graph =
        (const hlo_graph *)(const void *)g->graphs->items + g->index;
    const double times = graph->times;
    node_at(g, node)->first_graph = g->graphs->n;
    for (int k = 0; k < i->n_called; k++) {
        if (i->called[k] < 0)
            continue;
        node_at(g, node)->n_graphs++;
        RIDGE_TRY(push_graph(g, HLO_GRAPH_BRANCH, i->called[k], times, 1, false));
    }
    return RIDGE_OK;
}

/* ---- instructions ---------------------------------------------------------------- */

static bool is_inlined(const ridge_hlo_instruction *i)
{
    return (i->code == RIDGE_HLO_OP_CALL || i->code == RIDGE_HLO_OP_FUSION ||
            i->code == RIDGE_HLO_OP_ASYNC || i->phase != RIDGE_HLO_WHOLE) &&
           i->phase != RIDGE_HLO_DONE && i->phase != RIDGE_HLO_UPDATE &&
           i->n_called > 0 && i->called[0] >= 0 && i->code != RIDGE_HLO_OP_ALL_REDUCE &&
           i->code != RIDGE_HLO_OP_REDUCE_SCATTER && i->code != RIDGE_HLO_OP_REDUCE &&
           i->code != RIDGE_HLO_OP_SCATTER && i->code != RIDGE_HLO_OP_SORT &&
           i->code != RIDGE_HLO_OP_MAP;
}

static ridge_status enter(growth *g, const ridge_hlo_instruction *i, const int *inputs,
                          const call_place *place, int *out)
{
    call_place inner = {inputs,       i->n_operands,    place->fusion,
                        place->async, place->depth + 1, place->within};
    if (i->code == RIDGE_HLO_OP_FUSION && inner.fusion == 0)
        inner.fusion = ++g->graph->n_fusions;
    if (i->phase == RIDGE_HLO_START && inner.async == 0)
        inner.async = ++g->graph->n_asyncs;
    if (inner.within == NULL && (inner.fusion > 0 || inner.async > 0))
        inner.within = i;
    if (inner.depth > DEPTH_MOST) {
        return ridge_fail(g->cx, RIDGE_E_ARG,
                          "computations call each other deeper than %d", DEPTH_MOST);
    }
    RIDGE_TRY(inline_computation(g, i->called[0], &inner, out));
    if (i->code == RIDGE_HLO_OP_FUSION && place->fusion == 0) {
        hlo_node *root = node_at(g, *out);
        root->is_fusion_output = true;
        for (int k = 0; root->i->code == RIDGE_HLO_OP_TUPLE && k < root->n_inputs; k++)
            node_at(g, root->inputs[k])->is_fusion_output = true;
    }
    return RIDGE_OK;
}

static ridge_status take_instruction(growth *g, int computation, int index, int *map,
                                     const call_place *place)
{
    int *out = &map[index];
    const ridge_hlo_instruction *i =
        &g->module->computations[computation].instructions[index];
    int64_t number;
    int *inputs = ridge_new(ridge_ctx_scratch(g->cx), int, (size_t)i->n_operands + 1);
    if (inputs == NULL)
        return ridge_fail_nomem(g->cx);
    for (int k = 0; k < i->n_operands; k++)
        inputs[k] = map[i->operands[k]];
    if (i->code == RIDGE_HLO_OP_PARAMETER && place->args &&
        ridge_parse_i64(i->literal, &number) && number >= 0 && number < place->n_args) {
        *out = place->args[number];
        return RIDGE_OK;
    }
    if (i->code == RIDGE_HLO_OP_GET_TUPLE_ELEMENT && i->n_operands == 1) {
        *out = tuple_part(g, inputs[0], hlo_attribute_int(i, "index", -1));
        if (*out >= 0)
            return RIDGE_OK;
    }
    if (i->code == RIDGE_HLO_OP_OPTIMIZATION_BARRIER && i->n_operands == 1) {
        *out = inputs[0];
        return RIDGE_OK;
    }
    if (is_inlined(i))
        return enter(g, i, inputs, place, out);
    RIDGE_TRY(add_node(g, i, inputs, place, out));
    if (i->code == RIDGE_HLO_OP_WHILE)
        return add_loop(g, computation, *out);
    return i->code == RIDGE_HLO_OP_CONDITIONAL ? add_branches(g, *out) : RIDGE_OK;
}

static ridge_status inline_computation(growth *g, int computation,
                                       const call_place *place, int *out)
{
    const ridge_hlo_computation *c = &g->module->computations[computation];
    int *map = ridge_new(ridge_ctx_scratch(g->cx), int, (size_t)c->n + 1);
    if (map == NULL)
        return ridge_fail_nomem(g->cx);
    if (c->n == 0) {
        return ridge_fail(g->cx, RIDGE_E_PARSE, "computation '%.*s' is empty",
                          (int)c->name.n, c->name.p);
    }
    for (int k = 0; k < c->n; k++)
        RIDGE_TRY(take_instruction(g, computation, k, map, place));
    *out = map[c->root];
    return RIDGE_OK;
}

/* ---- whole graphs -----------------------------------------------------------------
 */

static ridge_status link_users(ridge_ctx *cx, hlo_graph *graph, hlo_node *nodes)
{
    size_t all = 0;
    for (int n = 0; n < graph->n; n++) {
        for (int k = 0; k < nodes[n].n_inputs; k++, all++)
            nodes[nodes[n].inputs[k]].n_users++;
    }
    graph->users = ridge_new(ridge_ctx_arena(cx), int, all);
    if (graph->users == NULL)
        return ridge_fail_nomem(cx);
    int at = 0;
    for (int n = 0; n < graph->n; n++) {
        nodes[n].first_user = at;
        at += nodes[n].n_users;
        nodes[n].n_users = 0;
    }
    for (int n = 0; n < graph->n; n++) {
        for (int k = 0; k < nodes[n].n_inputs; k++) {
            hlo_node *input = &nodes[nodes[n].inputs[k]];
            graph->users[input->first_user + input->n_users++] = n;
        }
    }
    return RIDGE_OK;
}

/* A loop's body is laid out before its caller, in the default order: what would go into
 * its state turned round is laid anew once. @source xla-layout-2025 */
static void lay_states(const growth *g, hlo_graph *graph, hlo_node *nodes)
{
    for (int n = 0; n < graph->n && !g->is_compiled; n++) {
        if (nodes[n].i->code != RIDGE_HLO_OP_WHILE || nodes[n].n_inputs != 1)
            continue;
        const hlo_node *state = &nodes[nodes[n].inputs[0]];
        for (int k = 0; state->i->code == RIDGE_HLO_OP_TUPLE && k < state->n_inputs;
             k++) {
            hlo_node *value = &nodes[state->inputs[k]];
            if (value->i->code == RIDGE_HLO_OP_TRANSPOSE)
                value->is_renamed = false;
        }
    }
}

static ridge_status set_outputs(ridge_ctx *cx, hlo_graph *graph, hlo_node *nodes,
                                int root)
{
    const bool is_tuple = nodes[root].i->code == RIDGE_HLO_OP_TUPLE;
    const int n = is_tuple ? nodes[root].n_inputs : 1;
    int *outputs = ridge_new(ridge_ctx_arena(cx), int, (size_t)n);
    if (outputs == NULL)
        return ridge_fail_nomem(cx);
    for (int k = 0; k < n; k++) {
        outputs[k] = is_tuple ? nodes[root].inputs[k] : root;
        nodes[outputs[k]].is_output = true;
    }
    graph->outputs = outputs;
    graph->n_outputs = n;
    return RIDGE_OK;
}

static ridge_status build_graph(growth *g)
{
    const call_place place = {NULL, 0, 0, 0, 0, NULL};
    hlo_graph graph = ((const hlo_graph *)(const void *)g->graphs->items)[g->index];
    int root;
    g->graph = &graph;
    g->nodes = (hlo_list){.size = sizeof(hlo_node)};
    RIDGE_TRY(inline_computation(g, graph.computation, &place, &root));
    hlo_node *nodes = hlo_list_copy(ridge_ctx_arena(g->cx), &g->nodes);
    if (nodes == NULL)
        return ridge_fail_nomem(g->cx);
    graph.n = g->nodes.n;
    graph.nodes = nodes;
    RIDGE_TRY(link_users(g->cx, &graph, nodes));
    lay_states(g, &graph, nodes);
    RIDGE_TRY(set_outputs(g->cx, &graph, nodes, root));
    ((hlo_graph *)(void *)g->graphs->items)[g->index] = graph;
    return RIDGE_OK;
}

static void mark_called(const ridge_hlo_computation *from, bool *is_called)
{
    for (int k = 0; k < from->n; k++) {
        const ridge_hlo_instruction *i = &from->instructions[k];
        for (int j = 0; j < i->n_called; j++) {
            if (i->called[j] >= 0)
                is_called[i->called[j]] = true;
        }
    }
}

/* Of a text that was cut before its entry: what nothing that is left calls. */
static ridge_status push_orphans(growth *g)
{
    const ridge_hlo_module *m = g->module;
    bool *is_called =
        ridge_new(ridge_ctx_scratch(g->cx), bool, (size_t)m->n_computations);
    if (is_called == NULL)
        return ridge_fail_nomem(g->cx);
    for (int c = 0; c < m->n_computations; c++)
        mark_called(&m->computations[c], is_called);
    for (int c = 0; c < m->n_computations; c++) {
        if (is_called[c] || m->computations[c].n == 0)
            continue;
        RIDGE_TRY(push_graph(g, HLO_GRAPH_ENTRY, c, 1, 1, false));
        ((hlo_graph *)(void *)g->graphs->items)[g->graphs->n - 1].is_fused =
            hlo_text_has(m->computations[c].name, "fused_computation");
    }
    return RIDGE_OK;
}

/* Calls in calls may double without end; what compilers write grows far less. */
static int most_nodes(const ridge_hlo_module *module)
{
    int64_t all = 0;
    for (int c = 0; c < module->n_computations; c++)
        all += module->computations[c].n;
    if (all <= NODES_MOST / NODES_EACH)
        return NODES_LEAST + (int)all * NODES_EACH;
    return all > NODES_MOST / 2 && all < INT32_MAX / 2 ? (int)(2 * all) : NODES_MOST;
}

ridge_status hlo_graphs_build(ridge_ctx *cx, const ridge_hlo_module *module,
                              double rounds, hlo_graphs *out)
{
    hlo_list graphs = {.size = sizeof(hlo_graph)};
    int total = 0;
    growth g = {.cx = cx,
                .graphs = &graphs,
                .module = module,
                .rounds = rounds,
                .index = -1,
                .total = &total,
                .most = most_nodes(module),
                .is_compiled = hlo_module_is_compiled(module)};
    if (module->entry >= 0)
        RIDGE_TRY(push_graph(&g, HLO_GRAPH_ENTRY, module->entry, 1, 1, false));
    else
        RIDGE_TRY(push_orphans(&g));
    *out = (hlo_graphs){.module = module};
    for (g.index = 0; g.index < graphs.n; g.index++) {
        if (ridge_ctx_is_cancelled(cx))
            return ridge_fail(cx, RIDGE_E_CANCELLED, "cancelled");
        RIDGE_TRY(build_graph(&g));
    }
    out->n = graphs.n;
    out->graphs = hlo_list_copy(ridge_ctx_arena(cx), &graphs);
    if (out->graphs == NULL)
        return ridge_fail_nomem(cx);
    for (int k = 0; k < out->n; k++)
        out->n_unknown_loops +=
            out->graphs[k].is_unknown && out->graphs[k].kind == HLO_GRAPH_BODY;
    return RIDGE_OK;
}

/* ---- values -----------------------------------------------------------------------
 */

/* Custom calls that are words to the compiler. */
static bool is_annotation(const ridge_hlo_instruction *i)
{
    static const char *const names[] = {"Sharding",
                                        "SPMDFullToShardShape",
                                        "SPMDShardToFullShape",
                                        "xla.sdy.FuncResultSharding",
                                        "xla.sdy.GlobalToLocalShape",
                                        "xla.sdy.LocalToGlobalShape",
                                        "xla.sdy.ShardingGroup",
                                        "xla.sdy.PropagationBarrier",
                                        "AssumeGatherIndicesInBound",
                                        "ConcatBitcast",
                                        "SliceBitcast",
                                        "LayoutConstraint",
                                        "AllocateBuffer",
                                        "annotate_device_placement",
                                        "Pin",
                                        "Unpin",
                                        "CreateBuffer"};
    const ridge_str target = hlo_target_of(i);
    for (size_t k = 0; k < RIDGE_COUNT_OF(names); k++) {
        if (ridge_str_is(target, names[k]))
            return true;
    }
    return false;
}

bool hlo_module_is_compiled(const ridge_hlo_module *module)
{
    if (module->is_scheduled)
        return true;
    for (int c = 0; c < module->n_computations; c++) {
        for (int k = 0; k < module->computations[c].n; k++) {
            if (module->computations[c].instructions[k].code == RIDGE_HLO_OP_FUSION)
                return true;
        }
    }
    return false;
}

bool hlo_node_is_free(const hlo_node *node)
{
    const ridge_hlo_instruction *i = node->i;
    if (i->code == RIDGE_HLO_OP_CUSTOM_CALL)
        return is_annotation(i);
    return node->is_renamed || ridge_hlo_opcode_kind(i->code) == RIDGE_HLO_KIND_FREE ||
           i->phase == RIDGE_HLO_DONE || i->phase == RIDGE_HLO_UPDATE;
}

const ridge_hlo_shape *hlo_node_written(const hlo_node *node)
{
    const ridge_hlo_instruction *i = node->i;
    const bool is_pair = i->phase == RIDGE_HLO_START &&
                         ridge_hlo_shape_is_tuple(&i->shape) && i->shape.n >= 2;
    if (is_pair && i->code == RIDGE_HLO_OP_COPY) /* (target, source, context) */
        return &i->shape.parts[0];
    if (is_pair && (i->code == RIDGE_HLO_OP_ALL_GATHER ||
                    i->code == RIDGE_HLO_OP_COLLECTIVE_PERMUTE))
        return &i->shape.parts[1]; /* (source, target, ..) */
    return &i->shape;
}

int hlo_graph_value(const hlo_graph *graph, int node)
{
    for (;;) {
        const hlo_node *n = &graph->nodes[node];
        const bool is_name = hlo_node_is_free(n) && n->n_inputs >= 1 &&
                             n->i->code != RIDGE_HLO_OP_TUPLE &&
                             n->i->code != RIDGE_HLO_OP_GET_TUPLE_ELEMENT;
        if (!is_name)
            return node;
        node = n->inputs[0];
    }
}
