/* Short pieces of text and their ids, in a table without chains. */
#include "piece_cache.h"

#include "token_table.h"

#include <string.h>

ridge__piece_slot *ridge__piece_cache_slot(const ridge__piece_cache *cache,
                                           ridge_str piece)
{
    if (cache->slots == NULL || piece.n == 0 || piece.n > RIDGE__PIECE_BYTES)
        return NULL;
    return &cache->slots[ridge__bytes_hash(piece) % RIDGE__PIECE_SLOTS];
}

bool ridge__piece_slot_holds(const ridge__piece_slot *slot, ridge_str piece)
{
    return slot->n_bytes == piece.n && memcmp(slot->text, piece.p, piece.n) == 0;
}

void ridge__piece_slot_keep(ridge__piece_slot *slot, ridge_str piece,
                            const int32_t *ids, size_t n)
{
    if (n > RIDGE__PIECE_IDS)
        return;
    memcpy(slot->text, piece.p, piece.n);
    memcpy(slot->ids, ids, n * sizeof *ids);
    slot->n_bytes = (uint16_t)piece.n;
    slot->n_ids = (uint16_t)n;
}
