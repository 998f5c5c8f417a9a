/* Token ids in an arena: doubled whenever they are full. */
#include "id_list.h"

#include <string.h>

enum { FIRST_IDS = 256 };

void ridge__id_list_reserve(ridge__id_list *list, size_t n)
{
    if (n <= list->cap || list->is_short)
        return;
    size_t cap = list->cap == 0 ? FIRST_IDS : list->cap;
    while (cap < n && cap <= SIZE_MAX / 2)
        cap *= 2;
    int32_t *ids = cap < n ? NULL : ridge_new(list->arena, int32_t, cap);
    if (ids == NULL) {
        list->is_short = true;
        return;
    }
    if (list->n > 0)
        memcpy(ids, list->ids, list->n * sizeof *ids);
    list->ids = ids;
    list->cap = cap;
}

void ridge__id_list_add(ridge__id_list *list, const int32_t *ids, size_t n)
{
    ridge__id_list_reserve(list, list->n + n);
    if (list->is_short || n == 0)
        return;
    memcpy(list->ids + list->n, ids, n * sizeof *ids);
    list->n += n;
}
