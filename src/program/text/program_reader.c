/* Words and values of program text, and where they stand. Input is hostile. */
#include "program_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAME_CHARS_MOST = 200, CONTEXT_BEFORE = 40, CONTEXT_AFTER = 30 };

/* ---- complaints ------------------------------------------------------------------ */

static size_t line_end(const ridge__reader *r)
{
    size_t end = r->line_start;
    while (end < r->text.n && r->text.p[end] != '\n')
        end++;
    return end;
}

ridge_status ridge__reader_fail(const ridge__reader *r, size_t at, const char *fmt, ...)
{
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    const size_t end = line_end(r);
    if (at > end)
        at = end;
    if (at < r->line_start)
        at = r->line_start;
    const size_t from =
        at - r->line_start > CONTEXT_BEFORE ? at - CONTEXT_BEFORE : r->line_start;
    const size_t to = end - at > CONTEXT_AFTER ? at + CONTEXT_AFTER : end;
    return ridge_fail(r->cx, RIDGE_E_PARSE, "%.200s:%zu:%zu: %s: '%.*s^%.*s'", r->file,
                      r->line, at - r->line_start + 1, what, (int)(at - from),
                      r->text.p + from, (int)(to - at), r->text.p + at);
}

ridge_status ridge__reader_check(ridge__reader *r, size_t at)
{
    if (!ridge__builder_is_bad(&r->b))
        return RIDGE_OK;
    if (r->b.st != RIDGE_E_ARG)
        return r->b.st;
    const char *what =
        ridge_sprintf(ridge_ctx_scratch(r->cx), "%s", ridge_ctx_message(r->cx));
    return ridge__reader_fail(r, at, "%s", what != NULL ? what : "malformed");
}

/* ---- lines and characters -------------------------------------------------------- */

void ridge__reader_skip(ridge__reader *r)
{
    while (r->at < r->text.n && (r->text.p[r->at] == ' ' || r->text.p[r->at] == '\t' ||
                                 r->text.p[r->at] == '\r'))
        r->at++;
}

bool ridge__reader_is_end(ridge__reader *r)
{
    ridge__reader_skip(r);
    return r->at == r->text.n || r->text.p[r->at] == '\n' || r->text.p[r->at] == '#';
}

bool ridge__reader_next_line(ridge__reader *r)
{
    for (;;) {
        if (r->line > 0) {
            r->at = line_end(r);
            if (r->at == r->text.n)
                return false;
            r->at++;
        }
        r->line++;
        r->line_start = r->at;
        if (!ridge__reader_is_end(r))
            return true;
    }
}

char ridge__reader_peek(ridge__reader *r)
{
    return ridge__reader_is_end(r) ? '\0' : r->text.p[r->at];
}

bool ridge__reader_take(ridge__reader *r, char c)
{
    if (ridge__reader_is_end(r) || r->text.p[r->at] != c)
        return false;
    r->at++;
    return true;
}

/* ---- words ----------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '.';
}

ridge_str ridge__reader_word(ridge__reader *r)
{
    ridge_str word = {r->text.p + r->at, 0};
    if (ridge__reader_is_end(r))
        return word;
    word.p = r->text.p + r->at;
    while (r->at + word.n < r->text.n && is_word(word.p[word.n]))
        word.n++;
    return word;
}

ridge_status ridge__reader_name(ridge__reader *r, const char *what, bool may_have_dots,
                                const char **out)
{
    const ridge_str word = ridge__reader_word(r);
    if (word.n == 0 || !is_letter(word.p[0]) || word.p[word.n - 1] == '.' ||
        (!may_have_dots && memchr(word.p, '.', word.n) != NULL)) {
        return ridge__reader_fail(r, r->at,
                                  "%s is wanted here: letters, digits, underscores%s, "
                                  "first a letter",
                                  what, may_have_dots ? ", dots" : "");
    }
    if (word.n > NAME_CHARS_MOST) {
        return ridge__reader_fail(r, r->at, "a name has at most %d characters",
                                  NAME_CHARS_MOST);
    }
    *out = ridge_str_dup(r->b.arena, word);
    if (*out == NULL)
        return ridge_fail_nomem(r->cx);
    r->at += word.n;
    return RIDGE_OK;
}

ridge_status ridge__reader_value(ridge__reader *r, const char *what, ridge_str *out)
{
    size_t n = 0;
    const char *p = r->text.p + r->at;
    while (r->at + n < r->text.n && (unsigned char)p[n] > ' ' && p[n] != '#')
        n++;
    if (n == 0)
        return ridge__reader_fail(r, r->at, "%s is wanted here", what);
    *out = (ridge_str){p, n};
    r->at += n;
    return RIDGE_OK;
}

/* ---- values ---------------------------------------------------------------------- */

static size_t place_of(const ridge__reader *r, ridge_str value)
{
    return (size_t)(value.p - r->text.p);
}

ridge_status ridge__reader_count(ridge__reader *r, ridge_str value, int64_t least,
                                 int64_t most, int64_t *out)
{
    int64_t v;
    if (!ridge_parse_i64(value, &v) || v < least || v > most) {
        return ridge__reader_fail(r, place_of(r, value),
                                  "a whole number from %lld to %lld is wanted here",
                                  (long long)least, (long long)most);
    }
    *out = v;
    return RIDGE_OK;
}

ridge_status ridge__reader_real(ridge__reader *r, ridge_str value, double *out)
{
    double v;
    if (!ridge_parse_double(value, &v) || !(v >= 0) || !(v < 1e300)) {
        return ridge__reader_fail(r, place_of(r, value),
                                  "a number of at least 0 is wanted here");
    }
    *out = v;
    return RIDGE_OK;
}

ridge_status ridge__reader_dim(ridge__reader *r, ridge_str value, int *out)
{
    const char *names[RIDGE_PROGRAM_DIM_MAX];
    for (int i = 0; i < r->b.p.n_dims; i++) {
        names[i] = r->b.p.dims[i].name;
        if (ridge_str_is(value, names[i])) {
            *out = i;
            return RIDGE_OK;
        }
    }
    const char *text = ridge_str_dup(ridge_ctx_scratch(r->cx), value);
    const char *near = text == NULL ? ""
                                    : ridge_suggestion(ridge_ctx_scratch(r->cx), text,
                                                       names, (size_t)r->b.p.n_dims);
    return ridge__reader_fail(r, place_of(r, value),
                              "no dim '%.*s'%s%s: list it in a dims line, as in dims "
                              "B=1 T=4096",
                              (int)(value.n < 40 ? value.n : 40), value.p,
                              near != NULL && near[0] != '\0' ? ", " : "",
                              near != NULL ? near : "");
}
