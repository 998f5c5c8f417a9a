/* Slices compared: the chosen one is the least of all by brute force, a later deadline
 * costs no more, and the sizes of an open kind are legal and rise. */
#include "near.h"
#include "train_fixture.h"

#include "ridge/plan_offer.h"

#include <math.h>
#include <string.h>

static const ridge_catalog *catalog_of(void **state)
{
    const ridge_catalog *catalog = NULL;
    assert_ok(*state, ridge_catalog_open(*state, NULL, &catalog));
    return catalog;
}

static const ridge_site site = {.name = "here", .pue = 1};

static ridge_money_request money_of(double usd)
{
    return (ridge_money_request){
        .site = &site, .has_price = usd > 0, .price = {.usd_per_chip_hour = usd}};
}

enum { KINDS = 6 };

typedef struct contest {
    ridge_train_request request;
    ridge_offer_kind kinds[KINDS];
    ridge_offer_request q;
} contest;

/* GPUs and TPUs, with prices of our own; the last has none. */
static void contest_open(void **state, contest *c)
{
    static const char *const slices[KINDS] = {"h100:1x8",  "h100:2x8", "a100:2x8",
                                              "v5p:2x2x4", "v5e:4x4",  "mi300x:1x8"};
    static const double usd[KINDS] = {2, 2, 1, 3, 1.5, 0};
    const ridge_catalog *catalog = catalog_of(state);
    const ridge_slice *slice = NULL;
    for (int k = 0; k < KINDS; k++) {
        assert_ok(*state, ridge_slice_parse(*state, catalog, slices[k], &slice));
        c->kinds[k] = (ridge_offer_kind){.slice = slice, .money = money_of(usd[k])};
    }
    c->request = train_request(train_dense_model(*state), slice, 64, 1024);
    c->request.total_tokens = 1e12;
    c->q = (ridge_offer_request){
        .request = &c->request, .n_kinds = KINDS, .kinds = c->kinds, .chips_most = 64};
}

static ridge_offer_study study_of(void **state, const ridge_offer_request *q)
{
    ridge_offer_study study;
    assert_ok(*state, ridge_offer_search(*state, catalog_of(state), q, &study));
    return study;
}

/* The number of a goal of one kind, from a search of its own. */
static double score_of(void **state, const contest *c, int kind, ridge_offer_goal goal,
                       double *days)
{
    ridge_train_request r = c->request;
    ridge_train_result result;
    r.slice = c->kinds[kind].slice;
    assert_ok(*state, ridge_train_search(*state, &r, &result));
    if (result.n_layouts == 0)
        return (double)INFINITY;
    const ridge_money m =
        ridge_train_money(&r, &result.layouts[0], &c->kinds[kind].money);
    *days = m.days;
    const double scores[] = {[RIDGE_OFFER_GOAL_COST] = m.usd,
                             [RIDGE_OFFER_GOAL_TIME] = m.days,
                             [RIDGE_OFFER_GOAL_CHIPS] = (double)r.slice->chips,
                             [RIDGE_OFFER_GOAL_ENERGY] = m.kwh};
    return scores[goal] > 0 ? scores[goal] : (double)INFINITY;
}

static void the_chosen_is_the_least_of_all(void **state)
{
    contest c;
    contest_open(state, &c);
    for (int goal = 0; goal < RIDGE_OFFER_GOAL_MEMORY; goal++) {
        c.q.goal = (ridge_offer_goal)goal;
        c.q.deadline_s = 0;
        const ridge_offer_study all = study_of(state, &c.q);
        /* so that some miss it */
        c.q.deadline_s = all.offers[all.best_of[RIDGE_OFFER_GOAL_TIME]].money.days *
                         RIDGE_DAY_S * 2.5;
        const ridge_offer_study s = study_of(state, &c.q);
        double least = (double)INFINITY;
        for (int k = 0; k < KINDS; k++) {
            double days = 0;
            const double score = score_of(state, &c, k, c.q.goal, &days);
            if (days * RIDGE_DAY_S <= c.q.deadline_s)
                least = fmin(least, score);
        }
        assert_int_equal(s.n, KINDS);
        assert_true(s.n_ranked > 0 && s.n_ranked < KINDS);
        assert_near(s.offers[0].score, least, 0);
        for (int i = 1; i < s.n_ranked; i++)
            assert_true(s.offers[i].score >= s.offers[i - 1].score);
    }
}

static void a_later_deadline_costs_no_more(void **state)
{
    contest c;
    contest_open(state, &c);
    double last = (double)INFINITY;
    int most = 0;
    for (double days = 4; days < 5e3; days *= 1.6) {
        c.q.deadline_s = days * RIDGE_DAY_S;
        const ridge_offer_study s = study_of(state, &c.q);
        assert_true(s.n_ranked >= most);
        most = s.n_ranked;
        if (s.n_ranked == 0)
            continue;
        assert_true(s.offers[0].money.days <= days);
        assert_true(s.offers[0].money.usd <= last);
        last = s.offers[0].money.usd;
    }
    assert_int_equal(most, KINDS - 1);
}

static void a_price_that_is_not_known_is_not_ranked(void **state)
{
    contest c;
    contest_open(state, &c);
    const ridge_offer_study s = study_of(state, &c.q);
    assert_int_equal(s.n_ranked, KINDS - 1);
    assert_int_equal(s.offers[KINDS - 1].fit, RIDGE_OFFER_UNKNOWN);
    assert_int_equal(s.offers[KINDS - 1].kind, KINDS - 1);
    assert_true(s.offers[KINDS - 1].money.days > 0);
    c.q.goal = RIDGE_OFFER_GOAL_TIME;
    assert_int_equal(study_of(state, &c.q).n_ranked, KINDS);
}

