/* A plan of pools of unlike chips played out. */
#include "plan_request.h"
#include "simulate_plan.h"
#include "trouble_options.h"

#include "ridge/report_fleet.h"

static ridge_status play(cli_run *run, ridge_node root, ridge_fleet_plan *plan,
                         ridge_train_request *request, ridge_fleet_simulation *out)
{
    ridge_simulation_request asked = {.has_failures = false};
    ridge_money_request money[RIDGE_FLEET_POOL_MAX] = {0};
    RIDGE_TRY(ridge_fleet_plan_from_json(run->cx, root, plan));
    RIDGE_TRY(cli_plan_request(run, &plan->head, request));
    RIDGE_TRY(cli_step_trouble(run, &asked.trouble));
    RIDGE_TRY(cli_simulation_failures(run, request, money, &asked));
    return ridge_fleet_simulate(run->cx, request, plan, &asked, out);
}

static ridge_status write_timeline(cli_run *run, const ridge_fleet_played_view *view)
{
    const char *path = cli_option_text(run, "timeline");
    ridge_buf text;
    if (!path)
        return RIDGE_OK;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    RIDGE_TRY(ridge_fleet_trace_write(run->cx, view, &text));
    return ridge_file_write(run->cx, path, (ridge_str){text.p, text.n});
}

static int show(cli_run *run, const ridge_fleet_played_view *view)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (write_timeline(run, view) != RIDGE_OK)
        return cli_fail(run);
    if (run->html_path) {
        ridge_fleet_played_write_html(run->cx, view, &text);
        const int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_fleet_played_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_fleet_played_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

int cli_simulate_fleet(cli_run *run, ridge_node root)
{
    ridge_arena *arena = ridge_ctx_arena(run->cx);
    ridge_fleet_plan *plan = ridge_new(arena, ridge_fleet_plan, 1);
    ridge_train_request *request = ridge_new(arena, ridge_train_request, 1);
    ridge_fleet_simulation *simulation = ridge_new(arena, ridge_fleet_simulation, 1);
    if (!plan || !request || !simulation ||
        play(run, root, plan, request, simulation) != RIDGE_OK)
        return cli_fail(run);
    const ridge_fleet_played_view view = {plan->head.model_name, request, simulation};
    return show(run, &view);
}
