/* `ridge chips FILE`: a topology file, and the system that it makes. */
#ifndef RIDGE_CHIPS_TOPOLOGY_H
#define RIDGE_CHIPS_TOPOLOGY_H

#include "cli.h"

/** Whether the run's one argument names topology files: FILE, or NAME@FILE. */
bool chips_topology_is_asked(cli_run *run, const ridge_catalog *catalog);

/** Show it, and keep its system where --write-system says. @return exit code */
int chips_topology_run(cli_run *run, const ridge_catalog *catalog);

#endif
