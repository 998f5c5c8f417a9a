#include "network_time.h"
#include "expert_dispatch.h"

#include <math.h>

bool train_groups_share(const ridge_group *a, const ridge_group *b)
{
    for (int i = 0; i < a->n_spans; i++) {
        for (int j = 0; j < b->n_spans; j++) {
            if (a->spans[i].axis == b->spans[j].axis)
                return true;
        }
    }
    return false;
}

static ridge_time add(ridge_time a, ridge_time b)
{
    return (ridge_time){a.bound_s + b.bound_s, a.expected_s + b.expected_s};
}

static ridge_time none(void)
{
    return (ridge_time){0, 0};
}

static ridge_time collective(const train_case *tc, ridge_collective kind, double bytes,
                             const ridge_group *group)
{
    if (group->ranks <= 1 || bytes <= 0)
        return none();
    return ridge_collective_time(tc->slice, kind, bytes, group);
}

/* Between buffers that a framework gathers and scatters and the tensors in them. */
static double copies_s(const train_case *tc, const train_params *params)
{
    if (tc->stack == NULL || tc->stack->shard_copy_bytes <= 0)
        return 0;
    const double bytes = tc->stack->shard_copy_bytes * (params->dense + params->expert);
    return ridge_stream_cost(tc->chip, 0, bytes).expected_s;
}

shard_time train_shard_time(const train_case *tc, const train_groups *g,
                            const train_params *params)
{
    const ridge_policy *p = tc->policy;
    ridge_collective ag = RIDGE_COLLECTIVE_ALL_GATHER;
    ridge_collective rs = RIDGE_COLLECTIVE_REDUCE_SCATTER;
    shard_time t = {
        collective(tc, ag, params->dense * p->weight_bytes, &g->shards),
        collective(tc, rs, params->dense * p->reduce_bytes, &g->shards),
        copies_s(tc, params),
    };
    if (params->expert > 0) {
        double gathered = params->expert * p->weight_bytes;
        double scattered = params->expert * p->reduce_bytes;
        t.gather = add(t.gather, collective(tc, ag, gathered, &g->expert_shards));
        t.scatter = add(t.scatter, collective(tc, rs, scattered, &g->expert_shards));
    }
    return t;
}

/* Experts: each all-to-all of the forward pass has one that takes gradients back; what
 * the program exchanges beyond that (kept rows, gradients not yet added up) is left
 * out. */
void train_layer_exchange_of(const train_case *tc, const train_groups *g,
                             const layer_time *t, exchange_class part,
                             layer_exchange *out)
{
    const ridge_group *groups[EXCHANGE_CLASSES] = {
        [EXCHANGE_TP] = &g->tp, [EXCHANGE_CP] = &g->cp, [EXCHANGE_EP] = &g->ep};
    out->fwd[part] = out->bwd[part] = out->beside[part] = none();
    for (int i = 0; i < t->n_exchanges; i++) {
        const layer_exchange_item *x = &t->exchanges[i];
        if (x->part != part || (part == EXCHANGE_EP && x->is_backward))
            continue;
        ridge_time *sum = !x->is_backward ? &out->fwd[part]
                          : x->is_beside  ? &out->beside[part]
                                          : &out->bwd[part];
        ridge_time one = part == EXCHANGE_EP && x->bytes > 0
                             ? train_dispatch_time(tc, g, x->kind, x->bytes)
                             : collective(tc, x->kind, x->bytes, groups[part]);
        sum->bound_s += x->count * one.bound_s;
        sum->expected_s += x->count * one.expected_s;
    }
    if (part == EXCHANGE_EP)
        out->bwd[part] = out->fwd[part];
}

layer_exchange train_layer_exchange(const train_case *tc, const train_groups *g,
                                    const layer_time *t)
{
    layer_exchange e;
    for (int part = 0; part < EXCHANGE_CLASSES; part++)
        train_layer_exchange_of(tc, g, t, (exchange_class)part, &e);
    return e;
}

