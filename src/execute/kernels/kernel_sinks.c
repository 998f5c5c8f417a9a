/* One more score a head in attention's softmax, with a value of zero. */
#include "kernel_simd.h"

#include <math.h>

/* log(e^a + e^b) */
static float log_sum(float a, float b)
{
    const float top = a > b ? a : b, low = a > b ? b : a;
    return top + log1pf(expf(low - top));
}

static float head_sink(const ridge__sinks *s, int64_t head)
{
    float room[1];
    return row_read(s->sinks, head, 1, room)[0];
}

static void scale_head(const ridge__sinks *s, int64_t at, float by)
{
    float room[ROW];
    for (int64_t i = 0; i < s->hv; i += ROW) {
        const int64_t n = s->hv - i < ROW ? s->hv - i : ROW;
        const float *x = row_read(s->o, at * s->hv + i, n, room);
        float *y = row_begin(s->o, at * s->hv + i, room);
        for (int64_t k = 0; k < n; k++)
            y[k] = x[k] * by;
        row_end(s->o, at * s->hv + i, n, y);
    }
}

static void sinks_part(void *payload, int worker, int workers)
{
    const ridge__sinks *s = payload;
    const ridge__part part = ridge__part_of(s->rows, 1, worker, workers);
    for (int64_t head = 0; head < s->heads; head++) {
        const float sink = head_sink(s, head);
        for (int64_t r = part.first; r < part.end; r++) {
            float *lse = &s->lse[r * s->heads + head];
            const float all = log_sum(*lse, sink);
            scale_head(s, r * s->heads + head, expf(*lse - all));
            *lse = all;
        }
    }
}

ridge_status RIDGE__KERNEL(sinks)(ridge__device *d, const ridge__sinks *s)
{
    ridge__sinks job = *s;
    work_share(d, sinks_part, &job, s->rows * s->heads * s->hv);
    return RIDGE_OK;
}

static double dot(const ridge__sinks *s, int64_t at)
{
    float rooms[2][ROW];
    double sum = 0.0;
    for (int64_t i = 0; i < s->hv; i += ROW) {
        const int64_t n = s->hv - i < ROW ? s->hv - i : ROW;
        const float *a = row_read(s->o, at * s->hv + i, n, rooms[0]);
        const float *b = row_read(s->d_o, at * s->hv + i, n, rooms[1]);
        for (int64_t k = 0; k < n; k++)
            sum += (double)(a[k] * b[k]);
    }
    return sum;
}

/* Workers share heads, so that a head's sum has one order. */
static void backward_part(void *payload, int worker, int workers)
{
    const ridge__sinks *s = payload;
    const ridge__part part = ridge__part_of(s->heads, 1, worker, workers);
    for (int64_t head = part.first; head < part.end; head++) {
        const float sink = head_sink(s, head);
        double sum = 0.0;
        for (int64_t r = 0; r < s->rows; r++) {
            const int64_t at = r * s->heads + head;
            sum -= (double)expf(sink - s->lse[at]) * dot(s, at);
        }
        s->d_sinks[head] = (float)sum;
    }
}

ridge_status RIDGE__KERNEL(sinks_backward)(ridge__device *d, const ridge__sinks *s)
{
    ridge__sinks job = *s;
    work_share(d, backward_part, &job, s->rows * s->heads * s->hv);
    return RIDGE_OK;
}
