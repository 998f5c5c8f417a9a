/* Each comparison: one library call, and its report. */
#include "profile_against.h"

#include "plan_request.h"

#include "ridge/plan_simulation.h"
#include "ridge/report_simulation.h"

int cli_profile_diff(cli_run *run, const ridge_profile *before,
                     const ridge_profile *after, ridge_profile_key key)
{
    ridge_profile_diff diff;
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (ridge_profile_diff_build(run->cx, before, after, key, &diff) != RIDGE_OK)
        return cli_fail(run);
    if (run->html_path != NULL) {
        ridge_profile_diff_write_html(run->cx, &diff, &text);
        const int code = cli_emit_html(run, &text);
        if (code != 0)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_profile_diff_write_json(run->cx, &diff, object);
        return cli_emit_json(run, object);
    }
    ridge_profile_diff_write_text(run->cx, &diff, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

/* ---- plans ----------------------------------------------------------------------- */

static ridge_status write_trace(cli_run *run, const ridge_profile *profile,
                                const ridge_plan *plan,
                                const ridge_train_request *request)
{
    const ridge_simulation_request calm = {.trouble = {.steps = 1, .workers = 1}};
    ridge_train_simulation *simulation =
        ridge_new(ridge_ctx_arena(run->cx), ridge_train_simulation, 1);
    ridge_buf step;
    ridge_buf text;
    if (simulation == NULL)
        return ridge_fail_nomem(run->cx);
    RIDGE_TRY(ridge_train_simulate(run->cx, request, &plan->layout, &calm, simulation));
    const ridge_simulation_view played = {plan->model_name, request, simulation, NULL};
    ridge_buf_init(&step, ridge_ctx_arena(run->cx));
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    RIDGE_TRY(ridge_step_trace_write(run->cx, &played, &step));
    RIDGE_TRY(ridge_profile_write_trace(run->cx, profile, (ridge_str){step.p, step.n},
                                        &text));
    return ridge_file_write(run->cx, run->out_path, (ridge_str){text.p, text.n});
}

static int show_plan(cli_run *run, const ridge_plan_comparison *c)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path != NULL) {
        ridge_plan_comparison_write_html(run->cx, c, &text);
        const int code = cli_emit_html(run, &text);
        if (code != 0)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        const ridge_profile_view view = {.profile = c->profile};
        ridge_profile_write_json(run->cx, &view, object);
        ridge_plan_comparison_write_json(run->cx, c, object);
        return cli_emit_json(run, object);
    }
    ridge_plan_comparison_write_text(run->cx, c, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

int cli_profile_plan(cli_run *run, const ridge_profile *profile, const char *path)
{
    ridge_plan plan;
    ridge_train_request request;
    ridge_plan_comparison c;
    if (ridge_plan_read(run->cx, path, &plan) != RIDGE_OK ||
        cli_plan_request(run, &plan, &request) != RIDGE_OK ||
        ridge_profile_against_plan(run->cx, profile, &request, &plan.layout, &c) !=
            RIDGE_OK)
        return cli_fail(run);
    if (run->out_path != NULL) {
        if (write_trace(run, profile, &plan, &request) != RIDGE_OK)
            return cli_fail(run);
        run->out_path = NULL;
    }
    return show_plan(run, &c);
}

/* ---- systems --------------------------------------------------------------------- */

ridge_status cli_profile_calibrate(cli_run *run, const ridge_profile *profile,
                                   const char *path)
{
    const ridge_catalog *catalog;
    ridge_profile_rates rates;
    ridge_buf text;
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(ridge_profile_rates_find(run->cx, profile, &rates));
    const ridge_system *system = profile->slice != NULL ? profile->slice->system : NULL;
    if (system == NULL)
        RIDGE_TRY(ridge_system_find(run->cx, catalog, profile->chip->name, &system));
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    const ridge_json *file =
        ridge_profile_to_system(run->cx, profile, &rates, system, "measured");
    RIDGE_TRY(ridge_json_write(run->cx, file, &text));
    return ridge_file_write(run->cx, path, (ridge_str){text.p, text.n});
}
