/*
 * A step as layouts are ranked by, against the same step played pass by pass: over
 * random models, slices, degrees, every schedule, even and uneven stages. Of steps of
 * many microbatches the first ones alone are played for a price.
 */
#include "train_fixture.h"

#include "ridge/plan_simulation.h"

#include <math.h>

enum { CASES = 60, LAYOUTS = 4 };

static const double TOLERANCE = 2e-3;

typedef struct sums {
    int n;
    double difference; /* absolute, over all */
} sums;

static void compare(const train_problem *p, uint64_t seed, const ridge_layout *l,
                    sums *all)
{
    const ridge_simulation_request calm = {.trouble = {.steps = 1, .workers = 1}};
    ridge_train_simulation s;
    ridge_train_price price;
    assert_ok(p->cx, ridge_train_price_one(p->cx, &p->request, l, &price));
    if (price.step_time_s <= 0)
        return;
    assert_ok(p->cx, ridge_train_simulate(p->cx, &p->request, l, &calm, &s));
    const double difference = s.outcome.calm_s / s.step.price.step_time_s - 1;
    if (!(fabs(difference) <= TOLERANCE))
        fail_msg("seed %llu, %s, pp %lld, %d microbatches: played %g s, told %g s",
                 (unsigned long long)seed, ridge_schedule_text(s.step.pipeline.kind),
                 (long long)l->pp, s.step.pipeline.microbatches, s.outcome.calm_s,
                 s.step.price.step_time_s);
    all->n++;
    all->difference += fabs(difference);
}

/* Degrees that the slice may have; stages as they come. */
static bool draw_layout(dice *d, int64_t chips, ridge_layout *out)
{
    const int64_t pp = INT64_C(1) << dice_roll(d, 0, 3);
    const int64_t tp = INT64_C(1) << dice_roll(d, 0, 2);
    if (pp * tp > chips)
        return false;
    *out = train_layout(1, chips / pp / tp, tp, 1, pp);
    out->zero_stage = out->fsdp > 1 ? (int)dice_roll(d, 1, 3) : 0;
    out->has_sp = tp > 1 && dice_roll(d, 0, 1) == 1;
    out->remat = dice_roll(d, 0, 1) == 1 ? RIDGE_REMAT_FULL : RIDGE_REMAT_NONE;
    out->has_pp_overlap = pp > 1 && dice_roll(d, 0, 2) == 0;
    return true;
}

static void compare_schedules(const train_problem *p, uint64_t seed, ridge_layout *l,
                              sums *all)
{
    for (int k = 0; k < RIDGE_SCHEDULE_COUNT; k++) {
        const bool is_interleaved = k == RIDGE_SCHEDULE_INTERLEAVED;
        l->schedule = is_interleaved ? RIDGE_SCHEDULE_1F1B : (ridge_schedule)k;
        l->vpp = is_interleaved ? 2 : 1;
        if (l->pp > 1 || k == RIDGE_SCHEDULE_1F1B)
            compare(p, seed, l, all);
    }
}

static void what_is_told_is_what_is_played(void **state)
{
    static const char *const slices[] = {"h100:1x8", "h100:2x8", "v5e:4x4", "v5p:2x2x4",
                                         "a100:4x8"};
    sums all = {.n = 0};
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        train_problem p;
        ridge_layout l;
        dice d = dice_of(seed);
        train_problem_open(seed, &p);
        p.slice = *train_slice(p.cx, slices[dice_roll(&d, 0, 4)]);
        p.request.knobs = ridge_knobs_free();
        p.request.batch_tokens = p.request.seq_tokens * (double)dice_roll(&d, 16, 128);
        for (int i = 0; i < LAYOUTS; i++) {
            if (draw_layout(&d, p.slice.chips, &l))
                compare_schedules(&p, seed, &l, &all);
        }
        ridge_ctx_close(p.cx);
    }
    assert_true(all.n > 200);
    assert_true(all.difference / all.n < 1e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_is_what_is_played),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
