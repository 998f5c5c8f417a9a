/*
 * Texts (or keys of other bytes) kept once and known by number. Layer-internal.
 */
#ifndef RIDGE_PROFILE_NAME_TABLE_H
#define RIDGE_PROFILE_NAME_TABLE_H

#include "ridge/base.h"

/* What a table says when memory is short; it then stays as it is. */
#define NAME_NONE UINT32_MAX

typedef struct name_table {
    ridge_arena *arena;
    ridge_str *names; /* by number; each has a NUL behind it */
    uint32_t *hashes;
    uint32_t n, room;
    uint32_t *slots; /* number + 1; 0: free */
    uint32_t mask;
    uint32_t most; /* names kept; those beyond are all number 1 */
} name_table;

/** Number 0 is "", number 1 stands for all beyond @p most. @errors by false: memory */
bool name_table_init(name_table *table, ridge_arena *arena, uint32_t most);
/** @return the number of @p name, which is copied when it is new; or NAME_NONE */
uint32_t name_table_put(name_table *table, ridge_str name);
/** @return the number, or NAME_NONE when it is not there */
uint32_t name_table_find(const name_table *table, ridge_str name);
/** Bytes of a number that name_table_put gave; of nothing for NAME_NONE. */
ridge_str name_table_get(const name_table *table, uint32_t number);

#endif
