/* Numbers of things in a heap. */
#include "index_heap.h"

#include <string.h>

enum { FIRST_ROOM = 16 };

static int32_t *place_of(const index_heap *h, int32_t index)
{
    char *base = (char *)*h->place;
    return (int32_t *)(void *)(base + (size_t)index * h->stride);
}

static void set(index_heap *h, int at, heap_item item)
{
    h->items[at] = item;
    if (h->place != NULL)
        *place_of(h, item.index) = at;
}

static void sift_up(index_heap *h, int at, heap_item item)
{
    for (; at > 0; at = (at - 1) / 2) {
        const heap_item *above = &h->items[(at - 1) / 2];
        if (!ridge__key_is_less(item.key, above->key))
            break;
        set(h, at, *above);
    }
    set(h, at, item);
}

static void sift_down(index_heap *h, int at, heap_item item)
{
    for (int child = 2 * at + 1; child < h->n; child = 2 * at + 1) {
        if (child + 1 < h->n &&
            ridge__key_is_less(h->items[child + 1].key, h->items[child].key))
            child++;
        if (!ridge__key_is_less(h->items[child].key, item.key))
            break;
        set(h, at, h->items[child]);
        at = child;
    }
    set(h, at, item);
}

static bool grow(index_heap *h)
{
    const int room = h->room > 0 ? 2 * h->room : FIRST_ROOM;
    heap_item *items = ridge_new(h->arena, heap_item, (size_t)room);
    if (items == NULL)
        return false;
    if (h->n > 0)
        memcpy(items, h->items, (size_t)h->n * sizeof *items);
    h->items = items;
    h->room = room;
    return true;
}

bool ridge__heap_push(index_heap *heap, heap_key key, int32_t index)
{
    if (heap->n == heap->room && !grow(heap))
        return false;
    sift_up(heap, heap->n++, (heap_item){key, index});
    return true;
}

void ridge__heap_remove(index_heap *heap, int place)
{
    const heap_item last = heap->items[--heap->n];
    if (place == heap->n)
        return;
    if (place > 0 && ridge__key_is_less(last.key, heap->items[(place - 1) / 2].key))
        sift_up(heap, place, last);
    else
        sift_down(heap, place, last);
}

void ridge__heap_move(index_heap *heap, int place, heap_key key)
{
    heap_item item = heap->items[place];
    const bool is_up = ridge__key_is_less(key, item.key);
    item.key = key;
    if (is_up)
        sift_up(heap, place, item);
    else
        sift_down(heap, place, item);
}

int ridge__heap_place(const index_heap *heap, int32_t index)
{
    if (heap->place != NULL) {
        const int at = *place_of(heap, index);
        return at >= 0 && at < heap->n && heap->items[at].index == index ? at : -1;
    }
    for (int i = 0; i < heap->n; i++) {
        if (heap->items[i].index == index)
            return i;
    }
    return -1;
}
