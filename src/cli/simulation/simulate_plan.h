/* Plans played out, by kind. */
#ifndef RIDGE_CLI_SIMULATE_PLAN_H
#define RIDGE_CLI_SIMULATE_PLAN_H

#include "cli.h"

#include "ridge/plan_simulation.h"

/** Play a training plan. @param root  of the plan's file. @return exit code */
int cli_simulate_training(cli_run *run, ridge_node root);
/** The same of a plan of pools of unlike chips. */
int cli_simulate_fleet(cli_run *run, ridge_node root);
/** Play a serving plan on a stream of requests. */
int cli_simulate_service(cli_run *run, ridge_node root);
/** The same of the model of the first argument, on the slice of --on. */
int cli_simulate_model(cli_run *run);

/** What --failures and the options beside it ask for.
 *  @param money  out: of each kind of chip of the request's slice, as written */
RIDGE_NODISCARD ridge_status cli_simulation_failures(cli_run *run,
                                                     const ridge_train_request *request,
                                                     ridge_money_request *money,
                                                     ridge_simulation_request *out);

#endif
