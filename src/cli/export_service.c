/* A serving plan as the deployment that its file describes. */
#include "export_service.h"

#include "ridge/plan_launch_serving.h"
#include "ridge/plan_service_file.h"

#include <math.h>
#include <string.h>

ridge_status export_service_is(cli_run *run, const char *path, bool *out)
{
    ridge_node root;
    RIDGE_TRY(ridge_json_read(run->cx, path, &root));
    *out = ridge_plan_is_service(root);
    return RIDGE_OK;
}

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

static ridge_status open_deployment(cli_run *run, const ridge_service_plan *plan,
                                    ridge_deployment *d)
{
    const ridge_catalog *catalog;
    const ridge_model *draft = NULL;
    const ridge_service_work *w = &plan->work;
    *d = (ridge_deployment){
        .longest_tokens = fmax(w->prompt_tokens + w->output_tokens, w->context_tokens),
        .prompt_tokens = w->prompt_tokens,
        .choice = plan->choice};
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(cli_model(run, plan->model_name, &d->model));
    RIDGE_TRY(hub_name(run, plan->model_name, &d->model_name));
    RIDGE_TRY(ridge_slice_parse(run->cx, catalog, plan->slice_text, &d->slice));
    RIDGE_TRY(ridge_engine_find(run->cx, catalog, plan->engine_name, &d->engine));
    if (plan->draft_name == NULL)
        return RIDGE_OK;
    RIDGE_TRY(cli_model(run, plan->draft_name, &draft));
    RIDGE_TRY(hub_name(run, plan->draft_name, &d->draft_name));
    for (int i = 0; i < d->choice.n_pools; i++)
        d->choice.pools[i].layout.draft.model = draft;
    return RIDGE_OK;
}

ridge_status export_service_write(cli_run *run, const char *path, const char *to,
                                  ridge_launch_text *out)
{
    ridge_service_plan plan;
    ridge_deployment deployment;
    ridge_serving_launcher launcher;
    RIDGE_TRY(ridge_serving_launcher_parse(run->cx, to, &launcher));
    RIDGE_TRY(ridge_service_plan_read(run->cx, path, &plan));
    RIDGE_TRY(open_deployment(run, &plan, &deployment));
    return ridge_serving_launch_write(run->cx, launcher, &deployment, out);
}
