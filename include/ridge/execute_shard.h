/*
 * Sharded einsums and partitioned programs proven on numbers: run on real ranks and
 * compared with what one device computes. Ranks are in execute_comm.h.
 */
#ifndef RIDGE_EXECUTE_SHARD_H
#define RIDGE_EXECUTE_SHARD_H

#include "ridge/base.h"
#include "ridge/cost.h"
#include "ridge/execute_comm.h"
#include "ridge/shard.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- strategies ------------------------------------------------------------------ */

/* name, text, what */
/* clang-format off */
#define RIDGE_DRAW_LIST(X)                                                      \
    X(WHOLE, "whole", "small whole numbers: a right sharding has no error at all") \
    X(REAL, "real", "numbers from -1 to 1: rounding shows")
/* clang-format on */

/** What operands are filled with. */
typedef enum ridge_draw {
#define RIDGE_DRAW_ENUM(name, text, what) RIDGE_DRAW_##name,
    RIDGE_DRAW_LIST(RIDGE_DRAW_ENUM)
#undef RIDGE_DRAW_ENUM
} ridge_draw;

RIDGE_NODISCARD ridge_status ridge_draw_parse(ridge_ctx *cx, const char *text,
                                              ridge_draw *out);

/** Strategies of a sharded einsum to be run, one after the other. */
typedef struct ridge_strategy_run {
    const ridge_expr *expr;
    int n;
    const ridge_strategy *const *strategies; /* [n] of the expression */
    ridge_formats formats; /* fp32 or bf16: of the first operand, the others, and what
                              lies between and the output; compute is not heeded */
    ridge_ranks ranks;     /* as many as the mesh has */
    int threads;           /* that compute for each rank; 0: processors / ranks */
    ridge_draw draw;
    uint64_t seed;
    int repeats;      /* timed runs, at most RIDGE_REPEAT_MAX; 0: as time allows */
    bool has_overlap; /* collective matmul where a strategy has one, timed beside the
                         plain run */
} ridge_strategy_run;

enum { RIDGE_REPEAT_MAX = 32 };

/** Times of a strategy on this machine: medians of repeats, from when all ranks start
 * to when the last is done, less what starting and ending together takes. Steps are
 * timed apart; the whole is timed in one go. */
typedef struct ridge_strategy_times {
    double steps_s[RIDGE_RESHARD_MAX]; /* as the strategy's */
    double product_s;
    double total_s;
} ridge_strategy_times;

/** What a run of a strategy showed; the same on every rank. */
typedef struct ridge_strategy_result {
    double max_abs_error; /* from the product of the whole arrays in double precision */
    double max_rel_error; /* of the largest number of the result */
    bool is_exact;        /* sums of these numbers are exact in these formats: the error
                             has to be 0 */
    bool is_padding_zero, has_equal_replicas; /* bit for bit */
    bool is_right; /* all of the above as it should be; without exact sums up to
                      1e-5 of the largest in fp32, 3e-2 in bf16 */
    ridge_strategy_times plain;
    bool is_beside[RIDGE_RESHARD_MAX]; /* steps that ran beside the product */
    bool has_overlap;                  /* any of them did */
    ridge_strategy_times overlapped;   /* then */
} ridge_strategy_result;

/**
 * Run strategies on real ranks: every rank holds its padded parts of the operands,
 * partial sums included, takes the steps in order, multiplies what it has, and the
 * result is compared with the unsharded product. The code is that which runs
 * transformers: a strategy becomes a partitioned program.
 *
 * Overlapped: the last gather of an operand, the scatter behind the product, or the
 * all-reduce there, runs in chunks beside the product, around the ring both ways
 * (tiles of the output for an all-reduce). Its numbers are checked as well.
 * @param results  room for run->n; on MPI set on every process
 * @errors E_ARG a mesh of another size than the ranks, formats without kernels, sizes
 *         beyond what one process can check; E_IO a rank is lost; E_NOMEM
 * @source scaling-book-2025 chapter 10; wang2023
 */
RIDGE_NODISCARD ridge_status ridge_strategies_run(ridge_ctx *cx,
                                                  const ridge_strategy_run *run,
                                                  ridge_strategy_result *results);

/* ---- partitioned programs -------------------------------------------------------- */

/** A partitioned program to be run against the whole one. */
typedef struct ridge_partition_run {
    const ridge_program *program;     /* whole */
    const ridge_partition *partition; /* of it */
    ridge_ranks ranks;
    int threads; /* 0: processors / ranks */
    uint64_t seed;
} ridge_partition_run;

/** One tensor that an operation of the whole program makes, all its repetitions. */
typedef struct ridge_tensor_check {
    int tensor; /* of the whole program */
    double max_abs_error;
    double max_rel_error; /* of the tensor's largest number */
    bool has_equal_replicas;
} ridge_tensor_check;

typedef struct ridge_partition_result {
    int n;
    ridge_tensor_check *checks; /* in the order of the program; owned by the ctx */
    double max_abs_error, max_rel_error;
    bool is_right;              /* up to 1e-3 of each tensor's largest number */
    double whole_s, measured_s; /* one pass on one rank; on all */
} ridge_partition_result;

/**
 * Run a partitioned program on ranks and the whole one on one rank, from the same
 * seeded weights and inputs, and compare every tensor that an operation makes.
 * @owner the ctx
 * @errors E_ARG operations or formats without kernels, pipeline stages; E_IO; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_partition_run_check(ridge_ctx *cx,
                                                       const ridge_partition_run *run,
                                                       ridge_partition_result *out);

#ifdef __cplusplus
}
#endif

#endif
