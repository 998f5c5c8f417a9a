/* A system of a file that is not in the catalogue: one that --on names by its path. */
#include "catalog.h"
#include "system_read.h"

ridge_status ridge__system_open_file(ridge_ctx *cx, const ridge_catalog *catalog,
                                     const char *path, const ridge_system **out)
{
    ridge_node root = {0};
    RIDGE_TRY(ridge_json_read(cx, path, &root));
    const ridge_node node = ridge_json_get(&root, "base");
    const ridge_system *base = NULL;
    if (!ridge_json_is_absent(node)) {
        const char *name = NULL;
        RIDGE_TRY(ridge_json_want_text(cx, node, &name));
        RIDGE_TRY(ridge_system_find(cx, catalog, name, &base));
    }
    ridge_system *system = NULL;
    RIDGE_TRY(ridge__system_read(cx, root, catalog, base, &system));
    *out = system;
    return RIDGE_OK;
}
