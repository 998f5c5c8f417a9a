/* Knots of a function, for tables that lines between them make. Layer-internal. */
#ifndef RIDGE_PLAN_SERVING_KNOTS_H
#define RIDGE_PLAN_SERVING_KNOTS_H

enum { SERVING_KNOT_MOST = 384 };

typedef double serving_knot_fn(const void *payload, double x);

/** Knots of a function under way. */
typedef struct serving_knots {
    const void *payload;
    serving_knot_fn *f;
    int depth; /* halvings between two powers of two */
    int n;
    double x[SERVING_KNOT_MOST], y[SERVING_KNOT_MOST];
} serving_knots;

/** From the least to the most, at both and at powers of two; the last knots are kept
 *  for these, however the function steps. */
void serving_knots_find(serving_knots *knots, double least, double most);

#endif
