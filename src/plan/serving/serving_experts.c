/*
 * Experts of an iteration: their products as one call of each layer. How rows come to
 * the chips that hold them is serving_dispatch.c's.
 */
#include "serving_bench.h"

#include <math.h>

/* Kernels of a call: two products, three of sorting, three streams. */
enum { EXPERT_KERNELS = 8 };

static double local_width(const serving_bench *b, const ridge_ffn *ffn)
{
    const ridge_model *m = b->desk->model;
    const double width = (double)ffn->expert_d_ff / b->expert_width;
    const double block = serving_pads_experts(m) ? (double)m->quant_block : 0;
    return block > 0 ? ceil(width / block) * block : width;
}

/* Rows of an iteration from which on its products are limited by arithmetic alone, and
 * up to which they are not: in between each row beyond the few costs the same more. */
static const double FEW_ROWS = 128;
static const double MANY_ROWS = 1024;

double serving_rate_share(double share, double rows)
{
    if (share <= 0 || rows <= FEW_ROWS)
        return 1;
    const double loaded = fmin(1, (1 - FEW_ROWS / rows) / (1 - FEW_ROWS / MANY_ROWS));
    return 1 / (1 + (1 / share - 1) * loaded);
}

/* Which kernels an engine has for experts: those of wide arithmetic, which may unpack
 * narrow weights, and those of weights in 4 and in 8 bits, whatever the activations
 * (mxfp4 meets them in 8). */
typedef enum expert_kernels {
    KERNELS_WIDE,
    KERNELS_UNPACKING,
    KERNELS_FP8,
    KERNELS_FP4
} expert_kernels;

static expert_kernels kernels_of(const serving_bench *b)
{
    const serving_format *f = &b->formats.of[RIDGE_QUANT_EXPERTS];
    if (ridge_dtype_bytes(f->compute) >= 2)
        return ridge_dtype_bytes(f->weight) < 2 ? KERNELS_UNPACKING : KERNELS_WIDE;
    return ridge_dtype_bytes(f->weight) < 1 ? KERNELS_FP4 : KERNELS_FP8;
}

/* Of the rate of experts' products: the chip's under load, and what the engine's
 * kernels reach of it. */
static double rate_share(const serving_bench *b, double rows)
{
    const double loaded = b->desk->chip->achievable.loaded;
    const ridge_engine *e = b->desk->about.engine;
    const expert_kernels kernels = kernels_of(b);
    double own = e->experts_share;
    if (kernels == KERNELS_FP4 && e->experts_share_fp4 > 0)
        own = e->experts_share_fp4;
    else if (kernels == KERNELS_FP8 && e->experts_share_fp8 > 0)
        own = e->experts_share_fp8;
    else if (kernels == KERNELS_UNPACKING && e->experts_share_narrow > 0)
        own = e->experts_share_narrow;
    return b->processors *
           serving_rate_share((loaded > 0 ? loaded : 1) * (own > 0 ? own : 1), rows);
}

/* Found once for all rows. @return NULL: no copies, or no memory to keep them */
static const ridge_expert_places *
places_of(const serving_bench *b, const ridge_ffn *ffn, const ridge_experts *op)
{
    const ridge_serving_layout *l = b->layout;
    ridge_serving_desk *desk = b->desk;
    if (l->redundant_experts <= 0)
        return NULL;
    for (const serving_places *p = desk->places; p != NULL; p = p->next) {
        if (p->ffn == ffn && p->ways == l->ep && p->redundant == l->redundant_experts)
            return &p->of;
    }
    serving_places *made = ridge_new(ridge_ctx_arena(desk->cx), serving_places, 1);
    if (made == NULL)
        return NULL;
    made->ffn = ffn;
    made->ways = l->ep;
    made->redundant = l->redundant_experts;
    made->next = desk->places;
    ridge_expert_places_find(op, &made->of);
    desk->places = made;
    return &made->of;
}

