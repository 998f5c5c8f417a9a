/* Token ids that come one after another. */
#ifndef RIDGE_ID_LIST_H
#define RIDGE_ID_LIST_H

#include "ridge/base.h"

/** Grows in its arena; once memory is short it stops growing and says so. */
typedef struct ridge__id_list {
    ridge_arena *arena;
    int32_t *ids;
    size_t n, cap;
    bool is_short;
} ridge__id_list;

/** Append n ids; they may not be the list's own. */
void ridge__id_list_add(ridge__id_list *list, const int32_t *ids, size_t n);

/** Room for at least n in all, so that growing copies nothing until then. */
void ridge__id_list_reserve(ridge__id_list *list, size_t n);

#endif
