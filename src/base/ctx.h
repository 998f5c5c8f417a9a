/* What other files of base keep in a ctx besides its arenas. */
#ifndef RIDGE_BASE_CTX_H
#define RIDGE_BASE_CTX_H

#include "ridge/base.h"

/**
 * Count memory that a library of others takes against the budget, until the ctx closes
 * or ridge__ctx_refund.
 * @return false when it does not fit; nothing is then counted
 */
bool ridge__ctx_charge(ridge_ctx *cx, size_t bytes);
void ridge__ctx_refund(ridge_ctx *cx, size_t bytes);

/** Remember that a JSON value could not be made; ridge_ctx_clear forgets it. */
void ridge__ctx_lose_json(ridge_ctx *cx);
bool ridge__ctx_has_lost_json(const ridge_ctx *cx);

#endif
