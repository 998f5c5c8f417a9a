/* U+0000 in a tokenizer.json: JSON's reader takes none in strings, but a vocabulary of
 * bytes has one: another character that the text does not use stands for it. */
#include "tokenizer_json.h"

#include "utf8.h"

#include <string.h>

static bool is_escaped_nul(ridge_str text, size_t at)
{
    return text.n - at >= 6 && memcmp(text.p + at, "\\u0000", 6) == 0;
}

static const char *unused_character(ridge_ctx *cx, ridge_str text)
{
    for (uint32_t c = 0xF8FF; c >= 0xE000; c--) { /* private use */
        char z[5] = {0};
        const size_t n = ridge__utf8_write(c, z);
        size_t at = 0;
        while (at + n <= text.n && memcmp(text.p + at, z, n) != 0)
            at++;
        if (at + n > text.n)
            return ridge_str_dup(ridge_ctx_arena(cx), (ridge_str){z, n});
    }
    return NULL;
}

ridge_status ridge__replace_nul(ridge_ctx *cx, ridge_str *text, const char **nul)
{
    ridge_buf b;
    size_t kept = 0;
    *nul = NULL;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (size_t at = 0; at < text->n; at++) {
        if (text->p[at] != '\\')
            continue;
        if (!is_escaped_nul(*text, at)) {
            at++; /* what is escaped */
            continue;
        }
        if (*nul == NULL)
            *nul = unused_character(cx, *text);
        if (*nul == NULL)
            return ridge_fail_nomem(cx);
        ridge_buf_add(&b, (ridge_str){text->p + kept, at - kept});
        ridge_buf_puts(&b, *nul);
        kept = at + 6;
        at += 5;
    }
    if (*nul == NULL)
        return RIDGE_OK;
    ridge_buf_add(&b, (ridge_str){text->p + kept, text->n - kept});
    *text = (ridge_str){ridge_buf_text(&b), b.n};
    return b.is_short ? ridge_fail_nomem(cx) : RIDGE_OK;
}

ridge_str ridge__tokenizer_string(const ridge__tokenizer_file *f, const char *text)
{
    if (f->nul == NULL || strstr(text, f->nul) == NULL)
        return ridge_str_of(text);
    char *out = ridge_new(ridge_ctx_arena(f->cx), char, strlen(text) + 1);
    if (out == NULL)
        return (ridge_str){NULL, 0};
    size_t n = 0;
    const size_t mark = strlen(f->nul);
    while (*text != '\0') {
        const bool is_nul = strncmp(text, f->nul, mark) == 0;
        out[n++] = is_nul ? '\0' : *text;
        text += is_nul ? mark : 1;
    }
    return (ridge_str){out, n};
}
