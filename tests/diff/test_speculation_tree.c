/* The best tree against every tree there is, and against the nodes of the likeliest
 * paths, which are a best tree too. */
#include "near.h"
#include "seeded.h"

#include "ridge/plan_speculation.h"

#include <math.h>

enum { RANKS = 3, LEVELS = 3, ALL = 3 + 9 + 27 };

static double chance(seeded *at)
{
    return (double)seeded_pick(at, 0, 1000) / 1000;
}

static ridge_tree_odds odds_of(seeded *at, int64_t depth, int64_t ranks)
{
    ridge_tree_odds odds = {.depth = depth, .ranks = ranks};
    for (int64_t d = 0; d < depth; d++) {
        double left = 1;
        for (int64_t k = 0; k < ranks; k++) {
            odds.chance[d][k] = left * chance(at);
            left -= odds.chance[d][k];
        }
    }
    return odds;
}

/* Every candidate of three levels: its path's chance and its parent's place. */
typedef struct candidates {
    int n;
    double path[ALL];
    int parent[ALL];
} candidates;

static void list_candidates(const ridge_tree_odds *odds, candidates *c)
{
    int first = -1; /* of the level before */
    int n_before = 1;
    c->n = 0;
    for (int d = 0; d < (int)odds->depth; d++) {
        const int start = c->n;
        for (int p = 0; p < n_before; p++) {
            const int parent = first < 0 ? -1 : first + p;
            for (int k = 0; k < (int)odds->ranks; k++) {
                c->path[c->n] = (parent < 0 ? 1 : c->path[parent]) * odds->chance[d][k];
                c->parent[c->n++] = parent;
            }
        }
        first = start;
        n_before = c->n - start;
    }
}

/* The most that so many nodes make, each with its parent; tried one by one. */
static double try_all(const candidates *c, int at, int left, unsigned long long taken)
{
    if (at == c->n || left == 0)
        return 0;
    double most = try_all(c, at + 1, left, taken);
    const int parent = c->parent[at];
    if (parent < 0 || (taken >> parent & 1) != 0) {
        const double with =
            c->path[at] + try_all(c, at + 1, left - 1, taken | 1ull << at);
        most = with > most ? with : most;
    }
    return most;
}

static void the_table_finds_the_best_of_all_trees(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        seeded at = seed;
        candidates c;
        ridge_tree tree;
        const int64_t depth = seeded_pick(&at, 1, LEVELS);
        const int64_t ranks = seeded_pick(&at, 1, depth == 3 ? 2 : RANKS);
        const int64_t nodes = seeded_pick(&at, 1, 6);
        const ridge_tree_odds odds = odds_of(&at, depth, ranks);
        list_candidates(&odds, &c);
        assert_int_equal(ridge_tree_find(cx, &odds, nodes, depth, &tree), RIDGE_OK);
        assert_near(tree.tokens, 1 + try_all(&c, 0, (int)nodes, 0), 1e-12);
    }
    ridge_ctx_close(cx);
}

/* A node is never likelier than its parent, so the likeliest nodes are a tree. */
static double likeliest(const ridge_tree_odds *odds, int nodes)
{
    candidates c;
    double sum = 1;
    list_candidates(odds, &c);
    for (int i = 0; i < nodes && i < c.n; i++) {
        int best = 0;
        for (int j = 1; j < c.n; j++)
            best = c.path[j] > c.path[best] ? j : best;
        sum += c.path[best];
        c.path[best] = 0;
    }
    return sum;
}

static void likeliest_nodes_make_as_much(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    for (uint64_t seed = 100; seed < 300; seed++) {
        seeded at = seed;
        ridge_tree tree;
        const int64_t nodes = seeded_pick(&at, 1, ALL);
        const ridge_tree_odds odds = odds_of(&at, LEVELS, RANKS);
        assert_int_equal(ridge_tree_find(cx, &odds, nodes, LEVELS, &tree), RIDGE_OK);
        assert_near(tree.tokens, likeliest(&odds, (int)nodes), 1e-12);
        assert_true(tree.nodes <= nodes);
        for (int i = 0; i < (int)tree.nodes; i++) {
            assert_true(tree.parent[i] < i);
            assert_int_equal(tree.level[i],
                             tree.parent[i] < 0 ? 0 : tree.level[tree.parent[i]] + 1);
        }
    }
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_finds_the_best_of_all_trees),
        cmocka_unit_test(likeliest_nodes_make_as_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
