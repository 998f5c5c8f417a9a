/* Chains, small trees, published acceptance, and what users write. */
#include "model_fixture.h"

#include "ridge/plan_speculation.h"

#include <math.h>
#include <string.h>

static void one_acceptance_has_a_closed_form(void **state)
{
    (void)state;
    static const double as[] = {0, 0.3, 0.8, 0.95};
    for (size_t i = 0; i < RIDGE_COUNT_OF(as); i++) {
        double accept[RIDGE_DRAFT_DEPTH_MAX];
        ridge_acceptance_extend(&as[i], 1, accept);
        for (int64_t k = 0; k <= 8; k++) {
            const double want = (1 - pow(as[i], (double)k + 1)) / (1 - as[i]);
            assert_near(ridge_chain_tokens(accept, k), want, 1e-12);
        }
    }
    const double all[] = {1, 1, 1};
    assert_near(ridge_chain_tokens(all, 3), 4, 0);
}

static void chances_sum_and_give_the_mean(void **state)
{
    (void)state;
    const double accept[] = {0.79, 0.74, 0.72, 0.73, 0.67};
    double chance[6];
    double sum = 0;
    double mean = 0;
    ridge_chain_chances(accept, 5, chance);
    for (int i = 0; i <= 5; i++) {
        sum += chance[i];
        mean += chance[i] * (i + 1);
    }
    assert_near(sum, 1, 1e-12);
    assert_near(mean, ridge_chain_tokens(accept, 5), 1e-12);
}

static void an_acceptance_is_solved_from_a_mean_length(void **state)
{
    (void)state;
    double accept[RIDGE_DRAFT_DEPTH_MAX];
    const double a = ridge_chain_acceptance(3.26, 7);
    ridge_acceptance_extend(&a, 1, accept);
    assert_near(ridge_chain_tokens(accept, 7), 3.26, 1e-9);
    assert_true(ridge_chain_acceptance(1, 4) < 1e-9);
    assert_near(ridge_chain_acceptance(5, 4), 1, 1e-9);
}

/* Two levels of two candidates: with three nodes the second candidate of the first
 * level is worth 0.3, one below it 0.15, the second below the first 0.6 x 0.3 = 0.18.
 */
static void a_small_tree_is_the_best_one(void **state)
{
    const double accept[] = {0.6, 0.5};
    ridge_tree tree;
    ridge_tree_odds odds = ridge_tree_odds_of(accept, 2, 2, 0.75);
    assert_near(odds.chance[0][1], 0.3, 1e-12);
    assert_near(odds.chance[1][1], 0.375, 1e-12);
    assert_ok(*state, ridge_tree_find(*state, &odds, 3, 2, &tree));
    assert_int_equal(tree.nodes, 3);
    assert_int_equal(tree.width[0], 2);
    assert_int_equal(tree.width[1], 1);
    assert_near(tree.tokens, 1 + 0.6 + 0.3 + 0.3, 1e-12);
    double levels[2];
    ridge_tree_acceptance(&tree, &odds, levels);
    assert_near(levels[0], 0.9, 1e-12);
    assert_near(levels[1], 0.3 / 0.9, 1e-12);
    assert_near(ridge_chain_tokens(levels, 2), tree.tokens, 1e-12);
}

static void without_further_candidates_the_best_tree_is_a_chain(void **state)
{
    const double accept[] = {0.9, 0.8, 0.7, 0.6};
    ridge_tree tree;
    const ridge_tree_odds odds = ridge_tree_odds_of(accept, 4, 3, 0);
    assert_ok(*state, ridge_tree_find(*state, &odds, 64, 4, &tree));
    assert_int_equal(tree.nodes, 4);
    assert_near(tree.tokens, ridge_chain_tokens(accept, 4), 1e-12);
}

/* ---- published ------------------------------------------------------------------- */

static void published_acceptance_is_read(void **state)
{
    const ridge_acceptance_set *set;
    const ridge_acceptance *a;
    assert_ok(*state, ridge_acceptance_set_open(*state, &set));
    assert_true(ridge_acceptance_count(set) >= 15);
    for (int k = RIDGE_DRAFT_MODEL; k <= RIDGE_DRAFT_NGRAM; k++)
        assert_non_null(ridge_acceptance_default(set, (ridge_draft_kind)k));
    assert_null(ridge_acceptance_default(set, RIDGE_DRAFT_NONE));
    assert_ok(*state, ridge_acceptance_find(*state, set, "mtp-deepseek-v3", &a));
    assert_true(a->accept[0] >= 0.85 && a->accept[0] <= 0.9);
    assert_ok(*state, ridge_acceptance_find(*state, set, "eagle-3-llama-3.3-70b", &a));
    assert_true(a->is_solved);
    assert_int_equal(ridge_acceptance_find(*state, set, "eagle-9", &a),
                     RIDGE_E_NOTFOUND);
}

/* Tokens of the best tree of four candidates a node, of as many nodes as published. */
static double tokens_of_tree(ridge_ctx *cx, const ridge_acceptance *a,
                             const double *accept)
{
    ridge_tree tree;
    const ridge_tree_odds odds = ridge_tree_odds_of(accept, a->depth, 4, a->next);
    assert_ok(cx, ridge_tree_find(cx, &odds, a->nodes, a->depth, &tree));
    return tree.tokens;
}

/* What is stated beside the positions agrees with them: of chains, or of trees. */
static void published_means_agree_with_their_positions(void **state)
{
    const ridge_acceptance_set *set;
    assert_ok(*state, ridge_acceptance_set_open(*state, &set));
    for (size_t i = 0; i < ridge_acceptance_count(set); i++) {
        const ridge_acceptance *a = ridge_acceptance_at(set, i);
        double accept[RIDGE_DRAFT_DEPTH_MAX];
        ridge_acceptance_extend(a->accept, a->n_accept, accept);
        if (a->tokens > 1 && a->nodes > a->depth)
            assert_near(tokens_of_tree(*state, a, accept), a->tokens, 6e-3);
        else if (a->tokens > 1)
            assert_near(ridge_chain_tokens(accept, a->depth), a->tokens, 2e-3);
    }
}

