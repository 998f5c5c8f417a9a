/*
 * A training plan played out: what the options ask for, one call, and the result as
 * text, JSON, a page and a trace.
 */
#include "money_options.h"
#include "plan_request.h"
#include "simulate_plan.h"

#include "ridge/plan_simulation.h"
#include "ridge/report.h"
#include "ridge/report_simulation.h"

#include <math.h>

enum { STEPS_WITH_JITTER = 200, RUNS_WITH_FAILURES = 200 };

/* ---- options --------------------------------------------------------------------- */

static ridge_status read_whole(cli_run *run, const char *name, double fallback,
                               double most, double *out)
{
    RIDGE_TRY(cli_option_count(run, name, fallback, out));
    if (floor(*out) != *out || *out > most)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--%s: expected a whole number up to %s", name,
                          ridge_format_count(most).s);
    return RIDGE_OK;
}

static ridge_status fail_stragglers(cli_run *run, const char *text)
{
    return ridge_fail(run->cx, RIDGE_E_ARG,
                      "--stragglers '%s': write how many chips, and how many times as "
                      "long they take: 4:1.3",
                      text);
}

/* "4:1.3", "4:30%": four chips that take 1.3 times as long. */
static ridge_status read_stragglers(cli_run *run, ridge_step_trouble *t)
{
    const char *text = cli_option_text(run, "stragglers");
    double n;
    t->slowdown = 1;
    if (!text)
        return RIDGE_OK;
    ridge_str rest = ridge_str_of(text);
    const ridge_str count = ridge_str_cut(&rest, ':');
    if (!rest.p || rest.n == 0 || !ridge_parse_count(count, &n) || floor(n) != n ||
        n > 1e9)
        return fail_stragglers(run, text);
    t->stragglers = (int64_t)n;
    if (rest.p[rest.n - 1] == '%') {
        if (!ridge_parse_fraction(rest, &t->slowdown))
            return fail_stragglers(run, text);
        t->slowdown += 1;
        return RIDGE_OK;
    }
    return ridge_parse_double(rest, &t->slowdown) ? RIDGE_OK
                                                  : fail_stragglers(run, text);
}

static ridge_status read_trouble(cli_run *run, ridge_step_trouble *t)
{
    const char *jitter = cli_option_text(run, "jitter");
    double steps;
    double seed;
    if (jitter && !ridge_parse_fraction(ridge_str_of(jitter), &t->jitter))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--jitter '%s' is not a share: write 5%% or 0.05", jitter);
    RIDGE_TRY(read_stragglers(run, t));
    RIDGE_TRY(read_whole(run, "steps", STEPS_WITH_JITTER, 1e9, &steps));
    RIDGE_TRY(read_whole(run, "seed", 1, 9e15, &seed));
    t->steps = (int64_t)steps;
    t->seed = (uint64_t)seed;
    t->workers = ridge_processor_count();
    return RIDGE_OK;
}

static ridge_status read_failures(cli_run *run, const ridge_train_request *request,
                                  ridge_money_request *money,
                                  ridge_simulation_request *r)
{
    const ridge_catalog *catalog;
    const char *record = cli_option_text(run, "record");
    double runs;
    r->has_failures =
        cli_option_text(run, "failures") || record || cli_option_text(run, "mtbf");
    RIDGE_TRY(cli_money(run, request->slice->chip, money));
    if (record) {
        RIDGE_TRY(cli_catalog(run, &catalog));
        RIDGE_TRY(ridge_failure_find(run->cx, catalog, record, &money->failures));
    }
    RIDGE_TRY(cli_option_count(run, "tokens", request->total_tokens, &r->run_tokens));
    RIDGE_TRY(
        read_whole(run, "runs", RUNS_WITH_FAILURES, RIDGE_FAILURE_RUNS_MAX, &runs));
    r->runs = (int)runs;
    r->money = money;
    return RIDGE_OK;
}

/* ---- results --------------------------------------------------------------------- */

static ridge_status write_timeline(cli_run *run, const ridge_simulation_view *view)
{
    const char *path = cli_option_text(run, "timeline");
    ridge_buf text;
    if (!path)
        return RIDGE_OK;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    RIDGE_TRY(ridge_step_trace_write(run->cx, view, &text));
    return ridge_file_write(run->cx, path, (ridge_str){text.p, text.n});
}

static int show(cli_run *run, const ridge_simulation_view *view)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (write_timeline(run, view) != RIDGE_OK)
        return cli_fail(run);
    if (run->html_path) {
        ridge_simulation_write_html(run->cx, view, &text);
        int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_simulation_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_simulation_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

static ridge_status play(cli_run *run, ridge_node root, ridge_plan *plan,
                         ridge_train_request *request, ridge_train_simulation *out)
{
    ridge_simulation_request asked = {.has_failures = false};
    ridge_money_request money;
    RIDGE_TRY(ridge_plan_from_json(run->cx, root, plan));
    RIDGE_TRY(cli_plan_request(run, plan, request));
    RIDGE_TRY(read_trouble(run, &asked.trouble));
    RIDGE_TRY(read_failures(run, request, &money, &asked));
    return ridge_train_simulate(run->cx, request, &plan->layout, &asked, out);
}

int cli_simulate_training(cli_run *run, ridge_node root)
{
    ridge_plan plan;
    ridge_train_request request;
    ridge_train_simulation *simulation =
        ridge_new(ridge_ctx_arena(run->cx), ridge_train_simulation, 1);
    if (!simulation || play(run, root, &plan, &request, simulation) != RIDGE_OK)
        return cli_fail(run);
    const ridge_simulation_view view = {plan.model_name, &request, simulation};
    return show(run, &view);
}
