/*
 * Escaped text in elements, and the colours that pages and charts share.
 */
#ifndef RIDGE_HTML_TEXT_H
#define RIDGE_HTML_TEXT_H

#include "ridge/base.h"

/** open, escaped text, close. */
void ridge__html_element(ridge_buf *out, const char *open, const char *text,
                         const char *close);

/** Declarations of the colours --fg (text), --dim, --grid, --ground, --hover and --s0
 *  to --s11 (series), for a light or a dark ground. */
void ridge__palette_write(ridge_buf *out, bool is_dark);

#endif
