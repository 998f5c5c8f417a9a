/* Chips with a few round figures, for tests that need no catalogue. */
#ifndef RIDGE_TEST_PLAIN_CHIP_H
#define RIDGE_TEST_PLAIN_CHIP_H

#include "ridge/hardware.h"

/** A chip with one matrix peak and no facts on tiles: its shape efficiency is 1. */
static inline ridge_chip plain_chip(ridge_dtype dtype, double peak_flops_per_s,
                                    double hbm_bytes_per_s)
{
    ridge_chip chip = {
        .name = "plain",
        .full_name = "plain chip",
        .kind = RIDGE_CHIP_CPU,
        .hbm_bytes_per_s = hbm_bytes_per_s,
    };
    chip.has_peak[dtype] = true;
    chip.peak_flops_per_s[dtype] = peak_flops_per_s;
    return chip;
}

/** A GPU of 132 SMs with a 128 x 256 tile. */
static inline ridge_chip plain_gpu(void)
{
    ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 989e12, 3.35e12);
    chip.kind = RIDGE_CHIP_GPU;
    chip.has_peak[RIDGE_DTYPE_FP8] = true;
    chip.peak_flops_per_s[RIDGE_DTYPE_FP8] = 1979e12;
    chip.vector_flops_per_s = 67e12;
    chip.cores = 132;
    chip.tile_m = 128;
    chip.tile_n = 256;
    chip.l2_bytes_per_s = 5.5e12;
    chip.boost_clock_hz = 1.83e9;
    chip.achievable.matmul[RIDGE_DTYPE_BF16] = 0.78;
    chip.achievable.attention = 0.55;
    chip.achievable.memory = 0.86;
    chip.achievable.launch_s = 4e-6;
    return chip;
}

/** A TPU of four 128 x 128 arrays. */
static inline ridge_chip plain_tpu(void)
{
    ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 197e12, 0.82e12);
    chip.kind = RIDGE_CHIP_TPU;
    chip.vector_flops_per_s = 6e12;
    chip.cores = 1;
    chip.matmul_units = 4;
    chip.matmul_rows = 128;
    chip.matmul_cols = 128;
    chip.sublane_count = 8;
    chip.lane_count = 128;
    chip.pcie_bytes_per_s = 16e9;
    return chip;
}

#endif
