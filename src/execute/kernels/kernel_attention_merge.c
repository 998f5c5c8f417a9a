/* Attention over two sets of entries from that over each, as ring attention needs. */
#include "kernel_simd.h"

#include <math.h>

typedef struct merge_job {
    int64_t rows, hv;
    ridge__array o, other;
    float *lse;
    const float *other_lse;
} merge_job;

/** o = by o + other_by other, one row. */
static void row_mix(const merge_job *job, int64_t row, float by, float other_by)
{
    float o_room[ROW], other_room[ROW], y_room[ROW];
    for (int64_t i = 0; i < job->hv; i += ROW) {
        const int64_t n = job->hv - i < ROW ? job->hv - i : ROW;
        const int64_t at = row * job->hv + i;
        const float *o = row_read(job->o, at, n, o_room);
        const float *other = row_read(job->other, at, n, other_room);
        float *y = row_begin(job->o, at, y_room);
        row_scale(y, o, by, n);
        row_add(y, other, other_by, n);
        row_end(job->o, at, n, y);
    }
}

static void merge_part(void *payload, int worker, int workers)
{
    const merge_job *job = payload;
    const ridge__part part = ridge__part_of(job->rows, 16, worker, workers);
    for (int64_t row = part.first; row < part.end; row++) {
        const float mine = job->lse[row], other = job->other_lse[row];
        const float top = other > mine ? other : mine;
        if (top == -INFINITY)
            continue; /* neither met anything: o is 0 already */
        const float a = expf(mine - top), b = expf(other - top);
        row_mix(job, row, a / (a + b), b / (a + b));
        job->lse[row] = top + logf(a + b);
    }
}

/* @source liu2023-ring */
ridge_status RIDGE__KERNEL(attention_merge)(ridge__device *d, int64_t rows, int64_t hv,
                                            ridge__array o, float *lse,
                                            ridge__array other, const float *other_lse)
{
    merge_job job = {rows, hv, o, other, lse, other_lse};
    work_share(d, merge_part, &job, rows * hv);
    return RIDGE_OK;
}
