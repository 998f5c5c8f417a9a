/*
 * What a stage holds at its fullest moment: state by ZeRO stage, activations of every
 * microbatch in flight (by schedule), one layer at work, logits,
 * gathered weights, and what the framework keeps for itself. Source: rajbhandari2020
 * (ZeRO), korthikanti2022 (activations), narayanan2021 (1F1B and interleaving).
 */
#include "train_memory.h"
#include "adapter.h"
#include "layer_program.h"
#include "stack_memory.h"

#include <math.h>

/* What a framework holds beside the tensors: a fixed part (driver context, collective
 * buffers) and a share of the rest (caching allocators leave gaps; a compiler that lays
 * memory out ahead of time leaves fewer).
 * @source pytorch-memory-2024 (GPU: context, NCCL, fragments); openxla-memory (TPU) */
typedef struct reserve {
    double fixed_bytes;
    double gap;
} reserve;

static const reserve reserves[] = {
    [RIDGE_CHIP_TPU] = {0.3e9, 0.02},
    [RIDGE_CHIP_GPU] = {2.0e9, 0.05},
    [RIDGE_CHIP_ACCELERATOR] = {1.0e9, 0.05},
    [RIDGE_CHIP_CPU] = {0.5e9, 0.05},
};

/* All but what naming operations frees, of which software that does not fuse keeps more
 * copies; never less than a layer's input. */
static bool add_named(train_case *tc, bool has_sp, train_load *load)
{
    const double passes = tc->stack == NULL ? 1 : tc->stack->kept_passes;
    double(*freed)[NAMED_MOST] =
        ridge_arena_new(ridge_ctx_arena(tc->cx), (size_t)tc->n_kinds, sizeof *freed);
    if (freed == NULL)
        return false;
    tc->status = train_program_freed(tc, load->tp, load->ep, has_sp, freed);
    for (int k = 0; tc->status == RIDGE_OK && k < tc->n_kinds; k++) {
        double *bytes = load->activation_bytes[k];
        for (int i = 0; i < tc->n_named; i++)
            bytes[RIDGE_REMAT_COUNT + i] =
                fmax(bytes[RIDGE_REMAT_FULL],
                     bytes[RIDGE_REMAT_NONE] - passes * freed[k][i]);
    }
    return tc->status != RIDGE_E_NOMEM;
}

bool train_load_build(train_case *tc, int64_t tp, int64_t ep, bool has_sp,
                      train_load *out)
{
    ridge_arena *arena = ridge_ctx_arena(tc->cx);
    size_t n = (size_t)tc->n_kinds;
    train_params *layers = ridge_new(arena, train_params, n);
    *out = (train_load){.tp = tp, .ep = ep, .layers = layers};
    out->activation_bytes = ridge_arena_new(arena, n, sizeof *out->activation_bytes);
    if (layers == NULL || out->activation_bytes == NULL)
        return false;
    for (int k = 0; k < tc->n_kinds; k++) {
        layers[k] = train_layer_params(tc, k, tp, ep);
        for (int r = 0; r < RIDGE_REMAT_COUNT; r++) {
            out->activation_bytes[k][r] =
                stack_kept_bytes(tc, k, (ridge_remat)r, tp, has_sp);
        }
    }
    return tc->n_named == 0 || add_named(tc, has_sp, out);
}

train_params train_stage_params(const train_case *tc, const train_load *load,
                                const train_stage *stage, const ridge_layout *layout)
{
    train_params p = {.dense =
                          train_embedding_params(tc, stage, layout->tp, layout->pp)};
    for (int k = 0; k < tc->n_kinds; k++) {
        p.dense += stage->copies * stage->layers[k] * load->layers[k].dense;
        p.expert += stage->copies * stage->layers[k] * load->layers[k].expert;
    }
    return p;
}

double train_tokens(const train_case *tc, const ridge_layout *l)
{
    return (double)l->microbatch_seqs * tc->seq_tokens / (double)l->cp;
}

