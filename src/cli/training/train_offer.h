/* `ridge train --for`, `--deadline`, `--on A,B`: slices compared. */
#ifndef RIDGE_CLI_TRAIN_OFFER_H
#define RIDGE_CLI_TRAIN_OFFER_H

#include "cli.h"

#include "ridge/plan.h"

/** Whether slices are to be compared: an option of it was given, or several slices. */
bool train_offer_is_asked(cli_run *run);

/** The first of the slices, for what is read before they are compared. */
RIDGE_NODISCARD ridge_status train_offer_slice(cli_run *run, const ridge_slice **out);

/** Compare and show. @param request  read, but for its slice
 * @return exit code: 1 when no slice does */
int train_offer_run(cli_run *run, const char *model_name, ridge_train_request *request);

#endif
