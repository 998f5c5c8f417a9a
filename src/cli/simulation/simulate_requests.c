/*
 * A serving plan, or a deployment named by knobs, played on a stream of requests: what
 * the options ask for, one call, and the result as text, JSON, a page and a trace.
 */
#include "requests_options.h"
#include "simulate_plan.h"

#include "ridge/plan_money.h"
#include "ridge/plan_service_file.h"
#include "ridge/report_requests.h"

#include <math.h>
#include <string.h>

enum { SPANS_KEPT = 20000, REQUESTS_KEPT = 400, CONTEXT_UNKNOWN = 32768 };
enum { LINES_MOST = 10000000 };

/* All of one play. */
typedef struct requests_play {
    const char *model_name;
    const char *slice_text;
    ridge_service_request request;
    ridge_service_choice choice;
    requests_default silent;
    requests_stream stream;
    ridge_service_deployment deployment;
    ridge_serving_goals goals;
    ridge_service_capacity capacity; /* plays 0: not looked for */
    ridge_serving_summary summary;
    ridge_course *course;
    double wall_s;
} requests_play;

/* ---- the deployment -------------------------------------------------------------- */

static int find_word(const char *text, const char *(*word)(int), int n)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(text, word(i)) == 0)
            return i;
    }
    return -1;
}

static const char *queue_word(int i)
{
    return ridge_queue_policy_text((ridge_queue_policy)i);
}

static const char *router_word(int i)
{
    return ridge_router_text((ridge_router)i);
}

static ridge_status read_words(cli_run *run, ridge_serving_deployment *d)
{
    const char *queue = cli_option_text(run, "queue");
    const char *router = cli_option_text(run, "router");
    if (queue != NULL) {
        const int at = find_word(queue, queue_word, RIDGE_QUEUE_DECODE_FIRST + 1);
        if (at < 0)
            return ridge_fail(run->cx, RIDGE_E_ARG,
                              "--queue '%.40s': use fcfs, shortest, priority or "
                              "decode-first",
                              queue);
        d->queue = (ridge_queue_policy)at;
    }
    if (router != NULL) {
        const int at = find_word(router, router_word, RIDGE_ROUTER_PREFIX + 1);
        if (at < 0)
            return ridge_fail(
                run->cx, RIDGE_E_ARG,
                "--router '%.40s': use round-robin, least-loaded or prefix", router);
        d->router = (ridge_router)at;
    }
    return RIDGE_OK;
}

static ridge_status read_outage(cli_run *run, const char *text,
                                ridge_serving_deployment *d)
{
    ridge_str rest = ridge_str_of(text);
    const ridge_str replica = ridge_str_cut(&rest, ':');
    const ridge_str at = ridge_str_cut(&rest, ':');
    const char *at_text = ridge_str_dup(ridge_ctx_arena(run->cx), at);
    ridge_serving_outage o;
    if (d->n_outages == RIDGE_SERVING_OUTAGES_MAX)
        return ridge_fail(run->cx, RIDGE_E_ARG, "--outage: at most %d are taken",
                          RIDGE_SERVING_OUTAGES_MAX);
    if (!ridge_parse_i64(replica, &o.replica) || rest.p == NULL || at.n == 0 ||
        at_text == NULL ||
        ridge_duration_parse(run->cx, at_text, &o.at_s) != RIDGE_OK ||
        ridge_duration_parse(run->cx, rest.p, &o.lasts_s) != RIDGE_OK)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--outage '%.60s': write the replica (from 0), when it fails "
                          "and for how long: 0:120s:60s",
                          text);
    d->outages[d->n_outages++] = o;
    return RIDGE_OK;
}

static ridge_status read_troubles(cli_run *run, ridge_serving_deployment *d)
{
    enum { REPAIR_S = 300 };
    for (int i = 0; i < run->n_options; i++) {
        if (strcmp(run->options[i].key, "outage") == 0)
            RIDGE_TRY(read_outage(run, run->options[i].value, d));
    }
    RIDGE_TRY(requests_time(run, "mtbf", 0, &d->failure_s));
    return requests_time(run, "restart", REPAIR_S, &d->repair_s);
}

static ridge_status read_cache(cli_run *run, ridge_service_deployment *d)
{
    double bytes;
    RIDGE_TRY(cli_option_bytes(run, "host-cache", 0, &bytes));
    d->play.host_blocks =
        (int64_t)fmin(bytes / fmax(d->speeds[0].block_bytes, 1), 1e12);
    for (int i = 0; i < d->play.n_pools; i++) {
        if (cli_option_text(run, "no-prefix-cache") != NULL)
            d->play.pools[i].rules.has_prefix_cache = false;
    }
    return RIDGE_OK;
}

