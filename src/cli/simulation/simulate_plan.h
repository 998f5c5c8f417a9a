/* Plans played out, by kind. */
#ifndef RIDGE_CLI_SIMULATE_PLAN_H
#define RIDGE_CLI_SIMULATE_PLAN_H

#include "cli.h"

/** Play a training plan. @param root  of the plan's file. @return exit code */
int cli_simulate_training(cli_run *run, ridge_node root);
/** The same of a plan of pools of unlike chips. */
int cli_simulate_fleet(cli_run *run, ridge_node root);
/** Play a serving plan on a stream of requests. */
int cli_simulate_service(cli_run *run, ridge_node root);
/** The same of the model of the first argument, on the slice of --on. */
int cli_simulate_model(cli_run *run);

#endif
