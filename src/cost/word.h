/* A piece of the caller's text, cut short for a message. */
#ifndef RIDGE_COST_WORD_H
#define RIDGE_COST_WORD_H

#include "ridge/base.h"

#include <string.h>

typedef struct cost_word {
    char s[44];
} cost_word;

/** Usable directly in a printf argument as word_of(text).s */
static inline cost_word word_of(ridge_str text)
{
    cost_word w = {""};
    const size_t n = text.n < sizeof w.s ? text.n : sizeof w.s - 1;
    if (text.p && n > 0)
        memcpy(w.s, text.p, n);
    return w;
}

#endif
