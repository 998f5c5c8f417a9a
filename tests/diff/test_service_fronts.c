/* Fronts against fronts without order, and searches over all formats against one for
 * each: what is kept does not depend on how it is looked for. */
#include "service_fixture.h"

#include "service_choice.h"

#include <math.h>
#include <string.h>

enum { CASES = 60, POINTS = 200 };

/* Of a few values, so that many are equal. */
static service_point draw_point(dice *d)
{
    return (service_point){.n_pools = 1,
                           .tpot_s = (double)dice_roll(d, 1, 24),
                           .e2e_s = (double)dice_roll(d, 1, 24),
                           .tokens_per_s_per_chip = (double)dice_roll(d, 1, 24)};
}

static double slow_s(const service_point *p, bool is_cost)
{
    return is_cost ? p->e2e_s : p->tpot_s;
}

/* Whether any of all points is better in one and no worse in the other. */
static bool is_beaten(const service_point *all, const service_point *p, bool is_cost)
{
    for (int i = 0; i < POINTS; i++) {
        const double slow = slow_s(&all[i], is_cost) - slow_s(p, is_cost);
        const double rate = all[i].tokens_per_s_per_chip - p->tokens_per_s_per_chip;
        if (slow <= 0 && rate >= 0 && (slow < 0 || rate > 0))
            return true;
    }
    return false;
}

static const service_point *find(const service_points *set, const service_point *p,
                                 bool is_cost)
{
    for (int i = 0; i < set->n; i++) {
        if (slow_s(&set->of[i], is_cost) == slow_s(p, is_cost) &&
            set->of[i].tokens_per_s_per_chip == p->tokens_per_s_per_chip)
            return &set->of[i];
    }
    return NULL;
}

static void a_front_holds_what_nothing_beats(void **state)
{
    ridge_ctx *cx = *state;
    for (int c = 0; c < CASES; c++) {
        dice d = dice_of((uint64_t)c);
        const bool is_cost = c % 2 == 1;
        service_point all[POINTS];
        service_points set = {0};
        for (int i = 0; i < POINTS; i++) {
            all[i] = draw_point(&d);
            assert_true(
                service_points_add(ridge_ctx_arena(cx), &set, &all[i], is_cost));
        }
        for (int i = 0; i < POINTS; i++) {
            const service_point *kept = find(&set, &all[i], is_cost);
            assert_int_equal(kept == NULL, is_beaten(all, &all[i], is_cost));
            if (kept != NULL) /* of equal ones the quicker otherwise */
                assert_true(slow_s(kept, !is_cost) <= slow_s(&all[i], !is_cost));
            assert_true(service_points_have(&set, all[i].tpot_s, all[i].e2e_s,
                                            all[i].tokens_per_s_per_chip, is_cost));
        }
        for (int i = 1; i < set.n; i++)
            assert_true(slow_s(&set.of[i - 1], is_cost) < slow_s(&set.of[i], is_cost) &&
                        set.of[i - 1].tokens_per_s_per_chip <
                            set.of[i].tokens_per_s_per_chip);
    }
}

static const char *const weights[] = {"bf16", "fp8", "int4"};
static const char *const caches[] = {"bf16", "fp8"};

static ridge_service_price best_of(ridge_ctx *cx, const char *model, const char *weight,
                                   const char *cache)
{
    ridge_service_request r = service_request(cx, fixture_named(cx, model), "h100:1x4");
    r.knobs.weight_text = weight;
    r.knobs.cache_text = cache;
    assert_ok(
        cx, ridge_service_knobs_close(cx, r.model, r.slice->chip, r.engine, &r.knobs));
    return service_best(cx, &r);
}

/* All formats at once find the best that each finds by itself. */
static void any_format_is_the_best_of_all(void **state)
{
    ridge_ctx *cx = *state;
    static const char *const models[] = {"llama-3.1-8b", "deepseek-v2-lite"};
    for (size_t m = 0; m < RIDGE_COUNT_OF(models); m++) {
        const double any = best_of(cx, models[m], "any", "any").tokens_per_s_per_chip;
        double most = 0;
        for (size_t w = 0; w < RIDGE_COUNT_OF(weights); w++) {
            for (size_t c = 0; c < RIDGE_COUNT_OF(caches); c++)
                most = fmax(most, best_of(cx, models[m], weights[w], caches[c])
                                      .tokens_per_s_per_chip);
        }
        assert_near(any, most, 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_front_holds_what_nothing_beats, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(any_format_is_the_best_of_all, fixture_open,
                                        fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
