/* Tokenizers: what they hold, that of bytes, ids back to text. */
#include "tokenizer.h"

#include <string.h>

static const char *const KIND_TEXTS[] = {
#define ONE_TEXT(name, text, what) [RIDGE_TOKENIZER_##name] = text,
    RIDGE_TOKENIZER_LIST(ONE_TEXT)
#undef ONE_TEXT
};

const char *ridge_tokenizer_kind_text(ridge_tokenizer_kind kind)
{
    return KIND_TEXTS[kind];
}

ridge_tokenizer_kind ridge_tokenizer_kind_of(const ridge_tokenizer *t)
{
    return t->kind;
}

int64_t ridge_tokenizer_vocab(const ridge_tokenizer *t)
{
    return t->n;
}

int32_t ridge_tokenizer_bos(const ridge_tokenizer *t)
{
    return t->bos;
}

int32_t ridge_tokenizer_eos(const ridge_tokenizer *t)
{
    return t->eos;
}

ridge_str ridge_tokenizer_token(const ridge_tokenizer *t, int32_t id)
{
    const ridge_str nothing = {"", 0};
    if (id < 0 || id >= t->n || t->texts[id].p == NULL)
        return nothing;
    return t->texts[id];
}

int32_t ridge_tokenizer_special(const ridge_tokenizer *t, const char *name)
{
    for (size_t i = 0; i < t->added.n; i++) {
        if (ridge_str_is(t->added.tokens[i].text, name))
            return t->added.tokens[i].id;
    }
    return -1;
}

/* ---- making ---------------------------------------------------------------------- */

ridge_status ridge__tokenizer_new(ridge_ctx *cx, ridge_tokenizer_kind kind,
                                  const char *file, ridge_tokenizer **out)
{
    ridge_tokenizer *t = ridge_new(ridge_ctx_arena(cx), ridge_tokenizer, 1);
    const char *name = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(file));
    if (t == NULL || name == NULL)
        return ridge_fail_nomem(cx);
    t->kind = kind;
    t->file = name;
    t->bos = t->eos = t->unknown = -1;
    for (size_t i = 0; i < RIDGE_COUNT_OF(t->bytes); i++)
        t->bytes[i] = -1;
    *out = t;
    return RIDGE_OK;
}

ridge_status ridge__tokenizer_fit(ridge_ctx *cx, const ridge_tokenizer *t,
                                  int64_t vocab)
{
    if (vocab <= 0 || t->n <= vocab)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_PARSE,
                      "%s: its ids go up to %lld, but the model's vocabulary is %lld: "
                      "take the tokenizer of this model",
                      t->file, (long long)t->n - 1, (long long)vocab);
}

static int hex_digit(char c)
{
    static const char DIGITS[] = "0123456789ABCDEF";
    const char *at = c == '\0' ? NULL : strchr(DIGITS, c);
    return at == NULL ? -1 : (int)(at - DIGITS);
}

int ridge__byte_token(ridge_str text)
{
    if (text.n != 6 || memcmp(text.p, "<0x", 3) != 0 || text.p[5] != '>')
        return -1;
    const int high = hex_digit(text.p[3]), low = hex_digit(text.p[4]);
    return high < 0 || low < 0 ? -1 : 16 * high + low;
}

static bool has_mark_inside(ridge_str text, const char *mark, size_t n)
{
    bool is_other = false; /* something that is no mark has passed */
    for (size_t at = 0; at < text.n;) {
        const bool is_mark = text.n - at >= n && memcmp(text.p + at, mark, n) == 0;
        if (is_mark && is_other)
            return true;
        is_other = is_other || !is_mark;
        at += is_mark ? n : 1;
    }
    return false;
}

bool ridge__mark_starts_words(const ridge_str *texts, int64_t n, const char *mark)
{
    for (int64_t i = 0; i < n; i++) {
        if (texts[i].p != NULL && has_mark_inside(texts[i], mark, strlen(mark)))
            return false;
    }
    return true;
}

/* ---- opening --------------------------------------------------------------------- */

ridge_status ridge__tokenizer_open_bytes(ridge_ctx *cx, int64_t vocab,
                                         const ridge_tokenizer **out)
{
    ridge_tokenizer *t;
    if (vocab > 0 && vocab < 256) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "bytes are 256 tokens, but the model's "
                          "vocabulary is %lld: give it 256 or more",
                          (long long)vocab);
    }
    RIDGE_TRY(ridge__tokenizer_new(cx, RIDGE_TOKENIZER_BYTES, "bytes", &t));
    char *all = ridge_new(ridge_ctx_arena(cx), char, 256);
    t->texts = ridge_new(ridge_ctx_arena(cx), ridge_str, 256);
    if (all == NULL || t->texts == NULL)
        return ridge_fail_nomem(cx);
    t->n = 256;
    for (int i = 0; i < 256; i++) {
        all[i] = (char)i;
        t->texts[i] = (ridge_str){all + i, 1};
        t->bytes[i] = i;
    }
    *out = t;
    return RIDGE_OK;
}

/* ---- decoding -------------------------------------------------------------------- */

ridge_decoder ridge_decoder_start(const ridge_tokenizer *t)
{
    return (ridge_decoder){.tokenizer = t, .previous = -1};
}

ridge_str ridge_decoder_next(ridge_decoder *d, int32_t id)
{
    const ridge_tokenizer *t = d->tokenizer;
    ridge_str text = ridge_tokenizer_token(t, id);
    const bool is_stripped = (t->is_space_stripped && !d->is_started) ||
                             (t->is_space_stripped_behind_bos && d->previous == t->bos);
    d->previous = id;
    if (text.n == 0)
        return text;
    d->is_started = true;
    if (is_stripped && text.p[0] == ' ') {
        text.p++;
        text.n--;
    }
    return text;
}

void ridge_tokenizer_decode(const ridge_tokenizer *t, const int32_t *ids, size_t n,
                            ridge_buf *out)
{
    ridge_decoder d = ridge_decoder_start(t);
    for (size_t i = 0; i < n; i++)
        ridge_buf_add(out, ridge_decoder_next(&d, ids[i]));
}
