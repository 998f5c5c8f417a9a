/* Kernels that sum over rows or columns: norms and their backwards, sums, the
 * gradient's norm. */
#include "device_cuda.cuh"

namespace
{

/* ---- norm --------------------------------------------------------------------- */

/** What makes a row's elements even: (x - mean) rate. */
struct row_place {
    float mean, rate;
};

__device__ float row_mean(const ridge__norm &n, int64_t row)
{
    float sum = 0.0f;
    if (n.kind == RIDGE_NORM_RMS)
        return 0.0f;
    for (int64_t c = threadIdx.x; c < n.d; c += blockDim.x)
        sum += load(n.x, row * n.d + c);
    return block_sum(sum) / (float)n.d;
}

__device__ row_place norm_place(const ridge__norm &n, int64_t row)
{
    const float mean = row_mean(n, row);
    float squares = 0.0f;
    for (int64_t c = threadIdx.x; c < n.d; c += blockDim.x) {
        const float x = load(n.x, row * n.d + c) - mean;
        squares += x * x;
    }
    return {mean, rsqrtf(block_sum(squares) / (float)n.d + n.epsilon)};
}

/** A block for each row. */
__global__ void normed(ridge__norm n)
{
    const int64_t row = blockIdx.x;
    const row_place p = norm_place(n, row);
    for (int64_t c = threadIdx.x; c < n.d; c += blockDim.x) {
        const int64_t at = row * n.d + c;
        const float w = n.w.p == nullptr ? 1.0f : load(n.w, c);
        const float b = n.b.p == nullptr ? 0.0f : load(n.b, c);
        store(n.y, at, (load(n.x, at) - p.mean) * p.rate * w + b);
    }
}

__global__ void norm_places(ridge__norm n, row_place *places)
{
    const row_place p = norm_place(n, blockIdx.x);
    if (threadIdx.x == 0)
        places[blockIdx.x] = p;
}

/** d_x = rate (w d_y - level - z rate^2 mean(w d_y z)), z = x - mean, level = mean(w
 * d_y) where a mean is subtracted; d_x may be d_y. */
__global__ void normed_backward(ridge__norm n)
{
    const int64_t row = blockIdx.x;
    const row_place p = norm_place(n, row);
    float along = 0.0f, sum = 0.0f;
    for (int64_t c = threadIdx.x; c < n.d; c += blockDim.x) {
        const int64_t at = row * n.d + c;
        const float w = n.w.p == nullptr ? 1.0f : load(n.w, c);
        const float slope = w * load(n.d_y, at);
        along += slope * (load(n.x, at) - p.mean);
        sum += slope;
    }
    const float pull = block_sum(along) / (float)n.d * p.rate * p.rate;
    const float level = n.kind == RIDGE_NORM_RMS ? 0.0f : block_sum(sum) / (float)n.d;
    for (int64_t c = threadIdx.x; c < n.d; c += blockDim.x) {
        const int64_t at = row * n.d + c;
        const float w = n.w.p == nullptr ? 1.0f : load(n.w, c);
        const float z = load(n.x, at) - p.mean;
        store(n.d_x, at, p.rate * (w * load(n.d_y, at) - level - pull * z));
    }
}

/** Block (columns, slice of rows): a thread sums a column over its slice.
 * parts [2, slices, d]: of d_w, of d_b */
__global__ void normed_columns(ridge__norm n, const row_place *places, int64_t slices,
                               float *parts)
{
    const int64_t columns = (n.d + blockDim.x - 1) / blockDim.x;
    const int64_t c = blockIdx.x % columns * blockDim.x + threadIdx.x;
    const int64_t slice = blockIdx.x / columns;
    if (c >= n.d)
        return;
    float of_w = 0.0f, of_b = 0.0f;
    for (int64_t row = n.rows * slice / slices; row < n.rows * (slice + 1) / slices;
         row++) {
        const float d = load(n.d_y, row * n.d + c);
        of_w += d * (load(n.x, row * n.d + c) - places[row].mean) * places[row].rate;
        of_b += d;
    }
    parts[slice * n.d + c] = of_w;
    parts[(slices + slice) * n.d + c] = of_b;
}

__global__ void normed_slices(ridge__norm n, int64_t slices, const float *parts)
{
    for (int64_t c = thread_first(); c < n.d; c += thread_step()) {
        float of_w = 0.0f, of_b = 0.0f;
        for (int64_t slice = 0; slice < slices; slice++) {
            of_w += parts[slice * n.d + c];
            of_b += parts[(slices + slice) * n.d + c];
        }
        if (n.d_w.p != nullptr)
            store(n.d_w, c, of_w);
        if (n.d_b.p != nullptr)
            store(n.d_b, c, of_b);
    }
}

/** Slices of rows that are summed apart: the same on every GPU. */
constexpr int64_t slices_most = 128;

/** d_w and d_b, before d_x is written, which may be d_y. */
ridge_status sum_columns(ridge__device *d, const ridge__norm *n)
{
    const int64_t slices = n->rows < slices_most ? n->rows : slices_most;
    const int64_t columns = (n->d + block_threads - 1) / block_threads;
    void *work = nullptr;
    RIDGE_TRY(ridge__cuda_alloc(
        d, (size_t)(2 * n->rows + 2 * slices * n->d) * sizeof(float), &work));
    float *parts = (float *)work;
    row_place *places = (row_place *)(parts + 2 * slices * n->d);
    ridge_status status =
        launch(d, "run norm backward", launch_rows(n->rows), norm_places, *n, places);
    if (status == RIDGE_OK)
        status = launch(d, "run norm backward", launch_rows(columns * slices),
                        normed_columns, *n, (const row_place *)places, slices, parts);
    if (status == RIDGE_OK)
        status = launch(d, "run norm backward", launch_over(d, n->d), normed_slices, *n,
                        slices, (const float *)parts);
    ridge__cuda_release(d, work);
    return status;
}

/* ---- sums --------------------------------------------------------------------- */

/** A thread for each sum, where neighbours in memory are neighbours in the result. */
__global__ void summed_columns(ridge__sum s)
{
    const int64_t n = s.outer * s.inner;
    for (int64_t i = thread_first(); i < n; i += thread_step()) {
        const int64_t first = i / s.inner * s.middle * s.inner + i % s.inner;
        float sum = 0.0f;
        for (int64_t m = 0; m < s.middle; m++)
            sum += load(s.x, first + m * s.inner);
        store(s.y, i, sum);
    }
}

/** A block for each sum. */
__global__ void summed_rows(ridge__sum s)
{
    const int64_t i = blockIdx.x;
    const int64_t first = i / s.inner * s.middle * s.inner + i % s.inner;
    float sum = 0.0f;
    for (int64_t m = threadIdx.x; m < s.middle; m += blockDim.x)
        sum += load(s.x, first + m * s.inner);
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        store(s.y, i, sum);
}

constexpr int64_t square_blocks_most = 256;

__global__ void squared(ridge__array x, int64_t n, double *parts)
{
    double sum = 0.0;
    for (int64_t i = thread_first(); i < n; i += thread_step()) {
        const double value = load(x, i);
        sum += value * value;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

} // namespace

/* ---- the device's ------------------------------------------------------------- */

extern "C" ridge_status ridge__cuda_norm(ridge__device *d, const ridge__norm *n)
{
    return launch(d, "run norm", launch_rows(n->rows), normed, *n);
}

extern "C" ridge_status ridge__cuda_norm_backward(ridge__device *d,
                                                  const ridge__norm *n)
{
    if (n->d_w.p != nullptr || n->d_b.p != nullptr)
        RIDGE_TRY(sum_columns(d, n));
    return launch(d, "run norm backward", launch_rows(n->rows), normed_backward, *n);
}

extern "C" ridge_status ridge__cuda_sum(ridge__device *d, const ridge__sum *s)
{
    const int64_t n = s->outer * s->inner;
    if (s->inner >= 32 || s->middle < 32)
        return launch(d, "run sum", launch_over(d, n), summed_columns, *s);
    return launch(d, "run sum", launch_rows(n), summed_rows, *s);
}

extern "C" ridge_status ridge__cuda_sum_of_squares(ridge__device *d, ridge__array x,
                                                   int64_t n, double *out)
{
    const int64_t wanted = (n + block_threads - 1) / block_threads;
    const int64_t blocks = wanted < square_blocks_most ? wanted : square_blocks_most;
    void *parts = nullptr;
    double host[square_blocks_most], sum = 0.0;
    RIDGE_TRY(ridge__cuda_alloc(d, sizeof host, &parts));
    ridge_status status = launch(d, "run sum of squares", {blocks, block_threads, 0},
                                 squared, x, n, (double *)parts);
    if (status == RIDGE_OK)
        status = ridge__cuda_download(d, host, parts, (size_t)blocks * sizeof(double));
    ridge__cuda_release(d, parts);
    if (status != RIDGE_OK)
        return status;
    for (int64_t i = 0; i < blocks; i++)
        sum += host[i];
    *out = sum;
    return RIDGE_OK;
}
