/* AdamW, or SGD with or without a momentum: one pass over weight, gradient and state.
 */
#include "kernel_simd.h"

#include <math.h>

enum { GRAIN = 64 };

static void sgd_row(const ridge__update *u, int64_t first, int64_t n, float *restrict w,
                    const float *restrict gradient)
{
    const ridge__update c = *u;
    float *restrict m = c.m != NULL ? c.m + first : NULL;
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

/** Elements first .. first + n of the state; w and gradient stand there already. */
static void update_row(const ridge__update *u, int64_t first, int64_t n,
                       float *restrict w, const float *restrict gradient)
{
    const ridge__update c = *u;
    const float inverse1 = 1.0f / c.correction1, inverse2 = 1.0f / c.correction2;
    float *restrict m = c.m + first, *restrict v = c.v + first;
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

static void update_part(void *payload, int worker, int workers)
{
    const ridge__update *u = payload;
    float weight_room[ROW], gradient_room[ROW];
    const ridge__part part = ridge__part_of(u->n, GRAIN, worker, workers);
    for (int64_t i = part.first; i < part.end; i += ROW) {
        const int64_t n = part.end - i < ROW ? part.end - i : ROW;
        const float *g = row_read(u->gradient, i, n, gradient_room);
        float *w =
            u->master != NULL ? u->master + i : row_begin(u->weight, i, weight_room);
        if (u->master == NULL)
            (void)row_read(u->weight, i, n, weight_room);
        if (u->v != NULL)
            update_row(u, i, n, w, g);
        else
            sgd_row(u, i, n, w, g);
        if (u->master != NULL)
            row_move((ridge__array){u->master, RIDGE_DTYPE_FP32}, i, u->weight, i, n);
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
