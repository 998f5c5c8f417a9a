/* Values of 8 bits with scales, and the update of such moments. */
#include "block_moments.h"

#include "block_code.h"
#include "update_call.h"

#include <string.h>

/* ---- where they lie
 * ------------------------------------------------------------------ */

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The rows of a tensor's part and how they are cut; no arrays. */
static ridge__blocks shape_of(const ridge__machine *m, int tensor)
{
    const ridge__tensor_part *part = &m->parts[tensor];
    const ridge_tensor *t = &m->program->tensors[tensor];
    const ridge__span *last = &part->spans[part->n_dims - 1];
    return (ridge__blocks){.rows =
                               ridge__tensor_part_product(part, 0, part->n_dims - 1),
                           .n = last->length,
                           .first = last->start,
                           .is_signed = !starts_with(ridge_tensor_base(t), "v_")};
}

/* Scales begin on a whole float. */
static size_t code_bytes(const ridge__blocks *b)
{
    const size_t n = (size_t)(b->rows * b->n), align = sizeof(float);
    return (n + align - 1) / align * align;
}

size_t ridge__array_bytes(const ridge__machine *m, int tensor)
{
    const ridge_dtype dtype = m->formats[tensor];
    if (dtype != RIDGE_DTYPE_INT8)
        return (size_t)m->parts[tensor].elements * (size_t)ridge_dtype_bytes(dtype);
    const ridge__blocks b = shape_of(m, tensor);
    return code_bytes(&b) +
           (size_t)(b.rows * ridge__blocks_per_row(&b)) * sizeof(float);
}

ridge__blocks ridge__moment_blocks(const ridge__machine *m, int tensor,
                                   const ridge__value *v)
{
    ridge__blocks b = shape_of(m, tensor);
    b.codes = v->p;
    b.scales = (float *)(void *)(b.codes + code_bytes(&b));
    return b;
}

static ridge__blocks rows_of(const ridge__blocks *b, int64_t first, int64_t rows,
                             float *x)
{
    ridge__blocks part = *b;
    part.rows = rows;
    part.x = x;
    part.codes += first * b->n;
    part.scales += first * ridge__blocks_per_row(b);
    return part;
}

/* ---- packing
 * ----------------------------------------------------------------------------
 */

ridge_status ridge__blocks_unpack(ridge__machine *m, const ridge__blocks *b,
                                  int64_t first, int64_t rows, float *x)
{
    const ridge__blocks part = rows_of(b, first, rows, x);
    return m->device->ops->block_unpack(m->device, &part);
}

static const ridge_dim_axes *last_axes(const ridge__machine *m, int tensor)
{
    const ridge_sharding *s = &m->partition->shardings[tensor];
    return &s->dims[m->parts[tensor].n_dims - 1];
}

bool ridge__blocks_are_shared(const ridge__machine *m, int tensor)
{
    const ridge__tensor_part *part = &m->parts[tensor];
    return last_axes(m, tensor)->n > 0 &&
           part->spans[part->n_dims - 1].length % RIDGE__BLOCK_ENTRIES != 0;
}

static ridge_status largest_over(ridge__machine *m, int axis, float *values, int64_t n)
{
    ridge_pending pending;
    RIDGE_TRY(m->device->ops->finish(m->device));
    RIDGE_TRY(ridge_all_reduce_start(m->cx, m->axis_groups[axis], RIDGE_ELEMENT_F32,
                                     RIDGE_REDUCE_MAX, n, values, values, &pending));
    return ridge_comm_wait(m->cx, &pending);
}

/* Scales [rows, local blocks] -> the largest over all ranks with a part of a block, by
 * way of all blocks of a row. */
