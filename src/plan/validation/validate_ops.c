/* Predictions held against measured operations and collectives: one row at a time, then
 * the distribution of the errors by chip, kind, source and duration. */
#include "error_summary.h"
#include "measured_network.h"
#include "measured_op.h"

#include <string.h>

enum { FILE_BYTES_MOST = 256 << 20, ROWS_MOST = 1000000 };

/* ---- one row --------------------------------------------------------------------- */

typedef struct op_time {
    double bound_s, expected_s;
} op_time;

static ridge_status price_collective(ridge_ctx *cx, const ridge_catalog *catalog,
                                     const measured_record *r,
                                     const measured_collective *c, op_time *out)
{
    const ridge_slice *slice;
    ridge_group group;
    RIDGE_TRY(measured_network(cx, catalog, r, c, &slice));
    RIDGE_TRY(ridge_group_parse(cx, slice, "all", &group));
    const ridge_collective_cost cost =
        ridge_collective_price_by(slice, c->kind, c->bytes, &group, c->library);
    *out = (op_time){cost.bound_s, cost.expected_s};
    return RIDGE_OK;
}

static ridge_status price(ridge_ctx *cx, const ridge_catalog *catalog,
                          const measured_record *r, const measured_op *op, op_time *out)
{
    const ridge_chip *chip;
    ridge_op_cost cost = {0};
    RIDGE_TRY(measured_chip(cx, catalog, r, &chip));
    switch (op->class) {
    case MEASURED_MATMUL:
        cost = ridge_matmul_cost(chip, &op->matmul, RIDGE_MEMORY_HBM);
        break;
    case MEASURED_ATTENTION:
        cost = ridge_attention_cost(chip, &op->attention);
        break;
    case MEASURED_EXPERTS:
        cost = ridge_experts_cost(chip, &op->experts);
        break;
    case MEASURED_STREAM:
        cost = ridge_stream_cost_from(chip, 0, op->stream_bytes, op->stream_memory);
        break;
    case MEASURED_COLLECTIVE:
        return price_collective(cx, catalog, r, &op->collective, out);
    }
    *out = (op_time){cost.bound_s, cost.expected_s};
    return RIDGE_OK;
}

/* What is faster than the bound was measured or noted down wrongly. */
static ridge_status predict(ridge_ctx *cx, const ridge_catalog *catalog,
                            const measured_record *r, measured_op *op,
                            ridge_op_row *out)
{
    op_time time;
    RIDGE_TRY(measured_op_read(cx, r, op));
    RIDGE_TRY(price(cx, catalog, r, op, &time));
    out->measured_s = op->measured_s;
    out->predicted_s = time.expected_s;
    out->bound_s = time.bound_s;
    out->relative_error = time.expected_s / op->measured_s - 1;
    if (op->measured_s < time.bound_s) {
        out->beats_bound = true;
        return ridge_fail(cx, RIDGE_E_ARG,
                          "measured in %s, which beats the bound of %s",
                          ridge_format_seconds(op->measured_s).s,
                          ridge_format_seconds(time.bound_s).s);
    }
    return RIDGE_OK;
}

static ridge_status chip_name(ridge_ctx *own, const ridge_catalog *catalog,
                              const measured_record *r, const char **out)
{
    const ridge_chip *chip;
    const char *name = measured_record_text(r, "hardware");
    if (name == NULL)
        name = measured_record_text(r, "chip");
    *out = name == NULL ? "not stated" : name;
    if (measured_chip(own, catalog, r, &chip) == RIDGE_OK)
        *out = chip->name;
    return RIDGE_OK;
}

