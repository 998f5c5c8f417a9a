/*
 * TOML flattened: "table.key" = text. Of version 1.0 this is what job configurations
 * use: comments, [tables], bare and quoted and dotted keys, strings of one line,
 * numbers, booleans, dates as text, arrays over several lines. Refused with their line:
 * arrays of tables, inline tables, strings of several lines.
 */
#include "launch_sheet.h"

#include <string.h>

enum { NAME_BYTES = 512, VALUE_BYTES = 8192, ARRAY_DEPTH_MOST = 32 };

typedef struct toml_reader {
    launch_settings *out;
    const char *p, *end;
    int line;
    char table[NAME_BYTES];
    char name[NAME_BYTES];
    char value[VALUE_BYTES];
    size_t n; /* of the value */
} toml_reader;

static RIDGE_NODISCARD ridge_status fail(const toml_reader *r, const char *what)
{
    return ridge_fail(r->out->cx, RIDGE_E_PARSE, "%s:%d: %s", r->out->file, r->line,
                      what);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(toml_reader *r)
{
    while (r->p < r->end && is_blank(*r->p))
        r->p++;
}

static void skip_comment(toml_reader *r)
{
    if (r->p < r->end && *r->p == '#') {
        while (r->p < r->end && *r->p != '\n')
            r->p++;
    }
}

/* To the next line; nothing but a comment may stand before it. */
static ridge_status end_line(toml_reader *r)
{
    skip_blanks(r);
    skip_comment(r);
    if (r->p == r->end)
        return RIDGE_OK;
    if (*r->p != '\n')
        return fail(r, "more on the line than one setting");
    r->p++;
    r->line++;
    return RIDGE_OK;
}

static ridge_status put(toml_reader *r, char c)
{
    if (r->n + 1 >= VALUE_BYTES)
        return fail(r, "a value too long");
    r->value[r->n++] = c;
    return RIDGE_OK;
}

static ridge_status read_string(toml_reader *r)
{
    const char quote = *r->p++;
    if (r->end - r->p >= 2 && r->p[0] == quote && r->p[1] == quote)
        return fail(r, "strings of several lines are not read: write one line");
    while (r->p < r->end && *r->p != quote && *r->p != '\n') {
        if (*r->p == '\\' && quote == '"' && r->p + 1 < r->end && r->p[1] != '\n')
            r->p++;
        RIDGE_TRY(put(r, *r->p++));
    }
    if (r->p == r->end || *r->p != quote)
        return fail(r, "a string without its closing quote");
    r->p++;
    return RIDGE_OK;
}

static bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-' || c == '+' || c == '.' || c == ':';
}

static ridge_status read_bare(toml_reader *r)
{
    const char *start = r->p;
    while (r->p < r->end && is_bare(*r->p))
        RIDGE_TRY(put(r, *r->p++));
    return r->p > start ? RIDGE_OK : fail(r, "expected a value");
}

static ridge_status skip_lines(toml_reader *r)
{
    for (;;) {
        skip_blanks(r);
        skip_comment(r);
        if (r->p == r->end || *r->p != '\n')
            return RIDGE_OK;
        r->p++;
        r->line++;
    }
}

/* An array as text without quotes, nested ones too. */
static ridge_status read_array(toml_reader *r)
{
    int depth = 0;
    do {
        RIDGE_TRY(skip_lines(r));
        if (r->p == r->end)
            return fail(r, "an array without its closing bracket");
        const char c = *r->p;
        if (c == '[' || c == ']' || c == ',') {
            depth += c == '[' ? 1 : c == ']' ? -1 : 0;
            if (depth > ARRAY_DEPTH_MOST)
                return fail(r, "arrays nested too deeply");
            RIDGE_TRY(put(r, c));
            r->p++;
        } else if (c == '"' || c == '\'') {
            RIDGE_TRY(read_string(r));
        } else if (c == '{') {
            return fail(r, "inline tables are not read: write a [table]");
        } else {
            RIDGE_TRY(read_bare(r));
        }
    } while (depth > 0);
    return RIDGE_OK;
}

static ridge_status read_value(toml_reader *r)
{
    r->n = 0;
    skip_blanks(r);
    if (r->p == r->end)
        return fail(r, "expected a value");
    if (*r->p == '[') {
        RIDGE_TRY(read_array(r));
    } else if (*r->p == '"' || *r->p == '\'') {
        RIDGE_TRY(read_string(r));
    } else if (*r->p == '{') {
        return fail(r, "inline tables are not read: write a [table]");
    } else {
        RIDGE_TRY(read_bare(r));
    }
    r->value[r->n] = '\0';
    return RIDGE_OK;
}

/* a, a.b, "a"."b"; up to @p stop. */
static ridge_status read_name(toml_reader *r, char *out, char stop)
{
    size_t n = 0;
    for (;;) {
        skip_blanks(r);
        if (r->p == r->end || *r->p == '\n')
            return fail(r, stop == ']' ? "a table without its closing bracket"
                                       : "expected name = value");
        if (*r->p == stop) {
            r->p++;
            break;
        }
        r->n = 0;
        if (*r->p == '"' || *r->p == '\'') {
            RIDGE_TRY(read_string(r));
        } else if (is_bare(*r->p)) {
            RIDGE_TRY(read_bare(r));
        } else {
            return fail(r, "expected name = value or [table]");
        }
        if (n + r->n + 1 >= NAME_BYTES)
            return fail(r, "a name too long");
        memcpy(out + n, r->value, r->n);
        n += r->n;
    }
    if (n == 0)
        return fail(r, "a name is missing");
    out[n] = '\0';
    return RIDGE_OK;
}

static ridge_status read_table(toml_reader *r)
{
    r->p++;
    if (r->p < r->end && *r->p == '[')
        return fail(r, "arrays of tables are not read: write a [table]");
    RIDGE_TRY(read_name(r, r->table, ']'));
    return end_line(r);
}

static ridge_status read_setting(toml_reader *r)
{
    const int line = r->line;
    RIDGE_TRY(read_name(r, r->name, '='));
    RIDGE_TRY(read_value(r));
    ridge_arena *arena = ridge_ctx_arena(r->out->cx);
    const char *full = ridge_sprintf(arena, "%s%s%s", r->table,
                                     r->table[0] == '\0' ? "" : ".", r->name);
    const char *value = ridge_str_dup(arena, (ridge_str){r->value, r->n});
    if (full == NULL || value == NULL)
        return ridge_fail_nomem(r->out->cx);
    RIDGE_TRY(launch_settings_add(r->out, ridge_str_of(full), value, line));
    return end_line(r);
}

ridge_status launch_toml_read(ridge_str text, launch_settings *out)
{
    toml_reader *r = ridge_new(ridge_ctx_scratch(out->cx), toml_reader, 1);
    if (r == NULL)
        return ridge_fail_nomem(out->cx);
    *r = (toml_reader){.out = out, .p = text.p, .end = text.p + text.n, .line = 1};
    for (;;) {
        RIDGE_TRY(skip_lines(r));
        if (r->p == r->end)
            return RIDGE_OK;
        RIDGE_TRY(*r->p == '[' ? read_table(r) : read_setting(r));
    }
}
