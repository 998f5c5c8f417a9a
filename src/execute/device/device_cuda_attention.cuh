/*
 * Attention in tiles: what its forward and backward kernels share. A block of 128
 * threads stands as 16 groups of rows by 8 groups of columns: a thread holds
 * neighbouring rows, and every eighth column, of a tile of sums in registers. Tiles of
 * q, k and v are fp32 in shared memory. No array is as large as queries times entries.
 * @source dao2023
 */
#ifndef RIDGE_EXECUTE_DEVICE_CUDA_ATTENTION_CUH
#define RIDGE_EXECUTE_DEVICE_CUDA_ATTENTION_CUH

#include "device_cuda.cuh"

namespace
{

constexpr int tile_threads = 128;
constexpr int row_groups = 16, column_groups = 8;

/* ---- which entries a query meets ---------------------------------------------- */

/** Query i and entry j by their index in this call; documents are those of the
 * sequence. */
__host__ __device__ inline bool attention_meets(const ridge__attention &a, int64_t i,
                                                int64_t j)
{
    const int64_t query = a.q_start + i, entry = a.s_start + j;
    if (j >= a.s_valid || j >= a.s || (a.is_causal && entry > query))
        return false;
    if (a.first_met != nullptr && entry < a.first_met[i])
        return false;
    if (a.window == 0)
        return true;
    return a.is_window_chunked ? entry / a.window == query / a.window
                               : entry > query - a.window;
}

/** Entries first <= j < last: all that any of queries i0 <= i < i1 meets, and few more.
 */
struct attention_span {
    int64_t first, last;
};

__host__ __device__ inline int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

__host__ __device__ inline int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

__host__ __device__ inline attention_span attention_entries(const ridge__attention &a,
                                                            int64_t i0, int64_t i1)
{
    const int64_t low = a.q_start + i0, high = a.q_start + i1 - 1;
    attention_span span = {0, at_most(a.s, a.s_valid)};
    if (a.is_causal)
        span.last = at_most(span.last, high + 1 - a.s_start);
    if (a.window > 0 && a.is_window_chunked) {
        span.first = at_least(0, low / a.window * a.window - a.s_start);
        span.last = at_most(span.last, (high / a.window + 1) * a.window - a.s_start);
    } else if (a.window > 0) {
        span.first = at_least(0, low - a.window + 1 - a.s_start);
    }
    return span;
}

/** Queries first <= i < last: all that meet any of entries j0 <= j < j1, and few more.
 */
__host__ __device__ inline attention_span attention_queries(const ridge__attention &a,
                                                            int64_t j0, int64_t j1)
{
    const int64_t low = a.s_start + j0, high = a.s_start + j1 - 1;
    attention_span span = {0, a.t};
    if (a.is_causal)
        span.first = at_least(0, low - a.q_start);
    if (a.window > 0 && a.is_window_chunked) {
        span.first = at_least(span.first, low / a.window * a.window - a.q_start);
        span.last = at_most(span.last, (high / a.window + 1) * a.window - a.q_start);
    } else if (a.window > 0) {
        span.last = at_most(span.last, high + a.window - a.q_start);
    }
    return span;
}

/* ---- tiles -------------------------------------------------------------------- */

/** Rows of an array [.., rows, heads, width] of one head. */
struct head_rows {
    int64_t first;  /* element of row 0 */
    int64_t stride; /* elements between rows */
};

__host__ __device__ inline head_rows rows_of(int64_t first_row, int64_t heads,
                                             int64_t head, int64_t width)
{
    return {(first_row * heads + head) * width, heads * width};
}

/** to [ROWS, width + 1] = rows first .. first + ROWS of an array, zeros from `last` on.
 */
template <int ROWS>
__device__ inline void tile_load(float *to, const ridge__array &from, head_rows rows,
                                 int64_t first, int64_t last, int width)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int r = warp; r < ROWS; r += tile_threads / 32) {
        const int64_t at = rows.first + (first + r) * rows.stride;
        for (int c = lane; c < width; c += 32)
            to[r * (width + 1) + c] = first + r < last ? load(from, at + c) : 0.0f;
    }
}

/**
 * out[r][c] = row (group R + r) of a times row (group + 8 c) of b, over width elements;
 * both tiles have width + 1 floats a row.
 */
template <int R, int C>
__device__ inline void tile_dot(float (&out)[R][C], const float *a, const float *b,
                                int width)
{
    const float *a_row = a + threadIdx.x / column_groups * R * (width + 1);
    const float *b_row = b + threadIdx.x % column_groups * (width + 1);
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int c = 0; c < C; c++)
            out[r][c] = 0.0f;
    for (int d = 0; d < width; d++) {
        float of_b[C];
#pragma unroll
        for (int c = 0; c < C; c++)
            of_b[c] = b_row[c * column_groups * (width + 1) + d];
#pragma unroll
        for (int r = 0; r < R; r++) {
            const float of_a = a_row[r * (width + 1) + d];
#pragma unroll
            for (int c = 0; c < C; c++)
                out[r][c] += of_a * of_b[c];
        }
    }
}

