/* Patterns of tokenizers: regular expressions over Unicode text. */
#ifndef RIDGE_PATTERN_H
#define RIDGE_PATTERN_H

#include "ridge/base.h"

/** Compiled once; threads share it. */
typedef struct ridge__pattern ridge__pattern;

/** What one search needs: a thread's own. */
typedef struct ridge__pattern_match ridge__pattern_match;

/**
 * @param text  syntax that PCRE2 and Oniguruma share; classes by Unicode properties
 * @param fault  out: what is wrong with it and where, if E_PARSE is returned; in the
 *               ctx's arena
 * @owner the ctx
 * @errors E_PARSE without a message; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__pattern_compile(ridge_ctx *cx, ridge_str text,
                                                    const ridge__pattern **out,
                                                    const char **fault);

/** NULL: no memory. @owner the scratch arena, and ridge__pattern_match_close, which
 * takes NULL too */
ridge__pattern_match *ridge__pattern_match_open(ridge_ctx *cx,
                                                const ridge__pattern *pattern);
void ridge__pattern_match_close(ridge__pattern_match *match);

/** Bytes [start, end) of a text; not found: start = end = the text's end. */
typedef struct ridge__span {
    size_t start, end;
} ridge__span;

/**
 * The first match at or behind @p from that is not empty.
 * @param text  UTF-8, checked. @param from  the start of a character
 * @return false: the pattern takes too long on this text
 */
bool ridge__pattern_find(const ridge__pattern *pattern, ridge__pattern_match *match,
                         ridge_str text, size_t from, ridge__span *out);

#endif
