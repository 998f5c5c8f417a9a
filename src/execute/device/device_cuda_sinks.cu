/* One more score a head in attention's softmax, with a value of zero. */
#include "device_cuda.cuh"

namespace
{

/** A block for each row and head. */
__global__ void with_sinks(ridge__sinks s)
{
    const int64_t at = blockIdx.x;
    const float sink = load(s.sinks, at % s.heads), lse = s.lse[at];
    const float top = fmaxf(lse, sink), low = fminf(lse, sink);
    const float all = top + log1pf(expf(low - top)), by = expf(lse - all);
    for (int64_t i = threadIdx.x; i < s.hv; i += blockDim.x)
        store(s.o, at * s.hv + i, load(s.o, at * s.hv + i) * by);
    __syncthreads();
    if (threadIdx.x == 0)
        s.lse[at] = all;
}

/** A block for each head: its sum has one order. */
__global__ void sinks_gradient(ridge__sinks s)
{
    const int64_t head = blockIdx.x;
    const float sink = load(s.sinks, head);
    float sum = 0.0f;
    for (int64_t r = threadIdx.x; r < s.rows; r += blockDim.x) {
        const int64_t at = r * s.heads + head;
        float dot = 0.0f;
        for (int64_t i = 0; i < s.hv; i++)
            dot += load(s.o, at * s.hv + i) * load(s.d_o, at * s.hv + i);
        sum -= expf(sink - s.lse[at]) * dot;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        s.d_sinks[head] = sum;
}

} // namespace

extern "C" ridge_status ridge__cuda_sinks(ridge__device *d, const ridge__sinks *s)
{
    return launch(d, "add sinks", launch_rows(s->rows * s->heads), with_sinks, *s);
}

extern "C" ridge_status ridge__cuda_sinks_backward(ridge__device *d,
                                                   const ridge__sinks *s)
{
    return launch(d, "run the backward pass of sinks", launch_rows(s->heads),
                  sinks_gradient, *s);
}
