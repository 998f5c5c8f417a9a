/* Laws of played services, over random deployments and streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "near.h"
#include "seeded.h"
#include "serving_build.h"

#include <string.h>

enum { CASES = 60, REQUESTS = 80 };

static const char *const engines[] = {"vllm",      "sglang", "trtllm",
                                      "jetstream", "static", "swap"};

static ridge_serving_deployment draw_deployment(seeded *at, built_speed *speed)
{
    built_speed_open(speed);
    speed->speed.blocks = seeded_pick(at, 600, 3000);
    ridge_serving_deployment d =
        built_deployment(speed, engines[seeded_pick(at, 0, 5)]);
    d.pools[0].rules.sequences = seeded_pick(at, 2, 64);
    d.pools[0].replicas = seeded_pick(at, 1, 2);
    if (d.longest_tokens > 0)
        d.longest_tokens = 3000;
    d.pools[0].rules.block_tokens = 16;
    return d;
}

static ridge_request_draws draw_stream(seeded *at)
{
    return (ridge_request_draws){
        .arrivals = RIDGE_ARRIVAL_POISSON,
        .rate_per_s = (double)seeded_pick(at, 1, 40),
        .requests = REQUESTS,
        .prompt = {RIDGE_LENGTH_UNIFORM, (double)seeded_pick(at, 10, 800), 0.8, 0, 0},
        .output = {RIDGE_LENGTH_UNIFORM, (double)seeded_pick(at, 2, 150), 0.8, 0, 0},
        .groups = seeded_pick(at, 0, 2),
        .prefix_tokens = 200,
        .seed = seeded_next(at)};
}

typedef struct totals {
    double outputs, gaps, good;
    double last_s;
} totals;

static void add(void *self, const ridge_request_result *r)
{
    totals *t = self;
    t->outputs += (double)r->output_tokens;
    t->gaps += (double)(r->output_tokens - 1);
    t->good += r->is_good ? 1 : 0;
    t->last_s = r->end_s > t->last_s ? r->end_s : t->last_s;
    assert_true(r->arrival_s <= r->start_s && r->start_s < r->first_token_s &&
                r->first_token_s <= r->end_s);
}

static ridge_serving_summary play(const ridge_serving_deployment *d,
                                  const ridge_request_draws *draws, totals *t)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_serving_goals goals = {.ttft_s = 0.2};
    const ridge_serving_watch watch = {.self = t, .request = add};
    ridge_request_source source;
    ridge_serving_summary s;
    memset(t, 0, sizeof *t);
    assert_int_equal(ridge_request_draws_open(cx, draws, &source), RIDGE_OK);
    if (ridge_serving_play(cx, d, &source, &goals, &watch, &s) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    ridge_ctx_close(cx);
    return s;
}

static void what_is_counted_is_what_was_played(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        seeded at = (seeded)i + 1;
        built_speed speed;
        totals t;
        const ridge_serving_deployment d = draw_deployment(&at, &speed);
        const ridge_request_draws draws = draw_stream(&at);
        const ridge_serving_summary s = play(&d, &draws, &t);
        assert_int_equal(s.requests, REQUESTS);
        assert_int_equal(s.completed + s.refused, REQUESTS);
        assert_near((double)s.good, t.good, 0);
        assert_near(s.itl.n, t.gaps, 0);
        assert_near(s.output_tokens_per_s * s.span_s, t.outputs, 1e-9);
        assert_true(s.kv_most <= 1 && s.kv_mean <= s.kv_most + 1e-9 && s.kv_mean >= 0);
        assert_true(s.busy_share > 0 && s.busy_share <= 1 + 1e-9);
        assert_true(s.slots_idle >= -1e-9 && s.slots_idle <= 1);
        assert_true(s.ttft.p50 <= s.ttft.p90 && s.ttft.p90 <= s.ttft.p99 &&
                    s.ttft.p99 <= s.ttft.most);
        assert_near(s.ttft_mean.total_s, s.ttft.mean, 1e-9);
        assert_near(s.e2e_mean.total_s, s.e2e.mean, 1e-9);
    }
}

static void scale(double *v, int n, double by)
{
    for (int i = 0; i < n; i++)
        v[i] *= by;
}

/* Everything that takes time takes so many times as long. */
static void slow_down(built_speed *s, double by)
{
    scale(s->rows_y, 8, by);
    scale(s->head_y, 4, by);
    scale(s->decode_z[0], 48, by);
    scale(s->prefill_z[0], 25, by);
    s->speed.host_s *= by;
    s->speed.host_sequence_s *= by;
    s->speed.request_s *= by;
    s->speed.swap_bytes_per_s /= by;
}

