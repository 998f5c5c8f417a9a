/* Copies past the caches, with what each x86-64 CPU has. */
#include "comm_combine.h"

#include <immintrin.h>
#include <string.h>

enum { LINE = 64 };

/** Whole lines to a line's start. */
static void stream_lines(char *restrict dst, const char *restrict src, size_t lines)
{
    for (size_t i = 0; i < lines; i++, dst += LINE, src += LINE) {
        for (int k = 0; k < LINE / 16; k++)
            _mm_stream_si128((__m128i *)(void *)dst + k,
                             _mm_loadu_si128((const __m128i *)(const void *)src + k));
    }
}

void ridge__stream_copy(void *dst, const void *src, size_t bytes, bool is_streamed)
{
    size_t head = (size_t)(-(uintptr_t)dst & (LINE - 1));
    if (!is_streamed || bytes < head + LINE) {
        memcpy(dst, src, bytes);
        return;
    }
    size_t lines = (bytes - head) / LINE;
    size_t done = head + lines * LINE;
    memcpy(dst, src, head);
    stream_lines((char *)dst + head, (const char *)src + head, lines);
    memcpy((char *)dst + done, (const char *)src + done, bytes - done);
}

void ridge__stream_end(void)
{
    _mm_sfence();
}
