/* Random documents for laws of reading and writing. */
#include "random_json.h"

#include <math.h>
#include <stdlib.h>

enum { MEMBERS_MAX = 6, TEXT_MAX = 20 };

const char *random_text(ridge_ctx *cx, seeded *at)
{
    static const char *const pieces[] = {
        "a",        "Z",
        "0",        " ",
        "\"",       "\\",
        "/",        "\n",
        "\x01",     ".",
        "NaN",      "[",
        "}",        ",",
        ":",        "-Infinity",
        "%s",       "u",
        "\x7f",     "\t",
        "\xc2\xb5", "\xe2\x94\x80",
        "\\u0041",  "\xf0\x9f\x8c\x80",
    };
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int64_t n = seeded_pick(at, 0, TEXT_MAX); n > 0; n--)
        ridge_buf_puts(&b, pieces[seeded_pick(at, 0, RIDGE_COUNT_OF(pieces) - 1)]);
    return ridge_buf_text(&b);
}

/* A double that twelve digits tell apart. */
static double random_double(seeded *at)
{
    char text[40];
    const double any = seeded_pick(at, 0, 1) == 0
                           ? seeded_double(at)
                           : (double)seeded_pick(at, -1000000, 1000000) / 1024;
    snprintf(text, sizeof text, "%.12g", any);
    /* banned: allow strtod, it is exact and ridge_parse_double is not */
    const double v = strtod(text, NULL);
    return isfinite(v) ? v : 0;
}

static int64_t random_whole(seeded *at)
{
    const int bits = (int)seeded_pick(at, 0, 63);
    const int64_t v = (int64_t)(seeded_next(at) >> bits);
    return seeded_pick(at, 0, 1) == 0 ? v : -(v / 2) - 1;
}

typedef enum kind { WHOLE, REAL, TEXT, BOOL, NONE, ARRAY, OBJECT, KIND_COUNT } kind;

static ridge_json *random_container(ridge_ctx *cx, seeded *at, int depth, kind what);

static void add_to_object(ridge_ctx *cx, seeded *at, int depth, ridge_json *object)
{
    const char *key = random_text(cx, at);
    const kind what = (kind)seeded_pick(at, 0, depth > 0 ? KIND_COUNT - 1 : NONE);
    switch (what) {
    case WHOLE:
        ridge_json_set_i64(object, key, random_whole(at));
        return;
    case REAL:
        ridge_json_set_double(object, key, random_double(at));
        return;
    case TEXT:
        ridge_json_set_text(object, key, random_text(cx, at));
        return;
    case BOOL:
        ridge_json_set_bool(object, key, seeded_pick(at, 0, 1) == 1);
        return;
    case NONE:
        ridge_json_set_null(object, key);
        return;
    case ARRAY:
    case OBJECT:
        ridge_json_set(object, key, random_container(cx, at, depth - 1, what));
        return;
    case KIND_COUNT:
        return;
    }
}

static void add_to_array(ridge_ctx *cx, seeded *at, int depth, ridge_json *array)
{
    const kind what = (kind)seeded_pick(at, 0, depth > 0 ? KIND_COUNT - 1 : NONE);
    switch (what) {
    case WHOLE:
        ridge_json_push_i64(array, random_whole(at));
        return;
    case REAL:
        ridge_json_push_double(array, random_double(at));
        return;
    case TEXT:
        ridge_json_push_text(array, random_text(cx, at));
        return;
    case BOOL:
    case NONE:
        ridge_json_push(array, NULL);
        return;
    case ARRAY:
    case OBJECT:
        ridge_json_push(array, random_container(cx, at, depth - 1, what));
        return;
    case KIND_COUNT:
        return;
    }
}

static ridge_json *random_container(ridge_ctx *cx, seeded *at, int depth, kind what)
{
    ridge_json *value = what == ARRAY ? ridge_json_array(cx) : ridge_json_object(cx);
    for (int64_t n = seeded_pick(at, 0, MEMBERS_MAX); n > 0; n--) {
        if (what == ARRAY) {
            add_to_array(cx, at, depth, value);
        } else {
            add_to_object(cx, at, depth, value);
        }
    }
    return value;
}

ridge_json *random_json(ridge_ctx *cx, seeded *at, int depth)
{
    return random_container(cx, at, depth, seeded_pick(at, 0, 1) == 0 ? ARRAY : OBJECT);
}
