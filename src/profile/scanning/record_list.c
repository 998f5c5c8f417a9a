/* Lists in pieces, sorted where they lie. */
#include "record_list.h"

#include <string.h>

void record_list_init(record_list *list, ridge_arena *arena, size_t bytes)
{
    *list = (record_list){.arena = arena, .bytes = bytes};
}

static bool piece_add(record_list *list)
{
    if (list->n_pieces == list->room) {
        const size_t room = list->room == 0 ? 8 : 2 * list->room;
        char **pieces = ridge_new(list->arena, char *, room);
        if (pieces == NULL)
            return false;
        if (list->n_pieces > 0)
            memcpy(pieces, list->pieces, list->n_pieces * sizeof *pieces);
        list->pieces = pieces;
        list->room = room;
    }
    char *piece = ridge_arena_new(list->arena, 1u << RECORD_PIECE_BITS, list->bytes);
    if (piece == NULL)
        return false;
    list->pieces[list->n_pieces++] = piece;
    return true;
}

void *record_list_add(record_list *list)
{
    if (list->n >> RECORD_PIECE_BITS == list->n_pieces && !piece_add(list))
        return NULL;
    return record_list_at(list, list->n++);
}

/* ---- sorting --------------------------------------------------------------------- */

typedef struct sorting {
    record_list *list;
    record_compare *compare;
} sorting;

static void swap(const sorting *s, size_t i, size_t j)
{
    char kept[RECORD_BYTES_MOST];
    void *a = record_list_at(s->list, i);
    void *b = record_list_at(s->list, j);
    memcpy(kept, a, s->list->bytes);
    memcpy(a, b, s->list->bytes);
    memcpy(b, kept, s->list->bytes);
}

static bool is_less(const sorting *s, size_t i, size_t j)
{
    return s->compare(record_list_at(s->list, i), record_list_at(s->list, j)) < 0;
}

/* Records first .. first + n - 1 as a heap: the one at i sinks to its place. */
static void sink(const sorting *s, size_t first, size_t n, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n)
            return;
        if (child + 1 < n && is_less(s, first + child, first + child + 1))
            child++;
        if (!is_less(s, first + i, first + child))
            return;
        swap(s, first + i, first + child);
        i = child;
    }
}

static void heap_sort(const sorting *s, size_t first, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sink(s, first, n, i);
    for (size_t left = n; left > 1; left--) {
        swap(s, first, first + left - 1);
        sink(s, first, left - 1, 0);
    }
}

static void insertion_sort(const sorting *s, size_t first, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        for (size_t j = i; j > 0 && is_less(s, first + j, first + j - 1); j--)
            swap(s, first + j, first + j - 1);
    }
}

/* Move the middle of three to the front. */
static void pivot_choose(const sorting *s, size_t first, size_t n)
{
    const size_t middle = first + n / 2;
    const size_t last = first + n - 1;
    if (is_less(s, middle, first))
        swap(s, middle, first);
    if (is_less(s, last, middle))
        swap(s, last, middle);
    if (is_less(s, middle, first))
        swap(s, middle, first);
    swap(s, middle, first);
}

/* @return where the pivot came to lie: what is before is less, what is behind is not */
static size_t part(const sorting *s, size_t first, size_t n)
{
    char pivot[RECORD_BYTES_MOST];
    size_t i = first;
    size_t j = first + n;
    pivot_choose(s, first, n);
    memcpy(pivot, record_list_at(s->list, first), s->list->bytes);
    for (;;) {
        do
            i++;
        while (i < first + n && s->compare(record_list_at(s->list, i), pivot) < 0);
        do
            j--;
        while (j > first && s->compare(record_list_at(s->list, j), pivot) > 0);
        if (i >= j)
            break;
        swap(s, i, j);
    }
    swap(s, first, j);
    return j;
}

/* Recursion only into the smaller half: its depth is below the logarithm of n. Spans
 * that were cut too unevenly too often are left to the heap. */
static void quick_sort(const sorting *s, size_t first, size_t n, int cuts)
{
    enum { SMALL = 12 };
    while (n > SMALL) {
        if (cuts-- == 0) {
            heap_sort(s, first, n);
            return;
        }
        const size_t at = part(s, first, n);
        const size_t before = at - first;
        const size_t behind = n - before - 1;
        if (before < behind) {
            quick_sort(s, first, before, cuts);
            first = at + 1;
            n = behind;
        } else {
            quick_sort(s, at + 1, behind, cuts);
            n = before;
        }
    }
    insertion_sort(s, first, n);
}

void record_list_sort(record_list *list, record_compare *compare)
{
    const sorting s = {list, compare};
    int cuts = 8;
    size_t i = 1;
    while (i < list->n && !is_less(&s, i, i - 1))
        i++;
    if (i >= list->n)
        return;
    for (size_t n = list->n; n > 0; n /= 2)
        cuts += 2;
    quick_sort(&s, 0, list->n, cuts);
}
