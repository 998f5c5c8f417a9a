/*
 * The serving model held against measurements: deployments of engines and runs of
 * single streams, each row predicted, errors summed up by metric, chip, engine and
 * source.
 */
#ifndef RIDGE_PLAN_SERVING_VALIDATION_H
#define RIDGE_PLAN_SERVING_VALIDATION_H

#include "ridge/plan_serving.h"
#include "ridge/plan_validation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* name, key, text */
/* clang-format off */
#define RIDGE_SERVING_METRIC_LIST(X)                                                       \
    X(TTFT, "ttft_s", "TTFT")            /* seconds from sending to the first token */      \
    X(TPOT, "tpot_s", "TPOT")            /* seconds a token after the first */              \
    X(THROUGHPUT, "tokens_per_s", "tokens/s") /* generated; of prefill alone: read */       \
    X(LATENCY, "latency_s", "latency")   /* seconds from sending to the last token */       \
    X(TTFT_P50, "ttft_p50_s", "TTFT p50") /* medians over requests; the others are means */ \
    X(TPOT_P50, "tpot_p50_s", "TPOT p50")
/* clang-format on */

typedef enum ridge_serving_metric {
#define RIDGE_SERVING_METRIC_ENUM(name, key, text) RIDGE_SERVING_METRIC_##name,
    RIDGE_SERVING_METRIC_LIST(RIDGE_SERVING_METRIC_ENUM)
#undef RIDGE_SERVING_METRIC_ENUM
} ridge_serving_metric;

#define RIDGE_SERVING_METRIC_ONE(name, key, text) +1
enum {
    RIDGE_SERVING_METRIC_COUNT = 0 RIDGE_SERVING_METRIC_LIST(RIDGE_SERVING_METRIC_ONE)
};
#undef RIDGE_SERVING_METRIC_ONE

/** "ttft_s", …: keys of --json; static */
const char *ridge_serving_metric_key(ridge_serving_metric metric);
/** "TTFT", …: for people; static */
const char *ridge_serving_metric_text(ridge_serving_metric metric);

/* name, text */
/* clang-format off */
#define RIDGE_DRAFTING_LIST(X)                                                              \
    X(NONE, "none")         /* the model has no layers that draft, and none is named */      \
    X(STATED, "stated")     /* the row says what drafts, and how far */                      \
    X(UNSTATED, "unstated") /* the model can draft, the row is silent: predicted without */  \
    X(PROVEN, "proven")     /* quicker than memory allows one token an iteration */          \
    X(TWIN, "twin")         /* silent, and a row stated alike took 1.3 times as long */
/* clang-format on */

/** Whether more than one token an iteration was generated. */
typedef enum ridge_drafting {
#define RIDGE_DRAFTING_ENUM(name, text) RIDGE_DRAFTING_##name,
    RIDGE_DRAFTING_LIST(RIDGE_DRAFTING_ENUM)
#undef RIDGE_DRAFTING_ENUM
} ridge_drafting;

const char *ridge_drafting_text(ridge_drafting drafting); /* static */

/* name, text */
/* clang-format off */
#define RIDGE_CONTRADICTION_LIST(X)                                                         \
    X(NONE, "")                                                                              \
    X(CLIENTS, "its rate and times have more requests in flight than it has clients")        \
    X(IDLE, "its rate and times leave half of its clients idle")                             \
    X(GAPS, "its time per token is far above its gaps between tokens")
/* clang-format on */

/** Why what a row measured cannot all be true, by its own figures. Of GAPS tokens a
 *  second are counted, of the others nothing is. */
typedef enum ridge_contradiction {
#define RIDGE_CONTRADICTION_ENUM(name, text) RIDGE_CONTRADICTION_##name,
    RIDGE_CONTRADICTION_LIST(RIDGE_CONTRADICTION_ENUM)
#undef RIDGE_CONTRADICTION_ENUM
} ridge_contradiction;

const char *ridge_contradiction_text(ridge_contradiction contradiction); /* static */

/** One measured quantity with Ridge's prediction beside it; 0: not measured. */
typedef struct ridge_serving_figure {
    double measured, predicted;
    double relative_error; /* predicted / measured - 1 */
} ridge_serving_figure;

/** One measured deployment or run. */
typedef struct ridge_serving_row {
    const char *id, *source;
    const char *chip;   /* the catalogue's name, or the row's where it knows none */
    const char *model;  /* as the row has it */
    const char *engine; /* the catalogue's name, or the row's */
    const char *what;   /* layout, formats, load: for people */
    int line;
    bool is_predicted;
    const char *why_skipped; /* or NULL */
    const char *assumed;     /* what the row does not state; "" */
    bool is_complete;        /* predicted, and nothing that matters was assumed */
    ridge_contradiction contradiction;
    ridge_drafting drafting;
    ridge_serving_figure figures[RIDGE_SERVING_METRIC_COUNT];
    bool has_fit; /* it says whether a run fits in memory, and nothing else */
    bool fits_measured, fits_predicted;
    ridge_serving_step decode; /* the mean iteration that generates; all 0: none */
    ridge_serving_step prompt; /* an iteration of one prompt, or of its first chunk */
} ridge_serving_row;

/** Errors of one metric. */
typedef struct ridge_serving_errors {
    ridge_error_summary all;      /* every predicted row, but those PROVEN or a TWIN */
    ridge_error_summary complete; /* rows that state enough */
    ridge_error_groups by_chip, by_engine, by_source, by_model;
    ridge_error_groups complete_by_chip, complete_by_engine, complete_by_source;
} ridge_serving_errors;

/** Rows that say whether a run fits in memory. */
typedef struct ridge_fit_counts {
    int rows, right;
    int too_many; /* said to fit, and did not */
    int too_few;  /* said not to fit, and did */
} ridge_fit_counts;

/** Rows that were passed over for one reason. */
typedef struct ridge_skip_reason {
    const char *why;
    int rows;
} ridge_skip_reason;

typedef struct ridge_serving_validation {
    int n_rows, n_predicted, n_complete;
    int n_drafted;     /* PROVEN, or a TWIN */
    int n_contradicts; /* predicted, and their own figures contradict each other */
    ridge_serving_row *rows;
    ridge_serving_errors errors[RIDGE_SERVING_METRIC_COUNT];
    ridge_fit_counts fits;
    int n_reasons;
    ridge_skip_reason *reasons; /* most rows first */
} ridge_serving_validation;

/** Measured serving: a file, and by what it is predicted. */
typedef struct ridge_serving_measured {
    const ridge_catalog *catalog;
    const ridge_library *library;
    const char *path;
    ridge_progress *progress; /* or NULL */
} ridge_serving_measured;

/**
 * Read measured serving and predict each row: CSV with a header that names model_path,
 * system, backend, silicon_ttft_ms and silicon_tpot_ms beside the parallel layout, or
 * JSON Lines of {id, source {title}, model {name}, hardware {chip, n_chips}, config
 * {framework, mode, tp, ..., input_len, output_len}, measured {ttft_ms, tpot_ms, ...}}.
 * Rows of {measured {fits_in_memory: true}} are held against the memory that a layout
 * takes.
 * @owner the ctx
 * @errors E_IO; E_PARSE with file:line for text that is no such row. A row that cannot
 *         be predicted is no error: it says why_skipped
 * @threads as many as the machine has; the result does not depend on how many
 */
RIDGE_NODISCARD ridge_status
ridge_validate_serving(ridge_ctx *cx, const ridge_serving_measured *measured,
                       ridge_serving_validation *out);

#ifdef __cplusplus
}
#endif

#endif
