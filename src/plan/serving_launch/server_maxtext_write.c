/*
 * A pool as MaxText's inference: the command of its JetStream server, or its yml.
 * Sequences over what tensor parallelism has beyond the KV heads are its autoregressive
 * axis, tokens its context_autoregressive one; an expert axis splits attention's
 * sequences as well.
 *
 * @source maxtext-2025, configs/base.yml and inference.yml; jetstream-2025, user guides
 */
#include "server_draft.h"

#include "launch_names.h"

#include <inttypes.h>
#include <string.h>

static ridge_status draft_degrees(server_draft *d)
{
    const ridge_serving_layout *l = d->layout;
    const int64_t heads = server_kv_heads(d->model);
    const bool is_wide = heads > 0 && l->tp > heads;
    int64_t tensor = l->tp;
    int64_t beyond = 1;
    if (l->pp > 1)
        return launch_draft_refuse(&d->sheet, "serves without stages: plan with pp=1");
    if (l->ep != l->attention_dp) {
        return launch_draft_refuse(&d->sheet,
                                   "deals experts and sequences over one axis: plan "
                                   "with ep=%" PRId64 " attention_dp=%" PRId64
                                   ", or with both 1",
                                   l->ep, l->ep);
    }
    if (is_wide && l->kv_cut != RIDGE_KV_CUT_HEADS) {
        tensor = heads;
        beyond = l->tp / heads;
    }
    launch_draft_text(&d->sheet, LAUNCH_DP_SHARDS, "1");
    const int64_t each = server_devices_of(d->deployment->slice);
    if (each > 1)
        launch_draft_note(&d->sheet, "a chip is %" PRId64 " devices: axes count them",
                          each);
    launch_draft_i64(&d->sheet, LAUNCH_TP, tensor * each);
    launch_draft_i64(&d->sheet, LAUNCH_KV_BATCH,
                     l->kv_cut == RIDGE_KV_CUT_BATCH ? beyond : 1);
    if (l->kv_cut == RIDGE_KV_CUT_SEQUENCE && beyond > 1)
        launch_draft_i64(&d->sheet, LAUNCH_KV_SPLIT, beyond);
    if (l->ep > 1)
        launch_draft_i64(&d->sheet, LAUNCH_EP, l->ep);
    return RIDGE_OK;
}

static ridge_status draft_name(server_draft *d)
{
    const launch_name *row = launch_name_of(d->model->name);
    if (row == NULL || row->maxtext == NULL) {
        return launch_draft_refuse(&d->sheet,
                                   "has no model %.60s by name: plan for "
                                   "another engine",
                                   d->model->name);
    }
    launch_draft_text(&d->sheet, LAUNCH_MODEL_NAME, row->maxtext);
    return RIDGE_OK;
}

/* Cache and weights have switches of their own. */
static ridge_status draft_formats(server_draft *d)
{
    static const char *const dtypes[RIDGE_DTYPE_COUNT] = {
        [RIDGE_DTYPE_BF16] = "bfloat16",
        [RIDGE_DTYPE_FP16] = "float16",
        [RIDGE_DTYPE_FP32] = "float32"};
    RIDGE_TRY(server_draft_formats(d));
    launch_draft_text(&d->sheet, LAUNCH_WEIGHT_DTYPE,
                      dtypes[d->layout->formats.activation]);
    launch_draft_text(&d->sheet, LAUNCH_QUANT_LOADED,
                      d->sheet.value[LAUNCH_QUANT] == NULL ? NULL : "true");
    launch_draft_text(&d->sheet, LAUNCH_CACHE_QUANT,
                      d->sheet.value[LAUNCH_CACHE_DTYPE] == NULL ? NULL : "true");
    return RIDGE_OK;
}

static void draft_limits(server_draft *d)
{
    const ridge_deployment *p = d->deployment;
    const double longest =
        p->longest_tokens > 0 ? p->longest_tokens : (double)d->model->max_positions;
    const double prompt = p->prompt_tokens > 0 ? p->prompt_tokens : longest;
    const double share =
        (double)d->layout->sequences / (double)(d->chips * server_devices_of(p->slice));
    launch_draft_i64(&d->sheet, LAUNCH_CONTEXT, (int64_t)longest);
    launch_draft_i64(&d->sheet, LAUNCH_PROMPT, (int64_t)prompt);
    launch_draft_text(&d->sheet, LAUNCH_LOCAL_BATCH,
                      ridge_sprintf(ridge_ctx_arena(d->sheet.cx), "%.10g", share));
    launch_draft_text(&d->sheet, LAUNCH_SCAN, "false");
    if (d->engine->is_chunked) {
        launch_draft_text(&d->sheet, LAUNCH_CHUNKED, "true");
        launch_draft_i64(&d->sheet, LAUNCH_CHUNK, d->layout->budget_tokens);
    }
    launch_draft_note(&d->sheet, "tokenizer_path and load_parameters_path, of weights "
                                 "that are not scanned, are yours to add");
    launch_draft_note(&d->sheet, "the cache is as large as max_target_length and "
                                 "per_device_batch_size make it: no share of HBM is "
                                 "stated");
    launch_draft_note(&d->sheet, "trees since 2026 have the module as "
                                 "maxtext.inference.maxengine.maxengine_server, "
                                 "base.yml under src/maxtext/configs");
}

static void put_words(server_draft *d)
{
    ridge_buf *b = &d->sheet.out->text;
    server_draft_heading(d);
    ridge_buf_puts(b, "python -m MaxText.maxengine_server MaxText/configs/base.yml");
    for (const launch_option *o = server_maxtext_options; o->name != NULL; o++) {
        const char *value = d->sheet.value[o->field];
        if (value != NULL && o->field != LAUNCH_UNPRICED)
            ridge_buf_printf(b, " \\\n  %s=%s", o->name, value);
    }
    ridge_buf_puts(b, "\n");
}

ridge_status server_maxtext_write(server_draft *d)
{
    if (d->layout->draft.kind != RIDGE_DRAFT_NONE) {
        return launch_draft_refuse(&d->sheet, "drafts no tokens: plan without "
                                              "--draft");
    }
    RIDGE_TRY(draft_name(d));
    RIDGE_TRY(draft_degrees(d));
    RIDGE_TRY(draft_formats(d));
    draft_limits(d);
    if (d->launcher == RIDGE_SERVING_LAUNCHER_JETSTREAM) {
        put_words(d);
        return RIDGE_OK;
    }
    launch_draft_text(&d->sheet, LAUNCH_BASE, "inference.yml");
    server_draft_put_yaml(d, server_maxtext_options, 0);
    return RIDGE_OK;
}
