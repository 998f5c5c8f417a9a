/*
 * A pool as LMDeploy's options: TurboMind divides a model by tp alone.
 *
 * @source lmdeploy-source-2025, lmdeploy/cli/utils.py
 */
#include "server_draft.h"

static ridge_status draft_degrees(server_draft *d)
{
    const ridge_serving_layout *l = d->layout;
    if (l->pp > 1 || l->attention_dp > 1 || l->ep > 1) {
        return launch_draft_refuse(&d->sheet, "divides a model by tp alone: plan with "
                                              "pp=1, attention_dp=1 and ep=1");
    }
    if (l->kv_cut != RIDGE_KV_CUT_HEADS && l->tp > server_kv_heads(d->model)) {
        return launch_draft_refuse(&d->sheet,
                                   "cuts a cache by heads: plan with kv_cut=heads");
    }
    if (l->draft.kind != RIDGE_DRAFT_NONE) {
        return launch_draft_refuse(&d->sheet, "drafts nothing under TurboMind: plan "
                                              "without --draft");
    }
    launch_draft_i64(&d->sheet, LAUNCH_TP, l->tp);
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
    RIDGE_TRY(draft_degrees(d));
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
