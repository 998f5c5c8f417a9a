/*
 * Where a price is looked at to be a table: at powers of two and at the ends, and
 * between two of these where a straight line misses the price: where tiles and waves
 * step.
 */
#include "serving_knots.h"

#include <math.h>
#include <stdbool.h>

/* A line between two knots may miss the price in the middle by this share. */
static const double MISS_MOST = 0.004;

static void knot_add(serving_knots *k, double x, double y)
{
    if (k->n == SERVING_KNOT_MOST || (k->n > 0 && k->x[k->n - 1] >= x))
        return;
    k->x[k->n] = x;
    k->y[k->n++] = y;
}

/* A price at a number of rows. */
typedef struct spot {
    double x, y;
} spot;

static spot spot_at(const serving_knots *k, double x)
{
    return (spot){x, k->f(k->payload, x)};
}

static bool is_off(const spot *a, const spot *b, const spot *at)
{
    const double line = a->y + (b->y - a->y) * (at->x - a->x) / (b->x - a->x);
    return fabs(at->y - line) > MISS_MOST * at->y;
}

/* Knots that are kept for the ends of what is under way and for the powers of two to
 * come: without the last one a table would go on as its last step does. */
enum { KNOTS_KEPT = 96 };

/* Knots inside (a, b], whole numbers. Tiles step behind round numbers: the middle and
 * the number after it are looked at together. Depth bounds the walk. */
static void between(serving_knots *k, spot a, spot b, int depth)
{
    const double middle = floor((a.x + b.x) / 2);
    if (k->n > SERVING_KNOT_MOST - KNOTS_KEPT)
        depth = 0;
    if (b.x - a.x > 2 && depth > 0) {
        const spot left = spot_at(k, middle), right = spot_at(k, middle + 1);
        if (is_off(&a, &b, &left) || is_off(&a, &b, &right)) {
            between(k, a, left, depth - 1);
            knot_add(k, right.x, right.y);
            between(k, right, b, depth - 1);
            return;
        }
    } else if (b.x - a.x > 1 && depth > 0) {
        const spot left = spot_at(k, middle);
        if (is_off(&a, &b, &left))
            knot_add(k, left.x, left.y);
    }
    knot_add(k, b.x, b.y);
}

/* From the least to the most, at both and at powers of two. */
void serving_knots_find(serving_knots *k, double least, double most)
{
    spot a = spot_at(k, least);
    k->n = 0;
    knot_add(k, a.x, a.y);
    while (a.x < most) {
        const spot b = spot_at(k, fmin(fmax(1, 2 * a.x), most));
        between(k, a, b, k->depth);
        a = b;
    }
}
