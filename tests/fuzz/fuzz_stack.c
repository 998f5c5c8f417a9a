/* Any bytes as a file of data/stacks: a status and a message, never a crash. */
#include <stdlib.h>

#include "stack_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_stack *stack = NULL;
    ridge_stack *variant = NULL;
    ridge_node root;
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    if (cx == NULL)
        return 0;
    const ridge_str text = {(const char *)data, size};
    if (ridge_json_parse(cx, text, "fuzz.json", &root) == RIDGE_OK &&
        ridge__stack_read(cx, root, NULL, &stack) == RIDGE_OK) {
        if (stack->stream_passes <= 0 || stack->matmul_time.n > RIDGE_STACK_CHIPS_MAX)
            abort();
        if (ridge__stack_read(cx, root, stack, &variant) == RIDGE_OK &&
            variant->matmul_time.n != stack->matmul_time.n)
            abort();
    }
    ridge_ctx_close(cx);
    return 0;
}
