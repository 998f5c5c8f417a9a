/* `ridge model --routed`: tokens dealt to a mixture's experts. */
#ifndef RIDGE_CLI_MODEL_ROUTING_H
#define RIDGE_CLI_MODEL_ROUTING_H

#include "cli.h"

/** Whether it was asked for; options that belong to it are refused without. */
ridge_status cli_routing_is_asked(cli_run *run, bool *out);
/** Deal the tokens to the experts of @p model, or those of --experts. @return exit code
 * @param model  or NULL */
int cli_model_routing(cli_run *run, const ridge_model *model);

#endif
