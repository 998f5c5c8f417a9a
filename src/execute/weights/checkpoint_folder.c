/*
 * Folders of checkpoints. step-000100 is whole; .step-000100.partial is being written;
 * step-000100.old was whole and is being replaced by one of the same step.
 */
#include "checkpoint_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ridge_status ridge__checkpoint_fail(ridge_ctx *cx, const char *path, const char *mend)
{
    /* strerror's text is copied into the message at once. */
    const char *why = strerror(errno); /* NOLINT(concurrency-mt-unsafe) */
    return ridge_fail(cx, RIDGE_E_IO, "%s: %s: %s", path, why, mend);
}

ridge_status ridge__checkpoint_within(ridge_ctx *cx,
                                      ridge_status (*work)(ridge_ctx *, void *),
                                      void *payload)
{
    ridge_ctx *own = ridge_ctx_open();
    if (own == NULL)
        return ridge_fail_nomem(cx);
    ridge_status st = work(own, payload);
    if (st != RIDGE_OK)
        st = ridge_fail(cx, st, "%s", ridge_ctx_message(own));
    ridge_ctx_close(own);
    return st;
}

/* ---- paths ----------------------------------------------------------------------- */

const char *ridge__checkpoint_join(ridge_ctx *cx, const char *folder, const char *name)
{
    return ridge_sprintf(ridge_ctx_scratch(cx), "%s/%s", folder, name);
}

const char *ridge__checkpoint_step_path(ridge_ctx *cx, const char *dir, int64_t step)
{
    return ridge_sprintf(ridge_ctx_scratch(cx), "%s/step-%06lld", dir, (long long)step);
}

const char *ridge__checkpoint_partial_path(ridge_ctx *cx, const char *dir, int64_t step)
{
    return ridge_sprintf(ridge_ctx_scratch(cx), "%s/.step-%06lld.partial", dir,
                         (long long)step);
}

static const char *old_path(ridge_ctx *cx, const char *dir, int64_t step)
{
    return ridge_sprintf(ridge_ctx_scratch(cx), "%s/step-%06lld.old", dir,
                         (long long)step);
}

const char *ridge__checkpoint_rank_path(ridge_ctx *cx, const char *folder, int rank)
{
    return ridge_sprintf(ridge_ctx_scratch(cx), "%s/rank-%05d.safetensors", folder,
                         rank);
}

static bool ends_with(const char *text, const char *tail)
{
    const size_t n = strlen(text), m = strlen(tail);
    return n >= m && memcmp(text + n - m, tail, m) == 0;
}

/* "step-000100" (or with ".old"): 100; -1: another name. */
static int64_t step_of(const char *name)
{
    ridge_str text = ridge_str_of(name);
    int64_t step = -1;
    if (strncmp(name, "step-", 5) != 0)
        return -1;
    text = (ridge_str){text.p + 5, text.n - 5};
    if (ends_with(name, ".old"))
        text.n -= 4;
    if (text.n == 0 || text.p[0] == '-' || text.p[0] == '+')
        return -1;
    return ridge_parse_i64(text, &step) ? step : -1;
}

/* ---- listing --------------------------------------------------------------------- */

static int falling(const void *pa, const void *pb)
{
    const int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return a > b ? -1 : a < b;
}

/* A step that is only there as .old was cut short in its replacement: it is renamed
 * back, as if that had not begun. */
static bool is_whole(ridge_ctx *cx, const char *dir, const char *name)
{
    const char *folder = ridge__checkpoint_join(cx, dir, name);
    const char *file = folder == NULL
                           ? NULL
                           : ridge__checkpoint_join(cx, folder, RIDGE__CHECKPOINT_FILE);
    if (file == NULL || step_of(name) < 0 || !ridge_path_exists(file))
        return false;
    if (!ends_with(name, ".old"))
        return true;
    const char *place = ridge__checkpoint_step_path(cx, dir, step_of(name));
    return place != NULL && !ridge_path_exists(place) && rename(folder, place) == 0;
}

static ridge_status add_step(ridge_ctx *cx, ridge__checkpoint_steps *s, size_t *cap,
                             int64_t step)
{
    if (s->n == *cap) {
        int64_t *more = ridge_new(ridge_ctx_scratch(cx), int64_t, 2 * *cap + 16);
        if (more == NULL)
            return ridge_fail_nomem(cx);
        if (s->n > 0)
            memcpy(more, s->steps, s->n * sizeof *more);
        s->steps = more;
        *cap = 2 * *cap + 16;
    }
    s->steps[s->n++] = step;
    return RIDGE_OK;
}

ridge_status ridge__checkpoint_list(ridge_ctx *cx, const char *dir,
                                    ridge__checkpoint_steps *out)
{
    ridge_status st = RIDGE_OK;
    size_t cap = 0;
    *out = (ridge__checkpoint_steps){0};
    DIR *d = opendir(dir);
    if (d == NULL)
        return RIDGE_OK;
    /* One thread at a time reads this stream. */
    for (struct dirent *e = readdir(d); /* NOLINT(concurrency-mt-unsafe) */
         e != NULL && st == RIDGE_OK;
         e = readdir(d)) { /* NOLINT(concurrency-mt-unsafe) */
        if (is_whole(cx, dir, e->d_name))
            st = add_step(cx, out, &cap, step_of(e->d_name));
    }
    closedir(d);
    if (out->n > 0)
        qsort(out->steps, out->n, sizeof *out->steps, falling);
    return st;
}

