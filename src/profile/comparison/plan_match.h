/*
 * Operations of a plan matched with those of a profile. Layer-internal.
 */
#ifndef RIDGE_PROFILE_PLAN_MATCH_H
#define RIDGE_PROFILE_PLAN_MATCH_H

#include "ridge/profile_compare.h"

/** What a plan predicts of one operation, a step. */
typedef struct predicted_op {
    const char *name, *block;
    ridge_profile_class class; /* as the profile would have it */
    double count;
    double time_s; /* of all calls */
    double flops;  /* of one call, local */
    bool is_matched;
} predicted_op;

typedef struct predicted_ops {
    int n;
    predicted_op *ops;
    double stages; /* over whose ranks they are averaged; 0: there is one stage */
} predicted_ops;

/** Operations of the stages whose ranks were read, on average of a rank; of all stages
 *  where traces do not tell their rank. @errors E_ARG a layout that does not lie on the
 *  slice; E_NOMEM */
RIDGE_NODISCARD ridge_status plan_match_predict(
    ridge_ctx *cx, const ridge_profile *profile, const ridge_train_request *request,
    const ridge_layout *layout, double microbatches, predicted_ops *out);
/** Rows of both, largest disagreement first. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status plan_match_rows(ridge_ctx *cx,
                                             const ridge_profile *profile,
                                             predicted_ops *predicted,
                                             ridge_plan_row **rows, int *n);

#endif
