/*
 * The outer messages of a protobuf file, walked field by field without holding them.
 * Layer-internal.
 */
#ifndef RIDGE_PROFILE_WIRE_WALK_H
#define RIDGE_PROFILE_WIRE_WALK_H

#include "byte_window.h"

/** A field: its bytes follow in the window. */
typedef struct wire_field {
    uint64_t number;
    uint64_t value; /* of a varint */
    int64_t length; /* of what is delimited; else 0 */
    bool is_delimited;
} wire_field;

/** Where a message ends: a position in the file. */
typedef struct wire_message {
    int64_t end; /* INT64_MAX: with the file */
} wire_message;

/**
 * The next field of a message. The window stands behind it, or before its bytes when it
 * is delimited: take, enter or skip them.
 * @param found  out: false at the end of the message, of the file, or where what
 * follows is no field
 * @param is_damaged  out: set, but for the ends
 */
RIDGE_NODISCARD ridge_status wire_walk_next(byte_window *w, wire_message within,
                                            wire_field *out, bool *found,
                                            bool *is_damaged);
/** Pass over a delimited field's bytes. */
RIDGE_NODISCARD ridge_status wire_walk_skip(byte_window *w, int64_t length);
/** Have all of a delimited field's bytes in the window, at w->p. They are not passed.
 * @param got  out: false when the file ends before, or they are too many */
RIDGE_NODISCARD ridge_status wire_walk_want(byte_window *w, int64_t length, bool *got);

#endif
