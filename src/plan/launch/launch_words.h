/*
 * Words of a text as a shell sees them: comments, quotes, a line continued by a
 * backslash, NAME=value, and $NAME, ${NAME} and ${NAME:-value} of what was set before.
 * What an expansion does not find stays as it is written.
 */
#ifndef RIDGE_PLAN_LAUNCH_WORDS_H
#define RIDGE_PLAN_LAUNCH_WORDS_H

#include "launch_sheet.h"

enum { LAUNCH_WORD_BYTES = 4096 };

typedef struct launch_words {
    ridge_ctx *cx;
    const char *file;
    ridge_str text;
    size_t at;
    int line;
    char group;         /* the quote around options that is open */
    bool is_line_start; /* the word just read is the first of a line that no backslash
                           continues */
    launch_settings variables;
} launch_words;

launch_words launch_words_of(ridge_ctx *cx, const char *file, ridge_str text);

/** The next word without its quotes. @param word  room for LAUNCH_WORD_BYTES
 * @return false at the end */
bool launch_words_next(launch_words *w, char *word, int *line);

/** @return the word with what variables stand for, or NULL: out of memory */
const char *launch_words_expand(launch_words *w, const char *word);

/** NAME=value, NAME=( and NAME+=: cuts the name off. @return what follows, NULL: no
 * assignment */
char *launch_word_assigned(char *word);

/** @errors E_NOMEM; E_PARSE too many */
RIDGE_NODISCARD ridge_status launch_words_set(launch_words *w, const char *name,
                                              const char *value);

#endif
