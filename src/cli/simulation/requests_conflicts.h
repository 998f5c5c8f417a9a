/* Options of requests that would do nothing beside others, or without them. */
#ifndef RIDGE_REQUESTS_CONFLICTS_H
#define RIDGE_REQUESTS_CONFLICTS_H

#include "cli.h"

/** @errors E_ARG: an option that would be passed over, and what to do */
RIDGE_NODISCARD ridge_status requests_check_options(cli_run *run);

#endif