/* Longer requests are refused: as the option says, as the stream, where slots are of
 * that length, or as the model. */
static ridge_status find_longest(cli_run *run, const requests_play *p, double *out)
{
    const ridge_model *model = p->request.model;
    const double known = p->stream.longest_tokens > 0
                             ? p->stream.longest_tokens
                             : p->silent.prompt_tokens + p->silent.output_tokens;
    const double context =
        model->max_positions > 0 ? (double)model->max_positions : CONTEXT_UNKNOWN;
    const double fallback =
        p->request.engine->is_slotted ? fmin(known, context) : context;
    RIDGE_TRY(cli_option_count(run, "longest", fallback, out));
    return *out >= 2 ? RIDGE_OK
                     : ridge_fail(run->cx, RIDGE_E_ARG,
                                  "--longest: a sequence has a prompt and an output");
}

static ridge_status read_goals(cli_run *run, const ridge_service_goals *silent,
                               ridge_serving_goals *out)
{
    ridge_service_goals goals = *silent;
    const char *slo = cli_option_text(run, "slo");
    if (slo != NULL && ridge_service_goals_parse(run->cx, slo, &goals) != RIDGE_OK) {
        ridge_ctx_note(run->cx, "--slo");
        return RIDGE_E_ARG;
    }
    const double *s = goals.most_s;
    *out = (ridge_serving_goals){
        isfinite(s[RIDGE_SERVICE_TTFT]) ? s[RIDGE_SERVICE_TTFT] : 0,
        isfinite(s[RIDGE_SERVICE_TPOT]) ? s[RIDGE_SERVICE_TPOT] : 0,
        isfinite(s[RIDGE_SERVICE_E2E]) ? s[RIDGE_SERVICE_E2E] : 0};
    return RIDGE_OK;
}

/* The engine with its share of memory set otherwise. */
static ridge_status read_memory(cli_run *run, ridge_service_request *r)
{
    const char *text = cli_option_text(run, "memory");
    if (text == NULL)
        return RIDGE_OK;
    ridge_engine *own = ridge_new(ridge_ctx_arena(run->cx), ridge_engine, 1);
    if (own == NULL)
        return ridge_fail_nomem(run->cx);
    *own = *r->engine;
    if (!ridge_parse_fraction(ridge_str_of(text), &own->memory_share) ||
        !(own->memory_share > 0) || own->memory_share > 1)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--memory '%.40s': a share above 0, up to 1: 90%%", text);
    r->engine = own;
    return RIDGE_OK;
}

/* An engine that does not cut prompts is started with a budget that holds them. */
static void widen_budget(requests_play *p)
{
    const ridge_engine *e = p->request.engine;
    if (e->is_chunked || p->request.knobs.budget_tokens > 0 ||
        p->stream.longest_tokens <= 0 || p->request.knobs.n_formats == 0)
        return;
    for (int i = 0; i < p->choice.n_pools; i++) {
        ridge_serving_layout *l = &p->choice.pools[i].layout;
        const int64_t wanted = (int64_t)p->stream.longest_tokens + e->sequences;
        l->budget_tokens = l->budget_tokens > wanted ? l->budget_tokens : wanted;
    }
}

static ridge_status deploy(cli_run *run, requests_play *p)
{
    double longest;
    RIDGE_TRY(read_memory(run, &p->request));
    RIDGE_TRY(requests_open(run, &p->silent, &p->stream));
    RIDGE_TRY(find_longest(run, p, &longest));
    widen_budget(p);
    RIDGE_TRY(ridge_service_deploy(run->cx, &p->request, &p->choice, longest,
                                   &p->deployment));
    ridge_serving_deployment *d = &p->deployment.play;
    d->seed = p->stream.seed;
    d->is_stepped = cli_option_text(run, "stepped") != NULL;
    RIDGE_TRY(read_words(run, d));
    RIDGE_TRY(read_troubles(run, d));
    return read_cache(run, &p->deployment);
}

