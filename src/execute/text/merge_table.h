/* Which two neighbouring tokens become one, and how soon. */
#ifndef RIDGE_MERGE_TABLE_H
#define RIDGE_MERGE_TABLE_H

#include "ridge/base.h"

typedef struct ridge__merge {
    int32_t rank; /* the lowest goes first */
    int32_t id;   /* of what the two become */
} ridge__merge;

typedef struct ridge__merge_slot {
    uint64_t pair; /* left id, right id */
    ridge__merge merge;
} ridge__merge_slot;

/** Open addressing with a fixed number of slots, twice what it may hold. */
typedef struct ridge__merge_table {
    ridge__merge_slot *slots;
    uint64_t mask;
} ridge__merge_table;

/** @param n  most merges. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__merge_table_open(ridge_ctx *cx, size_t n,
                                                     ridge__merge_table *out);
/** A merge given again replaces the first. Ids are >= 0. */
void ridge__merge_table_add(ridge__merge_table *table, int32_t left, int32_t right,
                            ridge__merge merge);
/** @return rank -1: these stay two */
ridge__merge ridge__merge_table_find(const ridge__merge_table *table, int32_t left,
                                     int32_t right);

#endif
