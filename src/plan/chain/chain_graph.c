/*
 * The graph of a program: a node for each operation and for each tensor that several
 * read or that is fixed on its way, a link for each tensor between them.
 */
#include "chain_states.h"

#include <math.h>

/* ---- how tensors are given ------------------------------------------------------- */

static void take_off(ridge_sharding *s, unsigned axes)
{
    for (int d = 0; d < s->n_dims; d++) {
        int kept = 0;
        for (int i = 0; i < s->dims[d].n; i++) {
            if (!(axes & (1u << s->dims[d].axes[i])))
                s->dims[d].axes[kept++] = s->dims[d].axes[i];
        }
        s->dims[d].n = kept;
    }
}

/* Lay one dim as a rule says; its axes leave the other dims. */
static void apply_rule(const ridge_chain_request *r, const ridge_rule *rule, int at,
                       ridge_sharding *s)
{
    ridge_dim_axes axes = {0};
    unsigned bits = 0;
    for (int i = 0; i < rule->n_axes; i++) {
        const int axis = ridge_mesh_find(r->mesh, rule->axes[i]);
        if (axis < 0 || (bits & (1u << axis)))
            continue;
        axes.axes[axes.n++] = axis;
        bits |= 1u << axis;
    }
    take_off(s, bits);
    s->dims[at] = axes;
}

/* How the rules lay a tensor. @return whether one names it */
static bool rules_of(const ridge_chain_request *r, int tensor, ridge_sharding *out)
{
    const ridge_tensor *t = &r->program->tensors[tensor];
    bool is_named = false;
    *out = (ridge_sharding){.n_dims = t->n_dims};
    for (int i = 0; i < r->rules.n; i++) {
        const ridge_rule *rule = &r->rules.rules[i];
        const int named =
            rule->tensor ? ridge_program_tensor_find(r->program, rule->tensor) : -1;
        if (rule->tensor ? named != tensor : rule->role != t->role)
            continue;
        is_named = is_named || rule->tensor != NULL;
        for (int d = 0; d < t->n_dims; d++) {
            if (t->dims[d] == ridge_program_dim_find(r->program, rule->dim))
                apply_rule(r, rule, d, out);
        }
    }
    return is_named;
}

/* ---- moves ----------------------------------------------------------------------- */

static double step_s(const ridge_chain_request *r, const ridge_reshard *step)
{
    if (!r->laid || step->kind == RIDGE_STEP_SLICE)
        return 0;
    const ridge_group group = ridge_laid_mesh_group(r->laid, step->axes, step->n_axes);
    return ridge_collective_time(r->laid->slice, (ridge_collective)step->kind,
                                 step->bytes, &group)
        .expected_s;
}

static ridge_status plan_move(ridge_ctx *cx, const ridge_chain_request *r,
                              ridge_chain_move *m)
{
    const ridge_tensor *t = &r->program->tensors[m->tensor];
    int64_t sizes[RIDGE_TENSOR_DIM_MAX];
    for (int d = 0; d < t->n_dims; d++)
        sizes[d] = r->program->dims[t->dims[d]].size;
    return ridge_reshard_plan(cx, r->mesh, sizes, ridge_dtype_bytes(t->dtype), &m->from,
                              &m->to, m->steps, &m->n_steps);
}

bool chain_move_find(ridge_ctx *cx, const ridge_chain_request *request,
                     ridge_chain_move *m)
{
    m->n_steps = 0;
    m->time_s = m->sent_bytes = 0;
    if (m->to.partial & ~m->from.partial)
        return false;
    if (plan_move(cx, request, m) != RIDGE_OK) {
        ridge_ctx_clear(cx);
        return false;
    }
    for (int i = 0; i < m->n_steps; i++) {
        m->time_s += step_s(request, &m->steps[i]);
        m->sent_bytes += ridge_reshard_sent_bytes(request->mesh, &m->steps[i]);
    }
    return true;
}

/* ---- links ----------------------------------------------------------------------- */

static const chain_kinds *kinds_at(const chain_graph *g, const chain_link *link,
                                   bool is_from)
{
    const int at = is_from ? link->from : link->to;
    const chain_node *node = &g->nodes[at];
    const int output = node->op < 0 ? 0 : g->ops[node->op].n_inputs;
    return &node->arrays[is_from ? output : link->array];
}

int chain_link_kinds(const chain_graph *graph, const chain_link *link, bool is_from)
{
    if ((is_from ? link->from : link->to) < 0)
        return 1;
    return kinds_at(graph, link, is_from)->n;
}

int chain_link_kind(const chain_graph *graph, const chain_link *link, bool is_from,
                    int state)
{
    if ((is_from ? link->from : link->to) < 0)
        return 0;
    return kinds_at(graph, link, is_from)->of[state];
}

const ridge_sharding *chain_link_sharding(const chain_graph *graph,
                                          const chain_link *link, bool is_from,
                                          int kind)
{
    if ((is_from ? link->from : link->to) < 0)
        return &link->end;
    return &kinds_at(graph, link, is_from)->kinds[kind];
}

