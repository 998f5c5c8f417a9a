/* Derivations of the parts of a step that move data, and of memory. */
#include "expert_dispatch.h"
#include "explain_story.h"
#include "train_price.h"

#define SECONDS(x) ridge_format_seconds(x).s
#define BYTES(x)   ridge_format_bytes(x).s

static const char *group_text(story *s, const ridge_group *g)
{
    const char *text = ridge_group_text(s->cx, s->tc->slice, g);
    return text == NULL ? "?" : text;
}

/* One collective with its size, network and algorithm.
 * @param when  how often and in which pass of a layer; "" or ends in a space */
static void tell_collective_when(story *s, int depth, ridge_collective kind,
                                 double bytes, const ridge_group *group,
                                 const char *when)
{
    if (group->ranks <= 1 || bytes <= 0)
        return;
    ridge_collective_cost c = ridge_collective_price(s->tc->slice, kind, bytes, group);
    story_add(s, depth, ridge_collective_text(kind), ridge_algorithm_what(c.algorithm),
              SECONDS(c.expected_s), "%s%s over %s by %s; bound %s", when, BYTES(bytes),
              group_text(s, group), ridge_algorithm_text(c.algorithm),
              SECONDS(c.bound_s));
    if (c.slowest_axis >= 0) {
        const ridge_axis *a = &s->tc->slice->axes[c.slowest_axis];
        story_add(s, depth + 1, a->name, "bytes/s a chip and direction",
                  ridge_format_si(a->bytes_per_s, "B/s").s, "%s reached, %s a hop",
                  ridge_format_percent(a->efficiency).s, SECONDS(a->latency_s));
    }
}

static void tell_collective(story *s, int depth, ridge_collective kind, double bytes,
                            const ridge_group *group)
{
    tell_collective_when(s, depth, kind, bytes, group, "");
}

static const char *when_text(story *s, const layer_exchange_item *x)
{
    const char *pass = !x->is_backward ? "forward"
                       : x->is_beside  ? "backward, beside products"
                                       : "backward";
    const char *text =
        ridge_sprintf(ridge_ctx_arena(s->cx), "%d a layer, %s: ", x->count, pass);
    return text == NULL ? "" : text;
}

/* The exchanges of a class in each kind of layer, largest algorithms and networks
 * named. */
static void tell_exchanges(story *s, int depth, exchange_class part,
                           const ridge_group *group)
{
    for (int k = 0; k < s->tc->n_kinds && k < 4; k++) {
        const layer_time *t = &s->layers[k];
        for (int i = 0; i < t->n_exchanges; i++) {
            const layer_exchange_item *x = &t->exchanges[i];
            if (x->part == part && !(part == EXCHANGE_EP && x->is_backward))
                tell_collective_when(s, depth, x->kind, x->bytes, group,
                                     when_text(s, x));
        }
    }
}

void explain_tp(story *s, int depth)
{
    const ridge_layout *l = &s->price->layout;
    story_add(s, depth, "tp", "gathers and scatters of a layer, forward and backward",
              SECONDS(s->price->parts.tp_s), "tp %lld, %s", (long long)l->tp,
              l->has_tp_overlap
                  ? "as collective matmuls: all but the first chunk can hide"
                  : "exposed, but for what runs beside products of weights' gradients");
    tell_exchanges(s, depth + 1, EXCHANGE_TP, &s->groups.tp);
}

void explain_cp(story *s, int depth)
{
    const ridge_layout *l = &s->price->layout;
    bool is_ring = l->cp_exchange == RIDGE_CP_RING;
    story_add(s, depth, "cp",
              is_ring ? "keys and values around the ring, less attention time"
                      : "exchanged before and after the scores, waited for",
              SECONDS(s->price->parts.cp_s), "cp %lld by %s", (long long)l->cp,
              ridge_cp_text(l->cp_exchange));
    tell_exchanges(s, depth + 1, EXCHANGE_CP, &s->groups.cp);
}

/* Copies over each network, and the slower of the two. */
static void tell_dispatches(story *s, int depth)
{
    const dispatch_copies copies = train_dispatch_copies(s->tc, &s->groups);
    story_add(s, depth, "copies", "nodes and ranks with any of a token's experts", "",
              "%.2f between nodes, %.2f to ranks within them; %s", copies.nodes,
              copies.ranks, ridge_ep_dispatch_text(s->price->layout.ep_dispatch));
    for (int k = 0; k < s->tc->n_kinds && k < 4; k++) {
        const layer_time *t = &s->layers[k];
        for (int i = 0; i < t->n_exchanges; i++) {
            const layer_exchange_item *x = &t->exchanges[i];
            if (x->part != EXCHANGE_EP || x->is_backward)
                continue;
            const ridge_time one =
                train_dispatch_time(s->tc, &s->groups, x->kind, x->bytes);
            story_add(s, depth + 1, "exchange", "the slower of both networks",
                      SECONDS(one.expected_s),
                      "%d a layer and pass; %s of copies a rank if each were sent",
                      x->count,
                      ridge_format_bytes(x->bytes / (double)s->groups.ep.ranks).s);
        }
    }
}

