/* Opening a checkpoint of others: which files it is, and the names of its tensors. */
#include "weight_source.h"

#include "ridge/model_gguf.h"

#include "safetensors_file.h"

#include <string.h>

enum { FILES_MAX = 4096 };

static const char INDEX[] = "model.safetensors.index.json";
static const char SINGLE[] = "model.safetensors";

/* ---- tensors --------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *tail)
{
    const size_t n = strlen(text), m = strlen(tail);
    return n >= m && memcmp(text + n - m, tail, m) == 0;
}

static ridge_status add_file(ridge_ctx *cx, const char *path, ridge_weight_source *s)
{
    ridge__mapped_file *file = ridge_new(ridge_ctx_arena(cx), ridge__mapped_file, 1);
    ridge__safetensors found;
    if (file == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge__mapped_file_open(cx, path, file));
    RIDGE_TRY(ridge__safetensors_parse(cx, file, &found));
    ridge__stored_tensor *all =
        ridge_new(ridge_ctx_arena(cx), ridge__stored_tensor, s->n + found.n);
    if (all == NULL || s->n + found.n > INT32_MAX)
        return ridge_fail_nomem(cx);
    if (s->n > 0)
        memcpy(all, s->tensors, s->n * sizeof *all);
    if (found.n > 0)
        memcpy(all + s->n, found.tensors, found.n * sizeof *all);
    s->tensors = all;
    s->n += found.n;
    return RIDGE_OK;
}

/* ---- files ----------------------------------------------------------------------- */

static const char *beside(ridge_ctx *cx, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - path) + 1;
    return ridge_sprintf(ridge_ctx_arena(cx), "%.*s%s", folder, path, name);
}

/* A shard lies in the folder of its index: no path may lead out of it. */
static ridge_status add_shard(ridge_ctx *cx, const char *index, ridge_node place,
                              ridge_weight_source *s)
{
    const char *name;
    RIDGE_TRY(ridge_json_want_text(cx, place, &name));
    if (name[0] == '\0' || strchr(name, '/') != NULL)
        return ridge_json_fail(cx, place, "\"%s\" is no file beside the index", name);
    const char *path = beside(cx, index, name);
    if (path == NULL)
        return ridge_fail_nomem(cx);
    if (!ridge_path_exists(path)) {
        return ridge_json_fail(cx, place,
                               "the file %s is missing: get all of the "
                               "checkpoint",
                               path);
    }
    return add_file(cx, path, s);
}

/* Each weight that the index names must be in the file that it names. */
static ridge_status check_index(ridge_ctx *cx, const ridge_node *map,
                                const ridge_weight_source *s)
{
    for (ridge_node m = ridge_json_member(map, 0); m.key != NULL;
         m = ridge_json_member_after(map, m)) {
        const char *file = "";
        ridge_json_text(m, &file);
        const int32_t at = ridge__token_table_find(&s->names, ridge_str_of(m.key));
        if (at < 0 || !ends_with(s->tensors[at].file, file))
            return ridge_json_fail(cx, m, "%s does not hold the weight %s", file,
                                   m.key);
    }
    return RIDGE_OK;
}

static ridge_status read_index(ridge_ctx *cx, const char *path, ridge_weight_source *s)
{
    ridge_node root;
    ridge__token_table files;
    RIDGE_TRY(ridge_json_read(cx, path, &root));
    const ridge_node map = ridge_json_get(&root, "weight_map");
    if (ridge_json_kind_of(map) != RIDGE_JSON_OBJECT || ridge_json_size(map) == 0)
        return ridge_json_fail(cx, map, "no \"weight_map\": this is no weight index");
    RIDGE_TRY(ridge__token_table_open(cx, FILES_MAX, &files));
    int32_t n = 0;
    for (ridge_node m = ridge_json_member(&map, 0); m.key != NULL;
         m = ridge_json_member_after(&map, m)) {
        const char *name;
        RIDGE_TRY(ridge_json_want_text(cx, m, &name));
        if (ridge__token_table_find(&files, ridge_str_of(name)) >= 0)
            continue;
        if (n == FILES_MAX)
            return ridge_json_fail(cx, m, "more than %d files", FILES_MAX);
        ridge__token_table_add(&files, ridge_str_of(name), n++);
        RIDGE_TRY(add_shard(cx, path, m, s));
    }
    RIDGE_TRY(ridge__weight_source_index(cx, s));
    return check_index(cx, &map, s);
}

