/* The keys of `simulate --json` for a training plan. */
#include "simulation_sections.h"

#include "ridge/report_simulation.h"

#include <math.h>

static void set_schedule(ridge_ctx *cx, const ridge_train_step *step,
                         ridge_json *object)
{
    const ridge_pipeline *p = &step->pipeline;
    ridge_json *o = ridge_json_set_object(cx, object, "schedule");
    ridge_json_set_text(o, "kind",
                        p->ranks == 1 ? "none" : ridge_schedule_text(p->kind));
    ridge_json_set_i64(o, "stages", p->ranks);
    ridge_json_set_i64(o, "chunks", p->chunks);
    ridge_json_set_i64(o, "microbatches", p->microbatches);
    ridge_json_set_i64(o, "group_chips", step->group_chips);
    ridge_json_set_i64(o, "replicas", step->replicas);
}

static void set_step(ridge_ctx *cx, const ridge_train_simulation *sim,
                     ridge_json *object)
{
    const ridge_step_outcome *out = &sim->outcome;
    const double closed_s = sim->step.price.step_time_s;
    ridge_json *o = ridge_json_set_object(cx, object, "step");
    ridge_json_set_double(o, "closed_form_s", closed_s);
    ridge_json_set_double(o, "played_s", out->calm_s);
    /* Sums in another order differ in their last digits. */
    const double difference = out->calm_s / closed_s - 1;
    ridge_json_set_double(o, "difference", fabs(difference) < 1e-9 ? 0 : difference);
    ridge_json_set_double(o, "passes_s", out->timeline.makespan_s);
    ridge_json_set_double(o, "reduced_s", out->reduced_s);
    ridge_json_set_double(o, "step_s", out->step_s);
    ridge_json_set_bool(o, "has_barrier", sim->script.has_barrier);
}

static void set_ranks(ridge_ctx *cx, const ridge_simulation_view *v, ridge_json *object)
{
    const ridge_train_simulation *sim = v->simulation;
    ridge_json *all = ridge_json_set_array(cx, object, "ranks");
    for (int i = 0; i < sim->step.pipeline.ranks; i++) {
        const ridge_rank_time *r = &sim->outcome.timeline.ranks[i];
        const ridge_step_close *close = &sim->script.closes[i];
        ridge_json *o = ridge_json_push_object(cx, all);
        ridge_json_set_i64(o, "rank", i);
        if (v->rank_pools != NULL)
            ridge_json_set_text(o, "pool", v->rank_pools[i]);
        ridge_json_set_double(o, "busy_s", r->busy_s);
        ridge_json_set_double(o, "bubble_s", r->bubble_s);
        ridge_json_set_double(o, "start_s", r->start_s);
        ridge_json_set_double(o, "end_s", r->end_s);
        ridge_json_set_double(o, "reduce_s", close->reduce_s);
        ridge_json_set_double(o, "update_s", close->update_s);
        ridge_json_set_double(o, "gather_s", close->gather_s);
    }
}

static void set_trouble(ridge_ctx *cx, const ridge_train_simulation *sim,
                        ridge_json *object)
{
    const ridge_step_outcome *out = &sim->outcome;
    ridge_json *o = ridge_json_set_object(cx, object, "trouble");
    ridge_json_set_double(o, "jitter", sim->trouble.jitter);
    ridge_json_set_i64(o, "stragglers", sim->trouble.stragglers);
    ridge_json_set_double(o, "slowdown",
                          sim->trouble.stragglers > 0 ? sim->trouble.slowdown : 1);
    ridge_json_set_i64(o, "seed", (int64_t)sim->trouble.seed);
    o = ridge_json_set_object(cx, object, "steps");
    ridge_json_set_i64(o, "played", out->steps);
    ridge_json_set_double(o, "mean_s", out->mean_s);
    ridge_json_set_double(o, "p50_s", out->p50_s);
    ridge_json_set_double(o, "p90_s", out->p90_s);
    ridge_json_set_double(o, "p99_s", out->p99_s);
    ridge_json_set_double(o, "least_s", out->least_s);
    ridge_json_set_double(o, "most_s", out->most_s);
    o = ridge_json_set_object(cx, object, "loss");
    ridge_json_set_double(o, "stragglers_s", out->loss.stragglers_s);
    ridge_json_set_double(o, "groups_s", out->loss.groups_s);
    ridge_json_set_double(o, "stages_s", out->loss.stages_s);
    ridge_json_set_double(o, "replicas_s", out->loss.replicas_s);
    ridge_json *places = ridge_json_set_array(cx, object, "stragglers");
    for (int i = 0; i < out->n_places; i++) {
        o = ridge_json_push_object(cx, places);
        ridge_json_set_i64(o, "replica", out->places[i].replica);
        ridge_json_set_i64(o, "rank", out->places[i].rank);
        ridge_json_set_i64(o, "chips", out->places[i].chips);
    }
}

void ridge__run_set_json(ridge_ctx *cx, const ridge_run_simulation *run,
                         ridge_json *object)
{
    const ridge_failure_script *f = &run->script;
    const ridge_failure_outcome *out = &run->outcome;
    ridge_json *o = ridge_json_set_object(cx, object, "run");
    ridge_json_set_i64(o, "steps", f->steps);
    ridge_json_set_double(o, "mtbf_s", f->mtbf_s);
    ridge_json_set_i64(o, "checkpoint_steps", f->checkpoint_steps);
    ridge_json_set_double(o, "checkpoint_blocked_s", f->checkpoint_s);
    ridge_json_set_double(o, "checkpoint_lag_s", f->lag_s);
    ridge_json_set_double(o, "restart_each_s", f->restart_s);
    ridge_json_set_i64(o, "runs", f->runs);
    ridge_json_set_double(o, "failures", out->failures);
    ridge_json_set_double(o, "wall_s", out->wall_s);
    ridge_json_set_double(o, "useful_s", out->useful_s);
    ridge_json_set_double(o, "checkpoint_s", out->checkpoint_s);
    ridge_json_set_double(o, "lost_s", out->lost_s);
    ridge_json_set_double(o, "restart_s", out->restart_s);
    ridge_json_set_double(o, "goodput", out->goodput);
    ridge_json_set_double(o, "wall_p10_s", out->wall_p10_s);
    ridge_json_set_double(o, "wall_p90_s", out->wall_p90_s);
    ridge_json_set_double(o, "closed_form_goodput", run->closed.share.useful);
}

void ridge_simulation_write_json(ridge_ctx *cx, const ridge_simulation_view *v,
                                 ridge_json *object)
{
    const ridge_train_simulation *sim = v->simulation;
    ridge_json_set_text(object, "kind", v->rank_pools == NULL ? "train" : "fleet");
    ridge_json_set_text(object, "model", v->model_name);
    ridge_json_set_text(object, "slice", v->request->slice->text);
    ridge_json_set_i64(object, "chips", v->request->slice->chips);
    set_schedule(cx, &sim->step, object);
    set_step(cx, sim, object);
    set_ranks(cx, v, object);
    set_trouble(cx, sim, object);
    if (sim->has_failures)
        ridge__run_set_json(cx, &sim->run, object);
}
