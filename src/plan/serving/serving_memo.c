/* A hash table of prices. */
#include "serving_memo.h"

#include <string.h>

enum { MEMO_LEAST = 1024 };

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

static size_t slot_of(const serving_memo *memo, const serving_key *key)
{
    uint64_t h = 1;
    for (int i = 0; i < SERVING_KEY_WORDS; i++)
        h = mix(h, (uint64_t)key->of[i]);
    h = mix(mix(h, word_of(key->at[0])), word_of(key->at[1]));
    size_t slot = (size_t)h & (memo->cap - 1);
    while (memo->is_used[slot] && memcmp(&memo->keys[slot], key, sizeof *key) != 0)
        slot = (slot + 1) & (memo->cap - 1);
    return slot;
}

const serving_price *serving_memo_find(const serving_memo *memo, const serving_key *key)
{
    if (memo->cap == 0)
        return NULL;
    const size_t slot = slot_of(memo, key);
    return memo->is_used[slot] ? &memo->prices[slot] : NULL;
}

static bool grow(ridge_arena *arena, serving_memo *memo)
{
    const size_t cap = memo->cap == 0 ? (size_t)MEMO_LEAST : 2 * memo->cap;
    serving_memo more = {.cap = cap,
                         .n = memo->n,
                         .keys = ridge_new(arena, serving_key, cap),
                         .prices = ridge_new(arena, serving_price, cap),
                         .is_used = ridge_new(arena, bool, cap)};
    if (more.keys == NULL || more.prices == NULL || more.is_used == NULL)
        return false;
    for (size_t i = 0; i < memo->cap; i++) {
        if (!memo->is_used[i])
            continue;
        const size_t slot = slot_of(&more, &memo->keys[i]);
        more.keys[slot] = memo->keys[i];
        more.prices[slot] = memo->prices[i];
        more.is_used[slot] = true;
    }
    *memo = more;
    return true;
}

void serving_memo_put(ridge_arena *arena, serving_memo *memo, const serving_key *key,
                      const serving_price *price)
{
    if (2 * memo->n >= memo->cap && !grow(arena, memo))
        return;
    const size_t slot = slot_of(memo, key);
    memo->n += memo->is_used[slot] ? 0 : 1;
    memo->keys[slot] = *key;
    memo->prices[slot] = *price;
    memo->is_used[slot] = true;
}
