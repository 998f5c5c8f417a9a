/*
 * The time of a step: the slowest stage works through every microbatch, the others wait
 * while the pipeline fills and drains, then gradients are reduced and weights updated.
 *
 *     step = m t_max + bubble of the schedule, played + reduction + optimizer
 *
 * Gradient reductions hide behind the last backward pass; of what stages do once a step
 * the longest counts, so that one that is spared here is not slower there. Stages are
 * stage_time.c's; chips whose software overlaps nothing are step_program.c's.
 */
#include "adapter.h"
#include "larger.h"
#include "muon_step.h"
#include "step_program.h"

#include "ridge/cost_program.h"

#include <math.h>

static double end_total_s(const ridge_step_end *e)
{
    return e->reduce_exposed_s + e->gather_exposed_s + e->slowdown_s + e->optimizer_s +
           e->offload_s;
}

/* Gradients go behind the last backward pass, weights behind the next forward; the last
 * bucket of either has nothing left to hide behind. */
static void add_step_sync(const train_case *tc, const train_terms *x,
                          const ridge_layout *l, const step_sync *sync,
                          const stage_time *s, ridge_step_end *e)
{
    double layers = larger(x->stages->layers_most, 1);
    double reduce_s = sync->reduce.expected_s;
    double gather_s = sync->gather.expected_s;
    double bwd_s = l->is_dp_exposed ? 0 : s->bwd_s;
    double fwd_s = l->is_dp_exposed || sync->is_gather_waited ? 0 : s->fwd_s;
    e->reduce_exposed_s = larger(reduce_s / layers, reduce_s - bwd_s);
    e->gather_exposed_s = larger(gather_s / layers, gather_s - fwd_s);
    e->reduce_hidden_s = positive(reduce_s - e->reduce_exposed_s);
    e->gather_hidden_s = positive(gather_s - e->gather_exposed_s);
    e->slowdown_s =
        (e->reduce_hidden_s + e->gather_hidden_s) * ridge_collective_sm_share(tc->chip);
    e->bound_sync_s = sync->reduce.bound_s + sync->gather.bound_s;
}

/* The update reads gradient, master and moments and writes master, moments and the
 * compute copy, and what is narrower than 16 bits with its transpose, kept by all
 * microbatches: a stream through HBM. State on the host comes and goes over its link.
 */
static void add_optimizer(const train_case *tc, const train_terms *x,
                          const ridge_layout *l, const train_stage *stage,
                          ridge_step_end *e)
{
    train_params p = train_stage_params(tc, x->load, stage, l);
    train_ways w = train_layout_ways(l);
    const ridge_policy *policy = tc->policy;
    double narrow = ridge_dtype_bytes(policy->compute);
    double state_bytes = policy->master_bytes + policy->moment_bytes;
    double bytes_per_param = policy->gradient_bytes + policy->weight_bytes +
                             2 * state_bytes +
                             (narrow < 2 ? policy->weight_bytes + 2 * narrow : 0);
    double params = p.dense / (double)w.shards + p.expert / (double)w.expert_shards;
    const double bytes = policy->is_frozen ? adapter_update_bytes(tc, stage, l)
                                           : params * bytes_per_param;
    ridge_op_cost c = ridge_stream_cost(tc->chip, 0, bytes);
    ridge_time matrix = l->optimizer == RIDGE_OPTIMIZER_MUON
                            ? muon_step_time(tc, stage, l)
                            : (ridge_time){0, 0};
    e->optimizer_s = c.expected_s + matrix.expected_s;
    e->bound_update_s = c.bound_s + matrix.bound_s;
    if (l->offload & RIDGE_OFFLOAD_OPTIMIZER) {
        double host_s = params * state_bytes / train_host_bytes_per_s(tc->chip);
        e->offload_s = positive(host_s - e->optimizer_s);
        e->bound_update_s = larger(e->bound_update_s, host_s);
    }
}

ridge_step_end train_end_of(const train_case *tc, const train_terms *x,
                            const ridge_layout *l, int stage, const stage_time *s)
{
    ridge_step_end end = {.optimizer_s = 0};
    add_step_sync(tc, x, l, &x->syncs[stage], s, &end);
    add_optimizer(tc, x, l, &x->stages->stages[stage], &end);
    return end;
}

ridge_stage_work train_stage_work(const train_case *tc, const train_terms *x,
                                  const ridge_layout *l, const train_stage *stage)
{
    ridge_stage_work work = {.has_head = false};
    (void)train_stage_time(tc, x, l, stage, &work);
    return work;
}

ridge_step_end train_step_end(const train_case *tc, const train_terms *x,
                              const ridge_layout *l, int stage)
{
    const stage_time t = train_stage_time(tc, x, l, &x->stages->stages[stage], NULL);
    return train_end_of(tc, x, l, stage, &t);
}

