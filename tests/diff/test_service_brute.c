/*
 * The search against brute force: every layout, batch, budget and number of servers of
 * small invented machines is scored on its own, and the best must be the search's
 * first. The space is enumerated here in another way, with every whole batch.
 */
#include "invented_server.h"

#include "service_choice.h"
#include "service_finish.h"
#include "service_search.h"
#include "service_space.h"

#include <math.h>

enum { PROBLEMS = 300, BATCH_MOST = 40 };

typedef struct brute {
    const invented_problem *problem;
    service_source source;
    bool has_best;
    ridge_service_price best;
    int64_t tried;
} brute;

static void try_choice(brute *b, const ridge_service_choice *c)
{
    const ridge_service_request *r = &b->problem->request;
    ridge_service_price p;
    assert_int_equal(service_finish_price(b->problem->cx, &b->source, r, c, &p),
                     RIDGE_OK);
    b->tried++;
    if (p.fit == RIDGE_SERVICE_FIT_OK &&
        (!b->has_best || ridge_service_is_better(r->aim, &p, &b->best))) {
        b->has_best = true;
        b->best = p;
    }
}

static bool is_tried(double batch)
{
    for (int i = 0; service_space_batch(i) <= batch; i++) {
        if (service_space_batch(i) == batch)
            return true;
    }
    return false;
}

/* A rate makes the batch of any number of servers; without one all of them serve, at
 * every batch. */
static void try_batches(brute *b, const ridge_serving_layout *l, int64_t servers)
{
    const bool has_rate = b->problem->request.requests_per_s > 0;
    ridge_service_choice c = {.mode = RIDGE_SERVICE_MODE_AGGREGATED, .n_pools = 1};
    for (int64_t n = has_rate ? 1 : servers; n <= servers; n++) {
        for (int batch = 1; batch <= (has_rate ? 1 : BATCH_MOST); batch++) {
            c.pools[0] = (ridge_service_pool){RIDGE_SERVICE_ROLE_BOTH, *l, n, batch};
            try_choice(b, &c);
        }
    }
}

static void try_pair(brute *b, const ridge_serving_layout *p, int64_t n_p,
                     const ridge_serving_layout *d, int64_t n_d)
{
    for (int batch = 1; batch <= BATCH_MOST; batch++) {
        ridge_service_choice c = {.mode = RIDGE_SERVICE_MODE_DISAGGREGATED,
                                  .n_pools = 2};
        c.pools[0] = (ridge_service_pool){RIDGE_SERVICE_ROLE_PREFILL, *p, n_p, 1};
        c.pools[1] = (ridge_service_pool){RIDGE_SERVICE_ROLE_DECODE, *d, n_d, batch};
        if (is_tried(batch))
            try_choice(b, &c);
    }
}

static void try_pairs(brute *b, const ridge_serving_layout *p,
                      const ridge_serving_layout *d, int64_t chips)
{
    const int64_t of_p = ridge_serving_layout_chips(p);
    const int64_t of_d = ridge_serving_layout_chips(d);
    for (int64_t x = 1; x * of_p < chips; x++) {
        for (int64_t y = 1; x * of_p + y * of_d <= chips; y++)
            try_pair(b, p, x, d, y);
    }
}

enum { LAYOUTS_MOST = 512 };

/* One of these degrees; with experts also with them over all its chips.
 * @return how many */
static int add_layout(const invented_problem *p, const ridge_serving_layout *degrees,
                      bool has_experts, ridge_serving_layout *out)
{
    const int64_t all = degrees->tp * degrees->attention_dp;
    out[0] = *degrees;
    out[0].ep = 1;
    out[0].formats = p->request.knobs.formats[0];
    if (!has_experts || all == 1)
        return 1;
    out[1] = out[0];
    out[1].ep = all;
    return 2;
}

/* Chips of a server, ways of tp and attention, stages, by trying all numbers. */
static int list_layouts(const invented_problem *p, ridge_serving_layout *out)
{
    const int64_t chips = p->slice.chips;
    const bool has_experts = p->request.model->layers[0].ffn.kind == RIDGE_FFN_MOE;
    int n = 0;
    for (int64_t tp = 1; tp <= chips; tp++) {
        for (int64_t dp = 1; dp <= (has_experts ? chips : 1); dp++) {
            for (int64_t pp = 1; pp <= chips && pp <= 4; pp++) {
                if (tp * dp * pp > chips || chips % (tp * dp * pp) != 0)
                    continue;
                const ridge_serving_layout degrees = {
                    .tp = tp, .pp = pp, .attention_dp = dp};
                n += add_layout(p, &degrees, has_experts, out + n);
                assert_true(n < LAYOUTS_MOST - 2);
            }
        }
    }
    return n;
}

