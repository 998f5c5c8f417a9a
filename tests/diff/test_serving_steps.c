/*
 * Batches that advance in closed form against iterations one by one, over random
 * deployments and streams: the same decisions, and times within 1e-9 of each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "near.h"
#include "seeded.h"
#include "serving_build.h"

#include <math.h>
#include <string.h>

enum { CASES = 800, REQUESTS = 60, SAME_MOST = 400 };

typedef struct course {
    int64_t n;
    ridge_request_result of[SAME_MOST];
} course;

typedef struct serving_case {
    built_speed speed, prompts;
    ridge_serving_deployment deployment;
    ridge_request_draws draws;
} serving_case;

static void keep(void *self, const ridge_request_result *result)
{
    course *c = self;
    if (result->number < SAME_MOST)
        c->of[result->number] = *result;
    c->n++;
}

static double uniform(seeded *at, double low, double high)
{
    return low + (high - low) * (double)(seeded_next(at) >> 11) * 0x1p-53;
}

/* Chains, and trees of more nodes than levels, each with a slot ahead. */
static void draw_draft(seeded *at, built_speed *s)
{
    built_speed_draft(s, (int)seeded_pick(at, 1, 4), uniform(at, 0.2, 0.95));
    if (seeded_pick(at, 0, 1) == 0)
        return;
    s->speed.draft.verified += seeded_pick(at, 1, 20);
    s->speed.draft.lookahead = s->speed.draft.verified - 1;
}

static void draw_speed(seeded *at, built_speed *s)
{
    built_speed_open(s);
    if (seeded_pick(at, 0, 2) == 0)
        built_speed_window(s, (double)seeded_pick(at, 100, 2000));
    if (seeded_pick(at, 0, 3) == 0)
        draw_draft(at, s);
    if (seeded_pick(at, 0, 4) == 0)
        s->speed.attention_ranks = seeded_pick(at, 2, 4);
    if (seeded_pick(at, 0, 9) == 0)
        s->speed.stages = seeded_pick(at, 2, 4);
    s->speed.is_host_hidden = seeded_pick(at, 0, 1) == 0;
    s->speed.host_s = uniform(at, 0, 2e-2);
    s->speed.host_sequence_s = uniform(at, 0, 1e-4);
    s->speed.blocks = seeded_pick(at, 300, 3000);
}

static void draw_deployment(seeded *at, serving_case *c)
{
    static const char *const engines[] = {"vllm",      "vllm",   "sglang",  "trtllm",
                                          "jetstream", "static", "vllm-v0", "swap"};
    static const int64_t pages[] = {1, 16, 16, 32, 128};
    ridge_serving_deployment *d = &c->deployment;
    draw_speed(at, &c->speed);
    *d = built_deployment(&c->speed, engines[seeded_pick(at, 0, 7)]);
    ridge_engine *rules = &d->pools[0].rules;
    if (!rules->is_slotted) {
        rules->block_tokens = pages[seeded_pick(at, 0, 4)];
        c->speed.speed.blocks = 16 * c->speed.speed.blocks / rules->block_tokens;
    } else {
        d->longest_tokens = 3000;
        rules->block_tokens = 16;
        c->speed.speed.blocks += 800;
    }
    rules->sequences = seeded_pick(at, 4, 64);
    rules->budget_tokens =
        rules->is_chunked ? seeded_pick(at, 300, 4096) : rules->budget_tokens;
    if (seeded_pick(at, 0, 4) == 0)
        rules->has_prefix_cache = false;
    if (c->speed.speed.blocks % 3 == 0) /* another draw would move those behind it */
        rules->planned_steps = c->speed.speed.blocks % 16;
    if (c->speed.speed.blocks % 5 == 0) {
        rules->waiting_share = 0.3 * (double)(c->speed.speed.blocks % 4);
        rules->waiting_steps = c->speed.speed.blocks % 23;
    }
    d->pools[0].replicas = seeded_pick(at, 1, 3);
    d->router = (ridge_router)seeded_pick(at, 0, 2);
    d->queue = (ridge_queue_policy)seeded_pick(at, 0, 3);
    d->host_blocks = seeded_pick(at, 0, 1) * 2000;
    if (seeded_pick(at, 0, 4) == 0) {
        d->failure_s = uniform(at, 20, 200);
        d->repair_s = uniform(at, 0.1, 10);
    }
    if (seeded_pick(at, 0, 5) == 0) {
        rules->decodes_first = d->host_blocks > 0; /* as good as any draw */
        d->n_pools = 2;
        d->pools[1] = d->pools[0];
        d->pools[1].replicas = seeded_pick(at, 1, 2);
    }
}

