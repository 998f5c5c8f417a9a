/* The JSON files of one folder of data: built in, then overridden by name. */
#include "data_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fact_read.h"
#include "name_scan.h"

enum { FOLDER_FILES_MAX = 4096 };

const char *ridge__config_dir(ridge_ctx *cx)
{
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    const char *path = NULL;
    if (config != NULL && config[0] == '/') {
        path = ridge_sprintf(ridge_ctx_arena(cx), "%s/ridge", config);
    } else if (home != NULL && home[0] == '/') {
        path = ridge_sprintf(ridge_ctx_arena(cx), "%s/.config/ridge", home);
    }
    return path != NULL && ridge_path_is_dir(path) ? path : NULL;
}

data_file *ridge__data_find(const data_set *set, const char *name)
{
    for (size_t i = 0; i < set->n; i++) {
        if (strcmp(set->files[i]->name, name) == 0)
            return set->files[i];
    }
    return NULL;
}

static ridge_status push_file(ridge_ctx *cx, data_set *set, data_file *file)
{
    if (set->n == set->cap) {
        const size_t cap = set->cap == 0 ? 64 : 2 * set->cap;
        data_file **files = ridge_new(ridge_ctx_arena(cx), data_file *, cap);
        if (files == NULL)
            return ridge_fail_nomem(cx);
        if (set->n > 0)
            memcpy(files, set->files, set->n * sizeof(data_file *));
        set->files = files;
        set->cap = cap;
    }
    set->files[set->n++] = file;
    return RIDGE_OK;
}

/* Put a file in its place: over one of its name from a weaker root, or as a new one. */
static ridge_status place_file(ridge_ctx *cx, data_set *set, data_file *file)
{
    for (size_t i = 0; i < set->n; i++) {
        if (strcmp(set->files[i]->name, file->name) != 0)
            continue;
        if (set->files[i]->layer == file->layer) {
            RIDGE_TRY(ridge__data_parse(cx, file));
            return ridge_json_fail(cx, file->root, "'%.40s' is described by two files",
                                   file->name);
        }
        file->earlier = set->files[i];
        set->files[i] = file;
        return RIDGE_OK;
    }
    return push_file(cx, set, file);
}

static ridge_status add_document(ridge_ctx *cx, data_set *set, ridge_node root,
                                 const char *key, int layer)
{
    data_file *file = ridge_new(ridge_ctx_arena(cx), data_file, 1);
    if (file == NULL)
        return ridge_fail_nomem(cx);
    file->root = root;
    file->layer = layer;
    const ridge_node name = ridge_json_get(&file->root, key);
    if (ridge_json_is_absent(name))
        return ridge_json_fail(cx, root, "no \"%s\"", key);
    RIDGE_TRY(ridge_json_want_text(cx, name, &file->name));
    RIDGE_TRY(ridge__aliases_read(cx, ridge_json_get(&file->root, "aliases"),
                                  &file->aliases));
    return place_file(cx, set, file);
}

static ridge_status parse_embedded(ridge_ctx *cx, const ridge_embedded *e,
                                   ridge_node *out)
{
    const char *path = ridge_sprintf(ridge_ctx_arena(cx), "data/%s", e->path);
    if (path == NULL)
        return ridge_fail_nomem(cx);
    return ridge_json_parse(cx, (ridge_str){e->text, e->bytes}, path, out);
}

ridge_status ridge__data_parse(ridge_ctx *cx, data_file *file)
{
    if (file->text == NULL)
        return RIDGE_OK;
    RIDGE_TRY(parse_embedded(cx, file->text, &file->root));
    file->text = NULL;
    return RIDGE_OK;
}

/* Only the names are read now. @return false: the text is not as plain as that takes */
static bool scan_embedded(ridge_ctx *cx, const ridge_embedded *e, const char *key,
                          data_file *file)
{
    file->text = e;
    return ridge__names_scan(ridge_ctx_arena(cx), (ridge_str){e->text, e->bytes}, key,
                             &file->name, &file->aliases);
}

