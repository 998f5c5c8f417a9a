/* What goes wrong in a step that is played. */
#ifndef RIDGE_CLI_TROUBLE_OPTIONS_H
#define RIDGE_CLI_TROUBLE_OPTIONS_H

#include "cli.h"

#include "ridge/simulate_step.h"

/** --jitter, --stragglers, --steps, --seed. @errors E_ARG */
RIDGE_NODISCARD ridge_status cli_step_trouble(cli_run *run, ridge_step_trouble *out);

#endif
