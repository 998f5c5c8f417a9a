/* Modules that were timed, priced: how far off is it? */
#include "hlo_builder.h"

#include "ridge/profile_hlo_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES_MOST = 1 << 24 };

/** The list being read. */
typedef struct list_reader {
    ridge_ctx *cx;
    const ridge_catalog *catalog;
    const char *path;
    int line;
} list_reader;

/* A file beside the list, unless it is a path from the root. */
static const char *beside(const list_reader *r, const char *file)
{
    const char *slash = strrchr(r->path, '/');
    if (file[0] == '/' || slash == NULL)
        return file;
    return ridge_sprintf(ridge_ctx_arena(r->cx), "%.*s%s", (int)(slash + 1 - r->path),
                         r->path, file);
}

static ridge_status price(const list_reader *r, int64_t module, ridge_hlo_measured *out)
{
    ridge_hlo_file file;
    ridge_hlo_study study;
    ridge_hlo_request request = {.slice = NULL};
    const char *path = beside(r, out->file);
    if (path == NULL)
        return ridge_fail_nomem(r->cx);
    RIDGE_TRY(ridge_slice_parse(r->cx, r->catalog, out->on, &request.slice));
    RIDGE_TRY(ridge_hlo_file_read(r->cx, path, &file));
    if (module > file.n_modules)
        return ridge_fail(r->cx, RIDGE_E_ARG, "%s has %d modules", path,
                          file.n_modules);
    RIDGE_TRY(ridge_hlo_study_find(r->cx, &file.modules[module - 1], &request, &study));
    out->expected_s = study.expected_s;
    out->low_s = study.low_s;
    out->high_s = study.high_s;
    out->is_whole = study.is_whole;
    out->error = study.expected_s / out->measured_s - 1;
    return RIDGE_OK;
}

static ridge_status read_row(const list_reader *r, ridge_str line,
                             ridge_hlo_measured *out)
{
    static const char *const keys[] = {"file",   "on",     "measured_s",
                                       "module", "source", "note"};
    enum { MODULES_MOST = 1 << 20 };
    ridge_node root;
    int64_t module = 1;
    RIDGE_TRY(ridge_json_parse(r->cx, line, r->path, &root));
    RIDGE_TRY(ridge_json_only(r->cx, root, keys, RIDGE_COUNT_OF(keys)));
    RIDGE_TRY(ridge_json_want_text(r->cx, ridge_json_get(&root, "file"), &out->file));
    RIDGE_TRY(ridge_json_want_text(r->cx, ridge_json_get(&root, "on"), &out->on));
    RIDGE_TRY(ridge_json_want_double(r->cx, ridge_json_get(&root, "measured_s"), 1e-9,
                                     1e9, &out->measured_s));
    const ridge_node number = ridge_json_get(&root, "module");
    if (!ridge_json_is_absent(number))
        RIDGE_TRY(ridge_json_want_i64(r->cx, number, 1, MODULES_MOST, &module));
    return price(r, module, out);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int n, double q)
{
    const double at = q * (n - 1);
    const int below = (int)at;
    return below + 1 < n
               ? sorted[below] + (at - below) * (sorted[below + 1] - sorted[below])
               : sorted[n - 1];
}

static ridge_status sum_up(ridge_ctx *cx, ridge_hlo_measurements *out)
{
    double *errors = ridge_new(ridge_ctx_scratch(cx), double, (size_t)out->n);
    double *sizes = ridge_new(ridge_ctx_scratch(cx), double, (size_t)out->n);
    if (errors == NULL || sizes == NULL)
        return ridge_fail_nomem(cx);
    for (int k = 0; k < out->n; k++) {
        const ridge_hlo_measured *m = &out->rows[k];
        if (m->is_whole)
            continue;
        out->n_within += m->measured_s >= m->low_s && m->measured_s <= m->high_s;
        errors[out->n_counted] = m->error;
        sizes[out->n_counted++] = fabs(m->error);
    }
    if (out->n_counted == 0)
        return RIDGE_OK;
    qsort(errors, (size_t)out->n_counted, sizeof *errors, ascending);
    qsort(sizes, (size_t)out->n_counted, sizeof *sizes, ascending);
    out->bias = quantile(errors, out->n_counted, 0.5);
    out->median_abs_error = quantile(sizes, out->n_counted, 0.5);
    out->p90_abs_error = quantile(sizes, out->n_counted, 0.9);
    return RIDGE_OK;
}

ridge_status ridge_hlo_measurements_find(ridge_ctx *cx, const ridge_catalog *catalog,
                                         const char *path, ridge_hlo_measurements *out)
{
    list_reader r = {cx, catalog, path, 0};
    hlo_list rows = {.size = sizeof(ridge_hlo_measured)};
    ridge_str text;
    RIDGE_TRY(ridge_file_read(cx, path, LIST_BYTES_MOST, &text));
    while (text.p) {
        const ridge_str line = ridge_str_trim(ridge_str_cut(&text, '\n'));
        r.line++;
        if (line.n == 0)
            continue;
        ridge_hlo_measured *row = hlo_list_push(ridge_ctx_arena(cx), &rows);
        if (row == NULL)
            return ridge_fail_nomem(cx);
        const ridge_status st = read_row(&r, line, row);
        if (st != RIDGE_OK)
            ridge_ctx_note(cx, "%s: line %d", path, r.line);
        RIDGE_TRY(st);
    }
    *out = (ridge_hlo_measurements){
        .n = rows.n, .rows = (const ridge_hlo_measured *)(const void *)rows.items};
    if (out->n == 0)
        return ridge_fail(cx, RIDGE_E_PARSE, "%s: holds no measurement", path);
    return sum_up(cx, out);
}
