/* ridge serve --from FILE: the command of a serving engine as the question that serve
 * asks, and the account of what it said. */
#ifndef RIDGE_CLI_SERVE_LAUNCH_H
#define RIDGE_CLI_SERVE_LAUNCH_H

#include "cli.h"

#include "ridge/plan_launch_serving.h"
#include "ridge/plan_service.h"

typedef struct serve_launch {
    ridge_serving_launch launch; /* path NULL: none was read */
    double most_batch;           /* sequences of an attention rank and stage */
    bool is_limited;             /* that limit decides */
} serve_launch;

/** Fill model, engine and knobs of @p request from the command or file of --from; its
 * slice is set. A model given as an argument stands for the text's, --engine for its
 * engine.
 * @errors those of ridge_serving_launch_read; E_ARG prompts and outputs that are longer
 *         than the engine takes */
RIDGE_NODISCARD ridge_status serve_launch_read(cli_run *run, const char *from,
                                               ridge_service_request *request,
                                               serve_launch *out);

/** Search again at most sequences, where the best had more.
 * @errors those of ridge_service_search */
RIDGE_NODISCARD ridge_status serve_launch_limit(cli_run *run,
                                                ridge_service_request *request,
                                                serve_launch *launch,
                                                ridge_service_result *result);

/** What was read, assumed and left out; in the text above the layouts. */
void serve_launch_text(const serve_launch *launch, ridge_buf *out);
void serve_launch_json(cli_run *run, const serve_launch *launch, ridge_json *object);

#endif
