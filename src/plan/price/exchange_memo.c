#include "exchange_memo.h"

#include "train_terms.h"

#include <string.h>

enum {
    SLOTS = 512,      /* at first; a power of two */
    ENTRIES = 1 << 15 /* most that are kept */
};

/* What an entry holds: the exchanges of one class, or those of all together. */
typedef enum entry_kind { ENTRY_ALL = EXCHANGE_CLASSES } entry_kind;

typedef struct memo_key {
    const layer_time *layers;
    int kind; /* a class, or ENTRY_ALL */
    ridge_ep_dispatch dispatch;
    const ridge_group *groups[EXCHANGE_CLASSES]; /* of the class, or all; else NULL */
    uint64_t hash;
} memo_key;

typedef struct kept_exchange {
    const layer_time *layers;
    int kind;
    ridge_ep_dispatch dispatch;
    ridge_group groups[EXCHANGE_CLASSES];
    layer_exchange *exchanges; /* [kinds + 1] */
} kept_exchange;

typedef struct memo_slot {
    uint64_t hash;
    kept_exchange *entry; /* NULL: free */
} memo_slot;

struct exchange_memo {
    size_t n, most; /* of: */
    memo_slot *slots;
    memo_slot first[SLOTS];
};

exchange_memo *exchange_memo_open(ridge_arena *arena)
{
    exchange_memo *m = ridge_new(arena, exchange_memo, 1);
    if (m != NULL)
        exchange_memo_forget(m);
    return m;
}

void exchange_memo_forget(exchange_memo *m)
{
    m->n = 0;
    m->most = SLOTS;
    m->slots = m->first;
    for (size_t i = 0; i < SLOTS; i++)
        m->first[i].entry = NULL;
}

/* ---- keys ------------------------------------------------------------------------ */

static bool is_same(const kept_exchange *e, const memo_key *key)
{
    if (e->layers != key->layers || e->kind != key->kind ||
        e->dispatch != key->dispatch)
        return false;
    for (int i = 0; i < EXCHANGE_CLASSES; i++) {
        if (key->groups[i] != NULL &&
            !ridge_group_is_same(&e->groups[i], key->groups[i]))
            return false;
    }
    return true;
}

static memo_key key_of(const train_groups *g, const layer_time *layers, int kind)
{
    const ridge_group *groups[EXCHANGE_CLASSES] = {
        [EXCHANGE_TP] = &g->tp, [EXCHANGE_CP] = &g->cp, [EXCHANGE_EP] = &g->ep};
    const bool has_experts = kind == ENTRY_ALL || kind == EXCHANGE_EP;
    memo_key key = {.layers = layers, .kind = kind};
    if (has_experts)
        key.dispatch = g->dispatch;
    key.hash = train_hash_mix((uint64_t)kind, (uint64_t)(uintptr_t)layers);
    for (int i = 0; i < EXCHANGE_CLASSES; i++) {
        if (kind != ENTRY_ALL && kind != i)
            continue;
        key.groups[i] = groups[i];
        key.hash = train_hash_group(key.hash, groups[i]);
    }
    return key;
}

/* ---- slots ----------------------------------------------------------------------- */

/* Where it stands, or may stand: there is always a free one. */
static memo_slot *slot_of(const exchange_memo *m, const memo_key *key)
{
    size_t at = (size_t)key->hash & (m->most - 1);
    while (m->slots[at].entry != NULL &&
           !(m->slots[at].hash == key->hash && is_same(m->slots[at].entry, key)))
        at = (at + 1) & (m->most - 1);
    return &m->slots[at];
}

/* Slots for one more, half of them free. @return false when memory ran out */
static bool grow(exchange_memo *m, ridge_arena *arena)
{
    if (2 * (m->n + 1) <= m->most)
        return true;
    const size_t most = 4 * m->most;
    memo_slot *slots = ridge_new(arena, memo_slot, most);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < m->most; i++) {
        const memo_slot *old = &m->slots[i];
        size_t at = (size_t)old->hash & (most - 1);
        while (old->entry != NULL && slots[at].entry != NULL)
            at = (at + 1) & (most - 1);
        if (old->entry != NULL)
            slots[at] = *old;
    }
    m->most = most;
    m->slots = slots;
    return true;
}

/* A new entry, whose exchanges are not yet set. @return NULL when memory ran out */
static kept_exchange *add_entry(exchange_memo *m, ridge_arena *arena,
                                const memo_key *key, size_t n)
{
    kept_exchange *e = ridge_new(arena, kept_exchange, 1);
    layer_exchange *made = ridge_new(arena, layer_exchange, n);
    if (e == NULL || made == NULL || !grow(m, arena))
        return NULL;
    *e = (kept_exchange){.layers = key->layers,
                         .kind = key->kind,
                         .dispatch = key->dispatch,
                         .exchanges = made};
    for (int i = 0; i < EXCHANGE_CLASSES; i++) {
        if (key->groups[i] != NULL)
            e->groups[i] = *key->groups[i];
    }
    *slot_of(m, key) = (memo_slot){key->hash, e};
    m->n++;
    return e;
}

/* ---- exchanges ------------------------------------------------------------------- */

layer_exchange *exchange_memo_make(ridge_arena *arena, const train_case *tc,
                                   const train_groups *g, const layer_time *layers)
{
    layer_exchange *made = ridge_new(arena, layer_exchange, (size_t)tc->n_kinds + 1);
    if (made != NULL)
        train_layer_exchanges(tc, g, layers, made);
    return made;
}

/* Those of one class are written into out. @return false when memory ran out */
static bool take_class(exchange_memo *m, ridge_arena *arena, const train_case *tc,
                       const train_groups *g, const layer_time *layers,
                       exchange_class part, layer_exchange *out)
{
    const memo_key key = key_of(g, layers, (int)part);
    const size_t n = (size_t)tc->n_kinds + 1;
    const kept_exchange *e = slot_of(m, &key)->entry;
    if (e == NULL) {
        e = add_entry(m, arena, &key, n);
        if (e == NULL)
            return false;
        for (size_t k = 0; k < n; k++)
            train_layer_exchange_of(tc, g, &layers[k], part, &e->exchanges[k]);
    }
    for (size_t k = 0; k < n; k++) {
        out[k].fwd[part] = e->exchanges[k].fwd[part];
        out[k].bwd[part] = e->exchanges[k].bwd[part];
        out[k].beside[part] = e->exchanges[k].beside[part];
    }
    return true;
}

const layer_exchange *exchange_memo_find(exchange_memo *m, ridge_arena *arena,
                                         const train_case *tc, const train_groups *g,
                                         const layer_time *layers)
{
    const memo_key key = key_of(g, layers, ENTRY_ALL);
    const kept_exchange *e = slot_of(m, &key)->entry;
    if (e != NULL)
        return e->exchanges;
    if (m->n + EXCHANGE_CLASSES >= ENTRIES)
        return NULL;
    e = add_entry(m, arena, &key, (size_t)tc->n_kinds + 1);
    for (int part = 0; e != NULL && part < EXCHANGE_CLASSES; part++) {
        if (!take_class(m, arena, tc, g, layers, (exchange_class)part, e->exchanges))
            return NULL;
    }
    return e == NULL ? NULL : e->exchanges;
}
