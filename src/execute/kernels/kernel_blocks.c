/* Arrays of 8 bits with a scale for each block of their last dim: the moments of an
 * optimizer. */
#include "kernel_simd.h"

#include "block_code.h"

#include <math.h>

enum { ROW_GRAIN = 1 };

/* The entries of a row that lie in a block: local ones. */
static ridge__part block_part(const ridge__blocks *b, int64_t block)
{
    const int64_t begin =
        (b->first / RIDGE__BLOCK_ENTRIES + block) * RIDGE__BLOCK_ENTRIES - b->first;
    const int64_t end = begin + RIDGE__BLOCK_ENTRIES;
    return (ridge__part){begin < 0 ? 0 : begin, end > b->n ? b->n : end};
}

/* ---- the largest -------------------------------------------------------------------
 */

static void maxima_part(void *payload, int worker, int workers)
{
    const ridge__blocks *b = payload;
    const int64_t blocks = ridge__blocks_per_row(b);
    const ridge__part part = ridge__part_of(b->rows, ROW_GRAIN, worker, workers);
    for (int64_t r = part.first; r < part.end; r++) {
        const float *x = b->x + r * b->n;
        for (int64_t k = 0; k < blocks; k++) {
            const ridge__part in = block_part(b, k);
            float most = 0.0f;
            for (int64_t i = in.first; i < in.end; i++)
                most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
            b->scales[r * blocks + k] = most;
        }
    }
}

ridge_status RIDGE__KERNEL(block_maxima)(ridge__device *d, const ridge__blocks *b)
{
    ridge__blocks job = *b;
    work_share(d, maxima_part, &job, b->rows * b->n);
    return RIDGE_OK;
}

/* ---- to codes
 * ------------------------------------------------------------------------ */

static void pack_block(const ridge__blocks *b, const float *restrict x, float largest,
                       int64_t n, uint8_t *restrict codes)
{
    const float whole = largest > 0.0f ? largest : 1.0f;
    const bool is_signed = b->is_signed;
    for (int64_t i = 0; i < n; i++) {
        const uint8_t sign = is_signed && x[i] < 0.0f ? 128 : 0;
        codes[i] = (uint8_t)(sign | ridge__block_code(fabsf(x[i]) / whole, is_signed));
    }
}

static void pack_part(void *payload, int worker, int workers)
{
    const ridge__blocks *b = payload;
    const int64_t blocks = ridge__blocks_per_row(b);
    const ridge__part part = ridge__part_of(b->rows, ROW_GRAIN, worker, workers);
    for (int64_t r = part.first; r < part.end; r++) {
        for (int64_t k = 0; k < blocks; k++) {
            const ridge__part in = block_part(b, k);
            const int64_t at = r * b->n + in.first;
            pack_block(b, b->x + at, b->scales[r * blocks + k], in.end - in.first,
                       b->codes + at);
        }
    }
}

ridge_status RIDGE__KERNEL(block_pack)(ridge__device *d, const ridge__blocks *b)
{
    ridge__blocks job = *b;
    work_share(d, pack_part, &job, b->rows * b->n);
    return RIDGE_OK;
}

/* ---- from codes
 * ------------------------------------------------------------------------
 */

enum { CODES = 256 };

typedef struct unpacking {
    ridge__blocks b;
    float sizes[CODES];
} unpacking;

static void unpack_part(void *payload, int worker, int workers)
{
    const unpacking *u = payload;
    const ridge__blocks *b = &u->b;
    const int64_t blocks = ridge__blocks_per_row(b);
    const ridge__part part = ridge__part_of(b->rows, ROW_GRAIN, worker, workers);
    for (int64_t r = part.first; r < part.end; r++) {
        for (int64_t k = 0; k < blocks; k++) {
            const ridge__part in = block_part(b, k);
            const float scale = b->scales[r * blocks + k];
            for (int64_t i = in.first; i < in.end; i++)
                b->x[r * b->n + i] = u->sizes[b->codes[r * b->n + i]] * scale;
        }
    }
}

ridge_status RIDGE__KERNEL(block_unpack)(ridge__device *d, const ridge__blocks *b)
{
    unpacking job = {.b = *b};
    for (int code = 0; code < CODES; code++) {
        const float size =
            ridge__block_size(b->is_signed ? code & 127 : code, b->is_signed);
        job.sizes[code] = b->is_signed && code > 127 ? -size : size;
    }
    work_share(d, unpack_part, &job, b->rows * b->n);
    return RIDGE_OK;
}