/* Each prediction has a ctx of its own, so that memory does not grow with the rows. */
static ridge_status validate_row(ridge_ctx *cx, const ridge_catalog *catalog,
                                 const measured_record *r, ridge_op_row *out)
{
    ridge_ctx *own = ridge_ctx_open();
    if (own == NULL)
        return ridge_fail_nomem(cx);
    ridge_arena *arena = ridge_ctx_arena(cx);
    measured_op op;
    *out = (ridge_op_row){.line = r->line};
    const char *chip;
    ridge_status st = chip_name(own, catalog, r, &chip);
    if (st == RIDGE_OK)
        st = predict(own, catalog, r, &op, out);
    out->is_predicted = st == RIDGE_OK;
    out->id = ridge_str_dup(arena, ridge_str_of(r->id));
    out->source = ridge_str_dup(arena, ridge_str_of(r->source));
    out->chip = ridge_str_dup(arena, ridge_str_of(chip));
    out->kind = op.kind;
    out->what = ridge_str_dup(arena, ridge_str_of(op.what));
    if (st != RIDGE_OK)
        out->why_skipped = ridge_str_dup(arena, ridge_str_of(ridge_ctx_message(own)));
    ridge_ctx_close(own);
    const bool is_short = out->id == NULL || out->source == NULL || out->chip == NULL ||
                          out->what == NULL;
    return is_short || st == RIDGE_E_NOMEM ? ridge_fail_nomem(cx) : RIDGE_OK;
}

/* ---- summaries ------------------------------------------------------------------- */

static const char *duration_of(const ridge_op_row *r)
{
    static const double SHORT_S = 20e-6;
    static const double MIDDLE_S = 100e-6;
    /* names in the order of time, which is also that of the alphabet */
    if (r->measured_s < SHORT_S)
        return "1: below 20 us";
    return r->measured_s < MIDDLE_S ? "2: 20 to 100 us" : "3: above 100 us";
}

static const char *chip_of(const ridge_op_row *r)
{
    return r->chip;
}

static const char *kind_of(const ridge_op_row *r)
{
    return r->kind;
}

static const char *source_of(const ridge_op_row *r)
{
    return r->source;
}

typedef const char *(*row_name)(const ridge_op_row *r);

static ridge_status group_rows(ridge_ctx *cx, const ridge_op_validation *v,
                               row_name name, error_entry *entries,
                               ridge_error_groups *out)
{
    int n = 0;
    for (int i = 0; i < v->n_rows; i++) {
        const ridge_op_row *r = &v->rows[i];
        if (r->is_predicted)
            entries[n++] = (error_entry){name(r), r->relative_error};
    }
    return error_group(cx, entries, n, out);
}

static ridge_status group_chip_kinds(ridge_ctx *cx, const ridge_op_validation *v,
                                     error_entry *entries, ridge_error_groups *out)
{
    int n = 0;
    for (int i = 0; i < v->n_rows; i++) {
        const ridge_op_row *r = &v->rows[i];
        if (!r->is_predicted)
            continue;
        const char *name =
            ridge_sprintf(ridge_ctx_arena(cx), "%s, %s", r->chip, r->kind);
        if (name == NULL)
            return ridge_fail_nomem(cx);
        entries[n++] = (error_entry){name, r->relative_error};
    }
    return error_group(cx, entries, n, out);
}

static ridge_status fill_summaries(ridge_ctx *cx, ridge_op_validation *v)
{
    const size_t room = (size_t)v->n_rows + 1;
    error_entry *entries = ridge_new(ridge_ctx_arena(cx), error_entry, room);
    double *errors = ridge_new(ridge_ctx_arena(cx), double, room);
    if (entries == NULL || errors == NULL)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < v->n_rows; i++) {
        if (v->rows[i].is_predicted)
            errors[v->n_predicted++] = v->rows[i].relative_error;
        v->n_refused += v->rows[i].beats_bound ? 1 : 0;
    }
    v->all = error_summarise("all rows", errors, v->n_predicted);
    RIDGE_TRY(group_rows(cx, v, duration_of, entries, &v->by_duration));
    RIDGE_TRY(group_rows(cx, v, chip_of, entries, &v->by_chip));
    RIDGE_TRY(group_rows(cx, v, kind_of, entries, &v->by_kind));
    RIDGE_TRY(group_rows(cx, v, source_of, entries, &v->by_source));
    RIDGE_TRY(group_chip_kinds(cx, v, entries, &v->by_chip_kind));
    for (int i = 0; i < v->by_duration.n; i++)
        v->by_duration.at[i].name += strlen("1: ");
    return RIDGE_OK;
}

