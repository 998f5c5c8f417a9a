/* ridge serve --speculation: when drafting pays, for the best layout without it. */
#ifndef RIDGE_CLI_SERVE_SPECULATION_H
#define RIDGE_CLI_SERVE_SPECULATION_H

#include "cli.h"

#include "ridge/plan_service.h"

/** Study the layout that a search without drafts found; the decode pool's of two.
 * @return the exit code */
int serve_speculation_run(cli_run *run, const ridge_service_request *request,
                          const ridge_service_result *result, const char *model_name);

#endif
