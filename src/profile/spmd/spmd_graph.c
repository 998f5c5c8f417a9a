/* Graphs of the partitioned module: what they are given, loops and branches in them,
 * and what leaves them. Operations are spmd_op.c's. */
#include "spmd_writer.h"

#include <string.h>

static const char *graph_name(const spmd *m, int graph)
{
    static const char *const words[] = {[HLO_GRAPH_ENTRY] = "main",
                                        [HLO_GRAPH_BODY] = "body",
                                        [HLO_GRAPH_CONDITION] = "condition",
                                        [HLO_GRAPH_BRANCH] = "branch"};
    return ridge_sprintf(ridge_ctx_arena(m->cx), "%%%s.%d",
                         words[m->graphs.graphs[graph].kind], graph);
}

/* "(f32[2], s32[])" of values as they lie. */
static void put_types(spmd_writer *w, ridge_buf *out, const spmd_leaves *values)
{
    ridge_buf_puts(out, "(");
    for (int k = 0; k < values->n; k++) {
        const spmd_array a = spmd_array_local(
            w->m, values->values[k], &spmd_value_at(w->m, values->values[k])->sharding);
        ridge_buf_puts(out, k ? ", " : "");
        spmd_type_put(out, &a);
    }
    ridge_buf_puts(out, ")");
}

/* The parts of a tuple as values. */
static ridge_status take_parts(spmd_writer *w, const char *tuple,
                               const spmd_leaves *values)
{
    for (int k = 0; k < values->n; k++) {
        const int value = values->values[k];
        const ridge_sharding *s = &spmd_value_at(w->m, value)->sharding;
        const spmd_array like = spmd_array_local(w->m, value, s);
        const spmd_array part = spmd_array_put(
            w, "part", &like, "get-tuple-element(%s), index=%d", tuple, k);
        RIDGE_TRY(spmd_form_add(w, value, s, &part));
    }
    return RIDGE_OK;
}

/* "(%a, %b)": values brought to how @p as lie. */
static ridge_status put_brought(spmd_writer *w, ridge_buf *out,
                                const spmd_leaves *values, const spmd_leaves *as)
{
    for (int k = 0; k < values->n; k++) {
        spmd_array a;
        const ridge_sharding *s = &spmd_value_at(w->m, as->values[k])->sharding;
        RIDGE_TRY(spmd_form_want(w, values->values[k], s, &a));
        ridge_buf_printf(out, "%s%s", k ? ", " : "", a.name);
    }
    return RIDGE_OK;
}

/* How often the loop runs, as the whole module tells. */
static void put_trips(spmd_writer *w, const hlo_node *node)
{
    static const char *const but[] = {"backend_config", NULL};
    const hlo_graph *body = &w->m->graphs.graphs[node->first_graph + 1];
    if (!body->is_unknown)
        ridge_buf_printf(w->out,
                         ", backend_config={\"known_trip_count\":{\"n\":\"%lld\"}}",
                         (long long)body->rounds);
    spmd_attributes_put(w, node->i, but);
    ridge_buf_puts(w->out, "\n");
}

static ridge_status put_loop(spmd_writer *w, int k)
{
    spmd *m = w->m;
    const hlo_node *node = &m->graphs.graphs[w->graph].nodes[k];
    const spmd_leaves *state = &m->leaves[w->graph][k];
    ridge_buf list;
    const int number = ++w->n_names;
    ridge_buf_init(&list, ridge_ctx_arena(m->cx));
    w->why = "loop";
    if (node->n_graphs != 2 || node->n_inputs != 1)
        return ridge_fail(m->cx, RIDGE_E_ARG, "line %d: a loop lacks its computations",
                          node->i->line);
    RIDGE_TRY(put_brought(w, &list, &m->leaves[w->graph][node->inputs[0]], state));
    ridge_buf_printf(w->out, "  %%state.%d = ", number);
    put_types(w, w->out, state);
    ridge_buf_printf(w->out, " tuple(%s)\n  %%loop.%d = ", ridge_buf_text(&list),
                     number);
    put_types(w, w->out, state);
    ridge_buf_printf(w->out, " while(%%state.%d), condition=%s, body=%s", number,
                     graph_name(m, node->first_graph),
                     graph_name(m, node->first_graph + 1));
    put_trips(w, node);
    return take_parts(w, ridge_sprintf(ridge_ctx_arena(m->cx), "%%loop.%d", number),
                      state);
}

