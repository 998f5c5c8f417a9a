/* `ridge explain` of models. */
#ifndef RIDGE_CLI_EXPLAIN_MODEL_H
#define RIDGE_CLI_EXPLAIN_MODEL_H

#include "cli.h"

#include "ridge/report.h"

/** Whether the first argument names a model, of the catalogue or by its config, and no
 * plan. A file that is neither counts as a plan: its reader says what is wrong. */
bool explain_model_is_asked(cli_run *run);

/** Tell the quantity of the second argument. @return exit code */
int explain_model_run(cli_run *run);

/** A derivation as text, JSON or a page. @return exit code */
int cli_explain_show(cli_run *run, const ridge_explain_view *view);

#endif
