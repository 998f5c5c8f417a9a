/*
 * The graphs played in the order of the text. Kernels of the chip run one after the
 * other. What was started asynchronously, moves to the host and back, and on chips
 * whose software overlaps them every collective of a module that is not scheduled yet,
 * runs beside them from when its inputs are there, on its network axes or the copy
 * engine, until something needs its result or waits for it. See docs/design/hlo.md.
 */
#include "hlo_pricing.h"
#include "hlo_schedule.h"

#include "ridge/cost_program.h"

#include <math.h>

/* Differences of sums of times below this share of them are rounding. */
#define ROUNDING 1e-9

/** One graph being played. */
typedef struct player {
    hlo_pricing *p;
    int graph;
    double now_s;
    double axis_free_s[RIDGE_AXIS_MAX], copy_free_s;
    double *there_s; /* [n] when a value is there that something asynchronous makes */
    int *maker;      /* [n] kernel that makes it; -1: none */
    double *end_s;   /* [kernels] of asynchronous ones */
} player;

static bool is_async(const player *y, int kernel)
{
    const hlo_pricing *p = y->p;
    const hlo_kernel *k = &p->kernels[y->graph].kernels[kernel];
    const ridge_hlo_instruction *i = p->graphs.graphs[y->graph].nodes[k->node].i;
    if (!p->priced[y->graph][kernel].is_priced)
        return false;
    if (k->async > 0 || i->phase == RIDGE_HLO_START)
        return true;
    if (p->module->is_scheduled || p->is_compiled || p->chip == NULL)
        return false;
    const ridge_hlo_op *op = &p->priced[y->graph][kernel].op;
    /* moves to and from the host become copies that start and are waited for */
    return (op->category == RIDGE_HLO_CATEGORY_HOST &&
            i->code == RIDGE_HLO_OP_CUSTOM_CALL) ||
           (op->collective && ridge_chip_is_overlapped(p->chip));
}

/* Nothing before the value of @p node is there goes on. What it waits for is exposed.
 */
static void wait_for(player *y, int node)
{
    const int kernel = y->maker[node];
    if (y->there_s[node] <= y->now_s || kernel < 0)
        return;
    y->p->priced[y->graph][kernel].op.exposed_s += y->there_s[node] - y->now_s;
    y->now_s = y->there_s[node];
}

static void inherit(player *y, int node)
{
    const hlo_node *n = &y->p->graphs.graphs[y->graph].nodes[node];
    y->there_s[node] = 0;
    y->maker[node] = -1;
    for (int k = 0; k < n->n_inputs; k++) {
        if (y->there_s[n->inputs[k]] > y->there_s[node]) {
            y->there_s[node] = y->there_s[n->inputs[k]];
            y->maker[node] = y->maker[n->inputs[k]];
        }
    }
}

static double free_at(const player *y, unsigned axes)
{
    double s = 0;
    if (axes == 0)
        return y->copy_free_s;
    for (int a = 0; a < RIDGE_AXIS_MAX; a++)
        s = axes & 1u << a ? fmax(s, y->axis_free_s[a]) : s;
    return s;
}

static void hold(player *y, unsigned axes, double until_s)
{
    if (axes == 0)
        y->copy_free_s = until_s;
    for (int a = 0; a < RIDGE_AXIS_MAX; a++) {
        if (axes & 1u << a)
            y->axis_free_s[a] = until_s;
    }
}

/* The inputs of an operation that is started must be there; a scheduled module starts
 * it where it stands. */
static void start(player *y, int kernel, int node)
{
    hlo_priced *priced = &y->p->priced[y->graph][kernel];
    const double issued_s = y->p->module->is_scheduled ? y->now_s : 0;
    const double from_s =
        fmax(fmax(y->there_s[node], issued_s), free_at(y, priced->axes));
    y->end_s[kernel] = from_s + priced->op.expected_s;
    hold(y, priced->axes, y->end_s[kernel]);
    y->there_s[node] = y->end_s[kernel];
    y->maker[node] = kernel;
}

