/* Bounds of blocks against bounds of their servers: what a block leaves out none of its
 * servers could have changed. */
#include "service_fixture.h"

#include "service_bound.h"

enum { CASES = 40, OPTIONS = 150, POINTS = 12 };

static double draw(dice *d, double low, double high)
{
    return low + (high - low) * (double)dice_roll(d, 0, 1000) / 1000;
}

static service_option draw_option(dice *d, const ridge_serving_layout *layout)
{
    service_option o = {.layout = layout,
                        .chips = (int64_t)1 << dice_roll(d, 0, 4),
                        .batch = (double)dice_roll(d, 1, 64),
                        .latency_s = draw(d, 0.1, 4),
                        .tpot_s = draw(d, 0.005, 0.08),
                        .transfer_bytes = 1e9,
                        .transfer_bytes_per_s = draw(d, 1e10, 1e11),
                        .transfer_s = draw(d, 1e-5, 1e-3),
                        .transfer_ranks = 1};
    o.requests_per_s = (double)o.chips * draw(d, 0.1, 3);
    o.latency_quantile_s = 1.2 * o.latency_s;
    o.tpot_quantile_s = o.tpot_s * draw(d, 1, 1.5);
    if (dice_roll(d, 0, 1) == 1) {
        o.before_per_s = 0.8 * o.requests_per_s;
        o.before_latency_s = 0.9 * o.latency_s;
        o.before_tpot_s = 0.9 * o.tpot_s;
    }
    return o;
}

/* Fronts and a ranking as a search has them when pairs come. */
static void fill(ridge_ctx *cx, dice *d, const ridge_serving_layout *layout,
                 service_pair_search *s)
{
    for (int i = 0; i < POINTS; i++) {
        const service_point p = {.n_pools = 1,
                                 .pools = {{.layout = layout}},
                                 .tpot_s = draw(d, 0.004, 0.06),
                                 .e2e_s = draw(d, 0.3, 6),
                                 .tokens_per_s_per_chip = draw(d, 5, 90)};
        assert_true(
            service_points_add(ridge_ctx_arena(cx), s->speed_front, &p, false) &&
            service_points_add(ridge_ctx_arena(cx), s->cost_front, &p, true));
        ridge_service_price price = {.choice.n_pools = 1};
        price.choice.pools[0].layout = *layout;
        price.choice.pools[0].layout.tp = 1 + i;
        price.tokens_per_s_per_chip = p.tokens_per_s_per_chip;
        service_ranking_insert(s->ranking, &price);
    }
}

static void try_case(ridge_ctx *cx, int c, int *n_out)
{
    dice d = dice_of((uint64_t)c);
    const ridge_serving_layout layout = {.tp = 1};
    ridge_service_request whole =
        service_request(cx, fixture_named(cx, "llama-3.1-8b"), "h100:2x8");
    ridge_service_request r = whole;
    r.requests_per_s = c % 3 == 0 ? draw(&d, 1, 30) : 0;
    r.ignores_misses = c % 2 == 0;
    r.goals.most_s[RIDGE_SERVICE_TPOT] = 0.05;
    r.goals.quantile = c % 4 == 0 ? 0.99 : 0;
    service_points speed = {0}, cost = {0};
    ridge_service_price prices[4];
    service_ranking ranking = {.top = 4, .prices = prices};
    service_variety variety = {.top = 0};
    service_pair_search s = {.cx = cx,
                             .request = &r,
                             .whole = &whole,
                             .ranking = &ranking,
                             .variety = &variety,
                             .speed_front = &speed,
                             .cost_front = &cost};
    service_option of[OPTIONS];
    service_partners partners;
    fill(cx, &d, &layout, &s);
    for (int i = 0; i < OPTIONS; i++)
        of[i] = draw_option(&d, &layout);
    const service_options decode = {.n = OPTIONS, .cap = OPTIONS, .of = of};
    assert_ok(cx, service_partners_open(&s, &decode, &partners));
    const service_option prefill = draw_option(&d, &layout);
    service_partners_mark(&s, &prefill, &partners);
    for (int k = 0; k < OPTIONS; k++) {
        *n_out += partners.is_wanted[k] ? 0 : 1;
        assert_true(partners.is_wanted[k] ||
                    service_bound_excludes(&s, &prefill, &partners, k));
    }
}

static void blocks_leave_out_what_changes_nothing(void **state)
{
    int n_out = 0;
    for (int c = 0; c < CASES; c++)
        try_case(*state, c, &n_out);
    assert_true(n_out > CASES * OPTIONS / 4); /* and they do leave out */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_leave_out_what_changes_nothing,
                                        fixture_open, fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
