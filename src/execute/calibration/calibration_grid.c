/* Samples into grids of rates. */
#include "calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of a one-dimensional grid that are nearer than this become one. */
static const double NEAR = 4.0 / 3.0;

static int compare_sizes(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static bool is_of(const ridge__sample *s, const char *name)
{
    return strcmp(s->name, name) == 0;
}

/* The sizes of one axis among the samples of a name, merged where they are near. */
static ridge_status find_sizes(ridge_ctx *cx, const ridge__samples *all,
                               const char *name, int axis, double near, ridge_grid *out)
{
    double *v = ridge_new(ridge_ctx_arena(cx), double, (size_t)all->n + 1);
    int n = 0, kept = 0;
    if (v == NULL)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < all->n; i++) {
        if (is_of(&all->items[i], name))
            v[n++] = all->items[i].at[axis];
    }
    qsort(v, (size_t)n, sizeof *v, compare_sizes);
    for (int i = 0; i < n; i++) {
        if (kept == 0 || v[i] > v[kept - 1] * near)
            v[kept++] = v[i];
    }
    if (kept > RIDGE_GRID_SIZE_MAX)
        return find_sizes(cx, all, name, axis, near * near, out);
    out->axes[axis] = v;
    out->sizes[axis] = kept;
    return RIDGE_OK;
}

/* The place of a sample: that of the largest size which is not above it. */
static size_t place_of(const ridge_grid *grid, const ridge__sample *s)
{
    size_t place = 0;
    for (int a = 0; a < grid->n_axes; a++) {
        int i = 0;
        while (i + 1 < grid->sizes[a] && grid->axes[a][i + 1] <= s->at[a])
            i++;
        place = place * (size_t)grid->sizes[a] + (size_t)i;
    }
    return place;
}

/* Work of all samples of a place over their time. */
static ridge_status find_rates(ridge_ctx *cx, const ridge__samples *all,
                               const char *name, ridge_grid *out)
{
    size_t n = 1;
    for (int a = 0; a < out->n_axes; a++)
        n *= (size_t)out->sizes[a];
    double *rates = ridge_new(ridge_ctx_arena(cx), double, n);
    double *seconds = ridge_new(ridge_ctx_scratch(cx), double, n);
    if (!rates || !seconds)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < all->n; i++) {
        const ridge__sample *s = &all->items[i];
        if (!is_of(s, name))
            continue;
        const size_t place = place_of(out, s);
        rates[place] += s->work;
        seconds[place] += s->seconds;
    }
    for (size_t i = 0; i < n; i++) {
        if (!(seconds[i] > 0.0) || !(rates[i] > 0.0))
            return ridge_fail(cx, RIDGE_E_INTERNAL, "%s: a size was not measured",
                              name);
        rates[i] /= seconds[i];
    }
    out->rates = rates;
    return RIDGE_OK;
}

static bool has_name(const ridge_named_grid *items, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(items[i].name, name) == 0)
            return true;
    }
    return false;
}

ridge_status ridge__samples_to_grids(ridge_ctx *cx, const ridge__samples *samples,
                                     int n_axes, ridge_grid_list *out)
{
    ridge_named_grid *items =
        ridge_new(ridge_ctx_arena(cx), ridge_named_grid, (size_t)samples->n + 1);
    int n = 0;
    if (items == NULL)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < samples->n; i++) {
        const char *name = samples->items[i].name;
        if (has_name(items, n, name))
            continue;
        ridge_named_grid *g = &items[n++];
        g->name = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(name));
        if (g->name == NULL)
            return ridge_fail_nomem(cx);
        g->grid = (ridge_grid){.n_axes = n_axes};
        for (int a = 0; a < n_axes; a++)
            RIDGE_TRY(
                find_sizes(cx, samples, name, a, n_axes == 1 ? NEAR : 1.0, &g->grid));
        RIDGE_TRY(find_rates(cx, samples, name, &g->grid));
    }
    *out = (ridge_grid_list){n, items};
    return RIDGE_OK;
}

double ridge_grid_rate_most(const ridge_grid *grid)
{
    size_t n = 1;
    double most = 0.0;
    for (int a = 0; a < grid->n_axes; a++)
        n *= (size_t)grid->sizes[a];
    for (size_t i = 0; i < n; i++)
        most = fmax(most, grid->rates[i]);
    return most;
}
