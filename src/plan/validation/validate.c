/* Predictions held against measured runs: one row at a time, then the distribution of
 * the errors by chip and by source. */
#include "measured_row.h"
#include "validation_summary.h"

#include <string.h>

enum { FILE_BYTES_MOST = 256 << 20, ROWS_MOST = 1000000 };

/* ---- one row --------------------------------------------------------------------- */

/* FLOPs a token as the row's source counts them. Words of the rows' own description. */
static double flops_per_token(const measured_row *row, const ridge_train_request *r,
                              measured_gaps *gaps)
{
    const char *text = measured_text(&row->root, "flops_convention");
    ridge_convention c = RIDGE_CONVENTION_PALM;
    const bool is_unsaid = text != NULL && strstr(text, "not stated") != NULL;
    if (text != NULL && !is_unsaid && strstr(text, "causal half") != NULL) {
        c = RIDGE_CONVENTION_PALM_CAUSAL;
    } else if (text != NULL && strstr(text, "no attention") != NULL) {
        c = RIDGE_CONVENTION_SIX_N;
    }
    measured_assume(gaps, "FLOPs convention");
    double flops = ridge_model_flops_train(r->model, r->seq_tokens, c);
    bool is_hardware =
        text != NULL && (strstr(text, "hardware FLOPs") != NULL ||
                         strstr(text, "counting a recomputed forward") != NULL);
    if (is_hardware && r->knobs.remat == RIDGE_REMAT_FULL)
        flops *= 4.0 / 3.0; /* the forward pass again */
    return flops;
}

/* The measured step, as printed, or from tokens/s or FLOP/s that were. */
static bool measured_step(const measured_row *row, const ridge_train_request *r,
                          measured_gaps *gaps, double *out)
{
    double rate;
    if (measured_number(&row->measured, "step_time_s", out))
        return true;
    double chips = (double)r->slice->chips;
    if (measured_number(&row->measured, "tokens_per_s_per_chip", &rate)) {
        *out = r->batch_tokens / (rate * chips);
        return true;
    }
    double peak = ridge_chip_peak(r->slice->chip, RIDGE_DTYPE_BF16, NULL);
    double share;
    if (measured_number(&row->measured, "tflops_per_chip", &rate)) {
        rate *= 1e12;
    } else if (measured_number(&row->measured, "mfu", &share)) {
        rate = share * peak;
    } else {
        return false;
    }
    *out = r->batch_tokens * flops_per_token(row, r, gaps) / (rate * chips);
    return true;
}

/* What was run must have fitted: where the memory model disagrees the time of the
 * nearest layout is still a prediction. */
static ridge_status predict_layout(ridge_ctx *cx, const ridge_train_request *r,
                                   ridge_train_price *out)
{
    ridge_train_result result;
    RIDGE_TRY(ridge_train_search(cx, r, &result));
    if (result.n_layouts > 0) {
        *out = result.layouts[0];
        return RIDGE_OK;
    }
    if (!result.has_nearest) {
        int why = 0;
        for (int i = 1; i < RIDGE_FIT_COUNT; i++) {
            if (result.refused[i] > 0)
                why = i;
        }
        return ridge_fail(cx, RIDGE_E_ARG, "no layout agrees with the row: %s",
                          why > 0 ? ridge_fit_text((ridge_fit)why) : "contradictory");
    }
    return ridge_train_price_one(cx, r, &result.nearest.layout, out);
}

/* Heads of a model as rows before this one state them. */
typedef struct stated_heads {
    const char *source, *model;
    int64_t n_layers, d_model, heads;
} stated_heads;

typedef struct row_reader {
    const ridge_catalog *catalog;
    const ridge_library *library;
    const char *path;
    stated_heads *stated; /* room for each row */
    int n_stated;
} row_reader;

static ridge_status predict(ridge_ctx *cx, const row_reader *from,
                            const measured_row *row, measured_gaps *gaps,
                            ridge_validation_row *out)
{
    ridge_train_request r = {0};
    ridge_train_price price;
    RIDGE_TRY(measured_slice(cx, from->catalog, row, gaps, &r.slice));
    RIDGE_TRY(measured_model(cx, from->library, row, gaps, &r.model));
    r.seq_tokens = measured_context(cx, from->library, row);
    RIDGE_TRY(measured_request(cx, row, gaps, &r));
    RIDGE_TRY(measured_stack(cx, from->catalog, row, gaps, &r));
    measured_mtp(cx, from->library, row, &r);
    if (!measured_step(row, &r, gaps, &out->measured_step_s))
        return ridge_fail(cx, RIDGE_E_ARG, "no step time or rate was measured");
    RIDGE_TRY(measured_check(cx, row, &r));
    RIDGE_TRY(predict_layout(cx, &r, &price));
    if (price.step_time_s <= 0) {
        return ridge_fail(cx, RIDGE_E_ARG, "the row's plan is not legal: %s",
                          ridge_fit_text(price.fit));
    }
    out->price = price;
    out->range = ridge_train_range(&r, &price);
    out->stack = r.stack == NULL ? "" : r.stack->name;
    out->has_experts = ridge_model_has_experts(r.model);
    out->chip_s_per_token =
        out->measured_step_s * (double)r.slice->chips / r.batch_tokens;
    out->predicted_step_s = price.step_time_s;
    out->relative_error = price.step_time_s / out->measured_step_s - 1;
    out->predicted_memory_bytes = price.peak_memory_bytes;
    out->has_memory = measured_number(&row->measured, "peak_memory_bytes",
                                      &out->measured_memory_bytes);
    return RIDGE_OK;
}

