/*
 * Strided copies and permutations. Dims are put in the order in which y lies in memory
 * and joined where both arrays allow it; what is left is cut in blocks of two dims: the
 * one along which y is contiguous, and the one along which x is, so that a
 * transposition reads and writes whole cache lines.
 */
#include "kernel.h"

#include "kernel_bf16.h"

#include <string.h>

enum {
    DIMS = RIDGE_TENSOR_DIM_MAX,
    SIDE = 64,     /* of a block that is transposed: two of them fit the L1 cache */
    RUN = 1 << 18, /* elements of a block that is not */
    QUAD = 4,
    CACHE_LINE = 64,
    SMALL = 16384 /* elements that are not worth waking the team */
};

/** One dim of both arrays. */
typedef struct dim {
    int64_t size, x, y; /* strides */
} dim;

/** Two dims of a block, rows and columns, and all others, walked over. */
typedef struct layout {
    int n; /* dims walked over; the last two of these count blocks */
    dim walked[DIMS + 2];
    dim row, column;
    int64_t rows, columns; /* of a block */
    int64_t blocks;
    ridge__array from, to;
    bool is_added;
    const ridge__kernel_table *kernels;
} layout;

/* ---- dims ------------------------------------------------------------------------ */

/** Dims of more than one element, y's strides falling. @return their number */
static int sorted_dims(const ridge__copy *c, dim *dims)
{
    int n = 0;
    for (int i = 0; i < c->n_dims; i++) {
        dim one = {c->sizes[i], c->x_strides[i], c->y_strides[i]};
        if (one.size == 1)
            continue;
        int at = n++;
        for (; at > 0 && dims[at - 1].y < one.y; at--)
            dims[at] = dims[at - 1];
        dims[at] = one;
    }
    return n;
}

/** Join each dim with the next where together they are one. @return number left */
static int join_dims(dim *dims, int n)
{
    int last = 0;
    for (int i = 1; i < n; i++) {
        dim *outer = &dims[last], inner = dims[i];
        bool is_one =
            outer->x == inner.x * inner.size && outer->y == inner.y * inner.size;
        if (is_one)
            *outer = (dim){outer->size * inner.size, inner.x, inner.y};
        else
            dims[++last] = inner;
    }
    return n == 0 ? 0 : last + 1;
}

