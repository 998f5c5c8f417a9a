/*
 * The time of one microbatch on one stage. Gathers of sharded weights hide behind the
 * compute of one layer, and TP collectives are exposed unless they run as collective
 * matmuls (wang2023), where all but the first of tp chunks can hide. What moves between
 * chip and host goes on behind the compute of its layer.
 */
#include "host_time.h"
#include "larger.h"
#include "paced_step.h"
#include "train_price.h"

#include "ridge/cost_program.h"

#include <math.h>

/* Half of a backward product's FLOPs are the weight's gradient, and with it waits as
 * much of what the backward pass exposes beside its products; frozen ones have none. */
static double weight_share(const train_case *tc)
{
    return tc->policy->is_frozen ? 0 : 0.5;
}

/* Dispatch and combine move the same bytes. */
static const double DISPATCH_SHARE = 0.5;

static bool has_tp_overlap(const ridge_layout *l)
{
    return l->has_tp_overlap && l->tp > 1;
}

/* Layers of a kind, or the head, as a stage of a layout runs them. */
typedef struct layer_run {
    const train_case *tc;
    const train_terms *terms;
    const ridge_layout *layout;
    int kind;  /* n_kinds: the head */
    double n;  /* layers */
    int remat; /* as train_remat_index; the head is never computed again */
} layer_run;

static const layer_time *times_of(const layer_run *run)
{
    return &run->terms->layers[run->kind];
}

static const layer_exchange *exchanges_of(const layer_run *run)
{
    return &run->terms->exchanges[run->kind];
}