static ridge_status add_embedded(ridge_ctx *cx, data_set *set, const data_roots *roots,
                                 data_kind kind)
{
    const ridge_embedded_set *embedded = roots->embedded;
    const size_t length = strlen(kind.folder);
    for (size_t i = 0; embedded != NULL && i < embedded->count; i++) {
        const ridge_embedded *e = &embedded->files[i];
        if (strncmp(e->path, kind.folder, length) != 0 || e->path[length] != '/')
            continue;
        data_file *file = ridge_new(ridge_ctx_arena(cx), data_file, 1);
        if (file == NULL)
            return ridge_fail_nomem(cx);
        if (roots->is_trusted && scan_embedded(cx, e, kind.key, file)) {
            RIDGE_TRY(place_file(cx, set, file));
            continue;
        }
        ridge_node root = {0};
        RIDGE_TRY(parse_embedded(cx, e, &root));
        RIDGE_TRY(add_document(cx, set, root, kind.key, 0));
    }
    return RIDGE_OK;
}

static int compare_texts(const void *a, const void *b)
{
    const char *const *x = a;
    const char *const *y = b;
    return strcmp(*x, *y);
}

static bool is_data_name(const char *name)
{
    const size_t n = strlen(name);
    return name[0] != '.' && n > 5 && strcmp(name + n - 5, ".json") == 0;
}

/* Paths of the folder's .json files, sorted, so that the order is the same everywhere.
 */
static ridge_status list_folder(ridge_ctx *cx, const char *folder, const char ***out,
                                size_t *n)
{
    *n = 0;
    const char **paths = ridge_new(ridge_ctx_arena(cx), const char *, FOLDER_FILES_MAX);
    if (paths == NULL)
        return ridge_fail_nomem(cx);
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return ridge_fail(cx, RIDGE_E_IO, "%s: cannot be listed: %s", folder,
                          strerror(errno));
    }
    ridge_status st = RIDGE_OK;
    for (struct dirent *e = readdir(dir); e != NULL && st == RIDGE_OK;
         e = readdir(dir)) {
        if (!is_data_name(e->d_name))
            continue;
        if (*n == FOLDER_FILES_MAX) {
            st = ridge_fail(cx, RIDGE_E_ARG, "%s: more than %d files", folder,
                            FOLDER_FILES_MAX);
        } else if ((paths[(*n)++] = ridge_sprintf(ridge_ctx_arena(cx), "%s/%s", folder,
                                                  e->d_name)) == NULL) {
            st = ridge_fail_nomem(cx);
        }
    }
    closedir(dir);
    RIDGE_TRY(st);
    qsort(paths, *n, sizeof *paths, compare_texts);
    *out = paths;
    return RIDGE_OK;
}

static ridge_status add_folder(ridge_ctx *cx, data_set *set, const char *root_dir,
                               data_kind kind, int layer)
{
    if (root_dir == NULL)
        return RIDGE_OK;
    const char *path =
        ridge_sprintf(ridge_ctx_arena(cx), "%s/%s", root_dir, kind.folder);
    if (path == NULL)
        return ridge_fail_nomem(cx);
    if (!ridge_path_is_dir(path))
        return RIDGE_OK;
    const char **paths = NULL;
    size_t n = 0;
    RIDGE_TRY(list_folder(cx, path, &paths, &n));
    for (size_t i = 0; i < n; i++) {
        ridge_node root = {0};
        RIDGE_TRY(ridge_json_read(cx, paths[i], &root));
        RIDGE_TRY(add_document(cx, set, root, kind.key, layer));
    }
    return RIDGE_OK;
}

static int compare_files(const void *a, const void *b)
{
    const data_file *const *x = a;
    const data_file *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

ridge_status ridge__data_gather(ridge_ctx *cx, const data_roots *roots, data_kind kind,
                                data_set *out)
{
    data_set set = {0};
    RIDGE_TRY(add_embedded(cx, &set, roots, kind));
    RIDGE_TRY(add_folder(cx, &set, roots->dir, kind, 1));
    RIDGE_TRY(add_folder(cx, &set, roots->config, kind, 2));
    if (set.n > 0)
        qsort(set.files, set.n, sizeof(data_file *), compare_files);
    for (size_t i = 0; i < set.n; i++)
        set.files[i]->item = i;
    *out = set;
    return RIDGE_OK;
}
