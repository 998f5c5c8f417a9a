/* More hardware never slows a layout: models times chips times software times every
 * number that --what-if can change. Layouts are drawn; a failure names the draw. */
#include "train_fixture.h"

#include "ridge/plan_reasons.h"

#include <math.h>
#include <string.h>

enum { DRAWS = 1200 };

/* Sums in another order differ in the last bits. */
static const double REL = 1e-9;

static const char *const MODELS[] = {"llama-3.1-8b", "deepseek-v2-lite",
                                     "mixtral-8x7b", "gemma-3-4b",
                                     "gpt-oss-20b",  "nemotron-3-nano-30b-a3b",
                                     "gpt2-xl",      "qwen3-next-80b-a3b",
                                     "palm-8b",      "llama-4-scout"};

static const char *const SLICES[] = {
    "h100:4x8",  "a100:4x8", "b200:4x8",   "v5p:2x4x4", "v5e:4x8",   "mi300x:4x8",
    "gb200:8x4", "v100:4x8", "2*v4:2x2x4", "trn2:2x16", "gaudi2:4x8"};

static const char *const STACKS[] = {"well-tuned", "eager", "megatron-core", "compiled",
                                     "megatron-deepspeed-blocking"};

/* Where more of it is better; of axes only those that the slice has. */
static const char *const CHANGES[] = {
    "flops=2x",     "flops=1.1x",
    "hbm=2x",       "hbm=1.1x",
    "hbm_bytes=2x", "vector=2x",
    "vector=1.1x",  "vector=8x",
    "network=2x",   "network=1.1x",
    "inner=2x",     "outer=2x",
    "latency=0.5x", "latency=0.9x",
    "host=2x",      "flops=2x,hbm=2x,vector=2x,network=2x,host=2x"};

#define PICK(d, list) (list)[dice_roll((d), 0, (int64_t)RIDGE_COUNT_OF(list) - 1)]

static int64_t divisor(dice *d, int64_t of)
{
    int64_t at = dice_roll(d, 1, of);
    while (of % at != 0)
        at--;
    return at;
}

static ridge_layout draw_layout(dice *d, const ridge_model *model, int64_t chips)
{
    ridge_layout l = train_layout(1, 1, 1, 1, 1);
    l.tp = divisor(d, 8);
    l.pp = divisor(d, chips / l.tp < 8 ? chips / l.tp : 8);
    l.cp = dice_roll(d, 0, 3) == 0 ? divisor(d, chips / l.tp / l.pp) : 1;
    l.fsdp = divisor(d, chips / l.tp / l.pp / l.cp);
    l.dp = chips / l.tp / l.pp / l.cp / l.fsdp;
    l.ep = model->layers[model->n_layers - 1].ffn.experts > 0 ? divisor(d, 8) : 1;
    l.has_sp = l.tp > 1 && dice_roll(d, 0, 1) == 1;
    l.zero_stage = l.fsdp > 1 ? (int)dice_roll(d, 1, 3) : 0;
    l.microbatch_seqs = (int64_t)1 << dice_roll(d, 0, 2);
    l.remat = (ridge_remat)dice_roll(d, 0, RIDGE_REMAT_COUNT - 1);
    l.cp_exchange = (ridge_cp_exchange)dice_roll(d, 0, RIDGE_CP_COUNT - 1);
    l.ep_dispatch = (ridge_ep_dispatch)dice_roll(d, 0, 2);
    l.offload = dice_roll(d, 0, 3) == 0 ? (unsigned)dice_roll(d, 0, 7) : 0;
    l.schedule = l.pp > 1 ? (ridge_schedule)dice_roll(d, 0, RIDGE_SCHEDULE_COUNT - 1)
                          : RIDGE_SCHEDULE_1F1B;
    l.vpp = l.schedule == RIDGE_SCHEDULE_INTERLEAVED ? 2 : 1;
    l.has_tp_overlap = l.tp > 1 && dice_roll(d, 0, 1) == 1;
    l.has_ep_overlap = dice_roll(d, 0, 2) == 0;
    l.has_pp_overlap = dice_roll(d, 0, 1) == 1;
    l.is_dp_exposed = dice_roll(d, 0, 3) == 0;
    l.is_fsdp_exposed = dice_roll(d, 0, 3) == 0;
    return l;
}

/* A host that launches too slowly, or the link to it, is busy across passes: what is
 * waited for it in all stays while passes take less, and goes over from one to another,
 * for which other ranks may wait. There the passes alone are held.
 */
static bool has_host(const ridge_train_price *p)
{
    return p->parts.host_s > 0 || p->parts.offload_s > 0;
}

/* @return by how much one takes longer than the other, of it */
static double longer(const ridge_train_price *one, const ridge_train_price *other)
{
    const bool is_host = has_host(one) || has_host(other);
    const double one_s = one->step_time_s - (is_host ? one->parts.bubble_s : 0);
    const double other_s = other->step_time_s - (is_host ? other->parts.bubble_s : 0);
    return one_s / other_s - 1;
}

/* @return whether the layout is one */
static bool check_draw(uint64_t seed, int *faults)
{
    ridge_ctx *cx = ridge_ctx_open();
    dice d = dice_of(seed);
    const char *model_name = PICK(&d, MODELS);
    const char *slice_name = PICK(&d, SLICES);
    const ridge_model *model = fixture_named(cx, model_name);
    const ridge_slice *slice = train_slice(cx, slice_name);
    ridge_train_request r = train_request(model, slice, 64, 4096);
    const ridge_catalog *catalog;
    const char *stack = PICK(&d, STACKS);
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    assert_ok(cx, ridge_stack_find(cx, catalog, stack, &r.stack));
    ridge_layout l = draw_layout(&d, model, slice->chips);
    ridge_train_price p;
    const bool is_legal =
        ridge_train_price_one(cx, &r, &l, &p) == RIDGE_OK && p.step_time_s > 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(CHANGES) && is_legal; i++) {
        ridge_what_if what;
        ridge_train_price after;
        ridge_train_request changed = r;
        assert_ok(cx, ridge_what_if_parse(cx, CHANGES[i], slice, &what));
        assert_ok(cx, ridge_slice_change(cx, slice, &what, &changed.slice));
        assert_ok(cx, ridge_train_price_one(cx, &changed, &l, &after));
        if (longer(&after, &p) <= REL)
            continue;
        print_error("draw %llu, %s on %s, %s: %s slows a step by %.4g %%\n",
                    (unsigned long long)seed, model_name, slice_name, stack, CHANGES[i],
                    100 * longer(&after, &p));
        (*faults)++;
    }
    ridge_ctx_close(cx);
    return is_legal;
}

static void more_hardware_never_slows_a_layout(void **state)
{
    (void)state;
    int legal = 0;
    int faults = 0;
    for (uint64_t seed = 1; seed <= DRAWS; seed++)
        legal += check_draw(seed, &faults);
    print_message("%d of %d draws are layouts\n", legal, DRAWS);
    assert_true(legal > DRAWS / 8);
    assert_int_equal(faults, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_hardware_never_slows_a_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
