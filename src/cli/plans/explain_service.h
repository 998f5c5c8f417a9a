/* `ridge explain` of serving plans. */
#ifndef RIDGE_CLI_EXPLAIN_SERVICE_H
#define RIDGE_CLI_EXPLAIN_SERVICE_H

#include "cli.h"

/** Read the plan of the first argument and tell the quantity of the second.
 * @return exit code */
int explain_service_run(cli_run *run);

#endif
