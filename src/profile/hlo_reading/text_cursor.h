/* A place in a text that is read from front to back: blanks, comments, words, balanced
 * pieces, and complaints with file:line:column. Layer-internal. */
#ifndef RIDGE_TEXT_CURSOR_H
#define RIDGE_TEXT_CURSOR_H

#include "ridge/base.h"

typedef struct text_cursor {
    ridge_ctx *cx;
    const char *path; /* for messages */
    const char *start, *p, *end;
    const char *counted; /* lines up to here are counted */
    int line;
} text_cursor;

text_cursor text_cursor_of(ridge_ctx *cx, ridge_str text, const char *path);
/** A cursor over a piece of @p outer's text, whose complaints tell the whole text's
 *  place. */
text_cursor text_cursor_within(const text_cursor *outer, ridge_str piece);

/** Past blanks, line ends, // and block comments. */
void text_cursor_skip(text_cursor *c);
/** Past blanks and block comments of this line. */
void text_cursor_skip_blank(text_cursor *c);
bool text_cursor_is_end(const text_cursor *c);
/** The character here; 0 at the end. */
char text_cursor_peek(const text_cursor *c);
/** Take @p z if it stands here, behind blanks. */
bool text_cursor_take(text_cursor *c, const char *z);
/** Whether @p z stands here, behind blanks; nothing is taken but these. */
bool text_cursor_sees(text_cursor *c, const char *z);
/** Letters, digits and any of "_.-$"; n 0: there is none here. */
ridge_str text_cursor_word(text_cursor *c);
/** A whole number with sign. */
bool text_cursor_number(text_cursor *c, int64_t *out);
/** What stands between the bracket here and the one that closes it, both left out;
 *  quotes and nested brackets are whole. @return false: it is not closed */
bool text_cursor_enclosed(text_cursor *c, ridge_str *out);
/** Up to a comma, a closing bracket or a line end outside of brackets and quotes,
 *  without blanks behind. */
ridge_str text_cursor_value(text_cursor *c);
/** A quoted text as it is, its backslashes included. @return false: it is not closed */
bool text_cursor_quoted(text_cursor *c, ridge_str *out);

/** Line of the cursor, from 1. */
int text_cursor_line(text_cursor *c);
/** "path:line:column: ...". @return E_PARSE */
RIDGE_NODISCARD RIDGE_PRINTF(2, 3) ridge_status
    text_cursor_fail(text_cursor *c, const char *fmt, ...);
/** Take @p z or fail: "'z' is wanted behind WHAT". */
RIDGE_NODISCARD ridge_status text_cursor_want(text_cursor *c, const char *z,
                                              const char *what);

#endif
