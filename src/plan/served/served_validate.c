/*
 * Predictions held against measured serving: the rows of a file are read in order,
 * predicted by as many threads as there are processors, and summed up.
 */
#include "served_answer.h"

#include <stdlib.h>
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
                                const served_answer *answer, ridge_serving_row *out)
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

/* Rows in the order of what they state, cut where another deployment begins. */
typedef struct row_groups {
    served_group *at;
    int n;
    ridge_progress *progress; /* or NULL */
} row_groups;

typedef struct row_place {
    const served_run *run;
    served_answer *answer;
} row_place;

static int by_statement(const void *a, const void *b)
{
    const row_place *x = a, *y = b;
    const int order = served_run_by_statement(x->run, y->run);
    return order != 0 ? order : (x->run > y->run) - (x->run < y->run);
}

static void answer_group(void *payload, int64_t item, int worker)
{
    const row_groups *g = payload;
    if (worker == 0 && g->progress != NULL)
        ridge_progress_show(g->progress, (double)item / g->n, "rows predicted");
    served_group_answer(&g->at[item]);
}

static bool is_same_model(const served_run *a, const served_run *b)
{
    return strcmp(a->model, b->model) == 0 &&
           strcmp(served_formats_variant(a), served_formats_variant(b)) == 0;
}

/* Files of models are read once: many deployments are of one. */
static void find_models(ridge_ctx *cx, row_groups *g)
{
    for (int i = 0; i < g->n; i++) {
        served_group *own = &g->at[i];
        int j = 0;
        while (j < i && !is_same_model(g->at[j].runs[0], own->runs[0]))
            j++;
        if (j < i) {
            own->model = g->at[j].model;
        } else if (served_model_find(cx, own->library, own->runs[0], &own->model) !=
                   RIDGE_OK) {
            own->model = NULL; /* its rows say why */
        }
    }
}

static ridge_status list_groups(ridge_ctx *cx, const ridge_serving_measured *measured,
                                const row_place *places, int rows, row_groups *g)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const served_run **runs = ridge_new(arena, const served_run *, (size_t)rows);
    served_answer **answers = ridge_new(arena, served_answer *, (size_t)rows);
    g->at = ridge_new(arena, served_group, (size_t)rows);
    if (runs == NULL || answers == NULL || g->at == NULL)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < rows; i++) {
        runs[i] = places[i].run;
        answers[i] = places[i].answer;
        if (i == 0 || served_run_by_deployment(runs[i - 1], runs[i]) != 0)
            g->at[g->n++] = (served_group){.catalog = measured->catalog,
                                           .library = measured->library,
                                           .runs = &runs[i],
                                           .answers = &answers[i]};
        g->at[g->n - 1].n++;
    }
    find_models(cx, g);
    return RIDGE_OK;
}

static ridge_status answer_all(ridge_ctx *cx, const ridge_serving_measured *measured,
                               const run_list *runs, served_answer *answers)
{
    const size_t n = (size_t)runs->n;
    row_groups g = {.progress = measured->progress};
    row_place *places = ridge_new(ridge_ctx_arena(cx), row_place, n);
    if (places == NULL)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < runs->n; i++)
        places[i] = (row_place){&runs->at[i], &answers[i]};
    qsort(places, n, sizeof *places, by_statement);
    RIDGE_TRY(list_groups(cx, measured, places, runs->n, &g));
    return ridge_parallel(cx, ridge_processor_count(), g.n, answer_group, &g);
}

ridge_status ridge_validate_serving(ridge_ctx *cx,
                                    const ridge_serving_measured *measured,
                                    ridge_serving_validation *out)
{
    run_list runs;
    ridge_serving_validation v = {0};
    RIDGE_TRY(read_runs(cx, measured->path, &runs));
    v.n_rows = runs.n;
    v.rows = ridge_new(ridge_ctx_arena(cx), ridge_serving_row, (size_t)runs.n);
    served_answer *answers =
        ridge_new(ridge_ctx_arena(cx), served_answer, (size_t)runs.n);
    if (v.rows == NULL || answers == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(answer_all(cx, measured, &runs, answers));
    for (int i = 0; i < runs.n; i++)
        RIDGE_TRY(keep_answer(cx, &runs.at[i], &answers[i], &v.rows[i]));
    RIDGE_TRY(served_twins_mark(cx, runs.at, &v));
    RIDGE_TRY(served_summarise(cx, &v));
    *out = v;
    return RIDGE_OK;
}
