/*
 * What an iteration's rows cost, whatever sequences they belong to: products of
 * attention and feed-forwards, experts, streams, collectives of tp. Decoding rows and
 * rows of prompts share one pass over the weights.
 */
#include "serving_bench.h"

#include "ridge/cost_program.h"

#include <math.h>
#include <string.h>

enum { KEY_LOCAL = SERVING_KEY_ROWS, KEY_EXCHANGES, KEY_HEAD };

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
    p.comes_quantised = f->comes_quantised;
    p.rate_share = serving_rate_share(b->desk->chip->achievable.loaded, p.m) *
                   serving_own_share(b, p.m) * b->processors;
    serving_stationary_set(b, k->format, &p);
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
    return serving_product_s(b, &p);
}

/* A product that runs beside others: its calls are hidden, and cores that it leaves
 * idle are not. */
static double beside_s(const serving_bench *b, const serving_kernel *k, double rows)
{
    const ridge_matmul p = product_of(b, k, rows);
    const ridge_chip *chip = b->desk->chip;
    const ridge_op_cost c = ridge_matmul_cost(chip, &p, RIDGE_MEMORY_HBM);
    const ridge_achievable *a = &chip->achievable;
    const double memory_s = c.memory_s / (a->memory > 0 ? a->memory : 1);
    const double rate = (a->matmul[p.compute] > 0 ? a->matmul[p.compute] : 1) *
                        c.tile_efficiency * p.rate_share;
    return fmin(c.expected_s, fmax(memory_s, c.compute_s / rate));
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

/* ---- launches ---------------------------------------------------------------------
 */

/* Kernels of a layer's scores: the call, and what stores keys and values. */
enum { SCORE_KERNELS = 2 };

/* What is not captured is launched by the host, one kernel after another; the chip
 * waits when it is the quicker of the two. */
static double launches_s(const serving_bench *b, double kernels)
{
    for (int i = 0; i < b->cut->n_mixers; i++)
        kernels += SCORE_KERNELS * b->cut->mixers[i].count;
    return kernels * b->desk->about.engine->launch_s + serving_experts_launch_s(b);
}

static double host_launches_s(const serving_bench *b, double rows, double kernels)
{
    const ridge_engine *e = b->desk->about.engine;
    if (e->graph_sequences > 0 && rows <= e->graph_sequences)
        return 0;
    return launches_s(b, kernels);
}

static double busy_s(const serving_rows *r)
{
    return r->dense_s + r->vector_s + r->experts_s + r->tp_s + r->ep_s + r->pp_s;
}

/* ---- rows ------------------------------------------------------------------------ */

/* What is the same for all layouts of a tp and formats: no exchanges, no experts. */
typedef struct local_rows {
    double dense_s, vector_s, router_s, kernels;
} local_rows;

/* Shared experts beside the routed ones: what they ask of the chip stays, what their
 * calls cost is hidden. */
static bool is_beside(const serving_bench *b, const serving_kernel *k, double rows)
{
    const ridge_engine *e = b->desk->about.engine;
    const bool is_known = strcmp(b->desk->chip->vendor, "NVIDIA") == 0 &&
                          (e->shared_rows <= 0 || rows <= e->shared_rows);
    return e->overlaps_shared && is_known && k->format == RIDGE_QUANT_SHARED &&
           k->kind == RIDGE_KERNEL_PRODUCT && b->cut->n_moe > 0;
}

static local_rows price_local(const serving_bench *b, double rows)
{
    local_rows r = {0};
    for (int i = 0; i < b->cut->n_kernels; i++) {
        const serving_kernel *k = &b->cut->kernels[i];
        r.kernels += k->is_joined ? 0 : k->count;
        if (k->kind == RIDGE_KERNEL_EXCHANGE)
            continue;
        const double s = k->count * (is_beside(b, k, rows) ? beside_s(b, k, rows)
                                                           : kernel_s(b, k, rows));
        if (k->part == RIDGE_SERVING_PART_DENSE)
            r.dense_s += s;
        else if (k->part == RIDGE_SERVING_PART_EXPERTS)
            r.router_s += s;
        else
            r.vector_s += s;
    }
    return r;
}

static local_rows local_of(const serving_bench *b, double rows)
{
    serving_memo *memo = &b->desk->memo;
    const serving_key key = {
        .of = {KEY_LOCAL, b->formats_key, b->cut->tp, b->layout->tp_d}, .at = {rows}};
    const serving_price *known = serving_memo_find(memo, &key);
    if (known != NULL)
        return (local_rows){known->of[0], known->of[1], known->of[2], known->of[3]};
    const local_rows r = price_local(b, rows);
    const serving_price price = {{r.dense_s, r.vector_s, r.router_s, r.kernels}};
    serving_memo_put(ridge_ctx_arena(b->desk->cx), memo, &key, &price);
    return r;
}

static double price_exchanges(const serving_bench *b, double rows)
{
    double s = 0;
    for (int i = 0; i < b->cut->n_kernels; i++) {
        const serving_kernel *k = &b->cut->kernels[i];
        if (k->kind == RIDGE_KERNEL_EXCHANGE)
            s += k->count * kernel_s(b, k, rows);
    }
    return fmax(0, s + serving_stationary_s(b, rows));
}

/* Groups of chips, and what they exchange. */
static serving_key network_key(const serving_bench *b, int kind, double rows)
{
    const ridge_serving_layout *l = b->layout;
    return (serving_key){
        .of = {kind, b->tp_key, l->tp, l->tp_d, (int64_t)l->formats.activation},
        .at = {rows}};
}

static double exchanges_of(const serving_bench *b, double rows)
{
    serving_memo *memo = &b->desk->memo;
    const serving_key key = network_key(b, KEY_EXCHANGES, rows);
    if (b->layout->tp == 1 || b->layout->is_weight_gathered)
        return 0;
    const serving_price *known = serving_memo_find(memo, &key);
    if (known != NULL)
        return known->of[0];
    const serving_price price = {{price_exchanges(b, rows)}};
    serving_memo_put(ridge_ctx_arena(b->desk->cx), memo, &key, &price);
    return price.of[0];
}

/* What layers take whatever their rows. */
static double layers_s(const serving_bench *b)
{
    const ridge_engine *e = b->desk->about.engine;
    const double peers = (double)b->layout->tp - 1;
    return (e->layer_s + peers * e->peer_layer_s) * (double)b->desk->model->layer_count;
}

static serving_rows price_whole(const serving_bench *b, double rows)
{
    serving_rows out = {0};
    const bool is_gathered = b->layout->is_weight_gathered;
    const double rank = rows / b->ranks; /* of an attention rank */
    const local_rows local = local_of(b, rank / b->row_ways);
    double kernels;
    out.dense_s = local.dense_s;
    out.vector_s =
        local.vector_s + serving_unfused_s(b, rank / b->row_ways) + layers_s(b);
    out.experts_s =
        local.router_s + serving_experts_price(b, rows, &out.ep_s, &kernels);
    out.tp_s = is_gathered ? gather_s(b, &out) : exchanges_of(b, rank);
    out.pp_s = serving_send_s(b, rank);
    out.eager_s = host_launches_s(b, rank, local.kernels + kernels);
    out.launch_s = fmax(0, out.eager_s - busy_s(&out));
    return out;
}

/* Two halves in turn: while one computes, the other's rows are on their way. Weights
 * are read for each. Products never have the processors that are kept for the exchange;
 * other kernels go without them while it runs. Attention hides more of it, which is not
 * counted.
 * @source deepseek-v3-2024, section 3.4; two-batch-overlap-2025 */
static serving_rows price_halves(const serving_bench *b, double rows)
{
    serving_bench split = *b;
    const double share = ridge_collective_sm_share(b->desk->chip);
    split.processors = 1 - share;
    split.formats_key = ~b->formats_key;
    const serving_rows h = price_whole(&split, rows / 2);
    const double computes_s = h.dense_s + h.vector_s + h.experts_s;
    const double hidden_s = fmin(h.ep_s, computes_s);
    serving_rows out = {
        .dense_s = 2 * h.dense_s,
        .vector_s = 2 * h.vector_s,
        .experts_s = 2 * h.experts_s,
        .tp_s = 2 * h.tp_s,
        .ep_s = 2 * (h.ep_s - hidden_s + share * hidden_s * h.vector_s / computes_s),
        .pp_s = 2 * h.pp_s,
        .eager_s = 2 * h.eager_s};
    out.launch_s = fmax(0, out.eager_s - busy_s(&out));
    return out;
}

serving_rows serving_rows_price(const serving_bench *b, double rows)
{
    const double least = b->desk->about.engine->split_rows;
    if (rows <= 0)
        return (serving_rows){0};
    return b->layout->has_two_batches && rows / b->ranks >= fmax(2, least)
               ? price_halves(b, rows)
               : price_whole(b, rows);
}

double serving_eager_s(const serving_bench *b)
{
    double ep_s, kernels;
    if (!b->desk->about.engine->captures_decoding)
        return 0;
    const local_rows local = local_of(b, 1);
    serving_experts_price(b, b->ranks, &ep_s, &kernels);
    return launches_s(b, local.kernels + kernels);
}

double serving_rank_rows_s(const serving_bench *b, double rows)
{
    if (rows <= 0)
        return 0;
    const local_rows local = local_of(b, rows / b->row_ways);
    return local.dense_s + local.vector_s + local.router_s +
           serving_unfused_s(b, rows / b->row_ways) + exchanges_of(b, rows);
}

double serving_rows_total_s(const serving_bench *b, double rows)
{
    const serving_rows r = serving_rows_price(b, rows);
    return busy_s(&r) + r.launch_s;
}

/* ---- head ------------------------------------------------------------------------ */

/* Sampling reads logits in 16 bits and writes them in 32, takes their softmax (read and
 * written), draws and finds the largest (read): six kernels, 18 bytes a logit.
 * @source vllm-source-2025 */
enum { SAMPLE_KERNELS = 6, SAMPLE_BYTES = 18 };

static double price_head(const serving_bench *b, double sampled)
{
    const ridge_chip *chip = b->desk->chip;
    const double rows = sampled / b->ranks / b->row_ways;
    const double logits = rows * (double)b->desk->model->vocab;
    double s = 0;
    for (int i = 0; i < b->cut->n_head; i++) {
        const serving_kernel *k = &b->cut->head[i];
        s += k->count * kernel_s(b, k, rows);
    }
    if (!b->layout->is_weight_gathered)
        s += serving_exchange_s(
            b, RIDGE_COLLECTIVE_ALL_GATHER,
            logits * ridge_dtype_bytes(b->layout->formats.activation), &b->groups.tp);
    return s + ridge_stream_cost(chip, 0, logits * SAMPLE_BYTES).expected_s +
           (SAMPLE_KERNELS - 1) * chip->achievable.launch_s;
}

double serving_head_price(const serving_bench *b, double sampled)
{
    serving_memo *memo = &b->desk->memo;
    serving_key key = network_key(b, KEY_HEAD, sampled);
    key.of[5] = b->formats_key * 2 + (b->layout->is_weight_gathered ? 1 : 0);
    key.at[1] = b->ranks;
    const serving_price *known = serving_memo_find(memo, &key);
    if (sampled <= 0)
        return 0;
    if (known != NULL)
        return known->of[0];
    const serving_price price = {{price_head(b, sampled)}};
    serving_memo_put(ridge_ctx_arena(b->desk->cx), memo, &key, &price);
    return price.of[0];
}
