/*
 * ridge simulate: a plan played out as discrete events. What is played hangs on the
 * kind of the plan.
 */
#include "simulate_plan.h"

#include <string.h>

typedef struct plan_player {
    const char *kind;
    int (*play)(cli_run *run, ridge_node root);
} plan_player;

static const plan_player players[] = {{"train", cli_simulate_training}};

/* A plan without a kind is one of training. */
static ridge_status find_player(cli_run *run, const ridge_node *root,
                                const plan_player **out)
{
    const char *kind = "train";
    const ridge_node n = ridge_json_get(root, "kind");
    if (!ridge_json_is_absent(n) && !ridge_json_text(n, &kind))
        return ridge_json_fail(run->cx, n, "expected the kind of a plan: \"train\"");
    for (size_t i = 0; i < RIDGE_COUNT_OF(players); i++) {
        if (strcmp(players[i].kind, kind) == 0) {
            *out = &players[i];
            return RIDGE_OK;
        }
    }
    return ridge_json_fail(run->cx, n,
                           "plans of kind \"%s\" cannot be played: take one "
                           "that `ridge train --plan` wrote",
                           kind);
}

static int run_simulate(cli_run *run)
{
    ridge_node root;
    const plan_player *player;
    if (ridge_json_read(run->cx, run->args[0], &root) != RIDGE_OK ||
        find_player(run, &root, &player) != RIDGE_OK)
        return cli_fail(run);
    return player->play(run, root);
}

static const cli_option options[] = {
    {"jitter", "X%", "spread of each chip's compute time in each pass: 5%"},
    {"stragglers", "N:FACTOR", "N chips that take FACTOR times as long: 4:1.3"},
    {"steps", "N", "steps to play with jitter (200)"},
    {"failures", NULL, "play the whole run, with failures and restarts"},
    {"mtbf", "TIME", "between failures: 2.8h of the job, node:4000h, chip:5y"},
    {"record", "NAME", "a record of data/failures, instead of that of the chip"},
    {"site", "NAME", "whose storage and restart times of data/sites (reference)"},
    {"checkpoint", "WAY",
     "sync (default) or async, with an own interval: 30m, async:10m"},
    {"storage", "BYTES", "a second, of all nodes together: 2TB (the site's)"},
    {"restart", "TIME", "from a failure until the job loads its checkpoint: 10m"},
    {"tokens", "N", "tokens of the whole run (the plan's)"},
    {"runs", "N", "runs to play with failures (200)"},
    {"seed", "N", "of all that is drawn; the same seed gives the same result (1)"},
    {"timeline", "FILE", "write the step as a trace for Perfetto"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_simulate = {
    .name = "simulate",
    .summary = "a plan played out: pipeline, jitter, stragglers, failures, goodput",
    .synopsis = "PLAN",
    .detail =
        "PLAN is a file written by `ridge train ... --plan FILE`. Its step is played\n"
        "pass by pass over the pipeline's schedule, with the times of the planner, "
        "and\n"
        "held against the closed form that `ridge train` ranks layouts by.\n"
        "\n"
        "With --jitter every chip takes more or less time in every pass (lognormal, "
        "of\n"
        "mean 1), and chips that work in step wait for the slowest; the loss is split\n"
        "into what is waited for within a pass, between stages and between replicas.\n"
        "With --failures the run goes on for its tokens: checkpoints, failures, work\n"
        "that is lost, restarts.\n"
        "\n"
        "--timeline writes stages as processes with their passes, bubbles, "
        "collectives\n"
        "by network level, gradient reduction and optimizer.",
    .example = "ridge simulate examples/plan.json --jitter 5%",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_simulate,
};
