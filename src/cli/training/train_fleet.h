/* `ridge train --on A+B`: pools of unlike chips in one pipeline. */
#ifndef RIDGE_CLI_TRAIN_FLEET_H
#define RIDGE_CLI_TRAIN_FLEET_H

#include "cli.h"

#include "ridge/plan.h"

/** Search and show. @param request  read; its slice has pools
 * @return exit code: 1 when nothing fits */
int train_fleet_run(cli_run *run, const char *model_name, ridge_train_request *request);

#endif
