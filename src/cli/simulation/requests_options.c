#include "requests_options.h"

#include "requests_conflicts.h"

#include "ridge/plan_money.h"

#include <math.h>
#include <string.h>

enum { COUNT_DRAWN = 10000, COUNT_CLOSED = 20, COUNT_FILE = 10000000 };

/* Of lengths that nobody told: clients of a closed loop whose requests are all alike
 * would stay in step. */
static const double SPREAD_SILENT = 0.1;

/* ---- values ---------------------------------------------------------------------- */

ridge_status requests_time(cli_run *run, const char *name, double fallback, double *out)
{
    const char *text = cli_option_text(run, name);
    *out = fallback;
    if (text == NULL)
        return RIDGE_OK;
    const ridge_status st = ridge_duration_parse(run->cx, text, out);
    if (st != RIDGE_OK)
        ridge_ctx_note(run->cx, "--%s", name);
    return st;
}

ridge_status requests_whole(cli_run *run, const char *name, double fallback,
                            double most, int64_t *out)
{
    double v;
    RIDGE_TRY(cli_option_count(run, name, fallback, &v));
    if (floor(v) != v || v > most)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--%s: expected a whole number up to %s", name,
                          ridge_format_count(most).s);
    *out = (int64_t)v;
    return RIDGE_OK;
}

static ridge_status fail_length(cli_run *run, const char *name, const char *text)
{
    return ridge_fail(run->cx, RIDGE_E_ARG,
                      "--%s '%.60s': write tokens, 1200, or how they spread: "
                      "uniform:1200:50%%, lognormal:1200:80%%",
                      name, text);
}

ridge_status requests_length(cli_run *run, const char *name, double fallback,
                             ridge_length *out)
{
    const char *text = cli_option_text(run, name);
    *out = (ridge_length){.kind = RIDGE_LENGTH_UNIFORM,
                          .mean = fallback,
                          .spread = fallback > 1 ? SPREAD_SILENT : 0};
    if (text == NULL)
        return RIDGE_OK;
    *out = (ridge_length){.kind = RIDGE_LENGTH_FIXED};
    ridge_str rest = ridge_str_of(text);
    const ridge_str word = ridge_str_cut(&rest, ':');
    if (rest.p == NULL)
        return ridge_parse_count(word, &out->mean) ? RIDGE_OK
                                                   : fail_length(run, name, text);
    if (ridge_str_is(word, "uniform"))
        out->kind = RIDGE_LENGTH_UNIFORM;
    else if (ridge_str_is(word, "lognormal"))
        out->kind = RIDGE_LENGTH_LOGNORMAL;
    else
        return fail_length(run, name, text);
    const ridge_str mean = ridge_str_cut(&rest, ':');
    return ridge_parse_count(mean, &out->mean) && rest.p != NULL &&
                   ridge_parse_fraction(rest, &out->spread)
               ? RIDGE_OK
               : fail_length(run, name, text);
}

/* ---- arrivals -------------------------------------------------------------------- */

static ridge_status fail_arrivals(cli_run *run, const char *text)
{
    return ridge_fail(run->cx, RIDGE_E_ARG,
                      "--arrivals '%.60s': use poisson, gamma:SHAPE, constant, "
                      "bursts:ON:OFF (as in bursts:10s:50s) or at-once",
                      text);
}

static ridge_status read_bursts(cli_run *run, ridge_str rest, const char *text,
                                ridge_request_draws *d)
{
    const ridge_str on = ridge_str_cut(&rest, ':');
    const char *on_text = ridge_str_dup(ridge_ctx_arena(run->cx), on);
    if (on.n == 0 || rest.p == NULL || on_text == NULL ||
        ridge_duration_parse(run->cx, on_text, &d->on_s) != RIDGE_OK ||
        ridge_duration_parse(run->cx, rest.p, &d->off_s) != RIDGE_OK)
        return fail_arrivals(run, text);
    return RIDGE_OK;
}

static ridge_status read_arrivals(cli_run *run, ridge_request_draws *d)
{
    const char *text = cli_option_text(run, "arrivals");
    if (text == NULL)
        return RIDGE_OK;
    ridge_str rest = ridge_str_of(text);
    const ridge_str word = ridge_str_cut(&rest, ':');
    for (int i = RIDGE_ARRIVAL_POISSON; i <= RIDGE_ARRIVAL_ATONCE; i++) {
        if (!ridge_str_is(word, ridge_arrival_text((ridge_arrival_kind)i)))
            continue;
        d->arrivals = (ridge_arrival_kind)i;
        if (i == RIDGE_ARRIVAL_GAMMA)
            return rest.p != NULL && ridge_parse_fraction(rest, &d->shape)
                       ? RIDGE_OK
                       : fail_arrivals(run, text);
        if (i == RIDGE_ARRIVAL_BURSTS)
            return read_bursts(run, rest, text, d);
        return rest.p == NULL ? RIDGE_OK : fail_arrivals(run, text);
    }
    return fail_arrivals(run, text);
}

