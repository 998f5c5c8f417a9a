#include "hlo_names.h"

struct hlo_name {
    ridge_str name; /* p NULL: free */
    int scope, value;
};

enum { FIRST_ROOM = 256 };

/* FNV-1a */
static size_t hash(int scope, ridge_str s)
{
    uint64_t h =
        14695981039346656037u ^ (uint64_t)(unsigned)scope * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 1099511628211u;
    return (size_t)(h ^ h >> 32);
}

static struct hlo_name *slot_of(const hlo_names *names, int scope, ridge_str name)
{
    size_t at = hash(scope, name) & (names->room - 1);
    for (;; at = (at + 1) & (names->room - 1)) {
        struct hlo_name *slot = &names->slots[at];
        if (slot->name.p == NULL ||
            (slot->scope == scope && ridge_str_equal(slot->name, name)))
            return slot;
    }
}

int hlo_names_find(const hlo_names *names, int scope, ridge_str name)
{
    if (names->room == 0)
        return -1;
    const struct hlo_name *slot = slot_of(names, scope, name);
    return slot->name.p ? slot->value : -1;
}

static bool grow(ridge_arena *arena, hlo_names *names)
{
    hlo_names grown = {.room = names->room ? 2 * names->room : FIRST_ROOM};
    grown.slots = ridge_new(arena, struct hlo_name, grown.room);
    if (grown.slots == NULL)
        return false;
    for (size_t i = 0; i < names->room; i++) {
        const struct hlo_name *old = &names->slots[i];
        if (old->name.p)
            *slot_of(&grown, old->scope, old->name) = *old;
    }
    grown.n = names->n;
    *names = grown;
    return true;
}

bool hlo_names_put(ridge_arena *arena, hlo_names *names, int scope, ridge_str name,
                   int value)
{
    if (2 * (names->n + 1) > names->room && !grow(arena, names))
        return false;
    struct hlo_name *slot = slot_of(names, scope, name);
    names->n += slot->name.p == NULL;
    *slot = (struct hlo_name){name, scope, value};
    return true;
}
