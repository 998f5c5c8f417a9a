/*
 * The time of a step: the slowest stage works through every microbatch, the others wait
 * while the pipeline fills and drains, then gradients are reduced and weights updated.
 *
 *     step = m t_max + (sum of the other stages' t) / v + reduction + optimizer
 *
 * (narayanan2021, section 2.2: bubble (p - 1) / (v m) of the ideal time for equal
 * stages.) In a stage, gathers of sharded weights hide behind the compute of one layer,
 * gradient reductions behind the last backward pass, and TP collectives are exposed
 * unless they run as collective matmuls (wang2023), where all but the first of tp
 * chunks can hide. Chips whose software overlaps nothing are step_program.c's.
 */
#include "step_program.h"

#include "ridge/cost_program.h"

#include <math.h>

/* What one pass over one stage takes. */
typedef struct stage_time {
    ridge_step_parts parts; /* of one microbatch, both passes */
    double fwd_s, bwd_s;    /* compute with exposed exchanges */
    double hidden_s;
    double bound_compute_s, bound_tp_s, bound_cp_s, bound_shards_s, bound_ep_s;
    ridge_stage_work *work; /* the same by pass; NULL: not asked for */
} stage_time;

static double positive(double v)
{
    return v > 0 ? v : 0;
}

static bool has_tp_overlap(const ridge_layout *l)
{
    return l->has_tp_overlap && l->tp > 1;
}

/* Exposed part of a TP block's collectives beside the matmuls of its layer. */
static double tp_exposed_s(const ridge_layout *l, double comm_s, double matmul_s)
{
    if (!has_tp_overlap(l))
        return comm_s;
    double first = comm_s / (double)l->tp;
    return first + positive(comm_s - first - matmul_s);
}

/* Exchanges of one layer for one microbatch: what is exposed, and of TP and CP what
 * runs behind compute. Beside: of the backward pass, for the weights' gradients. */
typedef struct exposed {
    double tp_fwd_s, tp_bwd_s, cp_fwd_s, cp_bwd_s, ep_fwd_s, ep_bwd_s;
    double hidden_tp_fwd_s, hidden_tp_bwd_s, hidden_cp_fwd_s, hidden_cp_bwd_s;
    double tp_beside_s, hidden_tp_beside_s;
} exposed;

/* Full remat repeats the exchanges of the forward pass. What is gathered again for
 * weights' gradients runs beside the products that hide no other exchange. */
static void add_tp(const ridge_layout *l, const layer_time *t, const layer_exchange *x,
                   double redo, exposed *e, stage_time *s)
{
    const ridge_time *fwd = &x->fwd[EXCHANGE_TP];
    const ridge_time *bwd = &x->bwd[EXCHANGE_TP];
    const ridge_time *beside = &x->beside[EXCHANGE_TP];
    double fwd_s = fwd->expected_s;
    double bwd_s = bwd->expected_s + redo * fwd->expected_s;
    double ahead_s = tp_exposed_s(l, bwd_s, t->matmul_bwd_s);
    double room_s = t->matmul_bwd_s - (bwd_s - ahead_s);
    e->tp_fwd_s = tp_exposed_s(l, fwd_s, t->matmul_fwd_s);
    e->tp_beside_s = positive(beside->expected_s - room_s);
    e->hidden_tp_beside_s = beside->expected_s - e->tp_beside_s;
    e->tp_bwd_s = ahead_s + e->tp_beside_s;
    s->bound_tp_s += fwd->bound_s * (1 + redo) + bwd->bound_s + beside->bound_s;
    e->hidden_tp_fwd_s = positive(fwd_s - e->tp_fwd_s);
    e->hidden_tp_bwd_s = positive(bwd_s + beside->expected_s - e->tp_bwd_s);
    s->hidden_s += e->hidden_tp_fwd_s + e->hidden_tp_bwd_s;
}

/* A ring passes keys and values on while the scores of the last chunk run; in the
 * backward pass they go round again, and their gradients with them. */
