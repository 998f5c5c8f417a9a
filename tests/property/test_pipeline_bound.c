/* No pipeline of which each stage takes as long as it is bound by, or longer, is played
 * faster than the bound: random stages, made slower at random. And what is played in
 * its first microbatches takes what the whole of it does. */
#include "paced_step.h"

#include "model_fixture.h"
#include "near.h"
#include "seeded.h"

#include "ridge/simulate_pace.h"
#include "ridge/simulate_step.h"

#include <math.h>

enum { PIPELINES = 20000, LONG = 300, STAGES_MOST = 12, CHUNKS_MOST = 4 };

static double draw(seeded *at)
{
    return (double)(seeded_next(at) >> 11) / 9007199254740992.0;
}

typedef struct pipeline {
    train_stage stages[STAGES_MOST];
    int of_rank[STAGES_MOST];
    train_stages all;
    ridge_layout layout;
    int64_t m;
    double send_s;
    double totals_s[STAGES_MOST];
    stage_pass passes[STAGES_MOST];
} pipeline;

static void draw_layout(seeded *at, pipeline *p)
{
    const int kind = (int)(RIDGE_SCHEDULE_COUNT * draw(at));
    const bool is_looped = kind == RIDGE_SCHEDULE_INTERLEAVED;
    const bool is_dual = kind == RIDGE_SCHEDULE_DUALPIPE;
    const int64_t pp = 2 + (int64_t)((STAGES_MOST - 1) * draw(at));
    p->layout.pp = is_dual ? pp / 2 * 2 : pp;
    p->layout.vpp = is_looped ? 2 + (int64_t)((CHUNKS_MOST - 1) * draw(at)) : 1;
    p->layout.schedule = is_looped ? RIDGE_SCHEDULE_1F1B : (ridge_schedule)kind;
    p->layout.first_layers = p->layout.last_layers = RIDGE_STAGE_EVEN;
    p->layout.has_pp_overlap = draw(at) < 0.5;
    p->m = 1 + (int64_t)(40 * draw(at));
    if (is_looped)
        p->m += pp;
    if (is_dual)
        p->m = 2 * (pp + (p->m + 1) / 2);
}

/* Whole passes without a head; on dualpipe of both ways. */
static void draw_pass(seeded *at, pipeline *p, int i)
{
    const double least_s = draw(at) < 0.3 ? 0.2 * draw(at) : 1;
    const double total_s = least_s + (draw(at) < 0.5 ? 0 : draw(at));
    const double forward_s = total_s * draw(at);
    const double late_s = (total_s - forward_s) * draw(at);
    const double sent_s = p->layout.has_pp_overlap ? 0 : 0.1 * draw(at);
    stage_pass *s = &p->passes[i];
    p->stages[i] = (train_stage){.first = i,
                                 .has_embedding = i == 0,
                                 .has_head = i == p->layout.pp - 1,
                                 .count = 1};
    p->of_rank[i] = i;
    p->totals_s[i] = least_s;
    *s = (stage_pass){.own = {forward_s, total_s - forward_s - late_s, late_s},
                      .head = {0.3 * draw(at), 0.3 * draw(at), 0.3 * draw(at)},
                      .down_s = sent_s,
                      .up_s = sent_s,
                      .reduce_s = draw(at) < 0.5 ? 0 : draw(at),
                      .behind_s = draw(at) < 0.5 ? 0 : draw(at)};
}

static void draw_pipeline(seeded *at, pipeline *p)
{
    *p = (pipeline){.m = 1};
    draw_layout(at, p);
    p->send_s = p->layout.has_pp_overlap ? 0.2 * draw(at) : 0;
    p->all = (train_stages){.cut = {.pp = p->layout.pp},
                            .n = (int)p->layout.pp,
                            .stages = p->stages,
                            .of_rank = p->of_rank,
                            .passes = p->passes};
    for (int i = 0; i < p->layout.pp; i++)
        draw_pass(at, p, i);
}

static train_case open_case(ridge_ctx *cx)
{
    const train_case tc = {.cx = cx, .pacer = ridge_pacer_open(cx)};
    assert_non_null(tc.pacer);
    return tc;
}

static void no_pipeline_is_faster_than_its_bound(void **state)
{
    (void)state;
    static pipeline p;
    seeded at = 20261130;
    ridge_ctx *cx = ridge_ctx_open();
    const train_case tc = open_case(cx);
    for (int i = 0; i < PIPELINES; i++) {
        draw_pipeline(&at, &p);
        const double least_s =
            paced_least_s(&p.layout, &p.all, p.totals_s, (double)p.m, p.send_s);
        const double takes_s = paced_step_s(&tc, &p.layout, &p.all, p.m, p.send_s);
        if (!(least_s <= takes_s * (1 + 1e-12)))
            fail_msg("pipeline %d, %s, pp %lld vpp %lld m %lld: %.12g, bound %.12g", i,
                     ridge_schedule_text(p.layout.schedule), (long long)p.layout.pp,
                     (long long)p.layout.vpp, (long long)p.m, takes_s, least_s);
    }
    assert_int_equal(ridge_pacer_status(tc.pacer), RIDGE_OK);
    ridge_ctx_close(cx);
}

