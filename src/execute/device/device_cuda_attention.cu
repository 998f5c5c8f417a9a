/* Attention forward, and the joining of two attentions over different entries. */
#include "device_cuda_attention.cuh"

namespace
{

constexpr int key_rows = 32;
constexpr int key_columns = key_rows / column_groups;

/** A row's largest score and the sum of exp(score - top) so far. */
template <int R> struct softmax_rows {
    float top[R], sum[R];
};

/** Joined over the 8 threads that share a row. */
template <class Join> __device__ float row_join(float value, Join join)
{
    for (int mask = column_groups / 2; mask > 0; mask /= 2)
        value = join(value, __shfl_xor_sync(whole_warp, value, mask));
    return value;
}

/** Scores -> exp(score - top) in place; what was summed before shrinks by `shrink`. */
template <int R>
__device__ void softmax_add(softmax_rows<R> &rows, float (&score)[R][key_columns],
                            float (&shrink)[R])
{
#pragma unroll
    for (int r = 0; r < R; r++) {
        float top = rows.top[r];
#pragma unroll
        for (int c = 0; c < key_columns; c++)
            top = larger()(top, score[r][c]);
        top = row_join(top, larger());
        float sum = 0.0f;
#pragma unroll
        for (int c = 0; c < key_columns; c++) {
            score[r][c] = score[r][c] == -INFINITY ? 0.0f : expf(score[r][c] - top);
            sum += score[r][c];
        }
        shrink[r] = rows.top[r] == -INFINITY ? 0.0f : expf(rows.top[r] - top);
        rows.sum[r] = rows.sum[r] * shrink[r] + row_join(sum, add());
        rows.top[r] = top;
    }
}

template <int R>
__device__ void mask_scores(const ridge__attention &a, int64_t i0, int64_t j0,
                            float (&score)[R][key_columns])
{
#pragma unroll
    for (int r = 0; r < R; r++) {
        const int64_t i = i0 + threadIdx.x / column_groups * R + r;
#pragma unroll
        for (int c = 0; c < key_columns; c++) {
            const int64_t j = j0 + threadIdx.x % column_groups + column_groups * c;
            score[r][c] =
                i < a.t && attention_meets(a, i, j) ? a.scale * score[r][c] : -INFINITY;
        }
    }
}

/** A thread's elements of a tile of probabilities [16 R, key_rows + 1]. */
template <int R>
__device__ void put_scores(float *to, const float (&score)[R][key_columns])
{
    const int row = threadIdx.x / column_groups * R;
    const int column = threadIdx.x % column_groups;
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int c = 0; c < key_columns; c++)
            to[(row + r) * (key_rows + 1) + column + column_groups * c] = score[r][c];
}

/** A block takes 16 R queries of a head past all entries they meet; a thread holds R by
 * J elements of the output. */
template <int R, int J>
__global__ void __launch_bounds__(tile_threads)
    attend(ridge__attention a, int64_t tiles)
{
    RIDGE__SHARED(float, memory);
    const int h = (int)a.h, hv = (int)a.hv, wide = h > hv ? h : hv;
    float *const q = memory;
    float *const kv = q + row_groups * R * (h + 1);
    float *const p = kv + key_rows * (wide + 1);
    const tile_place at = place_of_block(tiles, a.heads);
    take_documents(a, at);
    const int64_t i0 = at.tile * row_groups * R;
    const int64_t i1 = at_most(a.t, i0 + row_groups * R);
    const int64_t kv_head = at.head / (a.heads / a.kv_heads);
    const head_rows k_rows = rows_of(at.sequence * a.stride_s, a.kv_heads, kv_head, h);
    const head_rows v_rows = rows_of(at.sequence * a.stride_s, a.kv_heads, kv_head, hv);
    const attention_span span = attention_entries(a, i0, i1);

    float sum[R][J];
    softmax_rows<R> rows;
    tile_clear(sum);
#pragma unroll
    for (int r = 0; r < R; r++) {
        rows.top[r] = -INFINITY;
        rows.sum[r] = 0.0f;
    }
    tile_load<row_groups * R>(q, a.q, rows_of(at.sequence * a.t, a.heads, at.head, h),
                              i0, i1, h);
    for (int64_t j0 = span.first; j0 < span.last; j0 += key_rows) {
        float score[R][key_columns], shrink[R];
        __syncthreads();
        tile_load<key_rows>(kv, a.k, k_rows, j0, span.last, h);
        __syncthreads();
        tile_dot(score, q, kv, h);
        mask_scores(a, i0, j0, score);
        softmax_add(rows, score, shrink);
        put_scores(p, score);
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int j = 0; j < J; j++)
                sum[r][j] *= shrink[r];
        __syncthreads();
        tile_load<key_rows>(kv, a.v, v_rows, j0, span.last, hv);
        __syncthreads();
        tile_add<key_rows>(sum, p, key_rows + 1, 1, kv, hv);
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
        const float scale = rows.sum[r] > 0.0f ? 1.0f / rows.sum[r] : 0.0f;
#pragma unroll
        for (int j = 0; j < J; j++)
            sum[r][j] *= scale;
        const int64_t i = i0 + threadIdx.x / column_groups * R + r;
        if (a.lse != nullptr && i < i1 && threadIdx.x % column_groups == 0)
            a.lse[(at.sequence * a.t + i) * a.heads + at.head] =
                rows.sum[r] > 0.0f ? rows.top[r] + logf(rows.sum[r]) : -INFINITY;
    }
    tile_store(sum, a.o, rows_of(at.sequence * a.t, a.heads, at.head, hv), i0, i1, hv,
               false);
}

