/* `ridge train --sweep`: curves in the place of one slice's layouts. */
#ifndef RIDGE_CLI_TRAIN_SWEEP_H
#define RIDGE_CLI_TRAIN_SWEEP_H

#include "cli.h"

#include "ridge/plan_money.h"

/** Whether an option of curves was given: --sweep, or --svg, which needs it. */
bool train_sweep_is_asked(const cli_run *run);

/** Sweep and show. @param request  read and checked, its progress running or NULL
 * @return exit code: 1 when no point has an answer */
int train_sweep_run(cli_run *run, const char *model_name, ridge_train_request *request,
                    const ridge_money_request *money);

#endif