static void knobs_that_a_slice_cannot_take_are_its_own_affair(void **state)
{
    contest c;
    contest_open(state, &c);
    c.request.knobs.fsdp = 16;
    const ridge_offer_study s = study_of(state, &c.q);
    int refused = 0;
    for (int i = 0; i < s.n; i++) {
        if (s.offers[i].fit != RIDGE_OFFER_REFUSED)
            continue;
        refused++;
        assert_int_equal(s.offers[i].request.slice->chips, 8);
        assert_non_null(strstr(s.offers[i].why_not, "fsdp=16"));
    }
    assert_int_equal(refused, 2);
}

static void least_memory_is_within_the_slack(void **state)
{
    contest c;
    contest_open(state, &c);
    c.q.goal = RIDGE_OFFER_GOAL_MEMORY;
    double last[KINDS];
    for (int pass = 0; pass < 3; pass++) {
        c.q.slack = 0.1 * pass;
        const ridge_offer_study s = study_of(state, &c.q);
        for (int i = 0; i < s.n_ranked; i++) {
            const ridge_offer *o = &s.offers[i];
            assert_true(o->best.step_time_s <=
                        o->fastest_step_s * (1 + c.q.slack) * (1 + 1e-12));
            assert_true(o->best.peak_memory_bytes <= o->fastest_peak_bytes);
            if (pass > 0)
                assert_true(o->best.peak_memory_bytes <= last[o->kind]);
            last[o->kind] = o->best.peak_memory_bytes;
        }
    }
}

/* ---- open kinds -------------------------------------------------------------------
 */

static void open_one(void **state, contest *c, const char *chip)
{
    const ridge_slice *one = NULL;
    contest_open(state, c);
    assert_ok(*state, ridge_slice_parse(*state, catalog_of(state), chip, &one));
    c->kinds[0] =
        (ridge_offer_kind){.slice = one, .is_open = true, .money = money_of(2)};
    c->q.n_kinds = 1;
}

static bool has_chips(const ridge_offer_study *s, int64_t chips)
{
    for (int i = 0; i < s->n; i++) {
        if (s->offers[i].request.slice->chips == chips)
            return true;
    }
    return false;
}

static void sizes_double_within_and_beyond_a_node(void **state)
{
    contest c;
    open_one(state, &c, "h100");
    ridge_offer_study s = study_of(state, &c.q);
    for (int64_t n = 1; n <= 64; n *= 2)
        assert_true(has_chips(&s, n));
    open_one(state, &c, "gb200");
    c.q.chips_most = 200;
    s = study_of(state, &c.q);
    assert_true(has_chips(&s, 64) && has_chips(&s, 72) && has_chips(&s, 144));
    assert_false(has_chips(&s, 128));
    open_one(state, &c, "v5e");
    c.q.chips_most = 512;
    s = study_of(state, &c.q);
    assert_true(has_chips(&s, 16) && has_chips(&s, 256) && has_chips(&s, 512));
}

/* What is found between two doublings does, and no smaller size that was tried does. */
static void the_smallest_that_is_in_time_is_found(void **state)
{
    contest c;
    open_one(state, &c, "h100");
    c.q.goal = RIDGE_OFFER_GOAL_CHIPS;
    c.q.chips_most = 256;
    const ridge_offer_study all = study_of(state, &c.q);
    double days_64 = 0;
    double days_128 = 0;
    for (int i = 0; i < all.n; i++) {
        if (all.offers[i].request.slice->chips == 64)
            days_64 = all.offers[i].money.days;
        if (all.offers[i].request.slice->chips == 128)
            days_128 = all.offers[i].money.days;
    }
    assert_true(days_128 < days_64);
    int64_t last = INT64_MAX;
    for (double share = 0.05; share < 1; share += 0.3) {
        c.q.deadline_s = RIDGE_DAY_S * (days_128 + share * (days_64 - days_128));
        const ridge_offer_study s = study_of(state, &c.q);
        const int64_t chips = s.offers[0].request.slice->chips;
        assert_true(chips > 64 && chips <= 128 && chips % 8 == 0);
        assert_true(s.offers[0].money.days * RIDGE_DAY_S <= c.q.deadline_s);
        assert_true(chips <= last);
        last = chips;
    }
}

static void goals_have_names(void **state)
{
    ridge_offer_goal goal;
    for (int i = 0; i < RIDGE_OFFER_GOAL_COUNT; i++) {
        assert_ok(*state,
                  ridge_offer_goal_parse(
                      *state, ridge_offer_goal_text((ridge_offer_goal)i), &goal));
        assert_int_equal(goal, i);
    }
    assert_int_equal(ridge_offer_goal_parse(*state, "fame", &goal), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(*state), "energy"));
}

static void a_deadline_is_of_a_whole_run(void **state)
{
    contest c;
    ridge_offer_study study;
    contest_open(state, &c);
    c.request.total_tokens = 0;
    c.q.deadline_s = 1e6;
    assert_int_equal(ridge_offer_search(*state, catalog_of(state), &c.q, &study),
                     RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(*state), "--tokens"));
}

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL ? -1 : 0;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_ctx, close_ctx)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_chosen_is_the_least_of_all),
        CASE(a_later_deadline_costs_no_more),
        CASE(a_price_that_is_not_known_is_not_ranked),
        CASE(knobs_that_a_slice_cannot_take_are_its_own_affair),
        CASE(least_memory_is_within_the_slack),
        CASE(sizes_double_within_and_beyond_a_node),
        CASE(the_smallest_that_is_in_time_is_found),
        CASE(goals_have_names),
        CASE(a_deadline_is_of_a_whole_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
