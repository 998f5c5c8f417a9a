/* ridge hlo FILE of XProf's memory viewer: what fills a device's memory. */
#ifndef RIDGE_CLI_HLO_MEMORY_TABLE_H
#define RIDGE_CLI_HLO_MEMORY_TABLE_H

#include "cli.h"

/** Tell of the table that is the first argument. @return exit code */
int cli_hlo_memory_table(cli_run *run);

#endif
