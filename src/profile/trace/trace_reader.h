/*
 * Readers of the formats, each into a store. Layer-internal.
 */
#ifndef RIDGE_PROFILE_TRACE_READER_H
#define RIDGE_PROFILE_TRACE_READER_H

#include "byte_window.h"
#include "trace_store.h"

#include "ridge/profile.h"

/**
 * A Chrome trace: {"traceEvents": [...], ...} or [...]. What is damaged is skipped,
 * what is cut off is read as far as it goes; both are said among the losses.
 * @param out  initialised
 * @param is_table  out: it has no events, and begins as what XProf computes from
 *                  profiles
 * @errors E_PARSE it is no such trace; E_IO, E_NOMEM, E_CANCELLED
 */
RIDGE_NODISCARD ridge_status chrome_reader_read(byte_window *window, const char *path,
                                                trace_store *out, bool *is_table);
/** An XSpace protobuf. @errors as above */
RIDGE_NODISCARD ridge_status xplane_reader_read(ridge_ctx *cx, const char *path,
                                                trace_store *out);
/** The same of bytes in memory: for tests. */
RIDGE_NODISCARD ridge_status xplane_reader_of(ridge_ctx *cx, ridge_str bytes,
                                              trace_store *out);
/** An SQLite database of Nsight Systems. @errors as above */
RIDGE_NODISCARD ridge_status nsys_reader_read(ridge_ctx *cx, const char *path,
                                              trace_store *out);
/** The same of bytes in memory: for tests. */
RIDGE_NODISCARD ridge_status nsys_reader_of(ridge_ctx *cx, ridge_str bytes,
                                            trace_store *out);

/**
 * Any of them, told by its first bytes.
 * @param format  out
 */
RIDGE_NODISCARD ridge_status trace_reader_read(ridge_ctx *cx, const char *path,
                                               size_t window_bytes, trace_store *out,
                                               ridge_trace_format *format);

#endif
