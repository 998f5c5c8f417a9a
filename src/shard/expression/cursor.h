/*
 * Reading short texts of notation from left to right: what stands here, and complaints
 * that name the column. Layer-internal.
 */
#ifndef RIDGE_SHARD_CURSOR_H
#define RIDGE_SHARD_CURSOR_H

#include "ridge/shard.h"

typedef struct ridge_cursor {
    ridge_ctx *cx;
    const char *what; /* "expression", "mesh", "sizes" */
    const char *text;
    size_t at;
    ridge_expr_fault *fault; /* or NULL */
} ridge_cursor;

/** Skip blanks. @return the character here, 0 at the end */
char ridge__cursor_peek(ridge_cursor *s);
/** Whether @p c stands here; if so it is taken. */
bool ridge__cursor_take(ridge_cursor *s, char c);
bool ridge__cursor_at_end(ridge_cursor *s);
/** A word of letters, digits and underscores that starts with a letter; n 0: none. */
ridge_str ridge__cursor_word(ridge_cursor *s);
/** What stands up to the next blank, comma or end. */
ridge_str ridge__cursor_value(ridge_cursor *s);

/** A whole mesh, as ridge_mesh_parse. */
RIDGE_NODISCARD ridge_status ridge__mesh_read(ridge_cursor *s, ridge_mesh *out);

/** Fail at a place: "mesh 'x=4,y': column 6: ...". @param at  from 0 */
RIDGE_NODISCARD RIDGE_PRINTF(4, 5) ridge_status
    ridge__cursor_fail(const ridge_cursor *s, ridge_status st, size_t at,
                       const char *fmt, ...);

#endif
