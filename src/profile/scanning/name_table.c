/* An open table of hashes over texts that are copied once. */
#include "name_table.h"

#include <string.h>

/* Eight bytes at a time: names of kernels have hundreds. */
static uint32_t hash_of(ridge_str s)
{
    const uint64_t factor = 0x9e3779b97f4a7c15u;
    uint64_t h = s.n * factor;
    const char *p = s.p;
    size_t left = s.n;
    for (; left >= 8; left -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = (h ^ word) * factor;
        h ^= h >> 29;
    }
    uint64_t tail = 0;
    if (left > 0)
        memcpy(&tail, p, left);
    h = (h ^ tail) * factor;
    return (uint32_t)(h ^ (h >> 32));
}

static bool grow(name_table *t, uint32_t room)
{
    const uint32_t slots = 2 * room;
    ridge_str *names = ridge_new(t->arena, ridge_str, room);
    uint32_t *hashes = ridge_new(t->arena, uint32_t, room);
    uint32_t *places = ridge_new(t->arena, uint32_t, slots);
    if (names == NULL || hashes == NULL || places == NULL)
        return false;
    for (uint32_t i = 0; i < t->n; i++) {
        names[i] = t->names[i];
        hashes[i] = t->hashes[i];
        uint32_t at = hashes[i] & (slots - 1);
        while (places[at] != 0)
            at = (at + 1) & (slots - 1);
        places[at] = i + 1;
    }
    t->names = names;
    t->hashes = hashes;
    t->slots = places;
    t->mask = slots - 1;
    t->room = room;
    return true;
}

bool name_table_init(name_table *t, ridge_arena *arena, uint32_t most)
{
    enum { FIRST_ROOM = 64 };
    *t = (name_table){.arena = arena, .most = most < 2 ? 2 : most};
    return grow(t, FIRST_ROOM) && name_table_put(t, ridge_str_of("")) == 0 &&
           name_table_put(t, ridge_str_of("(further names)")) == 1;
}

/* @return the slot of the name, or the free one where it belongs */
static uint32_t slot_of(const name_table *t, ridge_str name, uint32_t hash)
{
    uint32_t at = hash & t->mask;
    while (t->slots[at] != 0) {
        const uint32_t number = t->slots[at] - 1;
        if (t->hashes[number] == hash && ridge_str_equal(t->names[number], name))
            break;
        at = (at + 1) & t->mask;
    }
    return at;
}

uint32_t name_table_find(const name_table *t, ridge_str name)
{
    const uint32_t slot = t->slots[slot_of(t, name, hash_of(name))];
    return slot == 0 ? NAME_NONE : slot - 1;
}

uint32_t name_table_put(name_table *t, ridge_str name)
{
    const uint32_t hash = hash_of(name);
    const uint32_t at = slot_of(t, name, hash);
    if (t->slots[at] != 0)
        return t->slots[at] - 1;
    if (t->n >= t->most)
        return 1;
    if (t->n == t->room) {
        if (!grow(t, 2 * t->room))
            return NAME_NONE;
        return name_table_put(t, name);
    }
    const char *copy = ridge_str_dup(t->arena, name);
    if (copy == NULL)
        return NAME_NONE;
    t->names[t->n] = (ridge_str){copy, name.n};
    t->hashes[t->n] = hash;
    t->slots[at] = t->n + 1;
    return t->n++;
}

ridge_str name_table_get(const name_table *t, uint32_t number)
{
    return number < t->n ? t->names[number] : (ridge_str){"", 0};
}
