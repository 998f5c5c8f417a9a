/* Options of `ridge train` that only a search on one slice of one kind of chip takes.
 */
#ifndef RIDGE_CLI_SINGLE_OPTIONS_H
#define RIDGE_CLI_SINGLE_OPTIONS_H

#include "cli.h"

/** Refuse them. @param what  behind the option's name: "is of one slice: ..."
 *  @errors E_ARG, naming the option */
RIDGE_NODISCARD ridge_status cli_refuse_single_options(cli_run *run, const char *what);
/** The same of those that only one kind of chip takes. */
RIDGE_NODISCARD ridge_status cli_refuse_chip_options(cli_run *run, const char *what);

#endif
