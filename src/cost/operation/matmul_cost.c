/* Time of a matmul on one chip: its FLOPs and bytes; the shape's share of the peak
 * comes from matmul_shape.c. */
#include "bound.h"
#include "measured_rate.h"

#include <math.h>

/* nvfp4 has scales of blocks and one of the tensor: two passes, as one scale of a
 * tensor needs. @source nvfp4-2025 */
static bool has_two_scales(const ridge_matmul *op, ridge_dtype used)
{
    return op->scaling == RIDGE_SCALING_BLOCK && used == RIDGE_DTYPE_FP4;
}

/* Bytes an activation moves to be quantised: read, and written in the narrow format. A
 * scale of the whole tensor asks for its largest element first: read twice. */
static double quantise_bytes(const ridge_matmul *op, ridge_dtype used)
{
    const bool is_whole = op->scaling == RIDGE_SCALING_TENSOR;
    const double reads = is_whole || has_two_scales(op, used) ? 2 : 1;
    return op->batch * op->m * op->k *
           (reads * ridge_dtype_bytes(op->activation) + ridge_dtype_bytes(used));
}

/* Kernels that quantise activations before the product. */
static double quantise_s(const ridge_chip *chip, const ridge_matmul *op,
                         ridge_dtype used)
{
    const ridge_achievable *a = &chip->achievable;
    const bool is_narrowed =
        ridge_dtype_bytes(op->activation) > ridge_dtype_bytes(used);
    double call_s = 0;
    switch (op->scaling) {
    case RIDGE_SCALING_NONE:
        return 0;
    case RIDGE_SCALING_TENSOR:
        call_s = a->quantise_tensor_s;
        break;
    case RIDGE_SCALING_ROW:
        call_s = a->quantise_row_s;
        break;
    case RIDGE_SCALING_BLOCK:
        call_s = a->quantise_block_s * (has_two_scales(op, used) ? 2 : 1);
        break;
    }
    if (!is_narrowed || op->comes_quantised)
        return 0;
    return call_s + ridge__beside_stream_s(chip, quantise_bytes(op, used));
}

/* ---- few rows -------------------------------------------------------------------- */

/* Most rows for which libraries have kernels without matrix units, and operations of a
 * vector lane that each weight takes beside its multiplications: it is widened, and
 * what was multiplied is summed up. @source llama-cpp-2025 */
enum { VECTOR_ROWS = 8, WIDEN_OPS = 2 };

/* Each weight is met by so few rows that the vector units keep up with the memory;
 * tiles of matrix units would be all but empty. Products of floats that scale as they
 * go have no such kernel, integers do. */
static double few_rows_s(const ridge_chip *chip, const ridge_matmul *op)
{
    const bool is_scaled =
        op->scaling != RIDGE_SCALING_NONE && op->compute != RIDGE_DTYPE_INT8;
    if (chip->kind != RIDGE_CHIP_GPU || op->m > VECTOR_ROWS ||
        chip->vector_flops_per_s <= 0 || is_scaled)
        return HUGE_VAL;
    return 2 * op->batch * op->k * op->n * (op->m + WIDEN_OPS) /
           chip->vector_flops_per_s;
}

/* ---- cost ------------------------------------------------------------------------ */

double ridge__matmul_output_share(const ridge_matmul *op)
{
    return op->summed > 1 ? 1 / op->summed : 1;
}

/*
 * FLOPs 2 b m k n; bytes of each operand once, in its own format:
 *
 *     bytes = b (m k activation + k n weight + m n output / summed)
 *
 * Where the chip was measured by itself, the rate of that size holds, bytes included.
 * Activations that are quantised in the call move narrow. Left out: converting weights
 * to the arithmetic's format, scales of activations, and operands that stay in a
 * cache between calls.
 * @source scaling-book-2025 chapter 1
 */
ridge_op_cost ridge_matmul_cost(const ridge_chip *chip, const ridge_matmul *op,
                                ridge_memory memory)
{
    ridge_dtype used = op->compute;
    const double peak = ridge_chip_peak(chip, op->compute, &used);
    const double bytes_per_s = ridge__stream_bytes_per_s(chip, memory);
    const ridge_matmul_shape shape = ridge_matmul_shape_find(chip, op);
    const double share = ridge__share(chip->achievable.matmul[used]) * shape.efficiency;
    const double kernel = op->rate_share > 0 ? op->rate_share : 1;
    const double flops = 2 * op->batch * op->m * op->k * op->n;
    const double beside_s = quantise_s(chip, op, used);
    const ridge_dtype moved =
        beside_s > 0 || op->comes_quantised ? used : op->activation;
    const double weight = ridge_dtype_bytes(op->weight) + op->scale_bytes;
    const double bytes =
        op->batch * (op->m * op->k * ridge_dtype_bytes(moved) + op->k * op->n * weight +
                     op->m * op->n * ridge_dtype_bytes(op->output) *
                         ridge__matmul_output_share(op));
    const double rate = ridge__measured_matmul(chip, op, used, bytes);
    const double tiles_s = flops / (rate > 0 ? rate : peak * share * kernel);
    const op_load load = {
        .matmul_flops = flops,
        .bytes = bytes,
        .matmul_flops_per_s = peak,
        .bytes_per_s = bytes_per_s,
        .expected_matmul_s = rate > 0 ? tiles_s : fmin(tiles_s, few_rows_s(chip, op)),
        .expected_memory_s = rate > 0 ? 0 : ridge__stream_s(chip, memory, bytes),
        .is_prefetched = chip->kind != RIDGE_CHIP_GPU,
        .launch_s = chip->achievable.launch_s,
        .beside_s = beside_s,
        .tile_efficiency = shape.tile_efficiency,
        .wave_efficiency = shape.wave_efficiency,
    };
    return ridge__op_cost_make(&load);
}