/* A folder's checkpoint, by its usual names. */
static ridge_status in_folder(ridge_ctx *cx, const char *dir, const char **out)
{
    static const char *const NAMES[] = {SINGLE, INDEX};
    for (size_t i = 0; i < RIDGE_COUNT_OF(NAMES); i++) {
        const char *path = ridge_sprintf(ridge_ctx_arena(cx), "%s/%s", dir, NAMES[i]);
        if (path == NULL)
            return ridge_fail_nomem(cx);
        if (ridge_path_exists(path)) {
            *out = path;
            return RIDGE_OK;
        }
    }
    return ridge_fail(cx, RIDGE_E_NOTFOUND,
                      "%s: the folder holds neither %s nor %s: convert the checkpoint "
                      "to safetensors",
                      dir, SINGLE, INDEX);
}

static ridge_status read_single(ridge_ctx *cx, const char *path, ridge_weight_source *s)
{
    if (!ends_with(path, ".safetensors")) {
        ridge__mapped_file file;
        RIDGE_TRY(ridge__mapped_file_open(cx, path, &file));
        return ridge__llama2c_read(cx, &file, s);
    }
    RIDGE_TRY(add_file(cx, path, s));
    return ridge__weight_source_index(cx, s);
}

/* "model.layers.12.mlp...": 12; -1: of no layer. */
static int64_t layer_of(const ridge_weight_source *s, const char *name)
{
    const char *layers = s->family->layers;
    const size_t n = strlen(s->prefix);
    if (strncmp(name, s->prefix, n) != 0 ||
        strncmp(name + n, layers, strlen(layers)) != 0)
        return -1;
    ridge_str rest = ridge_str_of(name + n + strlen(layers));
    int64_t layer = -1;
    ridge_parse_i64(ridge_str_cut(&rest, '.'), &layer);
    return layer;
}

bool ridge__weight_source_is_expected(const ridge_weight_source *source, size_t tensor,
                                      int64_t layer_count)
{
    static const char *const OTHERS[] = {".inv_freq", ".attn.bias", ".masked_bias",
                                         ".position_ids"};
    const char *name = source->tensors[tensor].name;
    const int64_t layer = layer_of(source, name);
    for (size_t i = 0; i < RIDGE_COUNT_OF(OTHERS); i++) {
        if (ends_with(name, OTHERS[i]))
            return false;
    }
    return layer >= 0 && layer < layer_count;
}

static ridge_status check_layers(ridge_ctx *cx, const ridge_weight_source *s,
                                 const ridge_model *model)
{
    if (model == NULL || model->mtp_params > 0) /* which are layers of their own */
        return RIDGE_OK;
    for (size_t i = 0; i < s->n; i++) {
        const int64_t layer = layer_of(s, s->tensors[i].name);
        if (layer >= model->layer_count) {
            return ridge_fail(cx, RIDGE_E_PARSE,
                              "%s: the checkpoint has a layer %lld, but %s has %lld of "
                              "them, from 0: take the checkpoint of this model",
                              s->tensors[i].file, (long long)layer, model->name,
                              (long long)model->layer_count);
        }
    }
    return RIDGE_OK;
}

static ridge_status read_path(ridge_ctx *cx, const char *path, ridge_weight_source *s)
{
    if (ridge_path_is_dir(path))
        RIDGE_TRY(in_folder(cx, path, &path));
    s->path = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(path));
    if (s->path == NULL)
        return ridge_fail_nomem(cx);
    return ends_with(path, ".json") ? read_index(cx, path, s)
                                    : read_single(cx, path, s);
}

ridge_status ridge_weight_source_open(ridge_ctx *cx, const char *path,
                                      const ridge_model *model,
                                      const ridge_numerics *numerics,
                                      const ridge_weight_source **out)
{
    ridge_weight_source *s = ridge_new(ridge_ctx_arena(cx), ridge_weight_source, 1);
    if (s == NULL)
        return ridge_fail_nomem(cx);
    s->numerics = numerics == NULL ? ridge_numerics_default() : *numerics;
    s->format = "safetensors";
    s->model = model;
    if (!ridge_path_exists(path)) {
        return ridge_fail(cx, RIDGE_E_NOTFOUND,
                          "%s: no such checkpoint: name a folder with %s, a "
                          ".safetensors file or a .bin of llama2.c",
                          path, SINGLE);
    }
    if (ridge_gguf_is_path(path)) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s: GGUF is read for sizes, not for weights: give the "
                          "safetensors that it was made of",
                          path);
    }
    RIDGE_TRY(read_path(cx, path, s));
    RIDGE_TRY(check_layers(cx, s, model));
    *out = s;
    return RIDGE_OK;
}

const char *ridge_weight_source_format(const ridge_weight_source *source)
{
    return source->format;
}

double ridge_weight_source_bytes(const ridge_weight_source *source)
{
    return source->bytes;
}
