/* The CPU's memory, and the other parts of its table that are the same for every
 * instruction set. */
#include "device_cpu.h"

#include "device_memory.h"
#include "gemm.h"

#include <string.h>

void ridge__cpu_close(ridge__device *d)
{
    ridge__device_cpu *cpu = ridge__cpu_of(d);
    ridge__gemm_library_close(cpu->library);
    ridge__team_close(cpu->team);
    ridge__block_store_close(cpu->blocks);
}

ridge_status ridge__cpu_alloc(ridge__device *d, size_t bytes, void **out)
{
    void *p = ridge__block_store_take(ridge__cpu_of(d)->blocks, bytes);
    if (p == NULL)
        return ridge_fail(
            d->cx, RIDGE_E_NOMEM,
            "no memory for an array of %zu bytes beside the %lld that are "
            "held: use more ranks, or a smaller batch",
            bytes, (long long)d->memory.live_bytes);
    d->memory.live_bytes += (int64_t)ridge__block_bytes(bytes);
    if (d->memory.live_bytes > d->memory.peak_bytes)
        d->memory.peak_bytes = d->memory.live_bytes;
    *out = p;
    return RIDGE_OK;
}

void ridge__cpu_release(ridge__device *d, void *p)
{
    if (p != NULL)
        d->memory.live_bytes -=
            (int64_t)ridge__block_store_give(ridge__cpu_of(d)->blocks, p);
}

typedef struct span {
    char *to;
    const char *from; /* NULL: zeros */
    int64_t bytes;
} span;

enum { SPAN_GRAIN = 64 * 1024 }; /* bytes that are worth a thread */

static void move_part(void *payload, int worker, int workers)
{
    const span *s = payload;
    ridge__part part = ridge__part_of(s->bytes, SPAN_GRAIN, worker, workers);
    size_t n = (size_t)(part.end - part.first);
    if (n == 0)
        return;
    if (s->from == NULL)
        memset(s->to + part.first, 0, n);
    else
        memcpy(s->to + part.first, s->from + part.first, n);
}

static void move_span(ridge__device *d, span s)
{
    if (s.bytes <= SPAN_GRAIN)
        move_part(&s, 0, 1);
    else
        ridge__team_run(ridge__cpu_of(d)->team, move_part, &s);
}

ridge_status ridge__cpu_zero(ridge__device *d, void *p, size_t bytes)
{
    move_span(d, (span){.to = p, .bytes = (int64_t)bytes});
    return RIDGE_OK;
}

ridge_status ridge__cpu_upload(ridge__device *d, void *to, const void *from,
                               size_t bytes)
{
    move_span(d, (span){.to = to, .from = from, .bytes = (int64_t)bytes});
    return RIDGE_OK;
}

/** Kernels have run when they return. */
ridge_status ridge__cpu_finish(ridge__device *d)
{
    (void)d;
    return RIDGE_OK;
}
