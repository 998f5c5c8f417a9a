/*
 * ridge simulate: a plan played out as discrete events. What is played hangs on the
 * kind of the plan.
 */
#include "simulate_plan.h"

#include <string.h>

typedef struct plan_player {
    const char *kind;
    int (*play)(cli_run *run, ridge_node root);
    const char *const *others; /* options that do not apply, NULL-terminated */
} plan_player;

/* Options that one kind alone takes. */
static const char *const of_training[] = {
    "jitter",     "stragglers", "steps",  "failures", "record", "site",
    "checkpoint", "storage",    "tokens", "runs",     NULL};
static const char *const of_service[] = {
    "on",          "engine",          "requests",    "rate",     "arrivals",
    "concurrency", "think",           "prompt",      "output",   "count",
    "until",       "speed",           "turns",       "prefixes", "urgent",
    "slo",         "queue",           "router",      "longest",  "outage",
    "host-cache",  "no-prefix-cache", "per-request", "charts",   "svg",
    "memory",      "find-rate",       "stepped",     NULL};

static const plan_player players[] = {{"train", cli_simulate_training, of_service},
                                      {"serve", cli_simulate_service, of_training},
                                      {"fleet", cli_simulate_fleet, of_service}};

/* @param others  options of other kinds */
static ridge_status check_options(cli_run *run, const char *const *others,
                                  const char *kind)
{
    const char *what =
        ridge_sprintf(ridge_ctx_arena(run->cx),
                      "does not apply to a plan of kind \"%s\": leave it out", kind);
    return what == NULL ? ridge_fail_nomem(run->cx)
                        : cli_refuse_options(run, others, what);
}

/* A plan without a kind is one of training. */
static ridge_status find_player(cli_run *run, const ridge_node *root,
                                const plan_player **out)
{
    const char *kind = "train";
    const ridge_node n = ridge_json_get(root, "kind");
    if (!ridge_json_is_absent(n) && !ridge_json_text(n, &kind))
        return ridge_json_fail(run->cx, n,
                               "expected the kind of a plan: \"train\", \"serve\"");
    for (size_t i = 0; i < RIDGE_COUNT_OF(players); i++) {
        if (strcmp(players[i].kind, kind) == 0) {
            *out = &players[i];
            return RIDGE_OK;
        }
    }
    return ridge_json_fail(run->cx, n,
                           "plans of kind \"%s\" cannot be played: take one "
                           "that `ridge train --plan` or `ridge serve --plan` wrote",
                           kind);
}

/* A file, or why there is none: a model's name alone is no plan. */
static ridge_status read_file(cli_run *run, ridge_node *root)
{
    const ridge_model *model;
    const char *name = run->args[0];
    const ridge_status st = ridge_json_read(run->cx, name, root);
    if (st != RIDGE_E_IO)
        return st;
    const char *why = ridge_str_dup(ridge_ctx_arena(run->cx),
                                    ridge_str_of(ridge_ctx_message(run->cx)));
    if (why == NULL)
        return ridge_fail_nomem(run->cx);
    if (cli_model(run, name, &model) == RIDGE_OK)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "%s is a model, not a plan: say on what it is served: --on "
                          "h100:1x8",
                          name);
    return ridge_fail(run->cx, st, "%s", why);
}

static ridge_status read_plan(cli_run *run, ridge_node *root, const plan_player **out)
{
    if (run->n_knobs > 0)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "%s=: knobs describe a deployment of a model: add --on SLICE",
                          run->knobs[0].key);
    RIDGE_TRY(read_file(run, root));
    RIDGE_TRY(find_player(run, root, out));
    return check_options(run, (*out)->others, (*out)->kind);
}

/* A deployment by knobs needs a slice; a plan has its own. */
static int run_simulate(cli_run *run)
{
    ridge_node root;
    const plan_player *player = NULL;
    if (cli_option_text(run, "on") != NULL) {
        if (check_options(run, of_training, "serve") != RIDGE_OK)
            return cli_fail(run);
        return cli_simulate_model(run);
    }
    if (read_plan(run, &root, &player) != RIDGE_OK)
        return cli_fail(run);
    return player->play(run, root);
}