/* What a branch is given: an array, or a tuple of arrays. */
static ridge_status put_given(spmd_writer *w, const hlo_node *node, int input,
                              const char **out)
{
    const spmd_leaves *given = &w->m->leaves[w->graph][node->inputs[input]];
    const hlo_node *from = &w->m->graphs.graphs[w->graph].nodes[node->inputs[input]];
    spmd_array a;
    ridge_buf list;
    if (!ridge_hlo_shape_is_tuple(&from->i->shape)) {
        RIDGE_TRY(spmd_form_want(w, given->values[0],
                                 &spmd_value_at(w->m, given->values[0])->sharding, &a));
        *out = a.name;
        return RIDGE_OK;
    }
    ridge_buf_init(&list, ridge_ctx_arena(w->m->cx));
    RIDGE_TRY(put_brought(w, &list, given, given));
    *out = ridge_sprintf(ridge_ctx_arena(w->m->cx), "%%given.%d", ++w->n_names);
    ridge_buf_printf(w->out, "  %s = ", *out ? *out : "");
    put_types(w, w->out, given);
    ridge_buf_printf(w->out, " tuple(%s)\n", ridge_buf_text(&list));
    return RIDGE_OK;
}

static ridge_status put_branches(spmd_writer *w, int k)
{
    spmd *m = w->m;
    const hlo_node *node = &m->graphs.graphs[w->graph].nodes[k];
    const spmd_leaves *result = &m->leaves[w->graph][k];
    ridge_buf list;
    const char *given;
    ridge_buf_init(&list, ridge_ctx_arena(m->cx));
    w->why = "branch";
    for (int j = 0; j < node->n_inputs; j++) {
        RIDGE_TRY(put_given(w, node, j, &given));
        ridge_buf_printf(&list, "%s%s", j ? ", " : "", given);
    }
    const char *name =
        ridge_sprintf(ridge_ctx_arena(m->cx), "%%branches.%d", ++w->n_names);
    ridge_buf_printf(w->out, "  %s = ", name ? name : "");
    const bool is_tuple = ridge_hlo_shape_is_tuple(&node->i->shape);
    const spmd_array one =
        result->n == 1
            ? spmd_array_local(m, result->values[0],
                               &spmd_value_at(m, result->values[0])->sharding)
            : (spmd_array){.n = 0};
    if (is_tuple)
        put_types(w, w->out, result);
    else
        spmd_type_put(w->out, &one);
    ridge_buf_printf(w->out, " conditional(%s), branch_computations={",
                     ridge_buf_text(&list));
    for (int g = 0; g < node->n_graphs; g++)
        ridge_buf_printf(w->out, "%s%s", g ? ", " : "",
                         graph_name(m, node->first_graph + g));
    ridge_buf_puts(w->out, "}\n");
    if (is_tuple)
        return take_parts(w, name, result);
    spmd_array a = one;
    a.name = name;
    return spmd_form_add(w, result->values[0],
                         &spmd_value_at(m, result->values[0])->sharding, &a);
}

/* The state of a loop, or what a branch is given. */
static ridge_status put_parameter(spmd_writer *w, int k)
{
    spmd *m = w->m;
    const hlo_node *node = &m->graphs.graphs[w->graph].nodes[k];
    const spmd_leaves *values = &m->leaves[w->graph][k];
    const char *name =
        ridge_sprintf(ridge_ctx_arena(m->cx), "%%given.%d", ++w->n_names);
    if (name == NULL)
        return ridge_fail_nomem(m->cx);
    ridge_buf_printf(w->out, "  %s = ", name);
    if (ridge_hlo_shape_is_tuple(&node->i->shape)) {
        put_types(w, w->out, values);
        ridge_buf_puts(w->out, " parameter(0)\n");
        return take_parts(w, name, values);
    }
    const ridge_sharding *s = &spmd_value_at(m, values->values[0])->sharding;
    spmd_array a = spmd_array_local(m, values->values[0], s);
    spmd_type_put(w->out, &a);
    ridge_buf_puts(w->out, " parameter(0)\n");
    a.name = name;
    return spmd_form_add(w, values->values[0], s, &a);
}

