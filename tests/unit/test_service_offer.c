/* Slices compared give each slice's own answer, in the order of what is played. */
#include "near.h"
#include "service_fixture.h"

#include "ridge/plan_service_offer.h"

#include <math.h>

enum { KINDS = 3 };

typedef struct fixture {
    ridge_ctx *cx;
    const ridge_catalog *catalog;
    ridge_service_kind kinds[KINDS];
    ridge_service_offer_study study;
} fixture;

/* A small model with goals that queues decide. */
static void open(ridge_service_play_rule rule, fixture *f)
{
    static const char *const slices[KINDS] = {"h100:1x2", "b200:1x1", "v5e:2x2"};
    static const double usd[KINDS] = {3, 6, 1};
    f->cx = ridge_ctx_open();
    assert_ok(f->cx, ridge_catalog_open(f->cx, NULL, &f->catalog));
    for (int i = 0; i < KINDS; i++) {
        f->kinds[i] = (ridge_service_kind){.plays = rule};
        ridge_service_request *r = &f->kinds[i].request;
        *r = service_request(f->cx, fixture_named(f->cx, "llama-3-8b"), slices[i]);
        r->work = (ridge_service_work){.prompt_tokens = 512, .output_tokens = 64};
        r->goals.most_s[RIDGE_SERVICE_TPOT] = 0.03;
        r->goals.most_s[RIDGE_SERVICE_TTFT] = 0.5;
        r->goals.quantile = 0.9;
        r->usd_per_chip_hour = usd[i];
        r->aim = RIDGE_SERVICE_AIM_COST;
        r->top = 2;
        r->workers = 2;
    }
}

static void compare(fixture *f, int n)
{
    assert_ok(f->cx,
              ridge_service_offer_search(f->cx, f->catalog, f->kinds, n, 8, &f->study));
}

/* ---- tests ------------------------------------------------------------------------
 */

static void a_slice_among_others_has_its_answer_alone(void **state)
{
    fixture f;
    (void)state;
    open(RIDGE_SERVICE_PLAY_DUE, &f);
    compare(&f, KINDS);
    assert_int_equal(f.study.n_ranked, KINDS);
    for (int i = 0; i < KINDS; i++) {
        const ridge_service_offer *o = &f.study.offers[i];
        const ridge_service_request *r = &f.kinds[o->kind].request;
        ridge_service_result *alone =
            ridge_new(ridge_ctx_arena(f.cx), ridge_service_result, 1);
        assert_ok(f.cx, ridge_service_search(f.cx, r, alone));
        assert_ok(f.cx, ridge_service_play_by(f.cx, r, RIDGE_SERVICE_PLAY_DUE, alone));
        assert_true(o->best.played.is_played);
        assert_near(o->best.played.requests_per_s,
                    alone->layouts[0].played.requests_per_s, 1e-12);
        assert_near(o->best.requests_per_s, alone->layouts[0].requests_per_s, 1e-12);
    }
    ridge_ctx_close(f.cx);
}

static void the_order_is_that_of_the_plays(void **state)
{
    fixture f;
    (void)state;
    open(RIDGE_SERVICE_PLAY_DUE, &f);
    compare(&f, KINDS);
    for (int i = 0; i + 1 < f.study.n_ranked; i++) {
        const ridge_service_played *a = &f.study.offers[i].best.played;
        const ridge_service_played *b = &f.study.offers[i + 1].best.played;
        assert_true(a->is_kept && b->is_kept);
        assert_true(a->usd_per_million_tokens <= b->usd_per_million_tokens);
    }
    assert_int_equal(f.study.best_of[RIDGE_SERVICE_AIM_COST], 0);
    ridge_ctx_close(f.cx);
}

static void never_is_the_closed_form(void **state)
{
    fixture f;
    (void)state;
    open(RIDGE_SERVICE_PLAY_NEVER, &f);
    compare(&f, KINDS);
    for (int i = 0; i < f.study.n_ranked; i++)
        assert_false(f.study.offers[i].best.played.is_played);
    for (int i = 0; i + 1 < f.study.n_ranked; i++)
        assert_true(f.study.offers[i].best.usd_per_million_tokens <=
                    f.study.offers[i + 1].best.usd_per_million_tokens);
    ridge_ctx_close(f.cx);
}

/* Chips are added until the rate is kept in the play as well. */
static void more_chips_are_tried_until_the_play_keeps_the_goals(void **state)
{
    fixture f;
    (void)state;
    open(RIDGE_SERVICE_PLAY_DUE, &f);
    f.kinds[0].is_open = true;
    f.kinds[0].request.requests_per_s = 60;
    f.kinds[0].request.aim = RIDGE_SERVICE_AIM_CHIPS;
    compare(&f, 1);
    assert_true(f.study.n_ranked > 0);
    assert_true(f.study.offers[0].best.played.is_kept);
    for (int i = 1; i < f.study.n_ranked; i++)
        assert_false(f.study.offers[i].best.played.is_kept);
    ridge_ctx_close(f.cx);
}