static const cli_option options[] = {
    {"jitter", "X%", "training: spread of each chip's compute time in each pass: 5%"},
    {"stragglers", "N:FACTOR",
     "training: N chips that take FACTOR times as long: 4:1.3"},
    {"steps", "N", "training: steps to play with jitter (200)"},
    {"failures", NULL, "training: play the whole run, with failures and restarts"},
    {"mtbf", "TIME",
     "between failures: 2.8h of the job, node:4000h, chip:5y; of a serving replica: "
     "30d"},
    {"record", "NAME", "training: a record of data/failures, not that of the chip"},
    {"site", "NAME",
     "training: whose storage and restart times of data/sites (reference)"},
    {"checkpoint", "WAY",
     "training: sync (default) or async, with an own interval: 30m, async:10m"},
    {"storage", "BYTES", "training: a second, of all nodes together: 2TB (the site's)"},
    {"restart", "TIME",
     "from a failure until the job loads its checkpoint: 10m; until a replica is back: "
     "5m"},
    {"tokens", "N", "training: tokens of the whole run (the plan's)"},
    {"runs", "N", "training: runs to play with failures (200)"},
    {"seed", "N", "of all that is drawn; the same seed gives the same result (1)"},
    {"timeline", "FILE", "write the step, or the service, as a trace for Perfetto"},
    {"on", "SLICE", "serving: chips of a deployment given by knobs: h100:1x8"},
    {"engine", "NAME",
     "serving: whose rules hold: vllm-v1, sglang, trtllm, jetstream, vllm-tpu, tgi, "
     "lmdeploy, static, other"},
    {"requests", "FILE",
     "serving: requests of Azure, BurstGPT, vidur, Mooncake, ..., packed or not"},
    {"rate", "R",
     "serving: requests a second that are drawn, or a file's lengths at it"},
    {"arrivals", "KIND",
     "serving: poisson (default), gamma:SHAPE, constant, bursts:ON:OFF, at-once"},
    {"concurrency", "N", "serving: clients that ask again when they are answered"},
    {"think", "TIME", "serving: from an answer to the next request (0)"},
    {"prompt", "P", "serving: tokens: 1200, uniform:1200:50%, lognormal:1200:80%"},
    {"output", "G", "serving: the same of an answer"},
    {"count", "N", "serving: requests to play (10,000; all of a file)"},
    {"until", "TIME", "serving: when the last request may arrive"},
    {"speed", "X", "serving: times of a file are divided by it (1)"},
    {"turns", "N", "serving: requests of a session, each with all before it (1)"},
    {"prefixes", "N:TOKENS", "serving: prompts begin with one of N prefixes: 8:2000"},
    {"urgent", "X%", "serving: share of requests that --queue priority puts first"},
    {"slo", "GOALS", "serving: ttft=500ms,tpot=30ms,e2e=20s: what goodput counts"},
    {"find-rate", "X%",
     "serving: at the highest rate at which X% of requests keep --slo: 99%"},
    {"queue", "POLICY", "serving: fcfs (default), shortest, priority, decode-first"},
    {"router", "WAY", "serving: least-loaded (default), round-robin, prefix"},
    {"longest", "N", "serving: tokens of a sequence; longer requests are refused"},
    {"memory", "X%", "serving: share of HBM for the engine: gpu_memory_utilization"},
    {"outage", "R:AT:TIME",
     "serving: replica R fails at a time: 0:120s:60s; repeatable"},
    {"host-cache", "BYTES", "serving: a second tier of the prefix cache, of a rank"},
    {"no-prefix-cache", NULL, "serving: prompts are not looked for in the cache"},
    {"charts", NULL, "serving: latencies and the course over time as charts"},
    {"svg", "FILE", "serving: write how latencies spread as a chart"},
    {"per-request", "FILE", "serving: write a line of JSON for each request"},
    {"stepped", NULL, "serving: every iteration by itself: as exact, slower"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_simulate = {
    .name = "simulate",
    .summary = "a plan played out: training steps and runs, services under requests",
    .synopsis = "PLAN|MODEL [KNOB=VALUE ...]",
    .detail =
        "PLAN is a file written by `ridge train ... --plan FILE` or `ridge serve ...\n"
        "--plan FILE`.\n"
        "\n"
        "A training step is played pass by pass over the pipeline's schedule, with "
        "the\n"
        "times of the planner, and held against the step that `ridge train` tells. "
        "With --jitter every chip takes more or less time in every\n"
        "pass (lognormal, of mean 1), and chips that work in step wait for the "
        "slowest;\n"
        "the loss is split into what is waited for within a pass, between stages and\n"
        "between replicas. With --failures the run goes on for its tokens: "
        "checkpoints,\n"
        "failures, work that is lost, restarts. --timeline writes stages as processes\n"
        "with their passes, bubbles, collectives by network level, gradient reduction\n"
        "and optimizer. Of a fleet (`--on A+B`) the step is played: one pipeline over\n"
        "its pools, or each pool's replicas, which meet once a step.\n"
        "\n"
        "A service is played iteration by iteration under the rules of its engine\n"
        "(data/engines): continuous batching, chunked prefill, a paged cache with\n"
        "prefixes, preemption or reservation, a router, pools for prompts and for\n"
        "decoding. Requests come from a file or are drawn; without either, they are\n"
        "those of the plan, of lengths within 10%. Latencies are split into what they\n"
        "are made of. A model with --on SLICE and knobs (tp= pp= ep= attention_dp=\n"
        "servers= weights= cache= batch= budget= mode=, as of `ridge serve`) is "
        "played\n"
        "without a plan.",
    .example = "ridge simulate examples/plan.json --jitter 5%",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .takes_knobs = true,
    .run = run_simulate,
};
