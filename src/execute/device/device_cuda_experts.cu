/* Experts: which ones a token goes to, the order of their rows, and tokens to rows and
 * back. A token finds its rows by bisection, as those of an expert stand in order. */
#include "device_cuda.cuh"

namespace
{

/* ---- route -------------------------------------------------------------------- */

/** A logit as it is compared: no number is the least. */
__device__ float logit_of(const ridge__route &r, int64_t at)
{
    const float logit = load(r.logits, at);
    return logit == logit ? logit : -INFINITY;
}

/** Whether a value comes before another: the larger, of equals the lower index. */
__device__ bool comes_before(float value, int64_t i, float other, int64_t j)
{
    return value > other || (value == other && i < j);
}

/** The next of a row's logits behind (value, index) in that order; there is one. */
__device__ int64_t next_expert(const ridge__route &r, int64_t first, float value,
                               int64_t index)
{
    int64_t best = -1;
    float best_value = 0.0f;
    for (int64_t e = 0; e < r.experts; e++) {
        const float logit = logit_of(r, first + e);
        const bool is_behind = index < 0 || comes_before(value, index, logit, e);
        if (is_behind && (best < 0 || comes_before(logit, e, best_value, best))) {
            best = e;
            best_value = logit;
        }
    }
    return best;
}

/** exp(logit - top), also of infinities. */
__device__ float weight_of(float logit, float top)
{
    return logit == top ? 1.0f : expf(logit - top);
}

/** A thread for each row. */
__global__ void routed(ridge__route r)
{
    const int64_t chosen = r.k < r.experts ? r.k : r.experts;
    for (int64_t row = thread_first(); row < r.rows; row += thread_step()) {
        const int64_t first = row * r.experts;
        int64_t last = -1;
        float value = 0.0f, top = 0.0f, sum = 0.0f;
        for (int64_t i = 0; i < chosen; i++) {
            last = next_expert(r, first, value, last);
            value = logit_of(r, first + last);
            top = i == 0 ? value : top;
            sum += weight_of(value, top);
        }
        for (int64_t e = 0; r.is_whole && e < r.experts; e++) {
            const float logit = logit_of(r, first + e);
            if (last >= 0 && e != last && !comes_before(logit, e, value, last))
                sum += weight_of(logit, top);
        }
        for (int64_t e = 0; e < r.experts; e++) {
            const float logit = logit_of(r, first + e);
            const bool is_chosen =
                last >= 0 && (e == last || comes_before(logit, e, value, last));
            store(r.gates, first + e, is_chosen ? weight_of(logit, top) / sum : 0.0f);
        }
    }
}

__global__ void routed_backward(ridge__route r)
{
    for (int64_t row = thread_first(); row < r.rows; row += thread_step()) {
        const int64_t first = row * r.experts;
        float along = 0.0f;
        for (int64_t e = 0; e < r.experts; e++) {
            const float gate = load(r.gates, first + e);
            if (gate != 0.0f)
                along += gate * load(r.d_gates, first + e);
        }
        for (int64_t e = 0; e < r.experts; e++) {
            const float gate = load(r.gates, first + e);
            store(r.d_logits, first + e,
                  gate == 0.0f ? 0.0f : gate * (load(r.d_gates, first + e) - along));
        }
    }
}

/* ---- order -------------------------------------------------------------------- */

__device__ bool goes_to(const ridge__expert_order &o, int64_t token, int64_t expert)
{
    const float gate = load(o.gates, token * o.all_experts + o.first_expert + expert);
    return gate > 0.0f || gate < 0.0f; /* neither 0 nor NaN */
}

/** A block for each expert. */
__global__ void counted(ridge__expert_order o, int64_t tokens, int64_t *counts)
{
    int count = 0;
    for (int64_t t = threadIdx.x; t < tokens; t += blockDim.x)
        count += goes_to(o, t, blockIdx.x);
    count = block_sum(count);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = count;
}

/** A block for each expert writes its tokens in order: in rounds of a block's threads,
 * each finds its place behind those before it. */
__global__ void ordered(ridge__expert_order o, int64_t tokens, const int64_t *offsets)
{
    __shared__ int of_warp[32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int64_t next = offsets[blockIdx.x];
    for (int64_t from = 0; from < tokens; from += blockDim.x) {
        const int64_t token = from + threadIdx.x;
        const bool is_in = token < tokens && goes_to(o, token, blockIdx.x);
        const unsigned in_warp = __ballot_sync(whole_warp, is_in);
        __syncthreads();
        if (lane == 0)
            of_warp[warp] = __popc(in_warp);
        __syncthreads();
        int before = __popc(in_warp & ((1u << lane) - 1u)), all = 0;
        for (unsigned w = 0; w < blockDim.x / 32; w++) {
            before += (int)w < warp ? of_warp[w] : 0;
            all += of_warp[w];
        }
        if (is_in)
            o.token[next + before] = (int32_t)token;
        next += all;
    }
}

/* ---- tokens to rows and back -------------------------------------------------- */

/** offsets, in device memory here. */
struct experts_job {
    ridge__experts e;
    const int64_t *offsets;
};

/** Row of a token at an expert; -1: it is not there. */
__device__ int64_t row_at(const experts_job &job, int64_t token, int64_t expert)
{
    int64_t low = job.offsets[expert], high = job.offsets[expert + 1];
    const int64_t last = high;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (job.e.token[middle] < token)
            low = middle + 1;
        else
            high = middle;
    }
    return low < last && job.e.token[low] == token ? low : -1;
}

__global__ void dispatched(ridge__experts e, int64_t n)
{
    for (int64_t i = thread_first(); i < n; i += thread_step())
        store(e.rows, i, load(e.x, (int64_t)e.token[i / e.d] * e.d + i % e.d));
}

/** A block for each token: y = sum over experts of its row, times the gate if `gates`
 * are wanted. */
__device__ void gather_rows(const experts_job &job, const ridge__array &rows,
                            const ridge__array &y, bool has_gates)
{
    RIDGE__SHARED(int64_t, row_of);
    const ridge__experts &e = job.e;
    const int64_t token = blockIdx.x;
    for (int64_t i = threadIdx.x; i < e.experts; i += blockDim.x)
        row_of[i] = row_at(job, token, i);
    __syncthreads();
    const int64_t first_gate = token * e.all_experts + e.first_expert;
    for (int64_t c = threadIdx.x; c < e.d; c += blockDim.x) {
        float sum = 0.0f;
        for (int64_t i = 0; i < e.experts; i++) {
            if (row_of[i] < 0)
                continue;
            const float gate = has_gates ? load(e.gates, first_gate + i) : 1.0f;
            sum += gate * load(rows, row_of[i] * e.d + c);
        }
        store(y, token * e.d + c, sum);
    }
}

__global__ void dispatched_backward(experts_job job)
{
    gather_rows(job, job.e.d_rows, job.e.d_x, false);
}

__global__ void combined(experts_job job)
{
    gather_rows(job, job.e.rows, job.e.y, true);
}

/** A block for each token. */
__global__ void combined_backward(experts_job job)
{
    RIDGE__SHARED(int64_t, row_of);
    const ridge__experts &e = job.e;
    const int64_t token = blockIdx.x, first_gate = token * e.all_experts;
    for (int64_t i = threadIdx.x; i < e.experts; i += blockDim.x)
        row_of[i] = row_at(job, token, i);
    for (int64_t i = threadIdx.x; i < e.all_experts; i += blockDim.x)
        if (i < e.first_expert || i >= e.first_expert + e.experts)
            store(e.d_gates, first_gate + i, 0.0f);
    __syncthreads();
    for (int64_t i = 0; i < e.experts; i++) {
        const int64_t at = first_gate + e.first_expert + i, row = row_of[i];
        const float gate = row < 0 ? 0.0f : load(e.gates, at);
        float dot = 0.0f;
        for (int64_t c = threadIdx.x; c < e.d && row >= 0; c += blockDim.x) {
            const float d = load(e.d_y, token * e.d + c);
            dot += load(e.rows, row * e.d + c) * d;
            store(e.d_rows, row * e.d + c, gate * d);
        }
        if (row >= 0)
            dot = block_sum(dot);
        if (threadIdx.x == 0)
            store(e.d_gates, at, dot);
    }
}

/** Run a kernel of a block a token, with the offsets in device memory. */
ridge_status by_token(ridge__device *d, const char *what, const ridge__experts *e,
                      void (*kernel)(experts_job))
{
    const size_t bytes = (size_t)(e->experts + 1) * sizeof(int64_t);
    void *offsets = nullptr;
    RIDGE_TRY(ridge__cuda_alloc(d, bytes, &offsets));
    ridge_status status = ridge__cuda_upload(d, offsets, e->offsets, bytes);
    const experts_job job = {*e, (const int64_t *)offsets};
    if (status == RIDGE_OK)
        status = launch(d, what, {e->tokens, block_threads, bytes}, kernel, job);
    ridge__cuda_release(d, offsets);
    return status;
}

/** counts, in device memory, become offsets there and in o. */
ridge_status order_offsets(ridge__device *d, const ridge__expert_order *o,
                           int64_t *counts)
{
    const size_t bytes = (size_t)(o->experts + 1) * sizeof(int64_t);
    RIDGE_TRY(ridge__cuda_download(d, o->offsets + 1, counts, bytes - sizeof(int64_t)));
    o->offsets[0] = 0;
    for (int64_t i = 0; i < o->experts; i++)
        o->offsets[i + 1] += o->offsets[i];
    return ridge__cuda_upload(d, counts, o->offsets, bytes);
}

} // namespace

