/* What `ridge serve` is asked: model, slice, engine, work, goals, knobs. */
#ifndef RIDGE_CLI_SERVE_OPTIONS_H
#define RIDGE_CLI_SERVE_OPTIONS_H

#include "cli.h"
#include "serve_launch.h"

#include "ridge/plan_service_play.h"

/** All of a request on the slice of --on. @param price  out: what a chip-hour costs,
 * where the request has one. @param launch  out: what --from said; NULL: --from is not
 * taken. @errors E_ARG, E_NOTFOUND with the option's name */
RIDGE_NODISCARD ridge_status serve_request(cli_run *run, ridge_service_request *out,
                                           ridge_price *price, serve_launch *launch);

/** The same on a slice that is given. */
RIDGE_NODISCARD ridge_status serve_request_on(cli_run *run, const ridge_slice *slice,
                                              ridge_service_request *out,
                                              ridge_price *price, serve_launch *launch);

/** Whether the best few are played, as --play and --no-play say. */
ridge_service_play_rule serve_play_rule(const cli_run *run);

/** The model that drafts, as --draft model:NAME says; NULL: none. */
const char *serve_draft_name(const cli_run *run);

#endif
