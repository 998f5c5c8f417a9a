/* Views of text, copies in an arena, and text that grows. */
#include "ridge/base.h"

#include <stdarg.h>
#include <string.h>

ridge_str ridge_str_of(const char *z)
{
    return (ridge_str){z, z == NULL ? 0 : strlen(z)};
}

bool ridge_str_equal(ridge_str a, ridge_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool ridge_str_is(ridge_str a, const char *z)
{
    return ridge_str_equal(a, ridge_str_of(z));
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

ridge_str ridge_str_trim(ridge_str s)
{
    while (s.n > 0 && is_space(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n > 0 && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

ridge_str ridge_str_without_mark(ridge_str s)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t n = sizeof mark - 1;
    const bool is_marked = s.n >= n && memcmp(s.p, mark, n) == 0;
    return is_marked ? (ridge_str){s.p + n, s.n - n} : s;
}

ridge_str ridge_str_cut(ridge_str *rest, char sep)
{
    ridge_str whole = *rest;
    const char *at = whole.n == 0 ? NULL : memchr(whole.p, sep, whole.n);
    if (at == NULL) {
        *rest = (ridge_str){NULL, 0};
        return whole;
    }
    size_t n = (size_t)(at - whole.p);
    *rest = (ridge_str){at + 1, whole.n - n - 1};
    return (ridge_str){whole.p, n};
}

const char *ridge_str_dup(ridge_arena *arena, ridge_str s)
{
    char *copy = ridge_new(arena, char, s.n + 1);
    if (copy != NULL && s.n > 0)
        memcpy(copy, s.p, s.n);
    return copy;
}

const char *ridge_sprintf(ridge_arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = n < 0 ? NULL : ridge_new(arena, char, (size_t)n + 1);
    if (text != NULL)
        vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return text;
}

void ridge_buf_init(ridge_buf *b, ridge_arena *arena)
{
    *b = (ridge_buf){.arena = arena};
}

/* Room for n more characters and the NUL. */
static bool buf_reserve(ridge_buf *b, size_t n)
{
    if (b->is_short)
        return false;
    if (n < b->cap - b->n)
        return true;
    size_t cap = b->cap == 0 ? 256 : b->cap;
    bool is_countable = n < SIZE_MAX / 4 - b->n;
    while (is_countable && cap < b->n + n + 1)
        cap *= 2;
    char *grown = is_countable ? ridge_new(b->arena, char, cap) : NULL;
    if (grown == NULL) {
        b->is_short = true;
        return false;
    }
    if (b->n > 0)
        memcpy(grown, b->p, b->n);
    b->p = grown;
    b->cap = cap;
    return true;
}

void ridge_buf_add(ridge_buf *b, ridge_str s)
{
    if (s.n == 0 || !buf_reserve(b, s.n))
        return;
    memcpy(b->p + b->n, s.p, s.n);
    b->n += s.n;
    b->p[b->n] = '\0';
}

void ridge_buf_puts(ridge_buf *b, const char *z)
{
    ridge_buf_add(b, ridge_str_of(z));
}

void ridge_buf_pad(ridge_buf *b, char c, size_t n)
{
    if (n == 0 || !buf_reserve(b, n))
        return;
    memset(b->p + b->n, c, n);
    b->n += n;
    b->p[b->n] = '\0';
}

void ridge_buf_printf(ridge_buf *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n > 0 && buf_reserve(b, (size_t)n)) {
        vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

const char *ridge_buf_text(const ridge_buf *b)
{
    return b->p == NULL ? "" : b->p;
}

size_t ridge_text_width(const char *z)
{
    size_t columns = 0;
    for (; *z != '\0'; z++) {
        if (((unsigned char)*z & 0xc0) != 0x80) /* not a continuation byte */
            columns++;
    }
    return columns;
}
