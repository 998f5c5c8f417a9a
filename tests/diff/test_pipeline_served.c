/* Pipelines in closed form against plays: deployments drawn from seeds, in which some
 * iterations carry prompts and some do not. */
#include "service_fixture.h"

#include "ridge/plan_service_play.h"

#include <math.h>

enum { DEPLOYMENTS = 16 };

static int64_t pick(dice *d, const int64_t *of, int64_t n)
{
    return of[dice_roll(d, 0, n - 1)];
}

static void draw(dice *d, ridge_service_request *r)
{
    static const int64_t stages[] = {2, 4, 8};
    static const int64_t prompts[] = {128, 512, 1024, 2048, 4096};
    static const int64_t outputs[] = {64, 128, 256};
    static const int64_t batches[] = {8, 16, 32, 48};
    static const int64_t budgets[] = {512, 1024, 2048, 8192};
    ridge_service_pool_knobs *k = &r->knobs.pools[RIDGE_SERVICE_ROLE_BOTH];
    k->pp = pick(d, stages, 3);
    k->tp = k->pp == 8 ? 1 : dice_roll(d, 1, 2);
    k->servers = r->slice->chips / (k->tp * k->pp);
    r->work.prompt_tokens = (double)pick(d, prompts, 5);
    r->work.output_tokens = (double)pick(d, outputs, 3);
    r->knobs.batch = (double)pick(d, batches, 4);
    r->knobs.budget_tokens = pick(d, budgets, 4);
    r->knobs.mode = RIDGE_SERVICE_MODE_AGGREGATED;
    r->top = 1;
}

/* @return closed form over played */
static double compare(uint64_t seed, const char *engine, bool *has)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_catalog *catalog = NULL;
    ridge_service_result result;
    dice d = dice_of(seed);
    ridge_service_request r =
        service_request(cx, fixture_named(cx, "llama-3-8b"), "h100:1x8");
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    assert_ok(cx, ridge_engine_find(cx, catalog, engine, &r.engine));
    draw(&d, &r);
    assert_ok(cx, ridge_service_search(cx, &r, &result));
    double ratio = 1;
    *has = result.n_layouts > 0;
    if (*has) {
        const ridge_service_price *p = &result.layouts[0];
        double parts_s = 0;
        for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++)
            parts_s += ridge_service_tpot_part(p, i);
        assert_near(parts_s, p->latency_s[RIDGE_SERVICE_TPOT], 1e-9);
        assert_true(p->stages_s >= 0);
        assert_ok(cx, ridge_service_play(cx, &r, &result));
        ratio = p->requests_per_s / result.layouts[0].played.requests_per_s;
    }
    ridge_ctx_close(cx);
    return ratio;
}

/* Single deployments are as far off as long prompts make them, which come in parts; on
 * the whole rates are neither too high nor too low. */
static void check(const char *engine, double mean_most)
{
    double sum = 0;
    int n = 0;
    for (uint64_t seed = 1; seed <= DEPLOYMENTS; seed++) {
        bool has;
        const double ratio = compare(seed, engine, &has);
        if (!has)
            continue;
        if (!(fabs(log(ratio)) < log(1.25)))
            print_error("seed %d: closed form %g of what was played\n", (int)seed,
                        ratio);
        assert_true(fabs(log(ratio)) < log(1.25));
        sum += log(ratio);
        n++;
    }
    assert_true(n > DEPLOYMENTS / 2);
    assert_true(fabs(sum / n) < mean_most);
}

static void mixed_iterations_wait_as_they_are_played(void **state)
{
    (void)state;
    check("vllm-v1", 0.05);
}

static void prompts_alone_wait_as_they_are_played(void **state)
{
    (void)state;
    check("sglang", 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_iterations_wait_as_they_are_played),
        cmocka_unit_test(prompts_alone_wait_as_they_are_played)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