/* What a loop or a conditional runs. */
static double control_s(const player *y, const hlo_node *n)
{
    const hlo_graphs *all = &y->p->graphs;
    double s = 0;
    for (int k = 0; k < n->n_graphs; k++) {
        const hlo_graph *g = &all->graphs[n->first_graph + k];
        const double each = y->p->graph_s[n->first_graph + k];
        if (g->kind == HLO_GRAPH_BRANCH)
            s = fmax(s, each);
        else
            s += each * g->times / all->graphs[y->graph].times;
    }
    return all->graphs[y->graph].times > 0 ? s : 0;
}

/* Without a chip, only for telling which branch is the larger: bytes, and FLOPs at the
 * 200 a byte at which usual chips balance. */
static double weight(const player *y, const ridge_hlo_op *op)
{
    enum { USUAL_FLOPS_PER_BYTE = 200 };
    return y->p->chip ? op->expected_s
                      : op->bytes + (op->matmul_flops + op->vector_flops) /
                                        USUAL_FLOPS_PER_BYTE;
}

static void run(player *y, int kernel, int node)
{
    hlo_priced *priced = &y->p->priced[y->graph][kernel];
    wait_for(y, node);
    double took = weight(y, &priced->op);
    if (!priced->is_priced)
        took = control_s(y, &y->p->graphs.graphs[y->graph].nodes[node]);
    if (priced->op.collective) {
        y->now_s = fmax(y->now_s, free_at(y, priced->axes));
        priced->op.exposed_s = priced->op.expected_s;
        hold(y, priced->axes, y->now_s + took);
    }
    y->now_s += took;
    y->there_s[node] = y->now_s; /* from then on; nothing has to wait for it */
    y->maker[node] = -1;
}

/* Compute beside collectives has the SMs that these leave. */
static void slow_down(player *y)
{
    const hlo_pricing *p = y->p;
    double hidden = 0;
    for (int k = 0; k < p->kernels[y->graph].n; k++) {
        ridge_hlo_op *op = &p->priced[y->graph][k].op;
        if (op->collective || y->end_s[k] > 0) {
            op->exposed_s = fmin(op->exposed_s, op->expected_s);
            op->hidden_s = op->expected_s - op->exposed_s;
            if (op->hidden_s < ROUNDING * op->expected_s)
                op->hidden_s = 0;
        }
        hidden += op->collective ? op->hidden_s : 0;
    }
    const double share = p->chip ? ridge_collective_sm_share(p->chip) : 0;
    y->now_s += hidden * share / (1 - share);
}

/* In the order of the text. */
static void play_in_order(player *y)
{
    const hlo_kernels *k = &y->p->kernels[y->graph];
    const hlo_graph *g = &y->p->graphs.graphs[y->graph];
    for (int node = 0; node < g->n; node++) {
        const int kernel = k->kernel_of[node];
        inherit(y, node);
        if (g->nodes[node].i->phase == RIDGE_HLO_DONE)
            wait_for(y, node);
        if (kernel < 0 || k->kernels[kernel].node != node)
            continue; /* another root of it comes later */
        if (is_async(y, kernel))
            start(y, kernel, node);
        else
            run(y, kernel, node);
    }
    for (int o = 0; o < g->n_outputs; o++)
        wait_for(y, g->outputs[o]);
}

