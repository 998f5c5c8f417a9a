/*
 * Files read piece by piece, unpacked on the way: gzip and zstd are told by their first
 * bytes, anything else comes as it is.
 */
#ifndef RIDGE_BASE_STREAM_H
#define RIDGE_BASE_STREAM_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A file being read. Owned by the ctx in which it was opened. */
typedef struct ridge_stream ridge_stream;

/**
 * @owner the ctx: closed with it, or before by ridge_stream_close
 * @errors E_IO with the path and the reason; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_stream_open(ridge_ctx *cx, const char *path,
                                               ridge_stream **out);

/**
 * The next bytes, unpacked. A packed file that ends too early or is damaged gives what
 * could be unpacked and then ends; ridge_stream_fault says so.
 * @param most  room of @p to
 * @param got   out: bytes written, less than @p most only at the end
 * @errors E_IO; E_CANCELLED
 */
RIDGE_NODISCARD ridge_status ridge_stream_read(ridge_ctx *cx, ridge_stream *stream,
                                               char *to, size_t most, size_t *got);

/** Why the stream ended before its packed data did; NULL: it did not. Static. */
const char *ridge_stream_fault(const ridge_stream *stream);
/** Release the file. The stream is then not used again. */
void ridge_stream_close(ridge_stream *stream);

/**
 * ridge_file_read, unpacked.
 * @param most_bytes  of the unpacked text
 * @param fault       out: as ridge_stream_fault gives it; may be NULL: then a damaged
 *                    file is an error
 * @owner the ctx: until it closes
 * @errors E_IO with the path and the reason; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_file_read_unpacked(ridge_ctx *cx, const char *path,
                                                      size_t most_bytes,
                                                      const char **fault,
                                                      ridge_str *out);

#ifdef __cplusplus
}
#endif

#endif
