#include "requests_conflicts.h"

#include <string.h>

static bool has(const cli_run *run, const char *name)
{
    return cli_option_text(run, name) != NULL;
}

static bool is(const cli_run *run, const char *name, const char *value)
{
    const char *text = cli_option_text(run, name);
    return text != NULL && strcmp(text, value) == 0;
}

/* Whether something else than a file says when requests come. */
static bool has_arrivals(const cli_run *run)
{
    return has(run, "rate") || has(run, "arrivals") || has(run, "concurrency") ||
           has(run, "turns") || has(run, "prefixes");
}

typedef struct option_conflict {
    bool is_met;
    const char *what;
} option_conflict;

static ridge_status fail_first(cli_run *run, const option_conflict *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (all[i].is_met)
            return ridge_fail(run->cx, RIDGE_E_ARG, "%s", all[i].what);
    }
    return RIDGE_OK;
}

/* A file has lengths of its own, and times while nothing else says when. */
static ridge_status check_file(cli_run *run)
{
    const bool has_file = has(run, "requests"), is_drawn = has_arrivals(run);
    const option_conflict all[] = {
        {has_file && (has(run, "prompt") || has(run, "output")),
         "--prompt and --output are of drawn requests, and a file has lengths of its "
         "own: leave them out, or --requests"},
        {has(run, "speed") && !has_file,
         "--speed divides the times of a file: add --requests FILE, or leave it out"},
        {has(run, "speed") && is_drawn,
         "--speed divides the times of a file, and --rate, --arrivals, --concurrency, "
         "--turns or --prefixes replace them: leave one of them out"},
        {has(run, "urgent") && has_file && !is_drawn,
         "--urgent is of drawn requests, and a file comes as it stands: add --rate to "
         "draw its arrivals, or leave it out"},
    };
    return fail_first(run, all, RIDGE_COUNT_OF(all));
}

static ridge_status check_arrivals(cli_run *run)
{
    const bool has_answers = has(run, "concurrency") || has(run, "turns");
    const bool is_open = has(run, "rate") || has(run, "arrivals") ||
                         has(run, "find-rate") ||
                         (has(run, "requests") && !has_arrivals(run));
    const option_conflict all[] = {
        {has(run, "rate") && is(run, "arrivals", "at-once"),
         "--rate says when requests come, and --arrivals at-once that all come at "
         "once: leave one of them out"},
        {has(run, "think") && is_open && !has_answers,
         "--think is from an answer to the next request: add --concurrency for a "
         "closed loop or --turns for sessions, or leave it out"},
    };
    return fail_first(run, all, RIDGE_COUNT_OF(all));
}

static ridge_status check_rules(cli_run *run)
{
    const bool has_cache = !has(run, "no-prefix-cache");
    const option_conflict all[] = {
        {has(run, "urgent") && !is(run, "queue", "priority"),
         "--urgent is of requests that a queue puts first: add --queue priority, or "
         "leave it out"},
        {is(run, "queue", "priority") && !has(run, "urgent"),
         "--queue priority puts urgent requests first: tell how many are, --urgent "
         "10%, or leave it out"},
        {has(run, "restart") && !has(run, "mtbf"),
         "--restart is how long a replica that fails by --mtbf stays away: add --mtbf "
         "30d, or leave it out"},
        {has(run, "host-cache") && !has_cache,
         "--host-cache is a tier of the prefix cache, and --no-prefix-cache has none: "
         "leave one of them out"},
        {is(run, "router", "prefix") && !has_cache,
         "--router prefix looks at prefix caches, and --no-prefix-cache has none: "
         "leave "
         "one of them out"},
    };
    return fail_first(run, all, RIDGE_COUNT_OF(all));
}

ridge_status requests_check_options(cli_run *run)
{
    RIDGE_TRY(check_file(run));
    RIDGE_TRY(check_arrivals(run));
    return check_rules(run);
}
