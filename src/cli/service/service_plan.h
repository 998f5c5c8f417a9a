/* A serving plan read from its file, and the request that it answers. */
#ifndef RIDGE_CLI_SERVICE_PLAN_H
#define RIDGE_CLI_SERVICE_PLAN_H

#include "cli.h"

#include "ridge/plan_service_file.h"

/** Whether the plan in a file is of a service. @errors those of ridge_json_read */
RIDGE_NODISCARD ridge_status cli_plan_is_service(cli_run *run, const char *path,
                                                 bool *out);

/**
 * Model, slice, engine and drafting model of a plan looked up; knobs are free but for
 * the formats of its layouts.
 * @param plan  its choice gets the drafting model
 * @errors those of cli_catalog, ridge_slice_parse, cli_model and ridge_engine_find
 */
RIDGE_NODISCARD ridge_status cli_service_plan_request(cli_run *run,
                                                      ridge_service_plan *plan,
                                                      ridge_service_request *out);

/** The plan in the file of the first argument, its request and its price.
 * @errors E_ARG where it cannot run: no room for weights or caches, no legal layout */
RIDGE_NODISCARD ridge_status cli_service_plan_price(cli_run *run,
                                                    ridge_service_plan *plan,
                                                    ridge_service_request *request,
                                                    ridge_service_price *out);

#endif
