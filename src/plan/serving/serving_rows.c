/*
 * What an iteration's rows cost, whatever sequences they belong to: products of
 * attention and feed-forwards, experts, streams, collectives of tp. Decoding rows and
 * rows of prompts share one pass over the weights.
 */
#include "serving_bench.h"

#include <math.h>

enum { KEY_ROWS = 1, KEY_HEAD };

/* ---- kernels --------------------------------------------------------------------- */

static ridge_matmul product_of(const serving_bench *b, const serving_kernel *k,
                               double rows)
{
    const serving_format *f = &b->formats.of[k->format];
    ridge_matmul p = k->product;
    p.m = fmax(1, p.m + k->m_each * rows);
    p.activation = p.output = b->layout->formats.activation;
    p.weight = f->weight;
    p.compute = f->compute;
    p.scaling = f->scaling;
    p.scale_bytes = f->scale_bytes;
    return p;
}

static double stream_s(const serving_bench *b, const serving_kernel *k, double rows)
{
    const ridge_chip *chip = b->desk->chip;
    const double s = ridge_stream_cost(chip, k->vector_flops_each * rows,
                                       k->bytes + k->bytes_each * rows)
                         .expected_s;
    return k->is_joined ? fmax(0, s - chip->achievable.launch_s) : s;
}

static const ridge_group *group_of(const serving_bench *b, const serving_kernel *k)
{
    if (k->is_over_kv && k->is_over_copies)
        return &b->groups.tp;
    return k->is_over_copies ? &b->groups.copies : &b->groups.kv;
}

static double kernel_s(const serving_bench *b, const serving_kernel *k, double rows)
{
    if (k->kind == RIDGE_KERNEL_EXCHANGE)
        return serving_exchange_s(b, k->collective, k->bytes + k->bytes_each * rows,
                                  group_of(b, k));
    if (k->kind == RIDGE_KERNEL_STREAM)
        return stream_s(b, k, rows);
    const ridge_matmul p = product_of(b, k, rows);
    return ridge_matmul_cost(b->desk->chip, &p, RIDGE_MEMORY_HBM).expected_s;
}

static void add_part(serving_rows *out, ridge_serving_part part, double s)
{
    if (part == RIDGE_SERVING_PART_DENSE)
        out->dense_s += s;
    else if (part == RIDGE_SERVING_PART_EXPERTS)
        out->experts_s += s;
    else if (part == RIDGE_SERVING_PART_TP)
        out->tp_s += s;
    else
        out->vector_s += s;
}

/* ---- weights that come to the rows ----------------------------------------------- */

/* Every rank gathers each layer's weights while it computes the layer before; what it
 * waits for beyond that is exposed. @source pope2022, section 3.2.3 */
static double gather_s(const serving_bench *b, const serving_rows *rows)
{
    double s = 0;
    for (int i = 0; i < b->cut->n_kernels; i++) {
        const serving_kernel *k = &b->cut->kernels[i];
        if (k->kind != RIDGE_KERNEL_PRODUCT)
            continue;
        const serving_format *f = &b->formats.of[k->format];
        const double bytes = k->product.batch * k->product.k * k->product.n *
                             (ridge_dtype_bytes(f->weight) + f->scale_bytes);
        s += k->count *
             serving_exchange_s(b, RIDGE_COLLECTIVE_ALL_GATHER, bytes, &b->groups.tp);
    }
    return fmax(0, s - rows->dense_s - rows->vector_s);
}

/* ---- rows ------------------------------------------------------------------------ */