/* The highest rate at which the goals are kept becomes that of the stream. */
static ridge_status find_rate(cli_run *run, requests_play *p)
{
    const char *text = cli_option_text(run, "find-rate");
    ridge_service_capacity *found = &p->capacity;
    ridge_capacity_aim aim = {.precision = 1e-4};
    if (text == NULL)
        return RIDGE_OK;
    if (!ridge_parse_fraction(ridge_str_of(text), &aim.share) || aim.share > 1 ||
        aim.share <= 0)
        return ridge_fail(
            run->cx, RIDGE_E_ARG,
            "--find-rate '%.40s': the share of requests that keeps --slo: "
            "99%%",
            text);
    if (!p->stream.is_drawn)
        return ridge_fail(
            run->cx, RIDGE_E_ARG,
            "--find-rate: the file has arrivals of its own: add --rate for "
            "where the search begins");
    RIDGE_TRY(ridge_service_capacity_find(run->cx, &p->deployment.play,
                                          &p->stream.draws, &p->goals, &aim, found));
    if (found->requests_per_s <= 0)
        return ridge_fail(
            run->cx, RIDGE_E_ARG,
            "--find-rate %s: at no rate do so many requests keep the goals: "
            "alone they take TTFT %s, TPOT %s, %s to the last token",
            text, ridge_format_seconds(found->summary.ttft.p50).s,
            ridge_format_seconds(found->summary.tpot.p50).s,
            ridge_format_seconds(found->summary.e2e.p50).s);
    return requests_reopen(run, found->requests_per_s, &p->stream);
}

/* ---- playing and showing --------------------------------------------------------- */

static ridge_status play(cli_run *run, requests_play *p)
{
    const bool has_lines = cli_option_text(run, "per-request") != NULL;
    const bool has_trace = cli_option_text(run, "timeline") != NULL;
    RIDGE_TRY(ridge_course_open(run->cx, has_trace ? SPANS_KEPT : 0,
                                has_lines   ? LINES_MOST
                                : has_trace ? REQUESTS_KEPT
                                            : 0,
                                &p->course));
    const ridge_serving_watch watch = ridge_course_watch(p->course);
    const double begin_s = ridge_clock_s();
    RIDGE_TRY(ridge_serving_play(run->cx, &p->deployment.play, &p->stream.source,
                                 &p->goals, &watch, &p->summary));
    p->wall_s = ridge_clock_s() - begin_s;
    return RIDGE_OK;
}

typedef ridge_status write_fn(ridge_ctx *cx, const ridge_requests_view *v,
                              ridge_buf *out);

static ridge_status write_svg(ridge_ctx *cx, const ridge_requests_view *v,
                              ridge_buf *out)
{
    ridge_requests_write_svg(cx, v, out);
    return RIDGE_OK;
}

static ridge_status write_lines(ridge_ctx *cx, const ridge_requests_view *v,
                                ridge_buf *out)
{
    ridge_requests_write_lines(cx, v, out);
    return out->is_short ? ridge_fail_nomem(cx) : RIDGE_OK;
}

static ridge_status write_files(cli_run *run, const ridge_requests_view *v)
{
    static const struct {
        const char *option;
        write_fn *write;
    } files[] = {{"timeline", ridge_requests_write_trace},
                 {"svg", write_svg},
                 {"per-request", write_lines}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(files); i++) {
        const char *path = cli_option_text(run, files[i].option);
        ridge_buf text;
        if (path == NULL)
            continue;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
        RIDGE_TRY(files[i].write(run->cx, v, &text));
        RIDGE_TRY(ridge_file_write(run->cx, path, (ridge_str){text.p, text.n}));
    }
    return RIDGE_OK;
}

/* Exit code 1: it serves none of the requests. */
static int answer(const requests_play *p, int code)
{
    return code != 0 ? code : p->summary.completed == 0 && p->summary.requests > 0;
}

static int show(cli_run *run, const requests_play *p)
{
    ridge_buf text;
    const ridge_requests_view view = {
        .model_name = p->model_name,
        .slice_text = p->slice_text,
        .stream = p->stream.text,
        .deployment = &p->deployment,
        .summary = &p->summary,
        .goals = &p->goals,
        .capacity = p->capacity.plays > 0 ? &p->capacity : NULL,
        .note =
            p->stream.file != NULL ? ridge_request_file_about(p->stream.file) : NULL,
        .course = p->course,
        .wall_s = p->wall_s,
        .has_charts = cli_option_text(run, "charts") != NULL,
        .is_in_step = p->stream.is_in_step};
    if (write_files(run, &view) != RIDGE_OK)
        return cli_fail(run);
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_requests_write_html(run->cx, &view, &text);
        const int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_requests_write_json(run->cx, &view, object);
        return answer(p, cli_emit_json(run, object));
    }
    ridge_requests_write_text(run->cx, &view, run->has_colour, &text);
    return answer(p, cli_emit_text(run, &text));
}

