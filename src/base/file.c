/* Whole files in and out, with the reason when it cannot be. */
#include "file_kind.h"

#include "ridge/base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_STEP_BYTES = 1 << 14, TEMP_TRIES = 100 };

bool ridge_path_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool ridge_path_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

static ridge_status fail_io(ridge_ctx *cx, const char *path, const char *mend)
{
    /* strerror's text is copied into the message at once. */
    const char *why = strerror(errno); /* NOLINT(concurrency-mt-unsafe) */
    return ridge_fail(cx, RIDGE_E_IO, "%s: %s: %s", path, why, mend);
}

/* Read until the end, or until there are more than most_bytes. b.n counts what came. */
static bool read_all(FILE *f, size_t most_bytes, ridge_buf *b)
{
    const size_t told = ridge__file_told_bytes(f);
    size_t room = told > 0 ? told + 1 : FIRST_STEP_BYTES; /* so that its end is met */
    if (room > most_bytes)
        room = most_bytes + 1;
    for (;;) {
        char *grown = ridge_new(b->arena, char, room + 1);
        if (grown == NULL)
            return false;
        if (b->n > 0)
            memcpy(grown, b->p, b->n);
        b->p = grown;
        b->n += fread(b->p + b->n, 1, room - b->n, f);
        if (b->n < room || b->n > most_bytes)
            return true;
        room = room > most_bytes / 2 ? most_bytes + 1 : 2 * room;
    }
}

static ridge_status read_stream(ridge_ctx *cx, const char *path, FILE *f,
                                size_t most_bytes, ridge_str *out)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    most_bytes = ridge__file_most_bytes(f, most_bytes);
    const bool is_too_large = ridge__file_told_bytes(f) > most_bytes;
    if (!is_too_large && !read_all(f, most_bytes, &b))
        return ridge_fail_nomem(cx);
    if (ferror(f))
        return fail_io(cx, path, "check the file");
    if (is_too_large || b.n > most_bytes) {
        return ridge_fail(cx, RIDGE_E_IO, "%s: larger than %s: is this the right file?",
                          path, ridge_format_bytes((double)most_bytes).s);
    }
    *out = (ridge_str){b.p, b.n};
    return RIDGE_OK;
}

ridge_status ridge_file_read(ridge_ctx *cx, const char *path, size_t most_bytes,
                             ridge_str *out)
{
    if (ridge_path_is_dir(path))
        return ridge_fail(cx, RIDGE_E_IO, "%s: is a folder: name a file in it", path);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return fail_io(cx, path, "check the path");
    ridge_status st = read_stream(cx, path, f, most_bytes, out);
    fclose(f);
    return st;
}

static ridge_status write_stdout(ridge_ctx *cx, ridge_str text)
{
    if (fwrite(text.p, 1, text.n, stdout) != text.n || fflush(stdout) != 0)
        return fail_io(cx, "standard output", "the reader went away");
    return RIDGE_OK;
}

/* A new file beside the path, for whoever else may write there at the same time; it
 * follows no link that stands in its way.
 * @return NULL with errno set, or with *temp NULL when memory is short */
static FILE *open_beside(ridge_ctx *cx, const char *path, const char **temp)
{
    for (int i = 0; i < TEMP_TRIES; i++) {
        *temp = ridge_sprintf(ridge_ctx_scratch(cx), "%s.%ld-%d.tmp", path,
                              (long)getpid(), i);
        if (*temp == NULL)
            return NULL;
        int fd = open(*temp, O_WRONLY | O_CREAT | O_EXCL, 0666);
        FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
        if (f != NULL)
            return f;
        if (fd >= 0)
            close(fd);
        if (errno != EEXIST)
            return NULL;
    }
    return NULL;
}

static bool write_and_close(FILE *f, ridge_str text)
{
    bool is_written = fwrite(text.p, 1, text.n, f) == text.n;
    return fclose(f) == 0 && is_written;
}

/* A device or a pipe cannot be replaced: it is written in place. */
static ridge_status write_special(ridge_ctx *cx, const char *path, ridge_str text)
{
    FILE *f = fopen(path, "wb");
    if (f == NULL || !write_and_close(f, text))
        return fail_io(cx, path, "check that it can be written");
    return RIDGE_OK;
}

static ridge_status replace_file(ridge_ctx *cx, const char *path, ridge_str text)
{
    const char *temp = NULL;
    FILE *f = open_beside(cx, path, &temp);
    if (temp == NULL)
        return ridge_fail_nomem(cx);
    if (f == NULL)
        return fail_io(cx, path, "check that the folder exists and can be written");
    if (write_and_close(f, text) && rename(temp, path) == 0)
        return RIDGE_OK;
    ridge_status failed = fail_io(cx, path, "is the disk full?");
    unlink(temp);
    return failed;
}

ridge_status ridge_file_write(ridge_ctx *cx, const char *path, ridge_str text)
{
    struct stat st;
    if (strcmp(path, "-") == 0)
        return write_stdout(cx, text);
    if (ridge_path_is_dir(path))
        return ridge_fail(cx, RIDGE_E_IO, "%s: is a folder: name a file in it", path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return write_special(cx, path, text);
    return replace_file(cx, path, text);
}
