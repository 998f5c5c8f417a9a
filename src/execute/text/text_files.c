/* Files of text and tokens below folders, in an order that is alike everywhere. */
#include "text_files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16 };

typedef struct finder {
    ridge_ctx *cx;
    ridge__text_files files;
    size_t cap;
} finder;

static bool ends_with(const char *text, const char *tail)
{
    const size_t n = strlen(text), m = strlen(tail);
    return n >= m && memcmp(text + n - m, tail, m) == 0;
}

bool ridge__is_token_file(const char *path)
{
    return ends_with(path, ".bin");
}

static bool is_taken(const char *name)
{
    return ends_with(name, ".txt") || ends_with(name, ".md") ||
           ridge__is_token_file(name);
}

static ridge_status add_path(finder *f, const char *path)
{
    ridge_arena *arena = ridge_ctx_arena(f->cx);
    if (f->files.n == f->cap) {
        const size_t cap = 2 * f->cap + 16;
        const char **more = ridge_new(arena, const char *, cap);
        if (more == NULL)
            return ridge_fail_nomem(f->cx);
        for (size_t i = 0; i < f->files.n; i++)
            more[i] = f->files.paths[i];
        f->files.paths = more;
        f->cap = cap;
    }
    const char *copy = ridge_str_dup(arena, ridge_str_of(path));
    if (copy == NULL)
        return ridge_fail_nomem(f->cx);
    f->files.paths[f->files.n++] = copy;
    return RIDGE_OK;
}

static ridge_status add_folder(finder *f, const char *dir, int depth);

static ridge_status add_entry(finder *f, const char *dir, const char *name, int depth)
{
    const char *path = ridge_sprintf(ridge_ctx_scratch(f->cx), "%s/%s", dir, name);
    if (path == NULL)
        return ridge_fail_nomem(f->cx);
    if (name[0] == '.')
        return RIDGE_OK;
    if (ridge_path_is_dir(path))
        return depth < DEPTH_MAX ? add_folder(f, path, depth + 1) : RIDGE_OK;
    return is_taken(name) ? add_path(f, path) : RIDGE_OK;
}

static ridge_status add_folder(finder *f, const char *dir, int depth)
{
    ridge_status st = RIDGE_OK;
    DIR *d = opendir(dir);
    if (d == NULL)
        return ridge_fail(f->cx, RIDGE_E_IO, "%s: the folder cannot be read", dir);
    /* One thread at a time reads this stream. */
    for (struct dirent *e = readdir(d); /* NOLINT(concurrency-mt-unsafe) */
         e != NULL && st == RIDGE_OK;
         e = readdir(d)) { /* NOLINT(concurrency-mt-unsafe) */
        st = add_entry(f, dir, e->d_name, depth);
    }
    closedir(d);
    return st;
}

static int by_name(const void *pa, const void *pb)
{
    const char *const *a = pa, *const *b = pb;
    return strcmp(*a, *b);
}

static ridge_status add_any(finder *f, const char *path)
{
    const size_t first = f->files.n;
    if (!ridge_path_exists(path))
        return ridge_fail(f->cx, RIDGE_E_NOTFOUND, "%s: no such file or folder", path);
    if (!ridge_path_is_dir(path))
        return add_path(f, path);
    RIDGE_TRY(add_folder(f, path, 0));
    const size_t n = f->files.n - first;
    if (n == 0) {
        return ridge_fail(f->cx, RIDGE_E_NOTFOUND,
                          "%s: the folder holds no *.txt, *.md or *.bin: name a file",
                          path);
    }
    qsort(f->files.paths + first, n, sizeof *f->files.paths, by_name);
    return RIDGE_OK;
}

ridge_status ridge__text_files_find(ridge_ctx *cx, const char *const *paths, int n,
                                    ridge__text_files *out)
{
    finder f = {.cx = cx};
    for (int i = 0; i < n; i++)
        RIDGE_TRY(add_any(&f, paths[i]));
    *out = f.files;
    return RIDGE_OK;
}
