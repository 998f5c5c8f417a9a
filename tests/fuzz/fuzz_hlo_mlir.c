/* HLO text: whatever is read can be studied without a slice, and its counts are
 * numbers.
 */
#include "ridge/profile_hlo_program.h"
#include "ridge/profile_hlo_study.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { BUDGET_BYTES = 256 << 20 };
    ridge_ctx *cx = ridge_ctx_open_budget(BUDGET_BYTES);
    const ridge_str text = {(const char *)data, size};
    ridge_hlo_file file;
    if (cx == NULL)
        return 0;
    if (ridge_hlo_parse(cx, text, "fuzz", &file) == RIDGE_OK) {
        for (int m = 0; m < file.n_modules && m < 64; m++) {
            ridge_hlo_program program;
            if (ridge_hlo_program_build(cx, &file.modules[m], NULL, &program) !=
                RIDGE_OK)
                ridge_ctx_clear(cx);
            study(cx, &file.modules[m]);
        }
    }
    ridge_ctx_close(cx);
    return 0;
}
