/* From a plan to the request that its layout is priced by. */
#include "plan_request.h"

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
    RIDGE_TRY(cli_model(run, plan->model_name, &r.model));
    RIDGE_TRY(cli_stack(run, plan->stack_name, &r.stack));
    r.knobs.precision = plan->layout.precision;
    *out = r;
    return RIDGE_OK;
}
