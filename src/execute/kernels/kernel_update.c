/* AdamW, or SGD with or without a momentum: one pass over weight, gradient and state.
 */
#include "kernel_simd.h"

#include <math.h>

enum { GRAIN = 64 };

/** @param m  NULL: none */
static void sgd_row(const ridge__update *u, int64_t n, float *restrict w,
                    const float *restrict gradient, float *restrict m)
{
    const ridge__update c = *u;
    if (m == NULL) {
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            w[i] -= c.rate * (c.scale * gradient[i] + c.decay * w[i]);
        return;
    }
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        m[i] = c.beta1 * m[i] + c.scale * gradient[i];
        w[i] -= c.rate * (m[i] + c.decay * w[i]);
    }
}

static void adam_row(const ridge__update *u, int64_t n, float *restrict w,
                     const float *restrict gradient, float *restrict m,
                     float *restrict v)
{
    const ridge__update c = *u;
    const float inverse1 = 1.0f / c.correction1, inverse2 = 1.0f / c.correction2;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const float g = c.scale * gradient[i];
        const float mean = c.beta1 * m[i] + (1.0f - c.beta1) * g;
        const float square = c.beta2 * v[i] + (1.0f - c.beta2) * g * g;
        m[i] = mean;
        v[i] = square;
        const float step = mean * inverse1 / (sqrtf(square * inverse2) + c.epsilon);
        w[i] -= c.rate * (step + c.decay * w[i]);
    }
}

/** Elements of an array to be changed: in place, or in a room. */
static float *row_open(ridge__array a, int64_t first, int64_t n, float *room)
{
    if (a.p == NULL)
        return NULL;
    (void)row_read(a, first, n, room);
    return row_begin(a, first, room);
}

static void row_close(ridge__array a, int64_t first, int64_t n, const float *row)
{
    if (a.p != NULL)
        row_end(a, first, n, row);
}

static void update_part(void *payload, int worker, int workers)
{
    const ridge__update *u = payload;
    float rooms[4][ROW];
    const ridge__array master = {u->master, RIDGE_DTYPE_FP32};
    const ridge__array changed = u->master != NULL ? master : u->weight;
    const ridge__part part = ridge__part_of(u->n, GRAIN, worker, workers);
    for (int64_t i = part.first; i < part.end; i += ROW) {
        const int64_t n = part.end - i < ROW ? part.end - i : ROW;
        const float *g = row_read(u->gradient, i, n, rooms[0]);
        float *w = row_open(changed, i, n, rooms[1]);
        float *m = row_open(u->m, i, n, rooms[2]);
        float *v = row_open(u->v, i, n, rooms[3]);
        if (v != NULL)
            adam_row(u, n, w, g, m, v);
        else
            sgd_row(u, n, w, g, m);
        row_close(u->m, i, n, m);
        row_close(u->v, i, n, v);
        if (u->master != NULL)
            row_move(master, i, u->weight, i, n);
        else
            row_end(u->weight, i, n, w);
    }
}

/* @source kingma2015, loshchilov2019 */
ridge_status RIDGE__KERNEL(update)(ridge__device *d, const ridge__update *u)
{
    ridge__update job = *u;
    work_share(d, update_part, &job, u->n);
    return RIDGE_OK;
}
