/* The cheapest shardings of a program's intermediates: graph, search, and what was
 * found in the program's order. */
#include "chain_graph.h"

#include "ridge/cost_strategy.h"

static const ridge_sharding *array_of(const chain_node *node, int array, int state)
{
    const chain_kinds *kinds = &node->arrays[array];
    return &kinds->kinds[kinds->of[state]];
}

static ridge_status take_ops(ridge_ctx *cx, const chain_graph *g, const int *states,
                             ridge_chain_plan *plan)
{
    plan->n_ops = g->n_ops;
    plan->ops = ridge_new(ridge_ctx_arena(cx), ridge_chain_op, (size_t)g->n_ops);
    if (!plan->ops)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < g->n_ops; i++) {
        const chain_op *o = &g->ops[i];
        ridge_chain_op *out = &plan->ops[i];
        ridge_sharding arrays[RIDGE_CHAIN_INPUT_MAX + 1];
        for (int array = 0; array <= o->n_inputs; array++)
            arrays[array] = *array_of(&g->nodes[i], array, states[i]);
        *out = (ridge_chain_op){.op = o->op,
                                .n_inputs = o->n_inputs,
                                .output = arrays[o->n_inputs],
                                .compute_s = chain_op_price(g->request, o, arrays)};
        for (int array = 0; array < o->n_inputs; array++)
            out->inputs[array] = arrays[array];
        plan->compute_s += out->compute_s;
    }
    return RIDGE_OK;
}

static ridge_status take_move(ridge_ctx *cx, const chain_graph *g,
                              const chain_link *link, const int *states,
                              ridge_chain_plan *plan)
{
    const int from = link->from < 0 ? 0 : states[link->from];
    const int to = link->to < 0 ? 0 : states[link->to];
    const bool is_read = link->to >= 0 && g->nodes[link->to].op >= 0;
    ridge_chain_move m = {
        .tensor = link->tensor,
        .reader = is_read ? g->ops[link->to].op : -1,
        .from =
            *chain_link_sharding(g, link, true, chain_link_kind(g, link, true, from)),
        .to = *chain_link_sharding(g, link, false, chain_link_kind(g, link, false, to)),
    };
    if (!chain_move_find(cx, g->request, &m))
        return ridge_fail(cx, RIDGE_E_INTERNAL, "a move of the best plan is not there");
    plan->network_s += m.time_s;
    plan->sent_bytes += m.sent_bytes;
    if (m.n_steps > 0)
        plan->moves[plan->n_moves++] = m;
    return RIDGE_OK;
}

static ridge_status take_plan(ridge_ctx *cx, const chain_graph *g, const int *states,
                              ridge_chain_plan *plan)
{
    plan->moves =
        ridge_new(ridge_ctx_arena(cx), ridge_chain_move, (size_t)(g->n_links + 1));
    if (!plan->moves)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(take_ops(cx, g, states, plan));
    for (int i = 0; i < g->n_links; i++)
        RIDGE_TRY(take_move(cx, g, &g->links[i], states, plan));
    plan->ways = 1;
    for (int i = 0; i < g->n_nodes; i++)
        plan->ways *= g->nodes[i].n_states;
    return RIDGE_OK;
}

static ridge_status search(ridge_ctx *cx, const ridge_chain_request *request,
                           ridge_chain_plan *plan)
{
    chain_graph g;
    RIDGE_TRY(chain_graph_build(cx, request, &g));
    int *states = ridge_new(ridge_ctx_scratch(cx), int, (size_t)g.n_nodes);
    if (!states)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(chain_graph_solve(cx, &g, states, &plan->cost));
    return take_plan(cx, &g, states, plan);
}

ridge_status ridge_chain_search(ridge_ctx *cx, const ridge_chain_request *request,
                                ridge_chain_plan *out)
{
    ridge_chain_plan plan = {.program = request->program, .mesh = *request->mesh};
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
    const ridge_status st = search(cx, request, &plan);
    ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
    if (st == RIDGE_OK)
        *out = plan;
    return st;
}

/* ---- placements ------------------------------------------------------------------ */

enum { PLACEMENT_MOST = 24 };

static bool is_known(const ridge_laid_mesh *laid, const ridge_laid_mesh *known, int n,
                     int n_axes)
{
    for (int i = 0; i < n; i++) {
        int same = 0;
        while (same < n_axes &&
               ridge_group_is_same(&laid->groups[same], &known[i].groups[same]))
            same++;
        if (same == n_axes)
            return true;
    }
    return false;
}

/* The ways to lay the mesh that differ. @return how many, at most PLACEMENT_MOST */
static int find_placements(const ridge_mesh *mesh, const ridge_slice *slice,
                           ridge_laid_mesh *out)
{
    const int64_t count = ridge_mesh_place_count(mesh, slice);
    int n = 0;
    for (int64_t i = 0; i < count && n < PLACEMENT_MOST; i++) {
        if (ridge_mesh_place_try(mesh, slice, i, &out[n]) &&
            !is_known(&out[n], out, n, mesh->n))
            n++;
    }
    return n;
}

static ridge_status search_placements(ridge_ctx *cx, const ridge_chain_request *request,
                                      const ridge_laid_mesh *placements,
                                      ridge_chain_study *study)
{
    for (int i = 0; i < study->placements; i++) {
        ridge_chain_request at = *request;
        ridge_chain_plan plan;
        at.laid = &placements[i];
        RIDGE_TRY(ridge_chain_search(cx, &at, &plan));
        if (i > 0 && (float)plan.cost >= (float)study->plan.cost)
            continue;
        study->plan = plan;
        study->laid = placements[i];
    }
    return RIDGE_OK;
}

ridge_status ridge_chain_study_find(ridge_ctx *cx, const ridge_chain_request *request,
                                    const ridge_slice *slice, const char *place,
                                    ridge_chain_study *out)
{
    ridge_chain_study study = {.slice = slice, .placements = 1};
    ridge_laid_mesh placements[PLACEMENT_MOST];
    if (!slice) {
        ridge_chain_request by_bytes = *request;
        by_bytes.laid = NULL;
        RIDGE_TRY(ridge_chain_search(cx, &by_bytes, &study.plan));
        *out = study;
        return RIDGE_OK;
    }
    RIDGE_TRY(ridge_mesh_place_check(cx, request->mesh, slice));
    if (place) {
        RIDGE_TRY(
            ridge_mesh_place_parse(cx, place, request->mesh, slice, &placements[0]));
    } else {
        study.placements = find_placements(request->mesh, slice, placements);
    }
    if (study.placements == 0) {
        return ridge_fail(cx, RIDGE_E_ARG, "the mesh does not lie on the axes of %s",
                          slice->text);
    }
    RIDGE_TRY(search_placements(cx, request, placements, &study));
    *out = study;
    return RIDGE_OK;
}