/**
 * sum[r][j] += sum over i < INNER of p(group R + r, i) b[i, group + 8 j], where p(row,
 * i) is p[row * row_step + i * inner_step] and b is [INNER, width + 1].
 */
template <int INNER, int R, int J>
__device__ inline void tile_add(float (&sum)[R][J], const float *p, int row_step,
                                int inner_step, const float *b, int width)
{
    const int row = threadIdx.x / column_groups * R;
    const int column = threadIdx.x % column_groups;
    for (int i = 0; i < INNER; i++) {
        float of_p[R];
#pragma unroll
        for (int r = 0; r < R; r++)
            of_p[r] = p[(row + r) * row_step + i * inner_step];
#pragma unroll
        for (int j = 0; j < J; j++) {
            const int c = column + column_groups * j;
            const float of_b = c < width ? b[i * (width + 1) + c] : 0.0f;
#pragma unroll
            for (int r = 0; r < R; r++)
                sum[r][j] += of_p[r] * of_b;
        }
    }
}

/** Write a thread's sums to rows first + group R + r < last of an array. */
template <int R, int J>
__device__ inline void tile_store(const float (&sum)[R][J], const ridge__array &to,
                                  head_rows rows, int64_t first, int64_t last,
                                  int width, bool is_added)
{
    const int64_t row = first + threadIdx.x / column_groups * R;
#pragma unroll
    for (int r = 0; r < R; r++) {
        const int64_t at = rows.first + (row + r) * rows.stride;
#pragma unroll
        for (int j = 0; j < J; j++) {
            const int c = threadIdx.x % column_groups + column_groups * j;
            if (row + r < last && c < width)
                store(to, at + c, sum[r][j] + (is_added ? load(to, at + c) : 0.0f));
        }
    }
}

template <int R, int J> __device__ inline void tile_clear(float (&sum)[R][J])
{
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int j = 0; j < J; j++)
            sum[r][j] = 0.0f;
}

/* ---- launches ----------------------------------------------------------------- */

/** What a block works on: tile, head and sequence from its index. */
struct tile_place {
    int64_t tile, head, sequence;
};

__device__ inline tile_place place_of_block(int64_t tiles, int64_t heads)
{
    const int64_t i = blockIdx.x;
    return {i % tiles, i / tiles % heads, i / tiles / heads};
}

/** Where the documents of a block's sequence begin. */
__device__ inline void take_documents(ridge__attention &a, const tile_place &at)
{
    if (a.first_met != nullptr)
        a.first_met += at.sequence * a.t;
}

/** first_met in the GPU's memory, NULL without documents; given back by the caller. */
inline ridge_status documents_upload(ridge__device *d, const ridge__attention *a,
                                     void **out)
{
    const size_t bytes = (size_t)(a->batch * a->t) * sizeof *a->first_met;
    *out = nullptr;
    if (a->first_met == nullptr)
        return RIDGE_OK;
    RIDGE_TRY(ridge__cuda_alloc(d, bytes, out));
    return ridge__cuda_upload(d, *out, a->first_met, bytes);
}

inline ridge_status check_attention(ridge__device *d, const ridge__attention *a)
{
    if (a->kv_heads < 1 || a->heads % a->kv_heads != 0)
        return ridge_fail(d->cx, RIDGE_E_ARG,
                          "%lld key heads must divide %lld query heads",
                          (long long)a->kv_heads, (long long)a->heads);
    if (a->h > 576 || a->hv > 512)
        return ridge_fail(d->cx, RIDGE_E_ARG,
                          "heads of %lld and %lld are too wide for the GPU's kernels: "
                          "at most 576 and 512",
                          (long long)a->h, (long long)a->hv);
    return RIDGE_OK;
}

/** Launch with that much shared memory, if a block can have it. */
template <class... P>
ridge_status launch_tiles(ridge__device *d, const char *what, launch_shape shape,
                          void (*kernel)(P...), typename same<P>::type... arguments)
{
    if (shape.shared > (size_t)ridge__cuda_of(d)->shared_most)
        return ridge_fail(
            d->cx, RIDGE_E_ARG,
            "%s: such wide heads need %zu bytes of shared memory, this GPU "
            "has %d",
            what, shape.shared, ridge__cuda_of(d)->shared_most);
    RIDGE_TRY(ridge__cuda_check(
        d->cx,
        cudaFuncSetAttribute((const void *)kernel,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)shape.shared),
        what));
    return launch<P...>(d, what, shape, kernel, arguments...);
}

} // namespace

#endif
