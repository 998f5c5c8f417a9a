/*
 * The plain rooflines of an iteration: weights and caches at the bandwidth of HBM,
 * FLOPs at the peak, exchanges at the links' own rate.
 *
 *     bound = max(B kv / W + max(FLOPs / C, weights / W), network)
 *
 * Attention reads its cache between the products that need it, so it hides behind
 * nothing; weights stream behind FLOPs.
 * @source scaling-book-2025 chapter 7, "theoretical estimates for LLM latency and
 *         throughput"
 */
#include "serving_weights.h"

#include <math.h>

static double exchange_bound_s(const serving_bench *b, const serving_kernel *k,
                               double rows)
{
    const ridge_group *group = k->is_over_kv && k->is_over_copies ? &b->groups.tp
                               : k->is_over_copies                ? &b->groups.copies
                                                                  : &b->groups.kv;
    if (group->ranks <= 1)
        return 0;
    const double bound_s = ridge_collective_time(b->desk->about.slice, k->collective,
                                                 k->bytes + k->bytes_each * rows, group)
                               .bound_s;
    /* on two axes one of a layer's two reductions is another */
    return b->layout->tp_d > 1 ? bound_s / 2 : bound_s;
}

static void add_kernel(const serving_bench *b, const serving_kernel *k, double rows,
                       ridge_serving_step *out)
{
    if (k->kind == RIDGE_KERNEL_EXCHANGE)
        out->bound_network_s += k->count * exchange_bound_s(b, k, rows);
    if (k->kind != RIDGE_KERNEL_PRODUCT)
        return;
    const serving_format *f = &b->formats.of[k->format];
    const ridge_matmul *p = &k->product;
    const double m = p->m + k->m_each * rows;
    const double flops = k->count * 2 * p->batch * m * p->k * p->n;
    out->flops += flops;
    out->bound_flops_s += flops / ridge_chip_peak(b->desk->chip, f->compute, NULL);
    out->weight_bytes += k->count * p->batch * p->k * p->n *
                         (ridge_dtype_bytes(f->weight) + f->scale_bytes);
}

static void add_maps(const serving_bench *b, const serving_mixer *m,
                     const ridge_serving_load *load, ridge_serving_step *out)
{
    const double decoding = load->decode_sequences * b->verified;
    const bool is_decode = decoding > 0;
    const ridge_matmul *maps = is_decode ? m->absorb : m->expand;
    const int n = is_decode ? m->n_absorb : m->n_expand;
    const double rows = (decoding + load->chunk_tokens) / b->row_ways;
    for (int i = 0; i < n; i++) {
        const double weights = maps[i].batch * maps[i].k * maps[i].n;
        const double flops = m->count * 2 * maps[i].m * rows * weights;
        out->flops += flops;
        out->bound_flops_s +=
            flops / ridge_chip_peak(b->desk->chip, RIDGE_DTYPE_BF16, NULL);
        out->weight_bytes +=
            m->count * weights *
            ridge_dtype_bytes(b->formats.of[RIDGE_QUANT_ATTENTION].weight);
    }
}

static void add_experts(const serving_bench *b, double rows, ridge_serving_step *out)
{
    for (int i = 0; i < b->cut->n_moe; i++) {
        const serving_moe *moe = &b->cut->moe[i];
        const ridge_op_cost c = serving_experts_cost(b, moe->ffn, rows);
        out->flops += moe->count * c.matmul_flops;
        out->bound_flops_s += moe->count * c.compute_s;
        out->weight_bytes += moe->count * c.bytes;
        out->bound_network_s +=
            moe->count * serving_dispatch_time(b, moe->ffn, rows).bound_s;
    }
}

/* FLOPs of prompts' scores; decoding's never bind. */
static void add_chunks(const serving_bench *b, const serving_mixer *m,
                       const ridge_serving_load *load, ridge_serving_step *out)
{
    if (load->chunk_tokens <= 0 || !m->has_scores)
        return;
    const double chunk = load->chunk_tokens / load->chunks;
    const double met = serving_met_tokens(m->mixer, load->chunk_context + chunk / 2);
    const ridge_attention *a = m->prefill.heads > 0 ? &m->prefill : &m->decode;
    const double flops = m->count * load->chunk_tokens / b->row_ways * 2 * a->heads *
                         (a->head_dim + a->v_head_dim) *
                         fmin(met, load->chunk_context + chunk / 2);
    out->flops += flops;
    out->bound_flops_s +=
        flops / ridge_chip_peak(b->desk->chip, b->layout->formats.attention, NULL);
}

/* Caches of the decoding sequences: what one layer of each kind meets. */
static double cache_bytes(const serving_bench *b, const ridge_serving_load *load)
{
    double bytes = 0;
    for (int k = 0; k < b->desk->model->n_layers; k++) {
        const ridge_layer *layer = &b->desk->model->layers[k];
        const serving_kept kept = serving_layer_kept(b, k);
        bytes += (double)layer->count *
                 (kept.token_bytes *
                      serving_met_tokens(&layer->mixer, load->decode_context) +
                  kept.state_bytes);
    }
    return bytes * load->decode_sequences;
}

static void choose(ridge_serving_step *out)
{
    const double held = fmax(out->bound_flops_s, out->bound_weights_s);
    out->bound_s = fmax(out->bound_cache_s + held, out->bound_network_s);
    out->bound_by = RIDGE_BOUND_MEMORY;
    if (out->bound_network_s >= out->bound_s)
        out->bound_by = RIDGE_BOUND_NETWORK;
    else if (out->bound_flops_s > out->bound_weights_s &&
             out->bound_flops_s > out->bound_cache_s)
        out->bound_by = RIDGE_BOUND_COMPUTE;
}

void serving_bound_find(const serving_bench *b, const ridge_serving_load *load,
                        ridge_serving_step *out)
{
    const double own = load->decode_sequences * b->verified + load->chunk_tokens;
    const double all = own * b->ranks;
    const double rows = own / b->row_ways;
    const double sampled =
        (load->decode_sequences * b->verified + load->finishing) / b->row_ways;
    for (int i = 0; i < b->cut->n_kernels; i++)
        add_kernel(b, &b->cut->kernels[i], rows, out);
    for (int i = 0; sampled > 0 && i < b->cut->n_head; i++)
        add_kernel(b, &b->cut->head[i], sampled, out);
    for (int i = 0; i < b->cut->n_mixers; i++) {
        add_maps(b, &b->cut->mixers[i], load, out);
        add_chunks(b, &b->cut->mixers[i], load, out);
    }
    add_experts(b, all, out);
    out->cache_bytes = cache_bytes(b, load);
    const double bandwidth = b->desk->chip->hbm_bytes_per_s;
    out->bound_weights_s = out->weight_bytes / bandwidth;
    out->bound_cache_s = out->cache_bytes / bandwidth;
    choose(out);
}