static void add_cp(const layer_time *t, const layer_exchange *x, exposed *e,
                   stage_time *s)
{
    const ridge_time *fwd = &x->fwd[EXCHANGE_CP];
    const ridge_time *bwd = &x->bwd[EXCHANGE_CP];
    const ridge_time *beside = &x->beside[EXCHANGE_CP];
    double bwd_s = bwd->expected_s + beside->expected_s;
    e->cp_fwd_s = positive(fwd->expected_s - t->attention_fwd_s);
    e->cp_bwd_s = positive(bwd_s - t->attention_bwd_s);
    s->bound_cp_s += fwd->bound_s + bwd->bound_s + beside->bound_s;
    e->hidden_cp_fwd_s = positive(fwd->expected_s - e->cp_fwd_s);
    e->hidden_cp_bwd_s = positive(bwd_s - e->cp_bwd_s);
    s->hidden_s += e->hidden_cp_fwd_s + e->hidden_cp_bwd_s;
}

/* Dispatch and combine, forward and backward. */
static void add_ep(const layer_exchange *x, double redo, exposed *e, stage_time *s)
{
    const ridge_time *fwd = &x->fwd[EXCHANGE_EP];
    const ridge_time *bwd = &x->bwd[EXCHANGE_EP];
    e->ep_fwd_s = fwd->expected_s;
    e->ep_bwd_s = bwd->expected_s + redo * fwd->expected_s;
    s->bound_ep_s += fwd->bound_s * (1 + redo) + bwd->bound_s;
}

/* ---- by pass --------------------------------------------------------------------- */

static void work_exchange(const train_case *tc, ridge_pass_work *pass,
                          ridge_traffic over, double exposed_s, double hidden_s)
{
    pass->exposed_s[over] += exposed_s;
    pass->hidden_s[over] += hidden_s;
    pass->compute_s += hidden_s * ridge_collective_sm_share(tc->chip);
}

/* n layers. Of a product's backward pass half is for the weights; what is computed
 * again, scores and vectors come before the gradient of the input. */
static void work_layers(const train_case *tc, const layer_time *t, const exposed *e,
                        double again_s, double n, ridge_stage_work *w)
{
    ridge_pass_work *f = &w->forward;
    ridge_pass_work *i = &w->backward_input;
    const double weight_s = t->matmul_bwd_s / 2;
    f->compute_s += n * layer_time_fwd_s(t);
    i->compute_s += n * (layer_time_bwd_s(t) + again_s - weight_s);
    w->backward_weight.compute_s += n * weight_s;
    work_exchange(tc, f, RIDGE_TRAFFIC_TP, n * e->tp_fwd_s, n * e->hidden_tp_fwd_s);
    work_exchange(tc, f, RIDGE_TRAFFIC_CP, n * e->cp_fwd_s, n * e->hidden_cp_fwd_s);
    work_exchange(tc, f, RIDGE_TRAFFIC_EP, n * e->ep_fwd_s, 0);
    work_exchange(tc, i, RIDGE_TRAFFIC_TP, n * (e->tp_bwd_s - e->tp_beside_s),
                  n * (e->hidden_tp_bwd_s - e->hidden_tp_beside_s));
    work_exchange(tc, &w->backward_weight, RIDGE_TRAFFIC_TP, n * e->tp_beside_s,
                  n * e->hidden_tp_beside_s);
    work_exchange(tc, i, RIDGE_TRAFFIC_CP, n * e->cp_bwd_s, n * e->hidden_cp_bwd_s);
    work_exchange(tc, i, RIDGE_TRAFFIC_EP, n * e->ep_bwd_s, 0);
}

/* Gathers and scatters of a layer's shards beside its compute. Time in which TP is
 * exposed is time in which other links can work; on the same links, what TP and CP move
 * behind compute leaves less room. CP is always on the links of the shards. */
