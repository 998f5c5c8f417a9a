/* A hash table of prices. */
#include "serving_memo.h"

#include <string.h>

enum { MEMO_LEAST = 1024 };

struct serving_entry {
    serving_key key;
    serving_price price;
    bool is_used;
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

static struct serving_entry *slot_of(const serving_memo *memo, const serving_key *key)
{
    uint64_t h = 1;
    for (int i = 0; i < SERVING_KEY_WORDS; i++)
        h = mix(h, (uint64_t)key->of[i]);
    h = mix(mix(h, word_of(key->at[0])), word_of(key->at[1]));
    size_t slot = (size_t)h & (memo->cap - 1);
    while (memo->entries[slot].is_used &&
           memcmp(&memo->entries[slot].key, key, sizeof *key) != 0)
        slot = (slot + 1) & (memo->cap - 1);
    return &memo->entries[slot];
}

const serving_price *serving_memo_find(const serving_memo *memo, const serving_key *key)
{
    if (memo->cap == 0)
        return NULL;
    const struct serving_entry *e = slot_of(memo, key);
    return e->is_used ? &e->price : NULL;
}

static bool grow(ridge_arena *arena, serving_memo *memo)
{
    const size_t cap = memo->cap == 0 ? (size_t)MEMO_LEAST : 4 * memo->cap;
    serving_memo more = {.cap = cap,
                         .n = memo->n,
                         .entries = ridge_new(arena, struct serving_entry, cap)};
    if (more.entries == NULL)
        return false;
    for (size_t i = 0; i < memo->cap; i++) {
        if (memo->entries[i].is_used)
            *slot_of(&more, &memo->entries[i].key) = memo->entries[i];
    }
    *memo = more;
    return true;
}

void serving_memo_put(ridge_arena *arena, serving_memo *memo, const serving_key *key,
                      const serving_price *price)
{
    if (4 * memo->n >= 3 * memo->cap && !grow(arena, memo))
        return;
    struct serving_entry *e = slot_of(memo, key);
    memo->n += e->is_used ? 0 : 1;
    *e = (struct serving_entry){*key, *price, true};
}
