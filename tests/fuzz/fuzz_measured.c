/* Rows of measured operations, CSV or JSON: read without a fault, and what can be
 * priced has a finite price that is not below its bound. */
#include "measured_op.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ridge_chip test_chip(void)
{
    ridge_chip chip = {.name = "test",
                       .kind = RIDGE_CHIP_GPU,
                       .hbm_bytes_per_s = 3e12,
                       .vector_flops_per_s = 60e12,
                       .cores = 132,
                       .tile_m = 128,
                       .tile_n = 256,
                       .boost_clock_hz = 1.8e9};
    chip.has_peak[RIDGE_DTYPE_BF16] = true;
    chip.peak_flops_per_s[RIDGE_DTYPE_BF16] = 1e15;
    return chip;
}

static void check(const measured_op *op)
{
    const ridge_chip chip = test_chip();
    ridge_op_cost c = {0};
    if (op->class == MEASURED_MATMUL) {
        c = ridge_matmul_cost(&chip, &op->matmul, RIDGE_MEMORY_HBM);
    } else if (op->class == MEASURED_ATTENTION) {
        c = ridge_attention_cost(&chip, &op->attention);
    } else if (op->class == MEASURED_EXPERTS) {
        c = ridge_experts_cost(&chip, &op->experts);
    }
    if (!isfinite(c.expected_s) || c.expected_s < c.bound_s || op->measured_s <= 0)
        __builtin_trap();
}

static void read_op(ridge_ctx *cx, const measured_record *record)
{
    measured_op op;
    if (measured_op_read(cx, record, &op) == RIDGE_OK)
        check(&op);
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
        measured_record record;
        if (measured_csv_next(cx, &csv, &row, &has_row) != RIDGE_OK || !has_row)
            return;
        if (measured_record_of_csv(cx, &csv, &header, &row, &record) == RIDGE_OK)
            read_op(cx, &record);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { BUDGET_BYTES = 64 << 20 };
    ridge_ctx *cx = ridge_ctx_open_budget(BUDGET_BYTES);
    if (cx == NULL)
        return 0;
    const ridge_str text = {(const char *)data, size};
    measured_record record;
    read_csv(cx, text);
    if (measured_record_of_json(cx, text, "fuzz:1", &record) == RIDGE_OK)
        read_op(cx, &record);
    ridge_ctx_close(cx);
    return 0;
}