static void draw_stream(seeded *at, serving_case *c)
{
    c->draws =
        (ridge_request_draws){.arrivals = (ridge_arrival_kind)seeded_pick(at, 0, 5),
                              .rate_per_s = uniform(at, 1, 60),
                              .shape = uniform(at, 0.1, 3),
                              .on_s = uniform(at, 0.5, 5),
                              .off_s = uniform(at, 0.5, 5),
                              .concurrency = seeded_pick(at, 1, 40),
                              .think_s = uniform(at, 0, 1),
                              .requests = REQUESTS,
                              .prompt = {RIDGE_LENGTH_UNIFORM, uniform(at, 20, 900),
                                         uniform(at, 0, 1), 0, 2000},
                              .output = {RIDGE_LENGTH_LOGNORMAL, uniform(at, 2, 200),
                                         uniform(at, 0, 1), 1, 600},
                              .groups = seeded_pick(at, 0, 8),
                              .prefix_tokens = seeded_pick(at, 0, 700),
                              .turns = seeded_pick(at, 0, 3),
                              .urgent_share = uniform(at, 0, 1),
                              .seed = seeded_next(at)};
    c->deployment.seed = seeded_next(at);
}

static void play_case(const serving_case *c, bool is_stepped, course *out,
                      ridge_serving_summary *summary)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_serving_goals goals = {0.5, 0.02, 5};
    const ridge_serving_watch watch = {.self = out, .request = keep};
    ridge_serving_deployment d = c->deployment;
    ridge_request_source source;
    memset(out, 0, sizeof *out);
    d.is_stepped = is_stepped;
    assert_int_equal(ridge_request_draws_open(cx, &c->draws, &source), RIDGE_OK);
    if (ridge_serving_play(cx, &d, &source, &goals, &watch, summary) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    ridge_ctx_close(cx);
}

static void assert_sums(const ridge_request_result *r)
{
    double ttft = 0, e2e = 0;
    for (int i = 0; i < RIDGE_LATENCY_PART_COUNT; i++) {
        ttft += r->ttft.parts_s[i];
        e2e += r->e2e.parts_s[i];
        if (r->e2e.parts_s[i] < -1e-9 || r->ttft.parts_s[i] < -1e-9)
            fail_msg("request %d: %s is negative: %g of %g s", (int)r->number,
                     ridge_latency_part_text((ridge_latency_part)i), r->e2e.parts_s[i],
                     r->e2e.total_s);
    }
    assert_near(ttft, r->ttft.total_s, 1e-12);
    assert_near(e2e, r->e2e.total_s, 1e-12);
}

static void assert_alike(const course *a, const course *b)
{
    assert_int_equal(a->n, b->n);
    for (int64_t i = 0; i < SAME_MOST; i++) {
        const ridge_request_result *x = &a->of[i], *y = &b->of[i];
        assert_int_equal(x->replica, y->replica);
        assert_int_equal(x->preemptions, y->preemptions);
        assert_int_equal(x->cached_tokens, y->cached_tokens);
        assert_near(x->start_s, y->start_s, 1e-9);
        assert_near(x->first_token_s, y->first_token_s, 1e-9);
        assert_near(x->end_s, y->end_s, 1e-9);
        assert_sums(x);
        assert_sums(y);
    }
}

