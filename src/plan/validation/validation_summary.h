/* Errors of predicted training runs, summed up. */
#ifndef RIDGE_PLAN_VALIDATION_SUMMARY_H
#define RIDGE_PLAN_VALIDATION_SUMMARY_H

#include "ridge/plan_validation.h"

/** Fill everything beside the rows. Rows that repeat another one, much slower, are
 *  marked first and then left out. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status validation_summarise(ridge_ctx *cx, ridge_validation *v);

#endif
