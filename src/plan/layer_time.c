/*
 * The matmuls of a layer are those of ridge_layer_weights, cut by tp and ep; neighbours
 * that read the same input run as one (Q, K, V; gate and up). Backward is one product
 * for the input's gradient and one for the weight's, which is added to the gradient
 * kept from earlier microbatches. Formats of 8 bits and less are made from 16 bits by
 * streams beside the product.
 */
#include "layer_time.h"

#include "product_time.h"

#include <math.h>

/* Flash attention's backward does five products for the forward's two, at a lower rate:
 * 561 against 648 TFLOP/s at 16k, head size 128 (flash-attention-3-2024, figures 5, 6).
 */
static const double ATTENTION_BWD_OVER_FWD = 2.5 * 648.0 / 561.0;
static const double ACTIVATION_BYTES = 2;
/* Bytes of streams in the backward pass over those of the forward: each array's
 * gradient is read or written beside the array itself. */
static const double VECTOR_BWD_OVER_FWD = 2;

static void add_product(const train_case *tc, ridge_dtype compute, const product *p,
                        layer_time *t)
{
    product_time time = train_product_time(tc, compute, p);
    t->matmul_fwd_s += time.fwd_s;
    t->matmul_bwd_s += time.bwd_s;
    t->bound_fwd_s += time.bound_fwd_s;
    t->bound_bwd_s += time.bound_bwd_s;
}

static void add_streams(const train_case *tc, double fwd_bytes, double bwd_bytes,
                        layer_time *t)
{
    ridge_op_cost fwd = ridge_stream_cost(tc->chip, 0, fwd_bytes);
    ridge_op_cost bwd = ridge_stream_cost(tc->chip, 0, bwd_bytes);
    t->vector_fwd_s += fwd.expected_s;
    t->vector_bwd_s += bwd.expected_s;
    t->bound_fwd_s += fwd.bound_s;
    t->bound_bwd_s += bwd.bound_s;
}

/* Streams beside a product. The weight's gradient is read and written where it
 * accumulates. An operand in a narrow format is read in 16 bits and written twice, as
 * it is and transposed for the backward pass (micikevicius2022: weights and activations
 * in e4m3, gradients in e5m2). */
static void add_product_streams(const train_case *tc, ridge_dtype compute,
                                const product *p, layer_time *t)
{
    double weights = p->batch * p->in * p->out;
    double fwd_bytes = 0;
    double bwd_bytes = 2 * tc->policy->gradient_bytes * weights;
    if (ridge_dtype_bytes(compute) < 2) {
        double each = 2 + 2 * ridge_dtype_bytes(compute);
        fwd_bytes += each * (p->batch * p->rows * p->in + weights);
        bwd_bytes += each * p->batch * p->rows * p->out;
    }
    add_streams(tc, fwd_bytes, bwd_bytes, t);
}

/* The product of weight w on this chip. */
static product local_product(const ridge_layer *layer, const ridge_weight *w,
                             const layer_shape *s, double tokens)
{
    product p = {1, tokens, (double)w->in, (double)w->out};
    if (w->part == RIDGE_PART_EXPERTS) {
        /* Tokens of a chip's tp share, k times, balanced over the experts. */
        double rows = tokens / (double)s->tp * (double)w->active_copies;
        p.batch = (double)w->copies / (double)s->ep;
        p.rows = rows / p.batch;
        return p;
    }
    switch (w->split) {
    case RIDGE_SPLIT_NONE:
        if (s->has_sp)
            p.rows /= (double)s->tp;
        break;
    case RIDGE_SPLIT_KV:
        p.out /= (double)train_kv_ways(&layer->mixer, s->tp);
        break;
    case RIDGE_SPLIT_HEADS:
    case RIDGE_SPLIT_OUT:
        p.out /= (double)s->tp;
        break;
    case RIDGE_SPLIT_IN:
        p.in /= (double)s->tp;
        break;
    }
    p.batch = (double)w->active_copies;
    return p;
}

/* Neighbours that read the same rows of the same input, and cut their output. */
static bool is_fused(const ridge_weight *a, const ridge_weight *b, const product *pa,
                     const product *pb)
{
    return a->part == b->part && a->split != RIDGE_SPLIT_IN &&
           b->split != RIDGE_SPLIT_IN && pa->in == pb->in && pa->rows == pb->rows &&
           pa->batch == pb->batch;
}

