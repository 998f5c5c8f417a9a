/* ridge train --to LAUNCHER: what a launcher can be told alone. */
#ifndef RIDGE_CLI_TRAIN_TARGET_H
#define RIDGE_CLI_TRAIN_TARGET_H

#include "cli.h"

#include "ridge/plan.h"

/** Set the request's target, if one is asked for. @errors E_ARG no such launcher, or a
 *  question of several slices */
RIDGE_NODISCARD ridge_status train_target_read(cli_run *run, const char *model_name,
                                               ridge_train_request *request);

/** Nothing was found, but would have been without the launcher: what it lacks.
 *  @errors E_ARG with that */
RIDGE_NODISCARD ridge_status train_target_explain(cli_run *run,
                                                  const ridge_train_request *request,
                                                  const ridge_train_result *result);

/** A line above the layouts. */
void train_target_text(const ridge_train_request *request, ridge_buf *out);

#endif
