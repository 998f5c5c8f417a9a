/* From a plan to the request that its layout is priced by. */
#include "plan_request.h"

#include "ridge/plan_launch.h"

#include <string.h>

/* A plan made from a launch file without a model's name has its sizes: "sizes of FILE".
 */
static ridge_status find_model(cli_run *run, const char *name, const ridge_slice *slice,
                               const ridge_model **out)
{
    static const char prefix[] = "sizes of ";
    ridge_launch_query query = {.slice = slice};
    ridge_launch *launch = ridge_new(ridge_ctx_arena(run->cx), ridge_launch, 1);
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return cli_model(run, name, out);
    if (!launch)
        return ridge_fail_nomem(run->cx);
    RIDGE_TRY(cli_library(run, &query.library));
    RIDGE_TRY(ridge_launch_read(run->cx, name + sizeof prefix - 1, &query, launch));
    *out = launch->model;
    return RIDGE_OK;
}

/* What a plan says of experts changes nothing without them. */
static ridge_status check_experts(cli_run *run, const ridge_plan *plan,
                                  const ridge_model *model)
{
    const char *key = plan->expert_imbalance > 1 ? "expert_imbalance"
                      : plan->layout.ep > 1      ? "ep"
                      : plan->layout.ep_dispatch != RIDGE_DISPATCH_COPIES
                          ? "ep_dispatch"
                          : NULL;
    if (key == NULL || ridge_model_params(model).experts > 0)
        return RIDGE_OK;
    return ridge_fail(run->cx, RIDGE_E_ARG,
                      "%s of the plan is of experts and %s has none: leave it out", key,
                      model->name);
}

ridge_status cli_plan_request(cli_run *run, const ridge_plan *plan,
                              ridge_train_request *out)
{
    const ridge_catalog *catalog;
    ridge_train_request r = {.batch_tokens = plan->batch_tokens,
                             .seq_tokens = plan->seq_tokens,
                             .total_tokens = plan->total_tokens,
                             .convention = plan->convention,
                             .knobs = ridge_knobs_free(),
                             .usd_per_chip_hour = plan->usd_per_chip_hour,
                             .expert_imbalance = plan->expert_imbalance,
                             .documents = plan->documents};
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(ridge_slice_parse(run->cx, catalog, plan->slice_text, &r.slice));
    RIDGE_TRY(find_model(run, plan->model_name, r.slice, &r.model));
    RIDGE_TRY(cli_stack(run, plan->stack_name, &r.stack));
    RIDGE_TRY(check_experts(run, plan, r.model));
    r.knobs.precision = plan->layout.precision;
    *out = r;
    return RIDGE_OK;
}
