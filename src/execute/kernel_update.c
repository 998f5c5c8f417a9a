/* AdamW: one pass over weight, gradient and state. */
#include "kernel_simd.h"

#include <math.h>

/** What is the same for all elements. */
typedef struct update_rates {
    float rate, beta1, beta2, epsilon, decay, inverse1, inverse2, scale;
} update_rates;

enum { GRAIN = 64 };

static void update_row(const update_rates *r, float *restrict w,
                       const float *restrict gradient, float *restrict m,
                       float *restrict v, int64_t n)
{
    const update_rates c = *r;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const float g = c.scale * gradient[i];
        const float first = c.beta1 * m[i] + (1.0f - c.beta1) * g;
        const float second = c.beta2 * v[i] + (1.0f - c.beta2) * g * g;
        m[i] = first;
        v[i] = second;
        const float step =
            first * c.inverse1 / (sqrtf(second * c.inverse2) + c.epsilon);
        w[i] -= c.rate * (step + c.decay * w[i]);
    }
}

static void update_part(void *payload, int worker, int workers)
{
    const ridge__update *u = payload;
    const update_rates rates = {u->rate,
                                u->beta1,
                                u->beta2,
                                u->epsilon,
                                u->decay,
                                1.0f / u->correction1,
                                1.0f / u->correction2,
                                u->scale};
    float weight_room[ROW], gradient_room[ROW];
    const ridge__part part = ridge__part_of(u->n, GRAIN, worker, workers);
    for (int64_t i = part.first; i < part.end; i += ROW) {
        const int64_t n = part.end - i < ROW ? part.end - i : ROW;
        const float *g = row_read(u->gradient, i, n, gradient_room);
        float *w =
            u->master != NULL ? u->master + i : row_begin(u->weight, i, weight_room);
        if (u->master == NULL)
            (void)row_read(u->weight, i, n, weight_room);
        update_row(&rates, w, g, u->m + i, u->v + i, n);
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
