/* Sharded arrays on a simulated mesh. */
#include "mesh_arrays.h"

#include <string.h>

#include "near.h"

/* ---- ranks and places --------------------------------------------------------- */

typedef struct coords {
    int64_t at[RIDGE_MESH_AXIS_MAX];
} coords;

static int64_t ranks_of(const ridge_mesh *mesh)
{
    int64_t n = 1;
    for (int a = 0; a < mesh->n; a++)
        n *= mesh->axes[a].size;
    return n;
}

static coords coords_of(const ridge_mesh *mesh, int64_t rank)
{
    coords c = {{0}};
    for (int a = mesh->n - 1; a >= 0; a--) {
        c.at[a] = rank % mesh->axes[a].size;
        rank /= mesh->axes[a].size;
    }
    return c;
}

static int64_t rank_of(const ridge_mesh *mesh, const coords *c)
{
    int64_t rank = 0;
    for (int a = 0; a < mesh->n; a++)
        rank = rank * mesh->axes[a].size + c->at[a];
    return rank;
}

static int64_t chunk(int64_t length, int64_t ways)
{
    return (length + ways - 1) / ways;
}

/* Lengths of a dim after each of its axes has cut it. @param out  n + 1 of them */
static void chunks_of(const ridge_mesh *mesh, const ridge_dim_axes *axes, int64_t size,
                      int64_t *out)
{
    out[0] = size;
    for (int i = 0; i < axes->n; i++)
        out[i + 1] = chunk(out[i], mesh->axes[axes->axes[i]].size);
}

/* A local place as a place of the dim before the axes from @p first on cut it; -1 for
 * padding. */
static int64_t place_up(const mesh_array *a, int dim, int first, const coords *c,
                        int64_t at)
{
    const ridge_dim_axes *axes = &a->sharding.dims[dim];
    int64_t lengths[RIDGE_MESH_AXIS_MAX + 1];
    chunks_of(a->mesh, axes, a->sizes[dim], lengths);
    for (int i = axes->n - 1; i >= first; i--) {
        at += c->at[axes->axes[i]] * lengths[i + 1];
        if (at >= lengths[i])
            return -1;
    }
    return at;
}

/* The other way: which ranks hold a place, and where. */
static int64_t place_down(const mesh_array *a, int dim, int first, coords *c,
                          int64_t at)
{
    const ridge_dim_axes *axes = &a->sharding.dims[dim];
    int64_t lengths[RIDGE_MESH_AXIS_MAX + 1];
    chunks_of(a->mesh, axes, a->sizes[dim], lengths);
    for (int i = first; i < axes->n; i++) {
        c->at[axes->axes[i]] = at / lengths[i + 1];
        at %= lengths[i + 1];
    }
    return at;
}

