/* ridge export of serving plans: what starts the deployment. */
#ifndef RIDGE_CLI_EXPORT_SERVICE_H
#define RIDGE_CLI_EXPORT_SERVICE_H

#include "cli.h"

#include "ridge/plan_launch.h"

/** The plan for an engine. @errors those of ridge_serving_launch_write; E_ARG where the
 * deployment cannot run */
RIDGE_NODISCARD ridge_status export_service_write(cli_run *run, const char *to,
                                                  ridge_launch_text *out);

#endif
