/*
 * JSON through jansson, behind the types of base.h: no other file includes it but
 * json_build.c. Documents belong to the ctx in which they were read.
 */
#include "json.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { PATH_MAX_CHARS = 256 };

/* One cast in one place: a ridge_json is jansson's value under another name. */
static const json_t *value_of(ridge_node n)
{
    return (const json_t *)(const void *)n.value;
}

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

static ridge_status replace_bare_words(ridge_ctx *cx, ridge_str *text)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    bool is_in_string = false;
    size_t kept = 0;
    for (size_t i = 0; i < text->n; i++) {
        char c = text->p[i];
        if (is_in_string && c == '\\') {
            i++;
        } else if (c == '"') {
            is_in_string = !is_in_string;
        } else if (!is_in_string && (c == 'N' || c == 'I' || c == '-')) {
            size_t n = bare_word_at(*text, i);
            if (n == 0)
                continue;
            ridge_buf_add(&out, (ridge_str){text->p + kept, i - kept});
            ridge_buf_puts(&out, "null");
            kept = i + n;
            i = kept - 1;
        }
    }
    if (kept == 0)
        return RIDGE_OK;
    ridge_buf_add(&out, (ridge_str){text->p + kept, text->n - kept});
    if (out.is_short)
        return ridge_fail_nomem(cx);
    *text = (ridge_str){out.p, out.n};
    return RIDGE_OK;
}

static ridge_status fail_syntax(ridge_ctx *cx, const char *file,
                                const json_error_t *error)
{
    /* jansson's column counts from 0 at the end of the offending token. */
    const char *mend = "mend the JSON there";
    if (json_error_code(error) == json_error_stack_overflow) {
        mend = "brackets are nested too deeply; is this a JSON file?";
    } else if (json_error_code(error) == json_error_premature_end_of_input) {
        mend = "the file ends too early; is it complete?";
    }
    return ridge_fail(cx, RIDGE_E_PARSE, "%s:%d:%d: not valid JSON: %s: %s", file,
                      error->line < 1 ? 1 : error->line,
                      error->column < 1 ? 1 : error->column, error->text, mend);
}

ridge_status ridge_json_parse(ridge_ctx *cx, ridge_str text, const char *file,
                              ridge_node *out)
{
    ridge_json_doc *doc = ridge_new(ridge_ctx_arena(cx), ridge_json_doc, 1);
    const char *name = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(file));
    if (doc == NULL || name == NULL)
        return ridge_fail_nomem(cx);
    *doc = (ridge_json_doc){name, text};
    if (ridge_str_trim(text).n == 0) {
        return ridge_fail(cx, RIDGE_E_PARSE, "%s: empty: expected a JSON document",
                          name);
    }
    RIDGE_TRY(replace_bare_words(cx, &text));
    json_error_t error;
    json_t *root = json_loadb(text.p, text.n, JSON_DECODE_ANY, &error);
    if (root == NULL)
        return fail_syntax(cx, name, &error);
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

ridge_json_kind ridge_json_kind_of(ridge_node n)
{
    if (n.value == NULL)
        return RIDGE_JSON_NULL;
    switch (json_typeof(value_of(n))) {
    case JSON_OBJECT:
        return RIDGE_JSON_OBJECT;
    case JSON_ARRAY:
        return RIDGE_JSON_ARRAY;
    case JSON_STRING:
        return RIDGE_JSON_STRING;
    case JSON_INTEGER:
    case JSON_REAL:
        return RIDGE_JSON_NUMBER;
    case JSON_TRUE:
    case JSON_FALSE:
        return RIDGE_JSON_BOOL;
    case JSON_NULL:
        break;
    }
    return RIDGE_JSON_NULL;
}

bool ridge_json_is_absent(ridge_node n)
{
    return ridge_json_kind_of(n) == RIDGE_JSON_NULL;
}

size_t ridge_json_size(ridge_node n)
{
    const json_t *v = value_of(n);
    return json_is_object(v) ? json_object_size(v) : json_array_size(v);
}

ridge_node ridge_json_get(const ridge_node *parent, const char *key)
{
    const json_t *v = json_object_get(value_of(*parent), key);
    return (ridge_node){(const ridge_json *)(const void *)v, parent->doc, parent, key,
                        0};
}

ridge_node ridge_json_at(const ridge_node *parent, size_t index)
{
    const json_t *v = json_array_get(value_of(*parent), index);
    return (ridge_node){(const ridge_json *)(const void *)v, parent->doc, parent, NULL,
                        index};
}

