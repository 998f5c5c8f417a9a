/*
 * Muon: a matrix's momentum, made orthogonal by Newton-Schulz steps over all of its
 * rows and columns. Ranks that hold parts of it gather the whole and work it out alike;
 * each takes its own part of the result.
 * @source jordan2024-muon; liu2025-moonlight (size of a step, so that AdamW's rate
 * fits)
 */
#include "update_call.h"

#include <math.h>

enum { STEPS = 5 };

/* A polynomial that takes singular values of (0, 1] near 1. @source jordan2024-muon */
static const float FIRST = 3.4445F, THIRD = -4.7750F, FIFTH = 2.0315F;

/* The root mean square of AdamW's usual step. @source liu2025-moonlight section 2.2 */
static const double USUAL_STEP = 0.2;

static ridge_status add_scaled(ridge__call *c, ridge__array y, float by, ridge__array x,
                               int64_t n)
{
    ridge__device *d = c->m->device;
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {n},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = x,
                              .y = y,
                              .is_added = true};
    RIDGE_TRY(d->ops->multiply(d, y, n, by)); /* y = by y + x */
    return d->ops->copy(d, &copy);
}

/* m = mu m + g; g becomes g + mu m (Nesterov). */
static ridge_status average(ridge__call *c, ridge__array m, ridge__array g, int64_t n)
{
    const float mu = c->m->optimizer.momentum;
    ridge__device *d = c->m->device;
    RIDGE_TRY(add_scaled(c, m, mu, g, n));
    RIDGE_TRY(add_scaled(c, g, 1.0F / mu, m, n));
    return d->ops->multiply(d, g, n, mu);
}

/* ---- the whole matrix
 * ------------------------------------------------------------------
 */

/* A part while its dims are put together one axis after the other. */
typedef struct gathering {
    ridge__call *c;
    int input;
    int64_t lengths[RIDGE_TENSOR_DIM_MAX];
    ridge__array a;
} gathering;

static int64_t product(const gathering *g, int first, int end)
{
    int64_t n = 1;
    for (int i = first; i < end; i++)
        n *= g->lengths[i];
    return n;
}

static ridge_status gather_axis(gathering *g, int at, int axis, int64_t full)
{
    ridge__call *c = g->c;
    const int n_dims = ridge__in_part(c, g->input)->n_dims;
    const ridge_cut cut = {product(g, 0, at), full, product(g, at + 1, n_dims)};
    ridge__array whole;
    ridge_pending pending;
    RIDGE_TRY(
        ridge__scratch_take(c, cut.outer * full * cut.inner, RIDGE_DTYPE_FP32, &whole));
    RIDGE_TRY(c->m->device->ops->finish(c->m->device));
    RIDGE_TRY(ridge_all_gather_start(c->m->cx, c->m->axis_groups[axis],
                                     RIDGE_ELEMENT_F32, &cut, g->a.p, whole.p,
                                     &pending));
    RIDGE_TRY(ridge_comm_wait(c->m->cx, &pending));
    ridge__scratch_give(c, &g->a);
    g->a = whole;
    g->lengths[at] = full;
    return RIDGE_OK;
}

/* From the innermost axis outwards, so that uneven chunks nest as they are cut. */
static ridge_status gather_dim(gathering *g, int at)
{
    const ridge__machine *m = g->c->m;
    const int tensor = g->c->op->inputs[g->input];
    const ridge_dim_axes *axes = &m->partition->shardings[tensor].dims[at];
    int64_t lengths[RIDGE_MESH_AXIS_MAX + 1];
    lengths[0] = m->program->dims[m->program->tensors[tensor].dims[at]].size;
    for (int k = 0; k < axes->n; k++)
        lengths[k + 1] =
            ridge_ceil_div(lengths[k], m->partition->mesh.axes[axes->axes[k]].size);
    for (int k = axes->n - 1; k >= 0; k--)
        RIDGE_TRY(gather_axis(g, at, axes->axes[k], lengths[k]));
    return RIDGE_OK;
}

/* A part [batch, rows.., columns..] -> [batch, whole rows, whole columns]; the part is
 * given back. */
static ridge_status gather(ridge__call *c, int input, const ridge__local_matrix *x,
                           ridge__array part, ridge__array *out)
{
    gathering g = {.c = c, .input = input, .a = part};
    for (int i = 0; i < x->n_dims; i++)
        g.lengths[i] = ridge__in_part(c, input)->spans[i].length;
    for (int i = x->n_dims - 1; i >= x->rows_at; i--)
        RIDGE_TRY(gather_dim(&g, i));
    *out = g.a;
    return RIDGE_OK;
}

/* This rank's part of the whole, padded with zeros. */
static ridge_status take_part(ridge__call *c, int input, const ridge__local_matrix *x,
                              ridge__array whole, ridge__array *out)
{
    const ridge__tensor_part *part = ridge__in_part(c, input);
    ridge__device *d = c->m->device;
    ridge__copy copy = {.n_dims = part->n_dims};
    int64_t inner = 1, offset = 0;
    RIDGE_TRY(ridge__scratch_take(c, part->elements, RIDGE_DTYPE_FP32, out));
    RIDGE_TRY(d->ops->zero(d, out->p, (size_t)part->elements * sizeof(float)));
    for (int i = part->n_dims - 1; i >= 0; i--) {
        const int dim = ridge__in_tensor(c, input)->dims[i];
        const bool is_whole = i >= x->rows_at;
        copy.sizes[i] = is_whole ? part->spans[i].valid : part->spans[i].length;
        copy.x_strides[i] = inner;
        copy.y_strides[i] = ridge__tensor_part_product(part, i + 1, part->n_dims);
        offset += is_whole && copy.sizes[i] > 0 ? part->spans[i].start * inner : 0;
        inner *= is_whole ? c->m->program->dims[dim].size : part->spans[i].length;
        if (copy.sizes[i] == 0)
            return RIDGE_OK;
    }
    copy.x = (ridge__array){(float *)whole.p + offset, RIDGE_DTYPE_FP32};
    copy.y = *out;
    return d->ops->copy(d, &copy);
}

