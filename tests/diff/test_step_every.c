/*
 * A step as it is priced against the same step played pass by pass, over the whole
 * space: context and expert parallelism, ends with the embedding or the head alone,
 * uneven ends, several virtual stages, partial remat, offload, precisions, of dense
 * models and mixtures.
 */
#include "train_fixture.h"

#include "ridge/plan_simulation.h"

#include <math.h>

enum { CASES = 700 };

/* Of steps of many microbatches the first ones alone are played. */
static const double TOLERANCE = 2e-3;

typedef struct tally {
    int n;
    double sum, most;
} tally;

static void compare(ridge_ctx *cx, const ridge_train_request *r, uint64_t seed,
                    const ridge_layout *l, tally *by_schedule)
{
    const ridge_simulation_request calm = {.trouble = {.steps = 1, .workers = 1}};
    ridge_train_simulation s;
    ridge_train_price price;
    if (ridge_train_price_one(cx, r, l, &price) != RIDGE_OK || price.step_time_s <= 0)
        return;
    assert_ok(cx, ridge_train_simulate(cx, r, l, &calm, &s));
    const ridge_schedule kind = s.step.pipeline.kind;
    const double difference = s.outcome.calm_s / s.step.price.step_time_s - 1;
    if (!(fabs(difference) <= TOLERANCE))
        fail_msg("seed %llu, %s, pp %lld vpp %lld ends %lld %lld cp %lld ep %lld, %d "
                 "microbatches, remat %s of %lld: played %g s, told %g s",
                 (unsigned long long)seed, ridge_schedule_text(kind), (long long)l->pp,
                 (long long)l->vpp, (long long)l->first_layers,
                 (long long)l->last_layers, (long long)l->cp, (long long)l->ep,
                 s.step.pipeline.microbatches, ridge_layout_remat_text(cx, l),
                 (long long)l->remat_layers, s.outcome.calm_s,
                 s.step.price.step_time_s);
    tally *t = &by_schedule[kind];
    t->n++;
    t->sum += fabs(difference);
    t->most = fmax(t->most, fabs(difference));
}

/* An end as it comes, with few layers, or with none. */
static int64_t draw_end(dice *d, int64_t layers)
{
    const int64_t v = dice_roll(d, 0, 3);
    return v < 2    ? RIDGE_STAGE_EVEN
           : v == 2 ? RIDGE_STAGE_NONE
                    : dice_roll(d, 1, layers);
}

static bool draw_layout(dice *d, const ridge_train_request *r, bool is_moe,
                        ridge_layout *out)
{
    const int64_t chips = r->slice->chips;
    const int64_t pp = INT64_C(1) << dice_roll(d, 0, 3);
    const int64_t tp = INT64_C(1) << dice_roll(d, 0, 1);
    const int64_t cp = INT64_C(1) << dice_roll(d, 0, 1);
    if (pp * tp * cp > chips)
        return false;
    const int64_t data = chips / pp / tp / cp;
    const int64_t dp = data % 2 == 0 && dice_roll(d, 0, 2) == 0 ? 2 : 1;
    *out = train_layout(dp, data / dp, tp, cp, pp);
    out->ep = is_moe ? INT64_C(1) << dice_roll(d, 0, 2) : 1;
    out->zero_stage = out->fsdp > 1 ? (int)dice_roll(d, 1, 3) : 0;
    out->has_sp = tp > 1 && dice_roll(d, 0, 1) == 1;
    out->cp_exchange = cp > 1 ? (ridge_cp_exchange)dice_roll(d, 0, 2) : RIDGE_CP_RING;
    out->remat = (ridge_remat)dice_roll(d, 0, RIDGE_REMAT_COUNT - 1);
    out->remat_layers = out->remat != RIDGE_REMAT_NONE ? dice_roll(d, 0, 2) : 0;
    out->microbatch_seqs = dice_roll(d, 1, 2);
    out->offload = dice_roll(d, 0, 4) == 0 ? (unsigned)dice_roll(d, 0, 7) : 0;
    out->precision =
        dice_roll(d, 0, 3) == 0 ? RIDGE_PRECISION_BF16_REDUCE : RIDGE_PRECISION_BF16;
    out->has_tp_overlap = dice_roll(d, 0, 1) == 1;
    out->is_fsdp_exposed = dice_roll(d, 0, 3) == 0;
    out->is_dp_exposed = dice_roll(d, 0, 3) == 0;
    out->has_ep_overlap = out->ep > 1 && dice_roll(d, 0, 1) == 1;
    out->has_pp_overlap = pp > 1 && dice_roll(d, 0, 2) == 0;
    return true;
}

