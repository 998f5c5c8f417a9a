/* HLO text: whatever is read can be studied without a slice, and its counts are
 * numbers; so can what one device runs of it. */
#include "ridge/profile_hlo_partition.h"
#include "ridge/profile_hlo_study.h"
#include "ridge/profile_memory_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void study(ridge_ctx *cx, const ridge_hlo_module *module)
{
    const ridge_hlo_request request = {.slice = NULL};
    ridge_hlo_study found;
    if (ridge_hlo_study_find(cx, module, &request, &found) != RIDGE_OK)
        return;
    if (!(ridge_hlo_study_flops(&found) >= 0) || !(found.bytes >= 0) ||
        !(found.memory.peak_bytes >= 0))
        __builtin_trap();
}

/* What one device runs can be studied as the whole can. */
static void cut(ridge_ctx *cx, const ridge_hlo_module *module)
{
    ridge_hlo_partition p;
    if (ridge_hlo_partition_build(cx, module, NULL, &p) == RIDGE_OK)
        study(cx, p.module);
    else
        ridge_ctx_clear(cx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { BUDGET_BYTES = 256 << 20 };
    ridge_ctx *cx = ridge_ctx_open_budget(BUDGET_BYTES);
    const ridge_str text = {(const char *)data, size};
    ridge_hlo_file file;
    ridge_memory_table table;
    if (cx == NULL)
        return 0;
    if (size > 0 && data[0] == '{' &&
        ridge_memory_table_parse(cx, text, "fuzz", &table) == RIDGE_OK &&
        !(table.peak_bytes > 0))
        __builtin_trap();
    ridge_ctx_clear(cx);
    if (ridge_hlo_parse(cx, text, "fuzz", &file) == RIDGE_OK) {
        for (int m = 0; m < file.n_modules && m < 64; m++) {
            study(cx, &file.modules[m]);
            cut(cx, &file.modules[m]);
        }
    }
    ridge_ctx_close(cx);
    return 0;
}
