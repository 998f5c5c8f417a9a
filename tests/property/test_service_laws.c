/* Laws of services: parts sum, bounds lie below, what is priced is what was found, more
 * of everything is no worse, threads do not matter. */
#include "service_fixture.h"

#include "ridge/plan_service_reasons.h"
#include "ridge/plan_service_study.h"

#include <math.h>
#include <string.h>

enum { CASES = 6 };

/* Small problems of both kinds of models, with and without goals. */
static ridge_service_request draw(ridge_ctx *cx, uint64_t seed)
{
    static const char *const slices[] = {"h100:1x4", "v5e:2x2", "h100:1x2", "b200:1x4"};
    dice d = dice_of(seed);
    const bool is_moe = dice_roll(&d, 0, 1) == 1;
    ridge_service_request r =
        service_request(cx, is_moe ? train_moe_model(cx) : train_dense_model(cx),
                        slices[dice_roll(&d, 0, 3)]);
    r.work.prompt_tokens = (double)dice_roll(&d, 32, 3000);
    r.work.output_tokens = (double)dice_roll(&d, 2, 300);
    if (dice_roll(&d, 0, 1) == 1) {
        r.goals.most_s[RIDGE_SERVICE_TTFT] = 1;
        r.goals.most_s[RIDGE_SERVICE_TPOT] = 0.03;
        r.goals.quantile = 0.95;
    }
    return r;
}

static void check_sums(const ridge_service_price *p)
{
    double tpot_s = 0;
    double ttft_s =
        p->wait.request_s + p->wait.queue_s + p->wait.iteration_s + p->wait.transfer_s;
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++) {
        tpot_s += ridge_service_tpot_part(p, i);
        ttft_s += ridge_service_ttft_part(p, i);
    }
    assert_near(tpot_s, p->latency_s[RIDGE_SERVICE_TPOT], 1e-6);
    assert_near(ttft_s, p->latency_s[RIDGE_SERVICE_TTFT], 1e-6);
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++)
        assert_true(p->bound_s[i] <= p->latency_s[i] * (1 + 1e-9));
    assert_true(p->bound_tokens_per_s_per_chip >=
                p->tokens_per_s_per_chip * (1 - 1e-9));
    assert_true(p->cache_use <= 1);
}

static void check_goals(const ridge_service_request *r, const ridge_service_price *p)
{
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        const double s = r->goals.quantile > 0 ? p->quantile_s[i] : p->latency_s[i];
        assert_true(s <= r->goals.most_s[i]);
    }
}

static void parts_sum_and_goals_are_kept(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        ridge_ctx *cx = ridge_ctx_open();
        ridge_service_result found;
        ridge_service_price again;
        const ridge_service_request r = draw(cx, seed);
        assert_ok(cx, ridge_service_search(cx, &r, &found));
        for (int i = 0; i < found.n_layouts; i++) {
            check_sums(&found.layouts[i]);
            check_goals(&r, &found.layouts[i]);
            assert_ok(
                cx, ridge_service_price_one(cx, &r, &found.layouts[i].choice, &again));
            assert_near(again.tokens_per_s, found.layouts[i].tokens_per_s, 1e-6);
        }
        ridge_ctx_close(cx);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_request r = draw(cx, 3);
    ridge_service_result one;
    ridge_service_result seven;
    r.workers = 1;
    assert_ok(cx, ridge_service_search(cx, &r, &one));
    r.workers = 7;
    assert_ok(cx, ridge_service_search(cx, &r, &seven));
    assert_int_equal(one.n_layouts, seven.n_layouts);
    assert_int_equal(one.covered, seven.covered);
    assert_int_equal(one.n_speed_front, seven.n_speed_front);
    for (int i = 0; i < one.n_layouts; i++)
        assert_memory_equal(&one.layouts[i].choice, &seven.layouts[i].choice,
                            sizeof one.layouts[i].choice);
    for (int i = 0; i < one.n_speed_front; i++)
        assert_near(one.speed_front[i].tokens_per_s, seven.speed_front[i].tokens_per_s,
                    0);
    ridge_ctx_close(cx);
}

