/* The stochastic rule keeps the model's distribution, whatever drafts and however many
 * candidates: counted over many draws, and in closed form. */
#include "near.h"
#include "seeded.h"

#include "ridge/plan_speculation.h"

#include <math.h>

enum { TOKENS = 6, CANDIDATES = 4, DRAWS = 200000 };

/* Five standard deviations of a count's share: the chance of a miss is below 1e-6. */
static const double DEVIATIONS = 5;

static double uniform(seeded *at)
{
    return (double)(seeded_next(at) >> 11) * 0x1p-53;
}

static void distribution(seeded *at, double *p)
{
    double whole = 0;
    for (int i = 0; i < TOKENS; i++) {
        const double u = uniform(at);
        p[i] = u < 0.2 ? 0 : u * u * u;
        whole += p[i];
    }
    if (whole <= 0)
        p[0] = whole = 1;
    for (int i = 0; i < TOKENS; i++)
        p[i] /= whole;
}

static int draw(seeded *at, const double *q)
{
    const double u = uniform(at);
    double sum = 0;
    int last = 0;
    for (int i = 0; i < TOKENS; i++) {
        if (q[i] <= 0)
            continue;
        last = i;
        sum += q[i];
        if (u < sum)
            return i;
    }
    return last;
}

static void expect_share(int count, double want)
{
    const double share = (double)count / DRAWS;
    const double deviation = sqrt(want * (1 - want) / DRAWS);
    assert_true(fabs(share - want) <= DEVIATIONS * deviation + 1e-9);
}

/* One seed: its distributions, and what the rule makes of so many candidates. */
static void play(uint64_t seed, int n)
{
    seeded at = seed;
    double p[TOKENS];
    double q[TOKENS];
    double work[TOKENS];
    double ranks[CANDIDATES];
    int counts[TOKENS] = {0};
    int kept_counts[CANDIDATES] = {0};
    distribution(&at, p);
    distribution(&at, q);
    for (int i = 0; i < DRAWS; i++) {
        int drafted[CANDIDATES];
        double keep[CANDIDATES];
        int kept;
        for (int k = 0; k < n; k++) {
            drafted[k] = draw(&at, q);
            keep[k] = uniform(&at);
        }
        const ridge_candidates c = {
            .n = n, .drafted = drafted, .keep = keep, .draw = uniform(&at)};
        counts[ridge_stochastic_choice(p, q, TOKENS, &c, work, &kept)]++;
        if (kept >= 0)
            kept_counts[kept]++;
    }
    ridge_stochastic_ranks(p, q, TOKENS, n, work, ranks);
    for (int i = 0; i < TOKENS; i++)
        expect_share(counts[i], p[i]);
    for (int k = 0; k < n; k++)
        expect_share(kept_counts[k], ranks[k]);
}

static void the_outputs_are_the_models(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        play(seed, 1);
        play(seed + 100, CANDIDATES);
    }
}

static void acceptance_is_what_the_distributions_share(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        seeded at = seed;
        double p[TOKENS];
        double q[TOKENS];
        double work[TOKENS];
        double ranks[CANDIDATES];
        double distance = 0;
        double sum = 0;
        distribution(&at, p);
        distribution(&at, q);
        for (int i = 0; i < TOKENS; i++)
            distance += fabs(p[i] - q[i]) / 2;
        assert_near(ridge_stochastic_acceptance(p, q, TOKENS), 1 - distance, 1e-9);
        assert_near(ridge_stochastic_acceptance(p, p, TOKENS), 1, 1e-12);
        ridge_stochastic_ranks(p, q, TOKENS, CANDIDATES, work, ranks);
        assert_near(ranks[0], 1 - distance, 1e-9);
        for (int k = 0; k < CANDIDATES; k++) {
            assert_true(ranks[k] >= -1e-12);
            sum += ranks[k];
        }
        assert_true(sum <= 1 + 1e-9);
    }
}

static void the_greedy_rule_keeps_the_longest_prefix(void **state)
{
    (void)state;
    const int best[] = {7, 3, 5, 5};
    const int drafted[] = {7, 3, 4, 5};
    const int all[] = {7, 3, 5, 5};
    const int none[] = {1, 3, 5, 5};
    assert_int_equal(ridge_greedy_accepted(drafted, best, 4), 2);
    assert_int_equal(ridge_greedy_accepted(all, best, 4), 4);
    assert_int_equal(ridge_greedy_accepted(none, best, 4), 0);
    assert_int_equal(ridge_greedy_accepted(drafted, best, 0), 0);
}

/* Tokens of an iteration, played with the rule at every position, are as the closed
 * form says of independent positions. */
static void played_iterations_make_the_tokens_of_the_formula(void **state)
{
    enum { DEPTH = 4 };
    (void)state;
    seeded at = 42;
    double p[TOKENS];
    double q[TOKENS];
    double work[TOKENS];
    double accept[DEPTH];
    double tokens = 0;
    distribution(&at, p);
    distribution(&at, q);
    for (int i = 0; i < DEPTH; i++)
        accept[i] = ridge_stochastic_acceptance(p, q, TOKENS);
    for (int i = 0; i < DRAWS; i++) {
        int kept = 0;
        tokens += 1;
        for (int k = 0; k < DEPTH && kept == 0; k++) {
            const int drafted = draw(&at, q);
            const double keep = uniform(&at);
            const ridge_candidates c = {
                .n = 1, .drafted = &drafted, .keep = &keep, .draw = uniform(&at)};
            ridge_stochastic_choice(p, q, TOKENS, &c, work, &kept);
            tokens += kept == 0 ? 1 : 0;
        }
    }
    assert_near(tokens / DRAWS, ridge_chain_tokens(accept, DEPTH), 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_outputs_are_the_models),
        cmocka_unit_test(acceptance_is_what_the_distributions_share),
        cmocka_unit_test(the_greedy_rule_keeps_the_longest_prefix),
        cmocka_unit_test(played_iterations_make_the_tokens_of_the_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