/* ---- making and removing --------------------------------------------------------- */

ridge_status ridge__checkpoint_make(ridge_ctx *cx, const char *path)
{
    char *copy = ridge_new(ridge_ctx_scratch(cx), char, strlen(path) + 1);
    if (copy == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; path[i] != '\0'; i++) {
        if (i > 0 && path[i] == '/' && mkdir(copy, 0777) != 0 && errno != EEXIST)
            return ridge__checkpoint_fail(cx, copy,
                                          "check that the folder can be made");
        copy[i] = path[i];
    }
    if (mkdir(copy, 0777) != 0 && errno != EEXIST)
        return ridge__checkpoint_fail(cx, copy, "check that the folder can be made");
    return RIDGE_OK;
}

static bool is_ours(const char *name)
{
    const bool is_rank =
        strncmp(name, "rank-", 5) == 0 && ends_with(name, ".safetensors");
    return is_rank || strcmp(name, RIDGE__CHECKPOINT_FILE) == 0 ||
           strcmp(name, RIDGE__CHECKPOINT_STATE) == 0;
}

void ridge__checkpoint_remove(ridge_ctx *cx, const char *folder)
{
    const char *first = ridge__checkpoint_join(cx, folder, RIDGE__CHECKPOINT_FILE);
    if (first != NULL)
        unlink(first);
    DIR *d = opendir(folder);
    if (d == NULL)
        return;
    for (struct dirent *e = readdir(d); e != NULL; /* NOLINT(concurrency-mt-unsafe) */
         e = readdir(d)) {                         /* NOLINT(concurrency-mt-unsafe) */
        const char *path =
            is_ours(e->d_name) ? ridge__checkpoint_join(cx, folder, e->d_name) : NULL;
        if (path != NULL)
            unlink(path);
    }
    closedir(d);
    rmdir(folder);
}

/* Left by a run that was ended: being written, or replaced. */
static bool is_left_over(const char *name)
{
    if (name[0] == '.')
        return step_of(name + 1) < 0 && strncmp(name, ".step-", 6) == 0 &&
               ends_with(name, ".partial");
    return step_of(name) >= 0 && ends_with(name, ".old");
}

void ridge__checkpoint_sweep(ridge_ctx *cx, const char *dir)
{
    DIR *d = opendir(dir);
    if (d == NULL)
        return;
    for (struct dirent *e = readdir(d); e != NULL; /* NOLINT(concurrency-mt-unsafe) */
         e = readdir(d)) {                         /* NOLINT(concurrency-mt-unsafe) */
        const char *path =
            is_left_over(e->d_name) ? ridge__checkpoint_join(cx, dir, e->d_name) : NULL;
        if (path != NULL)
            ridge__checkpoint_remove(cx, path);
    }
    closedir(d);
}

/* ---- on the disk ----------------------------------------------------------------- */

ridge_status ridge__checkpoint_sync(ridge_ctx *cx, const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ridge__checkpoint_fail(cx, folder, "check the folder");
    /* Some file systems refuse to sync a folder: they need not. */
    const bool is_synced = fsync(fd) == 0 || errno == EINVAL;
    close(fd);
    if (!is_synced)
        return ridge__checkpoint_fail(cx, folder, "is the disk full?");
    return RIDGE_OK;
}

ridge_status ridge__checkpoint_put(ridge_ctx *cx, const char *path, ridge_str text)
{
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        return ridge__checkpoint_fail(cx, path, "check that it can be written");
    bool is_written = fwrite(text.p, 1, text.n, f) == text.n;
    is_written = fflush(f) == 0 && is_written && fsync(fileno(f)) == 0;
    is_written = fclose(f) == 0 && is_written;
    if (!is_written)
        return ridge__checkpoint_fail(cx, path, "is the disk full?");
    return RIDGE_OK;
}

/* A folder takes the name of another in two steps; in between the old one has a name
 * that ridge__checkpoint_list takes back. */
ridge_status ridge__checkpoint_rename(ridge_ctx *cx, const char *dir, int64_t step)
{
    const char *from = ridge__checkpoint_partial_path(cx, dir, step);
    const char *to = ridge__checkpoint_step_path(cx, dir, step);
    const char *old = old_path(cx, dir, step);
    if (from == NULL || to == NULL || old == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge__checkpoint_sync(cx, from));
    const bool is_replaced = ridge_path_exists(to);
    if (is_replaced && rename(to, old) != 0)
        return ridge__checkpoint_fail(cx, to, "it cannot be replaced");
    if (rename(from, to) != 0) {
        const ridge_status failed =
            ridge__checkpoint_fail(cx, from, "it cannot be given its name");
        if (is_replaced && rename(old, to) != 0)
            ridge_ctx_note(cx, "the checkpoint before it is %s", old);
        return failed;
    }
    RIDGE_TRY(ridge__checkpoint_sync(cx, dir));
    if (is_replaced)
        ridge__checkpoint_remove(cx, old);
    return RIDGE_OK;
}
