/* ridge explain of a plan of pools of unlike chips. */
#include "explain_fleet.h"

#include "explain_model.h"
#include "plan_request.h"

#include "ridge/plan_fleet.h"

ridge_status explain_fleet_is_asked(cli_run *run, bool *out)
{
    ridge_node root;
    RIDGE_TRY(ridge_json_read(run->cx, run->args[0], &root));
    *out = ridge_plan_is_fleet(root);
    return RIDGE_OK;
}

static ridge_status explain(cli_run *run, const char *quantity,
                            ridge_train_request *request, ridge_explanation *out)
{
    ridge_node root;
    ridge_fleet_plan plan;
    RIDGE_TRY(ridge_json_read(run->cx, run->args[0], &root));
    RIDGE_TRY(ridge_fleet_plan_from_json(run->cx, root, &plan));
    RIDGE_TRY(cli_plan_request(run, &plan.head, request));
    return ridge_fleet_explain(run->cx, request, &plan, quantity, out);
}

static const char *fleet_text(cli_run *run, const ridge_slice *slice)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    for (const ridge_slice *s = slice; s != NULL; s = s->next)
        ridge_buf_printf(&text, "%s%s", s == slice ? "" : "+", s->text);
    return ridge_buf_text(&text);
}

int explain_fleet_run(cli_run *run)
{
    const char *quantity = run->n_args > 1 ? run->args[1] : "step_time";
    ridge_train_request request;
    ridge_explanation *out = ridge_new(ridge_ctx_arena(run->cx), ridge_explanation, 1);
    if (!out || explain(run, quantity, &request, out) != RIDGE_OK)
        return cli_fail(run);
    const char *title =
        ridge_sprintf(ridge_ctx_arena(run->cx), "%s of %s on %s", quantity,
                      request.model->name, fleet_text(run, request.slice));
    const ridge_explain_view view = {title ? title : quantity, out, NULL, 0};
    return cli_explain_show(run, &view);
}
