/*
 * The third answer beside bound and expected: the range in which measurements lie.
 */
#ifndef RIDGE_COST_RANGE_H
#define RIDGE_COST_RANGE_H

#include "ridge/base.h"
#include "ridge/cost.h"
#include "ridge/cost_roofline.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What has been measured, with the 10th and 90th percentile of measured / expected and
 * the number of measurements behind them.
 * From the published rows that `ridge validate` predicts, all chips together (NVIDIA
 * chips mostly; v6e for matmuls and attention; TPU and AMD for steps); steps on
 * calibrated machines from layouts that Ridge predicted there and ran: the tables are
 * in docs/accuracy.md.
 */
/* clang-format off */
#define RIDGE_MEASURED_LIST(X)                                                         \
    X(MATMUL, "matmuls", 0.87, 1.24, 1019)                                             \
    X(ATTENTION_PREFILL, "attentions of a prefill", 0.83, 1.56, 353)                   \
    X(ATTENTION_DECODE, "attentions of a decode step", 0.78, 1.50, 382)                \
    X(STREAM, "memory streams", 0.87, 1.03, 24)                                        \
    X(EXPERTS, "expert layers", 0.94, 3.73, 183)                                       \
    X(ALL_GATHER, "all-gathers", 0.87, 1.34, 149)                                      \
    X(REDUCE_SCATTER, "reduce-scatters", 0.92, 1.22, 87)                               \
    X(ALL_REDUCE, "all-reduces", 0.86, 1.70, 527)                                      \
    X(ALL_TO_ALL, "all-to-alls", 0.84, 1.42, 119)                                      \
    X(SEND_RECV, "sends", 0.80, 1.31, 34)                                              \
    X(TRAINING_STEP, "training steps", 0.92, 1.98, 689)                                \
    X(CALIBRATED_STEP, "steps on calibrated machines", 0.94, 1.09, 48)
/* clang-format on */

#define RIDGE_MEASURED_ENUM(name, text, low, high, rows) RIDGE_MEASURED_##name,
typedef enum ridge_measured {
    RIDGE_MEASURED_LIST(RIDGE_MEASURED_ENUM) RIDGE_MEASURED_COUNT
} ridge_measured;
#undef RIDGE_MEASURED_ENUM

/** Eight of ten measurements took from low_s to high_s where this was expected. */
typedef struct ridge_range {
    double low_s, high_s;
} ridge_range;

/** The range of an expected time; never below its bound. */
ridge_range ridge_range_of(ridge_measured what, ridge_time time);

/** Both ends added up: of parts that run one after the other. */
ridge_range ridge_range_sum(ridge_range a, ridge_range b);

/** Measurements of what a roofline's operation or a collective is. */
ridge_measured ridge_measured_of_op(const ridge_op *op);
ridge_measured ridge_measured_of_collective(ridge_collective kind);

/** "Range 57 us to 81 us: of 1,019 measured matmuls, 80 % took from 0.87 to 1.24 of the
 *  expected time." @owner the ctx; NULL when memory ran out */
const char *ridge_range_text(ridge_ctx *cx, ridge_measured what, ridge_range range);

#ifdef __cplusplus
}
#endif

#endif
