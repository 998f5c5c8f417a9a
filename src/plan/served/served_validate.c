/*
 * Predictions held against measured serving: the rows of a file are read in order,
 * predicted by as many threads as there are processors, and summed up.
 */
#include "served_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FILE_BYTES_MOST = 256 << 20, ROWS_MOST = 1000000 };

const char *ridge_serving_metric_key(ridge_serving_metric metric)
{
    static const char *const keys[] = {
#define METRIC_KEY(name, key, text) [RIDGE_SERVING_METRIC_##name] = key,
        RIDGE_SERVING_METRIC_LIST(METRIC_KEY)
#undef METRIC_KEY
    };
    return keys[metric];
}

const char *ridge_serving_metric_text(ridge_serving_metric metric)
{
    static const char *const texts[] = {
#define METRIC_TEXT(name, key, text) [RIDGE_SERVING_METRIC_##name] = text,
        RIDGE_SERVING_METRIC_LIST(METRIC_TEXT)
#undef METRIC_TEXT
    };
    return texts[metric];
}

const char *ridge_drafting_text(ridge_drafting drafting)
{
    static const char *const texts[] = {
#define DRAFTING_TEXT(name, text) [RIDGE_DRAFTING_##name] = text,
        RIDGE_DRAFTING_LIST(DRAFTING_TEXT)
#undef DRAFTING_TEXT
    };
    return texts[drafting];
}

/* ---- one row ----------------------------------------------------------------------
 */

enum { WORDS_MOST = 240 };

/* A row's answer, with its texts: threads have no arena in common. */
typedef struct row_answer {
    ridge_serving_row row;
    ridge_status status;
    char why[WORDS_MOST], assumed[WORDS_MOST], what[WORDS_MOST];
    char chip[48], engine[48];
} row_answer;

typedef struct row_jobs {
    const ridge_catalog *catalog;
    const ridge_library *library;
    const served_run *runs;
    row_answer *answers;
} row_jobs;

RIDGE_PRINTF(2, 3)
static void set_words(char *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(out, WORDS_MOST, fmt, args);
    va_end(args);
}

static void describe(const served_run *run, const served_deployment *d, char *out)
{
    const ridge_serving_layout *l = &d->parts[d->n - 1].layout;
    char at[64] = "";
    if (run->request_rate > 0)
        snprintf(at, sizeof at, ", %g requests/s", run->request_rate);
    else if (run->concurrency > 0)
        snprintf(at, sizeof at, ", %g at once", run->concurrency);
    char degrees[96];
    snprintf(degrees, sizeof degrees, "tp %d", (int)l->tp);
    const struct {
        const char *name;
        int64_t n;
    } more[] = {{"pp", l->pp}, {"ep", l->ep}, {"attention dp", l->attention_dp}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(more); i++) {
        const size_t n = strlen(degrees);
        if (more[i].n > 1)
            snprintf(degrees + n, sizeof degrees - n, " %s %d", more[i].name,
                     (int)more[i].n);
    }
    set_words(out, "%s%s, %s, %g + %g tokens%s", degrees,
              d->n > 1 ? " of generation" : "",
              run->dtype[0] == '\0' ? "own format" : run->dtype, run->input_tokens,
              run->output_tokens, at);
}

static bool has_measure(const served_run *run)
{
    for (int i = 0; i < RIDGE_SERVING_METRIC_COUNT; i++) {
        if (run->measured[i] > 0)
            return true;
    }
    return false;
}

static ridge_status predict(ridge_ctx *own, const row_jobs *jobs, const served_run *run,
                            served_gaps *gaps, row_answer *out)
{
    served_deployment d;
    if (run->mode == SERVED_OTHER) {
        return ridge_fail(own, RIDGE_E_ARG, "runs of '%s' are not simulated",
                          run->mode_words);
    }
    if (!has_measure(run))
        return ridge_fail(own, RIDGE_E_ARG, "no time and no rate was measured");
    RIDGE_TRY(served_deployment_find(own, jobs->catalog, jobs->library, run, gaps, &d));
    out->row.drafting = d.drafting;
    snprintf(out->chip, sizeof out->chip, "%s", d.parts[0].about.slice->chip->name);
    snprintf(out->engine, sizeof out->engine, "%s", d.engine_name);
    describe(run, &d, out->what);
    for (int i = 0; i < RIDGE_SERVING_METRIC_COUNT; i++)
        out->row.figures[i].measured = run->measured[i];
    return served_predict(own, run, &d, &out->row);
}

static void set_errors(ridge_serving_row *row)
{
    for (int i = 0; i < RIDGE_SERVING_METRIC_COUNT; i++) {
        ridge_serving_figure *f = &row->figures[i];
        if (f->measured > 0 && f->predicted > 0)
            f->relative_error = f->predicted / f->measured - 1;
    }
}

/* A token in less time than reading the weights once takes: several came of one read.
 */
static bool beats_bound(const ridge_serving_row *row)
{
    const ridge_serving_figure *tpot = &row->figures[RIDGE_SERVING_METRIC_TPOT];
    return tpot->measured > 0 && tpot->measured < row->decode.bound_s;
}

