/* No pipeline of which each pass takes as long as it is bound by, or longer, is faster
 * than the bound: random stages, made slower at random. */
#include "pipeline_passes.h"

#include "near.h"
#include "seeded.h"

#include <math.h>

enum { PIPELINES = 20000, STAGES_MOST = 12 };

static double draw(seeded *at)
{
    return (double)(seeded_next(at) >> 11) / 9007199254740992.0;
}

typedef struct pipeline {
    train_stage stages[STAGES_MOST];
    int of_rank[STAGES_MOST];
    train_stages all;
    ridge_layout layout;
    double m, send_s;
    stage_pass halves[STAGES_MOST], passes[STAGES_MOST];
} pipeline;

static ridge_schedule draw_schedule(seeded *at, int64_t vpp)
{
    return vpp > 1 ? RIDGE_SCHEDULE_1F1B
                   : (ridge_schedule)(RIDGE_SCHEDULE_COUNT * draw(at));
}

static void draw_pipeline(seeded *at, pipeline *p)
{
    const int64_t pp = 2 + (int64_t)((STAGES_MOST - 1) * draw(at));
    const int64_t vpp = draw(at) < 0.5 ? 1 : 2 + (int64_t)(3 * draw(at));
    *p = (pipeline){.m = 1 + floor(20 * draw(at)),
                    .send_s = draw(at) < 0.5 ? 0 : 0.2 * draw(at),
                    .layout = {.pp = pp,
                               .vpp = vpp,
                               .first_layers = RIDGE_STAGE_EVEN,
                               .last_layers = RIDGE_STAGE_EVEN}};
    p->layout.schedule = draw_schedule(at, vpp);
    p->all = (train_stages){
        .cut = {.pp = pp}, .n = (int)pp, .stages = p->stages, .of_rank = p->of_rank};
    for (int i = 0; i < pp; i++) {
        const double least_s = draw(at) < 0.3 ? 0.2 * draw(at) : 1;
        const double total_s = least_s + (draw(at) < 0.5 ? 0 : draw(at));
        const double forward_s = total_s * draw(at);
        p->stages[i] = (train_stage){.first = i, .count = 1};
        p->of_rank[i] = i;
        p->halves[i] =
            (stage_pass){.forward_s = least_s / 2, .backward_s = least_s / 2};
        p->passes[i] =
            (stage_pass){.forward_s = forward_s,
                         .backward_s = total_s - forward_s,
                         .weight_s = (total_s - forward_s) * draw(at),
                         .head_s = i == pp - 1 ? 0.3 * total_s * draw(at) : 0};
    }
}

static void no_pipeline_is_faster_than_its_bound(void **state)
{
    (void)state;
    static pipeline p;
    seeded at = 20261130;
    for (int i = 0; i < PIPELINES; i++) {
        draw_pipeline(&at, &p);
        const double least_s =
            pipeline_least_s(&p.layout, &p.all, p.halves, p.m, p.send_s);
        const double takes_s =
            pipeline_passes_s(&p.layout, &p.all, p.passes, p.m, p.send_s);
        if (least_s > takes_s * (1 + 1e-12))
            fail_msg("pipeline %d, %s, pp %lld vpp %lld m %g: %.12g, bound %.12g", i,
                     ridge_schedule_text(p.layout.schedule), (long long)p.layout.pp,
                     (long long)p.layout.vpp, p.m, takes_s, least_s);
    }
}

/* Of equal stages a bubble is left, whether microbatches are more than stages or not.
 */
static void equal_stages_take_their_bound(void **state)
{
    (void)state;
    static pipeline p;
    seeded at = 7;
    for (int m = 1; m <= 16; m++) {
        draw_pipeline(&at, &p);
        p.layout = (ridge_layout){.pp = 8, .vpp = 1};
        p.all.cut.pp = p.all.n = 8;
        p.layout.schedule = RIDGE_SCHEDULE_1F1B;
        for (int i = 0; i < 8; i++) {
            p.stages[i] = (train_stage){.first = i, .count = 1};
            p.of_rank[i] = i;
            p.halves[i] = (stage_pass){.forward_s = 0.5, .backward_s = 0.5};
        }
        assert_near(pipeline_least_s(&p.layout, &p.all, p.halves, m, 0), m + 7, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pipeline_is_faster_than_its_bound),
        cmocka_unit_test(equal_stages_take_their_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
