/*
 * Adafactor: second moments of a matrix's rows and columns alone, summed over the ranks
 * that have parts of it; of what is no matrix, of each element. No first moment; the
 * run's rate instead of one that follows the weights' size.
 * @source shazeer2018 algorithms 4 and 5, section 7 (constants)
 */
#include "host_memory.h"
#include "update_call.h"

#include <math.h>

/* Squares begin here; a step's root mean square ends here. @source shazeer2018, table 1
 */
static const double LEAST_SQUARE = 1e-30, LARGEST_STEP = 1.0;

/* What an update works on: steps u, and their squares. */
typedef struct factoring {
    ridge__call *c;
    ridge__local_matrix x;
    int first;                         /* input: of rows; the next one is of columns */
    ridge__array u, q;                 /* [batch, rows, columns] */
    float *rows, *columns;             /* host, [batch, whole ..]: sums, then factors */
    float *local_rows, *local_columns; /* host, [batch, local ..] */
} factoring;

static ridge_status multiply_by(const factoring *f, ridge__array a, ridge__array by,
                                const int64_t *strides, ridge__array out)
{
    const ridge__local_matrix *x = &f->x;
    ridge__elementwise e = {.function = RIDGE_FUNCTION_MULTIPLY,
                            .n_dims = 3,
                            .sizes = {x->batch, x->rows, x->columns},
                            .a_strides = {x->rows * x->columns, x->columns, 1},
                            .a = a,
                            .b = by,
                            .y = out};
    for (int i = 0; i < 3; i++)
        e.b_strides[i] = strides[i];
    return f->c->m->device->ops->elementwise(f->c->m->device, &e);
}

static ridge_status make_squares(const factoring *f)
{
    const int64_t strides[] = {f->x.rows * f->x.columns, f->x.columns, 1};
    return multiply_by(f, f->u, f->u, strides, f->q);
}

/* Sums of q over a middle dim -> host memory. */
static ridge_status sum_to_host(const factoring *f, ridge__sum s, float *out)
{
    ridge__device *d = f->c->m->device;
    const int64_t n = s.outer * s.inner;
    s.x = f->q;
    RIDGE_TRY(ridge__scratch_take(f->c, n, RIDGE_DTYPE_FP32, &s.y));
    RIDGE_TRY(d->ops->sum(d, &s));
    RIDGE_TRY(d->ops->download(d, out, s.y.p, (size_t)n * sizeof *out));
    ridge__scratch_give(f->c, &s.y);
    return RIDGE_OK;
}

/* ---- a part's entries in the whole
 * -----------------------------------------------------
 */

/* Which entry of the whole rows (or columns) a local one is; -1: padding. */
static int64_t whole_index(const factoring *f, int first, int end, int64_t local)
{
    const ridge__tensor_part *part = ridge__in_part(f->c, 1);
    const ridge_tensor *t = ridge__in_tensor(f->c, 1);
    int64_t index = 0, step = 1;
    for (int i = end - 1; i >= first; i--) {
        const ridge__span *s = &part->spans[i];
        const int64_t at = local % s->length;
        if (at >= s->valid)
            return -1;
        index += (s->start + at) * step;
        step *= f->c->m->program->dims[t->dims[i]].size;
        local /= s->length;
    }
    return index;
}

/* One side of the matrices: rows, or columns. */
typedef struct side {
    int first, end; /* dims */
    int64_t n, whole_n, other_n;
    float *whole, *local;
    int input; /* the state */
} side;

static side side_of(const factoring *f, bool is_rows)
{
    const ridge__local_matrix *x = &f->x;
    return is_rows
               ? (side){x->rows_at,       x->columns_at, x->rows,       x->whole_rows,
                        x->whole_columns, f->rows,       f->local_rows, f->first}
               : (side){x->columns_at, x->n_dims,  x->columns,       x->whole_columns,
                        x->whole_rows, f->columns, f->local_columns, f->first + 1};
}

static void spread(const factoring *f, const side *s)
{
    for (int64_t b = 0; b < f->x.batch; b++) {
        for (int64_t i = 0; i < s->n; i++) {
            const int64_t at = whole_index(f, s->first, s->end, i);
            if (at >= 0)
                s->whole[b * s->whole_n + at] = s->local[b * s->n + i];
        }
    }
}

static void pick(const factoring *f, const side *s)
{
    for (int64_t b = 0; b < f->x.batch; b++) {
        for (int64_t i = 0; i < s->n; i++) {
            const int64_t at = whole_index(f, s->first, s->end, i);
            s->local[b * s->n + i] = at >= 0 ? s->whole[b * s->whole_n + at] : 0.0F;
        }
    }
}