static void add_weights(const train_case *tc, int kind, const layer_shape *s,
                        double tokens, layer_time *t)
{
    const ridge_layer *layer = &tc->kinds[kind];
    const ridge_weight *weights = tc->weights[kind];
    int i = 0;
    while (i < tc->n_weights[kind]) {
        const ridge_weight *w = &weights[i++];
        if (w->in == 0 || w->out == 0)
            continue;
        product p = local_product(layer, w, s, tokens);
        for (; i < tc->n_weights[kind]; i++) {
            product next = local_product(layer, &weights[i], s, tokens);
            if (weights[i].in == 0 || !is_fused(w, &weights[i], &p, &next))
                break;
            p.out += next.out;
        }
        /* A router's logits decide more than bits: it stays in 16 bits. */
        bool is_router = w->part == RIDGE_PART_ROUTER;
        ridge_dtype compute = is_router ? RIDGE_DTYPE_BF16 : tc->policy->compute;
        add_product(tc, compute, &p, t);
        add_product_streams(tc, compute, &p, t);
    }
}

/* Scores of kinds that have no kernel model of their own: their FLOPs at the rate of
 * attention. */
static void add_scan(const train_case *tc, const ridge_layer *layer,
                     const layer_shape *s, double tokens, layer_time *t)
{
    double flops =
        tokens / (double)s->tp * ridge_layer_scores_flops(layer, tc->seq_tokens, true);
    double peak = ridge_chip_peak(tc->chip, RIDGE_DTYPE_BF16, NULL);
    double time_s = flops / (peak * tc->chip->achievable.attention);
    t->attention_fwd_s += time_s;
    t->attention_bwd_s += ATTENTION_BWD_OVER_FWD * time_s;
    t->bound_fwd_s += flops / peak;
    t->bound_bwd_s += 2 * flops / peak;
}

static void add_attention_call(const train_case *tc, const ridge_attention *op,
                               double calls, layer_time *t)
{
    ridge_op_cost cost = ridge_attention_cost(tc->chip, op);
    t->attention_fwd_s += calls * cost.expected_s;
    t->attention_bwd_s += calls * ATTENTION_BWD_OVER_FWD * cost.expected_s;
    t->bound_fwd_s += calls * cost.bound_s;
    t->bound_bwd_s += calls * 2 * cost.bound_s;
}

static void add_attention(const train_case *tc, const ridge_layer *layer,
                          const layer_shape *s, double tokens, layer_time *t)
{
    const ridge_mixer *m = &layer->mixer;
    if (m->kind == RIDGE_MIXER_NONE || m->kind == RIDGE_MIXER_CONV)
        return;
    bool has_kernel =
        (m->kind == RIDGE_MIXER_ATTENTION || m->kind == RIDGE_MIXER_MLA) &&
        m->index_topk == 0 && m->compress_ratio == 0 && !m->is_window_chunked &&
        m->heads > 0;
    if (!has_kernel) {
        add_scan(tc, layer, s, tokens, t);
        return;
    }
    double heads = (double)m->heads / (double)s->tp;
    double kv_heads = (double)m->kv_heads / (double)train_kv_ways(m, s->tp);
    if (m->kind == RIDGE_MIXER_MLA)
        kv_heads = heads;
    ridge_dtype dtype = ridge_dtype_bytes(tc->policy->compute) > 2 ? RIDGE_DTYPE_TF32
                                                                   : RIDGE_DTYPE_BF16;
    ridge_attention op = {.batch = (double)s->microbatch_seqs,
                          .query_tokens = tc->seq_tokens / (double)s->cp,
                          .context_tokens = tc->seq_tokens / (double)s->cp,
                          .heads = fmax(heads, 1),
                          .kv_heads = fmax(kv_heads, 1),
                          .head_dim = (double)m->head_dim,
                          .v_head_dim = (double)m->v_head_dim,
                          .window = (double)m->window,
                          .is_causal = m->is_causal,
                          .activation = dtype,
                          .cache = dtype,
                          .compute = dtype};
    add_attention_call(tc, &op, 1, t);
    if (s->cp == 1 || (m->window > 0 && (double)m->window <= op.query_tokens))
        return;
    /* The other chunks of the ring, whole squares: half of them under a causal mask
     * that a zigzag order balances (liu2023-ring, brandon2023-striped). */
    op.is_causal = false;
    add_attention_call(tc, &op, (double)(s->cp - 1) / (m->is_causal ? 2 : 1), t);
}

static double kv_width(const ridge_mixer *m)
{
    if (m->kind == RIDGE_MIXER_MLA)
        return (double)(m->kv_lora_rank + m->rope_head_dim);
    return (double)m->kv_heads * (double)(m->head_dim + m->v_head_dim);
}

/* Elements a token streams in the forward pass: a norm (read, write) and a residual sum
 * (read two, write one) for each block, rotary over queries and keys, and the
 * activation function. */
