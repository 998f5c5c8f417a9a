/*
 * Codes of 8 bits for numbers of a block, as parts of its largest: seven decades, each
 * with twice the steps of the one below. A code is one cell of a decade and stands for
 * its middle; the last one is 1, so that the largest entry comes back as it was. With a
 * sign there are 7 bits for the size. For the CPU's kernels and the GPU's.
 * @source dettmers2022 section 1.3 (dynamic tree quantization)
 */
#ifndef RIDGE_EXECUTE_BLOCK_CODE_H
#define RIDGE_EXECUTE_BLOCK_CODE_H

#include "device.h"

#ifdef __CUDACC__
#    define RIDGE__BLOCK_INLINE static __host__ __device__ inline
#else
#    define RIDGE__BLOCK_INLINE static inline
#endif

/** Scales of a row: of the blocks that its entries lie in. */
RIDGE__BLOCK_INLINE int64_t ridge__blocks_per_row(const ridge__blocks *b)
{
    const int64_t last = (b->first + b->n - 1) / RIDGE__BLOCK_ENTRIES;
    return b->n > 0 ? last - b->first / RIDGE__BLOCK_ENTRIES + 1 : 0;
}

/** The decade's upper end as a divisor, and its cells: of the first 2^(is_signed ? 0 :
 * 1), twice as many in each further one. */
typedef struct ridge__block_decade {
    float times;      /* part of the largest -> part of the decade's end */
    int cells, first; /* and the code of the first cell */
} ridge__block_decade;

RIDGE__BLOCK_INLINE ridge__block_decade ridge__block_decade_of(float part,
                                                               bool is_signed)
{
    const int i = (part >= 1e-6f) + (part >= 1e-5f) + (part >= 1e-4f) +
                  (part >= 1e-3f) + (part >= 1e-2f) + (part >= 1e-1f);
    const float times = i == 6   ? 1.0f
                        : i == 5 ? 1e1f
                        : i == 4 ? 1e2f
                        : i == 3 ? 1e3f
                        : i == 2 ? 1e4f
                        : i == 1 ? 1e5f
                                 : 1e6f;
    const int cells = (is_signed ? 1 : 2) << i;
    const ridge__block_decade d = {times, cells, is_signed ? cells : cells - 1};
    return d;
}

/** The code of a size, 0 .. 1 of the largest. Without a sign all but 0 has one above 0:
 * a second moment that is there never becomes nothing. */
RIDGE__BLOCK_INLINE uint8_t ridge__block_code(float part, bool is_signed)
{
    const ridge__block_decade d = ridge__block_decade_of(part, is_signed);
    const float place = (part * d.times - 0.1f) * ((float)d.cells / 0.9f);
    int cell = (int)place;
    cell = cell < 0 ? 0 : cell >= d.cells ? d.cells - 1 : cell;
    if (part < 1e-7f)
        return (uint8_t)(part > 0.0f && !is_signed ? 1 : 0);
    return (uint8_t)(part >= 1.0f && !is_signed ? 255 : d.first + cell);
}

/** What a code of ridge__block_code stands for. */
RIDGE__BLOCK_INLINE float ridge__block_size(int code, bool is_signed)
{
    int cells = is_signed ? 1 : 2, first = 1;
    float end = 1e-6f;
    if (code == 0)
        return 0.0f;
    if (code >= (is_signed ? 127 : 254 + 1))
        return 1.0f;
    while (code >= first + cells) {
        first += cells;
        cells *= 2;
        end *= 10.0f;
    }
    return end * (0.1f + 0.9f * ((float)(code - first) + 0.5f) / (float)cells);
}

#endif
