/*
 * A text becomes a document: what is taken beyond the letter of JSON, what is refused,
 * and what a document may cost. Parsing itself is jansson's.
 */
#include "ctx.h"
#include "json.h"

#include <jansson.h>
#include <string.h>

static void release(void *value)
{
    json_decref(value);
}

/* Python's json writes NaN, Infinity and -Infinity, which are no JSON: null instead. */
static const char *const bare_words[] = {"NaN", "-Infinity", "Infinity"};

static size_t bare_word_at(ridge_str text, size_t at)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(bare_words); i++) {
        size_t n = strlen(bare_words[i]);
        if (text.n - at >= n && memcmp(text.p + at, bare_words[i], n) == 0)
            return n;
    }
    return 0;
}

/* What jansson allocates for values (bytes on a 64-bit machine, rounded up): a hostile
 * text of brackets takes forty times its own size. */
enum {
    OBJECT_BYTES = 256,
    ARRAY_BYTES = 144,
    MEMBER_BYTES = 128,
    ITEM_BYTES = 80,
};

static size_t value_bytes(char c)
{
    switch (c) {
    case '{':
        return OBJECT_BYTES;
    case '[':
        return ARRAY_BYTES;
    case ':':
        return MEMBER_BYTES;
    case ',':
        return ITEM_BYTES;
    default:
        return 0;
    }
}

/* Where the string that opens at @p at closes; the text's end if it does not. */
static size_t string_end(ridge_str text, size_t at)
{
    for (at++; at < text.n && text.p[at] != '"'; at++) {
        if (text.p[at] == '\\')
            at++;
    }
    return at;
}

/* A copy of a text in which some words are replaced; the text itself if none is. */
typedef struct rewrite {
    ridge_str from;
    size_t kept; /* characters that were copied */
    ridge_buf to;
} rewrite;

static void rewrite_word(rewrite *r, size_t at, size_t n, const char *by)
{
    ridge_buf_add(&r->to, (ridge_str){r->from.p + r->kept, at - r->kept});
    ridge_buf_puts(&r->to, by);
    r->kept = at + n;
}

static ridge_status rewrite_end(ridge_ctx *cx, rewrite *r, ridge_str *out)
{
    if (r->kept == 0)
        return RIDGE_OK;
    rewrite_word(r, r->from.n, 0, "");
    if (r->to.is_short)
        return ridge_fail_nomem(cx);
    *out = (ridge_str){r->to.p, r->to.n};
    return RIDGE_OK;
}

/* One pass over the text outside strings: bare words become null, and what the values
 * will take is summed. */
static ridge_status replace_bare_words(ridge_ctx *cx, ridge_str *text, size_t *cost)
{
    rewrite r = {.from = *text};
    ridge_buf_init(&r.to, ridge_ctx_arena(cx));
    *cost = text->n;
    for (size_t i = 0; i < text->n; i++) {
        char c = text->p[i];
        if (c == '"') {
            i = string_end(*text, i);
        } else if (c == 'N' || c == 'I' || c == '-') {
            size_t n = bare_word_at(*text, i);
            if (n > 0) {
                rewrite_word(&r, i, n, "null");
                i = r.kept - 1;
            }
        } else {
            *cost += value_bytes(c);
        }
    }
    return rewrite_end(cx, &r, text);
}

static size_t digits_at(ridge_str text, size_t at)
{
    size_t n = 0;
    while (at + n < text.n && text.p[at + n] >= '0' && text.p[at + n] <= '9')
        n++;
    return n;
}

/* Characters of a real from its point or exponent on. */
static size_t real_tail(ridge_str text, size_t at)
{
    size_t n = 0;
    while (at + n < text.n && memchr("0123456789+-.eE", text.p[at + n], 15) != NULL)
        n++;
    return n;
}