static void add_shards(const train_case *tc, const train_terms *x,
                       const ridge_layout *l, int kind, double fwd_s, double bwd_s,
                       const exposed *e, double n, stage_time *s)
{
    if (l->zero_stage < 2)
        return;
    const shard_time *t = &x->shards[kind];
    bool is_gathered = l->zero_stage == 3;
    double fwd_room_s = fwd_s - e->hidden_cp_fwd_s +
                        (x->is_tp_apart ? e->tp_fwd_s : -e->hidden_tp_fwd_s);
    double bwd_room_s = bwd_s - e->hidden_cp_bwd_s +
                        (x->is_tp_apart ? e->tp_bwd_s : -e->hidden_tp_bwd_s);
    double gather_s = is_gathered ? t->gather.expected_s : 0;
    double bwd_comm_s = gather_s + t->scatter.expected_s;
    double fwd_exposed_s = positive(gather_s - fwd_room_s);
    double bwd_exposed_s = positive(bwd_comm_s - bwd_room_s);
    double exposed_s = fwd_exposed_s + bwd_exposed_s;
    double hidden_s = positive(gather_s + bwd_comm_s - exposed_s);
    s->fwd_s += n * fwd_exposed_s;
    s->bwd_s += n * bwd_exposed_s;
    s->bound_shards_s +=
        n * ((is_gathered ? 2 * t->gather.bound_s : 0) + t->scatter.bound_s);
    s->hidden_s += n * hidden_s;
    s->parts.slowdown_s += n * hidden_s * ridge_collective_sm_share(tc->chip);
    s->parts.fsdp_s += n * exposed_s;
    if (s->work != NULL) {
        const double fwd[] = {fwd_exposed_s, positive(gather_s - fwd_exposed_s)};
        const double bwd[] = {bwd_exposed_s, positive(bwd_comm_s - bwd_exposed_s)};
        const double late = bwd_comm_s > 0 ? t->scatter.expected_s / bwd_comm_s : 0;
        ridge_stage_work *w = s->work;
        work_exchange(tc, &w->forward, RIDGE_TRAFFIC_FSDP, n * fwd[0], n * fwd[1]);
        work_exchange(tc, &w->backward_input, RIDGE_TRAFFIC_FSDP,
                      n * (1 - late) * bwd[0], n * (1 - late) * bwd[1]);
        work_exchange(tc, &w->backward_weight, RIDGE_TRAFFIC_FSDP, n * late * bwd[0],
                      n * late * bwd[1]);
    }
}

/* n layers of one kind, or the head, which is never computed again. */
static void add_layers(const train_case *tc, const train_terms *x,
                       const ridge_layout *l, int kind, double n, stage_time *s)
{
    bool is_head = kind == tc->n_kinds;
    const layer_time *t = &x->layers[kind];
    double redo = l->remat == RIDGE_REMAT_FULL && !is_head ? 1 : 0;
    double again_s = is_head ? 0 : layer_time_recompute_s(t, l->remat);
    exposed e = {0};
    stage_time one = {0};
    add_tp(l, t, &x->exchanges[kind], redo, &e, &one);
    add_cp(t, &x->exchanges[kind], &e, &one);
    add_ep(&x->exchanges[kind], redo, &e, &one);
    s->hidden_s += n * one.hidden_s;
    s->bound_tp_s += n * one.bound_tp_s;
    s->bound_cp_s += n * one.bound_cp_s;
    s->bound_ep_s += n * one.bound_ep_s;
    s->bound_compute_s += n * (t->bound_fwd_s * (1 + redo) + t->bound_bwd_s);
    s->parts.slowdown_s += n * one.hidden_s * ridge_collective_sm_share(tc->chip);
    s->parts.matmul_s += n * (t->matmul_fwd_s + t->matmul_bwd_s);
    s->parts.attention_s += n * (t->attention_fwd_s + t->attention_bwd_s);
    s->parts.vector_s += n * (t->vector_fwd_s + t->vector_bwd_s);
    s->parts.recompute_s += n * again_s;
    s->parts.tp_s += n * (e.tp_fwd_s + e.tp_bwd_s);
    s->parts.cp_s += n * (e.cp_fwd_s + e.cp_bwd_s);
    s->parts.ep_s += n * (e.ep_fwd_s + e.ep_bwd_s);
    double fwd_s = layer_time_fwd_s(t);
    double bwd_s = layer_time_bwd_s(t) + again_s;
    s->fwd_s += n * (fwd_s + e.tp_fwd_s + e.cp_fwd_s + e.ep_fwd_s);
    s->bwd_s += n * (bwd_s + e.tp_bwd_s + e.cp_bwd_s + e.ep_bwd_s);
    if (s->work != NULL)
        work_layers(tc, t, &e, again_s, n, s->work);
    if (!is_head)
        add_shards(tc, x, l, kind, fwd_s, bwd_s, &e, n, s);
}

