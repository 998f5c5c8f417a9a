/* Folders and files of one test. */
#define _GNU_SOURCE
#include "own_folder.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static bool is_entry(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

void own_folder_remove(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e = d == NULL ? NULL : readdir(d); e != NULL; e = readdir(d)) {
        char inner[PATH_BYTES];
        if (!is_entry(e))
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        own_folder_remove(inner);
    }
    if (d != NULL)
        closedir(d);
    remove(path);
}

int own_folder_count(const char *path)
{
    int n = 0;
    DIR *d = opendir(path);
    for (struct dirent *e = d == NULL ? NULL : readdir(d); e != NULL; e = readdir(d))
        n += is_entry(e) ? 1 : 0;
    if (d != NULL)
        closedir(d);
    return n;
}

const char *own_path(ridge_ctx *cx, const char *folder, const char *name)
{
    const char *path = ridge_sprintf(ridge_ctx_arena(cx), "%s/%s", folder, name);
    assert_non_null(path);
    return path;
}

const char *own_folder(ridge_ctx *cx, const char *name)
{
    /* programs that share a fixture run at the same time */
    const char *own = ridge_sprintf(ridge_ctx_arena(cx), "%s.%s",
                                    program_invocation_short_name, name);
    assert_non_null(own);
    const char *path = own_path(cx, RIDGE_BUILD_DIR, own);
    own_folder_remove(path);
    assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

const char *own_file(ridge_ctx *cx, const char *folder, const char *name,
                     const void *bytes, size_t n)
{
    const char *path = own_path(cx, folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    return path;
}

void assert_failed(ridge_ctx *cx, ridge_status st, ridge_status want, const char *text)
{
    assert_int_equal(st, want);
    if (strstr(ridge_ctx_message(cx), text) == NULL)
        fail_msg("\"%s\" does not hold \"%s\"", ridge_ctx_message(cx), text);
}

void assert_done(ridge_ctx *cx, ridge_status st)
{
    if (st != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
}
