#include "service_plan.h"

ridge_status cli_plan_is_service(cli_run *run, const char *path, bool *out)
{
    ridge_node root;
    RIDGE_TRY(ridge_json_read(run->cx, path, &root));
    *out = ridge_plan_is_service(root);
    return RIDGE_OK;
}

static ridge_status load_draft(cli_run *run, ridge_service_plan *plan)
{
    const ridge_model *model;
    if (plan->draft_name == NULL)
        return RIDGE_OK;
    RIDGE_TRY(cli_model(run, plan->draft_name, &model));
    for (int i = 0; i < plan->choice.n_pools; i++) {
        ridge_draft *d = &plan->choice.pools[i].layout.draft;
        if (d->kind == RIDGE_DRAFT_MODEL)
            d->model = model;
    }
    return RIDGE_OK;
}

ridge_status cli_service_plan_request(cli_run *run, ridge_service_plan *plan,
                                      ridge_service_request *out)
{
    const ridge_catalog *catalog;
    const ridge_service_choice *c = &plan->choice;
    ridge_service_request r = {.work = plan->work,
                               .goals = plan->goals,
                               .aim = plan->aim,
                               .requests_per_s = plan->requests_per_s,
                               .usd_per_chip_hour = plan->usd_per_chip_hour,
                               .expert_skew = plan->expert_skew,
                               .knobs = ridge_service_knobs_free(),
                               .top = 1};
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(ridge_slice_parse(run->cx, catalog, plan->slice_text, &r.slice));
    RIDGE_TRY(ridge_service_plan_check(run->cx, plan, r.slice));
    RIDGE_TRY(cli_model(run, plan->model_name, &r.model));
    RIDGE_TRY(ridge_engine_find(run->cx, catalog, plan->engine_name, &r.engine));
    RIDGE_TRY(load_draft(run, plan));
    r.knobs.n_formats = 1;
    r.knobs.formats[0] = c->pools[c->n_pools - 1].layout.formats;
    *out = r;
    return RIDGE_OK;
}

/* A missed goal is told by its numbers. */
static bool runs(ridge_service_fit fit)
{
    return fit == RIDGE_SERVICE_FIT_OK || fit > RIDGE_SERVICE_FIT_CACHE;
}

ridge_status cli_service_plan_price(cli_run *run, ridge_service_plan *plan,
                                    ridge_service_request *request,
                                    ridge_service_price *out)
{
    RIDGE_TRY(ridge_service_plan_read(run->cx, run->args[0], plan));
    RIDGE_TRY(cli_service_plan_request(run, plan, request));
    RIDGE_TRY(ridge_service_price_one(run->cx, request, &plan->choice, out));
    if (runs(out->fit))
        return RIDGE_OK;
    RIDGE_TRY(ridge_service_check_layouts(run->cx, request, &plan->choice));
    return ridge_fail(run->cx, RIDGE_E_ARG, "%s: the deployment does not run: %s",
                      run->args[0], ridge_service_fit_text(out->fit));
}
