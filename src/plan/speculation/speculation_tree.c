/*
 * The best tree of drafts: a table over levels, candidates and nodes.
 *
 * best[d][k][n] is what up to n nodes are worth below a node of level d - 1 whose
 * candidates from rank k on may be taken, all chances relative to that node's path. A
 * candidate's chance falls with its rank, but nothing here relies on it.
 */
#include "ridge/plan_speculation.h"

#include <string.h>

typedef struct tree_table {
    const ridge_tree_odds *odds;
    int depth, ranks, nodes;
    double *best; /* [depth + 1][ranks + 1][nodes + 1] */
    int *below;   /* the same: nodes below the candidate of rank k; -1: not taken */
} tree_table;

ridge_tree_odds ridge_tree_odds_of(const double *accept, int64_t depth, int64_t ranks,
                                   double next)
{
    ridge_tree_odds odds = {.depth = depth, .ranks = ranks};
    for (int64_t d = 0; d < depth; d++) {
        double left = 1 - accept[d];
        odds.chance[d][0] = accept[d];
        for (int64_t k = 1; k < ranks; k++) {
            odds.chance[d][k] = left * next;
            left -= odds.chance[d][k];
        }
    }
    return odds;
}

/* ---- the table ------------------------------------------------------------------- */

static size_t place(const tree_table *t, int d, int k, int n)
{
    return ((size_t)d * (size_t)(t->ranks + 1) + (size_t)k) * (size_t)(t->nodes + 1) +
           (size_t)n;
}

/* The best of n nodes from rank k of level d on; deeper levels and later ranks are
 * there already. */
static void fill_cell(tree_table *t, int d, int k, int n)
{
    const double chance = t->odds->chance[d][k];
    double most = t->best[place(t, d, k + 1, n)];
    int below = -1;
    for (int m = 0; m < n; m++) {
        const double worth = chance * (1 + t->best[place(t, d + 1, 0, m)]) +
                             t->best[place(t, d, k + 1, n - 1 - m)];
        if (worth > most) {
            most = worth;
            below = m;
        }
    }
    t->best[place(t, d, k, n)] = most;
    t->below[place(t, d, k, n)] = below;
}

static void fill_table(tree_table *t)
{
    for (int d = t->depth - 1; d >= 0; d--) {
        for (int k = t->ranks - 1; k >= 0; k--) {
            for (int n = 1; n <= t->nodes; n++)
                fill_cell(t, d, k, n);
        }
    }
}

/* ---- the tree -------------------------------------------------------------------- */

/* Nodes that are still to be given to the candidates of a node. */
typedef struct tree_branch {
    int parent; /* -1: the root */
    int level;  /* of its candidates */
    int nodes;
} tree_branch;

static void add_children(const tree_table *t, tree_branch branch, ridge_tree *tree,
                         tree_branch *queue, int *n_queue)
{
    int left = branch.nodes;
    for (int k = 0; k < t->ranks && left > 0; k++) {
        const int below = t->below[place(t, branch.level, k, left)];
        if (below < 0)
            continue;
        const int node = (int)tree->nodes++;
        tree->parent[node] = branch.parent;
        tree->rank[node] = k;
        tree->level[node] = branch.level;
        tree->width[branch.level]++;
        if (tree->depth <= branch.level)
            tree->depth = branch.level + 1;
        left -= 1 + below;
        if (below > 0)
            queue[(*n_queue)++] = (tree_branch){node, branch.level + 1, below};
    }
}

/* Branches in the order of their levels, so nodes are too. */
static void take_tree(const tree_table *t, ridge_tree *tree)
{
    tree_branch queue[RIDGE_TREE_NODES_MAX + 1];
    int n_queue = 1;
    queue[0] = (tree_branch){-1, 0, t->nodes};
    for (int i = 0; i < n_queue; i++)
        add_children(t, queue[i], tree, queue, &n_queue);
}

ridge_status ridge_tree_find(ridge_ctx *cx, const ridge_tree_odds *odds, int64_t nodes,
                             int64_t depth, ridge_tree *out)
{
    tree_table t = {.odds = odds,
                    .depth = (int)depth,
                    .ranks = (int)odds->ranks,
                    .nodes = (int)nodes};
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    const size_t cells = place(&t, t.depth + 1, 0, 0);
    t.best = ridge_new(scratch, double, cells);
    t.below = ridge_new(scratch, int, cells);
    if (t.best == NULL || t.below == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < cells; i++)
        t.below[i] = -1;
    fill_table(&t);
    memset(out, 0, sizeof *out);
    take_tree(&t, out);
    ridge_arena_rewind(scratch, mark);
    out->tokens = ridge_tree_tokens(out, odds);
    return RIDGE_OK;
}

/* ---- what a tree is worth -------------------------------------------------------- */

/* Chance that each level is reached: the sum of its nodes' paths. */
static void find_reach(const ridge_tree *tree, const ridge_tree_odds *odds,
                       double *reach)
{
    double path[RIDGE_TREE_NODES_MAX];
    for (int i = 0; i < RIDGE_DRAFT_DEPTH_MAX; i++)
        reach[i] = 0;
    for (int i = 0; i < (int)tree->nodes; i++) {
        const double before = tree->parent[i] < 0 ? 1 : path[tree->parent[i]];
        path[i] = before * odds->chance[tree->level[i]][tree->rank[i]];
        reach[tree->level[i]] += path[i];
    }
}

double ridge_tree_tokens(const ridge_tree *tree, const ridge_tree_odds *odds)
{
    double reach[RIDGE_DRAFT_DEPTH_MAX];
    double tokens = 1;
    find_reach(tree, odds, reach);
    for (int i = 0; i < (int)tree->depth; i++)
        tokens += reach[i];
    return tokens;
}

void ridge_tree_acceptance(const ridge_tree *tree, const ridge_tree_odds *odds,
                           double *out)
{
    double reach[RIDGE_DRAFT_DEPTH_MAX];
    double before = 1;
    find_reach(tree, odds, reach);
    for (int i = 0; i < (int)tree->depth; i++) {
        out[i] = before > 0 ? reach[i] / before : 0;
        before = reach[i];
    }
}
