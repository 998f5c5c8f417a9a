/*
 * A scanner of JSON for traces of gigabytes: it looks at bytes once, builds nothing,
 * and forgives what trace writers get wrong (control characters in texts, bytes that
 * are not UTF-8, integers of any length). Layer-internal.
 */
#ifndef RIDGE_PROFILE_JSON_SCAN_H
#define RIDGE_PROFILE_JSON_SCAN_H

#include "ridge/base.h"

#include <string.h>

typedef enum scan_result {
    SCAN_OK,
    SCAN_MORE, /* the text ends within what was to be scanned */
    SCAN_BAD   /* something else stands there: p is at it */
} scan_result;

/** A position in text. */
typedef struct json_scan {
    const char *p, *end;
} json_scan;

/** A value as it stands in the text. */
typedef struct scan_value {
    char kind;     /* of its first byte: '"', '{', '[', '0' (number), 't', 'f', 'n' */
    ridge_str raw; /* a text without its quotes; anything else whole */
    bool has_escape;
} scan_value;

/** Skip white space. @return SCAN_MORE at the end */
scan_result scan_space(json_scan *s);
/** Skip white space and @p c. */
scan_result scan_mark(json_scan *s, char c);
/** Any value; of an object or array only where it ends. */
scan_result scan_any(json_scan *s, scan_value *out);
/**
 * The next member of an object that scan_mark(s, '{') has opened.
 * @param is_end  out: there is none, and the closing brace is passed
 */
scan_result scan_member(json_scan *s, bool *is_end, scan_value *key, scan_value *value);
/** What is left of an object, and its closing brace. */
scan_result scan_rest(json_scan *s);
/** Only its key: the value is the next to be scanned. */
scan_result scan_key(json_scan *s, bool *is_end, scan_value *key);
/** The same of an array. */
scan_result scan_item(json_scan *s, bool *is_end, scan_value *value);

/** The text that an escaped one stands for; what is malformed stays as it is.
 * @param room  at least raw.n bytes
 * @return bytes written */
size_t scan_unescape(ridge_str raw, char *room);
/** An integer in a number or a text ("12"); false if it is none or too large. */
bool scan_i64(const scan_value *value, int64_t *out);
bool scan_double(const scan_value *value, double *out);

/** Whether a text is a literal; the length is known, so that nothing is called. */
#define SCAN_IS(text, literal)                                                         \
    ((text).n == sizeof(literal) - 1 &&                                                \
     memcmp((text).p, literal, sizeof(literal) - 1) == 0)

#endif