static ridge_status price_link(ridge_ctx *cx, const chain_graph *g, chain_link *link)
{
    const int from = chain_link_kinds(g, link, true);
    const int to = chain_link_kinds(g, link, false);
    link->cost = ridge_new(ridge_ctx_scratch(cx), double, (size_t)from *(size_t)to);
    if (!link->cost)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < from; i++) {
        if (ridge_ctx_is_cancelled(cx))
            return ridge_fail(cx, RIDGE_E_CANCELLED, "cancelled");
        for (int k = 0; k < to; k++) {
            ridge_chain_move m = {.tensor = link->tensor,
                                  .from = *chain_link_sharding(g, link, true, i),
                                  .to = *chain_link_sharding(g, link, false, k)};
            const bool is_there = chain_move_find(cx, g->request, &m);
            const double cost = g->request->laid ? m.time_s : m.sent_bytes;
            link->cost[i * to + k] = is_there ? cost : (double)INFINITY;
        }
    }
    return RIDGE_OK;
}

static ridge_status add_link(ridge_ctx *cx, chain_graph *g, const chain_link *link)
{
    g->links[g->n_links] = *link;
    return price_link(cx, g, &g->links[g->n_links++]);
}

/* ---- tensors --------------------------------------------------------------------- */

static int count_readers(const chain_graph *g, int tensor)
{
    int n = 0;
    for (int i = 0; i < g->n_ops; i++) {
        for (int array = 0; array < g->ops[i].n_inputs; array++)
            n += chain_op_tensor(g->request->program, &g->ops[i], array) == tensor;
    }
    return n;
}

static int find_maker(const chain_graph *g, int tensor)
{
    for (int i = 0; i < g->n_ops; i++) {
        if (chain_op_tensor(g->request->program, &g->ops[i], g->ops[i].n_inputs) ==
            tensor)
            return i;
    }
    return -1;
}

/* Links from a node, or from how the tensor is given, to all that read it. */
static ridge_status link_readers(ridge_ctx *cx, chain_graph *g, chain_link link)
{
    for (int i = 0; i < g->n_ops; i++) {
        for (int array = 0; array < g->ops[i].n_inputs; array++) {
            if (chain_op_tensor(g->request->program, &g->ops[i], array) != link.tensor)
                continue;
            link.to = i;
            link.array = array;
            RIDGE_TRY(add_link(cx, g, &link));
        }
    }
    return RIDGE_OK;
}

/* A node for a tensor that is kept, before those that read it, if any. */
static ridge_status keep_tensor(ridge_ctx *cx, chain_graph *g, chain_link link,
                                const ridge_sharding *fixed)
{
    chain_node *node = &g->nodes[g->n_nodes];
    *node = (chain_node){.op = -1, .tensor = link.tensor};
    if (fixed) {
        RIDGE_TRY(chain_states_fixed(cx, fixed, node));
    } else {
        RIDGE_TRY(chain_states_of_tensor(cx, g->request, link.tensor, node));
    }
    link.to = g->n_nodes++;
    link.array = 0;
    RIDGE_TRY(add_link(cx, g, &link));
    return link_readers(cx, g, (chain_link){.tensor = link.tensor, .from = link.to});
}

static ridge_status link_tensor(ridge_ctx *cx, chain_graph *g, int tensor)
{
    chain_link link = {.tensor = tensor, .from = find_maker(g, tensor), .to = -1};
    const int readers = count_readers(g, tensor);
    const bool is_named = rules_of(g->request, tensor, &link.end);
    if (link.from < 0 && readers == 0)
        return RIDGE_OK;
    if (readers == 0 && is_named)
        return add_link(cx, g, &link);
    const bool is_fixed = is_named && link.from >= 0;
    const ridge_sharding fixed = link.end;
    /* a result that no rule names may lie in any way but as partial sums */
    if (is_fixed || readers != 1)
        return keep_tensor(cx, g, link, is_fixed ? &fixed : NULL);
    return link_readers(cx, g, link);
}

ridge_status chain_graph_build(ridge_ctx *cx, const ridge_chain_request *request,
                               chain_graph *out)
{
    const ridge_program *p = request->program;
    ridge_arena *arena = ridge_ctx_scratch(cx);
    chain_graph g = {.request = request, .n_ops = p->n_ops, .n_nodes = p->n_ops};
    const size_t most = (size_t)(p->n_ops * (RIDGE_CHAIN_INPUT_MAX + 2) + p->n_tensors);
    if (p->n_ops < 1 || p->n_ops > CHAIN_OP_MAX) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a program of 1 to %d operations is searched, not %d",
                          CHAIN_OP_MAX, p->n_ops);
    }
    g.ops = ridge_new(arena, chain_op, (size_t)p->n_ops);
    g.nodes = ridge_new(arena, chain_node, (size_t)(p->n_ops + p->n_tensors));
    g.links = ridge_new(arena, chain_link, most);
    if (!g.ops || !g.nodes || !g.links)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < p->n_ops; i++) {
        RIDGE_TRY(chain_op_read(cx, p, i, &g.ops[i]));
        g.nodes[i] = (chain_node){.op = i, .tensor = p->ops[i].outputs[0]};
        RIDGE_TRY(chain_states_of_op(cx, request, &g.ops[i], &g.nodes[i]));
    }
    for (int t = 0; t < p->n_tensors; t++)
        RIDGE_TRY(link_tensor(cx, &g, t));
    *out = g;
    return RIDGE_OK;
}
