/* The parts of ridge shard: on whole programs, and what is run. */
#ifndef RIDGE_CLI_SHARD_PROGRAM_H
#define RIDGE_CLI_SHARD_PROGRAM_H

#include "cli.h"

#include "ridge/report_shard.h"
#include "ridge/shard.h"

/** --program FILE, by rules or --auto. @return exit code */
int cli_shard_program(cli_run *run);

/** Write a sharded einsum as text, JSON and HTML. @return exit code */
int cli_shard_write(cli_run *run, const ridge_shard_view *view);
/** Run what --run asks for and write it with the view. @return exit code: 1 if the
 * numbers are wrong */
int cli_shard_prove(cli_run *run, const ridge_shard_view *view);

/** Print the message, and the line that is wrong with a caret. @return exit code 2 */
int cli_fail_at(cli_run *run, const ridge_expr_fault *fault);

#endif
