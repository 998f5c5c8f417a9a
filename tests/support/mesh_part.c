/* Parts of tensors, and loops over them by global index. */
#include "mesh_part.h"

#include "near.h"

mesh_span mesh_span_of(const ridge_mesh *mesh, const ridge_dim_axes *cut, int64_t size,
                       const int64_t *coords)
{
    mesh_span span = {.start = 0, .length = size};
    int64_t end = size;
    for (int i = 0; i < cut->n; i++) {
        const int axis = cut->axes[i];
        span.length = ridge_ceil_div(span.length, mesh->axes[axis].size);
        span.start += coords[axis] * span.length;
        if (end > span.start + span.length)
            end = span.start + span.length;
    }
    span.valid = end > span.start ? end - span.start : 0;
    return span;
}

mesh_part *mesh_part_new(ridge_arena *arena, const ridge_program *program,
                         const ridge_mesh *mesh, int tensor, const ridge_sharding *s,
                         const int64_t *coords)
{
    mesh_part *a = ridge_new(arena, mesh_part, 1);
    assert_non_null(a);
    a->tensor = &program->tensors[tensor];
    a->n = 1;
    for (int i = 0; i < a->tensor->n_dims; i++) {
        a->spans[i] = mesh_span_of(mesh, &s->dims[i],
                                   program->dims[a->tensor->dims[i]].size, coords);
        a->n *= a->spans[i].length;
    }
    a->data = ridge_new(arena, double, (size_t)a->n);
    assert_non_null(a->data);
    return a;
}

int64_t mesh_place(const mesh_part *a, const int64_t *g)
{
    int64_t place = 0;
    for (int i = 0; i < a->tensor->n_dims; i++) {
        const int64_t at = g[a->tensor->dims[i]] - a->spans[i].start;
        if (at < 0 || at >= a->spans[i].valid)
            return -1;
        place = place * a->spans[i].length + at;
    }
    return place;
}

double *mesh_at(const mesh_part *a, const int64_t *g)
{
    const int64_t place = mesh_place(a, g);
    if (place < 0)
        fail_msg("a rank reads what it does not hold of %s", a->tensor->name);
    return &a->data[place];
}

static int find_dim(const mesh_part *a, int dim)
{
    for (int i = 0; i < a->tensor->n_dims; i++) {
        if (a->tensor->dims[i] == dim)
            return i;
    }
    return -1;
}

bool mesh_has_dim(const mesh_part *a, int dim)
{
    return find_dim(a, dim) >= 0;
}

mesh_span mesh_span_find(const mesh_part *a, int dim)
{
    const int at = find_dim(a, dim);
    if (at < 0)
        fail_msg("%s lacks a dim", a->tensor->name);
    return a->spans[at];
}

void mesh_walk_add(mesh_walk *w, int dim, mesh_span span)
{
    for (int i = 0; i < w->n; i++) {
        if (w->dim[i] != dim)
            continue;
        if (w->low[i] != span.start || w->high[i] != span.start + span.valid)
            fail_msg("two operands hold different parts of a dim");
        return;
    }
    assert_true(w->n < 2 * RIDGE_TENSOR_DIM_MAX);
    w->dim[w->n] = dim;
    w->low[w->n] = span.start;
    w->high[w->n] = span.start + span.valid;
    w->n++;
}

void mesh_walk_array(mesh_walk *w, const mesh_part *a, int but)
{
    for (int i = 0; i < a->tensor->n_dims - but; i++)
        mesh_walk_add(w, a->tensor->dims[i], a->spans[i]);
}

bool mesh_walk_first(const mesh_walk *w, int64_t *g)
{
    for (int i = 0; i < w->n; i++) {
        if (w->low[i] >= w->high[i])
            return false;
        g[w->dim[i]] = w->low[i];
    }
    return true;
}

bool mesh_walk_next(const mesh_walk *w, int64_t *g)
{
    for (int i = w->n - 1; i >= 0; i--) {
        if (++g[w->dim[i]] < w->high[i])
            return true;
        g[w->dim[i]] = w->low[i];
    }
    return false;
}
