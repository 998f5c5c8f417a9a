/* Work that is known by its FLOPs and bytes alone: no shape, so no padding or waves. */
#include "bound.h"

ridge_op_cost ridge_work_cost(const ridge_chip *chip, ridge_dtype compute, double flops,
                              double bytes, ridge_memory memory)
{
    ridge_dtype used = compute;
    const double peak = ridge_chip_peak(chip, compute, &used);
    const op_load load = {
        .matmul_flops = flops,
        .bytes = bytes,
        .matmul_flops_per_s = peak,
        .bytes_per_s = ridge__stream_bytes_per_s(chip, memory),
        .expected_matmul_s =
            flops / (peak * ridge__share(chip->achievable.matmul[used])),
        .expected_memory_s = ridge__stream_s(chip, memory, bytes),
        .is_prefetched = chip->kind != RIDGE_CHIP_GPU,
        .launch_s = chip->achievable.launch_s,
        .tile_efficiency = 1,
        .wave_efficiency = 1,
    };
    return ridge__op_cost_make(&load);
}
