/* Prices of products by their shape and formats. */
#ifndef RIDGE_COST_PRODUCT_MEMO_H
#define RIDGE_COST_PRODUCT_MEMO_H

#include "ridge/cost_program.h"

/** @param slots  a power of two. @return NULL when memory ran out */
ridge_product_memo *ridge__product_memo_make(ridge_arena *arena, size_t slots);

/** @param memo  or NULL. @return whether it is there */
bool ridge__product_memo_find(const ridge_product_memo *memo,
                              const ridge_matmul *product, ridge_op_cost *out);

/** Keep a price; what stood in its place is forgotten. @param memo  or NULL */
void ridge__product_memo_put(ridge_product_memo *memo, const ridge_matmul *product,
                             const ridge_op_cost *cost);

#endif