/* The values with which a graph ends lie as its caller takes them. */
static ridge_status find_wanted(spmd *m, int graph, const spmd_leaves *out,
                                ridge_sharding *wanted)
{
    const hlo_graph *g = &m->graphs.graphs[graph];
    const spmd_leaves *as = out;
    for (int k = 0; g->kind != HLO_GRAPH_ENTRY && g->kind != HLO_GRAPH_CONDITION &&
                    k < m->graphs.graphs[g->parent].n;
         k++) {
        const hlo_node *node = &m->graphs.graphs[g->parent].nodes[k];
        if (node->n_graphs > 0 && graph >= node->first_graph &&
            graph < node->first_graph + node->n_graphs)
            as = &m->leaves[g->parent][k];
    }
    if (as->n != out->n)
        return ridge_fail(m->cx, RIDGE_E_ARG,
                          "a computation gives %d values where %d are taken", out->n,
                          as->n);
    for (int k = 0; k < out->n; k++) {
        wanted[k] = spmd_value_at(m, as->values[k])->sharding;
        if (g->kind == HLO_GRAPH_ENTRY && m->wanted[k].n_dims >= 0)
            wanted[k] = m->wanted[k];
    }
    return RIDGE_OK;
}

static ridge_status put_root(spmd_writer *w)
{
    spmd *m = w->m;
    const hlo_graph *g = &m->graphs.graphs[w->graph];
    const ridge_hlo_computation *c = &m->whole->computations[g->computation];
    const bool is_tuple = ridge_hlo_shape_is_tuple(&c->instructions[c->root].shape);
    spmd_leaves out;
    ridge_buf names, types;
    RIDGE_TRY(spmd_outputs_of(m, w->graph, &out));
    ridge_sharding *wanted = ridge_new(m->scratch, ridge_sharding, (size_t)out.n + 1);
    if (wanted == NULL)
        return ridge_fail_nomem(m->cx);
    RIDGE_TRY(find_wanted(m, w->graph, &out, wanted));
    ridge_buf_init(&names, ridge_ctx_arena(m->cx));
    ridge_buf_init(&types, ridge_ctx_arena(m->cx));
    w->op = NULL;
    w->why = g->kind == HLO_GRAPH_BODY ? "loop" : "result";
    for (int k = 0; k < out.n; k++) {
        spmd_array a;
        RIDGE_TRY(spmd_form_want(w, out.values[k], &wanted[k], &a));
        ridge_buf_printf(&names, "%s%s", k ? ", " : "", a.name);
        ridge_buf_puts(&types, k ? ", " : "");
        spmd_type_put(&types, &a);
    }
    if (is_tuple)
        ridge_buf_printf(w->out, "  ROOT %%root.%d = (%s) tuple(%s)\n", ++w->n_names,
                         ridge_buf_text(&types), ridge_buf_text(&names));
    else
        ridge_buf_printf(w->out, "  ROOT %%root.%d = %s bitcast(%s)\n", ++w->n_names,
                         ridge_buf_text(&types), ridge_buf_text(&names));
    return RIDGE_OK;
}

static ridge_status put_node(spmd_writer *w, int k)
{
    const hlo_graph *g = &w->m->graphs.graphs[w->graph];
    const hlo_node *node = &g->nodes[k];
    const int index = w->m->op_of[w->graph][k];
    w->op = NULL;
    if (node->i->code == RIDGE_HLO_OP_WHILE)
        return put_loop(w, k);
    if (node->i->code == RIDGE_HLO_OP_CONDITIONAL)
        return put_branches(w, k);
    if (node->i->code == RIDGE_HLO_OP_PARAMETER && g->kind != HLO_GRAPH_ENTRY)
        return put_parameter(w, k);
    if (index < 0)
        return RIDGE_OK;
    const spmd_op *op = spmd_op_at(w->m, index);
    if (spmd_op_is_name(w->m, op)) {
        w->same_as[op->tensors[1].value] = w->same_as[op->tensors[0].value];
        return RIDGE_OK;
    }
    ridge_dim_axes *axes =
        ridge_new(w->m->scratch, ridge_dim_axes, (size_t)op->factors.n + 1);
    if (axes == NULL)
        return ridge_fail_nomem(w->m->cx);
    RIDGE_TRY(spmd_choose(w->m, op, axes));
    return spmd_op_write(w, op, axes);
}

ridge_status spmd_graph_write(spmd_writer *w, int graph)
{
    const hlo_graph *g = &w->m->graphs.graphs[graph];
    w->graph = graph;
    ridge_buf_printf(w->out, "%s%s {\n", g->kind == HLO_GRAPH_ENTRY ? "ENTRY " : "",
                     graph_name(w->m, graph));
    for (int k = 0; k < g->n; k++)
        RIDGE_TRY(put_node(w, k));
    RIDGE_TRY(put_root(w));
    ridge_buf_puts(w->out, "}\n\n");
    return RIDGE_OK;
}
