/* ridge export of serving plans: what starts the deployment. */
#ifndef RIDGE_CLI_EXPORT_SERVICE_H
#define RIDGE_CLI_EXPORT_SERVICE_H

#include "cli.h"

#include "ridge/plan_launch.h"

/** Whether a plan's file is of a service. @errors E_IO, E_PARSE */
RIDGE_NODISCARD ridge_status export_service_is(cli_run *run, const char *path,
                                               bool *out);

/** The plan for an engine. @errors those of ridge_serving_launch_write */
RIDGE_NODISCARD ridge_status export_service_write(cli_run *run, const char *path,
                                                  const char *to,
                                                  ridge_launch_text *out);

#endif