ridge_op_cost serving_experts_cost(const serving_bench *b, const ridge_ffn *ffn,
                                   double rows)
{
    const serving_format *f = &b->formats.of[RIDGE_QUANT_EXPERTS];
    ridge_experts op = {
        .tokens = rows,
        .experts_per_token = (double)ffn->experts_per_token,
        .experts = (double)ffn->experts,
        .ways = (double)b->layout->ep,
        .redundant = (double)b->layout->redundant_experts,
        .d_model = serving_expert_input(b, ffn),
        .d_ff = local_width(b, ffn),
        .skew = b->desk->about.expert_skew,
        .is_gated = ffn->is_gated,
        .activation = b->layout->formats.activation,
        .weight = f->weight,
        .compute = f->compute,
        .scale_bytes = f->scale_bytes,
        .comes_quantised = f->comes_quantised,
        .waits_for_fullest = true,
        .rate_share = rate_share(b, rows),
    };
    op.places = places_of(b, ffn, &op);
    return ridge_experts_cost(b->desk->chip, &op);
}

/* Of a layer's experts, whatever the rows. */
static double own_kernels_s(const serving_bench *b)
{
    const ridge_engine *e = b->desk->about.engine;
    const expert_kernels kernels = kernels_of(b);
    return kernels == KERNELS_FP8         ? e->experts_fp8_s
           : kernels == KERNELS_UNPACKING ? e->experts_narrow_s
                                          : 0;
}

double serving_experts_launch_s(const serving_bench *b)
{
    double layers = 0;
    for (int i = 0; i < b->cut->n_moe; i++)
        layers += b->cut->moe[i].count;
    return kernels_of(b) == KERNELS_UNPACKING
               ? layers * b->desk->about.engine->experts_narrow_launch_s
               : 0;
}

static serving_price price_of(const serving_bench *b, double rows)
{
    serving_price p = {{0}};
    const double own_s = own_kernels_s(b);
    for (int i = 0; i < b->cut->n_moe; i++) {
        const serving_moe *moe = &b->cut->moe[i];
        p.of[0] +=
            moe->count * (serving_experts_cost(b, moe->ffn, rows).expected_s + own_s);
        p.of[1] += moe->count * (EXPERT_KERNELS + (b->ranks > 1 ? 2 : 0));
    }
    return p;
}

static double price_exchanges(const serving_bench *b, double rows)
{
    double s = 0;
    for (int i = 0; i < b->cut->n_moe; i++)
        s += b->cut->moe[i].count *
             serving_dispatch_time(b, b->cut->moe[i].ffn, rows).expected_s;
    return s;
}

static double exchanges_s(const serving_bench *b, double rows)
{
    const ridge_serving_layout *l = b->layout;
    serving_memo *memo = &b->desk->memo;
    const int64_t compute = (int64_t)b->formats.of[RIDGE_QUANT_EXPERTS].compute;
    const serving_key key = {.of = {SERVING_KEY_EXPERTS + 1, b->ranks_key, l->ep,
                                    (int64_t)b->expert_width,
                                    (int64_t)l->formats.activation << 8 | compute},
                             .at = {rows}};
    if (b->ranks <= 1)
        return 0;
    const serving_price *known = serving_memo_find(memo, &key);
    if (known != NULL)
        return known->of[0];
    const serving_price price = {{price_exchanges(b, rows)}};
    serving_memo_put(ridge_ctx_arena(b->desk->cx), memo, &key, &price);
    return price.of[0];
}

double serving_experts_price(const serving_bench *b, double rows, double *ep_s,
                             double *kernels)
{
    serving_memo *memo = &b->desk->memo;
    const serving_key key = {.of = {SERVING_KEY_EXPERTS, b->formats_key,
                                    b->layout->redundant_experts << 32 | b->layout->ep,
                                    (int64_t)b->expert_width, b->ranks > 1},
                             .at = {rows}};
    *ep_s = *kernels = 0;
    if (rows <= 0 || b->cut->n_moe == 0)
        return 0;
    *ep_s = exchanges_s(b, rows);
    const serving_price *known = serving_memo_find(memo, &key);
    if (known != NULL) {
        *kernels = known->of[1];
        return known->of[0];
    }
    const serving_price price = price_of(b, rows);
    serving_memo_put(ridge_ctx_arena(b->desk->cx), memo, &key, &price);
    *kernels = price.of[1];
    return price.of[0];
}
