/* Strided copies of what a dim's cut makes of an array. */
#include "comm_combine.h"

#include <string.h>

void ridge__rows_copy(void *dst, const void *src, const ridge__rows *r)
{
    if (r->row_bytes == 0)
        return;
    if (r->row_bytes == r->dst_bytes && r->row_bytes == r->src_bytes) {
        ridge__stream_copy(dst, src, (size_t)r->rows * r->row_bytes, r->is_streamed);
        return;
    }
    for (int64_t i = 0; i < r->rows; i++)
        ridge__stream_copy((char *)dst + (size_t)i * r->dst_bytes,
                           (const char *)src + (size_t)i * r->src_bytes, r->row_bytes,
                           r->is_streamed);
}

void ridge__rows_zero(void *dst, const ridge__rows *r)
{
    if (r->row_bytes == 0)
        return;
    for (int64_t i = 0; i < r->rows; i++)
        memset((char *)dst + (size_t)i * r->dst_bytes, 0, r->row_bytes);
}
