/* The part of ridge shard that works on whole programs. */
#ifndef RIDGE_CLI_SHARD_PROGRAM_H
#define RIDGE_CLI_SHARD_PROGRAM_H

#include "cli.h"

#include "ridge/shard.h"

/** --program FILE, by rules or --auto. @return exit code */
int cli_shard_program(cli_run *run);

/** Print the message, and the line that is wrong with a caret. @return exit code 2 */
int cli_fail_at(cli_run *run, const ridge_expr_fault *fault);

#endif
