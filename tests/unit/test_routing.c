/* Tokens dealt to experts by chance: against enumeration, and laws. */
#include "near.h"
#include "ridge/model_routing.h"

#include <math.h>
#include <string.h>

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state ? 0 : -1;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static ridge_routing find(ridge_ctx *cx, int64_t experts, int64_t chosen,
                          int64_t tokens, int64_t ranks, double capacity)
{
    const ridge_routing_request r = {experts, chosen, tokens, ranks, capacity};
    ridge_routing out;
    assert_int_equal(ridge_routing_find(cx, &r, &out), RIDGE_OK);
    return out;
}

/* Two tokens, two experts: both on one in half of all cases. */
static void two_tokens_meet_half_of_the_time(void **state)
{
    const ridge_routing r = find(*state, 2, 1, 2, 2, 1);
    assert_near(r.rows, 2, 0);
    assert_near(r.dropped_share, 0.25, 1e-12);
    assert_near(r.slack_share, 0.25, 1e-12);
    assert_near(r.experts.hit, 1.5, 1e-12);
    assert_near(r.experts.most, 1.5, 0.03); /* bins taken as independent but for one */
    assert_near(r.ranks.most, r.experts.most, 1e-12);
}

/* 15 of the 28 pairs of eight experts leave a given rank of two out. */
static void a_token_reaches_fewer_ranks_than_it_chooses_experts(void **state)
{
    const ridge_routing r = find(*state, 8, 2, 100, 4, 0);
    assert_near(r.fill, 13.0 / 28, 1e-12);
    assert_near(r.sent_ranks, 13.0 / 7, 1e-12);
    assert_near(r.fill_apart, 7.0 / 16, 1e-12);
    assert_near(r.fill_most, 0.5, 0);
    const ridge_routing whole = find(*state, 8, 2, 100, 8, 0);
    assert_near(whole.fill, 0.25, 1e-12); /* one expert a rank: as many as chosen */
    assert_near(find(*state, 8, 8, 3, 2, 0).fill, 1, 0);
}

/* Three tokens that take two of four: an expert has 0..3 rows with 1, 3, 3, 1 of 8. */
static void rows_beyond_the_capacity_are_dropped(void **state)
{
    static const struct {
        double capacity, rows, dropped;
    } rows[] = {
        {0.5, 1, (3 * 1 + 1 * 2) / 8.0 / 1.5},
        {1, 2, 1 / 8.0 / 1.5},
        {2, 3, 0},
        {1.0 / 1.5, 1, (3 * 1 + 1 * 2) / 8.0 / 1.5}, /* a whole row, not two */
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const ridge_routing r = find(*state, 4, 2, 3, 1, rows[i].capacity);
        assert_near(r.capacity_rows, rows[i].rows, 0);
        assert_true(fabs(r.dropped_share - rows[i].dropped) < 1e-12);
        assert_near(r.slack_share, 1 - 1.5 * (1 - r.dropped_share) / rows[i].rows,
                    1e-12);
    }
    assert_near(find(*state, 4, 2, 3, 1, 0).capacity_rows, 0, 0);
}

/* 4,000 drawn batches each: the fullest expert and rank, 95 % within 0.3 %. */
static void the_fullest_are_as_full_as_drawn_ones(void **state)
{
    static const struct {
        int64_t experts, chosen, tokens, ranks;
        double expert, rank;
    } rows[] = {
        {8, 2, 512, 4, 143.0, 271.2},
        {256, 8, 300, 32, 18.91, 93.17},
        {64, 6, 37, 8, 8.201, 35.10},
        {128, 1, 1000, 16, 15.92, 76.83},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const ridge_routing r = find(*state, rows[i].experts, rows[i].chosen,
                                     rows[i].tokens, rows[i].ranks, 0);
        assert_near(r.experts.most, rows[i].expert, 0.004);
        assert_near(r.ranks.most, rows[i].rank, 0.004);
    }
}

