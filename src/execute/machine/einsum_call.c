/*
 * Einsums as matrix products: dims are sorted into those of a batch, of rows m, of
 * columns n and summed ones k; where an operand's strides do not make a matrix of them,
 * it is laid out anew first. Rows of experts take grouped products.
 */
#include "rows_bias.h"

#include <string.h>

enum { DIMS_MOST = 2 * RIDGE_TENSOR_DIM_MAX };

/* An operand: its dims with local sizes and strides in elements. */
typedef struct operand {
    int n;
    int dims[RIDGE_TENSOR_DIM_MAX];
    int64_t sizes[RIDGE_TENSOR_DIM_MAX], strides[RIDGE_TENSOR_DIM_MAX];
    ridge__array array;
    bool is_taken; /* the array is scratch */
} operand;

/* Dims of one kind, in one order. */
typedef struct group {
    int n;
    int dims[DIMS_MOST];
} group;

typedef struct product {
    ridge__call *c;
    operand a, b, out;
    group batch, m, n, k;
    bool adds;
} product;

static void set_strides(operand *o)
{
    int64_t stride = 1;
    for (int i = o->n - 1; i >= 0; i--) {
        o->strides[i] = stride;
        stride *= o->sizes[i];
    }
}

static operand operand_of(const ridge_tensor *t, const ridge__tensor_part *part,
                          ridge__array array)
{
    operand o = {.n = part->n_dims, .array = array};
    for (int i = 0; i < o.n; i++) {
        o.dims[i] = t->dims[i];
        o.sizes[i] = part->spans[i].length;
    }
    set_strides(&o);
    return o;
}

static int position(const operand *o, int dim)
{
    for (int i = 0; i < o->n; i++) {
        if (o->dims[i] == dim)
            return i;
    }
    return -1;
}

static void group_add(group *g, int dim)
{
    g->dims[g->n++] = dim;
}

/* In the order of the output, summed ones in that of the first input. */
static void sort_dims(product *p)
{
    for (int i = 0; i < p->out.n; i++) {
        const int dim = p->out.dims[i];
        const bool in_a = position(&p->a, dim) >= 0, in_b = position(&p->b, dim) >= 0;
        group_add(in_a && in_b ? &p->batch : in_a ? &p->m : &p->n, dim);
    }
    for (int i = 0; i < p->a.n; i++) {
        if (position(&p->out, p->a.dims[i]) < 0)
            group_add(&p->k, p->a.dims[i]);
    }
}

static int64_t group_size(const operand *o, const group *g)
{
    int64_t n = 1;
    for (int i = 0; i < g->n; i++)
        n *= o->sizes[position(o, g->dims[i])];
    return n;
}

/* The stride with which a group runs through an operand as one dim. @return false if it
 * does not */
static bool group_stride(const operand *o, const group *g, int64_t *out)
{
    int64_t expected = 0;
    *out = 0;
    for (int i = g->n - 1; i >= 0; i--) {
        const int at = position(o, g->dims[i]);
        if (o->sizes[at] == 1)
            continue;
        if (expected == 0) {
            *out = o->strides[at];
        } else if (o->strides[at] != expected) {
            return false;
        }
        expected = o->strides[at] * o->sizes[at];
    }
    return true;
}

/* ---- matrices ---------------------------------------------------------------------
 */

/* An operand as matrices [rows, columns], possibly transposed. */
typedef struct matrix {
    int64_t ld, stride;
    bool is_transposed;
} matrix;

static bool matrix_of(const operand *o, const group *batch, const group *rows,
                      const group *columns, matrix *out)
{
    int64_t row, column;
    matrix x = {.stride = 0};
    if (!group_stride(o, batch, &x.stride) || !group_stride(o, rows, &row) ||
        !group_stride(o, columns, &column))
        return false;
    const int64_t n_rows = group_size(o, rows), n_columns = group_size(o, columns);
    if (column == 1 || n_columns == 1) {
        x.ld = n_rows == 1 ? n_columns : row;
    } else if (row == 1 || n_rows == 1) {
        x.is_transposed = true;
        x.ld = column;
    } else {
        return false;
    }
    if (x.ld < (x.is_transposed ? n_rows : n_columns))
        return false;
    *out = x;
    return true;
}

