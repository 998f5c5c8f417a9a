/* Text that comes from outside, made fit for a line of a terminal. */
#ifndef RIDGE_BASE_TEXT_H
#define RIDGE_BASE_TEXT_H

#include <stddef.h>

/**
 * A text with what a terminal would obey, or could not show, spelt out as \n, \x1b or
 * \u202e: control characters of ASCII and of U+0080 to U+009F, marks that turn the
 * direction of writing or have no width, ends of lines, and bytes that are not UTF-8.
 * A backslash stays as it is, so that a printable text is unchanged.
 * @param out  at least 1 byte; what does not fit in @p cap with its NUL is cut off
 * @return bytes written, without the NUL
 */
size_t ridge__text_printable(char *out, size_t cap, const char *text);

#endif
