/* What layers exchange on a network, each worked out once: tp, cp and ep mostly lie
 * alike, however replicas and shards divide what lies outside. */
#ifndef RIDGE_PLAN_EXCHANGE_MEMO_H
#define RIDGE_PLAN_EXCHANGE_MEMO_H

#include "network_time.h"

typedef struct exchange_memo exchange_memo;

/** @return NULL when memory ran out. @owner arena */
exchange_memo *exchange_memo_open(ridge_arena *arena);

/** Forget all: what it held is about to be given back. */
void exchange_memo_forget(exchange_memo *memo);

/**
 * Exchanges of every kind of layer and the head.
 * @param layers  [kinds + 1] told apart by where they lie
 * @param arena   where what is new stays, until the memo forgets
 * @return [kinds + 1]; NULL: the memo is full, or memory ran out
 */
const layer_exchange *exchange_memo_find(exchange_memo *memo, ridge_arena *arena,
                                         const train_case *tc, const train_groups *g,
                                         const layer_time *layers);

/** The same beside any memo. @return NULL when memory ran out */
layer_exchange *exchange_memo_make(ridge_arena *arena, const train_case *tc,
                                   const train_groups *g, const layer_time *layers);

#endif
