/* Prices by what they depend on. */
#ifndef RIDGE_PLAN_SERVING_MEMO_H
#define RIDGE_PLAN_SERVING_MEMO_H

#include "ridge/base.h"

enum { SERVING_KEY_WORDS = 6, SERVING_VALUES = 4 };

/** Kinds of prices begin at these numbers, a hundred for each file. */
enum {
    SERVING_KEY_ROWS = 100,
    SERVING_KEY_EXPERTS = 200,
    SERVING_KEY_FAULT = 300,
    SERVING_KEY_SCORES = 400,
    SERVING_KEY_CURVES = 500
};

/** What a price is of: a kind, and numbers; and where. Prices of the same words lie
 * together. */
typedef struct serving_key {
    int64_t of[SERVING_KEY_WORDS];
    double at[2];
} serving_key;

typedef struct serving_price {
    double of[SERVING_VALUES];
} serving_price;

typedef struct serving_shelf serving_shelf;

/** Open addressing; grows in the arena. */
typedef struct serving_memo {
    size_t n, cap;
    serving_shelf *shelves;
} serving_memo;

/** @return the price, or NULL */
const serving_price *serving_memo_find(const serving_memo *memo,
                                       const serving_key *key);
/** Forgets the price when memory runs out: it is made again. */
void serving_memo_put(ridge_arena *arena, serving_memo *memo, const serving_key *key,
                      const serving_price *price);

#endif
