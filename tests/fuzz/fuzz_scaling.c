/* Any bytes as a scaling law: a status, never a crash, and finite sizes. */
#include <math.h>
#include <stdlib.h>

#include "ridge/model_scaling.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    ridge_node root;
    ridge_scaling_law law;
    if (cx == NULL)
        return 0;
    const ridge_str text = {(const char *)data, size};
    if (ridge_json_parse(cx, text, "fuzz.json", &root) == RIDGE_OK &&
        ridge_scaling_law_from_json(cx, root, &law) == RIDGE_OK) {
        const ridge_sizing s = ridge_sizing_of_flops(&law, 1e22);
        if (s.params < 0 || s.tokens < 0)
            abort();
    }
    ridge_ctx_close(cx);
    return 0;
}
