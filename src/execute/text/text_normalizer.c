/*
 * Normalizers. Unicode forms are utf8proc's; text is given to it in pieces that start
 * at an ASCII character, which never joins what stands before it.
 */
#include "text_normalizer.h"

#include "utf8.h"

#include <string.h>
#include <utf8proc.h>

enum { PIECE_BYTES = 1 << 14 };

/* ---- Unicode forms --------------------------------------------------------------- */

static utf8proc_option_t options_of(ridge__normal_kind kind)
{
    const int compose = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    const int decompose = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
    if (kind == RIDGE__NORMAL_NFD)
        return (utf8proc_option_t)decompose;
    if (kind == RIDGE__NORMAL_NFKC)
        return (utf8proc_option_t)(compose | UTF8PROC_COMPAT);
    if (kind == RIDGE__NORMAL_NFKD)
        return (utf8proc_option_t)(decompose | UTF8PROC_COMPAT);
    return (utf8proc_option_t)compose;
}

/* ASCII is in every form. NFC alone leaves all characters below U+0300 as they are. */
static bool may_change(ridge__normal_kind kind, ridge_str text)
{
    const unsigned char first = kind == RIDGE__NORMAL_NFC ? 0xCC : 0x80;
    for (size_t i = 0; i < text.n; i++) {
        if ((unsigned char)text.p[i] >= first)
            return true;
    }
    return false;
}

/* Where the piece at @p at ends: before an ASCII character, unless there is none. */
static size_t piece_end(ridge_str text, size_t at)
{
    size_t end = at + PIECE_BYTES;
    while (end < text.n && (unsigned char)text.p[end] >= 0x80)
        end++;
    return end < text.n ? end : text.n;
}

typedef struct recoder {
    ridge_ctx *cx;
    ridge__normal_kind kind;
    utf8proc_int32_t *points; /* [cap], in the scratch arena, used for each run */
    size_t cap;
    ridge_buf *out;
} recoder;

static ridge_status make_points(recoder *r, size_t n)
{
    if (n <= r->cap)
        return RIDGE_OK;
    r->points = ridge_new(ridge_ctx_scratch(r->cx), utf8proc_int32_t, 2 * n);
    r->cap = r->points == NULL ? 0 : 2 * n;
    return r->points == NULL ? ridge_fail_nomem(r->cx) : RIDGE_OK;
}

/* One run of characters. */
static ridge_status recode(recoder *r, ridge_str run)
{
    const utf8proc_option_t options = options_of(r->kind);
    const utf8proc_uint8_t *from = (const utf8proc_uint8_t *)run.p;
    const utf8proc_ssize_t n = (utf8proc_ssize_t)run.n;
    const utf8proc_ssize_t wide = utf8proc_decompose(from, n, NULL, 0, options);
    if (wide < 0)
        return ridge_fail(r->cx, RIDGE_E_PARSE, "%s", utf8proc_errmsg(wide));
    RIDGE_TRY(make_points(r, (size_t)wide + 1)); /* a NUL goes behind the text */
    utf8proc_decompose(from, n, r->points, wide, options);
    const utf8proc_ssize_t bytes = utf8proc_reencode(r->points, wide, options);
    if (bytes < 0)
        return ridge_fail(r->cx, RIDGE_E_PARSE, "%s", utf8proc_errmsg(bytes));
    ridge_buf_add(r->out, (ridge_str){(const char *)r->points, (size_t)bytes});
    return RIDGE_OK;
}

static ridge_status recode_piece(recoder *r, ridge_str piece)
{
    if (!may_change(r->kind, piece)) {
        ridge_buf_add(r->out, piece);
        return RIDGE_OK;
    }
    size_t at = 0;
    while (at < piece.n) {
        const size_t valid = ridge__utf8_valid_end(piece, at);
        if (valid > at)
            RIDGE_TRY(recode(r, (ridge_str){piece.p + at, valid - at}));
        at = ridge__utf8_invalid_end(piece, valid);
        ridge_buf_add(r->out, (ridge_str){piece.p + valid, at - valid});
    }
    return RIDGE_OK;
}

static ridge_status apply_form(ridge_ctx *cx, ridge__normal_kind kind, ridge_str text,
                               ridge_buf *out)
{
    recoder r = {.cx = cx, .kind = kind, .out = out};
    for (size_t at = 0; at < text.n;) {
        const size_t end = piece_end(text, at);
        RIDGE_TRY(recode_piece(&r, (ridge_str){text.p + at, end - at}));
        at = end;
    }
    return RIDGE_OK;
}

/* ---- steps ----------------------------------------------------------------------- */

