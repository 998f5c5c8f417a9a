/* The memory of a rank while all ranks use it, the squares of gradients, and the fp32
 * peak. */
#include "calibration.h"

#include "device_cpu.h"

#include <math.h>

enum { MEMORY_BYTES = 128 << 20 };

typedef struct stream_load {
    ridge__calibrator *c;
    char *pool;
    int64_t bytes; /* of a call */
    int64_t at;
} stream_load;

static char *next_piece(stream_load *l)
{
    if (l->at + l->bytes > MEMORY_BYTES)
        l->at = 0;
    char *p = l->pool + l->at;
    l->at += l->bytes;
    return p;
}

static ridge_status copy(void *payload)
{
    stream_load *l = payload;
    const ridge_dtype dtype = RIDGE_DTYPE_FP32;
    const ridge__copy how = {.n_dims = 1,
                             .sizes = {l->bytes / 4},
                             .x_strides = {1},
                             .y_strides = {1},
                             .x = {next_piece(l), dtype},
                             .y = {next_piece(l), dtype}};
    return l->c->device->ops->copy(l->c->device, &how);
}

static ridge_status square(void *payload)
{
    stream_load *l = payload;
    const ridge__array x = {next_piece(l), RIDGE_DTYPE_FP32};
    double sum;
    return l->c->device->ops->sum_of_squares(l->c->device, x, l->bytes / 4, &sum);
}

/* Clipping reads every gradient once. */
static ridge_status measure_squares(stream_load *l)
{
    static const int64_t sizes[] = {64 << 10, 1 << 20, 16 << 20};
    for (size_t i = 0; i < RIDGE_COUNT_OF(sizes); i++) {
        ridge__sample s = {
            .name = "squares", .at = {(double)sizes[i]}, .work = (double)sizes[i]};
        l->bytes = sizes[i];
        ridge__unit_begin(l->c);
        RIDGE_TRY(ridge__measure(l->c, square, l, &s.seconds));
        RIDGE_TRY(ridge__sample_add(l->c, &l->c->stream, &s));
    }
    return RIDGE_OK;
}

static ridge_status measure_memory(stream_load *l)
{
    ridge__calibrator *c = l->c;
    double seconds;
    l->bytes = MEMORY_BYTES / 4;
    RIDGE_TRY(ridge__measure(c, copy, l, &seconds));
    c->copy_s = ridge__quicker_s(c->copy_s, seconds / (2.0 * (double)l->bytes));
    RIDGE_TRY(ridge__measure(c, square, l, &seconds));
    c->read_s = ridge__quicker_s(c->read_s, seconds / (double)l->bytes);
    return measure_squares(l);
}

ridge_status ridge__calibrate_streams(ridge__calibrator *c)
{
    stream_load l = {.c = c};
    void *pool;
    ridge__calibrator_show(c, 0.0, "memory");
    RIDGE_TRY(ridge__filled_take(c, MEMORY_BYTES, &pool));
    l.pool = pool;
    ridge_status st = measure_memory(&l);
    c->device->ops->release(c->device, pool);
    RIDGE_TRY(st);
    RIDGE_TRY(ridge_barrier(c->cx, c->world));
    double peak = ridge__peak_flops_per_s(c->device);
    RIDGE_TRY(ridge__mean_over_ranks(c, &peak, 1));
    c->peak_flops_per_s = fmax(c->peak_flops_per_s, peak);
    return RIDGE_OK;
}
