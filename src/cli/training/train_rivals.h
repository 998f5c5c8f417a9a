/* `ridge train A --against B`: models compared on one slice. */
#ifndef RIDGE_CLI_TRAIN_RIVALS_H
#define RIDGE_CLI_TRAIN_RIVALS_H

#include "cli.h"

#include "ridge/plan_money.h"

bool train_rivals_are_asked(cli_run *run);

/** Compare and show. @return exit code: 1 when no model fits */
int train_rivals_run(cli_run *run, const char *model_name, ridge_train_request *request,
                     const ridge_money_request *money);

#endif
