/*
 * A long list of small records in pieces of memory that never move, so that it grows
 * without a copy. Layer-internal.
 */
#ifndef RIDGE_PROFILE_RECORD_LIST_H
#define RIDGE_PROFILE_RECORD_LIST_H

#include "ridge/base.h"

enum { RECORD_PIECE_BITS = 9, RECORD_BYTES_MOST = 48 };

typedef struct record_list {
    ridge_arena *arena;
    size_t bytes; /* of a record, at most RECORD_BYTES_MOST */
    char **pieces;
    size_t n_pieces, room;
    size_t n;
} record_list;

/** -1, 0 or 1; never 0 for records that differ, so that the order is one. */
typedef int record_compare(const void *a, const void *b);

void record_list_init(record_list *list, ridge_arena *arena, size_t bytes);
/** @return a zeroed record at the end, or NULL once the budget is spent */
void *record_list_add(record_list *list);
/** Sort in place; quick where it is sorted already. */
void record_list_sort(record_list *list, record_compare *compare);

/** @param i  below n */
static inline void *record_list_at(const record_list *list, size_t i)
{
    return list->pieces[i >> RECORD_PIECE_BITS] +
           (i & ((1u << RECORD_PIECE_BITS) - 1)) * list->bytes;
}

#endif