/* ---- moments
 * ---------------------------------------------------------------------------
 */

/* Sums become the averages over steps of mean squares. */
static ridge_status average(const factoring *f, const side *s)
{
    const double decay = (double)f->c->m->optimizer.factor_decay;
    ridge__device *d = f->c->m->device;
    const int64_t n = f->x.batch * s->whole_n;
    const size_t bytes = (size_t)n * sizeof(float);
    float *old = ridge__host_new((size_t)n, sizeof *old);
    if (old == NULL)
        return ridge_fail_nomem(f->c->m->cx);
    ridge_status st = d->ops->download(d, old, f->c->in[s->input]->p, bytes);
    for (int64_t i = 0; i < n; i++) {
        const double mean = (double)s->whole[i] / (double)s->other_n + LEAST_SQUARE;
        s->whole[i] = (float)(decay * (double)old[i] + (1.0 - decay) * mean);
    }
    ridge__host_free(old);
    return st != RIDGE_OK ? st
                          : d->ops->upload(d, f->c->in[s->input]->p, s->whole, bytes);
}

/* Of a matrix: rows / their mean, or columns, to what a step is multiplied by. */
static void to_factors(float *values, int64_t n, bool is_over_mean)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)values[i];
    const double by = is_over_mean ? sum / (double)n : 1.0;
    for (int64_t i = 0; i < n; i++)
        values[i] = (float)sqrt(by / (double)values[i]);
}

static ridge_status sum_squares(const factoring *f)
{
    const ridge__local_matrix *x = &f->x;
    RIDGE_TRY(make_squares(f));
    RIDGE_TRY(sum_to_host(
        f, (ridge__sum){.outer = x->batch * x->rows, .middle = x->columns, .inner = 1},
        f->local_rows));
    return sum_to_host(
        f, (ridge__sum){.outer = x->batch, .middle = x->rows, .inner = x->columns},
        f->local_columns);
}

static ridge_status renew_side(const factoring *f, bool is_rows)
{
    const side s = side_of(f, is_rows);
    spread(f, &s);
    RIDGE_TRY(ridge__share_over_cut(f->c, 1, f->x.rows_at, f->x.n_dims, s.whole,
                                    f->x.batch * s.whole_n));
    RIDGE_TRY(average(f, &s));
    for (int64_t b = 0; b < f->x.batch; b++)
        to_factors(s.whole + b * s.whole_n, s.whole_n, is_rows);
    pick(f, &s);
    return RIDGE_OK;
}

/* ---- the step
 * --------------------------------------------------------------------------
 */

/* u *= what a row, a column or a matrix has: host values [n]. */
static ridge_status scale_by(const factoring *f, const float *values, int64_t n,
                             const int64_t *strides)
{
    ridge__device *d = f->c->m->device;
    ridge__array by;
    RIDGE_TRY(ridge__scratch_take(f->c, n, RIDGE_DTYPE_FP32, &by));
    RIDGE_TRY(d->ops->upload(d, by.p, values, (size_t)n * sizeof *values));
    RIDGE_TRY(multiply_by(f, f->u, by, strides, f->u));
    RIDGE_TRY(d->ops->finish(d));
    ridge__scratch_give(f->c, &by);
    return RIDGE_OK;
}

static ridge_status scale_sides(const factoring *f)
{
    const ridge__local_matrix *x = &f->x;
    const int64_t by_row[] = {x->rows, 1, 0}, by_column[] = {x->columns, 0, 1};
    RIDGE_TRY(scale_by(f, f->local_rows, x->batch * x->rows, by_row));
    return scale_by(f, f->local_columns, x->batch * x->columns, by_column);
}

static float limit_of(double squares, double n)
{
    return (float)(1.0 / fmax(1.0, sqrt(squares / n) / LARGEST_STEP));
}

/* No step of a matrix is larger than the usual one. */
static ridge_status limit(const factoring *f)
{
    const ridge__local_matrix *x = &f->x;
    const int64_t by_matrix[] = {1, 0, 0};
    float *squares = f->local_rows; /* [batch <= batch * rows] */
    RIDGE_TRY(make_squares(f));
    RIDGE_TRY(sum_to_host(
        f, (ridge__sum){.outer = x->batch, .middle = x->rows * x->columns, .inner = 1},
        squares));
    RIDGE_TRY(ridge__share_over_cut(f->c, 1, x->rows_at, x->n_dims, squares, x->batch));
    for (int64_t b = 0; b < x->batch; b++)
        squares[b] = limit_of((double)squares[b],
                              (double)x->whole_rows * (double)x->whole_columns);
    return scale_by(f, squares, x->batch, by_matrix);
}

