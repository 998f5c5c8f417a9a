/* The traces that ridge train writes of its best layout. */
#ifndef RIDGE_CLI_TRAIN_TIMELINE_H
#define RIDGE_CLI_TRAIN_TIMELINE_H

#include "cli.h"

#include "ridge/report.h"

/** --timeline: the step; --operations: one microbatch of one stage. Nothing where
 * nothing fits. */
RIDGE_NODISCARD ridge_status cli_train_timeline(cli_run *run,
                                                const ridge_train_view *view);

#endif
