/* Values of ranks, made and summed one by one. */
#include "comm_data.h"

#include "seeded.h"

#include <string.h>

static uint16_t bf16_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t low = bits & 0xffffu, high = bits >> 16;
    bool is_up = low > 0x8000u || (low == 0x8000u && (high & 1u) == 1u);
    return (uint16_t)(high + (is_up ? 1u : 0u));
}

static float float_of(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

void *comm_data_room(ridge_ctx *cx, ridge_element element, int64_t n)
{
    enum { LINE = 64 }; /* as a device's arrays begin: stores past the caches need it */
    const size_t bytes = (size_t)n * ridge_element_bytes(element);
    char *p = ridge_arena_new(ridge_ctx_arena(cx), bytes + LINE - 1, 1);
    if (p == NULL)
        return NULL;
    p += -(uintptr_t)p & (LINE - 1);
    memset(p, 0x5a, bytes);
    return p;
}

void *comm_data_new(ridge_ctx *cx, ridge_element element, int64_t n, uint64_t seed,
                    int rank)
{
    void *p = comm_data_room(cx, element, n);
    seeded at = seed * 1000003u + (uint64_t)rank * 7919u + 1u;
    for (int64_t i = 0; p != NULL && i < n; i++) {
        uint64_t bits = seeded_next(&at);
        float x = (float)((double)(int32_t)bits * 0x1p-20);
        if ((bits >> 40) % 3 == 0)
            x *= 0x1p-9f;
        if (element == RIDGE_ELEMENT_F32)
            ((float *)p)[i] = x;
        else if (element == RIDGE_ELEMENT_BF16)
            ((uint16_t *)p)[i] = bf16_of(x);
        else
            ((int32_t *)p)[i] = (int32_t)(bits >> 32);
    }
    return p;
}

/* ---- one element ----------------------------------------------------------------- */

void comm_data_set(ridge_element element, void *out, int64_t at, const void *src,
                   int64_t from)
{
    size_t each = ridge_element_bytes(element);
    if (src == NULL)
        memset((char *)out + (size_t)at * each, 0, each);
    else
        memcpy((char *)out + (size_t)at * each, (const char *)src + (size_t)from * each,
               each);
}

static float get(ridge_element element, const void *p, int64_t at)
{
    return element == RIDGE_ELEMENT_F32 ? ((const float *)p)[at]
                                        : float_of(((const uint16_t *)p)[at]);
}

static void reduce_i32(const comm_data_sum *sum, int64_t from, void *out, int64_t at)
{
    int32_t v = ((const int32_t *)sum->sources[0])[from];
    for (int r = 1; r < sum->n; r++) {
        int32_t x = ((const int32_t *)sum->sources[r])[from];
        if (sum->reduce == RIDGE_REDUCE_SUM)
            v = (int32_t)((uint32_t)v + (uint32_t)x);
        else
            v = x > v ? x : v;
    }
    ((int32_t *)out)[at] = v;
}

void comm_data_reduce(const comm_data_sum *sum, int64_t from, void *out, int64_t at)
{
    if (sum->element == RIDGE_ELEMENT_I32) {
        reduce_i32(sum, from, out, at);
        return;
    }
    float v = get(sum->element, sum->sources[0], from);
    for (int r = 1; r < sum->n; r++) {
        float x = get(sum->element, sum->sources[r], from);
        v = sum->reduce == RIDGE_REDUCE_SUM ? v + x : x > v ? x : v;
    }
    if (sum->element == RIDGE_ELEMENT_F32)
        ((float *)out)[at] = v;
    else
        ((uint16_t *)out)[at] = bf16_of(v);
}

ridge_status comm_data_compare(ridge_ctx *cx, const char *what, ridge_element element,
                               const void *found, const void *wanted, int64_t n)
{
    size_t each = ridge_element_bytes(element);
    for (int64_t i = 0; i < n; i++) {
        const char *a = (const char *)found + (size_t)i * each;
        const char *b = (const char *)wanted + (size_t)i * each;
        if (memcmp(a, b, each) != 0)
            return ridge_fail(cx, RIDGE_E_INTERNAL,
                              "%s, element %lld of %lld (%d bytes each) differs", what,
                              (long long)i, (long long)n, (int)each);
    }
    return RIDGE_OK;
}