ridge_node ridge_json_member(const ridge_node *parent, size_t index)
{
    /* jansson's iterators want a mutable object, though they change nothing. */
    json_t *object = (json_t *)(uintptr_t)parent->value;
    void *it = json_object_iter(object);
    for (size_t i = 0; it != NULL && i < index; i++)
        it = json_object_iter_next(object, it);
    if (it == NULL)
        return (ridge_node){.doc = parent->doc, .parent = parent};
    return (ridge_node){(const ridge_json *)(void *)json_object_iter_value(it),
                        parent->doc, parent, json_object_iter_key(it), 0};
}

bool ridge_json_bool(ridge_node n, bool *out)
{
    if (ridge_json_kind_of(n) != RIDGE_JSON_BOOL)
        return false;
    *out = json_is_true(value_of(n));
    return true;
}

bool ridge_json_double(ridge_node n, double *out)
{
    if (ridge_json_kind_of(n) != RIDGE_JSON_NUMBER)
        return false;
    *out = json_number_value(value_of(n));
    return true;
}

bool ridge_json_i64(ridge_node n, int64_t *out)
{
    if (ridge_json_kind_of(n) != RIDGE_JSON_NUMBER)
        return false;
    if (json_is_integer(value_of(n))) {
        *out = json_integer_value(value_of(n));
        return true;
    }
    double v = json_real_value(value_of(n));
    if (v != floor(v) || fabs(v) > 9007199254740992.0) /* 2^53 */
        return false;
    *out = (int64_t)v;
    return true;
}

bool ridge_json_text(ridge_node n, const char **out)
{
    if (ridge_json_kind_of(n) != RIDGE_JSON_STRING)
        return false;
    *out = json_string_value(value_of(n));
    return true;
}

ridge_status ridge_json_fail(ridge_ctx *cx, ridge_node n, const char *fmt, ...)
{
    char what[1024];
    char path[PATH_MAX_CHARS];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    int line = 1;
    int column = 1;
    ridge__json_place(n, &line, &column);
    ridge__json_path(n, path, sizeof path);
    return ridge_fail(cx, RIDGE_E_PARSE, "%s:%d: %s%s%s",
                      n.doc == NULL ? "input" : n.doc->file, line, path,
                      path[0] == '\0' ? "" : ": ", what);
}

ridge_status ridge_json_only(ridge_ctx *cx, ridge_node object, const char *const *known,
                             size_t n)
{
    if (ridge_json_kind_of(object) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, object, "expected an object");
    size_t size = ridge_json_size(object);
    for (size_t i = 0; i < size; i++) {
        ridge_node member = ridge_json_member(&object, i);
        assert(member.key != NULL); /* a member of an object has a name */
        size_t k = 0;
        while (k < n && strcmp(known[k], member.key) != 0)
            k++;
        if (k < n)
            continue;
        const char *hint =
            ridge_suggestion(ridge_ctx_scratch(cx), member.key, known, n);
        return ridge_json_fail(cx, member, "unknown key%s%s",
                               hint == NULL || hint[0] == '\0' ? "" : ": ",
                               hint == NULL ? "" : hint);
    }
    return RIDGE_OK;
}

ridge_status ridge_json_want_text(ridge_ctx *cx, ridge_node n, const char **out)
{
    if (ridge_json_is_absent(n))
        return ridge_json_fail(cx, n, "missing: expected a text");
    if (!ridge_json_text(n, out))
        return ridge_json_fail(cx, n, "expected a text");
    return RIDGE_OK;
}

ridge_status ridge_json_want_double(ridge_ctx *cx, ridge_node n, double low,
                                    double high, double *out)
{
    double v;
    if (ridge_json_is_absent(n))
        return ridge_json_fail(cx, n, "missing: expected a number");
    if (!ridge_json_double(n, &v))
        return ridge_json_fail(cx, n, "expected a number");
    if (!(v >= low && v <= high))
        return ridge_json_fail(cx, n, "%g is outside %g to %g", v, low, high);
    *out = v;
    return RIDGE_OK;
}

ridge_status ridge_json_want_i64(ridge_ctx *cx, ridge_node n, int64_t low, int64_t high,
                                 int64_t *out)
{
    int64_t v;
    if (ridge_json_is_absent(n))
        return ridge_json_fail(cx, n, "missing: expected a whole number");
    if (!ridge_json_i64(n, &v)) {
        double d;
        if (ridge_json_double(n, &d))
            return ridge_json_fail(cx, n, "%g is no whole number within range", d);
        return ridge_json_fail(cx, n, "expected a whole number");
    }
    if (v < low || v > high) {
        return ridge_json_fail(cx, n, "%lld is outside %lld to %lld", (long long)v,
                               (long long)low, (long long)high);
    }
    *out = v;
    return RIDGE_OK;
}
