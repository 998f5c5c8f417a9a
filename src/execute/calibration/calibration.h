/*
 * Measuring, within a rank: clocks that average over ranks, samples under names, and
 * the parts that take them. Each part runs on all ranks with the same items in the same
 * order.
 */
#ifndef RIDGE_EXECUTE_CALIBRATION_H
#define RIDGE_EXECUTE_CALIBRATION_H

#include "device.h"

#include "ridge/execute_calibrate.h"

/** One measured thing: where it lies in a grid, and its time. */
typedef struct ridge__sample {
    char name[48]; /* of the grid */
    double at[RIDGE_GRID_AXIS_MAX];
    double work;             /* FLOPs or bytes */
    double seconds, again_s; /* the first round's and the second's; 0: it has none */
    int unit;                /* of what was measured in one go */
} ridge__sample;

typedef struct ridge__samples {
    int n, most;
    ridge__sample *items;
    int met; /* of the items, by the second round */
} ridge__samples;

/** A rank that measures. */
typedef struct ridge__calibrator {
    ridge_ctx *cx;
    ridge_comm *world;
    const ridge_calibrate_request *request;
    ridge__device *device;
    int threads;
    bool is_crowded; /* more threads than processors: ranks take turns on them */
    bool is_again;   /* in the second round */
    int unit;        /* that is being measured */
    double progress_from, progress_to;
    ridge__samples matmul, attention, stream, collective;
    double peak_flops_per_s, copy_s, read_s, launch_s; /* copy and read: of a byte */
    double disturbed_share;
} ridge__calibrator;

/** Once what is to be measured. */
typedef ridge_status ridge__measure_fn(void *payload);

/**
 * Seconds of one call while all ranks make the same: the median over samples of some
 * milliseconds, longer ones where ranks take turns; the mean over ranks.
 * @errors as @p fn; E_CANCELLED; E_IO
 */
RIDGE_NODISCARD ridge_status ridge__measure(ridge__calibrator *c, ridge__measure_fn *fn,
                                            void *payload, double *out);

/** Replace each of n numbers by its mean over ranks. */
RIDGE_NODISCARD ridge_status ridge__mean_over_ranks(ridge__calibrator *c, double *v,
                                                    int n);

/**
 * Keep a sample. The second round makes the samples of the first again, in their order.
 * @errors E_INTERNAL more samples than there is room for
 */
RIDGE_NODISCARD ridge_status ridge__sample_add(ridge__calibrator *c, ridge__samples *to,
                                               const ridge__sample *sample);
/** What is measured from here on, in one go, is disturbed as a whole or not at all. */
void ridge__unit_begin(ridge__calibrator *c);
/** The second round begins. */
void ridge__samples_again(ridge__calibrator *c);
/**
 * One time of two: the mean, or where something else ran in one of the rounds (one unit
 * took a quarter longer there) the quicker round's.
 * @return the share of units that were so disturbed; 0 after one round
 */
double ridge__samples_settle(ridge__calibrator *c);
/** The quicker of two times; that which is 0 is not known. */
double ridge__quicker_s(double a_s, double b_s);

/** How far a part has come, 0 to 1. */
void ridge__calibrator_show(ridge__calibrator *c, double part, const char *what);

/** n elements of device memory, small positive numbers in either format. */
RIDGE_NODISCARD ridge_status ridge__filled_take(ridge__calibrator *c, int64_t bytes,
                                                void **out);

/* ---- parts ----------------------------------------------------------------------- */

RIDGE_NODISCARD ridge_status ridge__calibrate_products(ridge__calibrator *c);
/** Memory, and the fp32 peak. */
RIDGE_NODISCARD ridge_status ridge__calibrate_streams(ridge__calibrator *c);
/** Every operation of training steps of small models. */
RIDGE_NODISCARD ridge_status ridge__calibrate_steps(ridge__calibrator *c);
RIDGE_NODISCARD ridge_status ridge__calibrate_collectives(ridge__calibrator *c);

/**
 * Samples of each name as a grid: an axis has the sizes that occur; sizes of a
 * one-dimensional grid that are within a third of each other become one.
 * @owner the ctx
 * @errors E_NOMEM; E_INTERNAL a combination of sizes without a sample
 */
RIDGE_NODISCARD ridge_status ridge__samples_to_grids(ridge_ctx *cx,
                                                     const ridge__samples *samples,
                                                     int n_axes, ridge_grid_list *out);

#endif
