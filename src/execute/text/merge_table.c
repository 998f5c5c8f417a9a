/* Merges by their pair of ids: open addressing, linear probing. */
#include "merge_table.h"

static const uint64_t EMPTY = UINT64_MAX;

static uint64_t pair_of(int32_t left, int32_t right)
{
    return (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
}

static uint64_t hash_of(uint64_t pair)
{
    const uint64_t h = pair * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

ridge_status ridge__merge_table_open(ridge_ctx *cx, size_t n, ridge__merge_table *out)
{
    size_t slots = 16;
    while (slots < 2 * n)
        slots *= 2;
    out->slots = ridge_new(ridge_ctx_arena(cx), ridge__merge_slot, slots);
    out->mask = slots - 1;
    if (out->slots == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < slots; i++)
        out->slots[i].pair = EMPTY;
    return RIDGE_OK;
}

/* Where a pair is, or the empty slot where it belongs. */
static ridge__merge_slot *slot_of(const ridge__merge_table *table, uint64_t pair)
{
    uint64_t at = hash_of(pair) & table->mask;
    while (table->slots[at].pair != pair && table->slots[at].pair != EMPTY)
        at = (at + 1) & table->mask;
    return &table->slots[at];
}

void ridge__merge_table_add(ridge__merge_table *table, int32_t left, int32_t right,
                            ridge__merge merge)
{
    const uint64_t pair = pair_of(left, right);
    *slot_of(table, pair) = (ridge__merge_slot){pair, merge};
}

ridge__merge ridge__merge_table_find(const ridge__merge_table *table, int32_t left,
                                     int32_t right)
{
    const ridge__merge_slot *slot = slot_of(table, pair_of(left, right));
    return slot->pair == EMPTY ? (ridge__merge){-1, -1} : slot->merge;
}