static double stage_total_s(const stage_time *s)
{
    return ridge_step_total_s(&s->parts);
}

static stage_time time_stage(const train_case *tc, const train_terms *x,
                             const ridge_layout *l, const train_stage *stage,
                             ridge_stage_work *work)
{
    stage_time s = {.work = work};
    for (int k = 0; k < tc->n_kinds; k++) {
        if (stage->layers[k] > 0)
            add_layers(tc, x, l, k, stage->layers[k], &s);
    }
    if (stage->has_head)
        add_layers(tc, x, l, tc->n_kinds, 1, &s);
    /* Activations on and gradients back, once a microbatch and virtual stage. */
    s.parts.pp_s = 2 * (double)l->vpp * x->send.expected_s;
    return s;
}

/* Once a step: gradients behind the last backward pass, weights behind the next
 * forward; the last bucket of either has nothing left to hide behind. */
static ridge_step_end end_sync(const train_case *tc, const train_terms *x,
                               const step_sync *sync, const stage_time *s)
{
    double layers = fmax(x->stages->layers_most, 1);
    double reduce_s = sync->reduce.expected_s;
    double gather_s = sync->gather.expected_s;
    ridge_step_end end = {
        .reduce_exposed_s = fmax(reduce_s / layers, reduce_s - s->bwd_s),
        .gather_exposed_s = fmax(gather_s / layers, gather_s - s->fwd_s)};
    end.reduce_hidden_s = positive(reduce_s - end.reduce_exposed_s);
    end.gather_hidden_s = positive(gather_s - end.gather_exposed_s);
    end.slowdown_s = (end.reduce_hidden_s + end.gather_hidden_s) *
                     ridge_collective_sm_share(tc->chip);
    return end;
}

static void add_step_sync(const train_case *tc, const train_terms *x,
                          const step_sync *sync, const stage_time *s,
                          ridge_train_price *price)
{
    const ridge_step_end end = end_sync(tc, x, sync, s);
    price->parts.dp_s = end.reduce_exposed_s + end.gather_exposed_s;
    price->parts.slowdown_s += end.slowdown_s;
    price->hidden_communication_s += end.reduce_hidden_s + end.gather_hidden_s;
    double bound_s = sync->reduce.bound_s + sync->gather.bound_s;
    if (bound_s > price->bound_step_time_s)
        price->bound_step_time_s = bound_s;
}

/* Adam reads gradient, master and moments and writes master, moments and the compute
 * copy: a stream through HBM. */
static ridge_op_cost optimizer_cost(const train_case *tc, const train_terms *x,
                                    const ridge_layout *l, const train_stage *stage)
{
    train_params p = train_stage_params(tc, x->load, stage, l);
    train_ways w = train_layout_ways(l);
    const ridge_policy *policy = tc->policy;
    double bytes_per_param = policy->gradient_bytes + policy->weight_bytes +
                             2 * (policy->master_bytes + policy->moment_bytes);
    double narrow = ridge_dtype_bytes(policy->compute);
    if (narrow < 2) /* the narrow copy and its transpose, kept by all microbatches */
        bytes_per_param += policy->weight_bytes + 2 * narrow;
    double params = p.dense / (double)w.shards + p.expert / (double)w.expert_shards;
    return ridge_stream_cost(tc->chip, 0, params * bytes_per_param);
}

