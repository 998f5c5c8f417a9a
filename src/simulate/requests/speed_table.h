/* Cells of tables, for those who walk along them. */
#ifndef RIDGE_SPEED_TABLE_H
#define RIDGE_SPEED_TABLE_H

/** The cell i, from x[i] to x[i + 1], that holds a value; the first or the last one
 *  beyond the ends. @param n  knots, >= 2 */
int ridge__knot_below(const double *x, int n, double at);

#endif
