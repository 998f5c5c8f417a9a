/* Files piece by piece, unpacked by zlib or libzstd. RFC 1952 (several members follow
 * each other as one text) and RFC 8878 (so do frames). */
#include "file_kind.h"

#include "ridge/base_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { PACKED_STEP_BYTES = 1 << 16, MAGIC_BYTES = 4, GZIP_WINDOW = 15 + 16 };

typedef enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD } packing;

struct ridge_stream {
    FILE *file;
    const char *path;
    packing kind;
    const char *fault;
    double size;
    bool is_end;       /* of the file */
    bool is_frame_end; /* what was unpacked so far is whole */
    size_t at, n;      /* of packed */
    z_stream gzip;
    ZSTD_DStream *zstd;
    unsigned char packed[PACKED_STEP_BYTES];
};

static ridge_status fail_io(ridge_ctx *cx, const char *path, const char *mend)
{
    /* strerror's text is copied into the message at once. */
    const char *why = strerror(errno); /* NOLINT(concurrency-mt-unsafe) */
    return ridge_fail(cx, RIDGE_E_IO, "%s: %s: %s", path, why, mend);
}

void ridge_stream_close(ridge_stream *s)
{
    if (s->file == NULL)
        return;
    fclose(s->file);
    s->file = NULL;
    if (s->kind == PACKING_GZIP)
        inflateEnd(&s->gzip);
    if (s->kind == PACKING_ZSTD)
        ZSTD_freeDStream(s->zstd);
    s->kind = PACKING_NONE;
}

static void close_deferred(void *payload)
{
    ridge_stream_close(payload);
}

const char *ridge_stream_fault(const ridge_stream *s)
{
    return s->fault;
}

/* More packed bytes behind those that are left. */
static void fill(ridge_stream *s)
{
    if (s->at < s->n || s->is_end)
        return;
    s->at = 0;
    s->n = fread(s->packed, 1, sizeof s->packed, s->file);
    s->is_end = s->n < sizeof s->packed;
}

static packing kind_of(const unsigned char *p, size_t n)
{
    static const unsigned char gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    if (n >= sizeof gzip && memcmp(p, gzip, sizeof gzip) == 0)
        return PACKING_GZIP;
    if (n >= sizeof zstd && memcmp(p, zstd, sizeof zstd) == 0)
        return PACKING_ZSTD;
    return PACKING_NONE;
}

/* @return false when out of memory; the stream is then as if not packed */
static bool open_unpacker(ridge_stream *s, packing kind)
{
    if (kind == PACKING_GZIP && inflateInit2(&s->gzip, GZIP_WINDOW) != Z_OK)
        return false;
    if (kind == PACKING_ZSTD) {
        s->zstd = ZSTD_createDStream();
        if (s->zstd == NULL)
            return false;
    }
    s->kind = kind;
    return true;
}

ridge_status ridge_stream_open(ridge_ctx *cx, const char *path, ridge_stream **out)
{
    if (ridge_path_is_dir(path))
        return ridge_fail(cx, RIDGE_E_IO, "%s: is a folder: name a file in it", path);
    ridge_stream *s = ridge_new(ridge_ctx_arena(cx), ridge_stream, 1);
    if (s == NULL)
        return ridge_fail_nomem(cx);
    s->path = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(path));
    s->file = fopen(path, "rb");
    if (s->file == NULL)
        return fail_io(cx, path, "check the path");
    if (s->path == NULL || ridge_ctx_defer(cx, close_deferred, s) != RIDGE_OK) {
        ridge_stream_close(s);
        return ridge_fail_nomem(cx);
    }
    s->size = (double)ridge__file_told_bytes(s->file);
    fill(s);
    if (!open_unpacker(s, kind_of(s->packed, s->n)))
        return ridge_fail_nomem(cx);
    *out = s;
    return RIDGE_OK;
}

static size_t take_plain(ridge_stream *s, char *to, size_t most)
{
    const size_t left = s->n - s->at;
    if (left == 0 && most >= sizeof s->packed) { /* straight, past the buffer */
        const size_t n = fread(to, 1, most, s->file);
        s->is_end = n < most;
        return n;
    }
    fill(s);
    const size_t n = s->n - s->at < most ? s->n - s->at : most;
    memcpy(to, s->packed + s->at, n);
    s->at += n;
    return n;
}

