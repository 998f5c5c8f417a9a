/* Found from the program's own place, so that an installed tree can be moved. */
#include "page_file.h"

#include <string.h>
#include <unistd.h>

enum { PATH_BYTES_MOST = 4096 };

/* The folder of the running program, or NULL. */
static const char *own_folder(ridge_ctx *cx)
{
    char *path = ridge_new(ridge_ctx_arena(cx), char, PATH_BYTES_MOST);
    if (!path)
        return NULL;
    const ssize_t n = readlink("/proc/self/exe", path, PATH_BYTES_MOST - 1);
    char *slash = n > 0 ? strrchr(path, '/') : NULL;
    if (!slash)
        return NULL;
    *slash = '\0';
    return path;
}

ridge_status page_file_find(ridge_ctx *cx, const char **out)
{
    static const char *const places[] = {
        "../share/ridge/index.html", "../web/index.html", "../../build/web/index.html"};
    const char *folder = own_folder(cx);
    for (size_t i = 0; folder && i < RIDGE_COUNT_OF(places); i++) {
        const char *path =
            ridge_sprintf(ridge_ctx_arena(cx), "%s/%s", folder, places[i]);
        if (!path)
            return ridge_fail_nomem(cx);
        if (ridge_path_exists(path)) {
            *out = path;
            return RIDGE_OK;
        }
    }
    return ridge_fail(cx, RIDGE_E_NOTFOUND,
                      "there is no web page beside the program: make web builds it, or "
                      "--page FILE names it");
}