/* Index of a row-major array, counted up. @return false after the last */
static bool next_index(int64_t *index, const int64_t *lengths, int n)
{
    for (int d = n - 1; d >= 0; d--) {
        if (++index[d] < lengths[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static int64_t offset_of(const int64_t *index, const int64_t *lengths, int n)
{
    int64_t at = 0;
    for (int d = 0; d < n; d++)
        at = at * lengths[d] + index[d];
    return at;
}

static int64_t *value_at(const mesh_array *a, int64_t rank, const int64_t *index)
{
    return &a->values[rank * a->n_local +
                      offset_of(index, a->local, a->sharding.n_dims)];
}

/* ---- arrays ------------------------------------------------------------------- */

mesh_array mesh_array_new(ridge_arena *arena, const ridge_mesh *mesh,
                          const int64_t *sizes, const ridge_sharding *sharding)
{
    mesh_array a = {.mesh = mesh, .sharding = *sharding, .n_local = 1};
    for (int d = 0; d < sharding->n_dims; d++) {
        int64_t lengths[RIDGE_MESH_AXIS_MAX + 1];
        chunks_of(mesh, &sharding->dims[d], sizes[d], lengths);
        a.sizes[d] = sizes[d];
        a.local[d] = lengths[sharding->dims[d].n];
        a.n_local *= a.local[d];
    }
    a.values = ridge_new(arena, int64_t, (size_t)(ranks_of(mesh) * a.n_local));
    assert_non_null(a.values);
    return a;
}

/* Global place of a local one. @return false for padding */
static bool global_place(const mesh_array *a, const coords *c, const int64_t *index,
                         int64_t *out)
{
    for (int d = 0; d < a->sharding.n_dims; d++) {
        out[d] = place_up(a, d, 0, c, index[d]);
        if (out[d] < 0)
            return false;
    }
    return true;
}

/* Whether a rank is the first of those that add up. */
static bool is_first_of_sum(const mesh_array *a, const coords *c)
{
    for (int x = 0; x < a->mesh->n; x++) {
        if ((a->sharding.partial & (1u << x)) && c->at[x] > 0)
            return false;
    }
    return true;
}

static int64_t first_of_sum(const mesh_array *a, coords c)
{
    for (int x = 0; x < a->mesh->n; x++) {
        if (a->sharding.partial & (1u << x))
            c.at[x] = 0;
    }
    return rank_of(a->mesh, &c);
}

/* What a rank that is not the first of its sum holds: a function of where it is, so
 * that replicas agree. The first holds the rest. */
static int64_t share_of(const mesh_array *a, const coords *c, int64_t offset,
                        seeded start)
{
    for (int x = 0; x < a->mesh->n; x++) {
        if (a->sharding.partial & (1u << x))
            start = start * 31 + (seeded)c->at[x];
    }
    start = start * 1009 + (seeded)offset;
    return seeded_pick(&start, -9, 9);
}

mesh_array mesh_array_split(ridge_arena *arena, const ridge_mesh *mesh,
                            const int64_t *sizes, const ridge_sharding *sharding,
                            const int64_t *global, seeded *at)
{
    mesh_array a = mesh_array_new(arena, mesh, sizes, sharding);
    const int n = sharding->n_dims;
    const seeded start = seeded_next(at);
    for (int64_t rank = 0; rank < ranks_of(mesh); rank++) {
        int64_t index[RIDGE_TENSOR_DIM_MAX] = {0}, place[RIDGE_TENSOR_DIM_MAX];
        const coords c = coords_of(mesh, rank);
        do {
            if (!global_place(&a, &c, index, place))
                continue;
            const int64_t offset = offset_of(place, sizes, n);
            if (is_first_of_sum(&a, &c)) {
                *value_at(&a, rank, index) += global[offset];
                continue;
            }
            const int64_t share = share_of(&a, &c, offset, start);
            *value_at(&a, rank, index) = share;
            *value_at(&a, first_of_sum(&a, c), index) -= share;
        } while (next_index(index, a.local, n));
    }
    return a;
}

/* The value depends on the rank but for the axes of @p alike. */
static void fill(mesh_array *a, unsigned alike, seeded start)
{
    for (int64_t rank = 0; rank < ranks_of(a->mesh); rank++) {
        int64_t index[RIDGE_TENSOR_DIM_MAX] = {0}, place[RIDGE_TENSOR_DIM_MAX];
        const coords c = coords_of(a->mesh, rank);
        coords own = c;
        for (int x = 0; x < a->mesh->n; x++)
            own.at[x] = alike & (1u << x) ? 0 : own.at[x];
        do {
            seeded s = start + (seeded)rank_of(a->mesh, &own) * 7919 +
                       (seeded)offset_of(index, a->local, a->sharding.n_dims);
            if (global_place(a, &c, index, place))
                *value_at(a, rank, index) = seeded_pick(&s, -9, 9);
        } while (next_index(index, a->local, a->sharding.n_dims));
    }
}

void mesh_array_fill(mesh_array *a, seeded *at)
{
    fill(a, 0, seeded_next(at));
}

void mesh_array_fill_alike(mesh_array *a, const ridge_reshard *step, seeded *at)
{
    unsigned alike = 0;
    for (int i = 0; i < step->n_axes; i++)
        alike |= 1u << step->axes[i];
    fill(a, alike, seeded_next(at));
}

/* Sums of one rank's place over the axes of partial sums. */
static int64_t summed(const mesh_array *a, const coords *c, const int64_t *index)
{
    int64_t sum = 0;
    for (int64_t rank = 0; rank < ranks_of(a->mesh); rank++) {
        const coords other = coords_of(a->mesh, rank);
        bool is_member = true;
        for (int x = 0; x < a->mesh->n; x++) {
            const bool is_summed = (a->sharding.partial & (1u << x)) != 0;
            is_member = is_member && (is_summed || other.at[x] == c->at[x]);
        }
        if (is_member)
            sum += *value_at(a, rank, index);
    }
    return sum;
}

/* A rank's part into the whole. @return false: another rank had another value there, or
 * padding is not zero */
static bool join_part(const mesh_array *a, int64_t rank, bool *is_set, int64_t *global)
{
    const int n = a->sharding.n_dims;
    int64_t index[RIDGE_TENSOR_DIM_MAX] = {0}, place[RIDGE_TENSOR_DIM_MAX];
    const coords c = coords_of(a->mesh, rank);
    do {
        const int64_t value = summed(a, &c, index);
        if (!global_place(a, &c, index, place)) {
            if (value != 0)
                return false;
            continue;
        }
        const int64_t offset = offset_of(place, a->sizes, n);
        if (is_set[offset] && global[offset] != value)
            return false;
        global[offset] = value;
        is_set[offset] = true;
    } while (next_index(index, a->local, n));
    return true;
}

bool mesh_array_join(ridge_arena *arena, const mesh_array *a, int64_t *global)
{
    const int n = a->sharding.n_dims;
    int64_t elements = 1;
    for (int d = 0; d < n; d++)
        elements *= a->sizes[d];
    bool *is_set = ridge_new(arena, bool, (size_t)elements);
    assert_non_null(is_set);
    for (int64_t rank = 0; rank < ranks_of(a->mesh); rank++) {
        if (!join_part(a, rank, is_set, global))
            return false;
    }
    for (int64_t i = 0; i < elements; i++) {
        if (!is_set[i])
            return false;
    }
    return true;
}

int64_t mesh_array_dot(const mesh_array *a, const mesh_array *b)
{
    int64_t sum = 0;
    assert_int_equal(a->n_local, b->n_local);
    for (int64_t i = 0; i < ranks_of(a->mesh) * a->n_local; i++)
        sum += a->values[i] * b->values[i];
    return sum;
}

/* ---- collectives -------------------------------------------------------------- */

/* One element of what a step leaves on a rank, read from what all ranks held. */
static int64_t arriving(const mesh_array *was, const mesh_array *is,
                        const ridge_reshard *step, coords c, int64_t *index)
{
    if (step->dim_to >= 0) {
        const int first = is->sharding.dims[step->dim_to].n - step->n_axes;
        index[step->dim_to] =
            place_up(is, step->dim_to, first, &c, index[step->dim_to]);
        if (index[step->dim_to] < 0)
            return 0;
    }
    if (step->dim_from >= 0) {
        const int first = was->sharding.dims[step->dim_from].n - step->n_axes;
        index[step->dim_from] =
            place_down(was, step->dim_from, first, &c, index[step->dim_from]);
    }
    if (step->kind != RIDGE_STEP_ALL_REDUCE && step->kind != RIDGE_STEP_REDUCE_SCATTER)
        return *value_at(was, rank_of(was->mesh, &c), index);
    mesh_array group = *was;
    group.sharding.partial = 0;
    for (int i = 0; i < step->n_axes; i++)
        group.sharding.partial |= 1u << step->axes[i];
    return summed(&group, &c, index);
}

bool mesh_array_step(ridge_arena *arena, mesh_array *a, const ridge_reshard *step)
{
    ridge_sharding sharding = a->sharding;
    if (!ridge_reshard_apply(a->mesh, &sharding, step))
        return false;
    mesh_array is = mesh_array_new(arena, a->mesh, a->sizes, &sharding);
    for (int64_t rank = 0; rank < ranks_of(a->mesh); rank++) {
        int64_t index[RIDGE_TENSOR_DIM_MAX] = {0};
        do {
            int64_t from[RIDGE_TENSOR_DIM_MAX];
            memcpy(from, index, sizeof from);
            *value_at(&is, rank, index) =
                arriving(a, &is, step, coords_of(a->mesh, rank), from);
        } while (next_index(index, is.local, sharding.n_dims));
    }
    *a = is;
    return true;
}

/* ---- products ------------------------------------------------------------------- */

/* Row-major arrays over named dims of these lengths. */
static void einsum(const ridge_expr *expr, const int64_t *lengths,
                   const int64_t *const *inputs, int64_t *out)
{
    int64_t index[RIDGE_PROGRAM_DIM_MAX] = {0};
    do {
        int64_t product = 1, at = 0;
        for (int i = 0; i < expr->n_inputs; i++) {
            const ridge_expr_tensor *t = &expr->inputs[i];
            at = 0;
            for (int d = 0; d < t->n_dims; d++)
                at = at * lengths[t->dims[d]] + index[t->dims[d]];
            product *= inputs[i][at];
        }
        at = 0;
        for (int d = 0; d < expr->output.n_dims; d++) {
            const int dim = expr->output.dims[d];
            at = at * lengths[dim] + index[dim];
        }
        out[at] += product;
    } while (next_index(index, lengths, expr->n_dims));
}

void mesh_einsum(const ridge_expr *expr, const int64_t *const *inputs, int64_t *out)
{
    int64_t lengths[RIDGE_PROGRAM_DIM_MAX], elements = 1;
    for (int d = 0; d < expr->n_dims; d++)
        lengths[d] = expr->dims[d].size;
    for (int d = 0; d < expr->output.n_dims; d++)
        elements *= lengths[expr->output.dims[d]];
    memset(out, 0, (size_t)elements * sizeof *out);
    einsum(expr, lengths, inputs, out);
}

/* Local length of each dim, which all inputs that have it must share. */
static bool local_lengths(const ridge_expr *expr, const mesh_array *inputs,
                          int64_t *lengths)
{
    for (int d = 0; d < expr->n_dims; d++)
        lengths[d] = 0;
    for (int i = 0; i < expr->n_inputs; i++) {
        for (int d = 0; d < expr->inputs[i].n_dims; d++) {
            int64_t *length = &lengths[expr->inputs[i].dims[d]];
            if (*length != 0 && *length != inputs[i].local[d])
                return false;
            *length = inputs[i].local[d];
        }
    }
    return true;
}

bool mesh_array_multiply(ridge_arena *arena, const ridge_expr *expr,
                         const mesh_array *inputs, const ridge_sharding *sharding,
                         mesh_array *out)
{
    int64_t lengths[RIDGE_PROGRAM_DIM_MAX], sizes[RIDGE_TENSOR_DIM_MAX];
    if (!local_lengths(expr, inputs, lengths))
        return false;
    ridge_expr_tensor_sizes(expr, &expr->output, sizes);
    *out = mesh_array_new(arena, &expr->mesh, sizes, sharding);
    for (int d = 0; d < expr->output.n_dims; d++) {
        if (out->local[d] != lengths[expr->output.dims[d]])
            return false;
    }
    for (int64_t rank = 0; rank < ranks_of(&expr->mesh); rank++) {
        const int64_t *locals[RIDGE_EXPR_INPUT_MAX];
        for (int i = 0; i < expr->n_inputs; i++)
            locals[i] = &inputs[i].values[rank * inputs[i].n_local];
        einsum(expr, lengths, locals, &out->values[rank * out->n_local]);
    }
    return true;
}