/* The dims of an operand in the order batch, rows, columns. */
static operand ordered(const operand *o, const group *batch, const group *rows,
                       const group *columns)
{
    const group *const groups[] = {batch, rows, columns};
    operand r = {.array = o->array};
    for (int g = 0; g < 3; g++) {
        for (int i = 0; i < groups[g]->n; i++) {
            r.dims[r.n] = groups[g]->dims[i];
            r.sizes[r.n++] = o->sizes[position(o, groups[g]->dims[i])];
        }
    }
    set_strides(&r);
    return r;
}

static int64_t operand_elements(const operand *o)
{
    int64_t n = 1;
    for (int i = 0; i < o->n; i++)
        n *= o->sizes[i];
    return n;
}

static ridge_status copy_operand(ridge__call *c, const operand *from, const operand *to,
                                 bool is_added)
{
    ridge__copy copy = {.n_dims = to->n, .x = from->array, .y = to->array};
    copy.is_added = is_added;
    for (int i = 0; i < to->n; i++) {
        copy.sizes[i] = to->sizes[i];
        copy.y_strides[i] = to->strides[i];
        copy.x_strides[i] = from->strides[position(from, to->dims[i])];
    }
    return c->m->device->ops->copy(c->m->device, &copy);
}

/* Lay an input out anew, if it is no matrix as it is. */
static ridge_status make_matrix(product *p, operand *o, const group *rows,
                                const group *columns, matrix *out)
{
    if (matrix_of(o, &p->batch, rows, columns, out))
        return RIDGE_OK;
    operand fresh = ordered(o, &p->batch, rows, columns);
    fresh.is_taken = true;
    RIDGE_TRY(ridge__scratch_take(p->c, operand_elements(&fresh), o->array.dtype,
                                  &fresh.array));
    RIDGE_TRY(copy_operand(p->c, o, &fresh, false));
    *o = fresh;
    const bool is_matrix = matrix_of(o, &p->batch, rows, columns, out);
    return is_matrix
               ? RIDGE_OK
               : ridge_fail(p->c->m->cx, RIDGE_E_INTERNAL, "no matrix of an operand");
}

static void give(product *p, operand *o)
{
    if (o->is_taken)
        ridge__scratch_give(p->c, &o->array);
}

/* The output as [m, n] or, with inputs exchanged, [n, m]. */
static bool output_matrix(product *p, matrix *out)
{
    if (matrix_of(&p->out, &p->batch, &p->m, &p->n, out) && !out->is_transposed)
        return true;
    if (!matrix_of(&p->out, &p->batch, &p->n, &p->m, out) || out->is_transposed)
        return false;
    const operand a = p->a;
    const group m = p->m;
    p->a = p->b;
    p->b = a;
    p->m = p->n;
    p->n = m;
    return true;
}

static ridge_status multiply(product *p, const matrix *out)
{
    matrix a, b;
    RIDGE_TRY(make_matrix(p, &p->a, &p->m, &p->k, &a));
    RIDGE_TRY(make_matrix(p, &p->b, &p->k, &p->n, &b));
    const ridge__gemm g = {.batch = group_size(&p->a, &p->batch),
                           .m = group_size(&p->a, &p->m),
                           .n = group_size(&p->b, &p->n),
                           .k = group_size(&p->a, &p->k),
                           .a = p->a.array,
                           .b = p->b.array,
                           .c = p->out.array,
                           .bias = p->c->bias,
                           .lda = a.ld,
                           .ldb = b.ld,
                           .ldc = out->ld,
                           .stride_a = a.stride,
                           .stride_b = b.stride,
                           .stride_c = out->stride,
                           .is_a_transposed = a.is_transposed,
                           .is_b_transposed = b.is_transposed,
                           .is_added = p->adds};
    const ridge_status st = p->c->m->device->ops->gemm(p->c->m->device, &g);
    give(p, &p->a);
    give(p, &p->b);
    return st;
}

