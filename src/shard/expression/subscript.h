/*
 * The subscripts of one array of an expression: which mesh axes cut each dim or carry
 * its partial sums. Layer-internal.
 */
#ifndef RIDGE_SHARD_SUBSCRIPT_H
#define RIDGE_SHARD_SUBSCRIPT_H

#include "cursor.h"

/** What the axes of one array do so far. */
typedef struct ridge_subscripts {
    ridge_cursor *s;
    const ridge_mesh *mesh;
    const char *array; /* its name, for complaints */
    bool is_partial;   /* the list being read is of partial sums */
    unsigned cut, partial;
    unsigned here; /* in the list being read */
} ridge_subscripts;

/**
 * The axes of a word that was just read: behind an @, or in the word's own subscript.
 * @param at      where the word began
 * @param name    in: the word; out: without its subscript
 * @param is_dim  the whole word is the name of a dim, so that its _ is none
 * @param out     n 0: no subscript
 * @errors E_PARSE, E_ARG an unknown axis, or one that is used already
 */
RIDGE_NODISCARD ridge_status ridge__subscript_read(ridge_subscripts *u, size_t at,
                                                   ridge_str *name, bool is_dim,
                                                   ridge_dim_axes *out);

#endif
