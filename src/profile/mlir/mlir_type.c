/* Types and statements of MLIR. */
#include "mlir_text.h"

#include <ctype.h>
#include <string.h>

enum { WORD_MOST = 24 };

/* ---- types ------------------------------------------------------------------------
 */

/* MLIR's names of elements: i1 is pred, i32 s32, ui8 u8, f8E4M3FN f8e4m3fn. */
static bool find_element(ridge_str word, ridge_hlo_type *out)
{
    char text[WORD_MOST];
    size_t n = 0;
    if (word.n + 1 >= sizeof text || word.n == 0)
        return false;
    if (ridge_str_is(word, "i1")) {
        *out = RIDGE_HLO_PRED;
        return true;
    }
    if (word.p[0] == 'i' || (word.p[0] == 's' && word.p[1] == 'i')) {
        text[n++] = 's';
        word = (ridge_str){word.p + 1, word.n - 1};
        if (word.p[0] == 'i')
            word = (ridge_str){word.p + 1, word.n - 1};
    } else if (word.p[0] == 'u' && word.n > 1 && word.p[1] == 'i') {
        text[n++] = 'u';
        word = (ridge_str){word.p + 2, word.n - 2};
    }
    for (size_t k = 0; k < word.n; k++) {
        const char ch = word.p[k];
        text[n++] = (char)(ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch);
    }
    return ridge_hlo_type_find((ridge_str){text, n}, out);
}

/* Past "<...>" that may hold others. */
static bool skip_angles(text_cursor *c)
{
    int depth = 0;
    do {
        const char ch = text_cursor_peek(c);
        depth += ch == '<';
        depth -= ch == '>' && c->p[-1] != '-' && c->p[-1] != '=';
        c->p++;
    } while (depth > 0 && c->p < c->end);
    return depth == 0;
}

ridge_str mlir_attribute_read(text_cursor *c)
{
    ridge_str quoted;
    text_cursor_skip(c);
    if (text_cursor_peek(c) == '"' && text_cursor_quoted(c, &quoted))
        return quoted;
    const char *from = c->p;
    while (c->p < c->end && *c->p != '<' && *c->p != ',' && *c->p != '}')
        c->p++;
    if (text_cursor_peek(c) == '<')
        skip_angles(c);
    return (ridge_str){from, (size_t)(c->p - from)};
}

static ridge_status read_element(text_cursor *c, ridge_hlo_shape *out)
{
    if (text_cursor_take(c, "complex<")) {
        const bool is_wide = text_cursor_sees(c, "f64");
        out->type = is_wide ? RIDGE_HLO_C128 : RIDGE_HLO_C64;
        text_cursor_word(c);
        return text_cursor_want(c, ">", "behind a complex element");
    }
    if (text_cursor_take(c, "!quant.uniform<")) {
        const ridge_str stored = text_cursor_word(c);
        while (c->p < c->end && *c->p != '>')
            c->p++;
        c->p += c->p < c->end;
        return find_element(stored, &out->type)
                   ? RIDGE_OK
                   : text_cursor_fail(c, "a stored type is wanted");
    }
    const char *at = c->p;
    if (find_element(text_cursor_word(c), &out->type))
        return RIDGE_OK;
    c->p = at;
    return text_cursor_fail(c, "an element type such as f32 is wanted");
}

/* "8x16xf32", "?x4xbf16", "f32" and an encoding behind a comma. */
static ridge_status read_tensor(text_cursor *c, ridge_hlo_shape *out)
{
    int64_t dims[RIDGE_HLO_RANK_MAX];
    for (;;) {
        text_cursor_skip(c);
        const char *from = c->p;
        int64_t size = 1;
        const bool is_open = text_cursor_peek(c) == '?';
        if (is_open)
            c->p++;
        while (!is_open && c->p < c->end && isdigit((unsigned char)*c->p))
            c->p++;
        const bool is_dim = c->p > from && text_cursor_peek(c) == 'x';
        if (!is_dim) {
            c->p = from;
            break;
        }
        if (out->n == RIDGE_HLO_RANK_MAX ||
            (!is_open &&
             !ridge_parse_i64((ridge_str){from, (size_t)(c->p - from)}, &size)))
            return text_cursor_fail(c, "a size is wanted");
        out->dynamic |= is_open ? 1u << out->n : 0;
        dims[out->n++] = size;
        c->p++;
    }
    RIDGE_TRY(read_element(c, out));
    int64_t *kept = ridge_new(ridge_ctx_arena(c->cx), int64_t, (size_t)out->n);
    if (kept == NULL)
        return ridge_fail_nomem(c->cx);
    memcpy(kept, dims, (size_t)out->n * sizeof *kept);
    out->dims = kept;
    while (text_cursor_peek(c) == ',' || text_cursor_peek(c) == ' ' ||
           text_cursor_peek(c) == '#') { /* an encoding */
        while (c->p < c->end && *c->p != '<' && *c->p != '>')
            c->p++;
        if (text_cursor_peek(c) == '<' && !skip_angles(c))
            break;
    }
    return text_cursor_want(c, ">", "behind a tensor's type");
}

ridge_status mlir_type_read(text_cursor *c, ridge_hlo_shape *out)
{
    *out = (ridge_hlo_shape){.n = 0};
    if (text_cursor_take(c, "tensor<") || text_cursor_take(c, "memref<"))
        return read_tensor(c, out);
    if (text_cursor_sees(c, "tuple<") || text_cursor_sees(c, "!")) {
        c->p += text_cursor_peek(c) == '!';
        text_cursor_word(c);
        if (text_cursor_peek(c) == '<' && !skip_angles(c))
            return text_cursor_fail(c, "'>' is wanted behind a type");
        out->type = RIDGE_HLO_TOKEN;
        return RIDGE_OK;
    }
    if (text_cursor_take(c, "index")) {
        out->type = RIDGE_HLO_S64;
        return RIDGE_OK;
    }
    return read_element(c, out);
}

