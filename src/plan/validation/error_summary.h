/* Distribution of relative errors: of a set, and of the sets that a name divides rows
 * into. */
#ifndef RIDGE_PLAN_ERROR_SUMMARY_H
#define RIDGE_PLAN_ERROR_SUMMARY_H

#include "ridge/plan_validation.h"

/** Median and ninetieth percentile (nearest rank) of |error|, and the median error.
 * @param errors  n of them; their order is lost */
ridge_error_summary error_summarise(const char *name, double *errors, int n);

/** One row's error under the name that it is grouped by. */
typedef struct error_entry {
    const char *name;
    double error;
} error_entry;

/** One summary for each name, in order of names.
 * @param entries  n of them; they are sorted
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status error_group(ridge_ctx *cx, error_entry *entries, int n,
                                         ridge_error_groups *out);

#endif
