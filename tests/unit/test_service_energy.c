/* The search by energy: nothing that the search by throughput shows draws less. */
#include "service_fixture.h"

#include "service_energy.h"

#include <math.h>

static double least_joules(const ridge_service_result *r)
{
    double least = (double)INFINITY;
    for (int i = 0; i < r->n_layouts; i++)
        least = fmin(least, r->layouts[i].energy.joules_per_token);
    return least;
}

static const ridge_service_result *search(ridge_ctx *cx, const char *model,
                                          ridge_service_aim aim, double rate)
{
    ridge_service_request r = service_request(cx, fixture_named(cx, model), "h100:1x4");
    ridge_service_result *out = ridge_new(ridge_ctx_arena(cx), ridge_service_result, 1);
    r.aim = aim;
    r.requests_per_s = rate;
    r.top = RIDGE_SERVICE_TOP_MAX;
    assert_non_null(out);
    assert_ok(cx, ridge_service_search(cx, &r, out));
    for (int i = 0; i < out->n_layouts; i++) {
        const ridge_service_price *p = &out->layouts[i];
        assert_true(service_energy_floor(&r, p->tokens_per_s_per_chip) <=
                    p->energy.joules_per_token);
    }
    return out;
}

static void no_layout_draws_less(void **state)
{
    ridge_ctx *cx = *state;
    static const char *const models[] = {"llama-3.1-8b", "qwen3-30b-a3b"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(models); i++) {
        for (int rate = 0; rate <= 2; rate += 2) {
            const ridge_service_result *by_energy =
                search(cx, models[i], RIDGE_SERVICE_AIM_ENERGY, rate);
            const ridge_service_result *by_rate =
                search(cx, models[i], RIDGE_SERVICE_AIM_THROUGHPUT, rate);
            assert_true(by_energy->n_layouts > 0 && by_rate->n_layouts > 0);
            assert_near(by_energy->layouts[0].energy.joules_per_token,
                        least_joules(by_energy), 0);
            assert_true(by_energy->layouts[0].energy.joules_per_token <=
                        least_joules(by_rate) * (1 + 1e-9));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_layout_draws_less, fixture_open,
                                        fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
