/* Building and writing JSON through jansson. */
#include "ctx.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *as_value(ridge_json *v)
{
    return (json_t *)(void *)v;
}

static void release(void *value)
{
    json_decref(value);
}

/* The ctx keeps one reference, so that a value lives as long as it does. */
static ridge_json *keep(ridge_ctx *cx, json_t *value)
{
    if (value == NULL || ridge_ctx_defer(cx, release, value) != RIDGE_OK) {
        ridge__ctx_lose_json(cx);
        return NULL;
    }
    return (ridge_json *)(void *)value;
}

ridge_json *ridge_json_object(ridge_ctx *cx)
{
    return keep(cx, json_object());
}

ridge_json *ridge_json_array(ridge_ctx *cx)
{
    return keep(cx, json_array());
}

/* Text from outside, such as a file's name, need not be UTF-8: then each byte beyond
 * ASCII becomes '?', since what was meant is not known. */
static json_t *text_value(const char *z)
{
    if (z == NULL)
        return NULL;
    json_t *whole = json_string(z);
    char *ascii = whole != NULL ? NULL : malloc(strlen(z) + 1);
    if (ascii == NULL)
        return whole;
    memcpy(ascii, z, strlen(z) + 1);
    for (char *c = ascii; *c != '\0'; c++) {
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    }
    whole = json_string(ascii);
    free(ascii);
    return whole;
}

/* A member that could not be made becomes null rather than going missing. */
static void set_new(ridge_json *object, const char *key, json_t *value)
{
    if (object != NULL) {
        json_object_set_new(as_value(object), key, value == NULL ? json_null() : value);
    } else {
        json_decref(value);
    }
}

static void push_new(ridge_json *array, json_t *value)
{
    if (array != NULL) {
        json_array_append_new(as_value(array), value == NULL ? json_null() : value);
    } else {
        json_decref(value);
    }
}

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

void ridge_json_set(ridge_json *object, const char *key, ridge_json *value)
{
    set_new(object, key, value == NULL ? NULL : json_incref(as_value(value)));
}

void ridge_json_set_double(ridge_json *object, const char *key, double v)
{
    set_new(object, key, number(v));
}

void ridge_json_set_positive(ridge_json *object, const char *key, double v)
{
    ridge_json_set_double(object, key, v > 0 ? v : nan(""));
}

void ridge_json_set_i64(ridge_json *object, const char *key, int64_t v)
{
    set_new(object, key, json_integer(v));
}

void ridge_json_set_bool(ridge_json *object, const char *key, bool v)
{
    set_new(object, key, json_boolean(v));
}

void ridge_json_set_text(ridge_json *object, const char *key, const char *z)
{
    set_new(object, key, text_value(z));
}

void ridge_json_set_null(ridge_json *object, const char *key)
{
    set_new(object, key, json_null());
}

void ridge_json_push(ridge_json *array, ridge_json *value)
{
    push_new(array, value == NULL ? NULL : json_incref(as_value(value)));
}

void ridge_json_push_double(ridge_json *array, double v)
{
    push_new(array, number(v));
}

void ridge_json_push_i64(ridge_json *array, int64_t v)
{
    push_new(array, json_integer(v));
}

void ridge_json_push_text(ridge_json *array, const char *z)
{
    push_new(array, text_value(z));
}

ridge_json *ridge_json_set_object(ridge_ctx *cx, ridge_json *object, const char *key)
{
    ridge_json *value = ridge_json_object(cx);
    ridge_json_set(object, key, value);
    return value;
}

ridge_json *ridge_json_set_array(ridge_ctx *cx, ridge_json *object, const char *key)
{
    ridge_json *value = ridge_json_array(cx);
    ridge_json_set(object, key, value);
    return value;
}

ridge_json *ridge_json_push_object(ridge_ctx *cx, ridge_json *array)
{
    ridge_json *value = ridge_json_object(cx);
    ridge_json_push(array, value);
    return value;
}

static int append(const char *text, size_t n, void *payload)
{
    ridge_buf *out = payload;
    ridge_buf_add(out, (ridge_str){text, n});
    return out->is_short ? -1 : 0;
}

ridge_status ridge_json_write(ridge_ctx *cx, const ridge_json *value, ridge_buf *out)
{
    if (value == NULL || ridge__ctx_has_lost_json(cx))
        return ridge_fail_nomem(cx);
    const json_t *v = (const json_t *)(const void *)value;
    size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY;
    if (json_dump_callback(v, append, out, flags) != 0)
        return ridge_fail_nomem(cx);
    ridge_buf_puts(out, "\n");
    return out->is_short ? ridge_fail_nomem(cx) : RIDGE_OK;
}