/* ---- plans ----------------------------------------------------------------------- */

static int64_t clients_of(const ridge_service_choice *c)
{
    const ridge_service_pool *last = &c->pools[c->n_pools - 1];
    const double ranks = (double)(last->layout.attention_dp * last->layout.pp);
    /* below one: a client at a time */
    return (int64_t)ceil(fmax(1, last->batch) * ranks * (double)last->servers);
}

static ridge_status open_plan(cli_run *run, ridge_node root, requests_play *p)
{
    ridge_service_plan plan;
    const ridge_catalog *catalog;
    const ridge_model *draft = NULL;
    ridge_service_request *r = &p->request;
    RIDGE_TRY(ridge_service_plan_from_json(run->cx, root, &plan));
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(cli_model(run, plan.model_name, &r->model));
    RIDGE_TRY(ridge_slice_parse(run->cx, catalog, plan.slice_text, &r->slice));
    RIDGE_TRY(ridge_service_plan_check(run->cx, &plan, r->slice));
    RIDGE_TRY(ridge_engine_find(run->cx, catalog, plan.engine_name, &r->engine));
    if (plan.draft_name != NULL)
        RIDGE_TRY(cli_model(run, plan.draft_name, &draft));
    for (int i = 0; i < plan.choice.n_pools && draft != NULL; i++)
        plan.choice.pools[i].layout.draft.model = draft;
    r->expert_skew = plan.expert_skew;
    r->usd_per_chip_hour = plan.usd_per_chip_hour;
    p->model_name = plan.model_name;
    p->slice_text = plan.slice_text;
    p->choice = plan.choice;
    p->silent = (requests_default){plan.work.prompt_tokens, plan.work.output_tokens,
                                   plan.requests_per_s, clients_of(&plan.choice)};
    return read_goals(run, &plan.goals, &p->goals);
}

static ridge_status open_knobs(cli_run *run, requests_play *p)
{
    const ridge_service_goals none = ridge_service_goals_none();
    const ridge_catalog *catalog;
    ridge_service_request *r = &p->request;
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(cli_slice(run, &r->slice));
    RIDGE_TRY(cli_model(run, run->args[0], &r->model));
    RIDGE_TRY(ridge_engine_find_on(run->cx, catalog, cli_option_text(run, "engine"),
                                   r->slice->chip, &r->engine));
    r->knobs = ridge_service_knobs_free();
    for (int i = 0; i < run->n_knobs; i++)
        RIDGE_TRY(ridge_service_knobs_set(run->cx, &r->knobs, run->knobs[i].key,
                                          run->knobs[i].value));
    RIDGE_TRY(ridge_service_knobs_close(run->cx, r->model, r->slice->chip, r->engine,
                                        &r->knobs));
    if (r->slice->chip->n_prices > 0)
        r->usd_per_chip_hour = r->slice->chip->prices[0].usd_per_chip_hour;
    RIDGE_TRY(ridge_service_choice_of_knobs(run->cx, r, &p->choice));
    p->model_name = run->args[0];
    p->slice_text = r->slice->text;
    p->silent = (requests_default){
        .prompt_tokens = 1024, .output_tokens = 256, .concurrency = 32};
    return read_goals(run, &none, &p->goals);
}

/* ---- verbs ----------------------------------------------------------------------- */

static int play_and_show(cli_run *run, requests_play *p)
{
    if (deploy(run, p) != RIDGE_OK || find_rate(run, p) != RIDGE_OK ||
        play(run, p) != RIDGE_OK)
        return cli_fail(run);
    return show(run, p);
}

int cli_simulate_service(cli_run *run, ridge_node root)
{
    requests_play *p = ridge_new(ridge_ctx_arena(run->cx), requests_play, 1);
    if (p == NULL || open_plan(run, root, p) != RIDGE_OK)
        return cli_fail(run);
    return play_and_show(run, p);
}

int cli_simulate_model(cli_run *run)
{
    requests_play *p = ridge_new(ridge_ctx_arena(run->cx), requests_play, 1);
    if (p == NULL || open_knobs(run, p) != RIDGE_OK)
        return cli_fail(run);
    return play_and_show(run, p);
}
