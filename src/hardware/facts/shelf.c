/* One kind of thing in the catalogue: variants are resolved through their bases. */
#include "shelf.h"

#include <string.h>

/* Longest chain of bases; longer ones, circles among them, are refused. */
enum { BASE_DEPTH_MAX = 8 };

static size_t count_names(const data_file *file)
{
    size_t n = 1;
    for (size_t i = 0; file->aliases[i] != NULL; i++)
        n++;
    return n;
}

static ridge_status index_names(ridge_ctx *cx, shelf *from)
{
    const name_entry *clash[2] = {NULL, NULL};
    size_t names = 0;
    for (size_t i = 0; i < from->set.n; i++)
        names += count_names(from->set.files[i]);
    RIDGE_TRY(ridge__index_open(cx, names, &from->names));
    for (size_t i = 0; i < from->set.n; i++) {
        const data_file *file = from->set.files[i];
        ridge__index_add(&from->names, file->name, file->aliases, i);
    }
    if (ridge__index_sort(&from->names, clash))
        return RIDGE_OK;
    data_file *second = from->set.files[clash[1]->item];
    RIDGE_TRY(ridge__data_parse(cx, second));
    return ridge_json_fail(cx, second->root, "'%.40s' is already a name of '%.40s'",
                           clash[1]->name, from->set.files[clash[0]->item]->name);
}

ridge_status ridge__shelf_open(ridge_ctx *cx, const data_roots *roots, data_kind kind,
                               shelf_read *read, shelf *out)
{
    *out = (shelf){.read = read};
    RIDGE_TRY(ridge__data_gather(cx, roots, kind, &out->set));
    return index_names(cx, out);
}

/* The file of a base; a file with its own name as base means what it overrides. */
static ridge_status find_base(ridge_ctx *cx, const shelf *from, const data_file *file,
                              data_file **out)
{
    const ridge_node node = ridge_json_get(&file->root, "base");
    const char *name = NULL;
    *out = NULL;
    if (ridge_json_is_absent(node))
        return RIDGE_OK;
    RIDGE_TRY(ridge_json_want_text(cx, node, &name));
    *out = strcmp(name, file->name) == 0 ? file->earlier
                                         : ridge__data_find(&from->set, name);
    if (*out != NULL)
        return RIDGE_OK;
    return ridge_json_fail(cx, node,
                           "unknown base '%.40s': name another file's \"name\"", name);
}

static ridge_status resolve(ridge_ctx *cx, ridge_catalog *catalog, const shelf *from,
                            data_file *file, int depth)
{
    if (file->value != NULL)
        return RIDGE_OK;
    data_file *base = NULL;
    RIDGE_TRY(ridge__data_parse(cx, file));
    if (depth > BASE_DEPTH_MAX) {
        return ridge_json_fail(cx, ridge_json_get(&file->root, "base"),
                               "a chain of more than %d bases, or a circle",
                               BASE_DEPTH_MAX);
    }
    RIDGE_TRY(find_base(cx, from, file, &base));
    if (base != NULL)
        RIDGE_TRY(resolve(cx, catalog, from, base, depth + 1));
    return from->read(cx, catalog, file, base != NULL ? base->value : NULL,
                      &file->value);
}

ridge_status ridge__shelf_get(ridge_ctx *cx, ridge_catalog *catalog, const shelf *from,
                              size_t item, void **out)
{
    data_file *file = from->set.files[item];
    RIDGE_TRY(resolve(cx, catalog, from, file, 0));
    *out = file->value;
    return RIDGE_OK;
}

ridge_status ridge__shelf_read_from(ridge_ctx *cx, ridge_catalog *catalog,
                                    const shelf *from, int layer)
{
    for (size_t i = 0; i < from->set.n; i++) {
        if (from->set.files[i]->layer >= layer)
            RIDGE_TRY(resolve(cx, catalog, from, from->set.files[i], 0));
    }
    return RIDGE_OK;
}
