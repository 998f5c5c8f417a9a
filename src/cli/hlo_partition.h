/*
 * ridge hlo --partition: a sharded module cut over its devices.
 */
#ifndef RIDGE_CLI_HLO_PARTITION_H
#define RIDGE_CLI_HLO_PARTITION_H

#include "cli.h"

#include "ridge/profile_hlo.h"

/** Partition a module and write the result. @return exit code */
int cli_hlo_partition(cli_run *run, const ridge_hlo_module *module);

#endif
