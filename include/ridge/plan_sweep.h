/*
 * Scaling curves: the best layout at each of several numbers of chips, batches or
 * sequence lengths, how efficiency falls, and where communication begins to bind.
 */
#ifndef RIDGE_PLAN_SWEEP_H
#define RIDGE_PLAN_SWEEP_H

#include "ridge/plan_money.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ridge_curve_axis {
    RIDGE_CURVE_CHIPS,
    RIDGE_CURVE_BATCH, /* tokens a step */
    RIDGE_CURVE_SEQ    /* tokens a sequence */
} ridge_curve_axis;

/** "chips", "batch", "seq" */
const char *ridge_curve_axis_text(ridge_curve_axis axis);

enum { RIDGE_CURVE_MAX = 24, RIDGE_CURVE_MARK_MAX = 12 };

/** The values of a sweep, ascending. */
typedef struct ridge_curve_range {
    ridge_curve_axis axis;
    int n;
    double values[RIDGE_CURVE_MAX];
} ridge_curve_range;

/** "chips=64,128,512", "chips=64..16384" (doubling), "batch=1M..16M*4" (times four).
 * @errors E_ARG: another axis (with the nearest), values that are no whole numbers
 * above 0, that do not rise, or too many */
RIDGE_NODISCARD ridge_status ridge_curve_parse(ridge_ctx *cx, const char *text,
                                               ridge_curve_range *out);

/** How a curve grows with the chips. */
typedef enum ridge_curve_kind {
    RIDGE_CURVE_STRONG, /* the batch stays */
    RIDGE_CURVE_WEAK,   /* the batch grows with the chips, from the first point */
    RIDGE_CURVE_PLAIN   /* batch or sequence are swept, the slice stays */
} ridge_curve_kind;

/** "strong", "weak", "plain" */
const char *ridge_curve_kind_text(ridge_curve_kind kind);

/** One problem of a curve. */
typedef struct ridge_curve_point {
    double value;        /* of the axis that is swept */
    const char *why_not; /* no answer: no such slice, nothing fits; else NULL */
    ridge_train_request request;
    ridge_train_price best; /* why_not NULL */
    ridge_thresholds thresholds;
    ridge_money money;
    double tokens_per_s;  /* of all chips */
    double speedup;       /* in tokens/s, over the first point that has an answer */
    double efficiency;    /* speedup over the growth of chips */
    double communication; /* exposed, of the step */
    bool is_bound;        /* exposed communication is longer than any other part */
} ridge_curve_point;

/** A place on the axis where something sets in. */
typedef struct ridge_curve_mark {
    const char *label;
    double at;
    bool is_threshold; /* by the plain rooflines; else by the layouts of the points */
} ridge_curve_mark;

typedef struct ridge_curve {
    ridge_curve_kind kind;
    int n;
    ridge_curve_point points[RIDGE_CURVE_MAX];
    int n_marks;
    ridge_curve_mark marks[RIDGE_CURVE_MARK_MAX];
} ridge_curve;

typedef struct ridge_curve_study {
    ridge_curve_range range;
    int n_curves; /* strong and weak of chips; one otherwise */
    ridge_curve curves[2];
    double seconds;
    int64_t covered; /* layouts, over all points */
} ridge_curve_study;

/** Whether a part of a step is communication. @param part  0 .. RIDGE_STEP_COUNT - 1 */
bool ridge_step_is_communication(int part);

/**
 * Search every point, on threads.
 * @param request  of the point that is not swept: model, slice, batch, sequence, knobs
 * @param money    where it runs; for goodput and dollars of each point
 * @param out      some hundred kilobytes: not for the stack. Requests and texts of its
 *                 points live as long as the ctx
 * @errors E_NOMEM; E_CANCELLED; those of ridge_train_check that hold for every point
 * are told by the points
 */
RIDGE_NODISCARD ridge_status ridge_train_sweep(ridge_ctx *cx,
                                               const ridge_catalog *catalog,
                                               const ridge_train_request *request,
                                               const ridge_money_request *money,
                                               const ridge_curve_range *range,
                                               ridge_curve_study *out);

#ifdef __cplusplus
}
#endif

#endif
