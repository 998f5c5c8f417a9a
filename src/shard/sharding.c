/*
 * How a tensor lies on a mesh: what is legal, and what one rank holds. A dim over
 * several axes is cut by each in turn, so that rank (i, j) of axes x, y holds chunk j
 * of chunk i; its length is the same as if it were cut once into x * y chunks.
 */
#include "ridge/shard.h"

static bool is_same_dim(const ridge_dim_axes *a, const ridge_dim_axes *b)
{
    if (a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++) {
        if (a->axes[i] != b->axes[i])
            return false;
    }
    return true;
}

bool ridge_sharding_equal(const ridge_sharding *a, const ridge_sharding *b)
{
    if (a->n_dims != b->n_dims || a->partial != b->partial)
        return false;
    for (int d = 0; d < a->n_dims; d++) {
        if (!is_same_dim(&a->dims[d], &b->dims[d]))
            return false;
    }
    return true;
}

unsigned ridge_sharding_axes(const ridge_sharding *s)
{
    unsigned axes = s->partial;
    for (int d = 0; d < s->n_dims; d++) {
        for (int i = 0; i < s->dims[d].n; i++)
            axes |= 1u << s->dims[d].axes[i];
    }
    return axes;
}

static const char *axis_fault(ridge_arena *arena, const ridge_mesh *mesh, int axis,
                              const char *what)
{
    const char *text = ridge_sprintf(arena, "axis %s %s", mesh->axes[axis].name, what);
    return text ? text : what;
}

const char *ridge_sharding_fault(ridge_arena *arena, const ridge_mesh *mesh,
                                 const ridge_sharding *s)
{
    unsigned seen = 0;
    if (s->n_dims < 0 || s->n_dims > RIDGE_TENSOR_DIM_MAX)
        return "an array has 0 to 8 dims";
    if (s->partial >> mesh->n)
        return "partial sums over an axis that the mesh does not have";
    for (int d = 0; d < s->n_dims; d++) {
        unsigned here = 0;
        for (int i = 0; i < s->dims[d].n; i++) {
            const int axis = s->dims[d].axes[i];
            if (axis < 0 || axis >= mesh->n)
                return "a dim is cut over an axis that the mesh does not have";
            const unsigned bit = 1u << axis;
            if (here & bit)
                return axis_fault(arena, mesh, axis, "cuts one dim twice");
            if (seen & bit)
                return axis_fault(arena, mesh, axis, "cuts two dims");
            if (s->partial & bit)
                return axis_fault(arena, mesh, axis,
                                  "both cuts and carries partial sums");
            here |= bit;
        }
        seen |= here;
    }
    return NULL;
}

int64_t ridge_dim_ways(const ridge_mesh *mesh, const ridge_dim_axes *axes)
{
    int64_t ways = 1;
    for (int i = 0; i < axes->n; i++)
        ways *= mesh->axes[axes->axes[i]].size; /* divides the mesh's size */
    return ways;
}

int64_t ridge_dim_local(const ridge_mesh *mesh, const ridge_dim_axes *axes,
                        int64_t size)
{
    return ridge_ceil_div(size, ridge_dim_ways(mesh, axes));
}

int64_t ridge_dim_padding(const ridge_mesh *mesh, const ridge_dim_axes *axes,
                          int64_t size)
{
    const int64_t ways = ridge_dim_ways(mesh, axes);
    const int64_t over = size % ways;
    return over ? ways - over : 0;
}

double ridge_sharding_local_elements(const ridge_mesh *mesh, const ridge_sharding *s,
                                     const int64_t *sizes)
{
    double elements = 1;
    for (int d = 0; d < s->n_dims; d++)
        elements *= (double)ridge_dim_local(mesh, &s->dims[d], sizes[d]);
    return elements;
}

/* ---- orders ---------------------------------------------------------------------- */

int64_t ridge_dim_axes_orders(int n)
{
    int64_t orders = 1;
    for (int i = 2; i <= n; i++)
        orders *= i;
    return orders;
}

void ridge_dim_axes_permute(ridge_dim_axes *axes, int64_t index)
{
    for (int i = 0; i < axes->n; i++) {
        const int64_t block = ridge_dim_axes_orders(axes->n - 1 - i);
        const int from = i + (int)(index / block);
        const int axis = axes->axes[from];
        index %= block;
        for (int j = from; j > i; j--)
            axes->axes[j] = axes->axes[j - 1];
        axes->axes[i] = axis;
    }
}
