/* Names and aliases of things: a sorted array, searched by halving. */
#include "name_index.h"

#include <stdlib.h>
#include <string.h>

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

int ridge__name_compare(const char *a, const char *b)
{
    while (*a != '\0' && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) - lower(*b);
}

/* Ties by item, so that the order does not depend on the sort. */
static int compare_entries(const void *a, const void *b)
{
    const name_entry *x = a;
    const name_entry *y = b;
    const int order = ridge__name_compare(x->name, y->name);
    if (order != 0)
        return order;
    return x->item < y->item ? -1 : x->item > y->item;
}

ridge_status ridge__index_open(ridge_ctx *cx, size_t most, name_index *out)
{
    name_entry *entries = ridge_new(ridge_ctx_arena(cx), name_entry, most + 1);
    if (entries == NULL)
        return ridge_fail_nomem(cx);
    *out = (name_index){.entries = entries, .cap = most};
    return RIDGE_OK;
}

static void add_one(name_index *index, const char *name, size_t item)
{
    if (index->n < index->cap)
        index->entries[index->n++] = (name_entry){name, item};
}

void ridge__index_add(name_index *index, const char *name, const char *const *aliases,
                      size_t item)
{
    add_one(index, name, item);
    for (size_t i = 0; aliases != NULL && aliases[i] != NULL; i++)
        add_one(index, aliases[i], item);
}

bool ridge__index_sort(name_index *index, const name_entry *clash[2])
{
    qsort(index->entries, index->n, sizeof *index->entries, compare_entries);
    for (size_t i = 1; i < index->n; i++) {
        const name_entry *a = &index->entries[i - 1];
        const name_entry *b = &index->entries[i];
        if (a->item != b->item && ridge__name_compare(a->name, b->name) == 0) {
            clash[0] = a;
            clash[1] = b;
            return false;
        }
    }
    return true;
}

const name_entry *ridge__index_find(const name_index *index, const char *name)
{
    size_t low = 0;
    size_t high = index->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = ridge__name_compare(name, index->entries[middle].name);
        if (order == 0)
            return &index->entries[middle];
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

/* Spellings of more than one word are read, but nobody is told to write them. */
static const char *suggestible(const char *name)
{
    return strchr(name, ' ') == NULL ? name : NULL;
}

const char *ridge__index_suggest(ridge_ctx *cx, const name_index *index,
                                 const name_index *other, const char *name,
                                 const char *otherwise)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    const size_t n = index->n + (other != NULL ? other->n : 0);
    const char **names = ridge_new(scratch, const char *, n + 1);
    const char *text = NULL;
    if (names != NULL) {
        for (size_t i = 0; i < index->n; i++)
            names[i] = suggestible(index->entries[i].name);
        for (size_t i = index->n; i < n; i++)
            names[i] = suggestible(other->entries[i - index->n].name);
        text = ridge_suggestion(ridge_ctx_arena(cx), name, names, n);
    }
    ridge_arena_rewind(scratch, mark);
    return text != NULL && text[0] != '\0' ? text : otherwise;
}
