/*
 * The least sum of costs of states and of pairs of states, exactly: nodes are
 * eliminated one after the other, the one first whose neighbours have the fewest states
 * together. What is left of a node is a cost of its neighbours' states, with the state
 * that was best for each. @source dechter1999, bucket elimination
 */
#include "chain_graph.h"

#include <math.h>

enum { NEIGHBOUR_MAX = 4, FACTOR_MAX = 1024 };
static const double TABLE_MOST = 16e6, WORK_MOST = 1e9;

/* A cost of the states of some nodes; row-major. */
typedef struct factor {
    int n;
    int nodes[NEIGHBOUR_MAX + 1];
    const double *values;
    bool is_used_up;
} factor;

/* A node that is gone: its best state for each of its neighbours' states. */
typedef struct elimination {
    int node;
    int n;
    int nodes[NEIGHBOUR_MAX];
    uint16_t *best;
} elimination;

typedef struct solver {
    ridge_ctx *cx;
    const chain_graph *graph;
    int n_factors;
    factor *factors;
    int n_gone;
    elimination *gone;
    bool *is_gone;
    double constant; /* of links between two ends, and of what has no neighbours left */
} solver;

double chain_graph_cost(const chain_graph *graph, const int *states)
{
    double cost = 0;
    for (int i = 0; i < graph->n_nodes; i++)
        cost += graph->nodes[i].cost[states[i]];
    for (int i = 0; i < graph->n_links; i++) {
        const chain_link *link = &graph->links[i];
        const int from =
            link->from < 0 ? 0 : chain_link_kind(graph, link, true, states[link->from]);
        const int to =
            link->to < 0 ? 0 : chain_link_kind(graph, link, false, states[link->to]);
        cost += link->cost[from * chain_link_kinds(graph, link, false) + to];
    }
    return cost;
}

/* ---- factors --------------------------------------------------------------------- */

static ridge_status add_factor(solver *s, const factor *f)
{
    if (s->n_factors == FACTOR_MAX)
        return ridge_fail(s->cx, RIDGE_E_ARG, "too many operations to search");
    s->factors[s->n_factors++] = *f;
    return RIDGE_OK;
}

static ridge_status link_factor(solver *s, const chain_link *link)
{
    const chain_graph *g = s->graph;
    const int from = link->from < 0 ? 1 : g->nodes[link->from].n_states;
    const int to = link->to < 0 ? 1 : g->nodes[link->to].n_states;
    const int kinds = chain_link_kinds(g, link, false);
    factor f = {.n = 0};
    double *values =
        ridge_new(ridge_ctx_scratch(s->cx), double, (size_t)from *(size_t)to);
    if (!values)
        return ridge_fail_nomem(s->cx);
    for (int i = 0; i < from; i++) {
        for (int k = 0; k < to; k++) {
            values[i * to + k] = link->cost[chain_link_kind(g, link, true, i) * kinds +
                                            chain_link_kind(g, link, false, k)];
        }
    }
    if (link->from >= 0)
        f.nodes[f.n++] = link->from;
    if (link->to >= 0)
        f.nodes[f.n++] = link->to;
    f.values = values;
    return add_factor(s, &f);
}

static ridge_status open_solver(solver *s)
{
    const chain_graph *g = s->graph;
    ridge_arena *arena = ridge_ctx_scratch(s->cx);
    s->factors = ridge_new(arena, factor, FACTOR_MAX);
    s->gone = ridge_new(arena, elimination, (size_t)g->n_nodes);
    s->is_gone = ridge_new(arena, bool, (size_t)g->n_nodes);
    if (!s->factors || !s->gone || !s->is_gone)
        return ridge_fail_nomem(s->cx);
    for (int i = 0; i < g->n_nodes; i++) {
        const factor f = {.n = 1, .nodes = {i}, .values = g->nodes[i].cost};
        RIDGE_TRY(add_factor(s, &f));
    }
    for (int i = 0; i < g->n_links; i++)
        RIDGE_TRY(link_factor(s, &g->links[i]));
    return RIDGE_OK;
}

/* ---- elimination ----------------------------------------------------------------- */

static bool has_node(const factor *f, int node)
{
    for (int i = 0; i < f->n; i++) {
        if (f->nodes[i] == node)
            return true;
    }
    return false;
}

/* The nodes that share a factor with one. @return how many; more than NEIGHBOUR_MAX are
 * counted, not listed */
static int find_neighbours(const solver *s, int node, int *out)
{
    int n = 0;
    for (int f = 0; f < s->n_factors; f++) {
        const factor *x = &s->factors[f];
        if (x->is_used_up || !has_node(x, node))
            continue;
        for (int i = 0; i < x->n; i++) {
            bool is_known = x->nodes[i] == node;
            for (int k = 0; k < n && k < NEIGHBOUR_MAX; k++)
                is_known = is_known || out[k] == x->nodes[i];
            if (is_known)
                continue;
            if (n < NEIGHBOUR_MAX)
                out[n] = x->nodes[i];
            n++;
        }
    }
    return n;
}

static double states_of(const solver *s, const int *nodes, int n)
{
    double states = 1;
    for (int i = 0; i < n; i++)
        states *= s->graph->nodes[nodes[i]].n_states;
    return states;
}

