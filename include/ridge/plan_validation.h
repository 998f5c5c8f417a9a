/*
 * The model held against measurements: training runs, and operations and collectives.
 * Each row of a file is predicted; the errors are summed up by chip, kind and source.
 */
#ifndef RIDGE_PLAN_VALIDATION_H
#define RIDGE_PLAN_VALIDATION_H

#include "ridge/base.h"
#include "ridge/hardware.h"
#include "ridge/model.h"
#include "ridge/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Errors of a set of rows; relative. */
typedef struct ridge_error_summary {
    const char *name; /* chip, kind or source */
    int rows;
    double median_abs, p90_abs, bias; /* bias: median signed */
} ridge_error_summary;

/* ---- training runs --------------------------------------------------------------- */

/** One row of measured training runs with Ridge's prediction beside it. */
typedef struct ridge_validation_row {
    const char *id, *source, *chip, *model;
    int line;
    bool is_predicted;
    const char *why_skipped; /* or NULL */
    bool is_complete;        /* nothing that matters was assumed */
    const char *assumed;     /* what was; "" */
    double measured_step_s, predicted_step_s;
    double relative_error; /* predicted / measured - 1 */
    bool has_memory;
    double measured_memory_bytes, predicted_memory_bytes;
    ridge_train_price price; /* of the layout that was taken */
    ridge_range range;       /* where eight of ten steps on such software lie */
    const char *stack;       /* the software that was taken; "": well tuned */
    bool has_experts;
    double chip_s_per_token; /* measured */
    const char *plan_words;  /* what the row says of remat, precision and sharding */
    const char *format;      /* of its arithmetic, "" where it says nothing */
    bool is_disturbed;       /* the same plan of this source, or one like it, ran much
                              * faster: not counted */
} ridge_validation_row;

enum { RIDGE_SUMMARY_MAX = 96 };

/** Whether layouts of one model stand in the order in which a source measured them. */
typedef struct ridge_ranking {
    const char *source, *model;
    int rows, pairs;       /* pairs of unlike plans that were measured apart */
    double tau;            /* Kendall's, of chip-seconds a token: 1 the same order */
    double repeats_differ; /* nine of ten pairs of runs of one plan by that share or
                            * less; 0: none was repeated */
    int pairs_beyond;      /* pairs that differ by more */
    double tau_beyond;     /* tau over them */
} ridge_ranking;

typedef struct ridge_validation {
    int n_rows;
    ridge_validation_row *rows;
    int n_predicted, n_complete, n_disturbed;
    ridge_error_summary all;      /* complete rows and assumed ones together */
    ridge_error_summary complete; /* rows that state their whole plan */
    ridge_error_summary assumed;
    ridge_error_summary memory;
    int n_by_chip, n_by_source;
    ridge_error_summary by_chip[RIDGE_SUMMARY_MAX];
    ridge_error_summary by_source[RIDGE_SUMMARY_MAX];
    int n_complete_by_chip, n_by_stack, n_memory_by_source;
    ridge_error_summary complete_by_chip[RIDGE_SUMMARY_MAX];
    ridge_error_summary by_stack[RIDGE_SUMMARY_MAX];
    ridge_error_summary memory_by_source[RIDGE_SUMMARY_MAX];
    int n_rankings; /* of models of which a source measured five layouts or more */
    ridge_ranking rankings[RIDGE_SUMMARY_MAX];
} ridge_validation;

/** Read a JSON Lines file of measured training runs and predict each.
 * @errors E_IO; E_PARSE with file:line for text that is no such row */
RIDGE_NODISCARD ridge_status ridge_validate_training(ridge_ctx *cx,
                                                     const ridge_catalog *catalog,
                                                     const ridge_library *library,
                                                     const char *path,
                                                     ridge_validation *out);

/* ---- operations and collectives -------------------------------------------------- */

/** One measured operation with Ridge's prediction beside it. */
typedef struct ridge_op_row {
    const char *id, *source;
    const char *chip; /* the catalogue's name, or the row's where it knows none */
    const char *kind; /* "matmul", "attention decode", "all-reduce", ... */
    const char *what; /* shape, formats */
    int line;
    bool is_predicted;
    bool beats_bound;        /* measured faster than physics allows: not predicted */
    const char *why_skipped; /* or NULL */
    double measured_s, predicted_s, bound_s;
    double relative_error; /* predicted / measured - 1 */
} ridge_op_row;

/** Summaries of rows by one of their properties, in order of names. */
typedef struct ridge_error_groups {
    int n;
    ridge_error_summary *at;
} ridge_error_groups;

typedef struct ridge_op_validation {
    int n_rows;
    ridge_op_row *rows;
    int n_predicted, n_refused; /* refused: measured faster than the bound */
    ridge_error_summary all;
    ridge_error_groups by_duration; /* below 20 us, to 100 us, beyond */
    ridge_error_groups by_chip, by_kind, by_source;
    ridge_error_groups by_chip_kind; /* "h100, matmul" */
} ridge_op_validation;

/**
 * Read measured operations and predict each: CSV with a header that names op, hardware
 * and latency_us beside the dims of its kind, or JSON Lines of {id, source {title},
 * hardware {chip}, config {op, ...}, measured {latency_us, ...}}.
 * @owner the ctx
 * @errors E_IO; E_PARSE with file:line for text that is no such row. A row that cannot
 *         be priced is no error: it says why_skipped
 */
RIDGE_NODISCARD ridge_status ridge_validate_operations(ridge_ctx *cx,
                                                       const ridge_catalog *catalog,
                                                       const char *path,
                                                       ridge_op_validation *out);

/* ---- either ---------------------------------------------------------------------- */

typedef enum ridge_measured_file {
    RIDGE_MEASURED_TRAINING,
    RIDGE_MEASURED_OPERATIONS,
    RIDGE_MEASURED_SERVING
} ridge_measured_file;

/** What a file of measurements holds, told by its first row.
 * @errors E_IO; E_PARSE when it is none of them */
RIDGE_NODISCARD ridge_status ridge_measured_file_find(ridge_ctx *cx, const char *path,
                                                      ridge_measured_file *out);

#ifdef __cplusplus
}
#endif

#endif
