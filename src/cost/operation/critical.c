/* Sizes from which an operation is compute bound. */
#include "bound.h"

#include <math.h>

/*
 * Solve 2 m k n / C = (m k a + k n w + m n o) / W for m:
 *
 *     m = k n w / (2 k n W / C - k a - n o)
 *
 * (o over what is summed, where products are added up to fewer elements.)
 * a, w, o bytes an element of activation, weight, output. When the denominator is not
 * positive, activations and output alone take longer than the arithmetic, at any m.
 * @source scaling-book-2025 chapter 1
 */
double ridge_matmul_critical_rows(const ridge_chip *chip, const ridge_matmul *op,
                                  ridge_memory memory)
{
    const double ridge = ridge_chip_peak(chip, op->compute, NULL) /
                         ridge__stream_bytes_per_s(chip, memory);
    const double spare =
        2 * op->k * op->n / ridge - op->k * ridge_dtype_bytes(op->activation) -
        op->n * ridge_dtype_bytes(op->output) * ridge__matmul_output_share(op);
    if (spare <= 0)
        return HUGE_VAL;
    return op->k * op->n * ridge_dtype_bytes(op->weight) / spare;
}

double ridge_matmul_critical_rows_limit(const ridge_chip *chip, const ridge_matmul *op,
                                        ridge_memory memory)
{
    return ridge_dtype_bytes(op->weight) / 2 *
           ridge_chip_peak(chip, op->compute, NULL) /
           ridge__stream_bytes_per_s(chip, memory);
}

/*
 * With T = S and c the average context of a query, FLOPs 2 N T c (H + Hv) against
 * bytes T (H + Hv) (N a + K w): the ridge is met at
 *
 *     c = C / W (N a + K w) / (2 N)
 *
 * c = T without a mask, (T + 1) / 2 with the causal one. N, K query and KV heads, a
 * and w bytes an element of activations and of the cache.
 * @source scaling-book-2025 chapter 4, question 4
 */
double ridge_attention_critical_tokens(const ridge_chip *chip,
                                       const ridge_attention *op)
{
    const double ridge = ridge_chip_ridge_point(chip, op->compute);
    const double context = ridge *
                           (op->heads * ridge_dtype_bytes(op->activation) +
                            op->kv_heads * ridge_dtype_bytes(op->cache)) /
                           (2 * op->heads);
    if (op->window > 0 && op->window <= context)
        return HUGE_VAL;
    const double tokens = op->is_causal ? 2 * context - 1 : context;
    if (op->window <= 0 || !op->is_causal || tokens <= op->window)
        return tokens;
    /* beyond the window the average of min(i, w) is w - w (w - 1) / (2 T) */
    return op->window * (op->window - 1) / (2 * (op->window - context));
}