/* Passes of a policy's forward pass that are done again whole. */
static double repeated_passes(const layer_run *run)
{
    return run->remat == RIDGE_REMAT_FULL ? 1 : 0;
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
 * runs behind compute. */
typedef struct exposed {
    double tp_fwd_s, tp_bwd_s, cp_fwd_s, cp_bwd_s, ep_fwd_s, ep_bwd_s;
    double hidden_tp_fwd_s, hidden_tp_bwd_s, hidden_cp_fwd_s, hidden_cp_bwd_s;
    double hidden_ep_fwd_s, hidden_ep_bwd_s;
    double tp_late_s, hidden_tp_late_s, ep_late_s; /* of bwd: for weights' gradients */
    double counted_s; /* of the dispatch: the host waits to be told of its rows */
} exposed;

/* Full remat repeats the exchanges of the forward pass. What is gathered again for
 * weights' gradients runs beside the products that hide no other exchange. */
static void add_tp(const layer_run *run, exposed *e, stage_time *s)
{
    const ridge_layout *l = run->layout;
    const layer_time *t = times_of(run);
    const layer_exchange *x = exchanges_of(run);
    const double redo = repeated_passes(run);
    const ridge_time *fwd = &x->fwd[EXCHANGE_TP];
    const ridge_time *bwd = &x->bwd[EXCHANGE_TP];
    const ridge_time *beside = &x->beside[EXCHANGE_TP];
    double fwd_s = fwd->expected_s;
    double bwd_s = bwd->expected_s + redo * fwd->expected_s;
    double ahead_s = tp_exposed_s(l, bwd_s, t->matmul_bwd_s);
    double room_s = t->matmul_bwd_s - (bwd_s - ahead_s);
    e->tp_fwd_s = tp_exposed_s(l, fwd_s, t->matmul_fwd_s);
    double beside_s = positive(beside->expected_s - room_s);
    e->tp_bwd_s = ahead_s + beside_s;
    e->tp_late_s = beside_s + (has_tp_overlap(l) ? weight_share(run->tc) * ahead_s : 0);
    e->hidden_tp_late_s = beside->expected_s - beside_s;
    s->bound_tp_s += fwd->bound_s * (1 + redo) + bwd->bound_s + beside->bound_s;
    e->hidden_tp_fwd_s = positive(fwd_s - e->tp_fwd_s);
    e->hidden_tp_bwd_s = positive(bwd_s + beside->expected_s - e->tp_bwd_s);
    s->hidden_s += e->hidden_tp_fwd_s + e->hidden_tp_bwd_s;
}

/* Behind attention a ring passes keys and values on while the scores of the last chunk
 * run; in the backward pass they go round again, and their gradients with them. What is
 * gathered, or exchanged for heads, is waited for. */
static void add_cp(const layer_run *run, exposed *e, stage_time *s)
{
    const layer_time *t = times_of(run);
    const layer_exchange *x = exchanges_of(run);
    const ridge_time *fwd = &x->fwd[EXCHANGE_CP];
    const ridge_time *bwd = &x->bwd[EXCHANGE_CP];
    const ridge_time *beside = &x->beside[EXCHANGE_CP];
    bool is_ring = run->layout->cp_exchange == RIDGE_CP_RING;
    double bwd_s = bwd->expected_s + beside->expected_s;
    e->cp_fwd_s = positive(fwd->expected_s - (is_ring ? t->attention_fwd_s : 0));
    e->cp_bwd_s = positive(bwd_s - (is_ring ? t->attention_bwd_s : 0));
    s->bound_cp_s += fwd->bound_s + bwd->bound_s + beside->bound_s;
    e->hidden_cp_fwd_s = positive(fwd->expected_s - e->cp_fwd_s);
    e->hidden_cp_bwd_s = positive(bwd_s - e->cp_bwd_s);
    s->hidden_s += e->hidden_cp_fwd_s + e->hidden_cp_bwd_s;
}

/* Whether a policy repeats the products of experts. */
static double repeated_experts(const layer_time *t, int remat)
{
    if (remat >= RIDGE_REMAT_COUNT && t->named != NULL)
        return t->named[remat - RIDGE_REMAT_COUNT].experts_share;
    return remat == RIDGE_REMAT_FULL || remat == RIDGE_REMAT_FFN ? 1 : 0;
}

/* Of the forward exchanges of experts what a policy repeats: dispatch and combine, or
 * the dispatch alone. */
static double repeated_ep(int remat)
{
    return remat == RIDGE_REMAT_FULL  ? 1
           : remat == RIDGE_REMAT_FFN ? DISPATCH_SHARE
                                      : 0;
}

/* Dispatch and combine, forward and backward; with overlap behind the compute of
 * another microbatch, where nothing else goes on behind it. */
static void add_ep(const layer_run *run, exposed *e, stage_time *s)
{
    const ridge_layout *l = run->layout;
    const layer_time *t = times_of(run);
    const layer_exchange *x = exchanges_of(run);
    const double redo = repeated_ep(run->remat);
    const ridge_time *fwd = &x->fwd[EXCHANGE_EP];
    const ridge_time *bwd = &x->bwd[EXCHANGE_EP];
    double bwd_s = bwd->expected_s + redo * fwd->expected_s;
    bool is_hidden = l->has_ep_overlap || l->schedule == RIDGE_SCHEDULE_DUALPIPE;
    const double fwd_room_s =
        layer_time_fwd_s(t) - e->hidden_tp_fwd_s - e->hidden_cp_fwd_s;
    const double bwd_room_s =
        layer_time_bwd_s(t) - e->hidden_tp_bwd_s - e->hidden_cp_bwd_s;
    e->ep_fwd_s = positive(fwd->expected_s - (is_hidden ? positive(fwd_room_s) : 0));
    e->ep_bwd_s = positive(bwd_s - (is_hidden ? positive(bwd_room_s) : 0));
    e->hidden_ep_fwd_s = positive(fwd->expected_s - e->ep_fwd_s);
    e->hidden_ep_bwd_s = positive(bwd_s - e->ep_bwd_s);
    e->counted_s = is_hidden ? 0 : DISPATCH_SHARE * e->ep_fwd_s;
    e->ep_late_s = is_hidden ? weight_share(run->tc) * e->ep_bwd_s : 0;
    s->hidden_s += e->hidden_ep_fwd_s + e->hidden_ep_bwd_s;
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

/* What the busiest rank of experts adds to a layer, backward with what is done again.
 */
typedef struct waiting {
    double fwd_s, bwd_s;
} waiting;

/* The rank whose experts got the most rows is waited for: its products take longer. So
 * is the replica with the longest documents, at each layer that is gathered and at each
 * message between stages, else at the end of the step; and of the ranks of cp, at each
 * layer, the one whose chunks have the most scores. */
static waiting wait_for_others(const layer_run *run)
{
    const train_case *tc = run->tc;
    const ridge_layout *l = run->layout;
    const layer_time *t = times_of(run);
    const double redo = repeated_experts(t, run->remat);
    const double over = run->terms->imbalance - 1;
    const double replicas = (double)(l->dp * l->fsdp);
    const bool is_each = l->zero_stage == 3 || l->pp > 1;
    const bool is_cut = l->cp_exchange != RIDGE_CP_ALL_TO_ALL;
    const double late_rank =
        ridge_documents_cp_wait(&tc->request->documents, is_cut ? (double)l->cp : 1,
                                (double)l->microbatch_seqs);
    const double late_replica = ridge_documents_wait(
        &tc->request->documents, replicas,
        is_each ? (double)l->microbatch_seqs : (double)tc->batch_seqs / replicas);
    const double late = (1 + late_rank) * (1 + late_replica) - 1;
    return (waiting){over * t->experts_fwd_s + late * t->attention_fwd_s,
                     over * (t->experts_bwd_s + redo * t->experts_fwd_s) +
                         late * t->attention_bwd_s};
}

/* Of a product's backward pass half is for the weights; what is computed again, scores
 * and vectors come before the gradient of the input. */
static void work_layers(const layer_run *run, const exposed *e, const waiting *wait,
                        ridge_stage_work *w)
{
    const train_case *tc = run->tc;
    const layer_time *t = times_of(run);
    const double n = run->n;
    const double again_s = layer_time_recompute_s(t, run->remat);
    ridge_pass_work *f = &w->forward;
    ridge_pass_work *i = &w->backward_input;
    ridge_pass_work *g = &w->backward_weight;
    const double weight_s = weight_share(run->tc) * t->matmul_bwd_s;
    f->compute_s += n * (layer_time_fwd_s(t) + wait->fwd_s);
    i->compute_s += n * (layer_time_bwd_s(t) + again_s - weight_s + wait->bwd_s);
    g->compute_s += n * weight_s;
    work_exchange(tc, f, RIDGE_TRAFFIC_TP, n * e->tp_fwd_s, n * e->hidden_tp_fwd_s);
    work_exchange(tc, f, RIDGE_TRAFFIC_CP, n * e->cp_fwd_s, n * e->hidden_cp_fwd_s);
    work_exchange(tc, f, RIDGE_TRAFFIC_EP, n * e->ep_fwd_s, n * e->hidden_ep_fwd_s);
    work_exchange(tc, i, RIDGE_TRAFFIC_TP, n * (e->tp_bwd_s - e->tp_late_s),
                  n * (e->hidden_tp_bwd_s - e->hidden_tp_late_s));
    work_exchange(tc, g, RIDGE_TRAFFIC_TP, n * e->tp_late_s, n * e->hidden_tp_late_s);
    work_exchange(tc, i, RIDGE_TRAFFIC_CP, n * e->cp_bwd_s, n * e->hidden_cp_bwd_s);
    work_exchange(tc, i, RIDGE_TRAFFIC_EP, n * (e->ep_bwd_s - e->ep_late_s),
                  n * e->hidden_ep_bwd_s);
    work_exchange(tc, g, RIDGE_TRAFFIC_EP, n * e->ep_late_s, 0);
}

/* ---- shards and host ------------------------------------------------------------- */

/* Copies are kernels of the backward pass like any other; those of weights, of the
 * forward pass, are counted with them. */
static void add_copies(const layer_run *run, double copies_s, stage_time *s)
{
    s->parts.vector_s += run->n * copies_s;
    s->bwd_s += run->n * copies_s;
    if (s->work != NULL)
        s->work->backward_input.compute_s += run->n * copies_s;
}

/* What a pass over a layer waits for beside its compute and its exchanges. */
typedef struct layer_idle {
    double fwd_s, bwd_s;
} layer_idle;

/* Gathers and scatters of a layer's shards beside its compute. Time in which TP is
 * exposed is time in which other links can work; on the same links, what TP and CP move
 * behind compute leaves less room. CP is always on the links of the shards.
 * @return what is waited for them */
static layer_idle add_shards(const layer_run *run, double fwd_s, double bwd_s,
                             const exposed *e, stage_time *s)
{
    const train_case *tc = run->tc;
    const train_terms *x = run->terms;
    const ridge_layout *l = run->layout;
    if (l->zero_stage < 2)
        return (layer_idle){0, 0};
    const shard_time *t = &x->shards[run->kind];
    bool is_gathered = l->zero_stage == 3;
    double fwd_room_s = fwd_s - e->hidden_cp_fwd_s +
                        (x->is_tp_apart ? e->tp_fwd_s : -e->hidden_tp_fwd_s);
    double bwd_room_s = bwd_s - e->hidden_cp_bwd_s +
                        (x->is_tp_apart ? e->tp_bwd_s : -e->hidden_tp_bwd_s);
    if (l->is_fsdp_exposed)
        fwd_room_s = bwd_room_s = 0;
    double gather_s = is_gathered ? t->gather.expected_s : 0;
    double bwd_comm_s = gather_s + t->scatter.expected_s;
    double fwd_exposed_s = positive(gather_s - positive(fwd_room_s));
    double bwd_exposed_s = positive(bwd_comm_s - positive(bwd_room_s));
    const layer_idle idle = {fwd_exposed_s, bwd_exposed_s};
    double exposed_s = fwd_exposed_s + bwd_exposed_s;
    double hidden_s = positive(gather_s + bwd_comm_s - exposed_s);
    double late = bwd_comm_s > 0 ? t->scatter.expected_s / bwd_comm_s : 0;
    s->fwd_s += run->n * fwd_exposed_s;
    s->bwd_s += run->n * bwd_exposed_s;
    s->weight_s += run->n * late * bwd_exposed_s;
    s->bound_shards_s +=
        run->n * ((is_gathered ? 2 * t->gather.bound_s : 0) + t->scatter.bound_s);
    s->hidden_s += run->n * hidden_s;
    s->parts.slowdown_s += run->n * hidden_s * ridge_collective_sm_share(tc->chip);
    s->parts.fsdp_s += run->n * exposed_s;
    if (is_gathered)
        add_copies(run, t->copies_s, s);
    if (s->work == NULL)
        return idle;
    double fwd_hidden_s = positive(gather_s - fwd_exposed_s);
    double bwd_hidden_s = positive(bwd_comm_s - bwd_exposed_s);
    work_exchange(tc, &s->work->forward, RIDGE_TRAFFIC_FSDP, run->n * fwd_exposed_s,
                  run->n * fwd_hidden_s);
    work_exchange(tc, &s->work->backward_input, RIDGE_TRAFFIC_FSDP,
                  run->n * (1 - late) * bwd_exposed_s,
                  run->n * (1 - late) * bwd_hidden_s);
    work_exchange(tc, &s->work->backward_weight, RIDGE_TRAFFIC_FSDP,
                  run->n * late * bwd_exposed_s, run->n * late * bwd_hidden_s);
    return idle;
}

/* What a layer moves between chip and host, a pass, each direction by itself: kept
 * activations out and back, weights in. It goes on behind the layer's compute and
 * whatever else is waited for.
 * @param idle  in, out: what is waited for */
static void add_offload(const layer_run *run, double fwd_s, double bwd_s,
                        layer_idle *idle, stage_time *s)
{
    const train_case *tc = run->tc;
    const ridge_layout *l = run->layout;
    const train_load *load = run->terms->load;
    double rate = train_host_bytes_per_s(tc->chip);
    if (l->offload == RIDGE_OFFLOAD_NONE || rate <= 0)
        return;
    double kept = 0;
    double weights = 0;
    if (l->offload & RIDGE_OFFLOAD_ACTIVATIONS)
        kept = train_tokens(tc, l) * load->activation_bytes[run->kind][run->remat];
    if (l->offload & RIDGE_OFFLOAD_WEIGHTS)
        weights = train_held_weight_bytes(tc, load, l, run->kind);
    double out_fwd_s = larger(kept, weights) / rate;
    double in_bwd_s = (kept + weights) / rate;
    const double exposed_fwd_s = positive(out_fwd_s - fwd_s - idle->fwd_s);
    const double exposed_bwd_s = positive(in_bwd_s - bwd_s - idle->bwd_s);
    idle->fwd_s += exposed_fwd_s;
    idle->bwd_s += exposed_bwd_s;
    s->bound_host_s += run->n * (out_fwd_s + in_bwd_s);
    s->parts.offload_s += run->n * (exposed_fwd_s + exposed_bwd_s);
    s->fwd_s += run->n * exposed_fwd_s;
    s->bwd_s += run->n * exposed_bwd_s;
    s->weight_s += run->n * weight_share(run->tc) * exposed_bwd_s;
    if (s->work == NULL)
        return;
    s->work->forward.compute_s += run->n * exposed_fwd_s;
    s->work->backward_input.compute_s +=
        run->n * (1 - weight_share(run->tc)) * exposed_bwd_s;
    s->work->backward_weight.compute_s +=
        run->n * weight_share(run->tc) * exposed_bwd_s;
}

/* Layers of one kind, or the head. */
static void add_compute(const layer_run *run, const waiting *wait, stage_time *s)
{
    const layer_time *t = times_of(run);
    double n = run->n;
    s->bound_compute_s +=
        n * (t->bound_fwd_s * (1 + repeated_passes(run)) + t->bound_bwd_s);
    s->parts.matmul_s += n * (t->matmul_fwd_s + t->matmul_bwd_s);
    s->parts.attention_s += n * (t->attention_fwd_s + t->attention_bwd_s);
    s->parts.vector_s += n * (t->vector_fwd_s + t->vector_bwd_s);
    s->parts.recompute_s += n * layer_time_recompute_s(t, run->remat);
    s->parts.imbalance_s += n * (wait->fwd_s + wait->bwd_s);
    s->weight_s += n * weight_share(run->tc) * t->matmul_bwd_s;
}

/* Where a layer's kernels are done before the host has launched those of the next one.
 * Beside the dispatch of the forward pass the host launches nothing: it waits to be
 * told how many rows each expert got; unless that goes on behind another microbatch.
 * @source te-2053
 * @param beside  of either pass, in which the host launches */
static void add_host(const layer_run *run, const layer_idle *beside, stage_time *s)
{
    const host_time host = host_layer_time(run->tc, run->kind, repeated_passes(run));
    const double host_s = host.fwd_s + host.bwd_s;
    if (host_s <= 0)
        return;
    const double fwd_short_s = positive(host.fwd_s - beside->fwd_s);
    const double bwd_short_s = positive(host.bwd_s - beside->bwd_s);
    const double short_s = fwd_short_s + bwd_short_s;
    const double forward =
        (short_s > 0 ? fwd_short_s : host.fwd_s) / (short_s > 0 ? short_s : host_s);
    const double waits_s = run->n * positive(host_s - beside->fwd_s - beside->bwd_s);
    s->parts.host_s += waits_s;
    s->fwd_s += forward * waits_s;
    s->bwd_s += (1 - forward) * waits_s;
    if (s->work == NULL)
        return;
    s->work->forward.compute_s += forward * waits_s;
    s->work->backward_input.compute_s += (1 - forward) * waits_s;
}

/* A host that waits for each kernel is never ahead: every pass of a layer lasts longer
 * by its launches, whatever the kernels take. */
static void add_launches(const layer_run *run, stage_time *s)
{
    const train_case *tc = run->tc;
    const double redo = repeated_passes(run);
    if (tc->stack == NULL || run->kind == tc->n_kinds)
        return;
    const double pass_s = run->n * tc->stack->launches_s;
    s->parts.host_s += (3 + redo) * pass_s;
    s->fwd_s += pass_s;
    s->bwd_s += (2 + redo) * pass_s;
    if (s->work == NULL)
        return;
    s->work->forward.compute_s += pass_s;
    s->work->backward_input.compute_s += (2 + redo) * pass_s;
}

static void add_layers(const layer_run *run, stage_time *s)
{
    const layer_time *t = times_of(run);
    double n = run->n;
    exposed e = {0};
    stage_time one = {0};
    add_tp(run, &e, &one);
    add_cp(run, &e, &one);
    add_ep(run, &e, &one);
    const waiting wait = wait_for_others(run);
    add_compute(run, &wait, s);
    s->hidden_s += n * one.hidden_s;
    s->bound_tp_s += n * one.bound_tp_s;
    s->bound_cp_s += n * one.bound_cp_s;
    s->bound_ep_s += n * one.bound_ep_s;
    s->parts.slowdown_s += n * one.hidden_s * ridge_collective_sm_share(run->tc->chip);
    s->weight_s += n * (e.tp_late_s + e.ep_late_s);
    s->parts.tp_s += n * (e.tp_fwd_s + e.tp_bwd_s);
    s->parts.cp_s += n * (e.cp_fwd_s + e.cp_bwd_s);
    s->parts.ep_s += n * (e.ep_fwd_s + e.ep_bwd_s);
    double fwd_s = layer_time_fwd_s(t);
    double bwd_s = layer_time_bwd_s(t) + layer_time_recompute_s(t, run->remat);
    const double fwd_all_s = fwd_s + e.tp_fwd_s + e.cp_fwd_s + e.ep_fwd_s;
    const double bwd_all_s = bwd_s + e.tp_bwd_s + e.cp_bwd_s + e.ep_bwd_s;
    s->fwd_s += n * fwd_all_s;
    s->bwd_s += n * bwd_all_s;
    add_launches(run, s);
    if (s->work != NULL)
        work_layers(run, &e, &wait, s->work);
    if (run->kind == run->tc->n_kinds)
        return;
    /* Shards, the link to the host and the host itself are waited for at once. */
    layer_idle idle = add_shards(run, fwd_s, bwd_s, &e, s);
    add_offload(run, fwd_all_s, bwd_all_s, &idle, s);
    const layer_idle beside = {fwd_all_s - e.counted_s + idle.fwd_s,
                               bwd_all_s + idle.bwd_s};
    add_host(run, &beside, s);
}

/* Once a microbatch; with overlap behind the compute of another one. */
static void add_sends(const train_terms *x, const ridge_layout *l,
                      const train_stage *stage, stage_time *s)
{
    double sends =
        train_stage_sends(l, stage, false) + train_stage_sends(l, stage, true);
    double send_s = sends * x->send.expected_s;
    double room_s = l->has_pp_overlap ? s->fwd_s + s->bwd_s : 0;
    s->parts.pp_s = positive(send_s - room_s);
    s->hidden_s += positive(send_s - s->parts.pp_s);
}

double stage_time_total_s(const stage_time *s)
{
    return ridge_step_total_s(&s->parts);
}

double train_layer_least_s(const train_case *tc, const train_terms *x,
                           const ridge_layout *l, int kind)
{
    ridge_layout bare = *l;
    stage_time s = {.fwd_s = 0};
    bare.offload = RIDGE_OFFLOAD_NONE;
    add_layers(&(layer_run){tc, x, &bare, kind, 1, RIDGE_REMAT_NONE}, &s);
    return stage_time_total_s(&s);
}

stage_time train_stage_time(const train_case *tc, const train_terms *x,
                            const ridge_layout *l, const train_stage *stage,
                            ridge_stage_work *work)
{
    stage_time s = {.work = work};
    const double share = train_remat_share(tc, l, stage);
    const int remat = train_remat_index(tc, l);
    for (int k = 0; k < tc->n_kinds; k++) {
        const double n = stage->layers[k];
        const layer_run again = {tc, x, l, k, n * share, remat};
        const layer_run whole = {tc, x, l, k, n * (1 - share), RIDGE_REMAT_NONE};
        if (again.n > 0)
            add_layers(&again, &s);
        if (whole.n > 0)
            add_layers(&whole, &s);
    }
    if (stage->has_head) {
        const double n = stage->head_passes;
        add_layers(&(layer_run){tc, x, l, tc->n_kinds, n, RIDGE_REMAT_NONE}, &s);
    }
    add_sends(x, l, stage, &s);
    return s;
}

double stage_time_bound_s(const stage_time *s)
{
    double network_s = larger(larger(s->bound_tp_s, s->bound_cp_s),
                              larger(s->bound_shards_s, s->bound_ep_s));
    return larger(larger(s->bound_compute_s, s->bound_host_s), network_s);
}
