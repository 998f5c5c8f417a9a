/* Rates by size: between measured points, and beyond them. */
#include "ridge/hardware_measured.h"

#include <math.h>
#include <string.h>

/* Where a point lies on an axis: between place and place + 1, a share beyond place. */
typedef struct position {
    int place;
    double share;
    double fall; /* of the rate, below the smallest size */
} position;

static position position_of(const double *axis, int n, double x)
{
    if (n == 1 || x <= axis[0])
        return (position){0, 0.0, fmin(1.0, x / axis[0])};
    if (x >= axis[n - 1])
        return (position){n - 2, 1.0, 1.0};
    int i = 0;
    while (x > axis[i + 1])
        i++;
    return (position){i, log(x / axis[i]) / log(axis[i + 1] / axis[i]), 1.0};
}

double ridge_grid_rate(const ridge_grid *grid, const double *at)
{
    position p[RIDGE_GRID_AXIS_MAX];
    double fall = 1.0;
    double sum = 0.0;
    for (int a = 0; a < grid->n_axes; a++) {
        p[a] = position_of(grid->axes[a], grid->sizes[a], at[a]);
        fall *= p[a].fall;
    }
    for (unsigned corner = 0; corner < 1U << grid->n_axes; corner++) {
        double weight = 1.0;
        size_t place = 0;
        for (int a = 0; a < grid->n_axes; a++) {
            const bool is_above = (corner >> a & 1U) != 0;
            weight *= is_above ? p[a].share : 1.0 - p[a].share;
            place = place * (size_t)grid->sizes[a] + (size_t)p[a].place +
                    (is_above && grid->sizes[a] > 1 ? 1 : 0);
        }
        if (weight > 0.0)
            sum += weight * log(grid->rates[place]);
    }
    return fall * exp(sum);
}

const ridge_grid *ridge_grid_find(const ridge_grid_list *list, const char *name)
{
    for (int i = 0; i < list->n; i++) {
        if (strcmp(list->items[i].name, name) == 0)
            return &list->items[i].grid;
    }
    return NULL;
}
