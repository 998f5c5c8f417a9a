/*
 * A table by what layers' times depend on: the model and its documents, the chip but
 * for how much its memory holds, the software, the precision's part in compute, the
 * sequence and the shape. Models and software are told apart by where they lie in
 * memory, and chips are read there, so they outlive the shelf. It may lose an entry for
 * want of memory: what is not found is worked out.
 */
#include "layer_shelf.h"

#include <string.h>

typedef struct shelf_key {
    const ridge_model *model; /* as the request names it */
    const ridge_chip *chip;
    const ridge_stack *stack;
    double document_tokens, seq_tokens;
    double weight_bytes;
    ridge_dtype compute;
    ridge_scales scales;
    bool is_frozen;
    ridge_lora lora; /* of frozen weights */
    layer_shape shape;
} shelf_key;

typedef struct shelf_entry {
    shelf_key key;
    const layer_time *times; /* NULL: free */
} shelf_entry;

struct ridge_layer_shelf {
    ridge_ctx *cx; /* its own: threads put entries there */
    ridge_lock *lock;
    size_t n, slots; /* a power of two */
    shelf_entry *entries;
};

enum { SHELF_SLOTS = 1024, SHELF_BUDGET_BYTES = 1 << 30 };

static void close_shelf(void *payload)
{
    ridge_layer_shelf *shelf = payload;
    ridge_ctx_close(shelf->cx);
}

ridge_status ridge_layer_shelf_open(ridge_ctx *cx, ridge_layer_shelf **out)
{
    ridge_layer_shelf *shelf = ridge_new(ridge_ctx_arena(cx), ridge_layer_shelf, 1);
    if (shelf == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_lock_open(cx, &shelf->lock));
    shelf->cx = ridge_ctx_open_budget(SHELF_BUDGET_BYTES);
    if (shelf->cx == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_ctx_defer(cx, close_shelf, shelf));
    *out = shelf;
    return RIDGE_OK;
}

static shelf_key key_of(const train_case *tc, const layer_shape *shape)
{
    return (shelf_key){.model = tc->request->model,
                       .chip = tc->chip,
                       .stack = tc->stack,
                       .document_tokens = tc->request->documents.tokens,
                       .seq_tokens = tc->seq_tokens,
                       .weight_bytes = tc->policy->weight_bytes,
                       .compute = tc->policy->compute,
                       .is_frozen = tc->policy->is_frozen,
                       .lora = tc->lora,
                       .scales = tc->policy->scales,
                       .shape = *shape};
}

static bool is_same_chip(const ridge_chip *a, const ridge_chip *b)
{
    ridge_chip filled = *a;
    if (a == b)
        return true;
    filled.hbm_bytes = b->hbm_bytes;
    filled.visible_bytes = b->visible_bytes;
    return memcmp(&filled, b, sizeof filled) == 0;
}

static bool is_same(const shelf_key *a, const shelf_key *b)
{
    return a->model == b->model && is_same_chip(a->chip, b->chip) &&
           a->stack == b->stack && a->document_tokens == b->document_tokens &&
           a->seq_tokens == b->seq_tokens && a->weight_bytes == b->weight_bytes &&
           a->compute == b->compute && a->scales == b->scales &&
           a->is_frozen == b->is_frozen && a->lora.rank == b->lora.rank &&
           a->lora.targets == b->lora.targets &&
           layer_shape_is_same(&a->shape, &b->shape);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    const uint64_t x = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static uint64_t hash_of(const shelf_key *k)
{
    uint64_t hash =
        mix((uint64_t)(uintptr_t)k->chip->name, (uint64_t)(uintptr_t)k->model);
    hash = mix(hash, (uint64_t)k->shape.tp << 32 | (uint64_t)k->shape.cp);
    hash = mix(hash, (uint64_t)k->shape.ep << 32 | (uint64_t)k->shape.microbatch_seqs);
    return mix(hash, (uint64_t)k->shape.has_sp << 1 | (uint64_t)k->shape.is_all_to_all);
}

/* The slot of a key, or the free one where it goes. There always is a free one. */
static shelf_entry *slot_of(shelf_entry *entries, size_t slots, const shelf_key *key)
{
    size_t i = (size_t)hash_of(key) & (slots - 1);
    while (entries[i].times != NULL && !is_same(&entries[i].key, key))
        i = (i + 1) & (slots - 1);
    return &entries[i];
}

/* Twice the slots once half of them are full. @return whether there is room */
static bool grow(ridge_layer_shelf *s)
{
    if (s->slots > 0 && 2 * (s->n + 1) <= s->slots)
        return true;
    const size_t slots = s->slots == 0 ? SHELF_SLOTS : 2 * s->slots;
    shelf_entry *grown = ridge_new(ridge_ctx_arena(s->cx), shelf_entry, slots);
    if (grown == NULL)
        return false;
    for (size_t i = 0; i < s->slots; i++) {
        const shelf_entry *e = &s->entries[i];
        if (e->times != NULL)
            *slot_of(grown, slots, &e->key) = *e;
    }
    s->entries = grown;
    s->slots = slots;
    return true;
}

/* Sets of named operations are their layouts' own: such times are not shared. */
static ridge_layer_shelf *shelf_of(const train_case *tc)
{
    return tc->n_named == 0 ? tc->request->shelf : NULL;
}

const layer_time *layer_shelf_find(const train_case *tc, const layer_shape *shape)
{
    ridge_layer_shelf *s = shelf_of(tc);
    if (s == NULL)
        return NULL;
    const shelf_key key = key_of(tc, shape);
    ridge_lock_take(s->lock);
    const layer_time *times =
        s->slots == 0 ? NULL : slot_of(s->entries, s->slots, &key)->times;
    ridge_lock_give(s->lock);
    return times;
}

static void keep(ridge_layer_shelf *s, const shelf_key *key, const layer_time *times,
                 size_t n)
{
    if (!grow(s))
        return;
    shelf_entry *slot = slot_of(s->entries, s->slots, key);
    layer_time *kept =
        slot->times == NULL ? ridge_new(ridge_ctx_arena(s->cx), layer_time, n) : NULL;
    if (kept == NULL)
        return;
    memcpy(kept, times, n * sizeof *kept);
    *slot = (shelf_entry){*key, kept};
    s->n++;
}

void layer_shelf_keep(const train_case *tc, const layer_shape *shape,
                      const layer_time *times)
{
    ridge_layer_shelf *s = shelf_of(tc);
    if (s == NULL)
        return;
    const shelf_key key = key_of(tc, shape);
    ridge_lock_take(s->lock);
    keep(s, &key, times, (size_t)tc->n_kinds + 1);
    ridge_lock_give(s->lock);
}
