/* How many chips of a kind make up slices. */
#ifndef RIDGE_PLAN_OFFER_SIZES_H
#define RIDGE_PLAN_OFFER_SIZES_H

#include "ridge/hardware.h"

enum { OFFER_SIZES_MOST = 64 };

typedef struct offer_sizes {
    int n;
    const ridge_slice *slices[OFFER_SIZES_MOST]; /* of ever more chips */
} offer_sizes;

/** One, two, four, ... chips; beyond a node, or a whole torus, those doubling too.
 * @param one  a chip of the kind
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status offer_sizes_double(ridge_ctx *cx,
                                                const ridge_catalog *catalog,
                                                const ridge_slice *one, int64_t most,
                                                offer_sizes *out);

/** Up to @p wanted legal sizes strictly between two: multiples of as small a power of
 *  two of hosts or nodes as leaves no more of them, which are cut in more ways than
 *  sizes spread evenly. @param low  0: below the smallest. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status offer_sizes_between(ridge_ctx *cx,
                                                 const ridge_catalog *catalog,
                                                 const ridge_slice *one, int64_t low,
                                                 int64_t high, int wanted,
                                                 offer_sizes *out);

#endif
