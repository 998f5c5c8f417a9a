/* Text that comes from outside, made fit for a line of a terminal. */
#include "text.h"

#include "ridge/base.h"

#include <stdio.h>
#include <string.h>

enum { SPELT_MAX = 16, UTF8_MAX = 4 };

typedef struct code_range {
    uint32_t first, last;
} code_range;

/* Beyond ASCII: C1 controls; zero width and direction; line ends and overrides;
 * isolates; the byte order mark. */
static const code_range obeyed[] = {
    {0x80, 0x9f},     {0x200b, 0x200f}, {0x2028, 0x202e},
    {0x2060, 0x206f}, {0xfeff, 0xfeff},
};

/* Bytes of the character at s, and its code; 0 if it is not well-formed UTF-8: cut off,
 * longer than it need be, a surrogate or beyond U+10FFFF. */
static size_t character_at(const unsigned char *s, uint32_t *code)
{
    static const uint32_t least[UTF8_MAX + 1] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t n = s[0] < 0x80             ? 1
                     : (s[0] & 0xe0) == 0xc0 ? 2
                     : (s[0] & 0xf0) == 0xe0 ? 3
                     : (s[0] & 0xf8) == 0xf0 ? 4
                                             : 0;
    if (n == 0)
        return 0;
    uint32_t c = n == 1 ? s[0] : s[0] & (0x7fU >> n);
    for (size_t i = 1; i < n; i++) { /* the NUL is no continuation, and ends it */
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3fU);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *code = c;
    return n;
}

static bool is_obeyed(uint32_t code)
{
    if (code < 0x80)
        return code < 0x20 || code == 0x7f;
    for (size_t i = 0; i < RIDGE_COUNT_OF(obeyed); i++) {
        if (code >= obeyed[i].first && code <= obeyed[i].last)
            return true;
    }
    return false;
}

static void spell(uint32_t code, char out[SPELT_MAX])
{
    const char *const named = "\n\r\t", *const letters = "nrt";
    const char *at = code < 0x80 ? strchr(named, (int)code) : NULL;
    if (at != NULL)
        snprintf(out, SPELT_MAX, "\\%c", letters[at - named]);
    else
        snprintf(out, SPELT_MAX, code < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)code);
}

/* Bytes of the next character, or of what is none; how it is spelt, or "" if it may
 * stand as it is. */
static size_t next_piece(const char *text, char spelt[SPELT_MAX])
{
    const unsigned char *s = (const unsigned char *)text;
    uint32_t code = 0;
    const size_t n = character_at(s, &code);
    spelt[0] = '\0';
    if (n == 0)
        snprintf(spelt, SPELT_MAX, "\\x%02x", (unsigned)*s);
    else if (is_obeyed(code))
        spell(code, spelt);
    return n == 0 ? 1 : n;
}

size_t ridge__text_printable(char *out, size_t cap, const char *text)
{
    size_t used = 0;
    while (*text != '\0') {
        char spelt[SPELT_MAX];
        const size_t n = next_piece(text, spelt);
        const size_t wide = *spelt ? strlen(spelt) : n;
        if (used + wide >= cap)
            break;
        memcpy(out + used, *spelt ? spelt : text, wide);
        used += wide;
        text += n;
    }
    out[used] = '\0';
    return used;
}

void ridge_buf_printable(ridge_buf *b, const char *text)
{
    const char *run = text; /* of characters that stand as they are */
    while (*text != '\0') {
        char spelt[SPELT_MAX];
        const size_t n = next_piece(text, spelt);
        if (*spelt) {
            ridge_buf_add(b, (ridge_str){run, (size_t)(text - run)});
            ridge_buf_puts(b, spelt);
            run = text + n;
        }
        text += n;
    }
    ridge_buf_add(b, (ridge_str){run, (size_t)(text - run)});
}