static void add_optimizer(const train_case *tc, const train_terms *x,
                          const ridge_layout *l, const train_stage *stage,
                          ridge_train_price *price)
{
    ridge_op_cost c = optimizer_cost(tc, x, l, stage);
    price->parts.optimizer_s = c.expected_s;
    price->bound_step_time_s += c.bound_s;
}

ridge_stage_work train_stage_work(const train_case *tc, const train_terms *x,
                                  const ridge_layout *l, const train_stage *stage)
{
    ridge_stage_work work = {.has_head = false};
    (void)time_stage(tc, x, l, stage, &work);
    return work;
}

ridge_step_end train_step_end(const train_case *tc, const train_terms *x,
                              const ridge_layout *l, int stage)
{
    const train_stage *s = &x->stages->stages[stage];
    const stage_time t = time_stage(tc, x, l, s, NULL);
    ridge_step_end end = end_sync(tc, x, &x->syncs[stage], &t);
    end.optimizer_s = optimizer_cost(tc, x, l, s).expected_s;
    return end;
}

static void scale_parts(ridge_step_parts *parts, double by)
{
#define SCALE_PART(name, text, what) parts->name##_s *= by;
    RIDGE_STEP_LIST(SCALE_PART)
#undef SCALE_PART
}

static double stage_bound_s(const stage_time *s)
{
    double network_s = fmax(fmax(s->bound_tp_s, s->bound_cp_s),
                            fmax(s->bound_shards_s, s->bound_ep_s));
    return fmax(s->bound_compute_s, network_s);
}

void train_price_time(const train_case *tc, const train_terms *x, const ridge_layout *l,
                      ridge_train_price *price)
{
    if (!ridge_chip_is_overlapped(tc->chip)) {
        step_program_price(tc, x, l, price);
        return;
    }
    const train_stages *stages = x->stages;
    int slowest = 0;
    stage_time worst = {0};
    double sum_s = 0;
    double bound_sum_s = 0;
    double bound_most_s = 0;
    for (int i = 0; i < stages->n; i++) {
        stage_time s = time_stage(tc, x, l, &stages->stages[i], NULL);
        double bound_s = stage_bound_s(&s);
        sum_s += stages->stages[i].count * stage_total_s(&s);
        bound_sum_s += stages->stages[i].count * bound_s;
        bound_most_s = fmax(bound_most_s, bound_s);
        if (i == 0 || stage_total_s(&s) > stage_total_s(&worst)) {
            worst = s;
            slowest = i;
        }
    }
    double m = (double)price->microbatches;
    double v = (double)l->vpp;
    price->parts = worst.parts;
    scale_parts(&price->parts, m);
    price->parts.bubble_s = (sum_s - stage_total_s(&worst)) / v;
    price->hidden_communication_s = m * worst.hidden_s;
    price->bound_step_time_s = m * bound_most_s + (bound_sum_s - bound_most_s) / v;
    add_step_sync(tc, x, &x->syncs[slowest], &worst, price);
    add_optimizer(tc, x, l, &stages->stages[slowest], price);
    price->step_time_s = ridge_step_total_s(&price->parts);
}

ridge_memory_parts train_peak_memory(const train_case *tc, const train_terms *x,
                                     const ridge_layout *l, int64_t microbatches,
                                     int *fullest)
{
    ridge_memory_parts most = {0};
    double most_bytes = -1;
    for (int i = 0; i < x->stages->n; i++) {
        const train_stage *stage = &x->stages->stages[i];
        ridge_memory_parts m = train_stage_memory(tc, x->load, stage, l, microbatches);
        double bytes = ridge_memory_total_bytes(&m);
        if (bytes > most_bytes) {
            most_bytes = bytes;
            most = m;
            *fullest = stage->first;
        }
    }
    return most;
}
