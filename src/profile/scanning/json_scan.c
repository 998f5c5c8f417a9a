/* One pass over bytes, eight at a time within texts and within what is skipped. */
#include "json_scan.h"

/* ---- eight bytes at a time
 * ----------------------------------------------------------- */

#define EACH_BYTE(c) ((uint64_t)0x0101010101010101u * (unsigned char)(c))

/* The top bit of the first byte that is c is set, and none before it.
 * @source warren2012, section 6-1 */
static inline uint64_t bytes_equal(uint64_t word, unsigned char c)
{
    const uint64_t x = word ^ EACH_BYTE(c);
    return (x - EACH_BYTE(0x01)) & ~x & EACH_BYTE(0x80);
}

static inline uint64_t word_at(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}

static inline size_t first_byte(uint64_t found)
{
    return (size_t)__builtin_ctzll(found) / 8;
}

static inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline const char *space_pass(const char *p, const char *end)
{
    while (p < end && is_space(*p))
        p++;
    return p;
}

scan_result scan_space(json_scan *s)
{
    s->p = space_pass(s->p, s->end);
    return s->p < s->end ? SCAN_OK : SCAN_MORE;
}

static inline scan_result mark_pass(json_scan *s, char c)
{
    s->p = space_pass(s->p, s->end);
    if (s->p == s->end)
        return SCAN_MORE;
    if (*s->p != c)
        return SCAN_BAD;
    s->p++;
    return SCAN_OK;
}

scan_result scan_mark(json_scan *s, char c)
{
    return mark_pass(s, c);
}

/* ---- texts ----------------------------------------------------------------------- */

/* The next quote or backslash at or after p, or end. */
static inline const char *text_stop(const char *p, const char *end)
{
    for (; end - p >= 8; p += 8) {
        const uint64_t word = word_at(p);
        const uint64_t found = bytes_equal(word, '"') | bytes_equal(word, '\\');
        if (found != 0)
            return p + first_byte(found);
    }
    while (p < end && *p != '"' && *p != '\\')
        p++;
    return p;
}

/* Behind the opening quote. @return the closing quote, or NULL: the text ends before */
static inline const char *text_end(const char *p, const char *end, bool *has_escape)
{
    *has_escape = false;
    for (;;) {
        p = text_stop(p, end);
        if (p >= end)
            return NULL;
        if (*p == '"')
            return p;
        *has_escape = true;
        if (end - p < 2)
            return NULL;
        p += 2;
    }
}

static inline scan_result text_scan(json_scan *s, scan_value *out)
{
    const char *close = text_end(s->p, s->end, &out->has_escape);
    if (close == NULL)
        return SCAN_MORE;
    out->kind = '"';
    out->raw = (ridge_str){s->p, (size_t)(close - s->p)};
    s->p = close + 1;
    return SCAN_OK;
}

/* ---- objects and arrays ---------------------------------------------------------- */

/* Bytes that matter between an object's braces: '"', and '[' 0x5b and '{' 0x7b, ']'
 * 0x5d and '}' 0x7d, which differ in one bit. */
static inline const char *nest_stop(const char *p, const char *end)
{
    for (; end - p >= 8; p += 8) {
        const uint64_t word = word_at(p);
        const uint64_t folded = word | EACH_BYTE(0x20);
        const uint64_t found = bytes_equal(word, '"') | bytes_equal(folded, '{') |
                               bytes_equal(folded, '}');
        if (found != 0)
            return p + first_byte(found);
    }
    for (; p < end; p++) {
        const char folded = (char)(*p | 0x20);
        if (folded == '{' || folded == '}' || *p == '"')
            return p;
    }
    return end;
}

/* From an opening bracket, or from within as many as @p depth, to behind the closing
 * one. Brackets are counted, not matched by kind: what is between them is none of the
 * caller's concern. */
static scan_result nest_skip(json_scan *s, int64_t depth)
{
    const char *p = s->p;
    for (;;) {
        p = nest_stop(p, s->end);
        if (p >= s->end)
            return SCAN_MORE;
        const char c = *p++;
        if (c == '"') {
            bool has_escape;
            p = text_end(p, s->end, &has_escape);
            if (p == NULL)
                return SCAN_MORE;
            p++;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (--depth == 0) {
            s->p = p;
            return SCAN_OK;
        }
    }
}

/* ---- values ---------------------------------------------------------------------- */

static inline bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '-' || c == '+' || c == '.';
}

