/* Short pieces of text (words) and the ids they became: most words come again. */
#ifndef RIDGE_PIECE_CACHE_H
#define RIDGE_PIECE_CACHE_H

#include "ridge/base.h"

enum { RIDGE__PIECE_BYTES = 24, RIDGE__PIECE_IDS = 9, RIDGE__PIECE_SLOTS = 1 << 14 };

typedef struct ridge__piece_slot {
    char text[RIDGE__PIECE_BYTES];
    uint16_t n_bytes; /* 0: empty */
    uint16_t n_ids;
    int32_t ids[RIDGE__PIECE_IDS];
} ridge__piece_slot;

/** A slot a hash: a new piece takes the place of another. Zero at first. */
typedef struct ridge__piece_cache {
    ridge__piece_slot *slots; /* [RIDGE__PIECE_SLOTS]; NULL: nothing is kept */
} ridge__piece_cache;

/** Where a piece is or would be; NULL for one that is too long to be kept. */
ridge__piece_slot *ridge__piece_cache_slot(const ridge__piece_cache *cache,
                                           ridge_str piece);
/** Whether the slot holds this piece. */
bool ridge__piece_slot_holds(const ridge__piece_slot *slot, ridge_str piece);
/** Keep what a piece became, if that is short. @param slot  of the piece */
void ridge__piece_slot_keep(ridge__piece_slot *slot, ridge_str piece,
                            const int32_t *ids, size_t n);

#endif
