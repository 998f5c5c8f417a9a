/* The time of one matrix product of a layer, forward and backward. */
#ifndef RIDGE_PLAN_PRODUCT_TIME_H
#define RIDGE_PLAN_PRODUCT_TIME_H

#include "train_case.h"

/** One product on one chip: batch of [rows, in] x [in, out]. */
typedef struct product {
    double batch, rows, in, out;
} product;

/** Backward is one product for the input's gradient and one for the weight's. */
typedef struct product_time {
    double fwd_s, bwd_s;
    double bound_fwd_s, bound_bwd_s;
} product_time;

product_time train_product_time(const train_case *tc, ridge_dtype compute,
                                const product *p);

/** Let a case remember its products: layouts of a search share most of them.
 * @return false when memory ran out. @owner the case's ctx */
bool train_products_remember(train_case *tc);

#endif
