/* More hardware never slows a service: models times chips times engines times every
 * number that --what-if can change, of a deployment as it stands and of the best one.
 * Deployments are drawn; a failure names the draw. */
#include "service_fixture.h"

#include "ridge/plan_reasons.h"
#include "ridge/plan_service_reasons.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 500, SEARCHES = 24 };

/* Sums in another order differ in the last bits. */
static const double REL = 1e-9;

static const char *const MODELS[] = {
    "llama-3.1-8b", "llama-3.1-70b", "deepseek-v2-lite", "mixtral-8x7b",
    "gemma-3-12b",  "gpt-oss-20b",   "qwen3-30b-a3b",    "nemotron-3-nano-30b-a3b",
    "qwen3-32b-fp8"};

static const char *const SLICES[] = {"h100:1x8",  "a100:1x8",   "b200:1x8",
                                     "v5e:4x2",   "v6e:2x4",    "mi300x:1x8",
                                     "gb200:2x4", "rtx-4090:2", "l40s:1x8"};

static const char *const ENGINES[] = {"vllm-v1",  "sglang",   "trtllm", "jetstream",
                                      "tgi",      "lmdeploy", "static", "vllm-v0",
                                      "vllm-tpu", "other"};

/* Where more of it is better; of axes only those that the slice has. */
static const char *const CHANGES[] = {
    "flops=2x",     "flops=1.1x",
    "hbm=2x",       "hbm=1.1x",
    "hbm_bytes=2x", "hbm_bytes=1.1x",
    "vector=2x",    "vector=1.1x",
    "network=2x",   "network=1.1x",
    "latency=0.5x", "latency=0.9x",
    "host=2x",      "flops=2x,hbm=2x,vector=2x,network=2x,host=2x"};

#define PICK(d, list) (list)[dice_roll((d), 0, (int64_t)RIDGE_COUNT_OF(list) - 1)]

typedef struct draw {
    ridge_ctx *cx;
    const char *model, *slice, *engine;
    ridge_service_request request;
    ridge_service_choice choice;
} draw;

static int64_t divisor(dice *d, int64_t of)
{
    int64_t at = dice_roll(d, 1, of);
    while (of % at != 0)
        at--;
    return at;
}

static ridge_service_pool draw_pool(dice *d, const ridge_service_request *r)
{
    const int64_t chips = r->slice->chips;
    ridge_serving_layout l = {.pp = 1, .ep = 1, .attention_dp = 1};
    l.tp = divisor(d, chips);
    if (dice_roll(d, 0, 3) == 0)
        l.pp = divisor(d, chips / l.tp);
    if (ridge_model_has_experts(r->model) && dice_roll(d, 0, 1) == 1) {
        l.attention_dp = divisor(d, chips / l.tp / l.pp);
        l.ep = l.tp * l.attention_dp;
    }
    l.has_two_batches = l.attention_dp > 1 && dice_roll(d, 0, 1) == 1;
    if (dice_roll(d, 0, 3) == 0)
        l.draft = (ridge_draft){.kind = RIDGE_DRAFT_NGRAM,
                                .depth = 3,
                                .nodes = 3,
                                .accept = {0.6, 0.5, 0.4}};
    l.formats = r->knobs.formats[0];
    const double batch = (double)dice_roll(d, 1, 200);
    l.sequences = (int64_t)batch * l.attention_dp * l.pp;
    l.budget_tokens = (int64_t)512 << dice_roll(d, 0, 4);
    return (ridge_service_pool){.role = RIDGE_SERVICE_ROLE_BOTH,
                                .layout = l,
                                .servers = chips / (l.tp * l.pp * l.attention_dp),
                                .batch = batch};
}

/* @return whether the engine runs on such chips */
static bool draw_open(uint64_t seed, draw *out)
{
    dice d = dice_of(seed);
    const ridge_catalog *catalog;
    *out = (draw){.cx = ridge_ctx_open(),
                  .model = PICK(&d, MODELS),
                  .slice = PICK(&d, SLICES),
                  .engine = PICK(&d, ENGINES)};
    ridge_ctx *cx = out->cx;
    out->request = service_request(cx, fixture_named(cx, out->model), out->slice);
    ridge_service_request *r = &out->request;
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    if (ridge_engine_find_on(cx, catalog, out->engine, r->slice->chip, &r->engine) !=
        RIDGE_OK)
        return false;
    r->work.prompt_tokens = (double)dice_roll(&d, 32, 4000);
    r->work.output_tokens = (double)dice_roll(&d, 2, 600);
    if (dice_roll(&d, 0, 2) == 0) {
        r->goals.most_s[RIDGE_SERVICE_TTFT] = 2;
        r->goals.most_s[RIDGE_SERVICE_TPOT] = 0.05;
        r->goals.quantile = dice_roll(&d, 0, 1) == 1 ? 0.95 : 0;
    }
    r->top = 1;
    r->is_plain = true;
    out->choice = (ridge_service_choice){.mode = RIDGE_SERVICE_MODE_AGGREGATED,
                                         .n_pools = 1,
                                         .pools = {draw_pool(&d, r)}};
    return true;
}