static serving_rows price_rows(const serving_bench *b, double rows)
{
    serving_rows out = {0};
    const bool is_gathered = b->layout->is_weight_gathered;
    double each = rows / b->ranks; /* of an attention rank */
    if (is_gathered)
        each /= (double)b->layout->tp;
    for (int i = 0; i < b->cut->n_kernels; i++) {
        const serving_kernel *k = &b->cut->kernels[i];
        add_part(&out, k->part, k->count * kernel_s(b, k, each));
        out.kernels += k->is_joined ? 0 : k->count;
    }
    double ep_s, kernels;
    out.experts_s += serving_experts_price(b, rows, &ep_s, &kernels);
    out.ep_s = ep_s;
    out.kernels += kernels;
    if (is_gathered)
        out.tp_s += gather_s(b, &out);
    out.pp_s = serving_send_s(b, rows / b->ranks);
    return out;
}

static serving_key key_of(const serving_bench *b, int kind, double at)
{
    const ridge_serving_layout *l = b->layout;
    return (serving_key){
        .of = {kind, b->formats_key, l->tp << 32 | l->pp, l->ep << 32 | l->attention_dp,
               (int64_t)l->placement << 2 | (l->is_weight_gathered ? 1 : 0), 0},
        .at = {at, 0}};
}

serving_rows serving_rows_price(const serving_bench *b, double rows)
{
    serving_memo *memo = &b->desk->memo;
    const serving_key key = key_of(b, KEY_ROWS, rows);
    const serving_price *known = serving_memo_find(memo, &key);
    if (rows <= 0)
        return (serving_rows){0};
    if (known != NULL) {
        const double *v = known->of;
        return (serving_rows){v[0], v[1], v[2], v[3], v[4], v[5], v[6]};
    }
    const serving_rows r = price_rows(b, rows);
    const serving_price price = {
        {r.dense_s, r.vector_s, r.experts_s, r.tp_s, r.ep_s, r.pp_s, r.kernels, 0}};
    serving_memo_put(ridge_ctx_arena(b->desk->cx), memo, &key, &price);
    return r;
}

double serving_rows_total_s(const serving_bench *b, double rows)
{
    const serving_rows r = serving_rows_price(b, rows);
    return r.dense_s + r.vector_s + r.experts_s + r.tp_s + r.ep_s + r.pp_s;
}

/* ---- head ------------------------------------------------------------------------ */

/* Sampling reads logits in 16 bits and writes them in 32, takes their softmax (read and
 * written), draws and finds the largest (read): six kernels, 18 bytes a logit.
 * @source vllm-source-2025 */
enum { SAMPLE_KERNELS = 6, SAMPLE_BYTES = 18 };

static double price_head(const serving_bench *b, double sampled, double *kernels)
{
    const ridge_chip *chip = b->desk->chip;
    const double logits = sampled / b->ranks * (double)b->desk->model->vocab;
    double s = 0;
    *kernels = SAMPLE_KERNELS;
    for (int i = 0; i < b->cut->n_head; i++) {
        const serving_kernel *k = &b->cut->head[i];
        s += k->count * kernel_s(b, k, sampled / b->ranks);
        *kernels += k->count;
    }
    if (!b->layout->is_weight_gathered)
        s += serving_exchange_s(
            b, RIDGE_COLLECTIVE_ALL_GATHER,
            logits * ridge_dtype_bytes(b->layout->formats.activation), &b->groups.tp);
    return s + ridge_stream_cost(chip, 0, logits * SAMPLE_BYTES).expected_s +
           (SAMPLE_KERNELS - 1) * chip->achievable.launch_s;
}

double serving_head_price(const serving_bench *b, double sampled, double *kernels)
{
    serving_memo *memo = &b->desk->memo;
    const serving_key key = key_of(b, KEY_HEAD, sampled);
    const serving_price *known = serving_memo_find(memo, &key);
    *kernels = 0;
    if (sampled <= 0)
        return 0;
    if (known != NULL) {
        *kernels = known->of[1];
        return known->of[0];
    }
    serving_price price = {{0}};
    price.of[0] = price_head(b, sampled, &price.of[1]);
    serving_memo_put(ridge_ctx_arena(b->desk->cx), memo, &key, &price);
    *kernels = price.of[1];
    return price.of[0];
}
