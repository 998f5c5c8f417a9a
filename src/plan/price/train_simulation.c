/*
 * A layout's step handed to src/simulate: which part of a pass is compute, which is
 * network, and how a step with trouble becomes a run with failures.
 */
#include "train_simulation.h"

#include <math.h>

static double waited_s(const ridge_pass_work *work)
{
    return ridge_pass_work_s(work) - work->compute_s;
}

/* How long a pass waits for its message to another rank. */
static double message_s(const ridge_train_step *step, int stage, ridge_pass pass)
{
    if (step->sent_s != NULL && pass == RIDGE_PASS_FORWARD)
        return step->sent_s[stage].forward_s;
    if (step->sent_s != NULL)
        return step->sent_s[stage].backward_input_s;
    const int target = ridge_pipeline_target_of(&step->pipeline, stage, pass);
    const bool is_sent = step->is_send_exposed && target >= 0 &&
                         ridge_pipeline_is_remote(&step->pipeline, stage, target);
    return is_sent ? step->send_s : 0;
}

static void fill_stage(const ridge_train_step *step, int s, ridge_stage_time *compute,
                       ridge_stage_time *network)
{
    const ridge_stage_work *w = &step->stages[s];
    *compute = (ridge_stage_time){w->forward.compute_s, w->backward_input.compute_s,
                                  w->backward_weight.compute_s};
    *network = (ridge_stage_time){waited_s(&w->forward), waited_s(&w->backward_input),
                                  waited_s(&w->backward_weight)};
    network->forward_s += message_s(step, s, RIDGE_PASS_FORWARD);
    network->backward_input_s += message_s(step, s, RIDGE_PASS_BACKWARD_INPUT);
}

static ridge_status write_script(ridge_ctx *cx, ridge_train_simulation *sim)
{
    const ridge_train_step *step = &sim->step;
    const ridge_pipeline *p = &step->pipeline;
    ridge_arena *arena = ridge_ctx_arena(cx);
    const size_t n = (size_t)p->ranks * (size_t)p->chunks;
    ridge_stage_time *compute = ridge_new(arena, ridge_stage_time, n);
    ridge_stage_time *network = ridge_new(arena, ridge_stage_time, n);
    ridge_step_close *closes = ridge_new(arena, ridge_step_close, (size_t)p->ranks);
    if (compute == NULL || network == NULL || closes == NULL)
        return ridge_fail_nomem(cx);
    for (size_t s = 0; s < n; s++)
        fill_stage(step, (int)s, &compute[s], &network[s]);
    for (int r = 0; r < p->ranks; r++) {
        const ridge_step_end *end = &step->ends[r];
        closes[r] =
            (ridge_step_close){.reduce_s = end->reduce_exposed_s + end->slowdown_s,
                               .update_s = end->optimizer_s + end->offload_s,
                               .gather_s = end->gather_exposed_s};
    }
    sim->script =
        (ridge_step_script){.schedule = &sim->schedule,
                            .compute = compute,
                            .network = network,
                            .send_s = step->is_send_exposed ? 0 : step->send_s,
                            .closes = closes,
                            .has_barrier = step->has_barrier,
                            .group_chips = step->group_chips,
                            .replicas = step->replicas,
                            .processor_share = step->processor_share};
    return RIDGE_OK;
}

/* ---- failures -------------------------------------------------------------------- */

static ridge_status check_run(ridge_ctx *cx, const ridge_train_request *request,
                              const ridge_simulation_request *asked,
                              const ridge_run_simulation *run)
{
    if (!(asked->run_tokens > 0))
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "failures need the tokens of the whole run: give --tokens 15T");
    if (!(ridge_money_mtbf_s(request->slice, asked->money) > 0))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "no count of failures of %s is published: give --mtbf "
                          "chip:50000h, or another chip's --record",
                          request->slice->chip->full_name);
    if (!run->closed.has_goodput)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "how long a checkpoint or a restart takes is not known: give "
                          "--storage and --restart, or a --site");
    if (!(asked->run_tokens / request->batch_tokens < 1e15))
        return ridge_fail(cx, RIDGE_E_ARG, "%s tokens are too many steps: take fewer",
                          ridge_format_count(asked->run_tokens).s);
    return RIDGE_OK;
}

ridge_status train_simulation_run(ridge_ctx *cx, const ridge_train_request *request,
                                  const ridge_simulation_request *asked, double step_s,
                                  ridge_run_simulation *run)
{
    const double batch_tokens =
        round(request->batch_tokens / request->seq_tokens) * request->seq_tokens;
    RIDGE_TRY(check_run(cx, request, asked, run));
    const ridge_reliability *job = &run->closed.job;
    run->script = (ridge_failure_script){
        .step_s = step_s,
        .steps = (int64_t)ceil(asked->run_tokens / batch_tokens),
        .mtbf_s = fmin(job->mtbf_s, 1e15),
        .checkpoint_steps = (int64_t)fmin(run->closed.interval_steps, 1e15),
        .checkpoint_s = job->blocked_s,
        .lag_s = job->lag_s,
        .restart_s = job->restart_s,
        .runs = asked->runs,
        .seed = asked->trouble.seed};
    return ridge_failure_play(cx, &run->script, &run->outcome);
}

/* A step of the run is the mean step that was played. */
static ridge_status play_run(ridge_ctx *cx, const ridge_train_request *request,
                             const ridge_simulation_request *asked,
                             ridge_train_simulation *sim)
{
    ridge_train_price price = sim->step.price;
    price.step_time_s = sim->outcome.mean_s;
    sim->run.closed = ridge_train_money(request, &price, asked->money);
    RIDGE_TRY(train_simulation_run(cx, request, asked, sim->outcome.mean_s, &sim->run));
    sim->has_failures = true;
    return RIDGE_OK;
}

ridge_status train_simulation_play(ridge_ctx *cx, const ridge_step_trouble *trouble,
                                   ridge_train_simulation *sim)
{
    sim->trouble = *trouble;
    RIDGE_TRY(ridge_pipeline_schedule_make(cx, &sim->step.pipeline, &sim->schedule));
    RIDGE_TRY(write_script(cx, sim));
    return ridge_step_play(cx, &sim->script, trouble, &sim->outcome);
}

ridge_status ridge_train_simulate(ridge_ctx *cx, const ridge_train_request *request,
                                  const ridge_layout *layout,
                                  const ridge_simulation_request *asked,
                                  ridge_train_simulation *out)
{
    *out = (ridge_train_simulation){.has_failures = false};
    RIDGE_TRY(ridge_train_step_of(cx, request, layout, &out->step));
    RIDGE_TRY(train_simulation_play(cx, &asked->trouble, out));
    return asked->has_failures ? play_run(cx, request, asked, out) : RIDGE_OK;
}