static void scale_parts(ridge_step_parts *parts, double by)
{
#define SCALE_PART(name, text, what) parts->name##_s *= by;
    RIDGE_STEP_LIST(SCALE_PART)
#undef SCALE_PART
}

/* Stages of one pipeline, for one microbatch. */
typedef struct pipe {
    stage_time worst;
    ridge_step_end end; /* of the stage whose takes longest */
    double bound_sync_s, bound_update_s;
    double step_s;
    double bound_most_s, bound_sum_s;
} pipe;

void train_stage_pass(const train_case *tc, const train_terms *x, const ridge_layout *l,
                      const train_stage *stage, const ridge_stage_work *work,
                      stage_pass *out)
{
    train_stage bare = *stage;
    ridge_stage_work layers = *work;
    bare.has_head = false;
    if (stage->has_head)
        layers = train_stage_work(tc, x, l, &bare);
    stage_pass_set(out, stage, work, &layers);
    out->down_s = out->up_s = l->has_pp_overlap ? 0 : x->send.expected_s;
}

static pipe time_pipe(const train_case *tc, const train_terms *x, const ridge_layout *l,
                      int64_t m)
{
    const train_stages *stages = x->stages;
    pipe p = {.step_s = 0};
    for (int i = 0; i < stages->n; i++) {
        const train_stage *stage = &stages->stages[i];
        ridge_stage_work work = {.has_head = false};
        stage_time s = train_stage_time(tc, x, l, stage, &work);
        double bound_s = stage_time_bound_s(&s);
        train_stage_pass(tc, x, l, stage, &work, &stages->passes[i]);
        p.bound_sum_s += stage->count * bound_s;
        p.bound_most_s = larger(p.bound_most_s, bound_s);
        if (i == 0 || stage_time_total_s(&s) > stage_time_total_s(&p.worst))
            p.worst = s;
        ridge_step_end end = train_end_of(tc, x, l, i, &s);
        stage_pass_set_end(&stages->passes[i], &end);
        p.bound_sync_s = larger(p.bound_sync_s, end.bound_sync_s);
        p.bound_update_s = larger(p.bound_update_s, end.bound_update_s);
        if (i == 0 || end_total_s(&end) > end_total_s(&p.end))
            p.end = end;
    }
    p.step_s =
        paced_step_s(tc, l, stages, m, l->has_pp_overlap ? x->send.expected_s : 0);
    return p;
}

/* The least bubble that the schedule leaves: none where weights' gradients can fill it.
 */
static double bound_bubble_s(const ridge_layout *l, const pipe *p)
{
    if (ridge_schedule_is_split(l->schedule))
        return 0;
    return (p->bound_sum_s - p->bound_most_s) / (double)l->vpp;
}

void train_price_time(const train_case *tc, const train_terms *x, const ridge_layout *l,
                      ridge_train_price *price)
{
    if (!ridge_chip_is_overlapped(tc->chip)) {
        step_program_price(tc, x, l, price);
        return;
    }
    double m = (double)price->microbatches;
    const pipe p = time_pipe(tc, x, l, price->microbatches);
    price->parts = p.worst.parts;
    scale_parts(&price->parts, m);
    price->parts.dp_s = p.end.reduce_exposed_s + p.end.gather_exposed_s;
    price->parts.slowdown_s += p.end.slowdown_s;
    price->parts.optimizer_s = p.end.optimizer_s;
    price->parts.offload_s += p.end.offload_s;
    paced_parts_fill(&price->parts, p.step_s);
    price->hidden_communication_s =
        m * p.worst.hidden_s + p.end.reduce_hidden_s + p.end.gather_hidden_s;
    double passes_s = m * p.bound_most_s + bound_bubble_s(l, &p);
    price->bound_step_time_s = larger(passes_s, p.bound_sync_s) + p.bound_update_s;
    price->step_time_s = ridge_step_total_s(&price->parts);
}

ridge_memory_parts train_peak_memory(const train_case *tc, const train_terms *x,
                                     const ridge_layout *l, int64_t microbatches,
                                     double stop_bytes, int *fullest)
{
    ridge_memory_parts most = {0};
    double most_bytes = -1;
    for (int i = 0; i < x->stages->n && most_bytes <= stop_bytes; i++) {
        const train_stage *stage = &x->stages->stages[i];
        const ridge_memory_parts state =
            x->states != NULL ? x->states[i] : train_stage_state(tc, x->load, stage, l);
        ridge_memory_parts m =
            train_stage_filled(tc, x->load, stage, l, microbatches, &state);
        double bytes = ridge_memory_total_bytes(&m);
        if (bytes > most_bytes) {
            most_bytes = bytes;
            most = m;
            *fullest = stage->first;
        }
    }
    return most;
}