/* All experts, or all on one rank: nothing is left to chance. */
static void what_has_no_choice_is_even(void **state)
{
    const ridge_routing all = find(*state, 8, 8, 3, 4, 1);
    assert_near(all.experts.most, 3, 0);
    assert_near(all.ranks.most, 6, 0);
    assert_near(all.dropped_share, 0, 0);
    const ridge_routing one = find(*state, 8, 2, 3, 1, 0);
    assert_near(one.ranks.most, 6, 0);
    assert_near(one.ranks.hit, 1, 0);
    assert_near(find(*state, 8, 8, 4, 1, 0.5).dropped_share, 0.5, 1e-12);
}

/* Two bins: the mean and 0.7979 spreads, on both sides of where points become steps. */
static void wide_distributions_are_normal(void **state)
{
    static const int64_t tokens[] = {100000000, 1599000000, 1601000000, 1000000000000};
    for (size_t i = 0; i < RIDGE_COUNT_OF(tokens); i++) {
        const ridge_routing r = find(*state, 2, 1, tokens[i], 2, 1);
        const double spread = sqrt((double)tokens[i]) / 2;
        assert_near((r.experts.most - r.experts.mean) / spread, 0.797885, 2e-3);
        assert_near(r.dropped_share * r.experts.mean / spread, 0.398942, 2e-3);
    }
}

static void the_factor_of_a_thousandth_drops_so_much(void **state)
{
    for (int64_t tokens = 16; tokens <= 65536; tokens *= 4) {
        const double c = find(*state, 64, 6, tokens, 1, 0).capacity_for_mille;
        const double mean = (double)tokens * 6 / 64;
        assert_true(find(*state, 64, 6, tokens, 1, c).dropped_share <= 1e-3);
        const double less = c - 1 / mean;
        assert_true(less <= 0 ||
                    find(*state, 64, 6, tokens, 1, less).dropped_share > 1e-3);
    }
}

static void more_room_drops_less_and_the_fullest_is_above_the_mean(void **state)
{
    for (int64_t tokens = 1; tokens < 3000; tokens = tokens * 3 + 1) {
        double before = 1;
        for (double c = 0.25; c < 4; c += 0.25) {
            const ridge_routing r = find(*state, 32, 4, tokens, 8, c);
            assert_true(r.dropped_share <= before + 1e-12);
            assert_true(r.dropped_share >= 0 && r.slack_share >= -1e-12);
            assert_true(r.experts.most >= r.experts.mean);
            assert_true(r.experts.most <= (double)tokens * 1.05);
            assert_true(r.ranks.most / r.ranks.mean <=
                        r.experts.most / r.experts.mean + 1e-9);
            before = r.dropped_share;
        }
    }
}

static void what_cannot_be_dealt_is_refused(void **state)
{
    ridge_routing out;
    static const ridge_routing_request bad[] = {
        {0, 1, 1, 1, 0},  {8, 0, 1, 1, 0},  {8, 9, 1, 1, 0},
        {8, 2, 0, 1, 0},  {8, 2, 1, 0, 0},  {8, 2, 1, 3, 0},
        {8, 2, 1, 16, 0}, {8, 2, 1, 1, -1}, {8, 2, 1, 1, INFINITY},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++)
        assert_int_equal(ridge_routing_find(*state, &bad[i], &out), RIDGE_E_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_tokens_meet_half_of_the_time),
        cmocka_unit_test(a_token_reaches_fewer_ranks_than_it_chooses_experts),
        cmocka_unit_test(rows_beyond_the_capacity_are_dropped),
        cmocka_unit_test(the_fullest_are_as_full_as_drawn_ones),
        cmocka_unit_test(what_has_no_choice_is_even),
        cmocka_unit_test(wide_distributions_are_normal),
        cmocka_unit_test(the_factor_of_a_thousandth_drops_so_much),
        cmocka_unit_test(more_room_drops_less_and_the_fullest_is_above_the_mean),
        cmocka_unit_test(what_cannot_be_dealt_is_refused),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
