/*
 * Text made safe for HTML and XML: markup escaped, bytes that are not UTF-8 and
 * characters that XML forbids replaced.
 */
#include "html_text.h"

#include "ridge/report.h"

static const char REPLACEMENT[] = "\xEF\xBF\xBD"; /* U+FFFD */

/** Bytes of a well-formed UTF-8 character at @p p, or 0. */
static size_t utf8_length(const unsigned char *p)
{
    if (p[0] < 0x80)
        return 1;
    size_t n = p[0] >= 0xC2 && p[0] <= 0xDF   ? 2
               : p[0] >= 0xE0 && p[0] <= 0xEF ? 3
               : p[0] >= 0xF0 && p[0] <= 0xF4 ? 4
                                              : 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    }
    if (n == 3 && ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
                   (p[0] == 0xEF && p[1] == 0xBF && p[2] >= 0xBE)))
        return 0; /* overlong, surrogates, U+FFFE and U+FFFF */
    if (n == 4 && ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F)))
        return 0;
    return n;
}

static const char *entity_of(unsigned char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}

void ridge_html_text(ridge_buf *out, const char *text)
{
    const char *p = text ? text : "";
    while (*p) {
        unsigned char c = (unsigned char)*p;
        const unsigned char *bytes = (const unsigned char *)p;
        size_t n = utf8_length(bytes);
        const char *entity = entity_of(c);
        if (entity) {
            ridge_buf_puts(out, entity);
        } else if (n == 0 || (c < ' ' && c != '\n' && c != '\t')) {
            ridge_buf_puts(out, REPLACEMENT);
        } else {
            ridge_buf_add(out, (ridge_str){p, n});
        }
        p += n ? n : 1;
    }
}

void ridge__html_element(ridge_buf *out, const char *open, const char *text,
                         const char *close)
{
    ridge_buf_puts(out, open);
    ridge_html_text(out, text);
    ridge_buf_puts(out, close);
}