static ridge_status multiply_operands(product *p)
{
    matrix out;
    sort_dims(p);
    if (output_matrix(p, &out))
        return multiply(p, &out);
    /* an output whose columns are mixed: computed in order, then laid out */
    const operand wanted = p->out;
    const bool adds = p->adds;
    p->out = ordered(&wanted, &p->batch, &p->m, &p->n);
    RIDGE_TRY(ridge__scratch_take(p->c, operand_elements(&p->out), wanted.array.dtype,
                                  &p->out.array));
    p->adds = false;
    operand computed = p->out;
    ridge_status st = output_matrix(p, &out) ? multiply(p, &out) : RIDGE_E_INTERNAL;
    if (st == RIDGE_OK)
        st = copy_operand(p->c, &computed, &wanted, adds);
    ridge__scratch_give(p->c, &computed.array);
    return st;
}

static product product_of(ridge__call *c)
{
    product p = {.c = c, .adds = c->adds[0]};
    p.a =
        operand_of(ridge__in_tensor(c, 0), ridge__in_part(c, 0), ridge__in_array(c, 0));
    p.b =
        operand_of(ridge__in_tensor(c, 1), ridge__in_part(c, 1), ridge__in_array(c, 1));
    p.out = operand_of(ridge__out_tensor(c, 0), ridge__out_part(c, 0),
                       ridge__out_array(c, 0));
    return p;
}

static ridge_status multiply_two(ridge__call *c)
{
    product p = product_of(c);
    return multiply_operands(&p);
}

/* ---- a piece of a product ----------------------------------------------------------
 */

static void narrow(operand *o, const ridge__piece *piece, int which)
{
    const int at = position(o, piece->dim);
    o->array = piece->arrays[which];
    if (at < 0)
        return;
    o->array.p = (char *)o->array.p + piece->first[which] * o->strides[at] *
                                          (int64_t)ridge_dtype_bytes(o->array.dtype);
    o->sizes[at] = piece->length;
}

ridge_status ridge__call_einsum_piece(ridge__call *c, const ridge__piece *piece)
{
    product p = product_of(c);
    p.adds = piece->is_added;
    narrow(&p.a, piece, 0);
    narrow(&p.b, piece, 1);
    narrow(&p.out, piece, 2);
    return piece->length > 0 ? multiply_operands(&p) : RIDGE_OK;
}

/* ---- one input --------------------------------------------------------------------
 */

/* The sum over the leading dims, which are as many as `summed` has. */
static ridge_status sum_leading(ridge__call *c, const operand *in, const operand *out,
                                const group *summed, const group *kept)
{
    ridge__array sum = out->array;
    if (c->adds[0]) {
        RIDGE_TRY(
            ridge__scratch_take(c, operand_elements(out), RIDGE_DTYPE_FP32, &sum));
    }
    const ridge__sum how = {.outer = 1,
                            .middle = group_size(in, summed),
                            .inner = group_size(in, kept),
                            .x = in->array,
                            .y = sum};
    ridge_status st = c->m->device->ops->sum(c->m->device, &how);
    if (!c->adds[0])
        return st;
    operand from = *out;
    from.array = sum;
    st = st == RIDGE_OK ? copy_operand(c, &from, out, true) : st;
    ridge__scratch_give(c, &sum);
    return st;
}

/* A sum over some dims, or a transposition. */
static ridge_status reduce_one(ridge__call *c)
{
    const group none = {.n = 0};
    group kept = {.n = 0}, summed = {.n = 0};
    operand in =
        operand_of(ridge__in_tensor(c, 0), ridge__in_part(c, 0), ridge__in_array(c, 0));
    operand out = operand_of(ridge__out_tensor(c, 0), ridge__out_part(c, 0),
                             ridge__out_array(c, 0));
    for (int i = 0; i < out.n; i++)
        group_add(&kept, out.dims[i]);
    for (int i = 0; i < in.n; i++) {
        if (position(&out, in.dims[i]) < 0)
            group_add(&summed, in.dims[i]);
    }
    if (summed.n == 0)
        return copy_operand(c, &in, &out, c->adds[0]);
    operand fresh = ordered(&in, &none, &summed, &kept);
    if (memcmp(fresh.dims, in.dims, (size_t)in.n * sizeof *in.dims) == 0)
        return sum_leading(c, &in, &out, &summed, &kept);
    RIDGE_TRY(
        ridge__scratch_take(c, operand_elements(&fresh), in.array.dtype, &fresh.array));
    RIDGE_TRY(copy_operand(c, &in, &fresh, false));
    const ridge_status st = sum_leading(c, &fresh, &out, &summed, &kept);
    ridge__scratch_give(c, &fresh.array);
    return st;
}

