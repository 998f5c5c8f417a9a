/*
 * Dense feed-forwards whose weights stay on two axes: D over X ranks of tp, F over the
 * others. The stream arrives cut over all ranks; its part of D is gathered over F's
 * ranks, what the first maps make is summed over D's and shared again, what the last
 * one makes is summed over F's.
 *
 *     t = all_gather_F(B D / X) + g reduce_scatter_D(B F / Y) + all_gather_D(B F / Y)
 *         + reduce_scatter_F(B D / X),      against all_reduce_XY(B D)
 *
 * @source pope2022, section 3.2.2; scaling-book-2025 chapter 7, question 7
 */
#include "serving_bench.h"

static bool is_on_two_axes(const serving_bench *b)
{
    return b->layout->tp_d > 1;
}

void serving_stationary_set(const serving_bench *b, int format, ridge_matmul *p)
{
    const double x = (double)b->layout->tp_d;
    const double d = (double)b->desk->model->d_model;
    if (!is_on_two_axes(b) || format != RIDGE_QUANT_DENSE)
        return;
    const bool is_up = p->k >= d && p->k <= d;
    p->k = is_up ? p->k / x : p->k * x;
    p->n = is_up ? p->n * x : p->n / x;
}

/* One layer's feed-forward, less the all-reduce that it takes the place of. */
static double layer_s(const serving_bench *b, const ridge_ffn *ffn, double rows)
{
    const double element = ridge_dtype_bytes(b->layout->formats.activation);
    const double x = (double)b->layout->tp_d;
    const double y = (double)b->layout->tp / x;
    const double stream = rows * (double)b->desk->model->d_model * element;
    const double width = rows * (double)ffn->d_ff * element;
    const double gates = ffn->is_gated ? 2 : 1;
    const serving_groups *g = &b->groups;
    return serving_exchange_s(b, RIDGE_COLLECTIVE_ALL_GATHER, stream / x, &g->f) +
           gates * serving_exchange_s(b, RIDGE_COLLECTIVE_REDUCE_SCATTER, width / y,
                                      &g->d) +
           serving_exchange_s(b, RIDGE_COLLECTIVE_ALL_GATHER, width / y, &g->d) +
           serving_exchange_s(b, RIDGE_COLLECTIVE_REDUCE_SCATTER, stream / x, &g->f) -
           serving_exchange_s(b, RIDGE_COLLECTIVE_ALL_REDUCE, stream, &g->tp);
}

double serving_stationary_s(const serving_bench *b, double rows)
{
    double s = 0;
    for (int i = 0; is_on_two_axes(b) && i < b->desk->model->n_layers; i++) {
        const ridge_layer *layer = &b->desk->model->layers[i];
        if (layer->ffn.kind == RIDGE_FFN_DENSE && !layer->is_encoder)
            s += (double)layer->count * layer_s(b, &layer->ffn, rows);
    }
    return s;
}