void explain_ep(story *s, int depth)
{
    const ridge_layout *l = &s->price->layout;
    story_add(s, depth, "ep",
              l->has_ep_overlap ? "dispatch and combine both ways, less compute"
                                : "dispatch and combine, and the same way back",
              SECONDS(s->price->parts.ep_s), "ep %lld, balanced experts",
              (long long)l->ep);
    if (l->ep_dispatch == RIDGE_DISPATCH_COPIES) {
        tell_exchanges(s, depth + 1, EXCHANGE_EP, &s->groups.ep);
    } else {
        tell_dispatches(s, depth + 1);
    }
}

void explain_imbalance(story *s, int depth)
{
    const ridge_layout *l = &s->price->layout;
    story_add(s, depth, "imbalance", "(busiest rank / mean - 1) x products of experts",
              SECONDS(s->price->parts.imbalance_s), "load %.3f over ep %lld",
              train_expert_imbalance(s->tc, l), (long long)l->ep);
    story_add(s, depth + 1, "chance", "spread of a rank's rows x the largest of ep", "",
              "blom1958; %s",
              s->request->expert_imbalance > 1 ? "and what was given beyond it"
                                               : "tokens choose experts evenly");
    if (s->request->documents.spread > 0)
        story_add(s, depth + 1, "documents",
                  "spread / sqrt(n) x the largest of replicas", "",
                  "blom1958; scores of a sequence spread by %.3f over %lld replicas",
                  s->request->documents.spread, (long long)(l->dp * l->fsdp));
}

void explain_offload(story *s, int depth)
{
    const ridge_layout *l = &s->price->layout;
    double rate = train_host_bytes_per_s(s->tc->chip);
    bool is_link = s->tc->chip->host_link_bytes_per_s > 0;
    story_add(s, depth, "offload", "what the host's link takes longer than compute",
              SECONDS(s->price->parts.offload_s), "%s on the host",
              ridge_offload_text(l->offload));
    story_fact(s, depth + 1, is_link ? "host_link_bytes_per_s" : "pcie_bytes_per_s",
               ridge_format_si(rate, "B/s").s);
}

void explain_fsdp(story *s, int depth)
{
    const ridge_policy *p = s->tc->policy;
    const ridge_layout *l = &s->price->layout;
    story_add(s, depth, "fsdp", "what gathers and scatters exceed a layer's compute",
              SECONDS(s->price->parts.fsdp_s), "ZeRO-%d over %lld shards",
              l->zero_stage, (long long)s->groups.shards.ranks);
    for (int k = 0; k < s->tc->n_kinds && l->zero_stage >= 2 && k < 4; k++) {
        double params = s->load->layers[k].dense;
        story_add(
            s, depth + 1, "layer", "compute to hide behind, forward and backward",
            SECONDS(layer_time_fwd_s(&s->layers[k]) + layer_time_bwd_s(&s->layers[k])),
            "%s parameters a chip of tp, before sharding",
            ridge_format_count(params).s);
        if (l->zero_stage == 3) {
            tell_collective(s, depth + 2, RIDGE_COLLECTIVE_ALL_GATHER,
                            params * p->weight_bytes, &s->groups.shards);
        }
        tell_collective(s, depth + 2, RIDGE_COLLECTIVE_REDUCE_SCATTER,
                        params * p->reduce_bytes, &s->groups.shards);
    }
}

/* A chip's part of the gradients with its peers in other pools. */
static void tell_between(story *s, int depth, double bytes)
{
    const ridge_slice *between = s->request->between;
    const int64_t pools = between->axes[0].size;
    const ridge_group group = {.n_spans = 1,
                               .spans = {{.axis = 0, .size = pools, .stride = 1}},
                               .ranks = pools};
    const ridge_collective_cost c =
        ridge_collective_price(between, RIDGE_COLLECTIVE_ALL_REDUCE, bytes, &group);
    story_add(s, depth, "all-reduce between pools", ridge_algorithm_what(c.algorithm),
              SECONDS(c.expected_s), "%s over %lld pools by %s at %s; bound %s",
              BYTES(bytes), (long long)pools, ridge_algorithm_text(c.algorithm),
              ridge_format_si(between->axes[0].bytes_per_s, "B/s").s,
              SECONDS(c.bound_s));
}

