/*
 * Attention backward: probabilities are computed again from the logarithms of their
 * sums. One kernel goes over queries for the gradients of k and v, one over entries for
 * that of q: each sum has one writer and one order.
 * @source dao2023
 */
#include "device_cuda_attention.cuh"

namespace
{

/** dots[row] = o[row] . d_o[row]; a warp for each row of hv. */
__global__ void dotted(int64_t rows, int64_t hv, ridge__array o, ridge__array d_o,
                       float *dots)
{
    const int64_t row = thread_first() / 32;
    float sum = 0.0f;
    if (row < rows)
        for (int64_t c = threadIdx.x % 32; c < hv; c += 32)
            sum += load(o, row * hv + c) * load(d_o, row * hv + c);
    for (int mask = 16; mask > 0; mask /= 2)
        sum += __shfl_xor_sync(whole_warp, sum, mask);
    if (row < rows && threadIdx.x % 32 == 0)
        dots[row] = sum;
}

/** Tiles of queries and of entries in shared memory. */
struct tiles {
    const float *q, *k, *v, *d_o;
};

/**
 * The tiles p (may be NULL) and ds [16 R, 8 C + 1] of 16 R queries from i0 and 8 C
 * entries from j0: the probabilities, and the gradients of the scores before scaling.
 */
template <int R, int C>
__device__ void tile_slopes(const ridge__attention &a, const tiles &t, int64_t i0,
                            int64_t j0, const float *lse, const float *dots, float *p,
                            float *ds)
{
    float score[R][C], d_p[R][C];
    tile_dot(score, t.q, t.k, (int)a.h);
    tile_dot(d_p, t.d_o, t.v, (int)a.hv);
#pragma unroll
    for (int r = 0; r < R; r++) {
        const int row = threadIdx.x / column_groups * R + r;
        const int64_t i = i0 + row;
#pragma unroll
        for (int c = 0; c < C; c++) {
            const int column = threadIdx.x % column_groups + column_groups * c;
            const bool is_met = i < a.t && attention_meets(a, i, j0 + column);
            const float share =
                is_met ? expf(a.scale * score[r][c] - lse[i * a.heads]) : 0.0f;
            const int at = row * (column_groups * C + 1) + column;
            if (p != nullptr)
                p[at] = share;
            ds[at] = is_met ? share * (d_p[r][c] - dots[i * a.heads]) * a.scale : 0.0f;
        }
    }
}

/** A block takes 16 R entries of a key head past all queries that meet them, of all
 * query heads that share it, QR times 16 at a time. */
template <int R, int J, int QR>
__global__ void __launch_bounds__(tile_threads)
    entries_backward(ridge__attention a, const float *dots, int64_t n_tiles)
{
    RIDGE__SHARED(float, memory);
    const int h = (int)a.h, hv = (int)a.hv;
    constexpr int entries = row_groups * R, queries = row_groups * QR;
    constexpr int columns = entries / column_groups;
    float *const k = memory, *const v = k + entries * (h + 1);
    float *const q = v + entries * (hv + 1), *const d_o = q + queries * (h + 1);
    float *const p = d_o + queries * (hv + 1), *const ds = p + queries * (entries + 1);
    const tile_place at = place_of_block(n_tiles, a.kv_heads);
    take_documents(a, at);
    const int64_t j0 = at.tile * entries, j1 = at_most(a.s, j0 + entries);
    const head_rows k_rows = rows_of(at.sequence * a.s, a.kv_heads, at.head, h);
    const head_rows v_rows = rows_of(at.sequence * a.s, a.kv_heads, at.head, hv);
    const attention_span span = attention_queries(a, j0, j1);
    const int64_t group = a.heads / a.kv_heads;

    float d_k[R][J], d_v[R][J];
    tile_clear(d_k);
    tile_clear(d_v);
    tile_load<entries>(k, a.k, k_rows, j0, j1, h);
    tile_load<entries>(v, a.v, v_rows, j0, j1, hv);
    for (int64_t head = at.head * group; head < (at.head + 1) * group; head++) {
        const int64_t first = at.sequence * a.t * a.heads + head;
        for (int64_t i0 = span.first; i0 < span.last; i0 += queries) {
            __syncthreads();
            tile_load<queries>(q, a.q, rows_of(at.sequence * a.t, a.heads, head, h), i0,
                               a.t, h);
            tile_load<queries>(
                d_o, a.d_o, rows_of(at.sequence * a.t, a.heads, head, hv), i0, a.t, hv);
            __syncthreads();
            tile_slopes<QR, columns>(a, {q, k, v, d_o}, i0, j0, a.lse + first,
                                     dots + first, p, ds);
            __syncthreads();
            tile_add<queries>(d_v, p, 1, entries + 1, d_o, hv);
            tile_add<queries>(d_k, ds, 1, entries + 1, q, h);
        }
    }
    tile_store(d_k, a.d_k, k_rows, j0, j1, h, a.is_added);
    tile_store(d_v, a.d_v, v_rows, j0, j1, hv, a.is_added);
}

/** A block takes 16 R queries of a head past all entries that they meet. */
template <int R, int J, int ER>
__global__ void __launch_bounds__(tile_threads)
    queries_backward(ridge__attention a, const float *dots, int64_t n_tiles)
{
    RIDGE__SHARED(float, memory);
    const int h = (int)a.h, hv = (int)a.hv;
    constexpr int queries = row_groups * R, entries = row_groups * ER;
    constexpr int columns = entries / column_groups;
    float *const q = memory, *const d_o = q + queries * (h + 1);
    float *const k = d_o + queries * (hv + 1), *const v = k + entries * (h + 1);
    float *const ds = v + entries * (hv + 1);
    const tile_place at = place_of_block(n_tiles, a.heads);
    take_documents(a, at);
    const int64_t i0 = at.tile * queries, i1 = at_most(a.t, i0 + queries);
    const int64_t kv_head = at.head / (a.heads / a.kv_heads);
    const int64_t first = at.sequence * a.t * a.heads + at.head;
    const head_rows q_rows = rows_of(at.sequence * a.t, a.heads, at.head, h);
    const attention_span span = attention_entries(a, i0, i1);

    float d_q[R][J];
    tile_clear(d_q);
    tile_load<queries>(q, a.q, q_rows, i0, i1, h);
    tile_load<queries>(d_o, a.d_o, rows_of(at.sequence * a.t, a.heads, at.head, hv), i0,
                       i1, hv);
    for (int64_t j0 = span.first; j0 < span.last; j0 += entries) {
        __syncthreads();
        tile_load<entries>(k, a.k, rows_of(at.sequence * a.s, a.kv_heads, kv_head, h),
                           j0, span.last, h);
        tile_load<entries>(v, a.v, rows_of(at.sequence * a.s, a.kv_heads, kv_head, hv),
                           j0, span.last, hv);
        __syncthreads();
        tile_slopes<R, columns>(a, {q, k, v, d_o}, i0, j0, a.lse + first, dots + first,
                                nullptr, ds);
        __syncthreads();
        tile_add<entries>(d_q, ds, entries + 1, 1, k, h);
    }
    tile_store(d_q, a.d_q, q_rows, i0, i1, h, a.is_added);
}

/** Both kernels, with tiles of 16 R rows that stay and 16 I rows that go by. */
template <int R, int J, int I>
ridge_status backward_tiles(ridge__device *d, const ridge__attention *a,
                            const float *dots)
{
    constexpr int64_t stay = row_groups * R, go = row_groups * I;
    const int64_t both = (stay + go) * (a->h + a->hv + 2);
    const int64_t of_entries = (a->s + stay - 1) / stay;
    const int64_t of_queries = (a->t + stay - 1) / stay;
    RIDGE_TRY(launch_tiles(d, "run attention backward",
                           {of_entries * a->kv_heads * a->batch, tile_threads,
                            (size_t)(both + 2 * go * (stay + 1)) * sizeof(float)},
                           entries_backward<R, J, I>, *a, dots, of_entries));
    return launch_tiles(d, "run attention backward",
                        {of_queries * a->heads * a->batch, tile_threads,
                         (size_t)(both + stay * (go + 1)) * sizeof(float)},
                        queries_backward<R, J, I>, *a, dots, of_queries);
}

ridge_status backward_sized(ridge__device *d, const ridge__attention *a,
                            const float *dots)
{
    const int64_t wide = a->h > a->hv ? a->h : a->hv;
    if (wide <= 64)
        return backward_tiles<2, 8, 2>(d, a, dots);
    if (wide <= 128)
        return backward_tiles<2, 16, 2>(d, a, dots);
    if (wide <= 256)
        return backward_tiles<1, 32, 1>(d, a, dots);
    return backward_tiles<1, 72, 1>(d, a, dots);
}

} // namespace

/* ---- the device's ------------------------------------------------------------- */

extern "C" ridge_status ridge__cuda_attention_backward(ridge__device *d,
                                                       const ridge__attention *a)
{
    RIDGE_TRY(check_attention(d, a));
    const int64_t rows = a->batch * a->t * a->heads;
    ridge__attention there = *a;
    void *dots = nullptr, *documents;
    RIDGE_TRY(documents_upload(d, a, &documents));
    there.first_met = (const int32_t *)documents;
    RIDGE_TRY(ridge__cuda_alloc(d, (size_t)rows * sizeof(float), &dots));
    const int64_t blocks = (rows * 32 + block_threads - 1) / block_threads;
    ridge_status status =
        launch(d, "run attention backward", {blocks, block_threads, 0}, dotted, rows,
               a->hv, a->o, a->d_o, (float *)dots);
    if (status == RIDGE_OK)
        status = backward_sized(d, &there, (const float *)dots);
    ridge__cuda_release(d, dots);
    ridge__cuda_release(d, documents);
    return status;
}
