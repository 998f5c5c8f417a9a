/* ridge hlo SHAPE: one array's layout instead of a module. */
#ifndef RIDGE_CLI_HLO_LAYOUT_H
#define RIDGE_CLI_HLO_LAYOUT_H

#include "cli.h"

/** Whether an argument is a shape such as bf16[8,128]{1,0:T(8,128)} and no path. */
bool cli_hlo_is_shape(const char *text);

/** Tell of the shape that is the first argument. @return exit code */
int cli_hlo_layout(cli_run *run);

#endif
