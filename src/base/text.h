/* Text that comes from outside, made fit for a line of a terminal. */
#ifndef RIDGE_BASE_TEXT_H
#define RIDGE_BASE_TEXT_H

/** Replace control characters by '?': of ASCII, and of U+0080 to U+009F in UTF-8, so
 * that hostile input neither breaks the line nor reaches the terminal's codes. */
void ridge__text_make_printable(char *z);

#endif
