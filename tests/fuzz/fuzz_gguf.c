/* Any bytes as a GGUF header, and as the model that it says: a status, never a crash.
 */
#include <stdlib.h>

#include "gguf_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gguf_file file;
    ridge_node config;
    const ridge_model *model;
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    if (cx == NULL)
        return 0;
    const ridge_str bytes = {(const char *)data, size};
    if (ridge__gguf_parse(cx, bytes, INT64_MAX / 2, "fuzz.gguf", &file) == RIDGE_OK) {
        for (size_t i = 0; i < file.n_tensors; i++) {
            if (file.tensors[i].elements < 1 || file.tensors[i].bytes < 1)
                abort();
        }
        if (ridge__gguf_config(cx, &file, &config) == RIDGE_OK &&
            ridge_model_from_config(cx, config, "fuzz", &model) == RIDGE_OK &&
            ridge_model_params(model).total < 1)
            abort();
    }
    ridge_ctx_close(cx);
    return 0;
}
