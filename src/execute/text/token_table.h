/* Token ids by what they spell. */
#ifndef RIDGE_TOKEN_TABLE_H
#define RIDGE_TOKEN_TABLE_H

#include "ridge/base.h"

typedef struct ridge__token_slot {
    ridge_str text; /* p NULL: empty slot */
    int32_t id;
} ridge__token_slot;

/** Open addressing with a fixed number of slots, twice what it may hold. */
typedef struct ridge__token_table {
    ridge__token_slot *slots;
    size_t mask; /* slots - 1; slots NULL: nothing is in it */
} ridge__token_table;

/** @param n  most entries. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__token_table_open(ridge_ctx *cx, size_t n,
                                                     ridge__token_table *out);
/** The first id given for a text stays. @param text  borrowed
 * @return the id that the table holds for it */
int32_t ridge__token_table_add(ridge__token_table *table, ridge_str text, int32_t id);
/** -1: none. */
int32_t ridge__token_table_find(const ridge__token_table *table, ridge_str text);

/** A hash of bytes, alike on every machine. */
uint64_t ridge__bytes_hash(ridge_str text);

#endif