static ridge_status read_list(text_cursor *c, hlo_list *out, const char *end)
{
    do {
        if (end && text_cursor_take(c, end))
            return RIDGE_OK;
        ridge_hlo_shape *shape = hlo_list_push(ridge_ctx_scratch(c->cx), out);
        if (shape == NULL)
            return ridge_fail_nomem(c->cx);
        RIDGE_TRY(mlir_type_read(c, shape));
        ridge_str ignored; /* attributes of a function's result */
        if (text_cursor_sees(c, "{") && end && !text_cursor_enclosed(c, &ignored))
            return text_cursor_fail(c, "'}' is wanted behind attributes");
    } while (text_cursor_take(c, ","));
    return end ? text_cursor_want(c, end, "behind a list of types") : RIDGE_OK;
}

ridge_status mlir_signature_read(text_cursor *c, hlo_list *out)
{
    ridge_str ignored;
    out->n = 0;
    text_cursor_skip(c);
    if (text_cursor_peek(c) != '(')
        return read_list(c, out, NULL);
    if (!text_cursor_enclosed(c, &ignored))
        return text_cursor_fail(c, "')' is wanted behind the types of operands");
    RIDGE_TRY(text_cursor_want(c, "->", "behind the types of operands"));
    return text_cursor_take(c, "(") ? read_list(c, out, ")") : read_list(c, out, NULL);
}

/* ---- statements -------------------------------------------------------------------
 */

/* Whether a line that begins here begins a statement too. */
static bool begins_statement(const char *p, const char *end)
{
    if (p >= end || *p == '}' || *p == '%' || *p == '"' || *p == '#' || *p == '^')
        return true;
    const char *q = p;
    while (q < end && (isalnum((unsigned char)*q) || *q == '_'))
        q++;
    const ridge_str word = {p, (size_t)(q - p)};
    return (q < end && *q == '.' && word.n > 0) || ridge_str_is(word, "return") ||
           ridge_str_is(word, "call") || ridge_str_is(word, "module");
}

static bool goes_on(char last)
{
    return last == ',' || last == '(' || last == ':' || last == '=' || last == '>';
}

/** A scan over one statement. */
typedef struct statement_scan {
    int depth, angles;
    char last; /* character that is no blank */
} statement_scan;

static void count(statement_scan *s, const char *p)
{
    const char ch = *p;
    s->depth += (ch == '(') + (ch == '[') + (ch == '{');
    s->depth -= (ch == ')') + (ch == ']') + (ch == '}');
    s->angles += ch == '<';
    s->angles -= ch == '>' && p[-1] != '-' && s->angles > 0;
    if (ch != ' ' && ch != '\t' && ch != '\n' && ch != '\r')
        s->last = ch == '>' && p[-1] != '-' ? ')' : ch; /* an arrow goes on */
}

/* To the statement's end. @param colon  out: before its signature; NULL: none */
static void scan_statement(text_cursor *c, const char **colon)
{
    statement_scan s = {0, 0, ' '};
    ridge_str ignored;
    *colon = NULL;
    while (c->p < c->end) {
        if (*c->p == '"') {
            if (!text_cursor_quoted(c, &ignored))
                c->p = c->end;
            s.last = '"';
            continue;
        }
        const bool is_top = s.depth == 0 && s.angles == 0;
        if (is_top && *c->p == '}')
            return;
        if (c->end - c->p >= 2 && c->p[0] == '/' && c->p[1] == '/') {
            while (c->p < c->end && *c->p != '\n')
                c->p++;
            continue;
        }
        if (is_top && *c->p == ':' && *colon == NULL && c->p[-1] != '^')
            *colon = c->p;
        if (is_top && *c->p == '\n' && !goes_on(s.last)) {
            text_cursor ahead = *c;
            text_cursor_skip(&ahead);
            if (begins_statement(ahead.p, ahead.end))
                return;
        }
        count(&s, c->p);
        c->p++;
    }
}

/* "%a, %b:2 =" before the op. */
static void take_results(text_cursor *c, mlir_statement *out)
{
    const char *from = c->p;
    const char *q = c->p;
    out->results = (ridge_str){from, 0};
    if (text_cursor_peek(c) != '%')
        return;
    while (q < c->end && *q != '=' && *q != '\n')
        q++;
    if (q < c->end && *q == '=') {
        out->results.n = (size_t)(q - from);
        c->p = q + 1;
    }
    text_cursor_skip(c);
}

ridge_status mlir_statement_read(text_cursor *c, mlir_statement *out, bool *is_end)
{
    const char *colon;
    text_cursor_skip(c);
    *is_end = text_cursor_is_end(c) || text_cursor_peek(c) == '}';
    if (*is_end)
        return RIDGE_OK;
    out->at = c->p;
    take_results(c, out);
    if (text_cursor_peek(c) == '"') {
        if (!text_cursor_quoted(c, &out->op))
            return text_cursor_fail(c, "a quoted operation is not closed");
    } else {
        out->op = text_cursor_word(c);
    }
    if (out->op.n == 0)
        return text_cursor_fail(c, "an operation is wanted");
    const char *from = c->p;
    scan_statement(c, &colon);
    const char *to = colon ? colon : c->p;
    out->rest = (ridge_str){from, (size_t)(to - from)};
    out->types = colon ? (ridge_str){colon + 1, (size_t)(c->p - colon - 1)}
                       : (ridge_str){c->p, 0};
    return RIDGE_OK;
}