static bool is_worse(const ridge_service_price *a, const ridge_service_price *b)
{
    return b->latency_s[RIDGE_SERVICE_TPOT] < a->latency_s[RIDGE_SERVICE_TPOT] &&
           b->usd_per_million_tokens < a->usd_per_million_tokens &&
           b->energy.joules_per_token > 0 &&
           b->energy.joules_per_token < a->energy.joules_per_token;
}

/* Fastest first; no deployment that keeps the goals beats one of it. */
static void the_front_of_all_slices_is_not_beaten(void **state)
{
    fixture f;
    (void)state;
    open(RIDGE_SERVICE_PLAY_NEVER, &f);
    compare(&f, KINDS);
    assert_true(f.study.n_front > 2);
    for (int i = 0; i < f.study.n_front; i++) {
        const ridge_service_offer *o = &f.study.offers[f.study.front[i].offer];
        const ridge_service_price *p = &o->front[f.study.front[i].point];
        assert_true(p->quantile_s[RIDGE_SERVICE_TPOT] <= 0.03);
        for (int k = 0; k < f.study.n_ranked; k++)
            assert_false(is_worse(p, &f.study.offers[k].best));
        if (i == 0)
            continue;
        const ridge_service_offer *last = &f.study.offers[f.study.front[i - 1].offer];
        assert_true(
            last->front[f.study.front[i - 1].point].latency_s[RIDGE_SERVICE_TPOT] <=
            p->latency_s[RIDGE_SERVICE_TPOT]);
    }
    ridge_ctx_close(f.cx);
}

/* What is drawn lies between rest and the rating; TPUs publish none. */
static void energy_follows_from_what_is_drawn(void **state)
{
    fixture f;
    (void)state;
    open(RIDGE_SERVICE_PLAY_NEVER, &f);
    f.kinds[0].request.pue = 1.5;
    f.kinds[0].request.usd_per_kwh = 0.1;
    compare(&f, KINDS);
    for (int i = 0; i < f.study.n_ranked; i++) {
        const ridge_service_offer *o = &f.study.offers[i];
        const ridge_service_energy *e = &o->best.energy;
        if (o->kind == 2) {
            assert_int_equal(e->source, RIDGE_SERVICE_POWER_UNKNOWN);
            assert_near(e->joules_per_token, 0, 0);
            continue;
        }
        const ridge_chip *chip = o->request.slice->chip;
        assert_int_equal(e->source, RIDGE_SERVICE_POWER_DRAWN);
        assert_true(e->chip_watts > chip->idle_power_share * chip->power_watts);
        assert_true(e->chip_watts <= chip->power_watts * (1 + 1e-12));
        assert_true(e->memory_share > 0 && e->memory_share <= 1);
        assert_near(e->meter_watts,
                    (e->chip_watts + e->host_watts) * (o->kind == 0 ? 1.5 : 1), 1e-12);
        assert_near(e->joules_per_token, e->meter_watts / o->best.tokens_per_s_per_chip,
                    1e-12);
        assert_near(e->usd_per_million_tokens,
                    o->kind == 0 ? e->joules_per_token * 0.1 / 3.6 : 0, 1e-12);
    }
    ridge_ctx_close(f.cx);
}

/* By hand: cheap and missed comes after dear and kept; what is not played counts with
 * its closed form. */
static void goals_come_before_money(void **state)
{
    (void)state;
    ridge_service_price missed = {.usd_per_million_tokens = 1};
    ridge_service_price kept = {.usd_per_million_tokens = 1};
    ridge_service_price closed = {.usd_per_million_tokens = 2};
    missed.played =
        (ridge_service_played){.is_played = true, .usd_per_million_tokens = 0.5};
    kept.played = (ridge_service_played){
        .is_played = true, .is_kept = true, .usd_per_million_tokens = 3};
    const ridge_service_aim aim = RIDGE_SERVICE_AIM_COST;
    assert_true(ridge_service_plays_better(aim, &kept, &missed));
    assert_false(ridge_service_plays_better(aim, &missed, &kept));
    assert_true(ridge_service_plays_better(aim, &closed, &kept));
    assert_true(ridge_service_plays_better(aim, &closed, &missed));
    assert_near(ridge_service_as_played(&kept).usd_per_million_tokens, 3, 1e-12);
    assert_near(ridge_service_as_played(&closed).usd_per_million_tokens, 2, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_among_others_has_its_answer_alone),
        cmocka_unit_test(the_order_is_that_of_the_plays),
        cmocka_unit_test(never_is_the_closed_form),
        cmocka_unit_test(more_chips_are_tried_until_the_play_keeps_the_goals),
        cmocka_unit_test(the_front_of_all_slices_is_not_beaten),
        cmocka_unit_test(energy_follows_from_what_is_drawn),
        cmocka_unit_test(goals_come_before_money),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