/* "8:2000": eight prefixes of 2,000 tokens each. */
static ridge_status read_groups(cli_run *run, ridge_request_draws *d)
{
    const char *text = cli_option_text(run, "prefixes");
    double n, tokens;
    if (text == NULL)
        return RIDGE_OK;
    ridge_str rest = ridge_str_of(text);
    const ridge_str count = ridge_str_cut(&rest, ':');
    if (!ridge_parse_count(count, &n) || rest.p == NULL ||
        !ridge_parse_count(rest, &tokens) || n < 1 || n > 1e9 || tokens > 1e9)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--prefixes '%.60s': write how many, and of how many tokens: "
                          "8:2000",
                          text);
    d->groups = (int64_t)n;
    d->prefix_tokens = (int64_t)tokens;
    return RIDGE_OK;
}

/* ---- files ----------------------------------------------------------------------- */

static ridge_status open_file(cli_run *run, const char *path, int64_t count,
                              double until_s, requests_stream *out)
{
    ridge_request_file_options o = {.most = count, .most_s = until_s, .speed = 1};
    RIDGE_TRY(cli_option_count(run, "speed", 1, &o.speed));
    if (!(o.speed > 0))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--speed: times are divided by it: a number above 0");
    return ridge_request_file_open(run->cx, path, &o, &out->file);
}

/* Whether a file's own arrivals count. */
static bool keeps_arrivals(const cli_run *run, const ridge_request_file *file)
{
    static const char *const others[] = {"rate", "arrivals", "concurrency", "turns",
                                         "prefixes"};
    if (file == NULL || !ridge_request_file_about(file)->has_arrivals)
        return false;
    for (size_t i = 0; i < RIDGE_COUNT_OF(others); i++) {
        if (cli_option_text(run, others[i]) != NULL)
            return false;
    }
    return true;
}

/* ---- words ----------------------------------------------------------------------- */

static void add_length(ridge_buf *b, const char *what, const ridge_length *l)
{
    ridge_buf_printf(b, ", %s of %s", what, ridge_format_count(l->mean).s);
    if (l->kind != RIDGE_LENGTH_FIXED)
        ridge_buf_printf(b, " (%s %s)",
                         l->kind == RIDGE_LENGTH_UNIFORM ? "uniform" : "lognormal",
                         ridge_format_percent(l->spread).s);
}

static const char *stream_text(cli_run *run, const ridge_request_draws *d,
                               const char *path)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(run->cx));
    if (d->arrivals == RIDGE_ARRIVAL_CLOSED)
        ridge_buf_printf(&b, "%lld clients in a closed loop",
                         (long long)d->concurrency);
    else if (d->arrivals == RIDGE_ARRIVAL_ATONCE)
        ridge_buf_puts(&b, "all at once");
    else
        ridge_buf_printf(&b, "%s arrivals, %s a second",
                         ridge_arrival_text(d->arrivals),
                         ridge_format_double(d->rate_per_s).s);
    if (d->turns > 1)
        ridge_buf_printf(&b, ", sessions of %lld requests", (long long)d->turns);
    if (d->groups > 0)
        ridge_buf_printf(&b, ", %lld prefixes of %lld tokens", (long long)d->groups,
                         (long long)d->prefix_tokens);
    if (path != NULL) {
        ridge_buf_printf(&b, ", lengths of %s", path);
        return ridge_buf_text(&b);
    }
    add_length(&b, "prompts", &d->prompt);
    add_length(&b, "outputs", &d->output);
    return ridge_buf_text(&b);
}

static double bound_of(const ridge_length *l)
{
    if (l->kind == RIDGE_LENGTH_FIXED)
        return ceil(l->mean);
    return l->kind == RIDGE_LENGTH_UNIFORM ? ceil(l->mean * (1 + l->spread)) : 0;
}

/* The longest request of a stream; 0: there is no bound. */
static double longest_of(const ridge_request_draws *d)
{
    const double prompt = bound_of(&d->prompt), output = bound_of(&d->output);
    const double turns = d->turns > 1 ? (double)d->turns : 1;
    if (d->file != NULL || prompt == 0 || output == 0)
        return 0;
    return turns * (prompt + output) + (double)d->prefix_tokens;
}

/* ---- the stream ------------------------------------------------------------------ */

/* Fewer than one of what there has to be. */
static ridge_status check_drawn(cli_run *run, const ridge_request_draws *d)
{
    const struct {
        const char *name;
        int64_t n;
    } least[] = {{"concurrency", d->concurrency}, {"turns", d->turns}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(least); i++) {
        if (cli_option_text(run, least[i].name) != NULL && least[i].n < 1)
            return ridge_fail(run->cx, RIDGE_E_ARG, "--%s: expected 1 at least",
                              least[i].name);
    }
    return RIDGE_OK;
}

