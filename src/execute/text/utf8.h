/* Characters of UTF-8 in text that may hold other bytes. */
#ifndef RIDGE_UTF8_H
#define RIDGE_UTF8_H

#include "ridge/base.h"

/** Bytes of the character at @p at (below s.n): 1 to 4; 0 where there is none: a stray,
 * overlong or cut one, a surrogate, beyond U+10FFFF. */
size_t ridge__utf8_length(ridge_str s, size_t at);

/** Where the characters that start at @p at end: at s.n or the first bad byte. */
size_t ridge__utf8_valid_end(ridge_str s, size_t at);

/** Where the bytes at @p at that are no characters end. */
size_t ridge__utf8_invalid_end(ridge_str s, size_t at);

/** The character at @p at, which ridge__utf8_length has found to be n bytes. */
uint32_t ridge__utf8_value(ridge_str s, size_t at, size_t n);

/** Write a character. @param out  room for 4. @return bytes */
size_t ridge__utf8_write(uint32_t c, char *out);

#endif
