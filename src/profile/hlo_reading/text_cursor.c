#include "text_cursor.h"

#include <stdarg.h>
#include <string.h>

enum { SHOWN_MOST = 24, MESSAGE_MOST = 512 };

text_cursor text_cursor_of(ridge_ctx *cx, ridge_str text, const char *path)
{
    if (text.p == NULL)
        text = ridge_str_of("");
    return (text_cursor){.cx = cx,
                         .path = path,
                         .start = text.p,
                         .p = text.p,
                         .end = text.p + text.n,
                         .counted = text.p,
                         .line = 1};
}

text_cursor text_cursor_within(const text_cursor *outer, ridge_str piece)
{
    text_cursor c = *outer;
    c.p = piece.p ? piece.p : outer->end; /* nothing is an empty piece */
    c.end = c.p + piece.n;
    return c;
}

static void skip_line(text_cursor *c)
{
    const char *nl = memchr(c->p, '\n', (size_t)(c->end - c->p));
    c->p = nl ? nl : c->end;
}

/* @return whether a block comment stood here */
static bool skip_block(text_cursor *c)
{
    if (c->end - c->p < 4 || c->p[0] != '/' || c->p[1] != '*')
        return false;
    for (const char *q = c->p + 2; q + 1 < c->end; q++) {
        if (q[0] == '*' && q[1] == '/') {
            c->p = q + 2;
            return true;
        }
    }
    c->p = c->end;
    return true;
}

void text_cursor_skip_blank(text_cursor *c)
{
    for (;;) {
        while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\r'))
            c->p++;
        if (!skip_block(c))
            return;
    }
}

void text_cursor_skip(text_cursor *c)
{
    for (;;) {
        text_cursor_skip_blank(c);
        if (c->p < c->end && *c->p == '\n')
            c->p++;
        else if (c->end - c->p >= 2 && c->p[0] == '/' && c->p[1] == '/')
            skip_line(c);
        else
            return;
    }
}

bool text_cursor_is_end(const text_cursor *c)
{
    return c->p >= c->end;
}

char text_cursor_peek(const text_cursor *c)
{
    return c->p < c->end ? *c->p : '\0';
}

bool text_cursor_sees(text_cursor *c, const char *z)
{
    text_cursor_skip(c);
    const size_t n = strlen(z);
    return (size_t)(c->end - c->p) >= n && memcmp(c->p, z, n) == 0;
}

bool text_cursor_take(text_cursor *c, const char *z)
{
    if (!text_cursor_sees(c, z))
        return false;
    c->p += strlen(z);
    return true;
}

static bool is_word(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
           (ch >= '0' && ch <= '9') || ch == '_' || ch == '.' || ch == '-' || ch == '$';
}

ridge_str text_cursor_word(text_cursor *c)
{
    const char *from = c->p;
    while (c->p < c->end && is_word(*c->p) &&
           !(c->p[0] == '-' && c->p + 1 < c->end && c->p[1] == '>'))
        c->p++;
    return (ridge_str){from, (size_t)(c->p - from)};
}

bool text_cursor_number(text_cursor *c, int64_t *out)
{
    text_cursor_skip(c);
    const char *from = c->p;
    if (c->p < c->end && *c->p == '-')
        c->p++;
    while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
        c->p++;
    if (ridge_parse_i64((ridge_str){from, (size_t)(c->p - from)}, out))
        return true;
    c->p = from;
    return false;
}

bool text_cursor_quoted(text_cursor *c, ridge_str *out)
{
    const char *from = ++c->p;
    while (c->p < c->end && *c->p != '"') {
        if (*c->p == '\\' && c->p + 1 < c->end)
            c->p++;
        c->p++;
    }
    if (c->p >= c->end)
        return false;
    *out = (ridge_str){from, (size_t)(c->p - from)};
    c->p++;
    return true;
}

/* One character, or a whole quoted text or comment. @return change of depth */
static int step(text_cursor *c)
{
    ridge_str ignored;
    switch (*c->p) {
    case '"':
        if (!text_cursor_quoted(c, &ignored))
            c->p = c->end;
        return 0;
    case '/':
        if (!skip_block(c))
            c->p++;
        return 0;
    case '-':
        /* an arrow closes nothing */
        c->p += c->p + 1 < c->end && c->p[1] == '>' ? 2 : 1;
        return 0;
    case '(':
    case '[':
    case '{':
        c->p++;
        return 1;
    case ')':
    case ']':
    case '}':
        c->p++;
        return -1;
    default:
        c->p++;
        return 0;
    }
}

bool text_cursor_enclosed(text_cursor *c, ridge_str *out)
{
    const char *from = c->p + 1;
    int depth = 0;
    while (c->p < c->end) {
        depth += step(c);
        if (depth == 0) {
            *out = (ridge_str){from, (size_t)(c->p - 1 - from)};
            return true;
        }
    }
    return false;
}

ridge_str text_cursor_value(text_cursor *c)
{
    const char *from = c->p;
    int depth = 0;
    while (c->p < c->end) {
        const char ch = *c->p;
        const bool closes = ch == ')' || ch == ']' || ch == '}';
        if (depth == 0 && (ch == ',' || ch == '\n' || closes))
            break;
        depth += step(c);
    }
    const char *to = c->p;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
        to--;
    return (ridge_str){from, (size_t)(to - from)};
}

int text_cursor_line(text_cursor *c)
{
    while (c->counted < c->p) {
        const char *nl = memchr(c->counted, '\n', (size_t)(c->p - c->counted));
        if (nl == NULL) {
            c->counted = c->p;
            break;
        }
        c->line++;
        c->counted = nl + 1;
    }
    return c->line;
}

/* Line and column anew from the start of the text: only for a complaint. */
static void place_of(const text_cursor *c, int *line, long *column)
{
    const char *from = c->start;
    *line = 1;
    for (const char *q = c->start; q < c->p; q++) {
        if (*q == '\n') {
            (*line)++;
            from = q + 1;
        }
    }
    *column = (long)(c->p - from) + 1;
}

ridge_status text_cursor_fail(text_cursor *c, const char *fmt, ...)
{
    char what[MESSAGE_MOST];
    int line;
    long column;
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    place_of(c, &line, &column);
    char shown[SHOWN_MOST + 1];
    size_t n = 0;
    for (; c->p + n < c->end && n < SHOWN_MOST && c->p[n] != '\n'; n++)
        shown[n] = (char)(c->p[n] >= ' ' && c->p[n] <= '~' ? c->p[n] : '?');
    return ridge_fail(c->cx, RIDGE_E_PARSE, "%s:%d:%ld: %s, found %s%.*s%s", c->path,
                      line, column, what, n ? "'" : "the end", (int)n, shown,
                      n ? "'" : "");
}

ridge_status text_cursor_want(text_cursor *c, const char *z, const char *what)
{
    if (text_cursor_take(c, z))
        return RIDGE_OK;
    return text_cursor_fail(c, "'%s' is wanted %s", z, what);
}
