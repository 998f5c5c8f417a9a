#include "pipeline_build.h"

static void want_ok(ridge_ctx *cx, ridge_status st)
{
    if (st != RIDGE_OK)
        fail_msg("%s: %s", ridge_status_text(st), ridge_ctx_message(cx));
}

ridge_pipeline_schedule pipeline_make(ridge_ctx *cx, ridge_schedule kind, int ranks,
                                      int chunks, int microbatches)
{
    const ridge_pipeline pipeline = {
        .kind = kind, .ranks = ranks, .chunks = chunks, .microbatches = microbatches};
    ridge_pipeline_schedule schedule = {.ranks = NULL};
    want_ok(cx, ridge_pipeline_schedule_make(cx, &pipeline, &schedule));
    return schedule;
}

const char *pipeline_text(ridge_ctx *cx, const ridge_pipeline_schedule *schedule,
                          int rank)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    for (int i = 0; i < schedule->ranks[rank].n; i++) {
        const ridge_action *a = &schedule->ranks[rank].actions[i];
        ridge_buf_printf(&text, "%s%s", i > 0 ? " " : "", ridge_pass_letter(a->pass));
        if (schedule->pipeline.chunks > 1)
            ridge_buf_printf(&text, "%d.", a->chunk);
        ridge_buf_printf(&text, "%d", a->microbatch);
    }
    return ridge_buf_text(&text);
}

static ridge_stage_time *new_stages(ridge_ctx *cx, const ridge_pipeline *pipeline)
{
    ridge_stage_time *stages = ridge_new(ridge_ctx_arena(cx), ridge_stage_time,
                                         (size_t)(pipeline->ranks * pipeline->chunks));
    assert_non_null(stages);
    return stages;
}

ridge_pipeline_times pipeline_equal_times(ridge_ctx *cx,
                                          const ridge_pipeline_schedule *schedule,
                                          double forward_s, double backward_input_s,
                                          double backward_weight_s)
{
    ridge_stage_time *stages = new_stages(cx, &schedule->pipeline);
    for (int i = 0; i < schedule->pipeline.ranks * schedule->pipeline.chunks; i++)
        stages[i] = (ridge_stage_time){forward_s, backward_input_s, backward_weight_s};
    return (ridge_pipeline_times){.stages = stages};
}

ridge_pipeline pipeline_random(seeded *at)
{
    ridge_pipeline p = {
        .kind = (ridge_schedule)seeded_pick(at, 0, RIDGE_SCHEDULE_COUNT - 1),
        .ranks = (int)seeded_pick(at, 1, 9),
        .chunks = 1,
        .microbatches = (int)seeded_pick(at, 1, 40)};
    if (p.kind == RIDGE_SCHEDULE_INTERLEAVED)
        p.chunks = (int)seeded_pick(at, 1, 4);
    if (p.kind == RIDGE_SCHEDULE_ZB_V)
        p.chunks = 2;
    if (p.kind == RIDGE_SCHEDULE_DUALPIPE) {
        p.chunks = 2;
        p.ranks = 2 * (int)seeded_pick(at, 1, 4);
        p.microbatches = 2 * (int)seeded_pick(at, p.ranks, 20);
    }
    return p;
}

ridge_pipeline_times pipeline_random_times(ridge_ctx *cx,
                                           const ridge_pipeline *pipeline, seeded *at)
{
    enum { MOST_S = 20 };
    ridge_stage_time *stages = new_stages(cx, pipeline);
    for (int i = 0; i < pipeline->ranks * pipeline->chunks; i++) {
        stages[i] = (ridge_stage_time){
            .forward_s = (double)seeded_pick(at, 0, MOST_S),
            .backward_input_s = (double)seeded_pick(at, 0, MOST_S),
            .backward_weight_s = (double)seeded_pick(at, 0, MOST_S),
        };
    }
    return (ridge_pipeline_times){.stages = stages,
                                  .send_s = (double)seeded_pick(at, 0, MOST_S)};
}

ridge_pipeline_timeline pipeline_play(ridge_ctx *cx,
                                      const ridge_pipeline_schedule *schedule,
                                      const ridge_pipeline_times *times)
{
    ridge_pipeline_timeline timeline = {.ranks = NULL};
    want_ok(cx, ridge_pipeline_play(cx, schedule, times, &timeline));
    return timeline;
}

void pipeline_assert_refused(ridge_ctx *cx, ridge_status st, ridge_status want,
                             const char *message)
{
    assert_int_equal(st, want);
    assert_string_equal(ridge_ctx_message(cx), message);
}
