/*
 * A measured profile against a plan's prediction, against another profile, and turned
 * into a system file.
 */
#ifndef RIDGE_PROFILE_COMPARE_H
#define RIDGE_PROFILE_COMPARE_H

#include "ridge/plan.h"
#include "ridge/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- two profiles ------------------------------------------------------------------
 */

/** One thing before and after; of a step, on average. */
typedef struct ridge_profile_change {
    const char *name;
    double before_s, after_s;
    double before_count, after_count;
} ridge_profile_change;

typedef struct ridge_profile_diff {
    const ridge_profile *before, *after;
    ridge_profile_change step;
    int n_parts;
    ridge_profile_change parts[RIDGE_PROFILE_PART_COUNT];
    ridge_profile_change hidden; /* communication behind compute */
    ridge_profile_key key;
    int n_groups;
    ridge_profile_change *groups; /* of operations, largest changes first */
} ridge_profile_diff;

/** @owner the ctx; borrows the profiles. @errors E_ARG no device at work; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_profile_diff_build(ridge_ctx *cx,
                                                      const ridge_profile *before,
                                                      const ridge_profile *after,
                                                      ridge_profile_key key,
                                                      ridge_profile_diff *out);

/* ---- a plan ------------------------------------------------------------------------
 */

/** One row of predicted and measured; of a step of one device. */
typedef struct ridge_plan_row {
    const char *name;
    const char *how; /* how the two were matched, or what it holds */
    bool has_predicted, has_measured;
    double predicted_s, measured_s;
    double predicted_count, measured_count; /* calls a step; 0: does not apply */
} ridge_plan_row;

enum { RIDGE_PLAN_PART_MAX = 16 };

typedef struct ridge_plan_comparison {
    const ridge_profile *profile;
    const ridge_train_request *request;
    ridge_train_price price;
    int n_parts;
    ridge_plan_row parts[RIDGE_PLAN_PART_MAX]; /* step first, then what it is made of */
    int n_rows;
    ridge_plan_row *rows; /* operations and collectives, largest disagreement first */
    const char *note; /* why there are no rows, or of which stages they are; or NULL */
    const char *warning; /* that they may not be of the same run, or NULL */
} ridge_plan_comparison;

/**
 * Parts of the step, and each operation of the stages whose ranks were read: by name
 * where the trace is Ridge's own; else products by their FLOPs, attention, the
 * optimizer and what streams by kind, collectives by kind.
 * @param request  the plan's
 * @owner the ctx; borrows profile and request
 * @errors E_ARG the layout cannot be priced, or no device is at work; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_profile_against_plan(
    ridge_ctx *cx, const ridge_profile *profile, const ridge_train_request *request,
    const ridge_layout *layout, ridge_plan_comparison *out);

/* ---- calibration -------------------------------------------------------------------
 */

/** What a profile says of its hardware; 0: nothing. */
typedef struct ridge_profile_rates {
    double matmul[RIDGE_DTYPE_COUNT];  /* share of the peak, of large products */
    double attention;                  /* of the bf16 peak */
    double memory;                     /* of the HBM bandwidth, of large streams */
    double gather, reduce, all_to_all; /* of the innermost level's bandwidth */
    int64_t ranks;                     /* of the collectives that say it */
} ridge_profile_rates;

/** The best tenth (by time) of what is large enough to tell. @errors E_ARG no chip */
RIDGE_NODISCARD ridge_status ridge_profile_rates_find(ridge_ctx *cx,
                                                      const ridge_profile *profile,
                                                      ridge_profile_rates *out);
/**
 * A system file: the profile's system with what was measured in the place of published
 * figures.
 * @param system  where it ran
 * @param name    of the new one
 * @return NULL once the budget is spent
 */
ridge_json *ridge_profile_to_system(ridge_ctx *cx, const ridge_profile *profile,
                                    const ridge_profile_rates *rates,
                                    const ridge_system *system, const char *name);

#ifdef __cplusplus
}
#endif

#endif
