/*
 * Products of matrices. gemm.c and grouped_gemm.c share them out in tiles among a
 * team's threads; gemm_tile.c has one thread compute one tile, mostly through the
 * library: gemm_dnnl.c, or gemm_plain.c where there is none.
 */
#ifndef RIDGE_EXECUTE_GEMM_H
#define RIDGE_EXECUTE_GEMM_H

#include "device_cpu.h"

#include <stdatomic.h>

typedef struct ridge__gemm_library ridge__gemm_library;

/** A matrix whose rows are ld elements apart; or its columns, if it is transposed. */
typedef struct ridge__matrix {
    ridge__array array;
    int64_t ld;
    bool is_transposed;
} ridge__matrix;

/** The part of a matrix that begins at that row and column. */
static inline ridge__matrix ridge__matrix_at(ridge__matrix x, int64_t row,
                                             int64_t column)
{
    int64_t at = x.is_transposed ? column * x.ld + row : row * x.ld + column;
    x.array = ridge__array_at(x.array, at);
    return x;
}

/** c [m, n] = a [m, k] b [k, n], or added to c, which is never transposed. Sizes >= 1.
 */
typedef struct ridge__product {
    int64_t m, n, k;
    ridge__matrix a, b, c;
    ridge__array bias; /* [n], added to each row of c; p NULL: none */
    bool is_added;
} ridge__product;

/* ---- one thread's tile ----------------------------------------------------------- */

typedef enum ridge__tile_way {
    RIDGE__TILE_LIBRARY,   /* the library does it as it is */
    RIDGE__TILE_GATHERED,  /* a's awkward lines first come together, a stretch of k at
                              a time */
    RIDGE__TILE_CONVERTED, /* operands are first made fp32, a stretch of k at a time */
    RIDGE__TILE_FEW_ROWS   /* bf16 b is read as fast as memory gives it */
} ridge__tile_way;

/** How a product is cut in tiles, and how each is computed. */
typedef struct ridge__tiling {
    ridge__tile_way way;
    int64_t m, n;          /* of a tile */
    int64_t rows, columns; /* of tiles */
    size_t scratch_bytes;  /* that a worker needs */
} ridge__tiling;

/** @param copies  of such products, whose tiles the workers share */
ridge__tiling ridge__tiling_of(const ridge__device_cpu *cpu, const ridge__product *p,
                               int64_t copies);

/**
 * Compute tile number `at` of a product on the calling worker.
 * @return false: the library had no memory
 */
bool ridge__tile_run(ridge__device_cpu *cpu, int worker, const ridge__product *p,
                     const ridge__tiling *tiling, int64_t at);

/** Tiles that workers take one after the other. The sum in each is its own, so who
 * takes which does not matter to the numbers. */
typedef struct ridge__tile_queue {
    int64_t count;
    _Atomic int64_t next;
    _Atomic bool is_out_of_memory;
} ridge__tile_queue;

/**
 * Have the team run fn, whose payload begins with the queue.
 * @param flops  of all tiles: a small product is not worth waking the team
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__tile_queue_run(ridge__device_cpu *cpu,
                                                   ridge__tile_queue *queue,
                                                   ridge__team_fn *fn, double flops,
                                                   size_t scratch_bytes);

/* ---- the library ----------------------------------------------------------------- */

/** @errors E_NOMEM; E_INTERNAL the library refuses to start */
RIDGE_NODISCARD ridge_status ridge__gemm_library_open(ridge_ctx *cx,
                                                      const ridge__kernel_table *table,
                                                      int workers,
                                                      ridge__gemm_library **out);
void ridge__gemm_library_close(ridge__gemm_library *library); /* NULL: nothing */

/** "oneDNN", "plain": for reports. */
const char *ridge__gemm_library_name(void);

/** Whether it has products of bf16 on this CPU. */
bool ridge__gemm_library_can_bf16(const ridge__gemm_library *library);
/**
 * Whether it should be given a product of bf16 as it is, where nothing was measured.
 * Where it should not, operands are converted and multiplied in fp32.
 */
bool ridge__gemm_library_has_bf16(const ridge__gemm_library *library);
/** Say so against its default. @return false: it has no such product */
bool ridge__gemm_library_take_bf16(ridge__gemm_library *library, bool is_taken);

/**
 * Compute on the calling thread alone: fp32; or bf16 a and b, if it has them, with any
 * c.
 * @return false: no memory
 * @threads each worker its own
 */
bool ridge__gemm_library_run(ridge__gemm_library *library, int worker,
                             const ridge__product *p);

/** From now on what this thread calls runs on it alone, where a library would start
 * threads of its own. @return threads before, for ridge__library_threads_restore */
int ridge__library_threads_narrow(void);
void ridge__library_threads_restore(int threads);

#endif
