/*
 * Reasons: what a step would be if a number of the hardware, the model or the workload
 * were otherwise, which limit costs most, and what would help where nothing fits.
 */
#ifndef RIDGE_PLAN_REASONS_H
#define RIDGE_PLAN_REASONS_H

#include "ridge/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what if --------------------------------------------------------------------- */

enum { RIDGE_CHANGE_MAX = 16 };

/** Numbers of the hardware times factors, > 0. */
typedef struct ridge_change {
    const char *name; /* "hbm", or an axis of the slice: "nvlink", "ici", "dcn" */
    double factor;
} ridge_change;

typedef struct ridge_what_if {
    int n;
    ridge_change changes[RIDGE_CHANGE_MAX];
} ridge_what_if;

/**
 * "hbm=2x,ici=0.5x": flops, hbm (bandwidth), hbm_bytes, vector, network, inner, outer,
 * latency, host, or the beginning of the names of axes of the slice.
 * @errors E_ARG: an unknown name (with the nearest), a factor that is no number above 0
 */
RIDGE_NODISCARD ridge_status ridge_what_if_parse(ridge_ctx *cx, const char *text,
                                                 const ridge_slice *slice,
                                                 ridge_what_if *out);

/** The slice with changed numbers, and a changed chip. @owner the ctx. @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_slice_change(ridge_ctx *cx, const ridge_slice *slice,
                                                const ridge_what_if *what,
                                                const ridge_slice **out);

/** What changed hardware makes of an answer. */
typedef struct ridge_what_if_answer {
    ridge_train_price same; /* the best layout of before; fit may say that it is over */
    bool has_best;
    ridge_train_price best; /* of the changed hardware */
} ridge_what_if_answer;

/** @param best  of the request as it is. @errors E_NOMEM, E_CANCELLED */
RIDGE_NODISCARD ridge_status ridge_train_what_if(ridge_ctx *cx,
                                                 const ridge_train_request *request,
                                                 const ridge_train_price *best,
                                                 const ridge_what_if *what,
                                                 ridge_what_if_answer *out);

/* ---- limits ---------------------------------------------------------------------- */

/** A limit taken away, and what the best layout then is. */
typedef struct ridge_relaxation {
    const char *name; /* "schedule=any", "hbm_bytes=1.25x" */
    const char *what; /* for people */
    bool has_best;
    ridge_train_price best;
    double step_change; /* relative, of time a token; negative: faster */
} ridge_relaxation;

enum { RIDGE_RELAXATION_MAX = 24 };

/**
 * Each limit taken away by itself, the one that helps most first: knobs that the user
 * fixed, choices that are not searched unasked, memory, network, batch. Where nothing
 * fits (best NULL) only those that then have an answer, mildest first, and larger
 * slices of the same chip.
 * @param out  room for RIDGE_RELAXATION_MAX
 * @errors E_NOMEM, E_CANCELLED
 */
RIDGE_NODISCARD ridge_status ridge_train_relax(ridge_ctx *cx,
                                               const ridge_catalog *catalog,
                                               const ridge_train_request *request,
                                               const ridge_train_price *best,
                                               ridge_relaxation *out, int *n);

/* ---- the others ------------------------------------------------------------------ */

enum { RIDGE_DIFFERENCE_MAX = 3 };

/** A part of a step in which two layouts differ. */
typedef struct ridge_difference {
    int part;
    double change_s; /* of the other one */
} ridge_difference;

/** Where a layout loses against the best: the parts that differ most, largest first.
 * @return how many, at most RIDGE_DIFFERENCE_MAX; those of a thousandth of the step and
 *         more */
int ridge_train_differences(const ridge_train_price *best,
                            const ridge_train_price *other, ridge_difference *out);

/** Whether two steps are nearer to each other than layouts that were measured beside
 *  each other could be told apart: see docs/accuracy.md. */
bool ridge_train_is_tie(const ridge_train_price *best, const ridge_train_price *other);

/** Reasons that were asked for, beside an answer. */
typedef struct ridge_train_reasons {
    const char *what_if_text; /* NULL: not asked */
    ridge_what_if what_if;
    ridge_what_if_answer answer;
    int n_relaxations;
    ridge_relaxation relaxations[RIDGE_RELAXATION_MAX];
    int n_sensitivity;
    ridge_sensitivity sensitivity[RIDGE_SENSITIVITY_MAX];
} ridge_train_reasons;

#ifdef __cplusplus
}
#endif

#endif
