/* Plans played out, by kind. */
#ifndef RIDGE_CLI_SIMULATE_PLAN_H
#define RIDGE_CLI_SIMULATE_PLAN_H

#include "cli.h"

/** Play a training plan. @param root  of the plan's file. @return exit code */
int cli_simulate_training(cli_run *run, ridge_node root);

#endif
