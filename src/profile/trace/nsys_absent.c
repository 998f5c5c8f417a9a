/* In the place of nsys_reader.c where Ridge was built without SQLite. */
#include "trace_reader.h"

ridge_status nsys_reader_read(ridge_ctx *cx, const char *path, trace_store *out)
{
    (void)out;
    return ridge_fail(
        cx, RIDGE_E_IO,
        "%s: this program was built without SQLite, which traces of Nsight "
        "Systems need: build it with libsqlite3-dev installed",
        path);
}

ridge_status nsys_reader_of(ridge_ctx *cx, ridge_str bytes, trace_store *out)
{
    (void)bytes;
    return nsys_reader_read(cx, "bytes", out);
}
