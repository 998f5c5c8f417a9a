/* Any bytes as the arithmetic of a model: a status and a message of one line, never a
 * crash; what is read is finite and has angles. */
#include "ridge/execute_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    ridge_node root;
    ridge_numerics numerics;
    if (cx == NULL)
        return 0;
    const ridge_str text = {(const char *)data, size};
    if (ridge_json_parse(cx, text, "fuzz.json", &root) == RIDGE_OK) {
        if (ridge_numerics_read(cx, root, &numerics) == RIDGE_OK) {
            expect(isfinite(numerics.residual_scale) &&
                   isfinite(numerics.attention_scale) &&
                   isfinite(numerics.logit_scale));
        } else {
            expect(ridge_ctx_message(cx)[0] != '\0');
            expect(strchr(ridge_ctx_message(cx), '\n') == NULL);
        }
    }
    ridge_ctx_close(cx);
    return 0;
}
