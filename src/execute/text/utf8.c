/* Characters of UTF-8 (RFC 3629, table of well-formed sequences). */
#include "utf8.h"

static unsigned byte_at(ridge_str s, size_t at)
{
    return at < s.n ? (unsigned char)s.p[at] : 0;
}

static bool is_tail(unsigned byte)
{
    return (byte & 0xC0u) == 0x80u;
}

/* Second bytes of these first ones are fewer: no overlong forms, no surrogates. */
static bool is_second(unsigned first, unsigned second)
{
    switch (first) {
    case 0xE0:
        return second >= 0xA0 && second <= 0xBF;
    case 0xED:
        return second >= 0x80 && second <= 0x9F;
    case 0xF0:
        return second >= 0x90 && second <= 0xBF;
    case 0xF4:
        return second >= 0x80 && second <= 0x8F;
    default:
        return is_tail(second);
    }
}

size_t ridge__utf8_length(ridge_str s, size_t at)
{
    const unsigned first = byte_at(s, at);
    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4 || !is_second(first, byte_at(s, at + 1)))
        return 0;
    if (first < 0xE0)
        return 2;
    if (!is_tail(byte_at(s, at + 2)))
        return 0;
    if (first < 0xF0)
        return 3;
    return is_tail(byte_at(s, at + 3)) ? 4 : 0;
}

size_t ridge__utf8_valid_end(ridge_str s, size_t at)
{
    while (at < s.n) {
        const size_t n = ridge__utf8_length(s, at);
        if (n == 0)
            break;
        at += n;
    }
    return at;
}

size_t ridge__utf8_invalid_end(ridge_str s, size_t at)
{
    while (at < s.n && ridge__utf8_length(s, at) == 0)
        at++;
    return at;
}

uint32_t ridge__utf8_value(ridge_str s, size_t at, size_t n)
{
    static const unsigned FIRST_BITS[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = byte_at(s, at) & FIRST_BITS[n];
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (byte_at(s, at + i) & 0x3F);
    return c;
}

size_t ridge__utf8_write(uint32_t c, char *out)
{
    static const unsigned FIRST_MARK[] = {0, 0, 0xC0, 0xE0, 0xF0};
    const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(FIRST_MARK[n] | c);
    return n;
}
