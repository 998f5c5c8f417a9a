/* Reading short texts of notation. What the words mean is their reader's affair. */
#include "cursor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

char ridge__cursor_peek(ridge_cursor *s)
{
    while (is_blank(s->text[s->at]))
        s->at++;
    return s->text[s->at];
}

bool ridge__cursor_take(ridge_cursor *s, char c)
{
    if (ridge__cursor_peek(s) != c)
        return false;
    s->at++;
    return true;
}

bool ridge__cursor_at_end(ridge_cursor *s)
{
    return ridge__cursor_peek(s) == '\0';
}

ridge_str ridge__cursor_word(ridge_cursor *s)
{
    const char first = ridge__cursor_peek(s);
    const size_t from = s->at;
    if (is_letter(first)) {
        while (is_word(s->text[s->at]))
            s->at++;
    }
    return (ridge_str){s->text + from, s->at - from};
}

ridge_str ridge__cursor_value(ridge_cursor *s)
{
    ridge__cursor_peek(s);
    const size_t from = s->at;
    while (s->text[s->at] && s->text[s->at] != ',' && !is_blank(s->text[s->at]))
        s->at++;
    return (ridge_str){s->text + from, s->at - from};
}

ridge_status ridge__cursor_fail(const ridge_cursor *s, ridge_status st, size_t at,
                                const char *fmt, ...)
{
    char what[240];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    if (s->fault)
        *s->fault = (ridge_expr_fault){s->text, at + 1};
    const bool is_long = strlen(s->text) > 80;
    return ridge_fail(s->cx, st, "%s '%.80s%s': column %zu: %s", s->what, s->text,
                      is_long ? "..." : "", at + 1, what);
}