/* As a scheduler that hides latencies would order them. */
static ridge_status play_scheduled(player *y)
{
    const hlo_kernels *k = &y->p->kernels[y->graph];
    const hlo_graph *g = &y->p->graphs.graphs[y->graph];
    ridge_arena *scratch = ridge_ctx_scratch(y->p->cx);
    hlo_task *tasks = ridge_new(scratch, hlo_task, (size_t)k->n);
    hlo_slot *slots = ridge_new(scratch, hlo_slot, (size_t)k->n);
    if (tasks == NULL || slots == NULL)
        return ridge_fail_nomem(y->p->cx);
    for (int kernel = 0; kernel < k->n; kernel++) {
        const hlo_priced *priced = &y->p->priced[y->graph][kernel];
        tasks[kernel] =
            (hlo_task){.took_s = priced->is_priced
                                     ? weight(y, &priced->op)
                                     : control_s(y, &g->nodes[k->kernels[kernel].node]),
                       .is_async = is_async(y, kernel),
                       .axes = priced->axes};
    }
    RIDGE_TRY(hlo_schedule_find(y->p->cx, k, tasks, slots, &y->now_s));
    for (int kernel = 0; kernel < k->n; kernel++) {
        if (!tasks[kernel].is_async)
            continue;
        y->end_s[kernel] = slots[kernel].end_s;
        y->p->priced[y->graph][kernel].op.exposed_s = slots[kernel].waited_s;
    }
    return RIDGE_OK;
}

static ridge_status play_graph(hlo_pricing *p, int graph)
{
    const hlo_kernels *k = &p->kernels[graph];
    const hlo_graph *g = &p->graphs.graphs[graph];
    ridge_arena *scratch = ridge_ctx_scratch(p->cx);
    player y = {.p = p,
                .graph = graph,
                .there_s = ridge_new(scratch, double, (size_t)g->n),
                .maker = ridge_new(scratch, int, (size_t)g->n),
                .end_s = ridge_new(scratch, double, (size_t)k->n)};
    if (!y.there_s || !y.maker || !y.end_s)
        return ridge_fail_nomem(p->cx);
    if (p->module->is_scheduled || p->is_compiled)
        play_in_order(&y);
    else
        RIDGE_TRY(play_scheduled(&y));
    slow_down(&y);
    p->graph_s[graph] = y.now_s;
    return RIDGE_OK;
}

/* ---- branches ---------------------------------------------------------------------
 */

/* Drop what runs in the branches that are not taken, and what these call. */
static void drop(hlo_pricing *p)
{
    for (int g = 0; g < p->graphs.n; g++) {
        const hlo_graph *graph = &p->graphs.graphs[g];
        const bool is_dropped =
            graph->parent >= 0 && p->is_dropped_graph[graph->parent];
        p->is_dropped_graph[g] |= is_dropped;
        for (int n = 0; n < graph->n; n++) {
            const hlo_node *node = &graph->nodes[n];
            int slowest = node->first_graph;
            if (node->i->code != RIDGE_HLO_OP_CONDITIONAL)
                continue;
            for (int k = 1; k < node->n_graphs; k++) {
                const int branch = node->first_graph + k;
                slowest = p->graph_s[branch] > p->graph_s[slowest] ? branch : slowest;
            }
            for (int k = 0; k < node->n_graphs; k++)
                p->is_dropped_graph[node->first_graph + k] |=
                    node->first_graph + k != slowest;
        }
        for (int k = 0; k < p->kernels[g].n; k++)
            p->priced[g][k].is_dropped = p->is_dropped_graph[g];
    }
}

ridge_status hlo_timeline_play(hlo_pricing *p)
{
    p->graph_s = ridge_new(ridge_ctx_arena(p->cx), double, (size_t)p->graphs.n);
    p->is_dropped_graph = ridge_new(ridge_ctx_arena(p->cx), bool, (size_t)p->graphs.n);
    if (p->graph_s == NULL || p->is_dropped_graph == NULL)
        return ridge_fail_nomem(p->cx);
    for (int g = p->graphs.n - 1; g >= 0; g--) { /* what is called comes behind */
        const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(p->cx));
        const ridge_status st = play_graph(p, g);
        ridge_arena_rewind(ridge_ctx_scratch(p->cx), mark);
        RIDGE_TRY(st);
    }
    drop(p);
    return RIDGE_OK;
}
