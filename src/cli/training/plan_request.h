/* A training plan read from its file, and the problem that it answers. */
#ifndef RIDGE_CLI_PLAN_REQUEST_H
#define RIDGE_CLI_PLAN_REQUEST_H

#include "cli.h"

#include "ridge/plan.h"

/** Model and slice of a plan looked up; knobs are free but for the precision.
 * @errors those of cli_catalog, ridge_slice_parse and cli_model */
RIDGE_NODISCARD ridge_status cli_plan_request(cli_run *run, const ridge_plan *plan,
                                              ridge_train_request *out);

#endif