/* EAGLE's fixed tree: each node by the ranks on its path. */
static const char *const eagle_paths[] = {
    "0",   "1",   "2",    "3",    "00",   "01",    "02",   "10",  "11",
    "20",  "21",  "30",   "000",  "001",  "002",   "010",  "011", "020",
    "021", "100", "0000", "0001", "0002", "00000", "00001"};

static ridge_tree eagle_tree(void)
{
    ridge_tree tree = {.nodes = RIDGE_COUNT_OF(eagle_paths), .depth = 5};
    for (int i = 0; i < (int)tree.nodes; i++) {
        const size_t n = strlen(eagle_paths[i]);
        tree.level[i] = (int)n - 1;
        tree.rank[i] = eagle_paths[i][n - 1] - '0';
        tree.parent[i] = -1;
        tree.width[n - 1]++;
        for (int k = 0; k < i; k++) {
            if (strlen(eagle_paths[k]) == n - 1 &&
                strncmp(eagle_paths[k], eagle_paths[i], n - 1) == 0)
                tree.parent[i] = k;
        }
    }
    return tree;
}

/* One chance of further candidates explains the trees of six models from their chains,
 * to 7%. @source eagle-2024, table 2 */
static void published_trees_follow_from_published_chains(void **state)
{
    (void)state;
    static const struct {
        double accept[5], tokens;
    } rows[] = {
        {{0.79, 0.74, 0.72, 0.73, 0.67}, 3.94}, {{0.79, 0.74, 0.72, 0.74, 0.70}, 3.98},
        {{0.74, 0.69, 0.67, 0.67, 0.66}, 3.68}, {{0.76, 0.69, 0.67, 0.68, 0.68}, 3.62},
        {{0.77, 0.69, 0.69, 0.70, 0.71}, 3.90}, {{0.75, 0.69, 0.65, 0.64, 0.64}, 3.81}};
    const ridge_tree fixed = eagle_tree();
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const ridge_tree_odds odds = ridge_tree_odds_of(rows[i].accept, 5, 4, 0.3);
        assert_near(ridge_tree_tokens(&fixed, &odds), rows[i].tokens, 0.07);
    }
}

/* ---- as users write it ----------------------------------------------------------- */

static ridge_status parse(ridge_ctx *cx, const char *text, ridge_speculation *out)
{
    const ridge_library *library;
    assert_ok(cx, ridge_library_open(cx, NULL, &library));
    return ridge_speculation_parse(cx, text, library, out);
}

static void kinds_and_settings_are_read(void **state)
{
    ridge_ctx *cx = *state;
    ridge_speculation s;
    assert_ok(cx, parse(cx, "eagle,depth=4,accept=0.8/0.7", &s));
    assert_int_equal(s.draft.kind, RIDGE_DRAFT_EAGLE);
    assert_int_equal(s.draft.depth, 4);
    assert_near(s.draft.accept[0], 0.8, 0);
    assert_near(s.draft.accept[3], 0.7, 0);
    assert_string_equal(s.source, "stated");
    assert_ok(cx, parse(cx, "mtp", &s));
    assert_string_equal(s.source, "mtp-deepseek-v3-chain");
    assert_near(s.draft.accept[0], 0.875, 0);
    assert_ok(cx, parse(cx, "model=llama-3.2-1b, depth=5", &s));
    assert_int_equal(s.draft.kind, RIDGE_DRAFT_MODEL);
    assert_string_equal(s.draft.model->name, "llama-3.2-1b");
    assert_ok(cx, parse(cx, "medusa,accept=medusa-2-vicuna-7b,nodes=63,next=0.1", &s));
    assert_int_equal(s.draft.nodes, 63);
    assert_near(s.next, 0.1, 0);
    assert_ok(cx, parse(cx, "none", &s));
    assert_int_equal(s.draft.kind, RIDGE_DRAFT_NONE);
}

static void nonsense_is_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "expected a kind"},
        {"eagel", "'eagel' drafts nothing"},
        {"eagle,,depth=3", "expected a kind"},
        {"eagle,depth=0", "depth=0: expected a whole number from 1 to 32"},
        {"eagle,accept=1.2", "accept=1.2: expected chances from 0 to 1"},
        {"eagle,accept=0.8/x", "expected chances from 0 to 1"},
        {"eagle,accept=eagle-x", "unknown acceptance 'eagle-x'"},
        {"eagle,depht=3", "unknown setting of speculation 'depht'"},
        {"eagle,next=1", "expected a chance below 1"},
        {"eagle,depth=5,nodes=3", "nodes=3 are fewer than depth=5"},
        {"model", "which is not told"},
        {"model=no-such-model", "unknown model"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_speculation s;
        assert_int_not_equal(parse(*state, cases[i].text, &s), RIDGE_OK);
        fixture_assert_message(*state, cases[i].message);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_open, fixture_close)
    const struct CMUnitTest tests[] = {
        TEST(one_acceptance_has_a_closed_form),
        TEST(chances_sum_and_give_the_mean),
        TEST(an_acceptance_is_solved_from_a_mean_length),
        TEST(a_small_tree_is_the_best_one),
        TEST(without_further_candidates_the_best_tree_is_a_chain),
        TEST(published_acceptance_is_read),
        TEST(published_means_agree_with_their_positions),
        TEST(published_trees_follow_from_published_chains),
        TEST(kinds_and_settings_are_read),
        TEST(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
