/* Tags, varints and lengths of the protobuf wire format. */
#include "wire_walk.h"

enum { TAG_BYTES_MOST = 10, FIELD_HEAD_BYTES = 2 * TAG_BYTES_MOST };

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_DELIMITED = 2, WIRE_FIXED32 = 5 };

/* @return bytes of it, 0: it is malformed or cut off */
static size_t varint_read(const char *p, const char *end, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < TAG_BYTES_MOST && p + i < end; i++) {
        const unsigned char byte = (unsigned char)p[i];
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *out = value;
            return i + 1;
        }
    }
    return 0;
}

ridge_status wire_walk_skip(byte_window *w, int64_t length)
{
    bool grew = true;
    while (length > 0 && grew) {
        const int64_t here = w->end - w->p;
        const int64_t step = length < here ? length : here;
        byte_window_pass(w, w->p + step);
        length -= step;
        if (length > 0)
            RIDGE_TRY(byte_window_more(w, &grew));
    }
    return RIDGE_OK;
}

ridge_status wire_walk_want(byte_window *w, int64_t length, bool *got)
{
    bool grew = true;
    while (w->end - w->p < length && grew)
        RIDGE_TRY(byte_window_more(w, &grew));
    *got = w->end - w->p >= length;
    return RIDGE_OK;
}

/* Behind the tag. @return bytes, 0: damaged */
static size_t value_read(const char *p, const char *end, unsigned type, wire_field *f)
{
    uint64_t n;
    size_t used;
    switch (type) {
    case WIRE_VARINT:
        return varint_read(p, end, &f->value);
    case WIRE_FIXED64:
        return end - p >= 8 ? 8 : 0;
    case WIRE_FIXED32:
        return end - p >= 4 ? 4 : 0;
    case WIRE_DELIMITED:
        used = varint_read(p, end, &n);
        if (used == 0 || n > INT64_MAX / 2)
            return 0;
        f->length = (int64_t)n;
        f->is_delimited = true;
        return used;
    default:
        return 0;
    }
}

ridge_status wire_walk_next(byte_window *w, wire_message within, wire_field *out,
                            bool *found, bool *is_damaged)
{
    bool got;
    uint64_t tag;
    *found = false;
    *out = (wire_field){.number = 0};
    if (w->passed >= within.end)
        return RIDGE_OK;
    RIDGE_TRY(wire_walk_want(w, FIELD_HEAD_BYTES, &got));
    if (w->p == w->end) {
        *is_damaged |= within.end != INT64_MAX;
        return RIDGE_OK;
    }
    const size_t used = varint_read(w->p, w->end, &tag);
    const size_t more =
        used == 0 ? 0 : value_read(w->p + used, w->end, (unsigned)(tag & 7), out);
    if (more == 0 || tag >> 3 == 0) {
        *is_damaged = true;
        return RIDGE_OK;
    }
    out->number = tag >> 3;
    byte_window_pass(w, w->p + used + more);
    if (out->is_delimited && within.end != INT64_MAX &&
        out->length > within.end - w->passed) {
        *is_damaged = true;
        return RIDGE_OK;
    }
    *found = true;
    return RIDGE_OK;
}
