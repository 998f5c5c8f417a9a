/* Token ids by what they spell: open addressing, linear probing. */
#include "token_table.h"

#include <string.h>

uint64_t ridge__bytes_hash(ridge_str text)
{
    static const uint64_t ODD = 0x9E3779B97F4A7C15u;
    uint64_t h = text.n * ODD;
    size_t at = 0;
    for (; at + 8 <= text.n; at += 8) {
        uint64_t word;
        memcpy(&word, text.p + at, 8);
        h = (h ^ word) * ODD;
        h ^= h >> 32;
    }
    uint64_t tail = 0;
    if (at < text.n)
        memcpy(&tail, text.p + at, text.n - at);
    h = (h ^ tail) * ODD;
    return h ^ h >> 29;
}

ridge_status ridge__token_table_open(ridge_ctx *cx, size_t n, ridge__token_table *out)
{
    size_t slots = 16;
    while (slots < 2 * n)
        slots *= 2;
    out->slots = ridge_new(ridge_ctx_arena(cx), ridge__token_slot, slots);
    out->mask = slots - 1;
    return out->slots == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
}

/* Where a text is, or the empty slot where it belongs. */
static ridge__token_slot *slot_of(const ridge__token_table *table, ridge_str text)
{
    size_t at = ridge__bytes_hash(text) & table->mask;
    while (table->slots[at].text.p != NULL &&
           !ridge_str_equal(table->slots[at].text, text))
        at = (at + 1) & table->mask;
    return &table->slots[at];
}

int32_t ridge__token_table_add(ridge__token_table *table, ridge_str text, int32_t id)
{
    ridge__token_slot *slot = slot_of(table, text);
    if (slot->text.p == NULL)
        *slot = (ridge__token_slot){text, id};
    return slot->id;
}

int32_t ridge__token_table_find(const ridge__token_table *table, ridge_str text)
{
    if (table->slots == NULL)
        return -1;
    const ridge__token_slot *slot = slot_of(table, text);
    return slot->text.p == NULL ? -1 : slot->id;
}
