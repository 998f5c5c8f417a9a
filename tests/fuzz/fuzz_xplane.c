/* XSpaces of any bytes: read, or refused. */
#include "trace_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { BUDGET_BYTES = 256 << 20 };
    ridge_ctx *cx = ridge_ctx_open_budget(BUDGET_BYTES);
    trace_store store;
    if (cx == NULL)
        return 0;
    if (trace_store_init(cx, ridge_ctx_scratch(cx), &store) == RIDGE_OK &&
        xplane_reader_of(cx, (ridge_str){(const char *)data, size}, &store) ==
            RIDGE_OK &&
        store.events < 0)
        __builtin_trap();
    ridge_ctx_close(cx);
    return 0;
}
