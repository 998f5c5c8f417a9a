/* Sharded einsums drawn from a seed. */
#include "seeded_expr.h"

const seeded_expr_limits seeded_expr_all = {
    .axes_least = 1,
    .axes_most = 3,
    .axis_least = 1,
    .axis_most = 3,
    .dims_least = 2,
    .dims_most = 4,
    .size_least = 1,
    .size_most = 6,
    .inputs_least = 1,
    .inputs_most = 3,
    .partial_in = 8,
};

static void draw_sharding(seeded *at, const ridge_mesh *mesh, int partial_in,
                          ridge_expr_tensor *t)
{
    t->sharding = (ridge_sharding){.n_dims = t->n_dims};
    const int first = (int)seeded_pick(at, 0, mesh->n - 1);
    for (int i = 0; i < mesh->n; i++) {
        const int axis = (first + i) % mesh->n;
        if (partial_in > 0 && seeded_pick(at, 1, partial_in) == 1) {
            t->sharding.partial |= 1u << axis;
            continue;
        }
        const int dim = (int)seeded_pick(at, -1, t->n_dims - 1);
        if (dim >= 0) {
            ridge_dim_axes *axes = &t->sharding.dims[dim];
            axes->axes[axes->n++] = axis;
        }
    }
}

/* Some of the dims, in an order that is not always the expression's. */
static void draw_dims(seeded *at, int n_dims, unsigned least, ridge_expr_tensor *t)
{
    const int first = (int)seeded_pick(at, 0, n_dims - 1);
    for (int i = 0; i < n_dims; i++) {
        const int dim = (first + i) % n_dims;
        if ((least & (1u << dim)) || seeded_pick(at, 0, 2) > 0)
            t->dims[t->n_dims++] = dim;
    }
}

static void draw_inputs(seeded *at, const seeded_expr_limits *limits, ridge_expr *e)
{
    static const char *const names[] = {"A", "B", "C", "D"};
    e->n_inputs = (int)seeded_pick(at, limits->inputs_least, limits->inputs_most);
    for (int i = 0; i < e->n_inputs; i++) {
        /* every dim is in some input: dim d at least in input d modulo their number */
        unsigned least = 0;
        for (int d = i; d < e->n_dims; d += e->n_inputs)
            least |= 1u << d;
        e->inputs[i] = (ridge_expr_tensor){.name = names[i], .element_bytes = 2};
        draw_dims(at, e->n_dims, least, &e->inputs[i]);
        draw_sharding(at, &e->mesh, limits->partial_in, &e->inputs[i]);
    }
}

ridge_expr seeded_expr(seeded *at, const seeded_expr_limits *limits)
{
    static const char *const axes[] = {"x", "y", "z"};
    static const char *const dims[] = {"I", "J", "K", "L"};
    ridge_expr e = {.output = {.name = "R", .element_bytes = 2}};
    e.mesh.n = (int)seeded_pick(at, limits->axes_least, limits->axes_most);
    for (int a = 0; a < e.mesh.n; a++) {
        e.mesh.axes[a] = (ridge_mesh_axis){
            axes[a], seeded_pick(at, limits->axis_least, limits->axis_most)};
    }
    e.n_dims = (int)seeded_pick(at, limits->dims_least, limits->dims_most);
    for (int d = 0; d < e.n_dims; d++) {
        e.dims[d] = (ridge_program_dim){
            .name = dims[d],
            .size = seeded_pick(at, limits->size_least, limits->size_most)};
    }
    draw_inputs(at, limits, &e);
    draw_dims(at, e.n_dims, 0, &e.output);
    draw_sharding(at, &e.mesh, limits->partial_in, &e.output);
    return e;
}