static ridge_status share_scales(ridge__machine *m, int tensor, const ridge__blocks *b)
{
    const ridge_tensor *t = &m->program->tensors[tensor];
    const int64_t size = m->program->dims[t->dims[t->n_dims - 1]].size;
    const int64_t local = ridge__blocks_per_row(b);
    const int64_t first = b->first / RIDGE__BLOCK_ENTRIES;
    const int64_t end = ridge_ceil_div(size, RIDGE__BLOCK_ENTRIES);
    const int64_t all = first + local > end ? first + local : end;
    const ridge_dim_axes *axes = last_axes(m, tensor);
    ridge__device *d = m->device;
    const size_t bytes = (size_t)(b->rows * all) * sizeof(float);
    ridge__copy copy = {.n_dims = 2,
                        .sizes = {b->rows, local},
                        .x_strides = {local, 1},
                        .y_strides = {all, 1},
                        .x = {b->scales, RIDGE_DTYPE_FP32}};
    void *p;
    RIDGE_TRY(d->ops->alloc(d, bytes, &p));
    RIDGE_TRY(d->ops->zero(d, p, bytes));
    copy.y = (ridge__array){(float *)p + first, RIDGE_DTYPE_FP32};
    RIDGE_TRY(d->ops->copy(d, &copy));
    for (int k = 0; k < axes->n; k++)
        RIDGE_TRY(largest_over(m, axes->axes[k], p, b->rows * all));
    const ridge__copy back = {.n_dims = 2,
                              .sizes = {b->rows, local},
                              .x_strides = {all, 1},
                              .y_strides = {local, 1},
                              .x = copy.y,
                              .y = copy.x};
    RIDGE_TRY(d->ops->copy(d, &back));
    d->ops->release(d, p);
    return RIDGE_OK;
}

ridge_status ridge__blocks_pack(ridge__machine *m, int tensor, const ridge__blocks *b,
                                int64_t first, int64_t rows, float *x)
{
    const ridge__blocks part = rows_of(b, first, rows, x);
    RIDGE_TRY(m->device->ops->block_maxima(m->device, &part));
    if (ridge__blocks_are_shared(m, tensor))
        RIDGE_TRY(share_scales(m, tensor, &part));
    return m->device->ops->block_pack(m->device, &part);
}

/* ---- the update
 * ------------------------------------------------------------------------
 */

/* Rows under way in fp32. */
typedef struct slice {
    ridge__call *c;
    int tensors[2];     /* m and v */
    ridge__blocks b[2]; /* whole */
    ridge__array x[2];
} slice;

static ridge__array array_at(ridge__array a, int64_t element)
{
    const int64_t bytes = ridge_dtype_bytes(a.dtype) > 2 ? 4 : 2;
    return (ridge__array){a.p ? (char *)a.p + element * bytes : NULL, a.dtype};
}

static ridge_status update_rows(const slice *s, const ridge__update *whole,
                                int64_t first, int64_t rows)
{
    ridge__machine *m = s->c->m;
    ridge__update u = *whole;
    const int64_t at = first * s->b[0].n;
    for (int i = 0; i < 2; i++)
        RIDGE_TRY(ridge__blocks_unpack(m, &s->b[i], first, rows, s->x[i].p));
    u.n = rows * s->b[0].n;
    u.weight = array_at(u.weight, at);
    u.gradient = array_at(u.gradient, at);
    u.master = u.master ? u.master + at : NULL;
    u.m = s->x[0];
    u.v = s->x[1];
    RIDGE_TRY(m->device->ops->update(m->device, &u));
    for (int i = 0; i < 2; i++)
        RIDGE_TRY(
            ridge__blocks_pack(m, s->tensors[i], &s->b[i], first, rows, s->x[i].p));
    return RIDGE_OK;
}

ridge_status ridge__update_blocks(ridge__call *c)
{
    enum { SLICE_ELEMENTS = 1 << 18 };
    slice s = {.c = c};
    const int first_state = ridge__update_first_state(c);
    const ridge__update u = ridge__update_of(c);
    for (int i = 0; i < 2; i++) {
        s.tensors[i] = c->op->inputs[first_state + i];
        s.b[i] = ridge__moment_blocks(c->m, s.tensors[i], c->in[first_state + i]);
    }
    const int64_t rows = s.b[0].rows;
    int64_t step = s.b[0].n > 0 ? SLICE_ELEMENTS / s.b[0].n : rows;
    step = step < 1 ? 1 : step;
    if (ridge__blocks_are_shared(c->m, s.tensors[0]) || step > rows)
        step = rows;
    for (int i = 0; i < 2; i++)
        RIDGE_TRY(ridge__scratch_take(c, step * s.b[0].n, RIDGE_DTYPE_FP32, &s.x[i]));
    for (int64_t r = 0; r < rows; r += step)
        RIDGE_TRY(update_rows(&s, &u, r, rows - r < step ? rows - r : step));
    for (int i = 0; i < 2; i++)
        ridge__scratch_give(c, &s.x[i]);
    return RIDGE_OK;
}