/* ---- rows of experts ---------------------------------------------------------------
 */

static void log_rows(const ridge__call *c, int64_t rows)
{
    ridge__rows_log *log = &c->m->rows;
    if (!c->op->is_backward && !c->at->is_again && log->n < RIDGE__ROWS_LOG_MOST)
        log->rows[log->n++] = (int32_t)rows;
}

/* rows [E, C, k..] w [E, k.., n..] -> rows [E, C, n..] */
static ridge_status multiply_rows(ridge__call *c, int rows)
{
    const int weight = 1 - rows;
    const ridge__tensor_part *in = ridge__in_part(c, rows),
                             *w = ridge__in_part(c, weight);
    const ridge__tensor_part *out = ridge__out_part(c, 0);
    const ridge_tensor *w_tensor = ridge__in_tensor(c, weight);
    ridge__grouped_gemm g = {.in = ridge__in_array(c, rows),
                             .w = ridge__in_array(c, weight),
                             .out = ridge__out_array(c, 0),
                             .is_added = c->adds[0]};
    g.offsets = ridge__rows_offsets(c, c->op->inputs[rows], &g.groups);
    g.k = ridge__tensor_part_product(in, 2, in->n_dims);
    g.n = ridge__tensor_part_product(out, 2, out->n_dims);
    const bool is_wanted = in->n_dims == 3 && out->n_dims == 3 && w->n_dims == 3 &&
                           w_tensor->dims[0] == ridge__in_tensor(c, rows)->dims[0];
    if (!is_wanted) {
        return ridge_fail(c->m->cx, RIDGE_E_ARG,
                          "experts' rows times %s: only matrices of experts can be run",
                          w_tensor->name);
    }
    log_rows(c, g.offsets[g.groups]);
    g.is_w_transposed = w_tensor->dims[1] != ridge__in_tensor(c, rows)->dims[2];
    return c->m->device->ops->grouped_gemm(c->m->device, &g);
}

/* rows [E, C, k] rows [E, C, n] -> w [E, k, n] */
static ridge_status multiply_outer(ridge__call *c)
{
    const ridge_tensor *out = ridge__out_tensor(c, 0);
    if (out->n_dims != 3 || ridge__in_part(c, 0)->n_dims != 3) {
        return ridge_fail(c->m->cx, RIDGE_E_ARG,
                          "the gradient of %s: only matrices of experts can be run",
                          out->name);
    }
    const int first = ridge__in_tensor(c, 0)->dims[2] == out->dims[1] ? 0 : 1;
    ridge__grouped_gemm g = {.in = ridge__in_array(c, first),
                             .w = ridge__in_array(c, 1 - first),
                             .out = ridge__out_array(c, 0),
                             .is_outer = true,
                             .is_added = c->adds[0]};
    g.offsets = ridge__rows_offsets(c, c->op->inputs[first], &g.groups);
    g.k = ridge__out_part(c, 0)->spans[1].length;
    g.n = ridge__out_part(c, 0)->spans[2].length;
    return c->m->device->ops->grouped_gemm(c->m->device, &g);
}

ridge_status ridge__call_einsum(ridge__call *c)
{
    if (c->op->n_inputs == 1)
        return ridge__in_part(c, 0)->is_rows && !ridge__out_part(c, 0)->is_rows
                   ? ridge__rows_bias_gradient(c)
                   : reduce_one(c);
    const bool is_first = ridge__in_part(c, 0)->is_rows;
    const bool is_second = ridge__in_part(c, 1)->is_rows;
    if (is_first && is_second)
        return multiply_outer(c);
    if (is_first || is_second)
        return multiply_rows(c, is_first ? 0 : 1);
    return multiply_two(c);
}
