/* A serving plan as the deployment that its file describes. */
#include "export_service.h"

#include "service_plan.h"

#include "ridge/plan_launch_serving.h"

#include <math.h>
#include <string.h>

/* As the hub has it; a path stays one. */
static ridge_status hub_name(cli_run *run, const char *name, const char **out)
{
    const ridge_library *library;
    *out = name;
    if (strchr(name, '/') != NULL)
        return RIDGE_OK;
    RIDGE_TRY(cli_library(run, &library));
    const char *found = ridge_library_hub_name(run->cx, library, name);
    if (found != NULL)
        *out = found;
    return RIDGE_OK;
}

static ridge_status open_deployment(cli_run *run, ridge_deployment *d)
{
    ridge_service_plan plan;
    ridge_service_request request;
    ridge_service_price *price =
        ridge_new(ridge_ctx_arena(run->cx), ridge_service_price, 1);
    if (price == NULL)
        return ridge_fail_nomem(run->cx);
    RIDGE_TRY(cli_service_plan_price(run, &plan, &request, price));
    const ridge_service_work *w = &plan.work;
    *d = (ridge_deployment){
        .model = request.model,
        .engine = request.engine,
        .slice = request.slice,
        .longest_tokens = fmax(w->prompt_tokens + w->output_tokens, w->context_tokens),
        .prompt_tokens = w->prompt_tokens,
        .choice = plan.choice};
    RIDGE_TRY(hub_name(run, plan.model_name, &d->model_name));
    return plan.draft_name == NULL ? RIDGE_OK
                                   : hub_name(run, plan.draft_name, &d->draft_name);
}

ridge_status export_service_write(cli_run *run, const char *to, ridge_launch_text *out)
{
    ridge_deployment deployment;
    ridge_serving_launcher launcher;
    RIDGE_TRY(ridge_serving_launcher_parse(run->cx, to, &launcher));
    RIDGE_TRY(open_deployment(run, &deployment));
    return ridge_serving_launch_write(run->cx, launcher, &deployment, out);
}
