/*
 * The model library: which models are known by name. Files are listed at opening and
 * read when asked for; those of --data DIR and of the user's configuration override
 * those built in. Immutable once open.
 */
#include "library.h"

#include "ridge/model_gguf.h"
#include "ridge/model_release.h"

#include "config.h"
#include "model_name.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

extern const ridge_embedded_set ridge_model_data;

enum { LIBRARY_MOST = 4096, SPELLING_MOST = 4 };

static const char EXTENSION[] = ".json";

/* The file's name without folder and extension, or p NULL if it has another one. */
static ridge_str stem(const char *file)
{
    ridge_str name = ridge__model_name_bare(ridge_str_of(file));
    const size_t tail = sizeof EXTENSION - 1;
    if (name.n <= tail || name.p[0] == '.' ||
        memcmp(name.p + name.n - tail, EXTENSION, tail) != 0)
        return (ridge_str){0};
    name.n -= tail;
    return name;
}

/* Add an entry, or let it take the place of one of its name. */
static ridge_status put_entry(ridge_ctx *cx, ridge_library *library, ridge_str name,
                              ridge__entry entry)
{
    for (size_t i = 0; i < library->n; i++) {
        if (ridge_str_is(name, library->entries[i].name)) {
            entry.name = library->entries[i].name;
            library->entries[i] = entry;
            return RIDGE_OK;
        }
    }
    if (library->n == LIBRARY_MOST) {
        return ridge_fail(cx, RIDGE_E_ARG, "more than %d models: remove some files",
                          LIBRARY_MOST);
    }
    entry.name = ridge_str_dup(ridge_ctx_arena(cx), name);
    if (entry.name == NULL)
        return ridge_fail_nomem(cx);
    library->entries[library->n++] = entry;
    return RIDGE_OK;
}

static ridge_status add_file(ridge_ctx *cx, ridge_library *library, const char *folder,
                             const char *file)
{
    const ridge_str name = stem(file);
    if (name.p == NULL)
        return RIDGE_OK;
    const char *path = ridge_sprintf(ridge_ctx_arena(cx), "%s/%s", folder, file);
    if (path == NULL)
        return ridge_fail_nomem(cx);
    return put_entry(cx, library, name, (ridge__entry){.path = path});
}

/* A folder that is absent adds nothing. */
static ridge_status add_folder(ridge_ctx *cx, ridge_library *library,
                               const char *parent)
{
    const char *folder = ridge_sprintf(ridge_ctx_arena(cx), "%s/models", parent);
    if (folder == NULL)
        return ridge_fail_nomem(cx);
    if (!ridge_path_is_dir(folder))
        return RIDGE_OK;
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return ridge_fail(cx, RIDGE_E_IO, "%s: cannot be listed: check its permissions",
                          folder);
    }
    ridge_status st = RIDGE_OK;
    for (struct dirent *e = readdir(dir); e != NULL && st == RIDGE_OK; e = readdir(dir))
        st = add_file(cx, library, folder, e->d_name);
    closedir(dir);
    return st;
}

static ridge_status add_user_folder(ridge_ctx *cx, ridge_library *library)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    const char *parent = NULL;
    if (config != NULL && config[0] == '/') {
        parent = ridge_sprintf(ridge_ctx_arena(cx), "%s/ridge", config);
    } else if (home != NULL && home[0] == '/') {
        parent = ridge_sprintf(ridge_ctx_arena(cx), "%s/.config/ridge", home);
    } else {
        return RIDGE_OK;
    }
    if (parent == NULL)
        return ridge_fail_nomem(cx);
    return add_folder(cx, library, parent);
}

