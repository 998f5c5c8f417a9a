/* Sums over ranks, in blocks that stay in the innermost cache until they are written.
 */
#include "comm_combine.h"

#include "kernel_bf16.h"
#include "kernel_vector.h"

#include <string.h>

#ifndef RIDGE__ISA
#    define RIDGE__ISA base
#endif

#define JOIN2(name, isa) ridge__##name##_##isa
#define JOIN(name, isa)  JOIN2(name, isa)

ridge__combine_fn JOIN(combine, RIDGE__ISA);

enum { BLOCK = 2048 };

/** One block of sums. */
typedef union block {
    float f[BLOCK];
    uint32_t u[BLOCK]; /* signed sums wrap as unsigned ones do */
    int32_t i[BLOCK];
    uint16_t h[BLOCK];
} block;

/* ---- fp32 ------------------------------------------------------------------------ */

static void add_2(float *restrict sum, const float *a, const float *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] = a[i] + b[i];
}

static void add(float *restrict sum, const float *restrict a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] += a[i];
}

static void take_largest(float *restrict top, const float *restrict a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        top[i] = a[i] > top[i] || a[i] != a[i] ? a[i] : top[i];
}

static void combine_f32(const ridge__combine *c, int64_t at, int64_t n, block *out)
{
    const float *first = (const float *)c->sources[0] + at;
    int next = 1;
    if (c->reduce == RIDGE_REDUCE_SUM && c->n_sources > 1)
        add_2(out->f, first, (const float *)c->sources[next++] + at, n);
    else
        memcpy(out->f, first, (size_t)n * sizeof *first);
    for (; next < c->n_sources; next++) {
        const float *a = (const float *)c->sources[next] + at;
        if (c->reduce == RIDGE_REDUCE_SUM)
            add(out->f, a, n);
        else
            take_largest(out->f, a, n);
    }
}

/* ---- bf16 ------------------------------------------------------------------------ */

static void widen(float *restrict sum, const uint16_t *restrict a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] = ridge__float_of_bf16(a[i]);
}

static void add_bf16(float *restrict sum, const uint16_t *restrict a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] += ridge__float_of_bf16(a[i]);
}

static void take_largest_bf16(float *restrict top, const uint16_t *restrict a,
                              int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        float x = ridge__float_of_bf16(a[i]);
        top[i] = x > top[i] || x != x ? x : top[i];
    }
}

static void narrow(uint16_t *restrict out, const float *restrict sum, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = ridge__bf16_of_float(sum[i]);
}

static void combine_bf16(const ridge__combine *c, int64_t at, int64_t n, block *out)
{
    float sum[BLOCK];
    widen(sum, (const uint16_t *)c->sources[0] + at, n);
    for (int s = 1; s < c->n_sources; s++) {
        const uint16_t *a = (const uint16_t *)c->sources[s] + at;
        if (c->reduce == RIDGE_REDUCE_SUM)
            add_bf16(sum, a, n);
        else
            take_largest_bf16(sum, a, n);
    }
    narrow(out->h, sum, n);
}

/* ---- int32 ----------------------------------------------------------------------- */

static void add_u32(uint32_t *restrict sum, const uint32_t *restrict a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] += a[i];
}

static void take_largest_i32(int32_t *restrict top, const int32_t *restrict a,
                             int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        top[i] = a[i] > top[i] ? a[i] : top[i];
}

static void combine_i32(const ridge__combine *c, int64_t at, int64_t n, block *out)
{
    memcpy(out->u, (const uint32_t *)c->sources[0] + at, (size_t)n * sizeof *out->u);
    for (int s = 1; s < c->n_sources; s++) {
        if (c->reduce == RIDGE_REDUCE_SUM)
            add_u32(out->u, (const uint32_t *)c->sources[s] + at, n);
        else
            take_largest_i32(out->i, (const int32_t *)c->sources[s] + at, n);
    }
}

/* ---- straight to the places ------------------------------------------------------ */

/* Four vectors at once, from all sources to all places, without a block in between; a
 * place may be a source. */
enum { STRIDE = 4 * LANES };

static void sum_f32(const ridge__combine *c, int64_t done)
{
    vec x[4] = {0};
    for (int s = 0; s < c->n_sources; s++) {
        const float *a = (const float *)c->sources[s] + c->from + done;
        for (int k = 0; k < 4; k++)
            x[k] = s == 0 ? vec_load(a + k * LANES) : x[k] + vec_load(a + k * LANES);
    }
    for (int p = 0; p < c->n_places; p++) {
        float *y = (float *)c->places[p] + c->to + done;
        for (int k = 0; k < 4; k++)
            c->is_streamed ? vec_stream(y + k * LANES, x[k])
                           : vec_store(y + k * LANES, x[k]);
    }
}

static void sum_bf16(const ridge__combine *c, int64_t done)
{
    vec x[4] = {0};
    for (int s = 0; s < c->n_sources; s++) {
        const uint16_t *a = (const uint16_t *)c->sources[s] + c->from + done;
        for (int k = 0; k < 4; k++) {
            vec more = vec_of_halves(halves_load(a + k * LANES));
            x[k] = s == 0 ? more : x[k] + more;
        }
    }
    for (int p = 0; p < c->n_places; p++) {
        uint16_t *y = (uint16_t *)c->places[p] + c->to + done;
        for (int k = 0; k < 4; k++) {
            const halves h = halves_of_vec(x[k]);
            c->is_streamed ? halves_stream(y + k * LANES, h)
                           : halves_store(y + k * LANES, h);
        }
    }
}

/** Whether all that is written lies on vectors' places, as streams want it. */
static bool can_stream(const ridge__combine *c)
{
    const size_t each = ridge_element_bytes(c->element);
    size_t off = 0;
    for (int p = 0; p < c->n_places; p++)
        off |= (size_t)((uintptr_t)c->places[p] + (uintptr_t)c->to * each);
    return CAN_STREAM && off % (LANES * each) == 0;
}

/** @return elements done: the rest, or all, goes by blocks */
static int64_t sum_direct(const ridge__combine *c)
{
    if (c->reduce != RIDGE_REDUCE_SUM || c->element == RIDGE_ELEMENT_I32 ||
        (c->is_streamed && !can_stream(c)))
        return 0;
    int64_t done = 0;
    for (; done + STRIDE <= c->n; done += STRIDE) {
        if (c->element == RIDGE_ELEMENT_F32)
            sum_f32(c, done);
        else
            sum_bf16(c, done);
    }
    return done;
}

void JOIN(combine, RIDGE__ISA)(const ridge__combine *c)
{
    size_t each = ridge_element_bytes(c->element);
    block out;
    for (int64_t done = sum_direct(c); done < c->n; done += BLOCK) {
        int64_t n = c->n - done < BLOCK ? c->n - done : BLOCK;
        int64_t at = c->from + done;
        switch (c->element) {
        case RIDGE_ELEMENT_F32:
            combine_f32(c, at, n, &out);
            break;
        case RIDGE_ELEMENT_BF16:
            combine_bf16(c, at, n, &out);
            break;
        case RIDGE_ELEMENT_I32:
            combine_i32(c, at, n, &out);
            break;
        }
        for (int p = 0; p < c->n_places; p++)
            ridge__stream_copy((char *)c->places[p] + (size_t)(c->to + done) * each,
                               &out, (size_t)n * each, c->is_streamed);
    }
}