/* A model of the same source, of the same width. */
static bool is_as_wide(const stated_heads *a, const stated_heads *b)
{
    return a->d_model == b->d_model && strcmp(a->source, b->source) == 0;
}

static bool is_same_model(const stated_heads *a, const stated_heads *b)
{
    return is_as_wide(a, b) && a->n_layers == b->n_layers &&
           strcmp(a->model, b->model) == 0;
}

/* Each prediction has a ctx of its own, so that memory does not grow with the rows. A
 * row that cannot be predicted is no failure of the file. */
static ridge_status predict_apart(ridge_ctx *cx, const row_reader *from,
                                  const measured_row *row, measured_gaps *gaps,
                                  ridge_validation_row *out)
{
    ridge_ctx *own = ridge_ctx_open();
    if (own == NULL)
        return ridge_fail_nomem(cx);
    ridge_status st = predict(own, from, row, gaps, out);
    if (st != RIDGE_OK) {
        ridge_str why = ridge_str_of(ridge_ctx_message(own));
        out->why_skipped = ridge_str_dup(ridge_ctx_arena(cx), why);
    }
    ridge_ctx_close(own);
    out->is_predicted = st == RIDGE_OK;
    out->is_complete = out->is_predicted && gaps->text.n == 0;
    out->assumed = ridge_buf_text(&gaps->text);
    return st == RIDGE_E_NOMEM ? ridge_fail_nomem(cx) : RIDGE_OK;
}

static void know_heads(row_reader *reader, measured_row *row)
{
    stated_heads own = {.source = row->source, .model = row->model_name};
    if (!measured_count(&row->model, "d_model", &own.d_model))
        return;
    const bool has_layers = measured_count(&row->model, "n_layers", &own.n_layers);
    if (measured_count(&row->model, "n_heads", &own.heads)) {
        if (has_layers)
            reader->stated[reader->n_stated++] = own;
        return;
    }
    for (int i = reader->n_stated - 1; i >= 0 && row->heads_elsewhere == 0; i--) {
        if (is_same_model(&reader->stated[i], &own))
            row->heads_elsewhere = reader->stated[i].heads;
    }
    for (int i = reader->n_stated - 1; i >= 0 && row->heads_elsewhere == 0; i--) {
        if (is_as_wide(&reader->stated[i], &own))
            row->heads_elsewhere = reader->stated[i].heads;
    }
}

static ridge_status validate_row(ridge_ctx *cx, row_reader *reader, ridge_str line,
                                 int number, ridge_validation_row *out)
{
    measured_row *row = ridge_new(ridge_ctx_arena(cx), measured_row, 1);
    measured_gaps gaps;
    ridge_buf_init(&gaps.text, ridge_ctx_arena(cx));
    if (row == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(measured_row_read(cx, line, reader->path, number, row));
    know_heads(reader, row);
    *out = (ridge_validation_row){.id = row->id,
                                  .source = row->source,
                                  .chip = row->chip,
                                  .model = row->model_name,
                                  .stack = "",
                                  .plan_words = measured_plan_words(cx, row),
                                  .format = measured_format(row),
                                  .line = number};
    if (out->plan_words == NULL)
        return ridge_fail_nomem(cx);
    return predict_apart(cx, reader, row, &gaps, out);
}

/* ---- the file -------------------------------------------------------------------- */

static int count_lines(ridge_str text)
{
    int n = 1;
    for (size_t i = 0; i < text.n && n < ROWS_MOST; i++)
        n += text.p[i] == '\n' ? 1 : 0;
    return n;
}

ridge_status ridge_validate_training(ridge_ctx *cx, const ridge_catalog *catalog,
                                     const ridge_library *library, const char *path,
                                     ridge_validation *out)
{
    ridge_str text;
    ridge_validation v = {0};
    RIDGE_TRY(ridge_file_read(cx, path, FILE_BYTES_MOST, &text));
    const size_t lines = (size_t)count_lines(text);
    row_reader reader = {.catalog = catalog,
                         .library = library,
                         .path = path,
                         .stated = ridge_new(ridge_ctx_arena(cx), stated_heads, lines)};
    v.rows = ridge_new(ridge_ctx_arena(cx), ridge_validation_row, lines);
    if (v.rows == NULL || reader.stated == NULL)
        return ridge_fail_nomem(cx);
    int number = 0;
    while (text.p != NULL && number < ROWS_MOST) {
        ridge_str line = ridge_str_trim(ridge_str_cut(&text, '\n'));
        number++;
        if (line.n == 0)
            continue;
        if (ridge_ctx_is_cancelled(cx))
            return ridge_fail(cx, RIDGE_E_CANCELLED, "cancelled at line %d", number);
        RIDGE_TRY(validate_row(cx, &reader, line, number, &v.rows[v.n_rows]));
        v.n_rows++;
    }
    if (v.n_rows == 0) {
        return ridge_fail(cx, RIDGE_E_PARSE, "%s: holds no rows: expected JSON Lines",
                          path);
    }
    RIDGE_TRY(validation_summarise(cx, &v));
    *out = v;
    return RIDGE_OK;
}
