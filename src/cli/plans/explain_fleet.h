/* ridge explain of a plan of pools of unlike chips. */
#ifndef RIDGE_EXPLAIN_FLEET_H
#define RIDGE_EXPLAIN_FLEET_H

#include "cli.h"

/** Whether the file holds such a plan. @errors those of reading it */
RIDGE_NODISCARD ridge_status explain_fleet_is_asked(cli_run *run, bool *out);
/** @return the exit code */
int explain_fleet_run(cli_run *run);

#endif