static void replace_all(const ridge__normal_step *step, ridge_str text, ridge_buf *out)
{
    size_t kept = 0;
    for (size_t at = 0; at + step->from.n <= text.n;) {
        const char *hit = memchr(text.p + at, step->from.p[0], text.n - at);
        if (hit == NULL)
            break;
        at = (size_t)(hit - text.p);
        if (at + step->from.n > text.n ||
            memcmp(hit, step->from.p, step->from.n) != 0) {
            at++;
            continue;
        }
        ridge_buf_add(out, (ridge_str){text.p + kept, at - kept});
        ridge_buf_add(out, step->to);
        at += step->from.n;
        kept = at;
    }
    ridge_buf_add(out, (ridge_str){text.p + kept, text.n - kept});
}

static ridge_status apply_step(ridge_ctx *cx, const ridge__normal_step *step,
                               ridge_str *text)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_scratch(cx));
    switch (step->kind) {
    case RIDGE__NORMAL_NFC:
    case RIDGE__NORMAL_NFD:
    case RIDGE__NORMAL_NFKC:
    case RIDGE__NORMAL_NFKD:
        if (!may_change(step->kind, *text))
            return RIDGE_OK;
        RIDGE_TRY(apply_form(cx, step->kind, *text, &out));
        break;
    case RIDGE__NORMAL_PREPEND:
        ridge_buf_add(&out, step->to);
        ridge_buf_add(&out, *text);
        break;
    case RIDGE__NORMAL_REPLACE:
        replace_all(step, *text, &out);
        break;
    }
    if (out.is_short)
        return ridge_fail_nomem(cx);
    *text = (ridge_str){ridge_buf_text(&out), out.n};
    return RIDGE_OK;
}

ridge_status ridge__normalizer_apply(ridge_ctx *cx, const ridge__normalizer *n,
                                     ridge_str *text)
{
    for (int i = 0; i < n->n && text->n > 0; i++)
        RIDGE_TRY(apply_step(cx, &n->steps[i], text));
    return RIDGE_OK;
}

/* ---- reading --------------------------------------------------------------------- */

static const char *const KINDS[] = {
    [RIDGE__NORMAL_NFC] = "NFC",         [RIDGE__NORMAL_NFD] = "NFD",
    [RIDGE__NORMAL_NFKC] = "NFKC",       [RIDGE__NORMAL_NFKD] = "NFKD",
    [RIDGE__NORMAL_PREPEND] = "Prepend", [RIDGE__NORMAL_REPLACE] = "Replace"};

static ridge_status read_replace(ridge_ctx *cx, const ridge_node *json,
                                 ridge__normal_step *step)
{
    const ridge_node pattern = ridge_json_get(json, "pattern");
    const ridge_node text = ridge_json_get(&pattern, "String");
    const char *from, *to;
    if (ridge_json_is_absent(text)) {
        return ridge_json_fail(cx, pattern,
                               "Ridge replaces a \"String\" alone: no other pattern");
    }
    RIDGE_TRY(ridge_json_want_text(cx, text, &from));
    RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(json, "content"), &to));
    if (from[0] == '\0')
        return ridge_json_fail(cx, text, "an empty text cannot be replaced");
    step->from = ridge_str_of(from);
    step->to = ridge_str_of(to);
    return RIDGE_OK;
}

static ridge_status read_step(ridge_ctx *cx, const ridge_node *json,
                              ridge__normalizer *out)
{
    const char *type, *text;
    const ridge_node place = ridge_json_get(json, "type");
    RIDGE_TRY(ridge_json_want_text(cx, place, &type));
    size_t kind = 0;
    while (kind < RIDGE_COUNT_OF(KINDS) &&
           !ridge_str_is(ridge_str_of(type), KINDS[kind]))
        kind++;
    if (kind == RIDGE_COUNT_OF(KINDS) || out->n == RIDGE__NORMAL_MAX) {
        return ridge_json_fail(cx, place,
                               "normalizer \"%s\": Ridge has NFC, NFD, NFKC, NFKD, "
                               "Prepend and Replace, at most %d",
                               type, RIDGE__NORMAL_MAX);
    }
    ridge__normal_step *step = &out->steps[out->n++];
    step->kind = (ridge__normal_kind)kind;
    if (step->kind == RIDGE__NORMAL_REPLACE)
        return read_replace(cx, json, step);
    if (step->kind == RIDGE__NORMAL_PREPEND) {
        RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(json, "prepend"), &text));
        step->to = ridge_str_of(text);
    }
    return RIDGE_OK;
}

ridge_status ridge__normalizer_read(ridge_ctx *cx, ridge_node json,
                                    ridge__normalizer *out)
{
    const char *type = "";
    *out = (ridge__normalizer){0};
    if (ridge_json_is_absent(json))
        return RIDGE_OK;
    ridge_json_text(ridge_json_get(&json, "type"), &type);
    if (!ridge_str_is(ridge_str_of(type), "Sequence"))
        return read_step(cx, &json, out);
    const ridge_node list = ridge_json_get(&json, "normalizers");
    for (size_t i = 0; i < ridge_json_size(list); i++) {
        const ridge_node item = ridge_json_at(&list, i);
        RIDGE_TRY(read_step(cx, &item, out));
    }
    return RIDGE_OK;
}
