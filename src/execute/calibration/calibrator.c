/* What all parts of a calibration measure with: the time of a call over ranks. */
#include "calibration.h"

#include <stdlib.h>
#include <string.h>

/* n numbers of each rank -> all, as pairs of int32: their bits. */
static ridge_status gather(ridge__calibrator *c, const double *v, int n, double *all)
{
    const int ranks = ridge_comm_size(c->world);
    const ridge_cut cut = {1, 2 * (int64_t)n * ranks, 1};
    ridge_pending pending;
    RIDGE_TRY(ridge_all_gather_start(c->cx, c->world, RIDGE_ELEMENT_I32, &cut, v, all,
                                     &pending));
    return ridge_comm_wait(c->cx, &pending);
}

ridge_status ridge__mean_over_ranks(ridge__calibrator *c, double *v, int n)
{
    const int ranks = ridge_comm_size(c->world);
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(c->cx));
    double *all = ridge_new(ridge_ctx_scratch(c->cx), double, (size_t)n *(size_t)ranks);
    if (all == NULL)
        return ridge_fail_nomem(c->cx);
    RIDGE_TRY(gather(c, v, n, all));
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int r = 0; r < ranks; r++)
            sum += all[r * n + i];
        v[i] = sum / (double)ranks;
    }
    ridge_arena_rewind(ridge_ctx_scratch(c->cx), mark);
    return RIDGE_OK;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Mean time of a call within @p span_s, at least one call. */
static ridge_status time_span(ridge__calibrator *c, ridge__measure_fn *fn,
                              void *payload, double span_s, double *out)
{
    const double start_s = ridge_clock_s();
    double now_s;
    int calls = 0;
    do {
        RIDGE_TRY(fn(payload));
        RIDGE_TRY(c->device->ops->finish(c->device));
        calls++;
        now_s = ridge_clock_s();
    } while (now_s - start_s < span_s);
    *out = (now_s - start_s) / calls;
    return RIDGE_OK;
}

ridge_status ridge__measure(ridge__calibrator *c, ridge__measure_fn *fn, void *payload,
                            double *out)
{
    enum { SAMPLES = 3 };
    const bool is_quick = c->request->is_quick;
    const double span_s = (c->is_crowded ? 8e-3 : 2e-3) * (is_quick ? 0.5 : 1.0);
    const double long_s = 4 * span_s; /* one such sample a round is enough */
    double times[SAMPLES];
    int n = 0;
    if (ridge_ctx_is_cancelled(c->cx))
        return ridge_fail(c->cx, RIDGE_E_CANCELLED, "calibration was stopped");
    RIDGE_TRY(fn(payload));
    RIDGE_TRY(ridge_barrier(c->cx, c->world));
    do {
        RIDGE_TRY(time_span(c, fn, payload, span_s, &times[n++]));
    } while (n < SAMPLES && (is_quick || times[0] < long_s));
    qsort(times, (size_t)n, sizeof *times, compare);
    *out = times[n / 2];
    return ridge__mean_over_ranks(c, out, 1);
}

void ridge__calibrator_show(ridge__calibrator *c, double part, const char *what)
{
    if (c->request->progress && ridge_comm_rank(c->world) == 0)
        ridge_progress_show(
            c->request->progress,
            c->progress_from + part * (c->progress_to - c->progress_from), what);
}

ridge_status ridge__filled_take(ridge__calibrator *c, int64_t bytes, void **out)
{
    /* 2^-7 as bf16, and but for the last bits as fp32 */
    static const uint32_t bits = 0x3C003C00U;
    const int64_t n = bytes / (int64_t)sizeof bits;
    RIDGE_TRY(c->device->ops->alloc(c->device, (size_t)bytes, out));
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)*out + i * (int64_t)sizeof bits, &bits, sizeof bits);
    return RIDGE_OK;
}
