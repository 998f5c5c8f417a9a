/*
 * What a stage holds at its fullest moment: state by ZeRO stage, activations of every
 * microbatch in flight (1F1B: stage s keeps pp - s), one layer at work, logits,
 * gathered weights, and what the framework keeps for itself. Source: rajbhandari2020
 * (ZeRO), korthikanti2022 (activations), narayanan2021 (1F1B and interleaving).
 */
#include "train_memory.h"
#include "stack_memory.h"

#include <math.h>

/* What a framework holds beside the tensors: a fixed part (driver context, collective
 * buffers) and a share of the rest (caching allocators leave gaps; a compiler that lays
 * memory out ahead of time leaves fewer). */
typedef struct reserve {
    double fixed_bytes;
    double gap;
} reserve;

static const reserve reserves[] = {
    [RIDGE_CHIP_TPU] = {0.3e9, 0.02}, /* openxla-memory */
    [RIDGE_CHIP_GPU] = {2.0e9,
                        0.05}, /* pytorch-memory-2024: context, NCCL, fragments */
    [RIDGE_CHIP_ACCELERATOR] = {1.0e9, 0.05},
    [RIDGE_CHIP_CPU] = {0.5e9, 0.05},
};

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
    return true;
}

train_params train_stage_params(const train_case *tc, const train_load *load,
                                const train_stage *stage, const ridge_layout *layout)
{
    train_params p = {.dense =
                          train_embedding_params(tc, stage, layout->tp, layout->pp)};
    for (int k = 0; k < tc->n_kinds; k++) {
        p.dense += stage->layers[k] * load->layers[k].dense;
        p.expert += stage->layers[k] * load->layers[k].expert;
    }
    return p;
}

/* Microbatches whose activations stage s keeps at once. Interleaving keeps
 * 1 + (p - 1) / (p v) times as many layers' worth (narayanan2021, section 2.2). */
static double in_flight(const ridge_layout *l, const train_stage *stage,
                        int64_t microbatches)
{
    double depth = (double)(l->pp - stage->first);
    if (l->vpp > 1)
        depth = (double)l->pp * (1 + (double)(l->pp - 1) / (double)(l->pp * l->vpp));
    return fmin(depth, (double)microbatches);
}

static void add_state(const train_case *tc, const ridge_layout *l, double params,
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

static void add_activations(const train_case *tc, const train_load *load,
                            const train_stage *stage, const ridge_layout *l,
                            int64_t microbatches, ridge_memory_parts *m)
{
    double tokens = (double)l->microbatch_seqs * tc->seq_tokens / (double)l->cp;
    double kept = 0;
    double whole = 0;
    double rest = 0;
    for (int k = 0; k < tc->n_kinds; k++) {
        const double *bytes = load->activation_bytes[k];
        kept += stage->layers[k] * bytes[l->remat];
        if (stage->layers[k] > 0) {
            whole = fmax(whole, bytes[RIDGE_REMAT_NONE]);
            rest = fmax(rest, bytes[RIDGE_REMAT_NONE] - bytes[l->remat]);
        }
    }
    m->activations_bytes = tokens * kept * in_flight(l, stage, microbatches);
    /* The layer at work: what its recomputation makes again, and the gradients of its
     * arrays, of which about half live at once. */
    m->working_bytes = tokens * (rest + 0.5 * whole);
    if (stage->has_head && tc->model->has_unembedding) {
        double vocab = (double)tc->model->vocab / (double)l->tp;
        m->logits_bytes = tokens * vocab * stack_logit_bytes(tc);
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

ridge_memory_parts train_stage_memory(const train_case *tc, const train_load *load,
                                      const train_stage *stage, const ridge_layout *l,
                                      int64_t microbatches)
{
    ridge_memory_parts m = {0};
    train_params p = train_stage_params(tc, load, stage, l);
    train_ways w = train_layout_ways(l);
    add_state(tc, l, p.dense, (double)w.shards, &m);
    add_state(tc, l, p.expert, (double)w.expert_shards, &m);
    add_activations(tc, load, stage, l, microbatches, &m);
    if (l->zero_stage == 3)
        m.gathered_bytes = gathered_bytes(tc, load, stage, p.dense + p.expert, l->pp);
    const reserve *r = &reserves[tc->chip->kind];
    m.reserve_bytes = r->fixed_bytes + r->gap * ridge_memory_total_bytes(&m);
    return m;
}
