/* Tables of times: linear between their knots, and beyond them as at the ends. */
#include "ridge/simulate_serving.h"

#include "speed_table.h"

/* The last of the first n - 1 knots that is not above. Whichever half it lies in, the
 * same is done: no processor guesses which. */
int ridge__knot_below(const double *x, int n, double at)
{
    int low = 0;
    for (int left = n - 1; left > 1; left -= left / 2)
        low = x[low + left / 2] <= at ? low + left / 2 : low;
    return low;
}

double ridge_curve_table_at(const ridge_curve_table *table, double x)
{
    if (table->n == 1)
        return table->y[0];
    const int i = ridge__knot_below(table->x, table->n, x);
    const double share = (x - table->x[i]) / (table->x[i + 1] - table->x[i]);
    return table->y[i] + share * (table->y[i + 1] - table->y[i]);
}

/* A row of the plane at x: the cell of x, and how far into it. */
static double row_at(const ridge_plane_table *t, int ix, double y)
{
    const ridge_curve_table row = {t->n_y, t->y, t->z + (size_t)ix * (size_t)t->n_y};
    return ridge_curve_table_at(&row, y);
}

double ridge_plane_table_at(const ridge_plane_table *table, double x, double y)
{
    if (table->n_x == 1)
        return row_at(table, 0, y);
    const int i = ridge__knot_below(table->x, table->n_x, x);
    const double share = (x - table->x[i]) / (table->x[i + 1] - table->x[i]);
    const double low = row_at(table, i, y);
    return low + share * (row_at(table, i + 1, y) - low);
}
