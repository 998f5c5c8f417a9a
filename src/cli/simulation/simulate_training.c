/*
 * A training plan played out: what the options ask for, one call, and the result as
 * text, JSON, a page and a trace.
 */
#include "money_options.h"
#include "plan_request.h"
#include "simulate_plan.h"
#include "trouble_options.h"

#include "ridge/plan_simulation.h"
#include "ridge/report_simulation.h"

enum { RUNS_WITH_FAILURES = 200 };

/* ---- options --------------------------------------------------------------------- */

ridge_status cli_simulation_failures(cli_run *run, const ridge_train_request *request,
                                     ridge_money_request *money,
                                     ridge_simulation_request *r)
{
    const ridge_catalog *catalog;
    const char *record = cli_option_text(run, "record");
    double runs;
    r->has_failures =
        cli_option_text(run, "failures") || record || cli_option_text(run, "mtbf");
    int pool = 0;
    for (const ridge_slice *s = request->slice; s != NULL; s = s->next, pool++) {
        RIDGE_TRY(cli_money(run, s->chip, &money[pool]));
        if (record) {
            RIDGE_TRY(cli_catalog(run, &catalog));
            RIDGE_TRY(
                ridge_failure_find(run->cx, catalog, record, &money[pool].failures));
        }
    }
    RIDGE_TRY(cli_option_count(run, "tokens", request->total_tokens, &r->run_tokens));
    RIDGE_TRY(cli_option_whole(run, "runs", RUNS_WITH_FAILURES, RIDGE_FAILURE_RUNS_MAX,
                               &runs));
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
    RIDGE_TRY(cli_step_trouble(run, &asked.trouble));
    RIDGE_TRY(cli_simulation_failures(run, request, &money, &asked));
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
    const ridge_simulation_view view = {plan.model_name, &request, simulation, NULL};
    return show(run, &view);
}
