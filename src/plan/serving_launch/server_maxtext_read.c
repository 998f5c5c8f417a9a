/* Keys of MaxText's inference as a pool.
 * @source maxtext-2025, configs/base.yml and inference.yml */
#include "server_read.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const int64_t MOST = 1000000;

/* One of the axes may be -1: what the others leave of the slice. */
static ridge_status fill_axes(server_reader *r, const launch_field *fields,
                              int64_t *axes, size_t n)
{
    int64_t stated = 1;
    int open = -1;
    for (size_t i = 0; i < n; i++) {
        int64_t v = 1;
        RIDGE_TRY(launch_sheet_i64(&r->sheet, fields[i], -1, MOST, &v));
        if (v == 0 || (v < 0 && open >= 0)) {
            return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, fields[i],
                                     "%" PRId64 ": one axis alone may be -1", v);
        }
        if (v < 0) {
            open = (int)i;
            v = 1;
        }
        axes[i] = v;
        if (!ridge_mul_i64(stated, v, &stated) || stated > MOST) {
            return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, fields[i],
                                     "the axes multiply beyond %" PRId64, MOST);
        }
    }
    if (open < 0)
        return RIDGE_OK;
    const int64_t chips =
        r->query->slice == NULL
            ? stated
            : r->query->slice->chips * server_devices_of(r->query->slice);
    if (chips % stated != 0) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, fields[open],
                                 "the other axes, %" PRId64
                                 " together, do not divide %" PRId64 " devices",
                                 stated, chips);
    }
    axes[open] = chips / stated;
    return RIDGE_OK;
}

static ridge_status read_degrees(server_reader *r)
{
    static const launch_field fields[] = {LAUNCH_DP_SHARDS, LAUNCH_KV_BATCH,
                                          LAUNCH_KV_SPLIT, LAUNCH_EP, LAUNCH_TP};
    enum { GATHERED, BATCH, SEQUENCE, EXPERT, TENSOR, AXES };
    int64_t axes[AXES] = {1, 1, 1, 1, 1};
    ridge_serving_layout *l = r->layout;
    RIDGE_TRY(fill_axes(r, fields, axes, AXES));
    const int64_t each = server_devices_of(r->query->slice);
    if (axes[TENSOR] % each != 0) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, LAUNCH_TP,
                                 "%" PRId64 " devices are no whole chips of %" PRId64
                                 " each",
                                 axes[TENSOR], each);
    }
    axes[TENSOR] /= each;
    if (axes[BATCH] > 1 && axes[SEQUENCE] > 1)
        server_read_note(r, LAUNCH_KV_SPLIT, "priced as cut by sequences");
    l->tp = axes[TENSOR] * axes[BATCH] * axes[SEQUENCE] * axes[GATHERED];
    l->kv_cut = axes[BATCH] > 1      ? RIDGE_KV_CUT_BATCH
                : axes[SEQUENCE] > 1 ? RIDGE_KV_CUT_SEQUENCE
                                     : RIDGE_KV_CUT_HEADS;
    l->is_weight_gathered = axes[GATHERED] > 1;
    l->attention_dp = axes[EXPERT];
    l->ep = ridge_model_has_experts(r->model) ? axes[EXPERT] : 1;
    return RIDGE_OK;
}

static ridge_status read_limits(server_reader *r)
{
    ridge_serving_layout *l = r->layout;
    double of_chip = 0;
    int64_t prompt = 0;
    bool is_chunked = false;
    const double devices = (double)ridge_serving_layout_chips(l) *
                           (double)server_devices_of(r->query->slice);
    RIDGE_TRY(launch_sheet_double(&r->sheet, LAUNCH_LOCAL_BATCH, 1e-6, 1e6, &of_chip));
    l->sequences = (int64_t)round(of_chip * devices);
    if (l->sequences < 1) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, LAUNCH_LOCAL_BATCH,
                                 "%g x %g devices is no sequence", of_chip, devices);
    }
    RIDGE_TRY(launch_sheet_want(&r->sheet, LAUNCH_PROMPT, &prompt));
    r->deployment->prompt_tokens = (double)prompt;
    RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_CHUNKED, &is_chunked));
    r->engine->is_chunked = is_chunked;
    l->budget_tokens = prompt > 0 ? prompt : (int64_t)r->deployment->longest_tokens;
    if (is_chunked)
        RIDGE_TRY(
            launch_sheet_i64(&r->sheet, LAUNCH_CHUNK, 1, 1 << 24, &l->budget_tokens));
    return RIDGE_OK;
}

/* The cache's format counts where the cache is quantised. */
static ridge_status read_cache(server_reader *r)
{
    bool is_quantised = false;
    const char *word = "int8";
    RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_CACHE_QUANT, &is_quantised));
    if (is_quantised)
        RIDGE_TRY(launch_sheet_text(&r->sheet, LAUNCH_CACHE_DTYPE, &word));
    r->sheet.given[LAUNCH_CACHE_QUANT] = NULL;
    r->sheet.given[LAUNCH_CACHE_DTYPE] = NULL;
    if (is_quantised && !server_cache_parse(word, &r->layout->formats.cache)) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, LAUNCH_CACHE_DTYPE,
                                 "'%.40s': expected int8, int4 or fp8", word);
    }
    return RIDGE_OK;
}

ridge_status server_maxtext_read(server_reader *r)
{
    const ridge_serving_launch_query *q = r->query;
    RIDGE_TRY(read_cache(r));
    const ridge_dtype cache = r->layout->formats.cache;
    const bool has_axis = r->sheet.given[LAUNCH_TP] != NULL ||
                          r->sheet.given[LAUNCH_KV_BATCH] != NULL ||
                          r->sheet.given[LAUNCH_DP_SHARDS] != NULL;
    RIDGE_TRY(server_read_common(r));
    r->layout->formats.cache = cache;
    if (!has_axis && q->slice == NULL) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, LAUNCH_TP,
                                 "no axis is stated: give the slice as well");
    }
    RIDGE_TRY(read_degrees(r));
    return read_limits(r);
}