/* No time is built in: a world that is slower altogether makes the same decisions. */
static void time_has_no_scale(void **state)
{
    static const double BY = 8; /* a power of two: exact */
    (void)state;
    for (int i = 0; i < CASES; i++) {
        seeded at = (seeded)i + 1;
        built_speed speed;
        totals t;
        const ridge_serving_deployment d = draw_deployment(&at, &speed);
        ridge_request_draws draws = draw_stream(&at);
        const ridge_serving_summary fast = play(&d, &draws, &t);
        slow_down(&speed, BY);
        draws.rate_per_s /= BY;
        const ridge_serving_summary slow = play(&d, &draws, &t);
        assert_int_equal(fast.iterations, slow.iterations);
        assert_int_equal(fast.preemptions, slow.preemptions);
        assert_near(slow.ttft.p99, BY * fast.ttft.p99, 1e-9);
        assert_near(slow.e2e.mean, BY * fast.e2e.mean, 1e-9);
        assert_near(slow.kv_mean, fast.kv_mean, 1e-9);
    }
}

static void the_same_play_gives_the_same_result(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i += 4) {
        seeded at = (seeded)i + 1;
        built_speed speed;
        totals t;
        const ridge_serving_deployment d = draw_deployment(&at, &speed);
        const ridge_request_draws draws = draw_stream(&at);
        const ridge_serving_summary a = play(&d, &draws, &t);
        const ridge_serving_summary b = play(&d, &draws, &t);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

/* Requests in an empty service wait for nobody. */
static void a_lone_request_takes_what_its_iterations_take(void **state)
{
    (void)state;
    for (size_t e = 0; e < RIDGE_COUNT_OF(engines); e++) {
        built_speed speed;
        totals t;
        built_speed_open(&speed);
        const ridge_serving_deployment d = built_deployment(&speed, engines[e]);
        const ridge_request_draws draws = {.arrivals = RIDGE_ARRIVAL_CONSTANT,
                                           .rate_per_s = 0.01,
                                           .requests = 5,
                                           .prompt = {RIDGE_LENGTH_FIXED, 512, 0, 0, 0},
                                           .output = {RIDGE_LENGTH_FIXED, 11, 0, 0, 0}};
        const ridge_serving_summary s = play(&d, &draws, &t);
        const ridge_serving_speed *v = &speed.speed;
        const double prompt = ridge_curve_table_at(&v->rows, 512) +
                              ridge_curve_table_at(&v->head, 1) +
                              ridge_plane_table_at(&v->caches[0].prefill, 512, 0) +
                              v->host_s + v->host_sequence_s + v->request_s;
        double decode = 0;
        for (int i = 0; i < 10; i++)
            decode += ridge_curve_table_at(&v->rows, 1) +
                      ridge_curve_table_at(&v->head, 1) +
                      ridge_plane_table_at(&v->caches[0].decode, 1, 512 + i) +
                      v->host_s + v->host_sequence_s;
        assert_near(s.ttft.mean, prompt, 1e-9);
        assert_near(s.tpot.mean, decode / 10, 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_counted_is_what_was_played),
        cmocka_unit_test(time_has_no_scale),
        cmocka_unit_test(the_same_play_gives_the_same_result),
        cmocka_unit_test(a_lone_request_takes_what_its_iterations_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