/* Integers beyond 64 bits, which Python writes, become reals: "12…" becomes "12….0". */
static ridge_status widen_integers(ridge_ctx *cx, ridge_str *text)
{
    rewrite r = {.from = *text};
    ridge_buf_init(&r.to, ridge_ctx_arena(cx));
    for (size_t i = 0; i < text->n; i++) {
        char c = text->p[i];
        size_t sign = c == '-' ? 1 : 0;
        size_t n = digits_at(*text, i + sign);
        int64_t fits;
        if (c == '"') {
            i = string_end(*text, i);
        } else if (n > 0) {
            const ridge_str word = {text->p + i, sign + n};
            i += word.n;
            char next = i < text->n ? text->p[i] : ' ';
            bool is_real = next == '.' || next == 'e' || next == 'E';
            if (!is_real && !ridge_parse_i64(word, &fits))
                rewrite_word(&r, i, 0, ".0");
            i += is_real ? real_tail(*text, i) : 0;
            i--;
        }
    }
    return rewrite_end(cx, &r, text);
}

static ridge_status fail_syntax(ridge_ctx *cx, const char *file,
                                const json_error_t *error)
{
    const char *what = error->text;
    const char *mend = "mend the JSON there";
    const enum json_error_code code = json_error_code(error);
    if (code == json_error_out_of_memory)
        return ridge_fail_nomem(cx);
    if (code == json_error_stack_overflow) {
        mend = "brackets are nested too deeply; is this a JSON file?";
    } else if (code == json_error_premature_end_of_input) {
        mend = "the file ends too early; is it complete?";
    } else if (code == json_error_null_character ||
               code == json_error_null_byte_in_key) {
        what = "a text holds the character \\u0000";
        mend = "leave it out";
    }
    /* jansson's column counts from 0 at the end of the offending token. */
    return ridge_fail(cx, RIDGE_E_PARSE, "%s:%d:%d: not valid JSON: %s: %s", file,
                      error->line < 1 ? 1 : error->line,
                      error->column < 1 ? 1 : error->column, what, mend);
}

/* @return RIDGE_OK with *root NULL when jansson refuses the text */
static ridge_status load(ridge_ctx *cx, ridge_str text, json_t **root,
                         json_error_t *error)
{
    *root = json_loadb(text.p, text.n, JSON_DECODE_ANY, error);
    if (*root != NULL || json_error_code(error) != json_error_numeric_overflow)
        return RIDGE_OK;
    RIDGE_TRY(widen_integers(cx, &text));
    *root = json_loadb(text.p, text.n, JSON_DECODE_ANY, error);
    return RIDGE_OK;
}

ridge_status ridge_json_parse(ridge_ctx *cx, ridge_str text, const char *file,
                              ridge_node *out)
{
    ridge_json_doc *doc = ridge_new(ridge_ctx_arena(cx), ridge_json_doc, 1);
    const char *name = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(file));
    if (doc == NULL || name == NULL)
        return ridge_fail_nomem(cx);
    text = ridge_str_without_mark(text);
    *doc = (ridge_json_doc){name, text};
    if (ridge_str_trim(text).n == 0) {
        return ridge_fail(cx, RIDGE_E_PARSE, "%s: empty: expected a JSON document",
                          name);
    }
    size_t cost;
    RIDGE_TRY(replace_bare_words(cx, &text, &cost));
    if (!ridge__ctx_charge(cx, cost))
        return ridge_fail_nomem(cx);
    json_error_t error;
    json_t *root = NULL;
    RIDGE_TRY(load(cx, text, &root, &error));
    if (root == NULL) {
        ridge__ctx_refund(cx, cost);
        return fail_syntax(cx, name, &error);
    }
    RIDGE_TRY(ridge_ctx_defer(cx, release, root));
    *out = (ridge_node){.value = (const ridge_json *)(void *)root, .doc = doc};
    return RIDGE_OK;
}

ridge_status ridge_json_read(ridge_ctx *cx, const char *path, ridge_node *out)
{
    ridge_str text;
    RIDGE_TRY(ridge_file_read(cx, path, (size_t)256 << 20, &text));
    return ridge_json_parse(cx, text, path, out);
}
