/* The file of one rank, read back: its keys and metadata say which parts it holds. */
#include "checkpoint_file.h"

#include <string.h>

ridge_status ridge__rank_file_open(ridge_ctx *cx, const char *path,
                                   ridge__rank_file *out)
{
    RIDGE_TRY(ridge__mapped_file_open(cx, path, &out->map));
    return ridge__safetensors_parse(cx, &out->map, &out->tensors);
}

/* "64,8,8": 3 numbers. @return how many; -1: malformed */
static int parse_list(ridge_str text, int64_t *out)
{
    int n = 0;
    if (text.n == 0)
        return 0;
    for (ridge_str rest = text; rest.p != NULL; n++) {
        const ridge_str one = ridge_str_cut(&rest, ',');
        if (n == RIDGE_TENSOR_DIM_MAX || !ridge_parse_i64(one, &out[n]))
            return -1;
    }
    return n;
}

/* "64,8,8 0,4,0" beside the counts of the stored tensor. */
static bool parse_place(const char *text, const ridge__stored_tensor *t,
                        ridge_region *out)
{
    ridge_str rest = ridge_str_of(text);
    const ridge_str shape = ridge_str_cut(&rest, ' ');
    if (rest.p == NULL || parse_list(shape, out->shape) != t->n_dims ||
        parse_list(rest, out->start) != t->n_dims)
        return false;
    out->n_dims = t->n_dims;
    memcpy(out->count, t->shape, sizeof out->count);
    return true;
}

/* "wq/3@0,4,0": wq of layer 3. */
static bool parse_key(ridge_ctx *cx, const char *key, ridge__part *out)
{
    ridge_str text = ridge_str_of(key);
    ridge_str name = ridge_str_cut(&text, '@');
    ridge_str layer = name;
    name = ridge_str_cut(&layer, '/');
    out->layer = -1;
    out->name = ridge_str_dup(ridge_ctx_arena(cx), name);
    if (out->name == NULL || name.n == 0 || text.p == NULL)
        return false;
    return layer.p == NULL || (ridge_parse_i64(layer, &out->layer) && out->layer >= 0);
}

ridge_status ridge__rank_file_parts(ridge_ctx *cx, const ridge__rank_file *in, int file,
                                    ridge__part *out)
{
    for (size_t i = 0; i < in->tensors.n; i++) {
        const ridge__stored_tensor *t = &in->tensors.tensors[i];
        const char *place = "";
        ridge__part *p = &out[i];
        *p = (ridge__part){.file = file, .stored = *t};
        ridge_json_text(ridge_json_get(&in->tensors.metadata, t->name), &place);
        if (!parse_key(cx, t->name, p) || !parse_place(place, t, &p->region) ||
            ridge__region_fault(cx, &p->region) != NULL) {
            return ridge_fail(
                cx, RIDGE_E_PARSE,
                "%s: \"%s\" with \"%s\" is no part of a tensor: this is no "
                "file of a checkpoint, or damaged",
                in->map.path, t->name, place);
        }
    }
    return RIDGE_OK;
}