/** The dim, other than the last, along which x is contiguous; else the one before. */
static int row_dim(const dim *dims, int n)
{
    for (int i = n - 2; i >= 0 && dims[n - 1].x != 1; i--)
        if (dims[i].x == 1)
            return i;
    return n - 2;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t ceiling(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

/** Blocks of both dims are two more dims to walk over. */
static void cut(layout *l, bool is_transposed, int64_t elements, int workers)
{
    int64_t run = least(RUN, ceiling(elements, (int64_t)workers * 4));
    l->columns = least(l->column.size, is_transposed ? SIDE : run);
    l->rows = least(l->row.size, is_transposed ? SIDE : ceiling(run, l->columns));
    l->walked[l->n++] =
        (dim){ceiling(l->row.size, l->rows), l->row.x * l->rows, l->row.y * l->rows};
    l->walked[l->n++] = (dim){ceiling(l->column.size, l->columns),
                              l->column.x * l->columns, l->column.y * l->columns};
    l->blocks = 1;
    for (int i = 0; i < l->n; i++)
        l->blocks *= l->walked[i].size;
}

static layout layout_of(const ridge__copy *c, int64_t elements, int workers)
{
    dim dims[DIMS];
    int n = join_dims(dims, sorted_dims(c, dims));
    layout l = {.from = c->x, .to = c->y, .is_added = c->is_added};
    if (c->is_raw_4)
        l.from.dtype = l.to.dtype = RIDGE_DTYPE_FP32;
    l.column = n > 0 ? dims[n - 1] : (dim){1, 1, 1};
    int row = n > 1 ? row_dim(dims, n) : -1;
    l.row = row >= 0 ? dims[row] : (dim){1, 0, 0};
    for (int i = 0; i < n - 1; i++)
        if (i != row)
            l.walked[l.n++] = dims[i];
    cut(&l, l.row.x == 1 && l.column.x != 1, elements, workers);
    return l;
}

/* ---- blocks ---------------------------------------------------------------------- */

typedef struct block {
    ridge__array from, to;
    int64_t rows, columns;
} block;

/* One function for each pair of formats; VALUE is made of *from and *to. */
#define RIDGE__BLOCK_MOVE(name, X, Y, VALUE)                                           \
    static void name(const layout *l, const block *b)                                  \
    {                                                                                  \
        const X *x = b->from.p;                                                        \
        Y *y = b->to.p;                                                                \
        for (int64_t i = 0; i < b->rows; i++)                                          \
            for (int64_t j = 0; j < b->columns; j++) {                                 \
                const X *from = &x[i * l->row.x + j * l->column.x];                    \
                Y *to = &y[i * l->row.y + j * l->column.y];                            \
                *to = (VALUE);                                                         \
            }                                                                          \
    }

/* clang-format off */
RIDGE__BLOCK_MOVE(move_4, uint32_t, uint32_t, *from)
RIDGE__BLOCK_MOVE(move_2, uint16_t, uint16_t, *from)
RIDGE__BLOCK_MOVE(widen, uint16_t, float, ridge__float_of_bf16(*from))
RIDGE__BLOCK_MOVE(narrow, float, uint16_t, ridge__bf16_of_float(*from))
RIDGE__BLOCK_MOVE(add_4, float, float, *to + *from)
RIDGE__BLOCK_MOVE(add_2, uint16_t, uint16_t,
    ridge__bf16_of_float(ridge__float_of_bf16(*to) + ridge__float_of_bf16(*from)))
RIDGE__BLOCK_MOVE(widen_add, uint16_t, float, *to + ridge__float_of_bf16(*from))
RIDGE__BLOCK_MOVE(narrow_add, float, uint16_t,
    ridge__bf16_of_float(ridge__float_of_bf16(*to) + *from))
/* clang-format on */

typedef void block_move(const layout *l, const block *b);

static block_move *move_of(const layout *l)
{
    static block_move *const moves[2][2][2] = {
        {{move_4, narrow}, {widen, move_2}},
        {{add_4, narrow_add}, {widen_add, add_2}},
    };
    return moves[l->is_added][l->from.dtype == RIDGE_DTYPE_BF16]
                [l->to.dtype == RIDGE_DTYPE_BF16];
}

/** Rows that are contiguous in both arrays. */
static void move_runs(const layout *l, const block *b)
{
    for (int64_t i = 0; i < b->rows; i++)
        l->kernels->convert(ridge__array_at(b->from, i * l->row.x),
                            ridge__array_at(b->to, i * l->row.y), b->columns,
                            l->is_added);
}

typedef float quad __attribute__((vector_size(QUAD * sizeof(float))));

static quad load(const float *p)
{
    quad q;
    memcpy(&q, p, sizeof q);
    return q;
}

static void store(float *p, quad q)
{
    memcpy(p, &q, sizeof q);
}

/** y = x^T of 4 x 4, rows SIDE apart. */
static void turn_quad(const float *x, float *y)
{
    quad a = load(x), b = load(x + SIDE), c = load(x + 2 * SIDE),
         d = load(x + 3 * SIDE);
    quad ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    quad ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    quad cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    quad cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    store(y, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
    store(y + SIDE, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
    store(y + 2 * SIDE, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
    store(y + 3 * SIDE, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

/** Begin to fetch a run of n elements from element i on, which may lie beyond the
 * array's end: an address alone, of which nothing comes but a line in the cache. */
static void fetch_to_read(ridge__array a, int64_t i, int64_t n)
{
    const int64_t bytes = (int64_t)ridge__element_bytes(a.dtype);
    const uintptr_t p = (uintptr_t)a.p + (uintptr_t)(i * bytes);
    for (int64_t at = 0; at < n * bytes; at += CACHE_LINE)
        __builtin_prefetch((const void *)(p + (uintptr_t)at), 0, 2);
}

static void fetch_to_write(ridge__array a, int64_t i, int64_t n)
{
    const char *p = ridge__array_at(a, i).p;
    const int64_t bytes = n * (int64_t)ridge__element_bytes(a.dtype);
    for (int64_t at = 0; at < bytes; at += CACHE_LINE)
        __builtin_prefetch(p + at, 1, 3);
}

/** x is contiguous along rows, y along columns. Both are read and written in runs, and
 * turned in between: lines of arrays whose sizes are powers of two would drive each
 * other out of the cache. No run follows on the one before, so that each is asked for
 * early: what is written now, and what the next block reads. */
static void move_turned(const layout *l, const block *b)
{
    _Alignas(64) float read[SIDE * SIDE], turned[SIDE * SIDE];
    if (b->rows % QUAD != 0 || b->columns % QUAD != 0)
        memset(read, 0, sizeof read);
    for (int64_t i = 0; i < b->rows; i++)
        fetch_to_write(b->to, i * l->row.y, b->columns);
    for (int64_t j = 0; j < b->columns; j++) {
        fetch_to_read(b->from, (j + b->columns) * l->column.x, b->rows);
        l->kernels->convert(ridge__array_at(b->from, j * l->column.x),
                            (ridge__array){read + j * SIDE, RIDGE_DTYPE_FP32}, b->rows,
                            false);
    }
    for (int64_t i = 0; i < b->rows; i += QUAD)
        for (int64_t j = 0; j < b->columns; j += QUAD)
            turn_quad(read + j * SIDE + i, turned + i * SIDE + j);
    for (int64_t i = 0; i < b->rows; i++)
        l->kernels->convert((ridge__array){turned + i * SIDE, RIDGE_DTYPE_FP32},
                            ridge__array_at(b->to, i * l->row.y), b->columns,
                            l->is_added);
}

/* ---- the walk -------------------------------------------------------------------- */

/** Where a worker stands: the index of each walked dim and the offsets they make. */
typedef struct cursor {
    int64_t at[DIMS + 2];
    int64_t x, y;
} cursor;

static cursor cursor_at(const layout *l, int64_t number)
{
    cursor c = {0};
    for (int i = l->n - 1; i >= 0; i--) {
        c.at[i] = number % l->walked[i].size;
        number /= l->walked[i].size;
        c.x += c.at[i] * l->walked[i].x;
        c.y += c.at[i] * l->walked[i].y;
    }
    return c;
}

static void step(const layout *l, cursor *c)
{
    for (int i = l->n - 1; i >= 0; i--) {
        const dim *d = &l->walked[i];
        c->x += d->x;
        c->y += d->y;
        if (++c->at[i] < d->size)
            return;
        c->at[i] = 0;
        c->x -= d->x * d->size;
        c->y -= d->y * d->size;
    }
}

static void copy_part(void *payload, int worker, int workers)
{
    const layout *l = payload;
    ridge__part part = ridge__part_of(l->blocks, 1, worker, workers);
    if (part.first == part.end)
        return;
    bool is_run = l->column.y == 1 && l->column.x == 1;
    bool is_turned = l->column.y == 1 && l->column.x != 1 && l->row.x == 1;
    block_move *move = is_run ? move_runs : is_turned ? move_turned : move_of(l);
    cursor c = cursor_at(l, part.first);
    for (int64_t i = part.first; i < part.end; i++) {
        int64_t row = c.at[l->n - 2] * l->rows, column = c.at[l->n - 1] * l->columns;
        block b = {.from = ridge__array_at(l->from, c.x),
                   .to = ridge__array_at(l->to, c.y),
                   .rows = least(l->rows, l->row.size - row),
                   .columns = least(l->columns, l->column.size - column)};
        move(l, &b);
        step(l, &c);
    }
}

ridge_status RIDGE__KERNEL(copy)(ridge__device *d, const ridge__copy *c)
{
    ridge__device_cpu *cpu = ridge__cpu_of(d);
    int64_t elements = 1;
    for (int i = 0; i < c->n_dims; i++)
        elements *= c->sizes[i];
    if (elements == 0)
        return RIDGE_OK;
    layout l = layout_of(c, elements, ridge__team_workers(cpu->team));
    l.kernels = cpu->kernels;
    if (elements <= SMALL)
        copy_part(&l, 0, 1);
    else
        ridge__team_run(cpu->team, copy_part, &l);
    return RIDGE_OK;
}
