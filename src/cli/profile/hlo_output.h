/*
 * How the results of ridge hlo leave: a page, JSON or text.
 */
#ifndef RIDGE_CLI_HLO_OUTPUT_H
#define RIDGE_CLI_HLO_OUTPUT_H

#include "cli.h"

#include "ridge/report_hlo.h"

/* @return exit code */
int cli_hlo_emit(cli_run *run, const ridge_hlo_view *view);
int cli_hlo_emit_diff(cli_run *run, const ridge_hlo_diff_view *view);
/** --measured: the list that was named, priced. @return exit code */
int cli_hlo_measured(cli_run *run);

#endif
