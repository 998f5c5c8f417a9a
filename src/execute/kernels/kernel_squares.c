/* Sums of squares and multiplication in place, for the clipping of gradients. */
#include "kernel_simd.h"

typedef struct squares_job {
    ridge__array x;
    int64_t n;
    float by;
    double parts[RIDGE__TEAM_THREAD_MAX]; /* of each worker */
} squares_job;

enum { GRAIN = 64, AHEAD = 1024 /* elements that memory needs to come */ };

typedef float half_loose
    __attribute__((vector_size(2 * RIDGE__VECTOR), aligned(4), may_alias));
typedef double double_vec __attribute__((vector_size(4 * RIDGE__VECTOR)));

static double squares_of(const float *x, int64_t n)
{
    enum { HALF = LANES / 2 };
    double_vec sums[2] = {{0.0}, {0.0}};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        __builtin_prefetch(x + i + AHEAD);
        for (int k = 0; k < 2; k++) {
            const double_vec wide = __builtin_convertvector(
                *(const half_loose *)(x + i + k * HALF), double_vec);
            sums[k] += wide * wide;
        }
    }
    double sum = 0.0;
    for (int k = 0; k < HALF; k++)
        sum += sums[0][k] + sums[1][k];
    for (; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

static void squares_part(void *payload, int worker, int workers)
{
    squares_job *job = payload;
    float room[ROW];
    double sum = 0.0;
    const ridge__part part = ridge__part_of(job->n, GRAIN, worker, workers);
    for (int64_t i = part.first; i < part.end; i += ROW) {
        const int64_t n = part.end - i < ROW ? part.end - i : ROW;
        sum += squares_of(row_read(job->x, i, n, room), n);
    }
    job->parts[worker] = sum;
}

ridge_status RIDGE__KERNEL(sum_of_squares)(ridge__device *d, ridge__array x, int64_t n,
                                           double *out)
{
    squares_job job;
    job.x = x;
    job.n = n;
    const int workers = work_share(d, squares_part, &job, n);
    double sum = 0.0;
    for (int i = 0; i < workers; i++)
        sum += job.parts[i];
    *out = sum;
    return RIDGE_OK;
}

static void multiply_part(void *payload, int worker, int workers)
{
    const squares_job *job = payload;
    float room[ROW];
    const ridge__part part = ridge__part_of(job->n, GRAIN, worker, workers);
    for (int64_t i = part.first; i < part.end; i += ROW) {
        const int64_t n = part.end - i < ROW ? part.end - i : ROW;
        const float *x = row_read(job->x, i, n, room);
        float *y = row_begin(job->x, i, room);
        row_scale(y, x, job->by, n);
        row_end(job->x, i, n, y);
    }
}

ridge_status RIDGE__KERNEL(multiply)(ridge__device *d, ridge__array x, int64_t n,
                                     float by)
{
    squares_job job;
    job.x = x;
    job.n = n;
    job.by = by;
    work_share(d, multiply_part, &job, n);
    return RIDGE_OK;
}
