/* Rows of measured serving, CSV or JSON, and files of benches: read without a fault,
 * and what is read keeps within its bounds. */
#include "served_bench.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(ridge_ctx *cx, const served_run *run)
{
    served_practice practice;
    const ridge_node *benches;
    const served_names names = {run->model, run->chip};
    for (int i = 0; i < RIDGE_SERVING_METRIC_COUNT; i++) {
        if (!isfinite(run->measured[i]) || run->measured[i] < 0)
            __builtin_trap();
    }
    if (run->input_tokens < 0 || run->output_tokens < 0 || run->concurrency < 0)
        __builtin_trap();
    if (served_benches_read(cx, &benches) == RIDGE_OK &&
        served_practice_find(cx, benches, run, &names, &practice) == RIDGE_OK &&
        !(practice.shortest_share > 0))
        __builtin_trap();
}

static void read_csv(ridge_ctx *cx, ridge_str text)
{
    enum { ROWS_MOST = 64 };
    measured_csv csv = {.path = "fuzz", .rest = text};
    measured_csv_row header;
    bool has_row;
    if (measured_csv_next(cx, &csv, &header, &has_row) != RIDGE_OK || !has_row)
        return;
    for (int i = 0; i < ROWS_MOST; i++) {
        measured_csv_row row;
        served_run run;
        if (measured_csv_next(cx, &csv, &row, &has_row) != RIDGE_OK || !has_row)
            return;
        if (served_run_of_csv(cx, &csv, &header, &row, &run) == RIDGE_OK)
            check(cx, &run);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { BUDGET_BYTES = 64 << 20 };
    ridge_ctx *cx = ridge_ctx_open_budget(BUDGET_BYTES);
    if (cx == NULL)
        return 0;
    const ridge_str text = {(const char *)data, size};
    served_run run;
    ridge_node root;
    read_csv(cx, text);
    if (served_run_of_json(cx, text, "fuzz:1", &run) == RIDGE_OK)
        check(cx, &run);
    if (ridge_json_parse(cx, text, "fuzz", &root) == RIDGE_OK &&
        served_bench_check(cx, root) == RIDGE_OK) {
        ridge_node name = ridge_json_get(&root, "name");
        if (ridge_json_is_absent(name))
            __builtin_trap();
    }
    ridge_ctx_close(cx);
    return 0;
}