static int compare_entries(const void *a, const void *b)
{
    const ridge__entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

ridge_status ridge_library_open(ridge_ctx *cx, const char *dir,
                                const ridge_library **out)
{
    ridge_library *library = ridge_new(ridge_ctx_arena(cx), ridge_library, 1);
    if (library == NULL)
        return ridge_fail_nomem(cx);
    library->entries = ridge_new(ridge_ctx_arena(cx), ridge__entry, LIBRARY_MOST);
    if (library->entries == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < ridge_model_data.count; i++) {
        const ridge_embedded *file = &ridge_model_data.files[i];
        RIDGE_TRY(
            put_entry(cx, library, stem(file->path), (ridge__entry){.built_in = file}));
    }
    if (dir != NULL)
        RIDGE_TRY(add_folder(cx, library, dir));
    RIDGE_TRY(add_user_folder(cx, library));
    qsort(library->entries, library->n, sizeof *library->entries, compare_entries);
    *out = library;
    return RIDGE_OK;
}

/* Spellings to try, best first: as given, without the organisation, without suffixes.
 */
static int spellings(ridge_str name, ridge_str out[SPELLING_MOST])
{
    int n = 0;
    out[n++] = name;
    const ridge_str bare = ridge__model_name_bare(name);
    if (bare.n > 0 && bare.n < name.n)
        out[n++] = bare;
    ridge_str shorter = bare;
    while (n < SPELLING_MOST && ridge__model_name_shorten(&shorter))
        out[n++] = shorter;
    return n;
}

/* The best spelling that is an alias of some entry. Entries are read in a ctx of their
 * own: nothing of it stays. Files that cannot be read have no aliases; asked for by
 * their own name, they tell why. */
static ridge_status find_alias(ridge_ctx *cx, const ridge_library *library,
                               const ridge_str *names, int n_names,
                               const ridge__entry **out)
{
    ridge_ctx *probe = ridge_ctx_open();
    if (probe == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < library->n; i++) {
        ridge_node root;
        if (ridge__entry_parse(probe, &library->entries[i], &root) != RIDGE_OK)
            continue;
        for (int k = 0; k < n_names; k++) {
            if (ridge__entry_has_alias(&root, names[k])) {
                *out = &library->entries[i];
                n_names = k; /* only a better spelling replaces it */
            }
        }
    }
    ridge_ctx_close(probe);
    return RIDGE_OK;
}

/* By name, else by alias. @p out is NULL if there is none. */
static ridge_status find_entry(ridge_ctx *cx, const ridge_library *library,
                               const char *name, const ridge__entry **out)
{
    ridge_str names[SPELLING_MOST];
    const int n = spellings(ridge_str_of(name), names);
    *out = NULL;
    for (int k = 0; k < n && *out == NULL; k++)
        *out = ridge__library_find(library, names[k]);
    return *out != NULL ? RIDGE_OK : find_alias(cx, library, names, n, out);
}

/* The name of the model that a name with the format of a quantised release tells, or
 * with its date, or NULL. @param has_format  out */
static const char *released_name(ridge_ctx *cx, const ridge_library *library,
                                 const char *name, bool *has_format)
{
    const ridge__entry *entry = NULL;
    ridge_str short_name = ridge_str_of(name);
    *has_format = ridge__model_name_unquantised(&short_name);
    if (!ridge_model_name_undated(&short_name) && !*has_format)
        return NULL;
    const char *known = ridge_str_dup(ridge_ctx_arena(cx), short_name);
    if (known == NULL || find_entry(cx, library, known, &entry) != RIDGE_OK)
        return NULL;
    return entry == NULL ? NULL : entry->name;
}

static ridge_status fail_unknown(ridge_ctx *cx, const ridge_library *library,
                                 const char *name)
{
    bool has_format;
    const char *known = released_name(cx, library, name, &has_format);
    if (known != NULL) {
        return ridge_fail(cx, RIDGE_E_NOTFOUND,
                          "unknown model \"%s\": %s is known, this release of it is "
                          "not: say that name%s, or give a path to the release's "
                          "config.json",
                          name, known,
                          has_format ? " and the format (ridge serve: weights=int4)"
                                     : " (its context may be another)");
    }
    const char **names = ridge_new(ridge_ctx_scratch(cx), const char *, library->n + 1);
    if (names == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < library->n; i++)
        names[i] = library->entries[i].name;
    if (strchr(name, ',') != NULL)
        return ridge_fail(cx, RIDGE_E_NOTFOUND,
                          "unknown model \"%s\": one model at a time (ridge train "
                          "compares with --against): ask once for each",
                          name);
    const char *bare = ridge__model_name_bare(ridge_str_of(name)).p;
    const char *hint = ridge_suggestion(ridge_ctx_arena(cx), bare, names, library->n);
    return ridge_fail(cx, RIDGE_E_NOTFOUND,
                      "unknown model \"%s\": %s%sa path to a config.json or to its "
                      "folder works too",
                      name, hint == NULL ? "" : hint,
                      hint == NULL || hint[0] == '\0' ? "" : " ");
}

ridge_status ridge_model_load(ridge_ctx *cx, const ridge_library *library,
                              const char *name_or_path, const ridge_model **out)
{
    const ridge__entry *entry = NULL;
    const bool is_path = ridge_path_exists(name_or_path);
    if ((is_path && strchr(name_or_path, '/') != NULL) ||
        ridge_gguf_is_path(name_or_path))
        return ridge__config_read_path(cx, name_or_path, out);
    RIDGE_TRY(find_entry(cx, library, name_or_path, &entry));
    if (entry != NULL)
        return ridge__entry_model(cx, library, entry, out);
    if (is_path)
        return ridge__config_read_path(cx, name_or_path, out);
    return fail_unknown(cx, library, name_or_path);
}

const char *ridge_library_hub_name(ridge_ctx *cx, const ridge_library *library,
                                   const char *name)
{
    const ridge__entry *entry = NULL;
    ridge_node root;
    if (find_entry(cx, library, name, &entry) != RIDGE_OK || entry == NULL ||
        ridge__entry_parse(cx, entry, &root) != RIDGE_OK)
        return NULL;
    const ridge_node aliases = ridge_json_get(&root, "aliases");
    for (size_t i = 0; i < ridge_json_size(aliases); i++) {
        const char *alias;
        if (ridge_json_text(ridge_json_at(&aliases, i), &alias) &&
            strchr(alias, '/') != NULL)
            return alias;
    }
    return NULL;
}