/* ---- the device's ------------------------------------------------------------- */

extern "C" ridge_status ridge__cuda_route(ridge__device *d, const ridge__route *r)
{
    return launch(d, "run route", launch_over(d, r->rows), routed, *r);
}

extern "C" ridge_status ridge__cuda_route_backward(ridge__device *d,
                                                   const ridge__route *r)
{
    return launch(d, "run route backward", launch_over(d, r->rows), routed_backward,
                  *r);
}

extern "C" ridge_status ridge__cuda_expert_order(ridge__device *d,
                                                 const ridge__expert_order *o)
{
    const int64_t tokens = o->valid < o->tokens ? o->valid : o->tokens;
    void *counts = nullptr;
    RIDGE_TRY(
        ridge__cuda_alloc(d, (size_t)(o->experts + 1) * sizeof(int64_t), &counts));
    ridge_status status = launch(d, "order experts", launch_rows(o->experts), counted,
                                 *o, tokens, (int64_t *)counts);
    if (status == RIDGE_OK)
        status = order_offsets(d, o, (int64_t *)counts);
    if (status == RIDGE_OK)
        status = launch(d, "order experts", launch_rows(o->experts), ordered, *o,
                        tokens, (const int64_t *)counts);
    ridge__cuda_release(d, counts);
    return status;
}

extern "C" ridge_status ridge__cuda_dispatch(ridge__device *d, const ridge__experts *e)
{
    const int64_t n = e->offsets[e->experts] * e->d;
    return launch(d, "run dispatch", launch_over(d, n), dispatched, *e, n);
}

extern "C" ridge_status ridge__cuda_dispatch_backward(ridge__device *d,
                                                      const ridge__experts *e)
{
    return by_token(d, "run dispatch backward", e, dispatched_backward);
}

extern "C" ridge_status ridge__cuda_combine(ridge__device *d, const ridge__experts *e)
{
    return by_token(d, "run combine", e, combined);
}

extern "C" ridge_status ridge__cuda_combine_backward(ridge__device *d,
                                                     const ridge__experts *e)
{
    return by_token(d, "run combine backward", e, combined_backward);
}
