/* Arrays of 8 bits with a scale for each block of their last dim: the moments of an
 * optimizer. */
#include "device_cuda.cuh"

#include "block_code.h"

namespace
{

__device__ int64_t block_of(const ridge__blocks &b, int64_t column)
{
    return (b.first + column) / RIDGE__BLOCK_ENTRIES - b.first / RIDGE__BLOCK_ENTRIES;
}

__device__ float scale_at(const ridge__blocks &b, int64_t at)
{
    return b.scales[at / b.n * ridge__blocks_per_row(&b) + block_of(b, at % b.n)];
}

/** A thread for each block: its entries are few. */
__global__ void block_maxima(ridge__blocks b)
{
    const int64_t blocks = ridge__blocks_per_row(&b), n = b.rows * blocks;
    for (int64_t k = thread_first(); k < n; k += thread_step()) {
        const int64_t block = b.first / RIDGE__BLOCK_ENTRIES + k % blocks;
        const int64_t begin = block * RIDGE__BLOCK_ENTRIES - b.first;
        const int64_t end = begin + RIDGE__BLOCK_ENTRIES;
        float most = 0.0f;
        for (int64_t i = begin < 0 ? 0 : begin; i < (end > b.n ? b.n : end); i++)
            most = fmaxf(most, fabsf(b.x[k / blocks * b.n + i]));
        b.scales[k] = most;
    }
}

__global__ void block_pack(ridge__blocks b)
{
    for (int64_t i = thread_first(); i < b.rows * b.n; i += thread_step()) {
        const float largest = scale_at(b, i), x = b.x[i];
        const float whole = largest > 0.0f ? largest : 1.0f;
        const uint8_t sign = b.is_signed && x < 0.0f ? 128 : 0;
        b.codes[i] = (uint8_t)(sign | ridge__block_code(fabsf(x) / whole, b.is_signed));
    }
}

__global__ void block_unpack(ridge__blocks b)
{
    for (int64_t i = thread_first(); i < b.rows * b.n; i += thread_step()) {
        const int code = b.codes[i];
        const float size =
            ridge__block_size(b.is_signed ? code & 127 : code, b.is_signed);
        b.x[i] = (b.is_signed && code > 127 ? -size : size) * scale_at(b, i);
    }
}

} // namespace

extern "C" ridge_status ridge__cuda_block_maxima(ridge__device *d,
                                                 const ridge__blocks *b)
{
    return launch(d, "find the largest of blocks",
                  launch_over(d, b->rows * ridge__blocks_per_row(b)), block_maxima, *b);
}

extern "C" ridge_status ridge__cuda_block_pack(ridge__device *d, const ridge__blocks *b)
{
    return launch(d, "pack blocks", launch_over(d, b->rows * b->n), block_pack, *b);
}

extern "C" ridge_status ridge__cuda_block_unpack(ridge__device *d,
                                                 const ridge__blocks *b)
{
    return launch(d, "unpack blocks", launch_over(d, b->rows * b->n), block_unpack, *b);
}
