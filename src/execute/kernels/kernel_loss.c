/* The softmax loss over a part of the vocabulary: one pass over the logits forward, one
 * backward. */
#include "kernel_simd.h"

#include <math.h>

static int64_t chunk(int64_t at, int64_t end)
{
    return end - at < ROW ? end - at : ROW;
}

/* ---- partial --------------------------------------------------------------------- */

/** Several of each, since one waits for itself. */
enum { CHAINS = 4 };
/** Logits that are read twice, from the first cache. */
enum { SPAN = 2 * ROW };

static float top_of(const float *x, int64_t n)
{
    vec top[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        top[c] = vec_set(-INFINITY);
    int64_t i = 0;
    for (; i + CHAINS * LANES <= n; i += CHAINS * LANES) {
        for (int c = 0; c < CHAINS; c++)
            top[c] = vec_max(vec_load(x + i + c * LANES), top[c]);
    }
    for (int c = 1; c < CHAINS; c++)
        top[0] = vec_max(top[c], top[0]);
    float best = vec_top(top[0]);
    for (; i < n; i++)
        best = x[i] > best ? x[i] : best;
    return best;
}

/** exp(x) of x <= 0. The product rounds x log2 e: |x| 2^-24 of a term that is e^x. */
static vec exp_below(vec x)
{
    return vec_exp2_below(x * vec_set(0x1.715476p+0f));
}

/** Sum of exp(x - top). What comes next is fetched meanwhile: the search for its top
 * waits for memory alone. */
static float exp_sum(const float *x, float top, int64_t n)
{
    const vec base = vec_set(top);
    vec sum[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        sum[c] = vec_zero();
    int64_t i = 0;
    for (; i + CHAINS * LANES <= n; i += CHAINS * LANES) {
        for (int c = 0; c < CHAINS; c++) {
            __builtin_prefetch(x + i + SPAN + c * LANES);
            sum[c] += exp_below(vec_load(x + i + c * LANES) - base);
        }
    }
    for (; i + LANES <= n; i += LANES)
        sum[0] += exp_below(vec_load(x + i) - base);
    float rest[LANES] = {0};
    vec_store_n(rest, exp_below(vec_load_n(x + i, n - i) - base), n - i);
    return vec_sum((sum[0] + sum[1]) + (sum[2] + sum[3]) + vec_load(rest));
}

/** A running sum of exponentials under the greatest so far. */
typedef struct running {
    float top, sum;
} running;

static void running_add(running *r, const float *x, int64_t n)
{
    const float best = top_of(x, n);
    if (best > r->top) {
        r->sum *= r->top > -INFINITY ? expf(r->top - best) : 0.0f;
        r->top = best;
    }
    r->sum += exp_sum(x, r->top > -INFINITY ? r->top : 0.0f, n);
}

/** Column of the label in this part; -1: not in it. */
static int64_t label_column(const ridge__loss *l, int64_t row)
{
    const int64_t label = l->labels[row];
    const bool is_here = label >= 0 && label >= l->first && label - l->first < l->words;
    return is_here ? label - l->first : -1;
}

static void partial_part(void *payload, int worker, int workers)
{
    const ridge__loss *l = payload;
    float room[SPAN];
    const ridge__part part = ridge__part_of(l->rows, 1, worker, workers);
    for (int64_t row = part.first; row < part.end; row++) {
        running r = {-INFINITY, 0.0f};
        for (int64_t i = 0; i < l->words; i += SPAN) {
            const int64_t n = l->words - i < SPAN ? l->words - i : SPAN;
            running_add(&r, row_read(l->logits, row * l->stride + i, n, room), n);
        }
        const int64_t column = label_column(l, row);
        l->top[row] = r.top;
        l->sum[row] = r.sum;
        l->picked[row] =
            column < 0 ? 0.0f : element_read(l->logits, row * l->stride + column);
    }
}

ridge_status RIDGE__KERNEL(loss_partial)(ridge__device *d, const ridge__loss *l)
{
    ridge__loss job = *l;
    work_share(d, partial_part, &job, l->rows * l->words);
    return RIDGE_OK;
}

/* ---- rescale --------------------------------------------------------------------- */

typedef struct rescale_job {
    const ridge__loss *l;
    const float *old_top;
} rescale_job;

/** A part that holds no finite logit has the sum 0. */
static void rescale_part(void *payload, int worker, int workers)
{
    const rescale_job *job = payload;
    const ridge__loss *l = job->l;
    const ridge__part part = ridge__part_of(l->rows, 64, worker, workers);
    for (int64_t row = part.first; row < part.end; row++) {
        const float old_top = job->old_top[row];
        if (old_top != l->top[row])
            l->sum[row] *= expf(old_top - l->top[row]);
    }
}

ridge_status RIDGE__KERNEL(loss_rescale)(ridge__device *d, const ridge__loss *l,
                                         const float *old_top)
{
    rescale_job job = {l, old_top};
    work_share(d, rescale_part, &job, l->rows);
    return RIDGE_OK;
}

/* ---- finish ---------------------------------------------------------------------- */

static void finish_part(void *payload, int worker, int workers)
{
    const ridge__loss *l = payload;
    const ridge__part part = ridge__part_of(l->rows, 64, worker, workers);
    for (int64_t row = part.first; row < part.end; row++) {
        const float lse = l->top[row] + logf(l->sum[row]);
        const bool has_label = l->labels[row] >= 0;
        element_write(l->loss, row, has_label ? lse - l->picked[row] : 0.0f);
        l->lse[row] = lse;
    }
}

ridge_status RIDGE__KERNEL(loss_finish)(ridge__device *d, const ridge__loss *l)
{
    ridge__loss job = *l;
    work_share(d, finish_part, &job, l->rows);
    return RIDGE_OK;
}

/* ---- backward -------------------------------------------------------------------- */

/** y = exp(x - lse) by; y may be x. */
static void exp_row(const float *x, float lse, float by, float *y, int64_t n)
{
    const vec base = vec_set(lse), times = vec_set(by);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(y + i, times * vec_exp(vec_load(x + i) - base));
    vec_store_n(y + i, times * vec_exp(vec_load_n(x + i, n - i) - base), n - i);
}

static void back_row(const ridge__loss *l, int64_t row, float by)
{
    float x_room[ROW], y_room[ROW];
    const int64_t column = label_column(l, row);
    for (int64_t i = 0; i < l->words; i += ROW) {
        const int64_t n = chunk(i, l->words), at = row * l->stride + i;
        float *y = row_begin(l->d_logits, at, y_room);
        exp_row(row_read(l->logits, at, n, x_room), l->lse[row], by, y, n);
        if (column >= i && column < i + n)
            y[column - i] -= by;
        row_end(l->d_logits, at, n, y);
    }
}

static void back_part(void *payload, int worker, int workers)
{
    const ridge__loss *l = payload;
    const ridge__part part = ridge__part_of(l->rows, 1, worker, workers);
    for (int64_t row = part.first; row < part.end; row++) {
        const int64_t at = row * l->stride;
        if (l->labels[row] < 0) {
            row_zero(l->d_logits, at, l->stride);
            continue;
        }
        back_row(l, row, l->d_loss.p == NULL ? 1.0f : element_read(l->d_loss, row));
        row_zero(l->d_logits, at + l->words, l->stride - l->words);
    }
}

/** Columns of padding, words .. stride, get zeros: a product may take them in. */
ridge_status RIDGE__KERNEL(loss_backward)(ridge__device *d, const ridge__loss *l)
{
    ridge__loss job = *l;
    work_share(d, back_part, &job, l->rows * l->words);
    return RIDGE_OK;
}
