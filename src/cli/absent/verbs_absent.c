/*
 * The verbs that run programs or a server, in a build that runs none (RIDGE_EXECUTE
 * off).
 */
#include "cli.h"

static int run_absent(cli_run *run)
{
    const ridge_status st = ridge_fail(
        run->cx, RIDGE_E_ARG, "%s: not in this build of Ridge: use the ridge program",
        run->verb->name);
    return st == RIDGE_OK ? 0 : cli_fail(run);
}

static const cli_option options[] = {{NULL, NULL, NULL}};

const cli_verb cli_verb_run = {
    .name = "run",
    .summary = "a plan executed (not in this build)",
    .synopsis = "PLAN",
    .detail = "This build of Ridge runs no programs.",
    .example = "ridge run examples/tiny-llama",
    .options = options,
    .max_args = CLI_ARG_MAX,
    .takes_knobs = true,
    .run = run_absent,
};

const cli_verb cli_verb_calibrate = {
    .name = "calibrate",
    .summary = "this machine measured (not in this build)",
    .synopsis = "",
    .detail = "This build of Ridge runs no programs.",
    .example = "ridge calibrate",
    .options = options,
    .max_args = CLI_ARG_MAX,
    .takes_knobs = true,
    .run = run_absent,
};

const cli_verb cli_verb_ui = {
    .name = "ui",
    .summary = "the web page, served on this machine (not in this build)",
    .synopsis = "[TOPIC]",
    .detail = "This build of Ridge serves nothing.",
    .example = "ridge ui",
    .options = options,
    .max_args = CLI_ARG_MAX,
    .run = run_absent,
};