/* ---- played whole --------------------------------------------------------------- */

/* The stages as a script: what pass_of says of each, message by message. */
static double play_whole(ridge_ctx *cx, const pipeline *p)
{
    const ridge_pipeline pipe = train_pipeline_of(&p->layout, p->m);
    const bool is_dual = pipe.kind == RIDGE_SCHEDULE_DUALPIPE;
    const int ways = is_dual ? pipe.ranks : pipe.ranks * pipe.chunks;
    const ridge_step_trouble calm = {.steps = 1, .workers = 1, .slowdown = 1};
    static ridge_stage_time work[STAGES_MOST * CHUNKS_MOST];
    static ridge_stage_time sent[STAGES_MOST * CHUNKS_MOST];
    ridge_step_close closes[STAGES_MOST];
    ridge_pipeline_schedule schedule;
    ridge_step_outcome out;
    for (int s = 0; s < pipe.ranks * pipe.chunks; s++) {
        const int rank = ridge_pipeline_place_of(&pipe, s).rank;
        const stage_pass *pass = &p->passes[rank];
        const double share = is_dual ? 1 : 1.0 / pipe.chunks;
        const double head = s % ways == ways - 1;
        const bool is_down = s % ways < ways - 1 &&
                             !(ways > pipe.ranks && !is_dual &&
                               ridge_pipeline_place_of(&pipe, s + 1).rank == rank);
        const bool is_up =
            s % ways > 0 && !(ways > pipe.ranks && !is_dual &&
                              ridge_pipeline_place_of(&pipe, s - 1).rank == rank);
        work[s] = (ridge_stage_time){
            share * pass->own.forward_s + head * pass->head.forward_s,
            share * pass->own.backward_input_s + head * pass->head.backward_input_s,
            share * pass->own.backward_weight_s + head * pass->head.backward_weight_s};
        sent[s] =
            (ridge_stage_time){is_down ? pass->down_s : 0, is_up ? pass->up_s : 0, 0};
    }
    for (int r = 0; r < pipe.ranks; r++)
        closes[r] = (ridge_step_close){.reduce_s = p->passes[r].reduce_s,
                                       .update_s = p->passes[r].behind_s};
    assert_ok(cx, ridge_pipeline_schedule_make(cx, &pipe, &schedule));
    const ridge_step_script script = {.schedule = &schedule,
                                      .compute = work,
                                      .network = sent,
                                      .send_s = p->send_s,
                                      .closes = closes,
                                      .has_barrier = !train_is_barrier_free(&pipe),
                                      .group_chips = 1,
                                      .replicas = 1,
                                      .processor_share = 1};
    assert_ok(cx, ridge_step_play(cx, &script, &calm, &out));
    return out.calm_s;
}

/* Uneven stages, heads and closes; @param turns  times as many microbatches. */
static void compare(int cases, int turns, double close)
{
    static pipeline p;
    seeded at = 77;
    for (int i = 0; i < cases; i++) {
        ridge_ctx *cx = ridge_ctx_open();
        const train_case tc = open_case(cx);
        draw_pipeline(&at, &p);
        p.m *= turns;
        const double told_s = paced_step_s(&tc, &p.layout, &p.all, p.m, p.send_s);
        const double played_s = play_whole(cx, &p);
        if (!(fabs(told_s / played_s - 1) <= close))
            fail_msg(
                "pipeline %d, %s, pp %lld vpp %lld m %lld: told %.12g, played %.12g", i,
                ridge_schedule_text(p.layout.schedule), (long long)p.layout.pp,
                (long long)p.layout.vpp, (long long)p.m, told_s, played_s);
        ridge_ctx_close(cx);
    }
}

static void what_is_told_is_what_is_played(void **state)
{
    (void)state;
    compare(10 * LONG, 1, 1e-12);
}

static void a_long_step_goes_on_as_it_began(void **state)
{
    (void)state;
    compare(LONG, 40, 2e-3);
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
            p.totals_s[i] = 1;
        }
        assert_near(paced_least_s(&p.layout, &p.all, p.totals_s, m, 0), m + 7, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pipeline_is_faster_than_its_bound),
        cmocka_unit_test(what_is_told_is_what_is_played),
        cmocka_unit_test(a_long_step_goes_on_as_it_began),
        cmocka_unit_test(equal_stages_take_their_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