double train_stage_total(const train_stage *stage, int n_kinds)
{
    double layers = 0;
    for (int k = 0; k < n_kinds; k++)
        layers += stage->layers[k];
    return layers;
}

double train_remat_share(const train_case *tc, const ridge_layout *l,
                         const train_stage *stage)
{
    double layers =
        stage->of_layers > 0 ? stage->of_layers : train_stage_total(stage, tc->n_kinds);
    if (l->remat == RIDGE_REMAT_NONE || layers <= 0)
        return 0;
    return l->remat_layers == 0 ? 1 : fmin(1, (double)l->remat_layers / layers);
}

double train_held_weight_bytes(const train_case *tc, const train_load *load,
                               const ridge_layout *l, int kind)
{
    train_ways w = train_layout_ways(l);
    double dense = load->layers[kind].dense;
    double expert = load->layers[kind].expert;
    bool is_cut = l->zero_stage == 3;
    return tc->policy->weight_bytes * (dense / (double)(is_cut ? w.shards : 1) +
                                       expert / (double)(is_cut ? w.expert_shards : 1));
}

double train_in_flight(const ridge_layout *l, const train_stage *stage,
                       int64_t microbatches)
{
    double p = (double)l->pp;
    double v = (double)l->vpp;
    double m = (double)microbatches;
    double behind = p - (double)stage->first;
    if (l->pp == 1)
        return 1;
    switch (ridge_layout_schedule(l)) {
    case RIDGE_SCHEDULE_GPIPE:
        return m;
    case RIDGE_SCHEDULE_INTERLEAVED:
        return fmin((2 * (behind - 1) + (v - 1) * p + 1) / v, m);
    case RIDGE_SCHEDULE_ZB_H1:
    case RIDGE_SCHEDULE_ZB_V:
        return fmin(p, m);
    case RIDGE_SCHEDULE_ZB_H2:
        return fmin(2 * p - 1, m);
    case RIDGE_SCHEDULE_DUALPIPE:
        return fmin(p + 1, m);
    case RIDGE_SCHEDULE_1F1B:
        break;
    }
    return fmin(behind, m);
}

void train_add_state(const train_case *tc, const ridge_layout *l, double params,
                     double shards, ridge_memory_parts *m)
{
    const ridge_policy *p = tc->policy;
    double state = p->master_bytes + p->moment_bytes;
    if (p->compute == RIDGE_DTYPE_FP16) /* gradients in fp32 for the update */
        state += 4;
    /* Under ZeRO-3 a master copy is what is sharded; the compute copy exists only where
     * it is gathered. */
    bool is_cast = l->zero_stage == 3 && p->master_bytes > 0;
    double weight = is_cast ? 0 : p->weight_bytes;
    m->weights_bytes += params * weight / (l->zero_stage >= 3 ? shards : 1);
    double gradient = p->gradient_bytes + stack_gradient_bytes(tc);
    m->gradients_bytes += params * gradient / (l->zero_stage >= 2 ? shards : 1);
    m->optimizer_bytes += params * state / (l->zero_stage >= 1 ? shards : 1);
}

train_token_bytes train_stage_token(const train_case *tc, const train_load *load,
                                    const train_stage *stage, const ridge_layout *l)
{
    const int remat = train_remat_index(tc, l);
    const double again = train_remat_share(tc, l, stage);
    train_token_bytes t = {0};
    double rest = 0;
    for (int k = 0; k < tc->n_kinds; k++) {
        const double *bytes = load->activation_bytes[k];
        double one = again * bytes[remat] + (1 - again) * bytes[RIDGE_REMAT_NONE];
        t.kept += stage->layers[k] * one;
        if (stage->layers[k] > 0) {
            t.widest = fmax(t.widest, bytes[RIDGE_REMAT_NONE]);
            rest = fmax(rest, bytes[RIDGE_REMAT_NONE] - bytes[remat]);
        }
    }
    /* The layer at work: what its recomputation makes again, and the gradients of its
     * arrays, of which about half live at once. */
    t.working = (again > 0 ? rest : 0) + 0.5 * t.widest;
    return t;
}