static bool splits_sends(const train_case *tc, const ridge_layout *l)
{
    return !l->has_sp && tc->stack != NULL && tc->stack->splits_sends;
}

/* With SP each chip of tp sends its part of the microbatch; without it each has all. */
double train_send_bytes(const train_case *tc, const ridge_layout *l)
{
    double tokens = (double)l->microbatch_seqs * tc->seq_tokens / (double)l->cp;
    double element_bytes = tc->policy->weight_bytes > 2 ? 4 : 2;
    double bytes = tokens * (double)tc->model->d_model * element_bytes;
    return bytes / (l->has_sp || splits_sends(tc, l) ? (double)l->tp : 1);
}

/* @source narayanan2021, section 4.1 */
ridge_time train_send_time(const train_case *tc, const train_groups *g,
                           const ridge_layout *l)
{
    const double bytes = train_send_bytes(tc, l);
    const ridge_time send = collective(tc, RIDGE_COLLECTIVE_SEND_RECV, bytes, &g->pp);
    if (!splits_sends(tc, l))
        return send;
    return add(send, collective(tc, RIDGE_COLLECTIVE_ALL_GATHER, (double)l->tp * bytes,
                                &g->tp));
}

/* One broadcast after the other, of what each rank updated. @source internevo-2023 */
static ridge_time broadcast_shards(const train_case *tc, const ridge_group *group,
                                   double bytes)
{
    const double ranks = (double)group->ranks;
    ridge_time one = collective(tc, RIDGE_COLLECTIVE_BROADCAST, bytes / ranks, group);
    return (ridge_time){ranks * one.bound_s, ranks * one.expected_s};
}

/* A rank's share of what its pool has reduced goes on to its peers in other pools. */
static ridge_time reduce_between(const train_case *tc, const ridge_group *replicas,
                                 double bytes)
{
    const ridge_slice *between = tc->request->between;
    const double ranks = replicas->ranks > 1 ? (double)replicas->ranks : 1;
    if (between == NULL || bytes <= 0)
        return none();
    const int64_t pools = between->axes[0].size;
    const ridge_group group = {.n_spans = 1,
                               .spans = {{.axis = 0, .size = pools, .stride = 1}},
                               .ranks = pools};
    return ridge_collective_time(between, RIDGE_COLLECTIVE_ALL_REDUCE, bytes / ranks,
                                 &group);
}

step_sync train_step_sync(const train_case *tc, const train_groups *g,
                          const ridge_layout *layout, double dense_params,
                          double expert_params)
{
    train_ways w = train_layout_ways(layout);
    const ridge_policy *p = tc->policy;
    ridge_collective ar = RIDGE_COLLECTIVE_ALL_REDUCE;
    double dense = dense_params * p->reduce_bytes / (double)w.shards;
    double expert = expert_params * p->reduce_bytes / (double)w.expert_shards;
    step_sync sync = {
        add(collective(tc, ar, dense, &g->replicas),
            collective(tc, ar, expert, &g->expert_replicas)),
        none(),
        false,
    };
    sync.reduce =
        add(sync.reduce, add(reduce_between(tc, &g->replicas, dense),
                             reduce_between(tc, &g->expert_replicas, expert)));
    if (layout->zero_stage != 1 && layout->zero_stage != 2)
        return sync;
    train_params all = {dense_params, expert_params};
    shard_time shards = train_shard_time(tc, g, &all);
    sync.gather = shards.gather;
    if (tc->stack != NULL && tc->stack->broadcasts_updates) {
        sync.is_gather_waited = true;
        sync.gather = add(
            broadcast_shards(tc, &g->shards, dense_params * p->weight_bytes),
            broadcast_shards(tc, &g->expert_shards, expert_params * p->weight_bytes));
    }
    if (layout->zero_stage == 1) /* ZeRO-2 scatters after each microbatch instead */
        sync.reduce = add(sync.reduce, shards.scatter);
    return sync;
}