static ridge_status take_room(factoring *f)
{
    const ridge__local_matrix *x = &f->x;
    const int64_t n = x->batch * (x->rows + x->columns);
    const int64_t whole = x->batch * (x->whole_rows + x->whole_columns);
    f->rows = ridge__host_new((size_t)(n + whole), sizeof *f->rows);
    if (f->rows == NULL)
        return ridge_fail_nomem(f->c->m->cx);
    f->columns = f->rows + x->batch * x->whole_rows;
    f->local_rows = f->rows + whole;
    f->local_columns = f->local_rows + x->batch * x->rows;
    RIDGE_TRY(ridge__update_gradient(f->c, &f->u));
    return ridge__scratch_take(f->c, f->c->in[1]->elements, RIDGE_DTYPE_FP32, &f->q);
}

static ridge_status update_matrix(factoring *f)
{
    RIDGE_TRY(take_room(f));
    RIDGE_TRY(sum_squares(f));
    RIDGE_TRY(renew_side(f, true));
    RIDGE_TRY(renew_side(f, false));
    RIDGE_TRY(scale_sides(f));
    RIDGE_TRY(limit(f));
    RIDGE_TRY(ridge__update_step(f->c, f->u, 1.0F));
    ridge__scratch_give(f->c, &f->u);
    ridge__scratch_give(f->c, &f->q);
    return RIDGE_OK;
}

/* ---- what is no matrix
 * -----------------------------------------------------------------
 */

/* u = g / sqrt(v): Adam's step without a first moment, on a weight of zeros. */
static ridge_status divide_by_root(ridge__call *c, ridge__array g, ridge__array v,
                                   ridge__array u)
{
    ridge__device *d = c->m->device;
    const int64_t n = c->in[1]->elements;
    ridge__array m;
    RIDGE_TRY(ridge__scratch_take(c, n, RIDGE_DTYPE_FP32, &m));
    RIDGE_TRY(d->ops->zero(d, m.p, (size_t)n * sizeof(float)));
    RIDGE_TRY(d->ops->zero(d, u.p, (size_t)n * sizeof(float)));
    const ridge__update step = {.n = n,
                                .weight = u,
                                .gradient = g,
                                .m = m,
                                .v = v,
                                .rate = -1.0F,
                                .beta2 = c->m->optimizer.factor_decay,
                                .epsilon = (float)sqrt(LEAST_SQUARE),
                                .correction1 = 1.0F,
                                .correction2 = 1.0F,
                                .scale = 1.0F};
    RIDGE_TRY(d->ops->update(d, &step));
    ridge__scratch_give(c, &m);
    return RIDGE_OK;
}

static double whole_elements(const ridge__call *c)
{
    return ridge_tensor_elements(c->m->program, ridge__in_tensor(c, 1));
}

static ridge_status update_plain(ridge__call *c, int v)
{
    ridge__array g, u;
    double squares;
    float sum;
    RIDGE_TRY(ridge__update_gradient(c, &g));
    RIDGE_TRY(ridge__scratch_take(c, c->in[1]->elements, RIDGE_DTYPE_FP32, &u));
    RIDGE_TRY(divide_by_root(c, g, ridge__in_array(c, v), u));
    RIDGE_TRY(c->m->device->ops->sum_of_squares(c->m->device, u, c->in[1]->elements,
                                                &squares));
    sum = (float)squares;
    RIDGE_TRY(ridge__share_over_cut(c, 1, 0, ridge__in_part(c, 1)->n_dims, &sum, 1));
    RIDGE_TRY(ridge__update_step(c, u, limit_of((double)sum, whole_elements(c))));
    ridge__scratch_give(c, &g);
    ridge__scratch_give(c, &u);
    return RIDGE_OK;
}

ridge_status ridge__update_adafactor(ridge__call *c)
{
    factoring f = {.c = c, .first = ridge__update_first_state(c)};
    if (!ridge_update_is_factor(c->m->program, c->op, f.first))
        return update_plain(c, f.first);
    if (!ridge__local_matrix_of(c, 1, &f.x))
        return ridge_fail(c->m->cx, RIDGE_E_INTERNAL, "adafactor: %s is no matrix",
                          ridge__in_tensor(c, 0)->name);
    const ridge_status st = update_matrix(&f);
    ridge__host_free(f.rows);
    return st;
}
