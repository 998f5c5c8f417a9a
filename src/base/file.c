/* Whole files in and out, with the reason when it cannot be. */
#include "ridge/base.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP_BYTES = 1 << 20 };

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

static ridge_status read_stream(ridge_ctx *cx, const char *path, FILE *f,
                                size_t most_bytes, ridge_str *out)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
    char *step = ridge_new(ridge_ctx_scratch(cx), char, READ_STEP_BYTES);
    if (step == NULL)
        return ridge_fail_nomem(cx);
    size_t n;
    do {
        n = fread(step, 1, READ_STEP_BYTES, f);
        ridge_buf_add(&b, (ridge_str){step, n});
    } while (n > 0 && b.n <= most_bytes && !b.is_short);
    ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
    if (ferror(f))
        return fail_io(cx, path, "check the file");
    if (b.is_short)
        return ridge_fail_nomem(cx);
    if (b.n > most_bytes) {
        return ridge_fail(cx, RIDGE_E_IO, "%s: larger than %s: is this the right file?",
                          path, ridge_format_bytes((double)most_bytes).s);
    }
    *out = (ridge_str){ridge_buf_text(&b), b.n};
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

ridge_status ridge_file_write(ridge_ctx *cx, const char *path, ridge_str text)
{
    if (strcmp(path, "-") == 0)
        return write_stdout(cx, text);
    if (ridge_path_is_dir(path))
        return ridge_fail(cx, RIDGE_E_IO, "%s: is a folder: name a file in it", path);
    /* A device or a pipe cannot be replaced: it is written in place. */
    struct stat st;
    bool is_special = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    const char *temp = is_special ? path
                                  : ridge_sprintf(ridge_ctx_scratch(cx), "%s.%ld.tmp",
                                                  path, (long)getpid());
    if (temp == NULL)
        return ridge_fail_nomem(cx);
    FILE *f = fopen(temp, "wb");
    if (f == NULL)
        return fail_io(cx, path, "check that the folder exists and can be written");
    bool is_written = fwrite(text.p, 1, text.n, f) == text.n;
    is_written = fclose(f) == 0 && is_written;
    if (is_written && (is_special || rename(temp, path) == 0))
        return RIDGE_OK;
    ridge_status failed = fail_io(cx, path, "is the disk full?");
    if (!is_special)
        unlink(temp);
    return failed;
}
