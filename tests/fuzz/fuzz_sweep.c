/* Any text as a sweep, a price word, a duration: a status, and values that rise. */
#include <stdlib.h>

#include "ridge/plan_sweep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)16 << 20);
    if (cx == NULL)
        return 0;
    const char *text =
        ridge_str_dup(ridge_ctx_arena(cx), (ridge_str){(const char *)data, size});
    ridge_curve_range range;
    ridge_money_request money = {0};
    double seconds = 0;
    if (text != NULL && ridge_curve_parse(cx, text, &range) == RIDGE_OK) {
        for (int i = 1; i < range.n; i++) {
            if (!(range.values[i] > range.values[i - 1]))
                abort();
        }
    }
    if (text != NULL && ridge_duration_parse(cx, text, &seconds) == RIDGE_OK &&
        !(seconds >= 0))
        abort();
    if (text != NULL && ridge_mtbf_parse(cx, text, &money) == RIDGE_OK &&
        !(money.mtbf_s > 0))
        abort();
    if (text != NULL && ridge_checkpoint_parse(cx, text, &money) == RIDGE_OK &&
        money.has_interval && !(money.interval_s > 0))
        abort();
    ridge_ctx_close(cx);
    return 0;
}
