/*
 * A file seen through a window that moves on: only what is not used up yet is kept.
 * Layer-internal.
 */
#ifndef RIDGE_PROFILE_BYTE_WINDOW_H
#define RIDGE_PROFILE_BYTE_WINDOW_H

#include "ridge/base_stream.h"

typedef struct byte_window {
    ridge_ctx *cx;
    ridge_arena *arena;
    ridge_stream *stream; /* NULL: all there is stands in the window */
    char *buffer;
    size_t room;
    const char *p, *end; /* what is there */
    int64_t passed;      /* bytes of the (unpacked) file before p */
    bool is_last;        /* nothing comes behind end */
} byte_window;

enum { WINDOW_BYTES = 1 << 20, WINDOW_BYTES_MOST = 1 << 26 };

/** @param room  first size of the window; WINDOW_BYTES but for tests */
RIDGE_NODISCARD ridge_status byte_window_open(ridge_ctx *cx, ridge_arena *arena,
                                              ridge_stream *stream, size_t room,
                                              byte_window *out);
/** A window on text in memory: for tests. */
byte_window byte_window_of(ridge_ctx *cx, ridge_str text);
/** Everything before @p to has been used. */
void byte_window_pass(byte_window *w, const char *to);
/**
 * More bytes behind end; moves what is there, and grows the window when it is full.
 * @param grew  out: false at the end, or when a window of WINDOW_BYTES_MOST is full
 * @errors E_IO, E_NOMEM, E_CANCELLED
 */
RIDGE_NODISCARD ridge_status byte_window_more(byte_window *w, bool *grew);

#endif
