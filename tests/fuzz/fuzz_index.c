/* Indexes of sharded checkpoints. */
#include "weight_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return 0;
    const ridge_str text = {(const char *)data, size};
    ridge__tensor_sums sums;
    if (ridge__weight_index_sum(cx, text, "fuzz", NULL, &sums) == RIDGE_OK &&
        (sums.bytes < 1 || sums.documents < 1))
        __builtin_trap();
    ridge_ctx_close(cx);
    return 0;
}