template <int R, int J>
ridge_status attend_tiles(ridge__device *d, const ridge__attention *a)
{
    const int64_t tiles = (a->t + row_groups * R - 1) / (row_groups * R);
    const int64_t wide = a->h > a->hv ? a->h : a->hv;
    const size_t floats = (size_t)(row_groups * R * (a->h + 1) + key_rows * (wide + 1) +
                                   row_groups * R * (key_rows + 1));
    return launch_tiles(
        d, "run attention",
        {tiles * a->heads * a->batch, tile_threads, floats * sizeof(float)},
        attend<R, J>, *a, tiles);
}

/* ---- merge -------------------------------------------------------------------- */

/** A warp for each row. */
__global__ void merged(int64_t rows, int64_t hv, ridge__array o, float *lse,
                       ridge__array other, const float *other_lse)
{
    const int64_t row = thread_first() / 32;
    if (row >= rows)
        return;
    const float mine = lse[row], theirs = other_lse[row];
    const float top = larger()(mine, theirs);
    __syncwarp();
    if (top == -INFINITY)
        return;
    const float my_share = expf(mine - top), their_share = expf(theirs - top);
    const float whole = my_share + their_share;
    for (int64_t c = threadIdx.x % 32; c < hv; c += 32) {
        const int64_t at = row * hv + c;
        store(o, at, (load(o, at) * my_share + load(other, at) * their_share) / whole);
    }
    if (threadIdx.x % 32 == 0)
        lse[row] = top + logf(whole);
}

} // namespace

/* ---- the device's ------------------------------------------------------------- */

static ridge_status attend_sized(ridge__device *d, const ridge__attention *a)
{
    if (a->hv <= 64)
        return attend_tiles<4, 8>(d, a);
    if (a->hv <= 128)
        return attend_tiles<4, 16>(d, a);
    if (a->hv <= 256)
        return attend_tiles<2, 32>(d, a);
    return attend_tiles<1, 64>(d, a);
}

extern "C" ridge_status ridge__cuda_attention(ridge__device *d,
                                              const ridge__attention *a)
{
    ridge__attention there = *a;
    void *documents;
    RIDGE_TRY(check_attention(d, a));
    RIDGE_TRY(documents_upload(d, a, &documents));
    there.first_met = (const int32_t *)documents;
    const ridge_status status = attend_sized(d, &there);
    ridge__cuda_release(d, documents);
    return status;
}

extern "C" ridge_status ridge__cuda_attention_merge(ridge__device *d, int64_t rows,
                                                    int64_t hv, ridge__array o,
                                                    float *lse, ridge__array other,
                                                    const float *other_lse)
{
    const int64_t blocks = (rows * 32 + block_threads - 1) / block_threads;
    return launch(d, "run attention merge", {blocks, block_threads, 0}, merged, rows,
                  hv, o, lse, other, other_lse);
}
