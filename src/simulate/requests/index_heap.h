/* Numbers of things in a heap, the one of the least key on top; any can leave. */
#ifndef RIDGE_INDEX_HEAP_H
#define RIDGE_INDEX_HEAP_H

#include "ridge/base.h"

/** A key, and what decides between equal ones. */
typedef struct heap_key {
    double first;
    int64_t second;
} heap_key;

typedef struct heap_item {
    heap_key key;
    int32_t index;
} heap_item;

typedef struct index_heap {
    ridge_arena *arena;
    heap_item *items;
    int n, room;
    int32_t **place; /* of a thing by index: where it keeps its place; NULL: nowhere */
    size_t stride;   /* bytes between places */
} index_heap;

/** @return false: out of memory */
bool ridge__heap_push(index_heap *heap, heap_key key, int32_t index);
/** Take the item at a place out. */
void ridge__heap_remove(index_heap *heap, int place);
/** Give the item at a place another key. */
void ridge__heap_move(index_heap *heap, int place, heap_key key);
/** Where a thing is; -1: it is not there. */
int ridge__heap_place(const index_heap *heap, int32_t index);

static inline bool ridge__key_is_less(heap_key a, heap_key b)
{
    return a.first < b.first || (a.first == b.first && a.second < b.second);
}

#endif