static void try_all(brute *b)
{
    static ridge_serving_layout layouts[LAYOUTS_MOST];
    const invented_problem *p = b->problem;
    const ridge_service_mode mode = p->request.knobs.mode;
    double budgets[SERVICE_BUDGET_MAX];
    const int n_budgets = service_space_budgets(&p->request, budgets);
    const int n = list_layouts(p, layouts);
    for (int i = 0; i < n; i++) {
        const int64_t servers =
            p->slice.chips / ridge_serving_layout_chips(&layouts[i]);
        for (int k = 0; k < n_budgets && mode != RIDGE_SERVICE_MODE_DISAGGREGATED;
             k++) {
            layouts[i].budget_tokens = (int64_t)budgets[k];
            try_batches(b, &layouts[i], servers);
        }
    }
    for (int i = 0; i < n && mode != RIDGE_SERVICE_MODE_AGGREGATED; i++) {
        for (int j = 0; j < n; j++) {
            layouts[i].budget_tokens = (int64_t)budgets[0];
            layouts[j].budget_tokens = (int64_t)budgets[0];
            if (p->request.work.output_tokens > 1)
                try_pairs(b, &layouts[i], &layouts[j], p->slice.chips);
        }
    }
}

/* The search also tries larger batches and budgets in pools: it may be better. */
static void compare(const invented_problem *p, uint64_t seed)
{
    brute b = {.problem = p};
    ridge_service_result found;
    assert_int_equal(invented_source_open(p->cx, &p->request, &b.source), RIDGE_OK);
    try_all(&b);
    const ridge_status st =
        service_search_run(p->cx, &p->request, invented_source_open, &found);
    if (st == RIDGE_E_ARG) { /* one chip is no two pools */
        assert_false(b.has_best);
        assert_int_equal(p->slice.chips, 1);
        return;
    }
    assert_int_equal(st, RIDGE_OK);
    if (b.has_best && found.n_layouts == 0)
        fail_msg("seed %d: brute force finds a deployment", (int)seed);
    if (b.has_best &&
        ridge_service_is_better(p->request.aim, &b.best, &found.layouts[0]))
        fail_msg("seed %d: %g tokens/s a chip, %g s by brute force; %g, %g found",
                 (int)seed, b.best.tokens_per_s_per_chip,
                 b.best.latency_s[RIDGE_SERVICE_E2E],
                 found.layouts[0].tokens_per_s_per_chip,
                 found.layouts[0].latency_s[RIDGE_SERVICE_E2E]);
    const ridge_service_choice *c = &found.layouts[0].choice;
    const bool is_within = /* parts of one are not tried above */
        found.n_layouts > 0 && c->n_pools == 1 && c->pools[0].batch <= BATCH_MOST &&
        c->pools[0].batch >= 1;
    if (is_within && !b.has_best)
        fail_msg("seed %d: the search finds what brute force does not", (int)seed);
}

/* What misses the goals is not looked at, and the answer is the same. */
static void compare_ignoring(const invented_problem *p, uint64_t seed)
{
    ridge_service_request r = p->request;
    ridge_service_result all, kept;
    r.is_plain = true;
    if (service_search_run(p->cx, &r, invented_source_open, &all) != RIDGE_OK)
        return;
    r.ignores_misses = true;
    assert_int_equal(service_search_run(p->cx, &r, invented_source_open, &kept),
                     RIDGE_OK);
    if (all.n_layouts != kept.n_layouts)
        fail_msg("seed %d: %d deployments, %d if misses are ignored", (int)seed,
                 all.n_layouts, kept.n_layouts);
    for (int i = 0; i < all.n_layouts; i++) {
        assert_true(all.layouts[i].tokens_per_s == kept.layouts[i].tokens_per_s);
        assert_true(
            service_choice_is_alike(&all.layouts[i].choice, &kept.layouts[i].choice));
    }
}

static void search_is_no_worse_than_brute_force(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
        invented_problem p;
        ridge_ctx *cx = ridge_ctx_open();
        invented_problem_open(cx, seed, &p);
        compare(&p, seed);
        compare_ignoring(&p, seed);
        ridge_ctx_close(cx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_is_no_worse_than_brute_force)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