/* ---- files ----------------------------------------------------------------------- */

static bool is_json(ridge_str text)
{
    const ridge_str body = ridge_str_trim(text);
    return body.n > 0 && body.p[0] == '{';
}

static int count_lines(ridge_str text)
{
    int n = 1;
    for (size_t i = 0; i < text.n && n < ROWS_MOST; i++)
        n += text.p[i] == '\n' ? 1 : 0;
    return n;
}

static ridge_status read_json_rows(ridge_ctx *cx, const ridge_catalog *catalog,
                                   const char *path, ridge_str text,
                                   ridge_op_validation *v)
{
    int number = 0;
    while (text.p != NULL && v->n_rows < ROWS_MOST) {
        const ridge_str line = ridge_str_trim(ridge_str_cut(&text, '\n'));
        measured_record record;
        number++;
        if (line.n == 0)
            continue;
        const char *where = ridge_sprintf(ridge_ctx_arena(cx), "%s:%d", path, number);
        if (where == NULL)
            return ridge_fail_nomem(cx);
        RIDGE_TRY(measured_record_of_json(cx, line, where, &record));
        record.line = number;
        RIDGE_TRY(validate_row(cx, catalog, &record, &v->rows[v->n_rows]));
        v->n_rows++;
    }
    return RIDGE_OK;
}

static bool has_column(const measured_csv_row *header, const char *name)
{
    for (int i = 0; i < header->n; i++) {
        if (strcmp(header->fields[i], name) == 0)
            return true;
    }
    return false;
}

static bool is_header(const measured_csv_row *header)
{
    return has_column(header, "op") && has_column(header, "hardware") &&
           has_column(header, "latency_us");
}

static ridge_status read_csv_rows(ridge_ctx *cx, const ridge_catalog *catalog,
                                  const char *path, ridge_str text,
                                  ridge_op_validation *v)
{
    measured_csv csv = {.path = path, .rest = text};
    measured_csv_row header;
    measured_csv_row row;
    bool has_row;
    RIDGE_TRY(measured_csv_next(cx, &csv, &header, &has_row));
    if (!has_row || !is_header(&header)) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s:1: expected a header with op, hardware and latency_us",
                          path);
    }
    while (v->n_rows < ROWS_MOST) {
        measured_record record;
        RIDGE_TRY(measured_csv_next(cx, &csv, &row, &has_row));
        if (!has_row)
            break;
        RIDGE_TRY(measured_record_of_csv(cx, &csv, &header, &row, &record));
        RIDGE_TRY(validate_row(cx, catalog, &record, &v->rows[v->n_rows]));
        v->n_rows++;
    }
    return RIDGE_OK;
}

ridge_status ridge_validate_operations(ridge_ctx *cx, const ridge_catalog *catalog,
                                       const char *path, ridge_op_validation *out)
{
    ridge_str text;
    ridge_op_validation v = {0};
    RIDGE_TRY(ridge_file_read(cx, path, FILE_BYTES_MOST, &text));
    v.rows = ridge_new(ridge_ctx_arena(cx), ridge_op_row, (size_t)count_lines(text));
    if (v.rows == NULL)
        return ridge_fail_nomem(cx);
    if (is_json(text)) {
        RIDGE_TRY(read_json_rows(cx, catalog, path, text, &v));
    } else {
        RIDGE_TRY(read_csv_rows(cx, catalog, path, text, &v));
    }
    if (v.n_rows == 0)
        return ridge_fail(cx, RIDGE_E_PARSE, "%s: holds no rows", path);
    RIDGE_TRY(fill_summaries(cx, &v));
    *out = v;
    return RIDGE_OK;
}
