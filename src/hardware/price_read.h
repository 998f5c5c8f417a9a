/* Price lists of data/prices, added to the chips that they name. */
#ifndef RIDGE_PRICE_READ_H
#define RIDGE_PRICE_READ_H

#include "catalog.h"

/**
 * @param root  the file's object
 * @errors E_PARSE with file:line; nothing is taken back then
 */
RIDGE_NODISCARD ridge_status ridge__prices_read(ridge_ctx *cx, ridge_node root,
                                                ridge_catalog *catalog);

/** Insert by on-demand first, then price; the last falls off a full list. */
void ridge__price_insert(ridge_chip *chip, const ridge_price *price);

#endif
