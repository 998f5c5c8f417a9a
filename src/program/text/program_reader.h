/* Reading program text: a position in it, words and values, complaints with the place.
 */
#ifndef RIDGE_PROGRAM_READER_H
#define RIDGE_PROGRAM_READER_H

#include "builder.h"

typedef struct ridge__reader {
    ridge_ctx *cx;
    const char *file; /* for messages */
    ridge_str text;
    size_t at;         /* position of the next character */
    size_t line_start; /* of the line under way */
    size_t line;       /* from 1 */
    ridge__builder b;
} ridge__reader;

/** Fail with "file:line:column: …" and the line's text with a ^ before the place. */
RIDGE_NODISCARD RIDGE_PRINTF(3, 4) ridge_status
    ridge__reader_fail(const ridge__reader *r, size_t at, const char *fmt, ...);
/** Forward what the builder found, with the place. */
RIDGE_NODISCARD ridge_status ridge__reader_check(ridge__reader *r, size_t at);

/** Go to the next line that holds something. @return false at the end of the text */
bool ridge__reader_next_line(ridge__reader *r);
void ridge__reader_skip(ridge__reader *r); /* blanks */
/** Skip blanks. @return whether the line ends here, or a comment begins */
bool ridge__reader_is_end(ridge__reader *r);
/** Skip blanks and take a character if it is next. */
bool ridge__reader_take(ridge__reader *r, char c);
/** The next character behind blanks, '\0' at the line's end. */
char ridge__reader_peek(ridge__reader *r);
/** A name: a letter or underscore, then letters, digits, underscores and, if allowed,
 *  dots. @errors E_PARSE saying that @p what is wanted */
RIDGE_NODISCARD ridge_status ridge__reader_name(ridge__reader *r, const char *what,
                                                bool may_have_dots, const char **out);
/** Everything up to a blank or the line's end, at least one character. */
RIDGE_NODISCARD ridge_status ridge__reader_value(ridge__reader *r, const char *what,
                                                 ridge_str *out);
/** The word that comes next, without taking it: letters, digits, underscores, dots. */
ridge_str ridge__reader_word(ridge__reader *r);
RIDGE_NODISCARD ridge_status ridge__reader_count(ridge__reader *r, ridge_str value,
                                                 int64_t least, int64_t most,
                                                 int64_t *out);
RIDGE_NODISCARD ridge_status ridge__reader_real(ridge__reader *r, ridge_str value,
                                                double *out);
RIDGE_NODISCARD ridge_status ridge__reader_dim(ridge__reader *r, ridge_str value,
                                               int *out);

/** Values of kind=, part=, rule= (program_words.c). @errors E_PARSE with the words */
RIDGE_NODISCARD ridge_status ridge__reader_kind(ridge__reader *r, ridge_str value,
                                                ridge_operation *op);
RIDGE_NODISCARD ridge_status ridge__reader_part(ridge__reader *r, ridge_str value,
                                                ridge_operation *op);
RIDGE_NODISCARD ridge_status ridge__reader_rule(ridge__reader *r, ridge_str value,
                                                ridge_operation *op);

/** One line inside of a block (program_parse_op.c): a declaration or an operation. */
RIDGE_NODISCARD ridge_status ridge__reader_statement(ridge__reader *r);

#endif
