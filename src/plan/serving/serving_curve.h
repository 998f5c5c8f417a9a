/* Prices of rows as tables. Layer-internal. */
#ifndef RIDGE_PLAN_SERVING_CURVE_H
#define RIDGE_PLAN_SERVING_CURVE_H

#include "serving_bench.h"

/** Halvings between two powers of two of rows, whose tiles step. */
enum { SERVING_ROW_DEPTH = 7 };

/** What a curve is of. */
typedef enum serving_curve_kind {
    SERVING_CURVE_ROWS,
    SERVING_CURVE_HEAD,
    SERVING_CURVE_RANK_ROWS
} serving_curve_kind;

/** From one row to the most. @return false: no memory */
bool serving_curve_find(const serving_bench *b, serving_curve_kind kind, double most,
                        ridge_curve_table *out);

/** Numbers that live as long as the desk. @return NULL: no memory */
const double *serving_curve_copy(ridge_serving_desk *desk, const double *x, int n);

#endif
