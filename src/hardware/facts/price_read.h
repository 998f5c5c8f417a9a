/* Price lists of data/prices, as rows that wait for the chips that they name. */
#ifndef RIDGE_PRICE_READ_H
#define RIDGE_PRICE_READ_H

#include "ridge/hardware.h"

#include "name_index.h"

typedef struct price_row {
    size_t chip; /* item of the index of chips */
    ridge_price price;
} price_row;

typedef struct price_list {
    price_row *rows; /* in the order of files */
    size_t n;
    size_t cap;
} price_list;

/**
 * Add the rows of one file.
 * @param root   the file's object
 * @param chips  names of the chips
 * @errors E_PARSE with file:line; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__prices_read(ridge_ctx *cx, ridge_node root,
                                                const name_index *chips,
                                                price_list *list);

/** Give a chip its prices: on-demand first, then the cheapest; the rest is left out. */
void ridge__prices_attach(const price_list *list, size_t item, ridge_chip *chip);

/** Insert by that order; the last falls off a full list. */
void ridge__price_insert(ridge_chip *chip, const ridge_price *price);

#endif
