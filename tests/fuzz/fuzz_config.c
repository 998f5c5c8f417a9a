/* Configs of models, and what their counts must keep to. */
#include "ridge/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { BUDGET_BYTES = 256 << 20 };
    ridge_ctx *cx = ridge_ctx_open_budget(BUDGET_BYTES);
    const ridge_str text = {(const char *)data, size};
    ridge_node root;
    const ridge_model *model;
    if (cx == NULL)
        return 0;
    if (ridge_json_parse(cx, text, "fuzz", &root) == RIDGE_OK &&
        ridge_model_from_config(cx, root, "fuzz", &model) == RIDGE_OK) {
        const ridge_params p = ridge_model_params(model);
        int64_t layers = 0;
        for (int i = 0; i < model->n_runs; i++)
            layers += model->runs[i].count;
        if (p.total < 1 || p.active < 1 || p.active > p.total ||
            layers != model->layer_count || !(ridge_model_weight_bytes(model) > 0))
            __builtin_trap();
    }
    ridge_ctx_close(cx);
    return 0;
}