static void compare_schedules(ridge_ctx *cx, const ridge_train_request *r,
                              uint64_t seed, dice *d, ridge_layout *l, tally *all)
{
    for (int k = 0; k < RIDGE_SCHEDULE_COUNT; k++) {
        const bool is_interleaved = k == RIDGE_SCHEDULE_INTERLEAVED;
        const bool is_folded = k == RIDGE_SCHEDULE_ZB_V || k == RIDGE_SCHEDULE_DUALPIPE;
        l->schedule = is_interleaved ? RIDGE_SCHEDULE_1F1B : (ridge_schedule)k;
        l->vpp = is_interleaved ? dice_roll(d, 2, 4) : 1;
        l->first_layers = l->pp > 1 && !is_folded ? draw_end(d, 3) : RIDGE_STAGE_EVEN;
        l->last_layers = l->pp > 1 && !is_folded ? draw_end(d, 3) : RIDGE_STAGE_EVEN;
        if (l->pp > 1 || k == RIDGE_SCHEDULE_1F1B)
            compare(cx, r, seed, l, all);
    }
}

/* The same layers, more of them. */
static const ridge_model *deeper(ridge_ctx *cx, const ridge_model *model,
                                 int64_t layers)
{
    ridge_model *deep = ridge_new(ridge_ctx_arena(cx), ridge_model, 1);
    ridge_run *run = ridge_new(ridge_ctx_arena(cx), ridge_run, 1);
    assert_true(deep != NULL && run != NULL && model->n_runs == 1);
    *deep = *model;
    *run = model->runs[0];
    run->count = layers;
    deep->runs = run;
    deep->layer_count = layers;
    return deep;
}

static void every_layout_plays_as_it_is_priced(void **state)
{
    static const char *const slices[] = {"h100:1x8", "h100:2x8", "v5e:4x4", "v5p:2x2x4",
                                         "a100:4x8"};
    tally all[RIDGE_SCHEDULE_COUNT] = {{0, 0, 0}};
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        ridge_ctx *cx = ridge_ctx_open();
        dice d = dice_of(seed);
        const bool is_moe = dice_roll(&d, 0, 1) == 1;
        const ridge_slice *slice = train_slice(cx, slices[dice_roll(&d, 0, 4)]);
        ridge_train_request r = train_request(
            deeper(cx, is_moe ? train_moe_model(cx) : train_dense_model(cx),
                   dice_roll(&d, 4, 48)),
            slice, (double)dice_roll(&d, 16, 160),
            (double)(1024 << dice_roll(&d, 0, 2)));
        ridge_layout l;
        if (draw_layout(&d, &r, is_moe, &l))
            compare_schedules(cx, &r, seed, &d, &l, all);
        ridge_ctx_close(cx);
    }
    for (int k = 0; k < RIDGE_SCHEDULE_COUNT; k++) {
        print_message("%-12s %4d layouts: mean %.3f %%, most %.2f %%\n",
                      ridge_schedule_text((ridge_schedule)k), all[k].n,
                      100 * all[k].sum / fmax(all[k].n, 1), 100 * all[k].most);
        assert_true(all[k].n > 150);
        assert_true(all[k].sum / all[k].n < 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_plays_as_it_is_priced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
