/*
 * What attention's kernels share: which entries a query meets, blocks of queries and of
 * entries laid out for products, and the product itself, a register tile at a time.
 */
#ifndef RIDGE_EXECUTE_KERNEL_ATTENTION_TILE_H
#define RIDGE_EXECUTE_KERNEL_ATTENTION_TILE_H

#include "kernel_simd.h"

enum {
    TILE = 64,  /* queries, and entries, of a block */
    STRIP = 16, /* queries that are masked as one, where a block is met in part */
    LINE = 16   /* floats of a cache line */
};

/* Accumulators of a register tile: they and their operands fill the registers. */
#if defined(RIDGE__VECTOR_512)
enum { TILE_ROWS = 8, TILE_VECS = 2 };
#else
enum { TILE_ROWS = 4, TILE_VECS = 2 };
#endif

/** Scores are powers of two. */
#define LOG2_E 0x1.715476p+0f
#define LN_2   0x1.62e43p-1f

/* ---- shapes ---------------------------------------------------------------------- */

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static inline int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/** The entries that query i meets: first .. end, of 0 .. s. Neither bound falls as i
 * grows. */
static inline ridge__part entries_met(const ridge__attention *a, int64_t i)
{
    const int64_t at = a->q_start + i - a->s_start; /* the entry where it stands */
    const int64_t room = most(0, least(a->s, a->s_valid));
    int64_t first = 0, end = a->is_causal ? at + 1 : room;
    if (a->window > 0 && a->is_window_chunked) {
        const int64_t past = (a->q_start + i) % a->window;
        first = at - past;
        end = least(end, first + a->window);
    } else if (a->window > 0) {
        first = at - a->window + 1;
    }
    if (a->first_met != NULL)
        first = most(first, a->first_met[i] - a->s_start);
    first = least(room, most(0, first));
    return (ridge__part){first, most(first, least(room, end))};
}

/** Where the row of a token and a head begins in q, or in k and v. */
static inline int64_t query_row(const ridge__attention *a, int64_t batch, int64_t i,
                                int64_t head)
{
    return (batch * a->t + i) * a->heads + head;
}
static inline int64_t entry_row(const ridge__attention *a, int64_t batch, int64_t j,
                                int64_t head)
{
    return (batch * a->stride_s + j) * a->kv_heads + head;
}

static inline ridge__array elements_behind(ridge__array x, int64_t n)
{
    if (x.p != NULL)
        x.p = (char *)x.p + n * (int64_t)ridge_dtype_bytes(x.dtype);
    return x;
}

/** One sequence of a batch by itself: each has documents of its own. */
static inline ridge__attention sequence_of(const ridge__attention *a, int64_t batch)
{
    ridge__attention one = *a;
    const int64_t queries = batch * a->t * a->heads;
    const int64_t entries = batch * a->stride_s * a->kv_heads;
    const int64_t dense = batch * a->s * a->kv_heads;
    one.batch = 1;
    one.first_met += batch * a->t;
    one.q = elements_behind(a->q, queries * a->h);
    one.o = elements_behind(a->o, queries * a->hv);
    one.d_q = elements_behind(a->d_q, queries * a->h);
    one.d_o = elements_behind(a->d_o, queries * a->hv);
    one.k = elements_behind(a->k, entries * a->h);
    one.v = elements_behind(a->v, entries * a->hv);
    one.d_k = elements_behind(a->d_k, dense * a->h);
    one.d_v = elements_behind(a->d_v, dense * a->hv);
    if (a->lse != NULL)
        one.lse += queries;
    return one;
}

typedef ridge_status attention_fn(ridge__device *d, const ridge__attention *a);

static inline bool is_apart(const ridge__attention *a)
{
    return a->first_met != NULL && a->batch > 1;
}

static inline ridge_status each_sequence(ridge__device *d, const ridge__attention *a,
                                         attention_fn *run)
{
    for (int64_t b = 0; b < a->batch; b++) {
        const ridge__attention one = sequence_of(a, b);
        RIDGE_TRY(run(d, &one));
    }
    return RIDGE_OK;
}

/* ---- blocks ---------------------------------------------------------------------- */

/** Rows of an array that make a block: n rows of `width`, `stride` elements apart. */
typedef struct block_rows {
    ridge__array x;
    int64_t first, stride, n, width;
} block_rows;

/** out [n][padded] = by x, its last columns 0. */
static inline void block_copy(const block_rows *r, float by, int64_t padded, float *out)
{
    for (int64_t i = 0; i < r->n; i++) {
        float *row = out + i * padded;
        row_scale(row, row_read(r->x, r->first + i * r->stride, r->width, row), by,
                  r->width);
        for (int64_t c = r->width; c < padded; c++)
            row[c] = 0.0f;
    }
}

typedef float quad __attribute__((vector_size(16)));
typedef float quad_loose __attribute__((vector_size(16), aligned(4), may_alias));