/* What the cases came across: all of it, many times. */
typedef struct coverage {
    int preempted, failed, moved, hit, host_hit, refused, padded;
    /* together */
    int swapped, drafted_preempted, tree_preempted, tree_hit, moved_drafted,
        moved_failed, failed_preempted, ranks_preempted, windows_preempted, stages_hit;
} coverage;

static void cover_pairs(coverage *c, const serving_case *of,
                        const ridge_serving_summary *s)
{
    const ridge_serving_speed *speed = &of->speed.speed;
    const bool is_preempted = s->preemptions > 0;
    const bool is_drafted = speed->draft.verified > 1;
    const bool is_tree = speed->draft.verified > speed->draft.n_accept + 1;
    const bool is_moved = s->transferred_bytes > 0;
    c->swapped += is_preempted &&
                  of->deployment.pools[0].rules.preemption == RIDGE_PREEMPTION_SWAP;
    c->drafted_preempted += is_preempted && is_drafted;
    c->tree_preempted += is_preempted && is_tree;
    c->tree_hit += is_tree && s->hit_rate > 0;
    c->moved_drafted += is_moved && is_drafted;
    c->moved_failed += is_moved && s->failures > 0;
    c->failed_preempted += is_preempted && s->failures > 0;
    c->ranks_preempted += is_preempted && speed->attention_ranks > 1;
    c->windows_preempted += is_preempted && speed->n_caches > 1;
    c->stages_hit += speed->stages > 1 && s->hit_rate > 0;
}

static void cover(coverage *c, const serving_case *of, const ridge_serving_summary *s)
{
    cover_pairs(c, of, s);
    c->preempted += s->preemptions > 0;
    c->failed += s->failures > 0;
    c->moved += s->transferred_bytes > 0;
    c->hit += s->hit_rate > 0;
    c->host_hit += s->host_hit_rate > 0;
    c->refused += s->refused > 0;
    c->padded += s->padding_share > 0;
}

static void assert_covered(const coverage *c)
{
    const int counts[] = {c->preempted,
                          c->failed,
                          c->moved,
                          c->hit,
                          c->host_hit,
                          c->refused,
                          c->padded,
                          c->swapped,
                          c->drafted_preempted,
                          c->tree_preempted,
                          c->tree_hit,
                          c->moved_drafted,
                          c->moved_failed,
                          c->failed_preempted,
                          c->ranks_preempted,
                          c->windows_preempted,
                          c->stages_hit};
    for (size_t i = 0; i < RIDGE_COUNT_OF(counts); i++) {
        if (counts[i] < 3)
            fail_msg("the %d-th trouble was met in %d cases", (int)i, counts[i]);
    }
}

static void closed_form_decides_as_single_steps(void **state)
{
    static course whole, stepped;
    coverage met = {0};
    (void)state;
    for (int i = 0; i < CASES; i++) {
        serving_case *c = test_calloc(1, sizeof *c);
        ridge_serving_summary a, b;
        seeded at = (seeded)i + 1;
        draw_deployment(&at, c);
        draw_stream(&at, c);
        play_case(c, false, &whole, &a);
        play_case(c, true, &stepped, &b);
        assert_int_equal(a.iterations, b.iterations);
        assert_int_equal(a.preemptions, b.preemptions);
        assert_int_equal(a.refused, b.refused);
        assert_int_equal(a.completed + a.refused, REQUESTS);
        assert_near(a.itl.mean, b.itl.mean, 1e-9);
        assert_near(a.ttft.p99, b.ttft.p99, 1e-9);
        assert_near(a.span_s, b.span_s, 1e-9);
        assert_alike(&whole, &stepped);
        cover(&met, c, &a);
        test_free(c);
    }
    assert_covered(&met);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form_decides_as_single_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
