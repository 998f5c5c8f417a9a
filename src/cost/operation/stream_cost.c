/* Operations without a matmul: they stream bytes and do vector work. */
#include "bound.h"

ridge_op_cost ridge_stream_cost_from(const ridge_chip *chip, double vector_flops,
                                     double bytes, ridge_memory memory)
{
    const double bytes_per_s = ridge__stream_bytes_per_s(chip, memory);
    const op_load load = {
        .vector_flops = vector_flops,
        .bytes = bytes,
        .matmul_flops_per_s = ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL),
        .vector_flops_per_s = chip->vector_flops_per_s,
        .bytes_per_s = bytes_per_s,
        .expected_memory_s = ridge__stream_s(chip, memory, bytes),
        .launch_s = chip->achievable.launch_s,
        .tile_efficiency = 1,
        .wave_efficiency = 1,
    };
    return ridge__op_cost_make(&load);
}

ridge_op_cost ridge_stream_cost(const ridge_chip *chip, double vector_flops,
                                double bytes)
{
    return ridge_stream_cost_from(chip, vector_flops, bytes, RIDGE_MEMORY_HBM);
}