static void take_gzip(ridge_stream *s, char *to, size_t most, size_t *got)
{
    s->gzip.next_in = s->packed + s->at;
    s->gzip.avail_in = (uInt)(s->n - s->at);
    s->gzip.next_out = (unsigned char *)to;
    s->gzip.avail_out = most > UINT32_MAX ? UINT32_MAX : (uInt)most;
    const size_t room = s->gzip.avail_out;
    const int code = inflate(&s->gzip, Z_NO_FLUSH);
    s->at = s->n - s->gzip.avail_in;
    *got = room - s->gzip.avail_out;
    s->is_frame_end = code == Z_STREAM_END;
    if (code == Z_STREAM_END) {
        fill(s);
        /* padding behind the last member is no member */
        if (s->at < s->n && s->packed[s->at] != 0x1f)
            s->at = s->n, s->is_end = true;
        inflateReset(&s->gzip);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
        s->fault = "the gzip data are damaged";
    }
}

static void take_zstd(ridge_stream *s, char *to, size_t most, size_t *got)
{
    ZSTD_inBuffer in = {s->packed, s->n, s->at};
    ZSTD_outBuffer out = {to, most, 0};
    const size_t left = ZSTD_decompressStream(s->zstd, &out, &in);
    s->at = in.pos;
    *got = out.pos;
    s->is_frame_end = left == 0;
    if (ZSTD_isError(left))
        s->fault = "the zstd data are damaged";
}

/* One step. @return bytes; 0 with nothing more to come when the stream has ended */
static size_t take(ridge_stream *s, char *to, size_t most)
{
    size_t got = 0;
    if (s->kind == PACKING_NONE)
        return take_plain(s, to, most);
    fill(s);
    if (s->at == s->n && s->is_end && s->is_frame_end)
        return 0;
    if (s->kind == PACKING_GZIP)
        take_gzip(s, to, most, &got);
    else
        take_zstd(s, to, most, &got);
    if (got == 0 && s->at == s->n && s->is_end && !s->is_frame_end && s->fault == NULL)
        s->fault = "the packed data end too early";
    return got;
}

static bool has_ended(const ridge_stream *s)
{
    return s->fault != NULL ||
           (s->at == s->n && s->is_end && (s->kind == PACKING_NONE || s->is_frame_end));
}

ridge_status ridge_stream_read(ridge_ctx *cx, ridge_stream *s, char *to, size_t most,
                               size_t *got)
{
    size_t n = 0;
    while (n < most) {
        const size_t step = take(s, to + n, most - n);
        n += step;
        if (ferror(s->file))
            return fail_io(cx, s->path, "check the file");
        if (ridge_ctx_is_cancelled(cx))
            return ridge_fail(cx, RIDGE_E_CANCELLED, "cancelled");
        if (step == 0 && has_ended(s))
            break;
    }
    *got = n;
    return RIDGE_OK;
}

/* Grow by doubling; a plain file that tells its size fits at once. */
static ridge_status read_whole(ridge_ctx *cx, ridge_stream *s, size_t most_bytes,
                               ridge_str *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    size_t room = s->size > 0 && s->size < (double)most_bytes ? (size_t)s->size + 1
                                                              : PACKED_STEP_BYTES;
    char *text = NULL;
    size_t n = 0, got;
    for (;;) {
        char *grown = ridge_new(arena, char, room + 1);
        if (grown == NULL)
            return ridge_fail_nomem(cx);
        if (n > 0)
            memcpy(grown, text, n);
        text = grown;
        RIDGE_TRY(ridge_stream_read(cx, s, text + n, room - n, &got));
        n += got;
        if (n > most_bytes) {
            return ridge_fail(cx, RIDGE_E_IO,
                              "%s: larger than %s: is this the right file?", s->path,
                              ridge_format_bytes((double)most_bytes).s);
        }
        if (n < room)
            break;
        room = room > most_bytes / 2 ? most_bytes + 1 : 2 * room;
    }
    *out = (ridge_str){text, n};
    return RIDGE_OK;
}

ridge_status ridge_file_read_unpacked(ridge_ctx *cx, const char *path,
                                      size_t most_bytes, const char **fault,
                                      ridge_str *out)
{
    ridge_stream *s;
    RIDGE_TRY(ridge_stream_open(cx, path, &s));
    const ridge_status st =
        read_whole(cx, s, ridge__file_most_bytes(s->file, most_bytes), out);
    ridge_stream_close(s);
    RIDGE_TRY(st);
    if (fault != NULL)
        *fault = s->fault;
    else if (s->fault != NULL)
        return ridge_fail(cx, RIDGE_E_IO, "%s: %s: fetch it again", path, s->fault);
    return RIDGE_OK;
}
