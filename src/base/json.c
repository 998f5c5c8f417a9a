/*
 * Values of a document, asked for one by one, and complaints that name their place.
 * jansson, which json_parse.c and json_build.c use too, stays behind base.h's types.
 */
#include "json.h"

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

/* jansson's iterators want a mutable object, though they change nothing. */
static json_t *mutable_value(const ridge_node *n)
{
    return (json_t *)(uintptr_t)n->value;
}

/* The member at an iterator of the parent, which may have run out (NULL). */
static ridge_node member_at(const ridge_node *parent, void *it)
{
    if (it == NULL)
        return (ridge_node){.doc = parent->doc, .parent = parent};
    return (ridge_node){(const ridge_json *)(void *)json_object_iter_value(it),
                        parent->doc, parent, json_object_iter_key(it), 0};
}

ridge_node ridge_json_member(const ridge_node *parent, size_t index)
{
    json_t *object = mutable_value(parent);
    void *it = json_object_iter(object);
    for (size_t i = 0; it != NULL && i < index; i++)
        it = json_object_iter_next(object, it);
    return member_at(parent, it);
}

ridge_node ridge_json_member_after(const ridge_node *parent, ridge_node member)
{
    json_t *object = mutable_value(parent);
    void *it = member.key == NULL ? NULL : json_object_iter_at(object, member.key);
    return member_at(parent, it == NULL ? NULL : json_object_iter_next(object, it));
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

/* What was found where a value of another kind is wanted. */
static const char *found_text(ridge_node n)
{
    static const char *const texts[] = {
        [RIDGE_JSON_NULL] = "null",       [RIDGE_JSON_BOOL] = "true or false",
        [RIDGE_JSON_NUMBER] = "a number", [RIDGE_JSON_STRING] = "a text",
        [RIDGE_JSON_ARRAY] = "a list",    [RIDGE_JSON_OBJECT] = "an object",
    };
    return texts[ridge_json_kind_of(n)];
}

static ridge_status fail_kind(ridge_ctx *cx, ridge_node n, const char *wanted)
{
    if (n.value == NULL)
        return ridge_json_fail(cx, n, "missing: expected %s", wanted);
    return ridge_json_fail(cx, n, "expected %s, found %s", wanted, found_text(n));
}

ridge_status ridge_json_only(ridge_ctx *cx, ridge_node object, const char *const *known,
                             size_t n)
{
    if (ridge_json_kind_of(object) != RIDGE_JSON_OBJECT)
        return fail_kind(cx, object, "an object");
    ridge_node member = ridge_json_member(&object, 0);
    for (; member.key != NULL; member = ridge_json_member_after(&object, member)) {
        size_t k = 0;
        while (k < n && strcmp(known[k], member.key) != 0)
            k++;
        if (k < n)
            continue;
        const char *hint =
            ridge_suggestion(ridge_ctx_scratch(cx), member.key, known, n);
        return ridge_json_fail(cx, member, "unknown key%s%s",
                               hint[0] == '\0' ? "" : ": ", hint);
    }
    return RIDGE_OK;
}

ridge_status ridge_json_want_text(ridge_ctx *cx, ridge_node n, const char **out)
{
    return ridge_json_text(n, out) ? RIDGE_OK : fail_kind(cx, n, "a text");
}

ridge_status ridge_json_want_double(ridge_ctx *cx, ridge_node n, double low,
                                    double high, double *out)
{
    double v;
    if (!ridge_json_double(n, &v))
        return fail_kind(cx, n, "a number");
    if (v < low && isinf(high))
        return ridge_json_fail(cx, n, "%g is less than %g", v, low);
    if (!(v >= low && v <= high))
        return ridge_json_fail(cx, n, "%g is outside %g to %g", v, low, high);
    *out = v;
    return RIDGE_OK;
}

ridge_status ridge_json_want_i64(ridge_ctx *cx, ridge_node n, int64_t low, int64_t high,
                                 int64_t *out)
{
    int64_t v;
    if (!ridge_json_i64(n, &v)) {
        double d;
        if (ridge_json_double(n, &d))
            return ridge_json_fail(cx, n, "%g is no whole number within range", d);
        return fail_kind(cx, n, "a whole number");
    }
    if (v < low && high == INT64_MAX) {
        return ridge_json_fail(cx, n, "%lld is less than %lld", (long long)v,
                               (long long)low);
    }
    if (v < low || v > high) {
        return ridge_json_fail(cx, n, "%lld is outside %lld to %lld", (long long)v,
                               (long long)low, (long long)high);
    }
    *out = v;
    return RIDGE_OK;
}
