/*
 * Rows of CSV files of measured deployments, one a line: id, model_path, system,
 * backend, backend_version, precision, mode (agg, disagg), isl, osl, concurrency,
 * gemm_quant_mode, moe_quant_mode, then batch_size, tp_size, pp_size,
 * attention_dp_size, moe_tp_size, moe_ep_size of the whole, or the same of prefill_ and
 * decode_ beside num_workers, then silicon_ttft_ms and silicon_tpot_ms. Empty: the
 * source is silent.
 */
#include "served_run.h"

#include <stdio.h>
#include <string.h>

static const char SOURCE[] = "aiconfigurator: end-to-end measurements on silicon";

typedef struct csv_row {
    const measured_csv_row *header;
    const measured_csv_row *row;
} csv_row;

static const char *text_of(const csv_row *r, const char *name)
{
    for (int i = 0; i < r->header->n && i < r->row->n; i++) {
        if (strcmp(r->header->fields[i], name) == 0)
            return r->row->fields[i];
    }
    return "";
}

static double number_of(const csv_row *r, const char *name)
{
    double v;
    const bool is_number = ridge_parse_double(ridge_str_of(text_of(r, name)), &v);
    return is_number && v > 0 && v < 1e12 ? v : 0;
}

static int64_t count_of(const csv_row *r, const char *name)
{
    int64_t v;
    const bool is_count = ridge_parse_i64(ridge_str_of(text_of(r, name)), &v);
    return is_count && v > 0 && v < 1 << 24 ? v : 0;
}

bool served_csv_is_header(const measured_csv_row *header)
{
    static const char *const needed[] = {
        "model_path", "system",      "backend",         "isl",
        "osl",        "concurrency", "silicon_ttft_ms", "silicon_tpot_ms"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(needed); i++) {
        int at = 0;
        while (at < header->n && strcmp(header->fields[at], needed[i]) != 0)
            at++;
        if (at == header->n)
            return false;
    }
    return true;
}

/* The degrees below a prefix: "", "prefill_" or "decode_". */
static served_pool pool_of(const csv_row *r, const char *prefix)
{
    static const char *const names[] = {
        "num_workers", "tp_size",     "pp_size",   "attention_dp_size",
        "moe_tp_size", "moe_ep_size", "batch_size"};
    int64_t v[RIDGE_COUNT_OF(names)];
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        char name[48];
        snprintf(name, sizeof name, "%s%s", prefix, names[i]);
        v[i] = count_of(r, name);
    }
    return (served_pool){v[0], v[1], v[2], v[3], v[4], v[5], v[6]};
}

static ridge_status join(ridge_ctx *cx, const char *a, const char *b, const char **out)
{
    *out = b[0] == '\0' ? a : ridge_sprintf(ridge_ctx_arena(cx), "%s %s", a, b);
    return *out == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
}

/* Chips of a pool; 0: not stated. */
static int64_t chips_of(const served_pool *p)
{
    const int64_t dp = p->attention_dp > 0 ? p->attention_dp : 1;
    const int64_t pp = p->pp > 0 ? p->pp : 1;
    return p->tp * dp * pp;
}

static void fill_layout(const csv_row *r, served_run *out)
{
    out->is_split = strcmp(text_of(r, "mode"), "disagg") == 0;
    if (!out->is_split) {
        out->pools[0] = pool_of(r, "");
        out->pools[0].workers = 1;
        out->is_unsquared = served_pool_unsquare(&out->pools[0]);
        out->chips = chips_of(&out->pools[0]);
        return;
    }
    out->pools[0] = pool_of(r, "prefill_");
    out->pools[1] = pool_of(r, "decode_");
    for (int i = 0; i < 2; i++)
        out->chips += out->pools[i].workers * chips_of(&out->pools[i]);
}

ridge_status served_run_of_csv(ridge_ctx *cx, const measured_csv *csv,
                               const measured_csv_row *header,
                               const measured_csv_row *row, served_run *out)
{
    const csv_row r = {header, row};
    if (row->n != header->n) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s:%d: %d fields below a header of %d: quote fields that "
                          "hold a comma",
                          csv->path, row->line, row->n, header->n);
    }
    *out = (served_run){
        .id = text_of(&r, "id"),
        .source = SOURCE,
        .line = row->line,
        .model = text_of(&r, "model_path"),
        .chip = text_of(&r, "system"),
        .mode_words = "closed loop",
        .note = "",
        .interconnect = "",
        .dtype = text_of(&r, "gemm_quant_mode"),
        .expert_dtype = text_of(&r, "moe_quant_mode"),
        .cache_dtype = text_of(&r, "kv_dtype"),
        .mode = SERVED_CLOSED,
        .concurrency = number_of(&r, "concurrency"),
        .input_tokens = number_of(&r, "isl"),
        .output_tokens = number_of(&r, "osl"),
    };
    if (out->dtype[0] == '\0')
        out->dtype = text_of(&r, "precision");
    if (out->id[0] == '\0')
        out->id = ridge_sprintf(ridge_ctx_arena(cx), "line %d", row->line);
    if (out->id == NULL)
        return ridge_fail_nomem(cx);
    fill_layout(&r, out);
    out->measured[RIDGE_SERVING_METRIC_TTFT] = number_of(&r, "silicon_ttft_ms") * 1e-3;
    out->measured[RIDGE_SERVING_METRIC_TPOT] = number_of(&r, "silicon_tpot_ms") * 1e-3;
    return join(cx, text_of(&r, "backend"), text_of(&r, "backend_version"),
                &out->framework);
}
