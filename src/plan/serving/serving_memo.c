/*
 * Prices in two levels: a shelf for what they are of, and in it a small table by where
 * they are. What is asked for in a row is of a few shelves, which stay near.
 */
#include "serving_memo.h"

#include <string.h>

enum { SHELVES_LEAST = 64, SHELF_LEAST = 8 };

typedef struct serving_entry {
    double at[2];
    serving_price price;
    bool is_used;
} serving_entry;

struct serving_shelf {
    int64_t of[SERVING_KEY_WORDS];
    size_t n, cap; /* cap 0: this shelf is not used */
    serving_entry *entries;
};

static uint64_t mix(uint64_t h, uint64_t word)
{
    h ^= word;
    h *= 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t word_of(double x)
{
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    return word;
}

/* ---- entries --------------------------------------------------------------------- */

static serving_entry *entry_of(const serving_shelf *shelf, const double at[2])
{
    const uint64_t h = mix(mix(1, word_of(at[0])), word_of(at[1]));
    size_t slot = (size_t)h & (shelf->cap - 1);
    while (shelf->entries[slot].is_used &&
           memcmp(shelf->entries[slot].at, at, sizeof shelf->entries[slot].at) != 0)
        slot = (slot + 1) & (shelf->cap - 1);
    return &shelf->entries[slot];
}

static bool shelf_grow(ridge_arena *arena, serving_shelf *shelf)
{
    serving_shelf more = *shelf;
    more.cap = 2 * shelf->cap;
    more.entries = ridge_new(arena, serving_entry, more.cap);
    if (more.entries == NULL)
        return false;
    for (size_t i = 0; i < shelf->cap; i++) {
        if (shelf->entries[i].is_used)
            *entry_of(&more, shelf->entries[i].at) = shelf->entries[i];
    }
    *shelf = more;
    return true;
}

/* ---- shelves --------------------------------------------------------------------- */

static serving_shelf *shelf_of(const serving_memo *memo,
                               const int64_t of[SERVING_KEY_WORDS])
{
    uint64_t h = 1;
    for (int i = 0; i < SERVING_KEY_WORDS; i++)
        h = mix(h, (uint64_t)of[i]);
    size_t slot = (size_t)h & (memo->cap - 1);
    while (memo->shelves[slot].cap > 0 &&
           memcmp(memo->shelves[slot].of, of, sizeof memo->shelves[slot].of) != 0)
        slot = (slot + 1) & (memo->cap - 1);
    return &memo->shelves[slot];
}

static bool memo_grow(ridge_arena *arena, serving_memo *memo)
{
    const size_t cap = memo->cap == 0 ? (size_t)SHELVES_LEAST : 4 * memo->cap;
    serving_memo more = {
        .cap = cap, .n = memo->n, .shelves = ridge_new(arena, serving_shelf, cap)};
    if (more.shelves == NULL)
        return false;
    for (size_t i = 0; i < memo->cap; i++) {
        if (memo->shelves[i].cap > 0)
            *shelf_of(&more, memo->shelves[i].of) = memo->shelves[i];
    }
    *memo = more;
    return true;
}

/* @return NULL: no memory */
static serving_shelf *shelf_open(ridge_arena *arena, serving_memo *memo,
                                 const int64_t of[SERVING_KEY_WORDS])
{
    if (4 * memo->n >= 3 * memo->cap && !memo_grow(arena, memo))
        return NULL;
    serving_shelf *shelf = shelf_of(memo, of);
    if (shelf->cap > 0)
        return shelf;
    serving_entry *entries = ridge_new(arena, serving_entry, SHELF_LEAST);
    if (entries == NULL)
        return NULL;
    *shelf = (serving_shelf){.cap = SHELF_LEAST, .entries = entries};
    memcpy(shelf->of, of, sizeof shelf->of);
    memo->n++;
    return shelf;
}

/* ---- prices ---------------------------------------------------------------------- */

const serving_price *serving_memo_find(const serving_memo *memo, const serving_key *key)
{
    if (memo->cap == 0)
        return NULL;
    const serving_shelf *shelf = shelf_of(memo, key->of);
    if (shelf->cap == 0)
        return NULL;
    const serving_entry *e = entry_of(shelf, key->at);
    return e->is_used ? &e->price : NULL;
}

void serving_memo_put(ridge_arena *arena, serving_memo *memo, const serving_key *key,
                      const serving_price *price)
{
    serving_shelf *shelf = shelf_open(arena, memo, key->of);
    if (shelf == NULL || (4 * shelf->n >= 3 * shelf->cap && !shelf_grow(arena, shelf)))
        return;
    serving_entry *e = entry_of(shelf, key->at);
    shelf->n += e->is_used ? 0 : 1;
    *e = (serving_entry){{key->at[0], key->at[1]}, *price, true};
}
