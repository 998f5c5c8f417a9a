/* Drawn streams: rates, shapes and lengths as asked, sessions, closed loops, ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "near.h"

#include "ridge/simulate_requests.h"

#include <math.h>
#include <string.h>

static ridge_request_draws plain_draws(void)
{
    return (ridge_request_draws){.arrivals = RIDGE_ARRIVAL_POISSON,
                                 .rate_per_s = 5,
                                 .requests = 20000,
                                 .prompt = {RIDGE_LENGTH_FIXED, 100, 0, 0, 0},
                                 .output = {RIDGE_LENGTH_FIXED, 10, 0, 0, 0},
                                 .seed = 7};
}

static ridge_request_source open_draws(ridge_ctx *cx, const ridge_request_draws *d)
{
    ridge_request_source s;
    if (ridge_request_draws_open(cx, d, &s) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return s;
}

typedef struct gap_moments {
    double mean, spread; /* standard deviation over mean */
    double prompt, prompt_spread;
} gap_moments;

static gap_moments moments_of(const ridge_request_draws *d)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_request_source s = open_draws(cx, d);
    double n = 0, last = 0, sum = 0, square = 0, tokens = 0, tokens_square = 0;
    while (isfinite(s.peek_s(s.self))) {
        ridge_request r;
        assert_int_equal(s.take(s.self, &r), RIDGE_OK);
        const double gap = r.arrival_s - last, p = (double)r.prompt_tokens;
        last = r.arrival_s;
        sum += gap;
        square += gap * gap;
        tokens += p;
        tokens_square += p * p;
        n++;
    }
    const double mean = sum / n, length = tokens / n;
    ridge_ctx_close(cx);
    return (gap_moments){mean, sqrt(square / n - mean * mean) / mean, length,
                         sqrt(tokens_square / n - length * length) / length};
}

static void processes_have_their_rate_and_shape(void **state)
{
    (void)state;
    ridge_request_draws d = plain_draws();
    gap_moments m = moments_of(&d);
    assert_near(m.mean, 0.2, 0.03);
    assert_near(m.spread, 1, 0.03);
    d.arrivals = RIDGE_ARRIVAL_GAMMA;
    d.shape = 0.25; /* spread 1 / sqrt(shape) */
    m = moments_of(&d);
    assert_near(m.mean, 0.2, 0.05);
    assert_near(m.spread, 2, 0.05);
    d.shape = 4;
    assert_near(moments_of(&d).spread, 0.5, 0.03);
    d.arrivals = RIDGE_ARRIVAL_CONSTANT;
    m = moments_of(&d);
    assert_near(m.mean, 0.2, 1e-9);
    d.arrivals = RIDGE_ARRIVAL_BURSTS;
    d.on_s = 2;
    d.off_s = 6;
    m = moments_of(&d);
    assert_near(m.mean, 0.2, 0.1);
    assert_true(m.spread > 1.5);
}

static void lengths_are_as_asked(void **state)
{
    (void)state;
    ridge_request_draws d = plain_draws();
    d.prompt = (ridge_length){RIDGE_LENGTH_UNIFORM, 1000, 0.5, 0, 0};
    gap_moments m = moments_of(&d);
    assert_near(m.prompt, 1000, 0.01);
    assert_near(m.prompt_spread, 0.5 / sqrt(3), 0.02);
    d.prompt = (ridge_length){RIDGE_LENGTH_LOGNORMAL, 1000, 1, 0, 0};
    m = moments_of(&d);
    assert_near(m.prompt, 1000, 0.03);
    assert_near(m.prompt_spread, 1, 0.1);
    d.prompt.most = 500;
    assert_true(moments_of(&d).prompt < 500);
}

static void the_same_seed_gives_the_same_stream(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_request_draws d = plain_draws();
    d.prompt.kind = RIDGE_LENGTH_LOGNORMAL;
    d.prompt.spread = 1;
    const ridge_request_source a = open_draws(cx, &d), b = open_draws(cx, &d);
    d.seed++;
    const ridge_request_source c = open_draws(cx, &d);
    int apart = 0;
    for (int i = 0; i < 100; i++) {
        ridge_request x, y, z;
        assert_int_equal(a.take(a.self, &x), RIDGE_OK);
        assert_int_equal(b.take(b.self, &y), RIDGE_OK);
        assert_int_equal(c.take(c.self, &z), RIDGE_OK);
        assert_true(x.arrival_s == y.arrival_s && x.prompt_tokens == y.prompt_tokens);
        apart += x.prompt_tokens != z.prompt_tokens;
    }
    assert_true(apart > 90);
    ridge_ctx_close(cx);
}