static inline scan_result plain_scan(json_scan *s, scan_value *out)
{
    const char *p = s->p;
    while (p < s->end && is_plain(*p))
        p++;
    if (p == s->end)
        return SCAN_MORE;
    if (p == s->p)
        return SCAN_BAD;
    const char c = *s->p;
    out->kind = c == '-' || (c >= '0' && c <= '9') ? '0' : c;
    out->raw = (ridge_str){s->p, (size_t)(p - s->p)};
    s->p = p;
    return SCAN_OK;
}

static inline scan_result any_scan(json_scan *s, scan_value *out)
{
    s->p = space_pass(s->p, s->end);
    if (s->p == s->end)
        return SCAN_MORE;
    const char c = *s->p;
    out->has_escape = false;
    if (c == '"') {
        s->p++;
        return text_scan(s, out);
    }
    if (c != '{' && c != '[')
        return plain_scan(s, out);
    const char *first = s->p;
    const scan_result nest = nest_skip(s, 0);
    out->kind = c;
    out->raw = (ridge_str){first, (size_t)(s->p - first)};
    return nest;
}

scan_result scan_any(json_scan *s, scan_value *out)
{
    return any_scan(s, out);
}

scan_result scan_rest(json_scan *s)
{
    return nest_skip(s, 1);
}

/* A comma before all but the first, or the closing bracket. */
static inline scan_result next_scan(json_scan *s, char closing, bool *is_end)
{
    *is_end = false;
    s->p = space_pass(s->p, s->end);
    if (s->p < s->end && *s->p == ',')
        s->p = space_pass(s->p + 1, s->end);
    if (s->p == s->end)
        return SCAN_MORE;
    if (*s->p == closing) {
        s->p++;
        *is_end = true;
    }
    return SCAN_OK;
}

static inline scan_result key_scan(json_scan *s, bool *is_end, scan_value *key)
{
    scan_result r = next_scan(s, '}', is_end);
    if (r != SCAN_OK || *is_end)
        return r;
    r = mark_pass(s, '"');
    if (r == SCAN_OK)
        r = text_scan(s, key);
    return r == SCAN_OK ? mark_pass(s, ':') : r;
}

scan_result scan_key(json_scan *s, bool *is_end, scan_value *key)
{
    return key_scan(s, is_end, key);
}

scan_result scan_member(json_scan *s, bool *is_end, scan_value *key, scan_value *value)
{
    const scan_result r = key_scan(s, is_end, key);
    return r != SCAN_OK || *is_end ? r : any_scan(s, value);
}

scan_result scan_item(json_scan *s, bool *is_end, scan_value *value)
{
    const scan_result r = next_scan(s, ']', is_end);
    return r != SCAN_OK || *is_end ? r : any_scan(s, value);
}

/* ---- what they stand for --------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* "\uXXXX" at p; 0 when it is malformed. */
static unsigned unicode_at(const char *p, const char *end)
{
    unsigned code = 0;
    if (end - p < 6)
        return 0;
    for (int i = 2; i < 6; i++) {
        const int digit = hex_digit(p[i]);
        if (digit < 0)
            return 0;
        code = 16 * code + (unsigned)digit;
    }
    return code;
}

/* Below the surrogates; names of kernels need no more. */
static size_t utf8_write(unsigned code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | (code >> 6));
        to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    to[0] = (char)(0xe0 | (code >> 12));
    to[1] = (char)(0x80 | ((code >> 6) & 0x3f));
    to[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

static char simple_escape(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    default:
        return c;
    }
}

size_t scan_unescape(ridge_str raw, char *room)
{
    size_t n = 0;
    const char *end = raw.p + raw.n;
    for (const char *p = raw.p; p < end;) {
        if (*p != '\\' || end - p < 2) {
            room[n++] = *p++;
            continue;
        }
        const unsigned code = p[1] == 'u' ? unicode_at(p, end) : 0;
        if (code != 0 && (code < 0xd800 || code > 0xdfff)) {
            n += utf8_write(code, room + n);
            p += 6;
        } else {
            room[n++] = simple_escape(p[1]);
            p += 2;
        }
    }
    return n;
}

bool scan_i64(const scan_value *v, int64_t *out)
{
    return (v->kind == '0' || v->kind == '"') && ridge_parse_i64(v->raw, out);
}

bool scan_double(const scan_value *v, double *out)
{
    return (v->kind == '0' || v->kind == '"') && ridge_parse_double(v->raw, out);
}