void explain_dp(story *s, int depth)
{
    const ridge_policy *p = s->tc->policy;
    const ridge_layout *l = &s->price->layout;
    train_ways w = train_layout_ways(l);
    train_params stage = train_stage_params(s->tc, s->load, &s->stages->stages[0], l);
    story_add(s, depth, "dp", "gradient reduction, less the last backward pass",
              SECONDS(s->price->parts.dp_s), "%lld replicas of %lld shards",
              (long long)w.replicas, (long long)w.shards);
    if (l->zero_stage == 1) {
        tell_collective(s, depth + 1, RIDGE_COLLECTIVE_REDUCE_SCATTER,
                        stage.dense * p->reduce_bytes, &s->groups.shards);
    }
    tell_collective(s, depth + 1, RIDGE_COLLECTIVE_ALL_REDUCE,
                    stage.dense * p->reduce_bytes / (double)w.shards,
                    &s->groups.replicas);
    if (s->request->between != NULL)
        tell_between(s, depth + 1,
                     stage.dense * p->reduce_bytes /
                         (double)(w.shards * (w.replicas > 1 ? w.replicas : 1)));
    if (l->zero_stage == 1 || l->zero_stage == 2) {
        tell_collective(s, depth + 1, RIDGE_COLLECTIVE_ALL_GATHER,
                        stage.dense * p->weight_bytes, &s->groups.shards);
    }
}

void explain_pp(story *s, int depth)
{
    const ridge_layout *l = &s->price->layout;
    double tokens = (double)l->microbatch_seqs * s->tc->seq_tokens / (double)l->cp;
    double bytes = tokens * (double)s->tc->model->d_model * 2;
    story_add(s, depth, "pp",
              l->has_pp_overlap
                  ? "2 x vpp, one fewer at an end, x microbatches x send, less compute"
                  : "2 x vpp, one fewer at an end, x microbatches x send",
              SECONDS(s->price->parts.pp_s), "2 x %lld x %lld", (long long)l->vpp,
              (long long)s->price->microbatches);
    tell_collective(s, depth + 1, RIDGE_COLLECTIVE_SEND_RECV,
                    l->has_sp ? bytes / (double)l->tp : bytes, &s->groups.pp);
}

static void tell_policy(story *s, int depth)
{
    const ridge_policy *p = s->tc->policy;
    const ridge_layout *l = &s->price->layout;
    const ridge_policy *own = ridge_precision_policy(l->precision);
    if (!p->is_frozen) {
        story_add(s, depth, "precision", p->what, p->text,
                  "%g B weight, %g gradient, %g master, %g moments", p->weight_bytes,
                  p->gradient_bytes, p->master_bytes, p->moment_bytes);
        return;
    }
    story_add(s, depth, "precision", "frozen: no gradient, no master copy, no moments",
              p->text, "%g B weight", p->weight_bytes);
    story_add(s, depth, "adapters", "rank x (in + out) of each product, trained",
              own->text, "rank %lld beside %s; %g B weight, %g gradient, %g others",
              (long long)ridge_lora_rank(&l->lora),
              ridge_lora_text(s->cx, l->lora.targets), own->weight_bytes,
              own->gradient_bytes, own->master_bytes + own->moment_bytes);
}

static void tell_state(story *s, int depth)
{
    const ridge_layout *l = &s->price->layout;
    train_ways w = train_layout_ways(l);
    tell_policy(s, depth);
    for (int i = 0; i < s->stages->n; i++) {
        const train_stage *stage = &s->stages->stages[i];
        if (stage->first != s->price->fullest_stage)
            continue;
        train_params params = train_stage_params(s->tc, s->load, stage, l);
        story_add(s, depth, "parameters", "of the fullest stage on a chip, before ZeRO",
                  ridge_format_count(params.dense + params.expert).s,
                  "stage %d; ZeRO-%d over %lld shards", stage->first, l->zero_stage,
                  (long long)w.shards);
    }
    for (int k = 0; k < s->tc->n_kinds && k < 4; k++) {
        story_add(s, depth, "activations", "bytes a token and layer that remat keeps",
                  BYTES(s->load->activation_bytes[k][train_remat_index(s->tc, l)]),
                  "remat=%s", ridge_layout_remat_text(s->cx, l));
        if (l->remat_layers > 0)
            story_add(s, depth, "activations", "of layers that keep all",
                      BYTES(s->load->activation_bytes[k][RIDGE_REMAT_NONE]),
                      "remat on %lld layers of a stage", (long long)l->remat_layers);
    }
}

void explain_memory(story *s, int depth)
{
    const ridge_train_price *p = s->price;
    story_add(s, depth, "memory", "sum of its parts on the fullest stage",
              BYTES(p->peak_memory_bytes), "%s of HBM",
              ridge_format_percent(p->peak_memory_bytes /
                                   ridge_chip_memory_bytes(s->tc->chip))
                  .s);
    for (int i = 0; i < RIDGE_MEMORY_COUNT; i++) {
        double bytes = ridge_memory_part_get(&p->memory, i);
        if (bytes > 0) {
            story_add(s, depth + 1, ridge_memory_part_text(i),
                      ridge_memory_part_what(i), BYTES(bytes), "%s",
                      ridge_format_percent(bytes / p->peak_memory_bytes).s);
        }
    }
    tell_state(s, depth + 1);
    story_fact(s, depth + 1,
               s->tc->chip->visible_bytes > 0 ? "visible_bytes" : "hbm_bytes",
               BYTES(ridge_chip_memory_bytes(s->tc->chip)));
}