static void tell(uint64_t seed, const draw *d, const char *change, const char *what,
                 double before, double after)
{
    print_error("draw %llu, %s on %s, %s, tp %d pp %d dp %d batch %g: %s: %s %.6g, "
                "then %.6g (%.3g %%)\n",
                (unsigned long long)seed, d->model, d->slice, d->engine,
                (int)d->choice.pools[0].layout.tp, (int)d->choice.pools[0].layout.pp,
                (int)d->choice.pools[0].layout.attention_dp, d->choice.pools[0].batch,
                change, what, before, after, 100 * (after / before - 1));
}

/* The same servers and batch: their steps are no longer. @return faults */
static int check_same(uint64_t seed, const draw *d, const ridge_service_price *p,
                      const char *change, const ridge_slice *slice)
{
    ridge_service_price after;
    ridge_service_request changed = d->request;
    changed.slice = slice;
    assert_ok(d->cx, ridge_service_price_one(d->cx, &changed, &d->choice, &after));
    const double *a = p->latency_s;
    const double *b = after.latency_s;
    if (b[RIDGE_SERVICE_TPOT] > a[RIDGE_SERVICE_TPOT] * (1 + REL)) {
        tell(seed, d, change, "TPOT", a[RIDGE_SERVICE_TPOT], b[RIDGE_SERVICE_TPOT]);
        return 1;
    }
    if (after.tokens_per_s < p->tokens_per_s * (1 - REL)) {
        tell(seed, d, change, "tokens/s", p->tokens_per_s, after.tokens_per_s);
        return 1;
    }
    return 0;
}

/* @return whether the deployment is one */
static bool check_draw(uint64_t seed, int *faults)
{
    draw d;
    ridge_service_price p;
    const bool is_drawn = draw_open(seed, &d);
    d.request.goals = ridge_service_goals_none(); /* more requests wait for prompts */
    const bool is_legal =
        is_drawn &&
        ridge_service_price_one(d.cx, &d.request, &d.choice, &p) == RIDGE_OK &&
        p.tokens_per_s > 0 && p.fit == RIDGE_SERVICE_FIT_OK;
    for (size_t i = 0; i < RIDGE_COUNT_OF(CHANGES) && is_legal; i++) {
        ridge_what_if what;
        const ridge_slice *slice;
        assert_ok(d.cx, ridge_what_if_parse(d.cx, CHANGES[i], d.request.slice, &what));
        assert_ok(d.cx, ridge_slice_change(d.cx, d.request.slice, &what, &slice));
        *faults += check_same(seed, &d, &p, CHANGES[i], slice);
    }
    ridge_ctx_close(d.cx);
    return is_legal;
}

static void more_hardware_never_slows_a_deployment(void **state)
{
    (void)state;
    int legal = 0;
    int faults = 0;
    for (uint64_t seed = 1; seed <= DRAWS; seed++)
        legal += check_draw(seed, &faults);
    print_message("%d of %d draws are deployments\n", legal, DRAWS);
    assert_true(legal > DRAWS / 8);
    assert_int_equal(faults, 0);
}

/* @return whether there is a best one */
static bool check_best(uint64_t seed, int *faults)
{
    draw d;
    ridge_service_result found;
    const bool is_legal = draw_open(seed, &d) &&
                          ridge_service_search(d.cx, &d.request, &found) == RIDGE_OK &&
                          found.n_layouts > 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(CHANGES) && is_legal; i++) {
        ridge_what_if what;
        ridge_service_what_if answer;
        const ridge_service_price *best = &found.layouts[0];
        d.choice = best->choice;
        assert_ok(d.cx, ridge_what_if_parse(d.cx, CHANGES[i], d.request.slice, &what));
        assert_ok(d.cx,
                  ridge_service_what_if_find(d.cx, &d.request, best, &what, &answer));
        const double was = best->tokens_per_s_per_chip;
        if (!answer.has_same || answer.same.tokens_per_s_per_chip < was * (1 - REL)) {
            tell(seed, &d, CHANGES[i], "same servers", was,
                 answer.same.tokens_per_s_per_chip);
            (*faults)++;
        }
        if (!answer.has_best || answer.best.tokens_per_s_per_chip < was * (1 - REL)) {
            tell(seed, &d, CHANGES[i], "best", was, answer.best.tokens_per_s_per_chip);
            (*faults)++;
        }
    }
    ridge_ctx_close(d.cx);
    return is_legal;
}

static void more_hardware_never_worsens_the_best(void **state)
{
    (void)state;
    int legal = 0;
    int faults = 0;
    for (uint64_t seed = 1; seed <= SEARCHES; seed++)
        legal += check_best(seed, &faults);
    print_message("%d of %d draws have a best deployment\n", legal, SEARCHES);
    assert_true(legal > SEARCHES / 4);
    assert_int_equal(faults, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_hardware_never_slows_a_deployment),
        cmocka_unit_test(more_hardware_never_worsens_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