static double stream_elements(const ridge_layer *layer, double d_model,
                              const layer_shape *s)
{
    const ridge_mixer *m = &layer->mixer;
    const ridge_ffn *f = &layer->ffn;
    double tp = (double)s->tp;
    double blocks = (m->kind != RIDGE_MIXER_NONE) + (f->kind != RIDGE_FFN_NONE);
    double elements = blocks * 5 * d_model / (s->has_sp ? tp : 1);
    if (m->kind == RIDGE_MIXER_ATTENTION || m->kind == RIDGE_MIXER_MLA)
        elements += 2 * (double)(m->heads + m->kv_heads) * (double)m->head_dim / tp;
    double gates = f->is_gated ? 3 : 2;
    elements += gates * (double)(f->d_ff + f->shared_d_ff) / tp;
    if (f->kind == RIDGE_FFN_MOE) {
        double k = (double)f->experts_per_token;
        double width = f->latent_width > 0 ? (double)f->latent_width : d_model;
        /* permute and unpermute: each row read and written on both sides */
        elements += k * (gates * (double)f->expert_d_ff + 4 * width) / tp;
    }
    return elements;
}

/* What the layer exchanges over tp, cp and ep for one microbatch. */
static void add_exchanges(const train_case *tc, const ridge_layer *layer,
                          const layer_shape *s, double tokens, layer_time *t)
{
    const ridge_mixer *m = &layer->mixer;
    const ridge_ffn *f = &layer->ffn;
    double d_model = (double)tc->model->d_model;
    if (s->tp > 1) {
        bool has_dense =
            f->kind == RIDGE_FFN_DENSE || f->shared_d_ff > 0 || f->d_ff > 0;
        t->tp_blocks = (m->kind != RIDGE_MIXER_NONE ? 1 : 0) + (has_dense ? 1 : 0) +
                       (layer->has_cross ? 1 : 0);
        t->tp_bytes = tokens * d_model * ACTIVATION_BYTES;
    }
    if (s->cp > 1 && m->kind != RIDGE_MIXER_NONE) {
        t->cp_bytes = (double)s->microbatch_seqs * tc->seq_tokens * kv_width(m) *
                      ACTIVATION_BYTES / (double)train_kv_ways(m, s->tp);
    }
    if (s->ep > 1 && f->kind == RIDGE_FFN_MOE) {
        double width = f->latent_width > 0 ? (double)f->latent_width : d_model;
        double rows = tokens / (double)s->tp * (double)f->experts_per_token;
        t->ep_bytes = (double)s->ep * rows * width * ACTIVATION_BYTES;
    }
}

layer_time train_layer_time(const train_case *tc, int kind, const layer_shape *shape)
{
    const ridge_layer *layer = &tc->kinds[kind];
    double tokens = (double)shape->microbatch_seqs * tc->seq_tokens / (double)shape->cp;
    layer_time t = {0};
    add_weights(tc, kind, shape, tokens, &t);
    add_attention(tc, layer, shape, tokens, &t);
    double elements = stream_elements(layer, (double)tc->model->d_model, shape);
    double bytes = tokens * elements * ACTIVATION_BYTES;
    add_streams(tc, bytes, VECTOR_BWD_OVER_FWD * bytes, &t);
    add_exchanges(tc, layer, shape, tokens, &t);
    return t;
}

layer_time train_head_time(const train_case *tc, const layer_shape *shape)
{
    layer_time t = {0};
    if (!tc->model->has_unembedding)
        return t;
    double tokens = (double)shape->microbatch_seqs * tc->seq_tokens / (double)shape->cp;
    double vocab = (double)tc->model->vocab / (double)shape->tp;
    product p = {1, tokens, (double)tc->model->d_model, vocab};
    ridge_dtype dtype = ridge_dtype_bytes(tc->policy->compute) < 2
                            ? RIDGE_DTYPE_BF16 /* the head stays in 16 bits */
                            : tc->policy->compute;
    add_product(tc, dtype, &p, &t);
    add_product_streams(tc, dtype, &p, &t);
    /* Loss: bf16 logits read, their fp32 softmax written; backward the reverse. */
    double loss_bytes = tokens * vocab * (2 + 4);
    add_streams(tc, loss_bytes, loss_bytes, &t);
    if (shape->tp > 1) {
        t.tp_blocks = 1;
        t.tp_bytes = tokens * (double)tc->model->d_model * ACTIVATION_BYTES;
    }
    return t;
}

double layer_time_attention_passes(void)
{
    return 1 + ATTENTION_BWD_OVER_FWD;
}

double layer_time_fwd_s(const layer_time *t)
{
    return t->matmul_fwd_s + t->attention_fwd_s + t->vector_fwd_s;
}

double layer_time_bwd_s(const layer_time *t)
{
    return t->matmul_bwd_s + t->attention_bwd_s + t->vector_bwd_s;
}

double layer_time_recompute_s(const layer_time *t, ridge_remat remat)
{
    switch (remat) {
    case RIDGE_REMAT_NONE:
        return 0;
    case RIDGE_REMAT_SELECTIVE:
        return t->attention_fwd_s;
    case RIDGE_REMAT_MATMULS:
        return t->attention_fwd_s + t->vector_fwd_s;
    case RIDGE_REMAT_FULL:
        break;
    }
    return layer_time_fwd_s(t);
}
