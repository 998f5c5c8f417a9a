/* Whole files as memory, through mmap. */
#include "mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct mapping {
    void *p;
    size_t n;
} mapping;

static void unmap(void *payload)
{
    const mapping *m = payload;
    munmap(m->p, m->n);
}

static ridge_status fail_path(ridge_ctx *cx, const char *path)
{
    /* strerror's text is copied into the message at once. */
    const char *why = strerror(errno); /* NOLINT(concurrency-mt-unsafe) */
    return ridge_fail(cx, RIDGE_E_IO, "%s: %s: check the path", path, why);
}

static ridge_status map(ridge_ctx *cx, int fd, ridge__mapped_file *file)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fail_path(cx, file->path);
    if (!S_ISREG(st.st_mode)) {
        return ridge_fail(cx, RIDGE_E_IO, "%s: no plain file: name a file", file->path);
    }
    file->n = (size_t)st.st_size;
    if (file->n == 0)
        return RIDGE_OK;
    mapping *m = ridge_new(ridge_ctx_arena(cx), mapping, 1);
    if (m == NULL)
        return ridge_fail_nomem(cx);
    *m = (mapping){mmap(NULL, file->n, PROT_READ, MAP_PRIVATE, fd, 0), file->n};
    if (m->p == MAP_FAILED)
        return fail_path(cx, file->path);
    file->p = m->p;
    return ridge_ctx_defer(cx, unmap, m);
}

ridge_status ridge__mapped_file_open(ridge_ctx *cx, const char *path,
                                     ridge__mapped_file *out)
{
    ridge__mapped_file file = {
        .path = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(path))};
    if (file.path == NULL)
        return ridge_fail_nomem(cx);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_path(cx, path);
    const ridge_status st = map(cx, fd, &file);
    close(fd);
    if (st == RIDGE_OK)
        *out = file;
    return st;
}
