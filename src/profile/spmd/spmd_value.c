/* Values of a module: arrays within tuples taken apart, what loops carry made one. */
#include "hlo_attribute.h"
#include "spmd.h"

#include <string.h>

enum { TUPLE_DEPTH_MOST = 32 };

spmd_value *spmd_value_at(const spmd *m, int value)
{
    return (spmd_value *)(void *)m->values.items + value;
}

double spmd_value_bytes(const spmd *m, int value)
{
    return ridge_hlo_shape_bytes(spmd_value_at(m, value)->shape);
}

static int leaf_count(const ridge_hlo_shape *shape, int depth)
{
    int all = 0;
    if (!ridge_hlo_shape_is_tuple(shape) || depth == TUPLE_DEPTH_MOST)
        return 1;
    for (int k = 0; k < shape->n; k++)
        all += leaf_count(&shape->parts[k], depth + 1);
    return all;
}

static ridge_status add_value(spmd *m, const ridge_hlo_shape *shape, int *out)
{
    spmd_value *v = hlo_list_push(m->scratch, &m->values);
    if (v == NULL)
        return ridge_fail_nomem(m->cx);
    v->shape = shape;
    v->is_deep = !ridge_hlo_shape_is_tuple(shape) && shape->n > RIDGE_TENSOR_DIM_MAX;
    v->sharding.n_dims = v->is_deep || ridge_hlo_shape_is_tuple(shape) ? 0 : shape->n;
    v->open = v->is_deep ? 0 : ~0U;
    *out = m->values.n - 1;
    return RIDGE_OK;
}

static ridge_status add_leaves(spmd *m, const ridge_hlo_shape *shape, int *out, int *at,
                               int depth)
{
    if (!ridge_hlo_shape_is_tuple(shape) || depth == TUPLE_DEPTH_MOST)
        return add_value(m, shape, &out[(*at)++]);
    for (int k = 0; k < shape->n; k++)
        RIDGE_TRY(add_leaves(m, &shape->parts[k], out, at, depth + 1));
    return RIDGE_OK;
}

static ridge_status make(spmd *m, const ridge_hlo_shape *shape, spmd_leaves *out)
{
    int at = 0;
    int *values = ridge_new(m->scratch, int, (size_t)leaf_count(shape, 0) + 1);
    if (values == NULL)
        return ridge_fail_nomem(m->cx);
    RIDGE_TRY(add_leaves(m, shape, values, &at, 0));
    *out = (spmd_leaves){at, values};
    return RIDGE_OK;
}

/* Leaves of several nodes, one behind the other. */
static ridge_status join(spmd *m, const spmd_leaves *of, const int *nodes, int n,
                         spmd_leaves *out)
{
    int all = 0, at = 0;
    for (int k = 0; k < n; k++)
        all += of[nodes[k]].n;
    int *values = ridge_new(m->scratch, int, (size_t)all + 1);
    if (values == NULL)
        return ridge_fail_nomem(m->cx);
    for (int k = 0; k < n; k++) {
        for (int j = 0; j < of[nodes[k]].n; j++)
            values[at++] = of[nodes[k]].values[j];
    }
    *out = (spmd_leaves){all, values};
    return RIDGE_OK;
}

/* Part k of a tuple. */
static spmd_leaves part_of(const hlo_node *tuple, const spmd_leaves *whole, int64_t k)
{
    int from = 0;
    const ridge_hlo_shape *shape = &tuple->i->shape;
    if (k < 0 || k >= shape->n || !ridge_hlo_shape_is_tuple(shape))
        return (spmd_leaves){0, NULL};
    for (int64_t j = 0; j < k; j++)
        from += leaf_count(&shape->parts[j], 1);
    const int n = leaf_count(&shape->parts[k], 1);
    return from + n <= whole->n ? (spmd_leaves){n, whole->values + from}
                                : (spmd_leaves){0, NULL};
}

/* The node of the parent that a body, condition or branch belongs to. */
static int owner_of(const spmd *m, int graph, int *which)
{
    const hlo_graph *g = &m->graphs.graphs[graph];
    const hlo_graph *parent = &m->graphs.graphs[g->parent];
    for (int k = 0; k < parent->n; k++) {
        const hlo_node *node = &parent->nodes[k];
        if (node->n_graphs > 0 && graph >= node->first_graph &&
            graph < node->first_graph + node->n_graphs) {
            *which = graph - node->first_graph;
            return k;
        }
    }
    return -1;
}

/* What a graph's parameter stands for: a loop's state, or what a branch is given. */
static spmd_leaves given_to(const spmd *m, int graph)
{
    int which = 0;
    const hlo_graph *g = &m->graphs.graphs[graph];
    const int owner = owner_of(m, graph, &which);
    if (owner < 0)
        return (spmd_leaves){0, NULL};
    const spmd_leaves *of = m->leaves[g->parent];
    const hlo_node *node = &m->graphs.graphs[g->parent].nodes[owner];
    if (g->kind != HLO_GRAPH_BRANCH)
        return of[owner];
    return which + 1 < node->n_inputs ? of[node->inputs[which + 1]]
                                      : (spmd_leaves){0, NULL};
}

static ridge_status take_node(spmd *m, int graph, int k)
{
    const hlo_graph *g = &m->graphs.graphs[graph];
    const hlo_node *node = &g->nodes[k];
    spmd_leaves *of = m->leaves[graph];
    if (node->i->code == RIDGE_HLO_OP_TUPLE)
        return join(m, of, node->inputs, node->n_inputs, &of[k]);
    if (node->i->code == RIDGE_HLO_OP_GET_TUPLE_ELEMENT && node->n_inputs == 1)
        of[k] = part_of(&g->nodes[node->inputs[0]], &of[node->inputs[0]],
                        hlo_attribute_int(node->i, "index", -1));
    else if (node->i->code == RIDGE_HLO_OP_PARAMETER && g->kind != HLO_GRAPH_ENTRY)
        of[k] = given_to(m, graph);
    else
        return make(m, &node->i->shape, &of[k]);
    const int wanted = leaf_count(&node->i->shape, 0);
    if (of[k].n == wanted)
        return RIDGE_OK;
    return ridge_fail(
        m->cx, RIDGE_E_ARG,
        "line %d: '%.*s' names %d arrays where %d are: the module does not "
        "fit itself",
        node->i->line, (int)node->i->name.n, node->i->name.p, wanted, of[k].n);
}

ridge_status spmd_values_build(spmd *m)
{
    m->leaves = ridge_new(m->scratch, spmd_leaves *, (size_t)m->graphs.n);
    if (m->leaves == NULL)
        return ridge_fail_nomem(m->cx);
    for (int g = 0; g < m->graphs.n; g++) {
        const hlo_graph *graph = &m->graphs.graphs[g];
        m->leaves[g] = ridge_new(m->scratch, spmd_leaves, (size_t)graph->n + 1);
        if (m->leaves[g] == NULL)
            return ridge_fail_nomem(m->cx);
        for (int k = 0; k < graph->n; k++)
            RIDGE_TRY(take_node(m, g, k));
    }
    return RIDGE_OK;
}

ridge_status spmd_outputs_of(spmd *m, int graph, spmd_leaves *out)
{
    const hlo_graph *g = &m->graphs.graphs[graph];
    return join(m, m->leaves[graph], g->outputs, g->n_outputs, out);
}
