/* The program of a model, as `ridge model --program` prints it. */
#ifndef RIDGE_CLI_MODEL_PROGRAM_H
#define RIDGE_CLI_MODEL_PROGRAM_H

#include "cli.h"

/** Lower as --phase, --batch and --context say, and print the notation or JSON.
 * @return exit code */
int cli_model_program(cli_run *run, const ridge_model *model, double seq_tokens);

#endif
