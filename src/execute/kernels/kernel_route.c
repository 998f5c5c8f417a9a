/*
 * Gates of tokens: the k experts with the largest logits, weighed by softmax. A NaN
 * counts as minus infinity; where the largest is infinite, all such share the gate.
 */
#include "kernel_simd.h"

#include <math.h>

typedef struct route_job {
    const ridge__route *r;
    ridge__team *team; /* scratch of a worker: logits and gates, [2][experts] */
} route_job;

/** Index of the greatest that is no NaN, the lowest among equals; -1: none. */
static int64_t top_index(const float *x, int64_t n)
{
    vec top = vec_set(-INFINITY);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        top = vec_max(vec_load(x + i), top);
    float best = vec_top(top);
    for (; i < n; i++)
        best = x[i] > best ? x[i] : best;
    for (i = 0; i < n; i++) {
        if (x[i] == best)
            return i;
    }
    return -1;
}

/** exp(x - top), also of infinities. */
static float weight_of(float x, float top)
{
    return x == top ? 1.0f : expf(x - top);
}

/** @param x  [experts], consumed: those chosen become NaN */
static void choose(const ridge__route *r, float *x, float *gates)
{
    memset(gates, 0, (size_t)r->experts * sizeof *gates);
    float top = 0.0f, sum = 0.0f, rest = 0.0f;
    for (int64_t i = 0; i < r->experts; i++)
        x[i] = x[i] == x[i] ? x[i] : -INFINITY;
    for (int64_t n = 0; n < r->k && n < r->experts; n++) {
        const int64_t best = top_index(x, r->experts);
        if (best < 0)
            break;
        top = n == 0 ? x[best] : top;
        gates[best] = weight_of(x[best], top);
        sum += gates[best];
        x[best] = NAN;
    }
    for (int64_t i = 0; r->is_whole && i < r->experts; i++)
        rest += x[i] == x[i] ? weight_of(x[i], top) : 0.0f;
    if (sum > 0.0f)
        row_scale(gates, gates, 1.0f / (sum + rest), r->experts);
}

static void route_part(void *payload, int worker, int workers)
{
    const route_job *job = payload;
    const ridge__route *r = job->r;
    float *x = ridge__team_scratch(job->team, worker), *gates = x + r->experts;
    const ridge__array x_row = {x, RIDGE_DTYPE_FP32}, g_row = {gates, RIDGE_DTYPE_FP32};
    const ridge__part part = ridge__part_of(r->rows, 1, worker, workers);
    for (int64_t row = part.first; row < part.end; row++) {
        row_move(r->logits, row * r->experts, x_row, 0, r->experts);
        choose(r, x, gates);
        row_move(g_row, 0, r->gates, row * r->experts, r->experts);
    }
}

/* d_logits = gates (d_gates - sum of gates d_gates): a gate of 0 stays out. */
static void route_back_part(void *payload, int worker, int workers)
{
    const route_job *job = payload;
    const ridge__route *r = job->r;
    float *gates = ridge__team_scratch(job->team, worker), *slopes = gates + r->experts;
    const ridge__array g_row = {gates, RIDGE_DTYPE_FP32},
                       s_row = {slopes, RIDGE_DTYPE_FP32};
    const ridge__part part = ridge__part_of(r->rows, 1, worker, workers);
    for (int64_t row = part.first; row < part.end; row++) {
        const int64_t at = row * r->experts;
        row_move(r->gates, at, g_row, 0, r->experts);
        row_move(r->d_gates, at, s_row, 0, r->experts);
        const float mean = row_dot(gates, slopes, r->experts);
        for (int64_t i = 0; i < r->experts; i++)
            slopes[i] = gates[i] * (slopes[i] - mean);
        row_move(s_row, 0, r->d_logits, at, r->experts);
    }
}

static ridge_status route_run(ridge__device *d, const ridge__route *r,
                              ridge__team_fn *fn)
{
    route_job job = {.r = r, .team = ridge__cpu_of(d)->team};
    RIDGE_TRY(
        ridge__team_reserve(job.team, d->cx, (size_t)r->experts * 2 * sizeof(float)));
    work_share(d, fn, &job, r->rows * r->experts * (r->k > 0 ? r->k : 1));
    return RIDGE_OK;
}

ridge_status RIDGE__KERNEL(route)(ridge__device *d, const ridge__route *r)
{
    return route_run(d, r, route_part);
}

ridge_status RIDGE__KERNEL(route_backward)(ridge__device *d, const ridge__route *r)
{
    return route_run(d, r, route_back_part);
}
