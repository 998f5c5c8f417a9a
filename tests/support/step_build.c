#include "step_build.h"

static const ridge_stage_time *times_of(ridge_ctx *cx, const ridge_pipeline *p,
                                        seeded *at)
{
    return pipeline_random_times(cx, p, at).stages;
}

void step_case_random(ridge_ctx *cx, seeded *at, step_case *out)
{
    const ridge_pipeline p = pipeline_random(at);
    ridge_step_close *closes =
        ridge_new(ridge_ctx_arena(cx), ridge_step_close, (size_t)p.ranks);
    assert_non_null(closes);
    for (int i = 0; i < p.ranks; i++)
        closes[i] = (ridge_step_close){(double)seeded_pick(at, 0, 20),
                                       (double)seeded_pick(at, 0, 20),
                                       (double)seeded_pick(at, 0, 20)};
    out->schedule = pipeline_make(cx, p.kind, p.ranks, p.chunks, p.microbatches);
    out->script = (ridge_step_script){.schedule = &out->schedule,
                                      .compute = times_of(cx, &p, at),
                                      .network = times_of(cx, &p, at),
                                      .send_s = (double)seeded_pick(at, 0, 10),
                                      .closes = closes,
                                      .has_barrier = true,
                                      .group_chips = seeded_pick(at, 1, 100),
                                      .replicas = seeded_pick(at, 1, 9),
                                      .processor_share = 1};
}

ridge_step_outcome step_case_play(ridge_ctx *cx, const step_case *c,
                                  const ridge_step_trouble *trouble)
{
    ridge_step_outcome out = {.steps = 0};
    if (ridge_step_play(cx, &c->script, trouble, &out) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return out;
}
