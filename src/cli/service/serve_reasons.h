/* What `ridge serve` is asked beyond the answer. */
#ifndef RIDGE_CLI_SERVE_REASONS_H
#define RIDGE_CLI_SERVE_REASONS_H

#include "cli.h"

#include "ridge/report_service.h"

/** Limits unasked; --sweep, --sizes, --what-if and --reasons when they are given; what
 *  would do where nothing does.
 * @errors E_ARG with the option's name; those of the studies */
RIDGE_NODISCARD ridge_status serve_reasons(cli_run *run,
                                           const ridge_service_request *request,
                                           const ridge_service_result *result,
                                           ridge_service_reasons *out);

#endif
