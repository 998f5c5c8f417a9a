/*
 * Pools of unlike chips in one pipeline, by `ridge train --on A+B`.
 */
#include "train_fleet.h"

#include "money_options.h"
#include "single_options.h"

#include "ridge/report_fleet.h"

static const char single_only[] =
    "is of one kind of chip: leave it out, or name one of the pools";

static ridge_status read_money(cli_run *run, const ridge_slice *slice,
                               ridge_money_request *money)
{
    int i = 0;
    for (; slice != NULL && i < RIDGE_FLEET_POOL_MAX; slice = slice->next, i++)
        RIDGE_TRY(cli_money(run, slice->chip, &money[i]));
    return RIDGE_OK;
}

static int show(cli_run *run, const ridge_fleet_view *view)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_fleet_write_html(run->cx, view, &text);
        const int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_fleet_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_fleet_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

static ridge_status write_plan(cli_run *run, const ridge_fleet_view *view)
{
    const char *path = cli_option_text(run, "plan");
    const ridge_fleet_result *r = view->result;
    if (!path || (r->n_layouts == 0 && r->replicas.n == 0))
        return RIDGE_OK;
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    RIDGE_TRY(ridge_json_write(
        run->cx, ridge_fleet_plan_to_json(run->cx, view->request, view->model_name, r),
        &text));
    return ridge_file_write(run->cx, path, (ridge_str){text.p, text.n});
}

static ridge_status write_timeline(cli_run *run, const ridge_fleet_view *view)
{
    const char *path = cli_option_text(run, "timeline");
    const ridge_fleet_result *r = view->result;
    const ridge_simulation_request calm = {.trouble = {.steps = 1, .workers = 1}};
    ridge_fleet_simulation *played =
        ridge_new(ridge_ctx_arena(run->cx), ridge_fleet_simulation, 1);
    ridge_buf text;
    if (!path || (r->n_layouts == 0 && r->replicas.n == 0))
        return RIDGE_OK;
    if (!played)
        return ridge_fail_nomem(run->cx);
    const ridge_fleet_plan plan = ridge_fleet_plan_best(r);
    RIDGE_TRY(ridge_fleet_simulate(run->cx, view->request, &plan, &calm, played));
    const ridge_fleet_played_view seen = {view->model_name, view->request, played};
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    RIDGE_TRY(ridge_fleet_trace_write(run->cx, &seen, &text));
    return ridge_file_write(run->cx, path, (ridge_str){text.p, text.n});
}

int train_fleet_run(cli_run *run, const char *model_name, ridge_train_request *request)
{
    ridge_money_request money[RIDGE_FLEET_POOL_MAX] = {0};
    ridge_fleet_result result;
    if (cli_refuse_chip_options(run, single_only) != RIDGE_OK ||
        read_money(run, request->slice, money) != RIDGE_OK)
        return cli_fail(run);
    ridge_progress progress = cli_progress(run);
    request->progress = &progress;
    const ridge_status st = ridge_fleet_search(run->cx, request, &result);
    ridge_progress_end(&progress);
    request->progress = NULL;
    if (st != RIDGE_OK)
        return cli_fail(run);
    const ridge_fleet_view view = {model_name, request, &result, money,
                                   request->total_tokens > 0 ||
                                       cli_money_is_asked(run)};
    if (write_plan(run, &view) != RIDGE_OK || write_timeline(run, &view) != RIDGE_OK)
        return cli_fail(run);
    const int code = show(run, &view);
    return code ? code : result.n_layouts > 0 || result.replicas.n > 0 ? 0 : 1;
}
