/*
 * A pool as LMDeploy's options: TurboMind divides a model by tp alone.
 *
 * @source lmdeploy-source-2025, lmdeploy/cli/utils.py
 */
#include "server_draft.h"

static ridge_status check_drafts(server_draft *d)
{
    if (d->layout->draft.kind != RIDGE_DRAFT_NONE) {
        return launch_draft_refuse(&d->sheet, "drafts nothing under TurboMind: plan "
                                              "without --draft");
    }
    return RIDGE_OK;
}

static void draft_cache_bits(server_draft *d)
{
    const ridge_dtype cache = d->layout->formats.cache;
    if (cache == RIDGE_DTYPE_INT8 || cache == RIDGE_DTYPE_INT4)
        launch_draft_i64(&d->sheet, LAUNCH_CACHE_BITS,
                         cache == RIDGE_DTYPE_INT4 ? 4 : 8);
}

ridge_status server_lmdeploy_write(server_draft *d)
{
    ridge_buf *b = &d->sheet.out->text;
    RIDGE_TRY(server_draft_tp_alone(d));
    RIDGE_TRY(check_drafts(d));
    RIDGE_TRY(server_draft_formats(d));
    draft_cache_bits(d);
    server_draft_limits(d, 1);
    server_draft_share(d);
    launch_draft_flag(&d->sheet, LAUNCH_PREFIX_CACHE,
                      d->is_own && d->engine->has_prefix_cache);
    launch_draft_i64(&d->sheet, LAUNCH_BUDGET, d->layout->budget_tokens);
    server_draft_heading(d);
    ridge_buf_printf(b, "lmdeploy serve api_server %s", d->sheet.model_name);
    server_draft_put_flags(d, server_lmdeploy_options);
    return RIDGE_OK;
}
