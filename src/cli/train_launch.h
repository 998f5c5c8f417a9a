/* ridge train --from FILE: a launch configuration as the question that train asks. */
#ifndef RIDGE_CLI_TRAIN_LAUNCH_H
#define RIDGE_CLI_TRAIN_LAUNCH_H

#include "cli.h"

#include "ridge/plan_launch.h"

/** Fill model, knobs, batch, sequence and tokens of @p request from the file of --from;
 * its slice is set. A model given as an argument stands for the file's. */
RIDGE_NODISCARD ridge_status train_launch_read(cli_run *run, const char *path,
                                               ridge_train_request *request,
                                               ridge_launch *out);

/** Free dp and fsdp of a launch file where the command line sets another degree. */
void train_launch_free(const cli_run *run, ridge_knobs *knobs);

/** What was read, assumed and left out; in the text above the layouts. */
void train_launch_text(const ridge_launch *launch, ridge_buf *out);
void train_launch_json(cli_run *run, const ridge_launch *launch, ridge_json *object);

#endif