/* The node whose elimination leaves the smallest table. @return -1: all are gone */
static int pick_node(const solver *s)
{
    int best = -1;
    double best_states = (double)INFINITY;
    for (int i = 0; i < s->graph->n_nodes; i++) {
        int neighbours[NEIGHBOUR_MAX];
        if (s->is_gone[i])
            continue;
        const int n = find_neighbours(s, i, neighbours);
        const double states = n > NEIGHBOUR_MAX ? 1e300 : states_of(s, neighbours, n);
        if (states < best_states) {
            best = i;
            best_states = states;
        }
    }
    return best;
}

/* A factor that holds the node, and how far apart its values lie for each node of the
 * elimination; the node itself is last. */
typedef struct reader {
    const double *values;
    int64_t strides[NEIGHBOUR_MAX + 1];
} reader;

static reader open_reader(const solver *s, const factor *f, const elimination *e)
{
    reader r = {.values = f->values};
    int64_t stride = 1;
    for (int i = f->n - 1; i >= 0; i--) {
        for (int k = 0; k <= e->n; k++) {
            if ((k < e->n ? e->nodes[k] : e->node) == f->nodes[i])
                r.strides[k] = stride;
        }
        stride *= s->graph->nodes[f->nodes[i]].n_states;
    }
    return r;
}

/* The best state for one choice of the neighbours' states. */
static double best_state(const reader *readers, int n_readers, const elimination *e,
                         const int *states, int n_states, uint16_t *best)
{
    const double *at[FACTOR_MAX];
    double least = (double)INFINITY;
    for (int r = 0; r < n_readers; r++) {
        at[r] = readers[r].values;
        for (int k = 0; k < e->n; k++)
            at[r] += states[k] * readers[r].strides[k];
    }
    *best = 0;
    for (int state = 0; state < n_states; state++) {
        double cost = 0;
        for (int r = 0; r < n_readers; r++)
            cost += at[r][state * readers[r].strides[e->n]];
        if (cost < least) {
            least = cost;
            *best = (uint16_t)state;
        }
    }
    return least;
}

/* @param values  out: one for each choice of the neighbours' states */
static void fill_table(solver *s, const elimination *e, const reader *readers,
                       int n_readers, double *values)
{
    const int n_states = s->graph->nodes[e->node].n_states;
    int states[NEIGHBOUR_MAX] = {0};
    for (int64_t row = 0;; row++) {
        values[row] =
            best_state(readers, n_readers, e, states, n_states, &e->best[row]);
        int k = e->n - 1;
        while (k >= 0 && ++states[k] == s->graph->nodes[e->nodes[k]].n_states)
            states[k--] = 0;
        if (k < 0)
            return;
    }
}

static ridge_status check_size(const solver *s, const elimination *e, int n,
                               double rows)
{
    if (n <= NEIGHBOUR_MAX && rows <= TABLE_MOST &&
        rows * s->graph->nodes[e->node].n_states <= WORK_MOST)
        return RIDGE_OK;
    return ridge_fail(
        s->cx, RIDGE_E_ARG,
        "too many tensors hang together to search exactly: use fewer mesh "
        "axes, or fix some tensors by rules");
}

static ridge_status eliminate(solver *s, int node)
{
    elimination e = {.node = node};
    reader readers[FACTOR_MAX];
    int n_readers = 0;
    e.n = find_neighbours(s, node, e.nodes);
    const double rows = e.n > NEIGHBOUR_MAX ? 0 : states_of(s, e.nodes, e.n);
    RIDGE_TRY(check_size(s, &e, e.n, rows));
    for (int f = 0; f < s->n_factors; f++) {
        if (s->factors[f].is_used_up || !has_node(&s->factors[f], node))
            continue;
        readers[n_readers++] = open_reader(s, &s->factors[f], &e);
        s->factors[f].is_used_up = true;
    }
    double *values = ridge_new(ridge_ctx_scratch(s->cx), double, (size_t)rows);
    e.best = ridge_new(ridge_ctx_scratch(s->cx), uint16_t, (size_t)rows);
    if (!values || !e.best)
        return ridge_fail_nomem(s->cx);
    fill_table(s, &e, readers, n_readers, values);
    s->gone[s->n_gone++] = e;
    s->is_gone[node] = true;
    if (e.n == 0) {
        s->constant += values[0];
        return RIDGE_OK;
    }
    factor f = {.n = e.n, .values = values};
    for (int i = 0; i < e.n; i++)
        f.nodes[i] = e.nodes[i];
    return add_factor(s, &f);
}

/* States from the last that went to the first. */
static void trace_back(const solver *s, int *states)
{
    for (int i = s->n_gone - 1; i >= 0; i--) {
        const elimination *e = &s->gone[i];
        int64_t row = 0;
        for (int k = 0; k < e->n; k++)
            row = row * s->graph->nodes[e->nodes[k]].n_states + states[e->nodes[k]];
        states[e->node] = e->best[row];
    }
}

ridge_status chain_graph_solve(ridge_ctx *cx, const chain_graph *graph, int *states,
                               double *cost)
{
    solver s = {.cx = cx, .graph = graph};
    RIDGE_TRY(open_solver(&s));
    for (int node = pick_node(&s); node >= 0; node = pick_node(&s)) {
        if (ridge_ctx_is_cancelled(cx))
            return ridge_fail(cx, RIDGE_E_CANCELLED, "cancelled");
        RIDGE_TRY(eliminate(&s, node));
    }
    trace_back(&s, states);
    *cost = s.constant;
    if (!isfinite(s.constant))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "no shardings are right: a wanted partial sum "
                          "cannot arise");
    return RIDGE_OK;
}
