/* Files found, read one after another, and summed up. */
#include "profile_builder.h"

#include "trace_reader.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MOST = 4096 };

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text);
    const size_t m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_trace_name(const char *name)
{
    static const char *const ends[] = {".json",      ".json.gz",      ".json.zst",
                                       ".xplane.pb", ".xplane.pb.gz", ".sqlite",
                                       ".trace",     ".trace.gz",     ".json.gzip"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(ends); i++) {
        if (name[0] != '.' && ends_with(name, ends[i]))
            return true;
    }
    return false;
}

static int compare_paths(const void *a, const void *b)
{
    const char *const *x = a;
    const char *const *y = b;
    const size_t n = strlen(*x);
    const size_t m = strlen(*y);
    /* rank2 before rank10 */
    return n != m ? (n < m ? -1 : 1) : strcmp(*x, *y);
}

/* Of a folder of JAX: the same run lies there as XSpace and as Chrome trace; the first
 * has more. */
static size_t duplicates_drop(const char **paths, size_t n)
{
    bool has_xplane = false;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        has_xplane |= strstr(paths[i], ".xplane.pb") != NULL;
    for (size_t i = 0; i < n; i++) {
        if (!has_xplane || strstr(paths[i], ".xplane.pb") != NULL)
            paths[kept++] = paths[i];
    }
    return kept;
}

/* Of a folder without traces the last one in it, by name: JAX files its runs under
 * plugins/profile/DATE. @return NULL: there is none */
static const char *folder_within(ridge_ctx *cx, const char *path)
{
    const char *last = NULL;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return NULL;
    for (struct dirent *e = readdir(folder); /* NOLINT(concurrency-mt-unsafe) */
         e != NULL; e = readdir(folder)) {   /* NOLINT(concurrency-mt-unsafe) */
        const char *within =
            e->d_name[0] == '.'
                ? NULL
                : ridge_sprintf(ridge_ctx_arena(cx), "%s/%s", path, e->d_name);
        if (within != NULL && ridge_path_is_dir(within) &&
            (last == NULL || strcmp(within, last) > 0))
            last = within;
    }
    closedir(folder);
    return last;
}

static ridge_status folder_list(ridge_ctx *cx, const char *path, const char ***out,
                                size_t *n)
{
    const char **paths = ridge_new(ridge_ctx_arena(cx), const char *, FILES_MOST);
    DIR *folder = opendir(path);
    *n = 0;
    if (folder == NULL)
        return ridge_fail(cx, RIDGE_E_IO, "%s: the folder cannot be read", path);
    for (struct dirent *e = readdir(folder); /* NOLINT(concurrency-mt-unsafe) */
         e != NULL && paths != NULL && *n < FILES_MOST;
         e = readdir(folder)) { /* NOLINT(concurrency-mt-unsafe) */
        if (is_trace_name(e->d_name))
            paths[(*n)++] =
                ridge_sprintf(ridge_ctx_arena(cx), "%s/%s", path, e->d_name);
    }
    closedir(folder);
    if (paths == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < *n; i++) {
        if (paths[i] == NULL)
            return ridge_fail_nomem(cx);
    }
    qsort(paths, *n, sizeof *paths, compare_paths);
    *n = duplicates_drop(paths, *n);
    *out = paths;
    return RIDGE_OK;
}

static ridge_status folder_read(ridge_ctx *cx, const char *path, const char ***out,
                                size_t *n)
{
    enum { DEPTH_MOST = 4 };
    const char *at = path;
    *n = 0;
    for (int depth = 0; *n == 0 && at != NULL && depth < DEPTH_MOST; depth++) {
        RIDGE_TRY(folder_list(cx, at, out, n));
        at = folder_within(cx, at);
    }
    if (*n == 0)
        return ridge_fail(cx, RIDGE_E_NOTFOUND,
                          "%s: no traces in the folder: their names end in .json, "
                          ".json.gz, .json.zst, .xplane.pb or .sqlite",
                          path);
    return RIDGE_OK;
}

static ridge_status file_add(profile_builder *b, const char *path, bool is_alone)
{
    ridge_arena *scratch = ridge_ctx_scratch(b->cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    trace_store *store = ridge_new(scratch, trace_store, 1);
    ridge_trace_format format = RIDGE_TRACE_CHROME;
    ridge_status st = store == NULL ? ridge_fail_nomem(b->cx)
                                    : trace_store_init(b->cx, scratch, store);
    if (st == RIDGE_OK)
        st = trace_reader_read(b->cx, path, b->request->window_bytes, store, &format);
    /* Other JSON files lie beside traces, and sums of what these hold. */
    const bool is_sums = st == RIDGE_OK && format == RIDGE_TRACE_XPROF_TABLE;
    if (!is_alone && (st == RIDGE_E_PARSE || is_sums)) {
        ridge_ctx_clear(b->cx);
        ridge_arena_rewind(scratch, mark);
        return RIDGE_OK;
    }
    if (st == RIDGE_OK)
        st = profile_builder_add(b, path, store);
    if (b->out->n_files <= 1)
        b->out->format = format;
    ridge_arena_rewind(scratch, mark);
    return st;
}

ridge_status ridge_profile_read(ridge_ctx *cx, const ridge_profile_request *request,
                                ridge_profile *out)
{
    profile_builder *b = ridge_new(ridge_ctx_arena(cx), profile_builder, 1);
    ridge_profile profile = {.path = request->path};
    const char *alone[] = {request->path};
    const char **paths = alone;
    size_t n = 1;
    if (b == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(profile_builder_init(cx, request, &profile, b));
    if (ridge_path_is_dir(request->path))
        RIDGE_TRY(folder_read(cx, request->path, &paths, &n));
    for (size_t i = 0; i < n; i++)
        RIDGE_TRY(file_add(b, paths[i], n == 1));
    if (profile.n_files == 0)
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s: no file in the folder can be read as a trace",
                          request->path);
    RIDGE_TRY(profile_builder_end(b));
    RIDGE_TRY(profile_roofline_set(cx, request, &profile));
    RIDGE_TRY(profile_advice_set(cx, &profile));
    *out = profile;
    return RIDGE_OK;
}
