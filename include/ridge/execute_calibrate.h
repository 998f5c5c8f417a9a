/*
 * A machine measured by running on it: products, the operations of a transformer,
 * attention and collectives, on as many ranks at once as will run later. The result is
 * a system file with its chip in it, which every verb takes behind --on.
 */
#ifndef RIDGE_EXECUTE_CALIBRATE_H
#define RIDGE_EXECUTE_CALIBRATE_H

#include "ridge/base.h"
#include "ridge/execute_comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_calibrate_request {
    ridge_ranks ranks; /* that measure at the same time; THREADS or MPI */
    int threads;       /* that compute for each; 0: processors / ranks, at least 1 */
    bool is_quick;     /* one round at fewer sizes: 5 s instead of 80 */
    ridge_progress *progress; /* or NULL */
} ridge_calibrate_request;

/** What was measured; of one rank while all work. Owned by the ctx. */
typedef struct ridge_calibration {
    ridge_engine engine;
    int ranks, threads;
    int processors;          /* of the machine */
    const char *cpu;         /* its name */
    const char *library;     /* of matrix products */
    double memory_bytes;     /* a rank's share of the machine's */
    double peak_flops_per_s; /* fp32 multiply-adds on registers */
    double copy_bytes_per_s; /* read and written, of arrays beyond the caches */
    double read_bytes_per_s; /* the same, summed up */
    double launch_s;         /* an instruction beside its kernel */
    double wall_s;           /* that measuring took */
    double disturbed_share;  /* of what was measured, in which two rounds are a quarter
                                apart: other programs ran, or ranks take turns */
    const char *date;        /* YYYY-MM */
    int year;
    ridge_measured_chip chip; /* grids; see ridge/hardware_measured.h */
    ridge_measured_level level;
} ridge_calibration;

/**
 * Measure. Every process of MPI calls it and gets the same.
 * @owner the ctx
 * @errors E_ARG no such engine here; E_NOMEM; E_CANCELLED; E_IO a rank failed
 */
RIDGE_NODISCARD ridge_status ridge_calibrate(ridge_ctx *cx,
                                             const ridge_calibrate_request *request,
                                             ridge_calibration *out);

/** The largest rate of a grid. */
double ridge_grid_rate_most(const ridge_grid *grid);

/** A system file, its chip within. @param name  of the system; the chip gets "-rank"
 * behind it */
ridge_json *ridge_calibration_to_system(ridge_ctx *cx, const ridge_calibration *c,
                                        const char *name);

#ifdef __cplusplus
}
#endif

#endif
