/* Where a model's config lies: a file, the folder of a checkpoint, a GGUF file, or a
 * catalogue entry ({"name": ..., "config": {...}}); and hf_quant_config.json beside it.
 */
#include "config.h"
#include "gguf_model.h"

#include "ridge/model_gguf.h"

#include <string.h>

#define CONFIG_NAME "config.json"
#define PARAMS_NAME "params.json"
#define QUANT_NAME  "hf_quant_config.json"

/* "dir/file", or "file" if dir is empty. */
static const char *join(ridge_ctx *cx, ridge_str dir, const char *file)
{
    const bool needs_slash = dir.n > 0 && dir.p[dir.n - 1] != '/';
    return ridge_sprintf(ridge_ctx_arena(cx), "%.*s%s%s", (int)dir.n, dir.p,
                         needs_slash ? "/" : "", file);
}

/* The folder part of a path, with its slash; empty if there is none. */
static ridge_str folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return (ridge_str){path, slash == NULL ? 0 : (size_t)(slash - path) + 1};
}

/* What to call a model: the folder of a config.json, otherwise the file's stem. */
static const char *name_of(ridge_ctx *cx, const char *path)
{
    ridge_str folder = folder_of(path);
    ridge_str name = ridge_str_of(path + folder.n);
    if ((ridge_str_is(name, CONFIG_NAME) || ridge_str_is(name, PARAMS_NAME)) &&
        folder.n > 1) {
        folder.n--;
        while (folder.n > 0 && folder.p[folder.n - 1] == '/')
            folder.n--;
        size_t start = folder.n;
        while (start > 0 && folder.p[start - 1] != '/')
            start--;
        name = (ridge_str){folder.p + start, folder.n - start};
    }
    const size_t tail = strlen(".json");
    if (name.n > tail && memcmp(name.p + name.n - tail, ".json", tail) == 0)
        name.n -= tail;
    return ridge_str_dup(ridge_ctx_arena(cx), name);
}

/* A folder stands for the config in it. */
static ridge_status find_file(ridge_ctx *cx, const char *path, const char **out)
{
    static const char *const NAMES[] = {CONFIG_NAME, PARAMS_NAME};
    *out = path;
    if (!ridge_path_is_dir(path))
        return RIDGE_OK;
    for (size_t i = 0; i < RIDGE_COUNT_OF(NAMES); i++) {
        *out = join(cx, ridge_str_of(path), NAMES[i]);
        if (*out == NULL)
            return ridge_fail_nomem(cx);
        if (ridge_path_exists(*out))
            return RIDGE_OK;
    }
    return ridge_fail(cx, RIDGE_E_IO, "%s: the folder holds no " CONFIG_NAME, path);
}

/* @p holder keeps the document's root, which the result refers to. */
static ridge_status read_quant(ridge_ctx *cx, const char *file, ridge_node *holder,
                               ridge_node *out)
{
    *out = (ridge_node){0};
    ridge_str folder = folder_of(file);
    if (!ridge_str_is(ridge_str_of(file + folder.n), CONFIG_NAME))
        return RIDGE_OK;
    const char *path = join(cx, folder, QUANT_NAME);
    if (path == NULL)
        return ridge_fail_nomem(cx);
    if (!ridge_path_exists(path))
        return RIDGE_OK;
    RIDGE_TRY(ridge_json_read(cx, path, holder));
    *out = ridge_json_get(holder, "quantization");
    return RIDGE_OK;
}

/* ModelOpt's file, or a quantization_config alone. */
static bool is_quant_file(const ridge_node *root)
{
    const bool is_quant = !ridge_json_is_absent(ridge_json_get(root, "quantization")) ||
                          !ridge_json_is_absent(ridge_json_get(root, "quant_method")) ||
                          !ridge_json_is_absent(ridge_json_get(root, "quant_algo"));
    return is_quant && ridge_json_is_absent(ridge_json_get(root, "model_type")) &&
           ridge_json_is_absent(ridge_json_get(root, "hidden_size")) &&
           ridge_json_is_absent(ridge_json_get(root, "dim"));
}

/* The facts that a catalogue entry has beside its config. */
static ridge_status read_entry(ridge_ctx *cx, const ridge_node *entry,
                               ridge_model *model)
{
    ridge_node published = ridge_json_get(entry, "published_params");
    ridge_node source = ridge_json_get(entry, "source");
    if (!ridge_json_is_absent(published)) {
        RIDGE_TRY(
            ridge_json_want_i64(cx, published, 1, INT64_MAX, &model->published_params));
    }
    if (!ridge_json_is_absent(source))
        RIDGE_TRY(ridge_json_want_text(cx, source, &model->source));
    return RIDGE_OK;
}

ridge_status ridge__config_read_path(ridge_ctx *cx, const char *path,
                                     const ridge_model **out)
{
    const char *file;
    ridge_node root, quant_root, quant;
    if (ridge_gguf_is_path(path))
        return ridge__gguf_model(cx, path, out);
    RIDGE_TRY(find_file(cx, path, &file));
    RIDGE_TRY(ridge_json_read(cx, file, &root));
    const char *name = name_of(cx, file);
    ridge_node config = ridge_json_get(&root, "config");
    const bool is_entry = ridge_json_kind_of(config) == RIDGE_JSON_OBJECT;
    if (is_entry)
        ridge_json_text(ridge_json_get(&root, "name"), &name);
    if (is_quant_file(&root)) {
        return ridge_fail(
            cx, RIDGE_E_PARSE,
            "%s: how weights are quantised, not what a model is: name the "
            "config.json beside it, with which it is read as " QUANT_NAME,
            file);
    }
    RIDGE_TRY(read_quant(cx, file, &quant_root, &quant));
    if (name == NULL)
        return ridge_fail_nomem(cx);
    ridge_model *model = NULL;
    RIDGE_TRY(ridge__config_read(cx, is_entry ? config : root, quant, name, &model));
    if (is_entry)
        RIDGE_TRY(read_entry(cx, &root, model));
    *out = model;
    return RIDGE_OK;
}
