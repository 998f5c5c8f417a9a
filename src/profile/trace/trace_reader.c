/* Formats told by their first bytes: names of files lie. */
#include "trace_reader.h"

#include "xprof_table.h"

#include <string.h>

enum { HEAD_BYTES = 64 };

typedef enum container {
    CONTAINER_JSON,
    CONTAINER_SQLITE,
    CONTAINER_PROTOBUF,
    CONTAINER_UNKNOWN
} container;

static container container_of(const char *head, size_t n)
{
    size_t i = 0;
    if (n >= 16 && memcmp(head, "SQLite format 3", 16) == 0)
        return CONTAINER_SQLITE;
    /* A byte order mark. */
    if (n >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0)
        i = 3;
    /* The first field of an XSpace is a plane: a tag of 0x0a, which is a line end as
     * well, but then a length follows and the plane's own fields, not white space. */
    while (i < n &&
           (head[i] == ' ' || head[i] == '\n' || head[i] == '\r' || head[i] == '\t'))
        i++;
    if (i < n && (head[i] == '{' || head[i] == '['))
        return i > 0 && head[0] == '\n' && i == 1 && n > 2 && (head[2] & 0x80) != 0
                   ? CONTAINER_PROTOBUF
                   : CONTAINER_JSON;
    return n > 1 && head[0] == 0x0a ? CONTAINER_PROTOBUF : CONTAINER_UNKNOWN;
}

/* @param fault  out: why there is no more than that; NULL: nothing is wrong */
static ridge_status head_read(ridge_ctx *cx, const char *path, char *head, size_t *n,
                              const char **fault)
{
    ridge_stream *stream;
    RIDGE_TRY(ridge_stream_open(cx, path, &stream));
    const ridge_status st = ridge_stream_read(cx, stream, head, HEAD_BYTES, n);
    const char *text = ridge_stream_fault(stream);
    *fault = text ? ridge_sprintf(ridge_ctx_arena(cx), "%s", text) : NULL;
    ridge_stream_close(stream);
    return st;
}

static ridge_status chrome_read(ridge_ctx *cx, const char *path, size_t window_bytes,
                                trace_store *out, bool *is_table)
{
    ridge_stream *stream;
    byte_window window;
    RIDGE_TRY(ridge_stream_open(cx, path, &stream));
    ridge_status st =
        byte_window_open(cx, out->arena, stream,
                         window_bytes > 0 ? window_bytes : WINDOW_BYTES, &window);
    if (st == RIDGE_OK)
        st = chrome_reader_read(&window, path, out, is_table);
    ridge_stream_close(stream);
    return st;
}

static ridge_trace_format chrome_format(const trace_store *store)
{
    if (store->has_kineto)
        return RIDGE_TRACE_KINETO;
    if (store->has_xla)
        return RIDGE_TRACE_XPROF;
    return store->has_ridge ? RIDGE_TRACE_RIDGE : RIDGE_TRACE_CHROME;
}

/* A Chrome trace, or a table that XProf computed from one. */
static ridge_status json_read(ridge_ctx *cx, const char *path, size_t window_bytes,
                              trace_store *out, ridge_trace_format *format)
{
    bool is_table = false;
    RIDGE_TRY(chrome_read(cx, path, window_bytes, out, &is_table));
    *format = is_table ? RIDGE_TRACE_XPROF_TABLE : chrome_format(out);
    if (!is_table)
        return RIDGE_OK;
    out->n_losses = 0; /* of events that are none */
    return xprof_table_read(cx, path, out);
}

ridge_status trace_reader_read(ridge_ctx *cx, const char *path, size_t window_bytes,
                               trace_store *out, ridge_trace_format *format)
{
    char head[HEAD_BYTES];
    const char *fault;
    size_t n;
    RIDGE_TRY(head_read(cx, path, head, &n, &fault));
    switch (container_of(head, n)) {
    case CONTAINER_JSON:
        return json_read(cx, path, window_bytes, out, format);
    case CONTAINER_SQLITE:
        *format = RIDGE_TRACE_NSYS;
        return nsys_reader_read(cx, path, out);
    case CONTAINER_PROTOBUF:
        *format = RIDGE_TRACE_XPLANE;
        return xplane_reader_read(cx, path, out);
    case CONTAINER_UNKNOWN:
        break;
    }
    return ridge_fail(cx, RIDGE_E_PARSE,
                      "%s: %s: give a Chrome trace (.json, .json.gz), an XSpace "
                      "(.xplane.pb) or an SQLite export of Nsight Systems",
                      path,
                      fault    ? fault
                      : n == 0 ? "the file is empty"
                               : "no format of traces");
}