static void a_closed_loop_asks_again_when_answered(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_request_draws d = plain_draws();
    ridge_request r[3];
    d.arrivals = RIDGE_ARRIVAL_CLOSED;
    d.concurrency = 2;
    d.requests = 3;
    const ridge_request_source s = open_draws(cx, &d);
    for (int i = 0; i < 2; i++) {
        assert_near(s.peek_s(s.self), 0, 0);
        assert_int_equal(s.take(s.self, &r[i]), RIDGE_OK);
    }
    assert_true(isinf(s.peek_s(s.self)));
    s.answered(s.self, r[1].tag, 4.5);
    assert_near(s.peek_s(s.self), 4.5, 0);
    assert_int_equal(s.take(s.self, &r[2]), RIDGE_OK);
    assert_int_equal(r[2].tag, r[1].tag);
    s.answered(s.self, r[0].tag, 5);
    assert_true(isinf(s.peek_s(s.self))); /* three were asked for */
    ridge_ctx_close(cx);
}

static void a_session_grows_by_what_was_said(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_request_draws d = plain_draws();
    ridge_request a, b;
    d.turns = 3;
    d.groups = 1;
    d.prefix_tokens = 64;
    const ridge_request_source s = open_draws(cx, &d);
    assert_int_equal(s.take(s.self, &a), RIDGE_OK);
    assert_int_equal(a.prompt_tokens, 164);
    s.answered(s.self, a.tag, a.arrival_s);
    assert_int_equal(s.take(s.self, &b), RIDGE_OK);
    assert_int_equal(b.prompt_tokens, 164 + 10 + 100);
    assert_true(a.session == b.session);
    for (int64_t i = 0; i < 164 / RIDGE_REQUEST_PIECE_TOKENS; i++)
        assert_true(ridge_request_hash(&a, i) == ridge_request_hash(&b, i));
    /* another session shares the group's tokens and no more */
    ridge_request c;
    assert_int_equal(s.take(s.self, &c), RIDGE_OK);
    assert_true(c.session != a.session);
    assert_true(ridge_request_hash(&a, 3) == ridge_request_hash(&c, 3));
    assert_true(ridge_request_hash(&a, 4) != ridge_request_hash(&c, 4));
    ridge_ctx_close(cx);
}

static void what_makes_no_stream_is_refused(void **state)
{
    (void)state;
    const struct {
        ridge_request_draws d;
        const char *message;
    } cases[] = {
        {{.requests = 5}, "rate above 0"},
        {{.rate_per_s = 1}, "has to end"},
        {{.rate_per_s = 1, .requests = 1}, "mean of 1"},
        {{.arrivals = RIDGE_ARRIVAL_CLOSED, .requests = 1}, "clients"},
        {{.arrivals = RIDGE_ARRIVAL_CLOSED, .concurrency = 1, .most_s = 5},
         "has to end"},
        {{.arrivals = RIDGE_ARRIVAL_GAMMA, .rate_per_s = 1, .requests = 1}, "shape"},
        {{.arrivals = RIDGE_ARRIVAL_BURSTS, .rate_per_s = 1, .requests = 1}, "bursts"},
        {{.rate_per_s = 1, .requests = 1, .think_s = -1}, "not negative"},
        {{.rate_per_s = 1,
          .requests = 1,
          .prompt = {RIDGE_LENGTH_UNIFORM, 10, 2, 0, 0},
          .output = {RIDGE_LENGTH_FIXED, 10, 0, 0, 0}},
         "spread"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_ctx *cx = ridge_ctx_open();
        ridge_request_source s;
        assert_int_equal(ridge_request_draws_open(cx, &cases[i].d, &s), RIDGE_E_ARG);
        if (strstr(ridge_ctx_message(cx), cases[i].message) == NULL)
            fail_msg("%s", ridge_ctx_message(cx));
        ridge_ctx_close(cx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_have_their_rate_and_shape),
        cmocka_unit_test(lengths_are_as_asked),
        cmocka_unit_test(the_same_seed_gives_the_same_stream),
        cmocka_unit_test(a_closed_loop_asks_again_when_answered),
        cmocka_unit_test(a_session_grows_by_what_was_said),
        cmocka_unit_test(what_makes_no_stream_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
