/* Names and aliases of things, found in any letter case. */
#ifndef RIDGE_NAME_INDEX_H
#define RIDGE_NAME_INDEX_H

#include "ridge/base.h"

typedef struct name_entry {
    const char *name;
    size_t item;
} name_entry;

typedef struct name_index {
    name_entry *entries; /* sorted by name once ridge__index_sort has run */
    size_t n;
    size_t cap;
} name_index;

/** ASCII order without letter case, whatever the locale. */
int ridge__name_compare(const char *a, const char *b);

/** @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__index_open(ridge_ctx *cx, size_t most,
                                               name_index *out);

/** Add a name and NULL-terminated aliases of @p item; no more than the index holds. */
void ridge__index_add(name_index *index, const char *name, const char *const *aliases,
                      size_t item);

/**
 * Sort, so that names can be found.
 * @param clash  out: two entries of different items with one name, if that happens
 * @return false when there is such a clash
 */
bool ridge__index_sort(name_index *index, const name_entry *clash[2]);

/** @return the entry of that name, or NULL */
const name_entry *ridge__index_find(const name_index *index, const char *name);

/** "did you mean ...?" over the names of one or two indexes (@p other may be NULL), or
 *  @p otherwise. Lives in the ctx's arena. */
const char *ridge__index_suggest(ridge_ctx *cx, const name_index *index,
                                 const name_index *other, const char *name,
                                 const char *otherwise);

#endif