/** Four rows become columns 0 .. 3 of out [width][TILE]. */
static inline void turn_four(const float *const rows[4], int64_t width, float *out)
{
    int64_t c = 0;
    for (; c + 4 <= width; c += 4) {
        const quad a = *(const quad_loose *)(rows[0] + c);
        const quad b = *(const quad_loose *)(rows[1] + c);
        const quad e = *(const quad_loose *)(rows[2] + c);
        const quad f = *(const quad_loose *)(rows[3] + c);
        const quad ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        const quad ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
        const quad ef0 = __builtin_shufflevector(e, f, 0, 4, 1, 5);
        const quad ef1 = __builtin_shufflevector(e, f, 2, 6, 3, 7);
        float *to = out + c * TILE;
        *(quad_loose *)to = __builtin_shufflevector(ab0, ef0, 0, 1, 4, 5);
        *(quad_loose *)(to + TILE) = __builtin_shufflevector(ab0, ef0, 2, 3, 6, 7);
        *(quad_loose *)(to + 2 * TILE) = __builtin_shufflevector(ab1, ef1, 0, 1, 4, 5);
        *(quad_loose *)(to + 3 * TILE) = __builtin_shufflevector(ab1, ef1, 2, 3, 6, 7);
    }
    for (; c < width; c++) {
        for (int i = 0; i < 4; i++)
            out[c * TILE + i] = rows[i][c];
    }
}

/** out [width][TILE] = x transposed; columns beyond n are 0. @param room  [4][width] */
static inline void block_turn(const block_rows *r, float *room, float *out)
{
    if (r->n < TILE)
        memset(out, 0, (size_t)(r->width * TILE) * sizeof *out);
    int64_t i = 0;
    for (; i + 4 <= r->n; i += 4) {
        const float *rows[4];
        for (int k = 0; k < 4; k++)
            rows[k] = row_read(r->x, r->first + (i + k) * r->stride, r->width,
                               room + k * r->width);
        turn_four(rows, r->width, out + i);
    }
    for (; i < r->n; i++) {
        const float *row = row_read(r->x, r->first + i * r->stride, r->width, room);
        for (int64_t c = 0; c < r->width; c++)
            out[c * TILE + i] = row[c];
    }
}

/* ---- products -------------------------------------------------------------------- */

/** c [m, n] = a b, or added to c. Element (i, p) of a is a[i a_row + p a_column]; b is
 * [k, n] with rows of ldb; n is a multiple of LANES. */
typedef struct tile_product {
    const float *a, *b;
    float *c;
    int64_t a_row, a_column, ldb, ldc;
    int64_t m, n, k;
    bool is_added;
} tile_product;

RIDGE__INLINE void product_tile(const tile_product *p, int64_t i, int64_t j,
                                const int rows, const int vecs)
{
    vec sum[TILE_ROWS][TILE_VECS];
    float *c = p->c + i * p->ldc + j;
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vecs; v++)
            sum[r][v] = p->is_added ? vec_load(c + r * p->ldc + v * LANES) : vec_zero();
    const float *a = p->a + i * p->a_row, *b = p->b + j;
    const int64_t a_row = p->a_row, a_column = p->a_column, ldb = p->ldb;
    for (int64_t k = p->k; k > 0; k--, a += a_column, b += ldb) {
        vec right[TILE_VECS];
        for (int v = 0; v < vecs; v++)
            right[v] = vec_load(b + v * LANES);
        for (int r = 0; r < rows; r++) {
            const vec left = vec_set(a[r * a_row]);
            for (int v = 0; v < vecs; v++)
                sum[r][v] += left * right[v];
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vecs; v++)
            vec_store(c + r * p->ldc + v * LANES, sum[r][v]);
}

RIDGE__INLINE void product_columns(const tile_product *p, int64_t j, const int vecs)
{
    int64_t i = 0;
    for (; i + TILE_ROWS <= p->m; i += TILE_ROWS)
        product_tile(p, i, j, TILE_ROWS, vecs);
    if (i + TILE_ROWS / 2 <= p->m) {
        product_tile(p, i, j, TILE_ROWS / 2, vecs);
        i += TILE_ROWS / 2;
    }
    for (; i < p->m; i++)
        product_tile(p, i, j, 1, vecs);
}

static inline void product_run(tile_product p)
{
    int64_t j = 0;
    for (; j + TILE_VECS * LANES <= p.n; j += TILE_VECS * LANES)
        product_columns(&p, j, TILE_VECS);
    for (; j < p.n; j += LANES)
        product_columns(&p, j, 1);
}

/* ---- masks ----------------------------------------------------------------------- */

/** Scores of columns outside met become `value`; columns 0 .. n stand for entries from
 * `first` on. */
static inline void row_mask(float *scores, ridge__part met, int64_t first, int64_t n,
                            float value)
{
    const int64_t low = least(n, most(0, met.first - first));
    const int64_t high = least(n, most(0, met.end - first));
    for (int64_t c = 0; c < low; c++)
        scores[c] = value;
    for (int64_t c = high; c < n; c++)
        scores[c] = value;
}

/** For few queries: kernel_attention_decode.c. */
ridge_status RIDGE__KERNEL(attention_decode)(ridge__device *d,
                                             const ridge__attention *a);
enum { DECODE_MOST = 4 }; /* queries of a head that it is quicker for */

#endif
