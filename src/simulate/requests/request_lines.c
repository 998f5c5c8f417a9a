/* Lines of a packed or plain file. */
#include "request_lines.h"

#include <stdarg.h>
#include <string.h>

enum { FIRST_ROOM = 1 << 16, EMPTY_LINES_MOST = 1000000 };

ridge_status ridge__lines_open(ridge_ctx *cx, const char *path, request_lines *out)
{
    *out = (request_lines){.path = path};
    RIDGE_TRY(ridge_stream_open(cx, path, &out->stream));
    out->room = FIRST_ROOM;
    out->text = ridge_new(ridge_ctx_arena(cx), char, out->room);
    return out->text != NULL ? RIDGE_OK : ridge_fail_nomem(cx);
}

ridge_status ridge__lines_fail(ridge_ctx *cx, const request_lines *lines,
                               const char *fmt, ...)
{
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return ridge_fail(cx, RIDGE_E_PARSE, "%s:%lld: %s", lines->path,
                      (long long)lines->number, what);
}

/* A line did not fit: twice the room. What was taken before stays with the arena. */
static ridge_status grow(ridge_ctx *cx, request_lines *l)
{
    if (l->room >= REQUEST_LINE_BYTES) {
        l->number++;
        return ridge__lines_fail(cx, l,
                                 "a line of more than %s: is this the right file?",
                                 ridge_format_bytes(REQUEST_LINE_BYTES).s);
    }
    char *more = ridge_new(ridge_ctx_arena(cx), char, l->room * 2);
    if (more == NULL)
        return ridge_fail_nomem(cx);
    memcpy(more, l->text + l->at, l->n - l->at);
    l->n -= l->at;
    l->at = 0;
    l->text = more;
    l->room *= 2;
    return RIDGE_OK;
}

static ridge_status fill(ridge_ctx *cx, request_lines *l)
{
    size_t got = 0;
    if (l->at == 0 && l->n == l->room)
        RIDGE_TRY(grow(cx, l));
    if (l->at > 0) {
        memmove(l->text, l->text + l->at, l->n - l->at);
        l->n -= l->at;
        l->at = 0;
    }
    const size_t wanted = l->room - l->n;
    RIDGE_TRY(ridge_stream_read(cx, l->stream, l->text + l->n, wanted, &got));
    l->n += got;
    l->is_end = got < wanted;
    if (l->is_end && ridge_stream_fault(l->stream) != NULL)
        return ridge__lines_fail(cx, l, "behind this line %s: fetch the file again",
                                 ridge_stream_fault(l->stream));
    return RIDGE_OK;
}

static ridge_status take(ridge_ctx *cx, request_lines *l, ridge_str *line, bool *has)
{
    const char *end;
    while ((end = memchr(l->text + l->at, '\n', l->n - l->at)) == NULL && !l->is_end)
        RIDGE_TRY(fill(cx, l));
    *has = l->at < l->n;
    *line = (ridge_str){l->text + l->at,
                        end != NULL ? (size_t)(end - l->text) - l->at : l->n - l->at};
    l->at += line->n + (end != NULL ? 1 : 0);
    l->number += *has ? 1 : 0;
    return RIDGE_OK;
}

ridge_status ridge__lines_next(ridge_ctx *cx, request_lines *lines, ridge_str *line,
                               bool *has)
{
    for (int i = 0; i < EMPTY_LINES_MOST; i++) {
        RIDGE_TRY(take(cx, lines, line, has));
        *line = ridge_str_trim(*line);
        if (!*has || line->n > 0)
            return RIDGE_OK;
    }
    return ridge__lines_fail(cx, lines,
                             "%d empty lines in a row: is this the right file?",
                             EMPTY_LINES_MOST);
}
