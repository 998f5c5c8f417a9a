/* The softmax loss over a part of the vocabulary, and the rows of a table of words. */
#include "device_cuda.cuh"

namespace
{

/* ---- loss --------------------------------------------------------------------- */

/** Column of the label in this part; -1: not in it. */
__device__ int64_t label_column(const ridge__loss &l, int64_t row)
{
    const int64_t label = l.labels[row];
    const bool is_here = label >= 0 && label >= l.first && label - l.first < l.words;
    return is_here ? label - l.first : -1;
}

/** A block for each row. */
__global__ void loss_part(ridge__loss l)
{
    const int64_t row = blockIdx.x, first = row * l.stride;
    float top = -INFINITY;
    for (int64_t c = threadIdx.x; c < l.words; c += blockDim.x)
        top = larger()(top, load(l.logits, first + c));
    top = block_join(top, larger());
    float sum = 0.0f;
    for (int64_t c = threadIdx.x; c < l.words && top > -INFINITY; c += blockDim.x)
        sum += expf(load(l.logits, first + c) - top);
    sum = block_sum(sum);
    if (threadIdx.x != 0)
        return;
    const int64_t column = label_column(l, row);
    l.top[row] = top;
    l.sum[row] = sum;
    l.picked[row] = column < 0 ? 0.0f : load(l.logits, first + column);
}

__global__ void loss_rescaled(ridge__loss l, const float *old_top)
{
    for (int64_t row = thread_first(); row < l.rows; row += thread_step())
        l.sum[row] = old_top[row] == -INFINITY
                         ? 0.0f
                         : l.sum[row] * expf(old_top[row] - l.top[row]);
}

__global__ void loss_whole(ridge__loss l)
{
    for (int64_t row = thread_first(); row < l.rows; row += thread_step()) {
        const float lse = l.top[row] + logf(l.sum[row]);
        store(l.loss, row, l.labels[row] >= 0 ? lse - l.picked[row] : 0.0f);
        l.lse[row] = lse;
    }
}

/** A block for each row; columns of padding, words .. stride, get zeros. */
__global__ void loss_slopes(ridge__loss l)
{
    const int64_t row = blockIdx.x, first = row * l.stride;
    const int64_t column = label_column(l, row);
    const float lse = l.lse[row];
    const bool has_label = l.labels[row] >= 0;
    const float by = l.d_loss.p == nullptr ? 1.0f : load(l.d_loss, row);
    for (int64_t c = threadIdx.x; c < l.stride; c += blockDim.x) {
        float slope = 0.0f;
        if (has_label && c < l.words)
            slope = by * (expf(load(l.logits, first + c) - lse) -
                          (c == column ? 1.0f : 0.0f));
        store(l.d_logits, first + c, slope);
    }
}

/* ---- gather ------------------------------------------------------------------- */

__global__ void gathered(ridge__gather g, int64_t n)
{
    for (int64_t i = thread_first(); i < n; i += thread_step()) {
        const int64_t word = g.ids[i / g.d] - g.first;
        const bool is_here = word >= 0 && word < g.words;
        store(g.y, i, is_here ? load(g.table, word * g.d + i % g.d) : 0.0f);
    }
}

constexpr int scatter_most = 1024;

/** Add rows found[0 .. n] of y to a row of the table, in that order; a table in bf16 is
 * rounded at each, so that it does not matter how many are found at a time. */
__device__ void scatter_add(const ridge__gather &g, int64_t word, const int *found,
                            int n)
{
    __syncthreads();
    for (int64_t c = threadIdx.x; c < g.d; c += blockDim.x) {
        float sum = load(g.table, word * g.d + c);
        for (int i = 0; i < n; i++) {
            sum += load(g.y, found[i] * g.d + c);
            sum = g.table.dtype == RIDGE_DTYPE_BF16 ? bf16_widen(bf16_round(sum)) : sum;
        }
        store(g.table, word * g.d + c, sum);
    }
    __syncthreads();
}

/**
 * A block for each row; the first row of a word adds up all rows of that word, the
 * others do nothing. So a word has one writer, which goes in the order of rows.
 */
__global__ void scattered(ridge__gather g)
{
    __shared__ int found[scatter_most];
    __shared__ int n_found;
    const int64_t row = blockIdx.x, id = g.ids[row], word = id - g.first;
    if (word < 0 || word >= g.words)
        return;
    bool is_later = false;
    for (int64_t i = threadIdx.x; i < row; i += blockDim.x)
        is_later = is_later || g.ids[i] == id;
    if (__syncthreads_or(is_later))
        return;
    if (threadIdx.x == 0)
        n_found = 0;
    for (int64_t from = row; from < g.rows; from += blockDim.x) {
        const int64_t i = from + threadIdx.x;
        const int is_mine = i < g.rows && g.ids[i] == id;
        if (!__syncthreads_or(is_mine))
            continue;
        if (threadIdx.x == 0)
            for (int64_t j = from; j < g.rows && j < from + blockDim.x; j++)
                if (g.ids[j] == id)
                    found[n_found++] = (int)j;
        __syncthreads();
        if (n_found > scatter_most - (int)blockDim.x) {
            scatter_add(g, word, found, n_found);
            if (threadIdx.x == 0)
                n_found = 0;
        }
    }
    scatter_add(g, word, found, n_found);
}

} // namespace

/* ---- the device's ------------------------------------------------------------- */

extern "C" ridge_status ridge__cuda_loss_partial(ridge__device *d, const ridge__loss *l)
{
    return launch(d, "run loss", launch_rows(l->rows), loss_part, *l);
}

extern "C" ridge_status ridge__cuda_loss_rescale(ridge__device *d, const ridge__loss *l,
                                                 const float *old_top)
{
    return launch(d, "run loss", launch_over(d, l->rows), loss_rescaled, *l, old_top);
}

extern "C" ridge_status ridge__cuda_loss_finish(ridge__device *d, const ridge__loss *l)
{
    return launch(d, "run loss", launch_over(d, l->rows), loss_whole, *l);
}

extern "C" ridge_status ridge__cuda_loss_backward(ridge__device *d,
                                                  const ridge__loss *l)
{
    return launch(d, "run loss backward", launch_rows(l->rows), loss_slopes, *l);
}

extern "C" ridge_status ridge__cuda_gather(ridge__device *d, const ridge__gather *g)
{
    if (g->is_backward)
        return launch(d, "run gather backward", launch_rows(g->rows), scattered, *g);
    return launch(d, "run gather", launch_over(d, g->rows * g->d), gathered, *g,
                  g->rows * g->d);
}
