#include "measured_csv.h"

#include <string.h>

/* The character that comes next, -1 at the end. */
static int peek(const measured_csv *csv)
{
    return csv->rest.n > 0 ? (unsigned char)csv->rest.p[0] : -1;
}

static void skip(measured_csv *csv, size_t n)
{
    csv->rest.p += n;
    csv->rest.n -= n;
}

/* Whether a line ends here: LF, CRLF or the end of the file. @return its characters */
static bool is_line_end(const measured_csv *csv, size_t *width)
{
    const ridge_str rest = csv->rest;
    *width = 0;
    if (rest.n == 0)
        return true;
    *width = rest.p[0] == '\r' && rest.n > 1 && rest.p[1] == '\n' ? 2 : 1;
    return rest.p[*width - 1] == '\n';
}

static ridge_status bad_place(ridge_ctx *cx, const measured_csv *csv, int line,
                              const char *what)
{
    return ridge_fail(cx, RIDGE_E_PARSE, "%s:%d: %s", csv->path, line, what);
}

static ridge_status read_quoted(ridge_ctx *cx, measured_csv *csv, const char **out)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    const int opened = csv->line + 1;
    skip(csv, 1);
    for (;;) {
        const char *quote =
            csv->rest.n > 0 ? memchr(csv->rest.p, '"', csv->rest.n) : NULL;
        if (quote == NULL)
            return bad_place(cx, csv, opened, "the quote is not closed");
        const ridge_str part = {csv->rest.p, (size_t)(quote - csv->rest.p)};
        for (size_t i = 0; i < part.n; i++)
            csv->line += part.p[i] == '\n' ? 1 : 0;
        ridge_buf_add(&text, part);
        skip(csv, part.n + 1);
        if (peek(csv) != '"')
            break;
        ridge_buf_puts(&text, "\"");
        skip(csv, 1);
    }
    if (text.is_short)
        return ridge_fail_nomem(cx);
    size_t width;
    if (peek(csv) != ',' && !is_line_end(csv, &width)) {
        return bad_place(cx, csv, csv->line + 1,
                         "text behind a closing quote: double the quotes inside");
    }
    *out = ridge_buf_text(&text);
    return RIDGE_OK;
}

static ridge_status read_plain(ridge_ctx *cx, measured_csv *csv, const char **out)
{
    size_t n = 0;
    while (n < csv->rest.n && csv->rest.p[n] != ',' && csv->rest.p[n] != '\n')
        n++;
    ridge_str text = {csv->rest.p, n};
    if (n > 0 && text.p[n - 1] == '\r')
        text.n--;
    skip(csv, text.n);
    *out = ridge_str_dup(ridge_ctx_arena(cx), text);
    return *out == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
}

static ridge_status read_field(ridge_ctx *cx, measured_csv *csv, const char **out)
{
    const char *at = csv->rest.p;
    RIDGE_TRY(peek(csv) == '"' ? read_quoted(cx, csv, out) : read_plain(cx, csv, out));
    const size_t taken = (size_t)(csv->rest.p - at);
    if (taken > 0 && memchr(at, '\0', taken) != NULL)
        return bad_place(cx, csv, csv->line + 1, "a NUL byte: not a text file");
    return RIDGE_OK;
}

ridge_status measured_csv_next(ridge_ctx *cx, measured_csv *csv, measured_csv_row *out,
                               bool *has_row)
{
    size_t width;
    while (csv->rest.n > 0 && is_line_end(csv, &width)) {
        skip(csv, width);
        csv->line++;
    }
    *has_row = csv->rest.n > 0;
    if (!*has_row)
        return RIDGE_OK;
    *out = (measured_csv_row){.line = csv->line + 1};
    for (;;) {
        if (out->n == MEASURED_CSV_FIELD_MAX)
            return bad_place(cx, csv, out->line, "more than 64 fields");
        RIDGE_TRY(read_field(cx, csv, &out->fields[out->n]));
        out->n++;
        if (is_line_end(csv, &width))
            break;
        skip(csv, 1); /* the comma; or a lone CR, which ends a field as one does */
    }
    skip(csv, width);
    csv->line++;
    return RIDGE_OK;
}
