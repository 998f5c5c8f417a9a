/* What a file of measurements holds: told by its header, or by its first row. */
#include "measured_csv.h"
#include "ridge/plan_validation.h"
#include "served_run.h"

#include <string.h>

enum { FILE_BYTES_MOST = 256 << 20 };

static bool has_column(const measured_csv_row *header, const char *name)
{
    for (int i = 0; i < header->n; i++) {
        if (strcmp(header->fields[i], name) == 0)
            return true;
    }
    return false;
}

static bool is_operations(const measured_csv_row *header)
{
    return has_column(header, "op") && has_column(header, "hardware") &&
           has_column(header, "latency_us");
}

static ridge_status find_csv(ridge_ctx *cx, const char *path, ridge_str text,
                             ridge_measured_file *out)
{
    measured_csv csv = {.path = path, .rest = text};
    measured_csv_row header = {0};
    bool has_row;
    RIDGE_TRY(measured_csv_next(cx, &csv, &header, &has_row));
    if (is_operations(&header)) {
        *out = RIDGE_MEASURED_OPERATIONS;
    } else if (served_csv_is_header(&header)) {
        *out = RIDGE_MEASURED_SERVING;
    } else {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s:1: neither JSON Lines nor CSV with a header of op, "
                          "hardware and latency_us, or of model_path, system, backend "
                          "and silicon_tpot_ms",
                          path);
    }
    return RIDGE_OK;
}

ridge_status ridge_measured_file_find(ridge_ctx *cx, const char *path,
                                      ridge_measured_file *out)
{
    ridge_str text;
    ridge_node row;
    RIDGE_TRY(ridge_file_read(cx, path, FILE_BYTES_MOST, &text));
    ridge_str rest = ridge_str_trim(text);
    if (rest.n == 0 || rest.p[0] != '{')
        return find_csv(cx, path, text, out);
    const ridge_str line = ridge_str_trim(ridge_str_cut(&rest, '\n'));
    RIDGE_TRY(ridge_json_parse(cx, line, path, &row));
    const ridge_node config = ridge_json_get(&row, "config");
    if (served_json_is_row(&row)) {
        *out = RIDGE_MEASURED_SERVING;
    } else {
        *out = ridge_json_is_absent(ridge_json_get(&config, "op"))
                   ? RIDGE_MEASURED_TRAINING
                   : RIDGE_MEASURED_OPERATIONS;
    }
    return RIDGE_OK;
}
