/* Formats of stored numbers, regions of arrays. */
#include "stored_tensor.h"

#include <string.h>

static const struct {
    const char *text;
    size_t bytes;
} FORMATS[] = {
#define ONE_FORMAT(name, text, bytes) [RIDGE__STORED_##name] = {text, bytes},
    RIDGE__STORED_LIST(ONE_FORMAT)
#undef ONE_FORMAT
};

_Static_assert(RIDGE_COUNT_OF(FORMATS) == RIDGE__STORED_COUNT, "one row a format");

const char *ridge__stored_text(ridge__stored stored)
{
    return FORMATS[stored].text;
}

size_t ridge__stored_bytes(ridge__stored stored)
{
    return FORMATS[stored].bytes;
}

bool ridge__stored_find(const char *text, ridge__stored *out)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(FORMATS); i++) {
        if (ridge_str_is(ridge_str_of(text), FORMATS[i].text)) {
            *out = (ridge__stored)i;
            return true;
        }
    }
    return false;
}

ridge__stored ridge__stored_of(ridge_element element)
{
    static const ridge__stored SAME[] = {[RIDGE_ELEMENT_F32] = RIDGE__STORED_F32,
                                         [RIDGE_ELEMENT_BF16] = RIDGE__STORED_BF16,
                                         [RIDGE_ELEMENT_I32] = RIDGE__STORED_I32};
    return SAME[element];
}

int64_t ridge__stored_elements(const ridge__stored_tensor *t)
{
    return (int64_t)(t->bytes / ridge__stored_bytes(t->stored));
}

/* ---- regions --------------------------------------------------------------------- */

ridge_region ridge_region_whole(int n_dims, const int64_t *shape)
{
    ridge_region r = {.n_dims = n_dims};
    for (int i = 0; i < n_dims; i++)
        r.shape[i] = r.count[i] = shape[i];
    return r;
}

int64_t ridge_region_elements(const ridge_region *region)
{
    int64_t n = 1;
    for (int i = 0; i < region->n_dims; i++) {
        if (!ridge_mul_i64(n, region->count[i], &n))
            return INT64_MAX;
    }
    return n;
}

const char *ridge__region_fault(ridge_ctx *cx, const ridge_region *region)
{
    const char *fault = NULL;
    if (region->n_dims < 0 || region->n_dims > RIDGE_TENSOR_DIM_MAX)
        fault = ridge_sprintf(ridge_ctx_scratch(cx), "%d dims", region->n_dims);
    for (int i = 0; fault == NULL && i < region->n_dims; i++) {
        const int64_t start = region->start[i], count = region->count[i];
        if (start < 0 || count < 0 || start > region->shape[i] ||
            count > region->shape[i] - start) {
            fault = ridge_sprintf(ridge_ctx_scratch(cx),
                                  "its dim %d has %lld elements from %lld, of %lld", i,
                                  (long long)count, (long long)start,
                                  (long long)region->shape[i]);
        }
    }
    return fault;
}

void ridge__dense_strides(int n, const int64_t *shape, int64_t *strides)
{
    int64_t step = 1;
    for (int i = n; i-- > 0; step *= shape[i])
        strides[i] = step;
}