static void add_activations(const train_case *tc, const train_load *load,
                            const train_stage *stage, const ridge_layout *l,
                            int64_t microbatches, ridge_memory_parts *m)
{
    const double tokens = train_tokens(tc, l);
    const train_token_bytes t = train_stage_token(tc, load, stage, l);
    m->activations_bytes = tokens * t.kept * train_in_flight(l, stage, microbatches);
    if (l->offload & RIDGE_OFFLOAD_ACTIVATIONS) /* one layer leaves, one is at work */
        m->activations_bytes = fmin(m->activations_bytes, tokens * 2 * t.widest);
    m->working_bytes = tokens * t.working;
    if (stage->has_head && tc->model->has_unembedding) {
        double vocab = (double)tc->model->vocab / (double)l->tp;
        m->logits_bytes =
            tokens * vocab * stack_logit_bytes(tc) * (1 + stage->predictions);
    }
}

/* This layer's weights and the next one's, and this layer's whole gradient. Pipelines
 * that keep their weights gathered hold those of the stage, and its gradients. */
static double gathered_bytes(const train_case *tc, const train_load *load,
                             const train_stage *stage, double stage_params, int64_t pp)
{
    double most = 0;
    if (pp > 1 && stack_gathers_stage(tc))
        return stage_params * (tc->policy->weight_bytes + tc->policy->reduce_bytes);
    for (int k = 0; k < tc->n_kinds; k++) {
        if (stage->layers[k] > 0)
            most = fmax(most, load->layers[k].dense + load->layers[k].expert);
    }
    return most * (2 * tc->policy->weight_bytes + tc->policy->reduce_bytes);
}

/* Weights that come from the host: this layer's and the next one's. */
static double streamed_bytes(const train_case *tc, const train_load *load,
                             const train_stage *stage, const ridge_layout *l)
{
    double most = 0;
    for (int k = 0; k < tc->n_kinds; k++) {
        if (stage->layers[k] > 0)
            most = fmax(most, train_held_weight_bytes(tc, load, l, k));
    }
    return 2 * most;
}

ridge_memory_parts train_stage_state(const train_case *tc, const train_load *load,
                                     const train_stage *stage, const ridge_layout *l)
{
    ridge_memory_parts m = {0};
    train_params p = train_stage_params(tc, load, stage, l);
    train_ways w = train_layout_ways(l);
    train_add_state(tc, l, p.dense, (double)w.shards, &m);
    train_add_state(tc, l, p.expert, (double)w.expert_shards, &m);
    adapter_add_state(tc, stage, l, &m);
    if (l->zero_stage == 3)
        m.gathered_bytes = gathered_bytes(tc, load, stage, p.dense + p.expert, l->pp);
    return m;
}

double train_reserve_bytes(const train_case *tc, double bytes)
{
    const reserve *r = &reserves[tc->chip->kind];
    return r->fixed_bytes + r->gap * bytes;
}

ridge_memory_parts train_stage_filled(const train_case *tc, const train_load *load,
                                      const train_stage *stage, const ridge_layout *l,
                                      int64_t microbatches,
                                      const ridge_memory_parts *state)
{
    ridge_memory_parts m = *state;
    add_activations(tc, load, stage, l, microbatches, &m);
    if (l->offload & RIDGE_OFFLOAD_OPTIMIZER)
        m.optimizer_bytes = 0;
    if (l->offload & RIDGE_OFFLOAD_WEIGHTS)
        m.weights_bytes = fmin(m.weights_bytes, streamed_bytes(tc, load, stage, l));
    m.reserve_bytes = train_reserve_bytes(tc, ridge_memory_total_bytes(&m));
    return m;
}

ridge_memory_parts train_stage_memory(const train_case *tc, const train_load *load,
                                      const train_stage *stage, const ridge_layout *l,
                                      int64_t microbatches)
{
    const ridge_memory_parts state = train_stage_state(tc, load, stage, l);
    return train_stage_filled(tc, load, stage, l, microbatches, &state);
}
