/* Slices compared by `ridge serve --on A,B`. */
#ifndef RIDGE_CLI_SERVE_OFFER_H
#define RIDGE_CLI_SERVE_OFFER_H

#include "cli.h"

/** Whether several slices, or any number of a chip, are asked for. */
bool serve_offer_is_asked(cli_run *run);

/** @return exit code */
int serve_offer_run(cli_run *run);

#endif
