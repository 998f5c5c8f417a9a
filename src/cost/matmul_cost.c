/* Time of a matmul on one chip: its FLOPs and bytes; the shape's share of the peak
 * comes from matmul_shape.c. */
#include "bound.h"

/*
 * FLOPs 2 b m k n; bytes of each operand once, in its own format:
 *
 *     bytes = b (m k activation + k n weight + m n output)
 *
 * Left out: converting weights to the arithmetic's format, scales of quantised
 * formats, and operands that stay in a cache between calls.
 * @source scaling-book-2025 chapter 1
 */
ridge_op_cost ridge_matmul_cost(const ridge_chip *chip, const ridge_matmul *op,
                                ridge_memory memory)
{
    ridge_dtype used = op->compute;
    const double peak = ridge_chip_peak(chip, op->compute, &used);
    const double bytes_per_s = ridge__stream_bytes_per_s(chip, memory);
    const ridge_matmul_shape shape = ridge_matmul_shape_find(chip, op);
    const double flops = 2 * op->batch * op->m * op->k * op->n;
    const double bytes =
        op->batch * (op->m * op->k * ridge_dtype_bytes(op->activation) +
                     op->k * op->n * ridge_dtype_bytes(op->weight) +
                     op->m * op->n * ridge_dtype_bytes(op->output));
    const double memory_share =
        memory == RIDGE_MEMORY_HBM ? ridge__share(chip->achievable.memory) : 1;
    const op_load load = {
        .matmul_flops = flops,
        .bytes = bytes,
        .matmul_flops_per_s = peak,
        .bytes_per_s = bytes_per_s,
        .expected_matmul_s =
            flops /
            (peak * ridge__share(chip->achievable.matmul[used]) * shape.efficiency),
        .expected_memory_s = bytes / (bytes_per_s * memory_share),
        .launch_s = chip->achievable.launch_s,
        .tile_efficiency = shape.tile_efficiency,
        .wave_efficiency = shape.wave_efficiency,
    };
    return ridge__op_cost_make(&load);
}
