/* The best layout as traces for Perfetto: its step, and one microbatch by operations.
 */
#include "train_timeline.h"

#include "ridge/plan_timeline.h"
#include "ridge/report_simulation.h"

static ridge_status write_file(cli_run *run, const char *path, const ridge_buf *text)
{
    return ridge_file_write(run->cx, path, (ridge_str){text->p, text->n});
}

static ridge_status write_step(cli_run *run, const ridge_train_view *view,
                               const char *path)
{
    ridge_buf text;
    const ridge_simulation_request calm = {.trouble = {.steps = 1, .workers = 1}};
    ridge_train_simulation *simulation =
        ridge_new(ridge_ctx_arena(run->cx), ridge_train_simulation, 1);
    if (!simulation)
        return ridge_fail_nomem(run->cx);
    RIDGE_TRY(ridge_train_simulate(
        run->cx, view->request, &view->result->layouts[0].layout, &calm, simulation));
    const ridge_simulation_view played = {view->model_name, view->request, simulation,
                                          NULL};
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    RIDGE_TRY(ridge_step_trace_write(run->cx, &played, &text));
    return write_file(run, path, &text);
}

static ridge_status write_operations(cli_run *run, const ridge_train_view *view,
                                     const char *path)
{
    ridge_layout_timeline timeline;
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    RIDGE_TRY(ridge_train_timeline(run->cx, view->request,
                                   &view->result->layouts[0].layout, &timeline));
    RIDGE_TRY(ridge_layout_timeline_write(run->cx, &timeline, &text));
    return write_file(run, path, &text);
}

ridge_status cli_train_timeline(cli_run *run, const ridge_train_view *view)
{
    const char *step = cli_option_text(run, "timeline");
    const char *operations = cli_option_text(run, "operations");
    if (view->result->n_layouts == 0)
        return RIDGE_OK;
    if (step)
        RIDGE_TRY(write_step(run, view, step));
    return operations ? write_operations(run, view, operations) : RIDGE_OK;
}
