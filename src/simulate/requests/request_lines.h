/* Lines of a packed or plain file, and the numbers in them. */
#ifndef RIDGE_REQUEST_LINES_H
#define RIDGE_REQUEST_LINES_H

#include "ridge/base.h"
#include "ridge/base_stream.h"

enum { REQUEST_LINE_BYTES = 8 << 20 };

/** Lines without their ends, one at a time, in a buffer that is used again. */
typedef struct request_lines {
    ridge_stream *stream;
    const char *path;
    char *text; /* what was read ahead */
    size_t at, n, room;
    bool is_end;
    int64_t number; /* of the line that was given last; the first is 1 */
} request_lines;

/** @errors E_IO, E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__lines_open(ridge_ctx *cx, const char *path,
                                               request_lines *out);

/**
 * The next line that is not blank.
 * @param line  out: borrowed until the next call
 * @param has   out: false at the end
 * @errors E_PARSE a line that is too long, packed data that are damaged; E_IO; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__lines_next(ridge_ctx *cx, request_lines *lines,
                                               ridge_str *line, bool *has);

/** Fail with "path:line: ...". */
RIDGE_NODISCARD RIDGE_PRINTF(3, 4) ridge_status
    ridge__lines_fail(ridge_ctx *cx, const request_lines *lines, const char *fmt, ...);

#endif