static ridge_status read_draws(cli_run *run, const requests_default *silent,
                               ridge_request_draws *d)
{
    double share;
    RIDGE_TRY(requests_length(run, "prompt", silent->prompt_tokens, &d->prompt));
    RIDGE_TRY(requests_length(run, "output", silent->output_tokens, &d->output));
    RIDGE_TRY(cli_option_count(run, "rate", silent->rate_per_s, &d->rate_per_s));
    RIDGE_TRY(requests_whole(run, "concurrency", 0, 1 << 24, &d->concurrency));
    RIDGE_TRY(requests_whole(run, "turns", 1, 1e6, &d->turns));
    RIDGE_TRY(check_drawn(run, d));
    RIDGE_TRY(requests_time(run, "think", 0, &d->think_s));
    RIDGE_TRY(read_groups(run, d));
    const char *urgent = cli_option_text(run, "urgent");
    if (urgent != NULL) {
        if (!ridge_parse_fraction(ridge_str_of(urgent), &share) || share > 1)
            return ridge_fail(run->cx, RIDGE_E_ARG, "--urgent '%.40s': a share: 10%%",
                              urgent);
        d->urgent_share = share;
    }
    const bool finds_rate = cli_option_text(run, "find-rate") != NULL;
    const bool has_rate = cli_option_text(run, "rate") != NULL ||
                          cli_option_text(run, "arrivals") != NULL || finds_rate;
    if (finds_rate && d->rate_per_s == 0)
        d->rate_per_s = 1; /* where the search begins */
    if (d->concurrency > 0 && has_rate)
        return ridge_fail(
            run->cx, RIDGE_E_ARG,
            "--concurrency is a closed loop, --rate and --arrivals an open "
            "one: leave one of them out");
    if (d->concurrency == 0 && !has_rate && silent->rate_per_s == 0)
        d->concurrency = silent->concurrency;
    d->arrivals = d->concurrency > 0 ? RIDGE_ARRIVAL_CLOSED : RIDGE_ARRIVAL_POISSON;
    return read_arrivals(run, d);
}

static ridge_status open_draws(cli_run *run, ridge_request_draws *d, int64_t count,
                               const char *path, requests_stream *out)
{
    d->file = out->file;
    d->requests = count;
    if (count == 0 && d->most_s > 0 && d->arrivals == RIDGE_ARRIVAL_CLOSED)
        d->requests = COUNT_FILE; /* until then, and yet an end */
    if (count == 0 && d->most_s == 0)
        d->requests = d->arrivals == RIDGE_ARRIVAL_CLOSED
                          ? (int64_t)fmax(1000, COUNT_CLOSED * (double)d->concurrency)
                          : COUNT_DRAWN;
    out->text = stream_text(run, d, path);
    out->longest_tokens = longest_of(d);
    out->is_drawn = true;
    out->is_in_step = d->arrivals == RIDGE_ARRIVAL_CLOSED && d->concurrency > 1 &&
                      d->file == NULL && d->think_s == 0 &&
                      d->output.kind == RIDGE_LENGTH_FIXED;
    out->draws = *d;
    return ridge_request_draws_open(run->cx, d, &out->source);
}

ridge_status requests_reopen(cli_run *run, double rate_per_s, requests_stream *stream)
{
    stream->draws.rate_per_s = rate_per_s;
    stream->text = stream_text(run, &stream->draws, cli_option_text(run, "requests"));
    return ridge_request_draws_open(run->cx, &stream->draws, &stream->source);
}

ridge_status requests_open(cli_run *run, const requests_default *silent,
                           requests_stream *out)
{
    const char *path = cli_option_text(run, "requests");
    ridge_request_draws d = {0};
    int64_t count, seed;
    double until_s;
    *out = (requests_stream){0};
    RIDGE_TRY(requests_check_options(run));
    RIDGE_TRY(requests_whole(run, "count", 0, 1e9, &count));
    if (cli_option_text(run, "count") != NULL && count < 1)
        return ridge_fail(run->cx, RIDGE_E_ARG, "--count: expected a request at least");
    RIDGE_TRY(requests_time(run, "until", 0, &until_s));
    if (cli_option_text(run, "until") != NULL && !(until_s > 0))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--until: when the last request may arrive: a time above 0");
    RIDGE_TRY(requests_whole(run, "seed", 1, 9e15, &seed));
    out->seed = d.seed = (uint64_t)seed;
    d.most_s = until_s;
    if (path != NULL)
        RIDGE_TRY(open_file(run, path, count > 0 ? count : COUNT_FILE, until_s, out));
    if (keeps_arrivals(run, out->file)) {
        out->text = ridge_sprintf(ridge_ctx_arena(run->cx), "requests of %s (%s)", path,
                                  ridge_request_file_about(out->file)->columns);
        out->source = ridge_request_file_source(out->file);
        return RIDGE_OK;
    }
    RIDGE_TRY(read_draws(run, silent, &d));
    return open_draws(run, &d, count, path, out);
}
