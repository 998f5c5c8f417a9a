/* How the rooflines of one operation become its cost; shared by the operations. */
#ifndef RIDGE_COST_BOUND_H
#define RIDGE_COST_BOUND_H

#include "ridge/cost.h"
#include "ridge/cost_program.h"

/** What an operation asks, the chip's physical rates, and the achievable times. */
typedef struct op_load {
    double matmul_flops, vector_flops, bytes;
    double matmul_flops_per_s; /* peak of the format that runs; > 0 */
    double vector_flops_per_s; /* 0: not known, vector work is then free */
    double bytes_per_s;        /* > 0 */
    double expected_matmul_s;  /* at achievable rates and by shape */
    double expected_memory_s;
    double launch_s;
    double beside_s;    /* other kernels of the call, one after another */
    bool is_prefetched; /* loads are scheduled ahead, and hide whole */
    double tile_efficiency, wave_efficiency;
} op_load;

/**
 * Bound, sum and expectation of one operation.
 *
 *     bound    = max(FLOPs / peak, vector FLOPs / vector peak, bytes / bandwidth)
 *     expected = launch + beside + max((compute^3 + memory^3)^(1/3), vector)
 *
 * at achievable rates: loads hide behind a GPU's arithmetic the better the more one of
 * them outweighs the other (the exponent is fitted on GEMMs of 16 bits on A100, H100,
 * H200 and B200: 2 to 4 do as well); where they are scheduled ahead, the larger of the
 * two counts. An achievable time below its physical one is raised to
 * it, so bound <= expected.
 * @source scaling-book-2025 chapter 1
 */
ridge_op_cost ridge__op_cost_make(const op_load *load);

/** The time of one kernel of that cost. */
ridge_operation_time ridge__time_of_cost(const ridge_op_cost *cost);

/** An efficiency from the data, 1 where it is not known. */
double ridge__share(double efficiency);

/** Elements that are written over the m x n products of a matmul: 1 but where products
 *  are summed. */
double ridge__matmul_output_share(const ridge_matmul *op);

/** Seconds to stream bytes at the achievable rate of a memory, from its start. */
double ridge__stream_s(const ridge_chip *chip, ridge_memory memory, double bytes);

/** The same of a small kernel beside a product or an attention: it quantises, rotates
 * or copies. They reach 0.7 of the rate of a stream. */
double ridge__beside_stream_s(const ridge_chip *chip, double bytes);

/** Rate at which operands stream from a memory; HBM's where the other is not known. */
double ridge__stream_bytes_per_s(const ridge_chip *chip, ridge_memory memory);

/**
 * What a block of a GPU kernel takes beside its work: two trips to DRAM, for the first
 * load and the last store, of 480 cycles each (measured 466 on A100, 479 on H100).
 * @return seconds; 0 when the clock is not known
 * @source luo2024
 */
double ridge__block_start_s(const ridge_chip *chip);

#endif