/* ---- Newton and Schulz
 * -----------------------------------------------------------------
 */

/* One matrix [rows, columns] and what its steps need: g and g2 [low, low], low the
 * smaller side. */
typedef struct iterating {
    ridge__call *c;
    int64_t rows, columns, low;
    ridge__array x, next, g, g2;
} iterating;

static ridge_status multiply(const iterating *s, ridge__gemm p)
{
    p.batch = 1;
    return s->c->m->device->ops->gemm(s->c->m->device, &p);
}

/* g = x x^T, or x^T x: of the smaller side. */
static ridge_status square(const iterating *s)
{
    const bool is_wide = s->rows == s->low;
    return multiply(s, (ridge__gemm){.m = s->low,
                                     .n = s->low,
                                     .k = is_wide ? s->columns : s->rows,
                                     .a = s->x,
                                     .b = s->x,
                                     .c = s->g,
                                     .lda = s->columns,
                                     .ldb = s->columns,
                                     .ldc = s->low,
                                     .is_a_transposed = !is_wide,
                                     .is_b_transposed = is_wide});
}

/* next = p x, or x p, p [low, low]. */
static ridge_status apply(const iterating *s, ridge__array p)
{
    const bool is_wide = s->rows == s->low;
    return multiply(s, (ridge__gemm){.m = s->rows,
                                     .n = s->columns,
                                     .k = s->low,
                                     .a = is_wide ? p : s->x,
                                     .b = is_wide ? s->x : p,
                                     .c = s->next,
                                     .lda = is_wide ? s->low : s->columns,
                                     .ldb = s->columns,
                                     .ldc = s->columns});
}

/* x = FIRST x + (THIRD g + FIFTH g g) x */
static ridge_status step(const iterating *s)
{
    const int64_t n = s->low * s->low;
    RIDGE_TRY(square(s));
    RIDGE_TRY(multiply(s, (ridge__gemm){.m = s->low,
                                        .n = s->low,
                                        .k = s->low,
                                        .a = s->g,
                                        .b = s->g,
                                        .c = s->g2,
                                        .lda = s->low,
                                        .ldb = s->low,
                                        .ldc = s->low}));
    RIDGE_TRY(add_scaled(s->c, s->g2, FIFTH / THIRD, s->g, n));
    RIDGE_TRY(s->c->m->device->ops->multiply(s->c->m->device, s->g2, n, THIRD));
    RIDGE_TRY(apply(s, s->g2));
    return add_scaled(s->c, s->x, FIRST, s->next, s->rows * s->columns);
}

static ridge_status make_orthogonal(const iterating *s)
{
    static const double LEAST_NORM = 1e-7;
    ridge__device *d = s->c->m->device;
    const int64_t n = s->rows * s->columns;
    double squares;
    RIDGE_TRY(d->ops->sum_of_squares(d, s->x, n, &squares));
    RIDGE_TRY(
        d->ops->multiply(d, s->x, n, (float)(1.0 / (sqrt(squares) + LEAST_NORM))));
    for (int i = 0; i < STEPS; i++)
        RIDGE_TRY(step(s));
    return RIDGE_OK;
}

static ridge_status iterate(ridge__call *c, const ridge__local_matrix *x,
                            ridge__array whole)
{
    const int64_t rows = x->whole_rows, columns = x->whole_columns;
    iterating s = {.c = c, .rows = rows, .columns = columns};
    s.low = rows < columns ? rows : columns;
    RIDGE_TRY(ridge__scratch_take(c, rows * columns, RIDGE_DTYPE_FP32, &s.next));
    RIDGE_TRY(ridge__scratch_take(c, s.low * s.low, RIDGE_DTYPE_FP32, &s.g));
    RIDGE_TRY(ridge__scratch_take(c, s.low * s.low, RIDGE_DTYPE_FP32, &s.g2));
    for (int64_t b = 0; b < x->batch; b++) {
        s.x = (ridge__array){(float *)whole.p + b * rows * columns, RIDGE_DTYPE_FP32};
        RIDGE_TRY(make_orthogonal(&s));
    }
    ridge__scratch_give(c, &s.next);
    ridge__scratch_give(c, &s.g);
    ridge__scratch_give(c, &s.g2);
    return RIDGE_OK;
}

ridge_status ridge__update_muon(ridge__call *c)
{
    ridge__local_matrix x;
    ridge__array g, whole, part;
    const int first = ridge__update_first_state(c);
    if (!ridge__local_matrix_of(c, first, &x))
        return ridge_fail(c->m->cx, RIDGE_E_INTERNAL, "muon: %s is no matrix",
                          ridge__in_tensor(c, 0)->name);
    RIDGE_TRY(ridge__update_gradient(c, &g));
    RIDGE_TRY(average(c, ridge__in_array(c, first), g, c->in[first]->elements));
    RIDGE_TRY(gather(c, first, &x, g, &whole));
    RIDGE_TRY(iterate(c, &x, whole));
    RIDGE_TRY(take_part(c, first, &x, whole, &part));
    const double side = fmax((double)x.whole_rows, (double)x.whole_columns);
    RIDGE_TRY(ridge__update_step(c, part, (float)(USUAL_STEP * sqrt(side))));
    ridge__scratch_give(c, &whole);
    ridge__scratch_give(c, &part);
    return RIDGE_OK;
}
