/* ridge train --from FILE: a launch configuration as the question that train asks. */
#ifndef RIDGE_CLI_TRAIN_LAUNCH_H
#define RIDGE_CLI_TRAIN_LAUNCH_H

#include "cli.h"

#include "ridge/plan_launch.h"

typedef struct train_launch {
    ridge_launch launch;    /* path NULL: none was read */
    ridge_train_price over; /* its layout, if it does not fit; step_time_s 0: none */
} train_launch;

/** Fill model, knobs, batch, sequence and tokens of @p request from the file of --from;
 * its slice is set. A model given as an argument stands for the file's. */
RIDGE_NODISCARD ridge_status train_launch_read(cli_run *run, const char *path,
                                               ridge_train_request *request,
                                               train_launch *out);

/** Free dp and fsdp of a launch file where the command line sets another degree. */
void train_launch_free(const cli_run *run, ridge_knobs *knobs);

/** Price the file's layout if nothing fits. @errors those of ridge_train_price_one */
RIDGE_NODISCARD ridge_status train_launch_price(cli_run *run,
                                                const ridge_train_request *request,
                                                const ridge_train_result *result,
                                                train_launch *launch);

/** What was read, assumed and left out; in the text above the layouts. */
void train_launch_text(const train_launch *launch, ridge_buf *out);
void train_launch_json(cli_run *run, const ridge_train_request *request,
                       const train_launch *launch, ridge_json *object);

#endif