static void answer_row(void *payload, int64_t item, int worker)
{
    (void)worker;
    const row_jobs *jobs = payload;
    const served_run *run = &jobs->runs[item];
    row_answer *out = &jobs->answers[item];
    ridge_ctx *own = ridge_ctx_open();
    if (own == NULL) {
        out->status = RIDGE_E_NOMEM;
        return;
    }
    served_gaps gaps;
    ridge_buf_init(&gaps.text, ridge_ctx_arena(own));
    snprintf(out->chip, sizeof out->chip, "%s", run->chip);
    snprintf(out->engine, sizeof out->engine, "%s", run->framework);
    out->status = predict(own, jobs, run, &gaps, out);
    if (out->status != RIDGE_OK)
        set_words(out->why, "%s", ridge_ctx_message(own));
    if (gaps.text.n > 0)
        set_words(out->assumed, "%s", ridge_buf_text(&gaps.text));
    ridge_ctx_close(own);
    ridge_serving_row *row = &out->row;
    row->is_predicted = out->status == RIDGE_OK;
    if (!row->is_predicted)
        return;
    set_errors(row);
    if (row->drafting != RIDGE_DRAFTING_STATED && beats_bound(row))
        row->drafting = RIDGE_DRAFTING_PROVEN;
    row->is_complete =
        out->assumed[0] == '\0' && (row->drafting == RIDGE_DRAFTING_NONE ||
                                    row->drafting == RIDGE_DRAFTING_STATED);
}

/* ---- rows of a file ---------------------------------------------------------------
 */

typedef struct run_list {
    served_run *at;
    int n;
} run_list;

static int count_lines(ridge_str text)
{
    int n = 1;
    for (size_t i = 0; i < text.n && n < ROWS_MOST; i++)
        n += text.p[i] == '\n' ? 1 : 0;
    return n;
}

static ridge_status read_json(ridge_ctx *cx, const char *path, ridge_str text,
                              run_list *out)
{
    int number = 0;
    while (text.p != NULL && out->n < ROWS_MOST) {
        const ridge_str line = ridge_str_trim(ridge_str_cut(&text, '\n'));
        number++;
        if (line.n == 0)
            continue;
        const char *where = ridge_sprintf(ridge_ctx_arena(cx), "%s:%d", path, number);
        if (where == NULL)
            return ridge_fail_nomem(cx);
        RIDGE_TRY(served_run_of_json(cx, line, where, &out->at[out->n]));
        out->at[out->n++].line = number;
    }
    return RIDGE_OK;
}

static ridge_status read_csv(ridge_ctx *cx, const char *path, ridge_str text,
                             run_list *out)
{
    measured_csv csv = {.path = path, .rest = text};
    measured_csv_row header;
    measured_csv_row row;
    bool has_row;
    RIDGE_TRY(measured_csv_next(cx, &csv, &header, &has_row));
    if (!has_row || !served_csv_is_header(&header)) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s:1: expected a header with model_path, system, backend, "
                          "isl, osl, concurrency, silicon_ttft_ms, silicon_tpot_ms",
                          path);
    }
    while (out->n < ROWS_MOST) {
        RIDGE_TRY(measured_csv_next(cx, &csv, &row, &has_row));
        if (!has_row)
            break;
        RIDGE_TRY(served_run_of_csv(cx, &csv, &header, &row, &out->at[out->n]));
        out->n++;
    }
    return RIDGE_OK;
}

static ridge_status read_runs(ridge_ctx *cx, const char *path, run_list *out)
{
    ridge_str text;
    RIDGE_TRY(ridge_file_read(cx, path, FILE_BYTES_MOST, &text));
    *out = (run_list){
        .at = ridge_new(ridge_ctx_arena(cx), served_run, (size_t)count_lines(text))};
    if (out->at == NULL)
        return ridge_fail_nomem(cx);
    const ridge_str body = ridge_str_trim(text);
    if (body.n > 0 && body.p[0] == '{') {
        RIDGE_TRY(read_json(cx, path, text, out));
    } else {
        RIDGE_TRY(read_csv(cx, path, text, out));
    }
    if (out->n == 0)
        return ridge_fail(cx, RIDGE_E_PARSE, "%s: holds no rows", path);
    return RIDGE_OK;
}

/* ---- all of them ------------------------------------------------------------------
 */

static ridge_status keep(ridge_ctx *cx, const char *text, const char **out)
{
    *out = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(text));
    return *out == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
}

static ridge_status keep_answer(ridge_ctx *cx, const served_run *run,
                                const row_answer *answer, ridge_serving_row *out)
{
    if (answer->status == RIDGE_E_NOMEM)
        return ridge_fail_nomem(cx);
    *out = answer->row;
    out->id = run->id;
    out->source = run->source;
    out->model = run->model;
    out->line = run->line;
    RIDGE_TRY(keep(cx, answer->chip, &out->chip));
    RIDGE_TRY(keep(cx, answer->engine, &out->engine));
    RIDGE_TRY(keep(cx, answer->what, &out->what));
    RIDGE_TRY(keep(cx, answer->assumed, &out->assumed));
    return out->is_predicted ? RIDGE_OK : keep(cx, answer->why, &out->why_skipped);
}

ridge_status ridge_validate_serving(ridge_ctx *cx, const ridge_catalog *catalog,
                                    const ridge_library *library, const char *path,
                                    ridge_serving_validation *out)
{
    run_list runs;
    ridge_serving_validation v = {0};
    RIDGE_TRY(read_runs(cx, path, &runs));
    v.n_rows = runs.n;
    v.rows = ridge_new(ridge_ctx_arena(cx), ridge_serving_row, (size_t)runs.n);
    row_jobs jobs = {catalog, library, runs.at,
                     ridge_new(ridge_ctx_arena(cx), row_answer, (size_t)runs.n)};
    if (v.rows == NULL || jobs.answers == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_parallel(cx, ridge_processor_count(), runs.n, answer_row, &jobs));
    for (int i = 0; i < runs.n; i++)
        RIDGE_TRY(keep_answer(cx, &runs.at[i], &jobs.answers[i], &v.rows[i]));
    RIDGE_TRY(served_twins_mark(cx, runs.at, &v));
    RIDGE_TRY(served_summarise(cx, &v));
    *out = v;
    return RIDGE_OK;
}
