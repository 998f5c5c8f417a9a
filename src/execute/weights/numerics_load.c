/* The numbers of a model that its configuration says, by the path of its weights. */
#include "numerics_scales.h"

#include "ridge/model_gguf.h"

static ridge_status load_llama2c(ridge_ctx *cx, const char *path, ridge_numerics *out)
{
    const ridge_model *model;
    return ridge_llama2c_model(cx, path, &model, out);
}

ridge_status ridge_numerics_load(ridge_ctx *cx, const char *path, ridge_numerics *out)
{
    ridge_node root;
    const char *file = path;
    if (ridge_path_is_dir(path)) {
        file = ridge_sprintf(ridge_ctx_arena(cx), "%s/config.json", path);
        if (file == NULL)
            return ridge_fail_nomem(cx);
    }
    if (ridge_llama2c_is_checkpoint(file))
        return load_llama2c(cx, file, out);
    if (ridge_gguf_is_path(file)) {
        RIDGE_TRY(ridge_gguf_config(cx, file, &root));
        return ridge_numerics_read(cx, root, out);
    }
    RIDGE_TRY(ridge_json_read(cx, file, &root));
    const ridge_node config = ridge_json_get(&root, "config"); /* a catalogue entry */
    const bool is_entry = ridge_json_kind_of(config) == RIDGE_JSON_OBJECT;
    return ridge_numerics_read(cx, is_entry ? config : root, out);
}