static void fronts_trade(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_service_request r = draw(cx, 2);
    ridge_service_result found;
    assert_ok(cx, ridge_service_search(cx, &r, &found));
    for (int i = 1; i < found.n_speed_front; i++) {
        const ridge_service_price *a = &found.speed_front[i - 1];
        const ridge_service_price *b = &found.speed_front[i];
        assert_true(b->latency_s[RIDGE_SERVICE_TPOT] <
                    a->latency_s[RIDGE_SERVICE_TPOT]);
        assert_true(b->tokens_per_s_per_chip <
                    a->tokens_per_s_per_chip * (1 + 0.02)); /* tables against steps */
    }
    ridge_ctx_close(cx);
}

static void faster_memory_is_no_worse(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_service_request r =
        service_request(cx, train_dense_model(cx), "h100:1x2");
    const ridge_service_price p = service_best(cx, &r);
    ridge_service_what_if answer;
    ridge_what_if what;
    assert_ok(cx, ridge_what_if_parse(cx, "hbm=2x,flops=2x", r.slice, &what));
    assert_ok(cx, ridge_service_what_if_find(cx, &r, &p, &what, &answer));
    assert_true(answer.has_best && answer.has_same);
    assert_true(answer.same.tokens_per_s_per_chip > p.tokens_per_s_per_chip);
    assert_true(answer.best.tokens_per_s_per_chip >=
                answer.same.tokens_per_s_per_chip * (1 - 1e-9));
    ridge_ctx_close(cx);
}

/* What is asked stays asked: of both answers. */
static void changes_keep_the_batch_that_is_asked(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_request r = service_request(cx, train_dense_model(cx), "h100:1x2");
    r.knobs.batch = 16;
    const ridge_service_price p = service_best(cx, &r);
    ridge_service_what_if answer;
    ridge_what_if what;
    assert_ok(cx, ridge_what_if_parse(cx, "hbm=2x", r.slice, &what));
    assert_ok(cx, ridge_service_what_if_find(cx, &r, &p, &what, &answer));
    const ridge_service_price *const both[] = {&answer.same, &answer.best};
    for (size_t i = 0; i < RIDGE_COUNT_OF(both); i++) {
        const ridge_service_choice *c = &both[i]->choice;
        assert_near(c->pools[c->n_pools - 1].batch, 16, 0);
    }
    assert_true(answer.best.tokens_per_s_per_chip >=
                answer.same.tokens_per_s_per_chip * (1 - 1e-9));
    ridge_ctx_close(cx);
}

static void a_rate_takes_the_fewest_chips(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_request r = service_request(cx, train_dense_model(cx), "h100:1x8");
    r.aim = RIDGE_SERVICE_AIM_CHIPS;
    double last = 0;
    for (double rate = 1; rate <= 64; rate *= 8) {
        r.requests_per_s = rate;
        const ridge_service_price p = service_best(cx, &r);
        assert_near(p.requests_per_s, rate, 1e-6);
        assert_true(p.paid_chips >= last);
        assert_near(p.paid_chips, (double)p.chips, 0);
        last = p.paid_chips;
    }
    ridge_ctx_close(cx);
}

static void limits_agree_with_sweeps(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_service_request r =
        service_request(cx, train_dense_model(cx), "h100:1x2");
    const ridge_service_price p = service_best(cx, &r);
    ridge_service_limits limits;
    ridge_service_point points[2];
    assert_ok(cx, ridge_service_limits_find(cx, &r, &p.choice, &limits));
    const double batches[] = {limits.batch_most, limits.batch_most + 1};
    assert_ok(cx, ridge_service_sweep(cx, &r, &p.choice, batches, 2, points));
    assert_false(points[1].fits);
    assert_true(points[0].cache_bytes < points[1].cache_bytes);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_sum_and_goals_are_kept),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(fronts_trade),
        cmocka_unit_test(faster_memory_is_no_worse),
        cmocka_unit_test(changes_keep_the_batch_that_is_asked),
        cmocka_unit_test(a_rate_takes_the_fewest_chips),
        cmocka_unit_test(limits_agree_with_sweeps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
