/*
 * The tokenizer.json of Hugging Face, with a model of type BPE:
 *
 *     added_tokens[]   id, content, special, single_word, lstrip, rstrip
 *     normalizer       text_normalizer.h
 *     pre_tokenizer    text_splitter.h
 *     model            vocab {token: id}, merges ["a b"] or [["a", "b"]], unk_token,
 *                      fuse_unk, byte_fallback, ignore_merges
 *     post_processor   what is put around a text: TemplateProcessing, Bert-, Roberta-
 *     decoder          ByteLevel; Metaspace; Replace, ByteFallback, Fuse, Strip
 *
 * Added tokens are found in the text as it is, before it is normalized, also those with
 * "normalized" set. Truncation and padding are left out. The format is 1.0; another
 * version is refused.
 * @source hf-tokenizers-2020; radford2019 (characters that stand for bytes); kudo2018
 *         (a character that stands for a space: Metaspace)
 */
#include "tokenizer_json.h"

#include "utf8.h"

#include <string.h>

/* ---- text of tokens -------------------------------------------------------------- */

/* ByteLevel spells each byte as a character: printable ones as themselves, the others
 * from U+0100 on. @return -1: c stands for no byte */
static int byte_of_character(uint32_t c)
{
    const bool is_itself =
        (c >= '!' && c <= '~') || (c >= 0xA1 && c <= 0xAC) || (c >= 0xAE && c <= 0xFF);
    if (is_itself)
        return (int)c;
    if (c < 0x100 || c > 0x143)
        return -1;
    const int nth = (int)c - 0x100; /* of the bytes that are not themselves */
    if (nth < 0x21)
        return nth;
    return nth < 0x43 ? nth - 0x21 + 0x7F : 0xAD;
}

/* @return p NULL: the name has a character that stands for no byte */
static ridge_str bytes_of_name(ridge_ctx *cx, ridge_str name)
{
    char *out = ridge_new(ridge_ctx_arena(cx), char, name.n + 1);
    size_t n = 0;
    for (size_t at = 0; out != NULL && at < name.n;) {
        const size_t length = ridge__utf8_length(name, at);
        const int byte =
            length == 0 ? -1 : byte_of_character(ridge__utf8_value(name, at, length));
        if (byte < 0)
            return (ridge_str){NULL, 0};
        out[n++] = (char)byte;
        at += length;
    }
    return (ridge_str){out, n};
}

/* U+2581 stands for a space. */
static ridge_str words_of_name(ridge_ctx *cx, ridge_str name)
{
    char *out = ridge_new(ridge_ctx_arena(cx), char, name.n + 1);
    size_t n = 0;
    for (size_t at = 0; out != NULL && at < name.n;) {
        const bool is_mark =
            name.n - at >= 3 && memcmp(name.p + at, "\xE2\x96\x81", 3) == 0;
        out[n++] = is_mark ? ' ' : name.p[at];
        at += is_mark ? 3 : 1;
    }
    return (ridge_str){out, n};
}

static ridge_status spell_one(ridge__tokenizer_file *f, int64_t id, bool has_bytes)
{
    ridge_tokenizer *t = f->t;
    const ridge_str name = f->names[id];
    const int byte = has_bytes ? ridge__byte_token(name) : -1;
    if (t->splitter.is_byte_level) {
        const ridge_str text = bytes_of_name(f->cx, name);
        t->texts[id] = text.p == NULL ? name : text;
        if (text.p != NULL && text.n > 0)
            ridge__token_table_add(&t->names, text, (int32_t)id);
        if (text.p != NULL && text.n == 1)
            t->bytes[(unsigned char)text.p[0]] = (int32_t)id;
        return RIDGE_OK;
    }
    t->texts[id] = words_of_name(f->cx, name);
    if (t->texts[id].p == NULL)
        return ridge_fail_nomem(f->cx);
    ridge__token_table_add(&t->names, name, (int32_t)id);
    if (byte >= 0) {
        char *text = ridge_new(ridge_ctx_arena(f->cx), char, 1);
        if (text == NULL)
            return ridge_fail_nomem(f->cx);
        text[0] = (char)byte;
        t->texts[id] = (ridge_str){text, 1};
        t->bytes[byte] = (int32_t)id;
    }
    return RIDGE_OK;
}

/* Added tokens stand for their name, special ones for nothing. */
static void spell_added(ridge_tokenizer *t)
{
    for (size_t i = 0; i < t->added.n; i++) {
        const ridge__added_token *a = &t->added.tokens[i];
        t->texts[a->id] = a->is_special ? (ridge_str){NULL, 0} : a->text;
    }
}

static ridge_status spell_tokens(ridge__tokenizer_file *f)
{
    ridge_tokenizer *t = f->t;
    const ridge_node model = ridge_json_get(&f->root, "model");
    bool has_bytes = false;
    ridge_json_bool(ridge_json_get(&model, "byte_fallback"), &has_bytes);
    t->texts = ridge_new(ridge_ctx_arena(f->cx), ridge_str, (size_t)t->n);
    if (t->texts == NULL)
        return ridge_fail_nomem(f->cx);
    RIDGE_TRY(ridge__token_table_open(f->cx, (size_t)t->n, &t->names));
    for (int64_t id = 0; id < t->n; id++) {
        if (f->names[id].p != NULL)
            RIDGE_TRY(spell_one(f, id, has_bytes));
    }
    spell_added(t);
    return RIDGE_OK;
}

/* ---- rules of the model ---------------------------------------------------------- */

static ridge_status refuse_if_set(const ridge__tokenizer_file *f,
                                  const ridge_node *model, const char *key)
{
    const ridge_node n = ridge_json_get(model, key);
    const char *text = "";
    double value = 0.0;
    ridge_json_text(n, &text);
    ridge_json_double(n, &value);
    if (ridge_json_is_absent(n) || (text[0] == '\0' && value == 0.0))
        return RIDGE_OK;
    return ridge_json_fail(f->cx, n,
                           "a tokenizer with %s is one that Ridge does not have", key);
}

static ridge_status read_unknown(ridge__tokenizer_file *f, const ridge_node *model)
{
    const ridge_node place = ridge_json_get(model, "unk_token");
    const char *name;
    if (!ridge_json_text(place, &name))
        return RIDGE_OK;
    f->t->unknown = ridge__token_table_find(&f->ids, ridge__tokenizer_string(f, name));
    if (f->t->unknown < 0)
        return ridge_json_fail(f->cx, place, "\"%s\" is not in the vocabulary", name);
    return RIDGE_OK;
}

static bool has_all_bytes(const ridge_tokenizer *t)
{
    size_t n = 0;
    while (n < RIDGE_COUNT_OF(t->bytes) && t->bytes[n] >= 0)
        n++;
    return n == RIDGE_COUNT_OF(t->bytes);
}

static ridge_status read_rules(ridge__tokenizer_file *f)
{
    static const char *const REFUSED[] = {"dropout", "continuing_subword_prefix",
                                          "end_of_word_suffix"};
    const ridge_node model = ridge_json_get(&f->root, "model");
    ridge_tokenizer *t = f->t;
    for (size_t i = 0; i < RIDGE_COUNT_OF(REFUSED); i++)
        RIDGE_TRY(refuse_if_set(f, &model, REFUSED[i]));
    ridge_json_bool(ridge_json_get(&model, "ignore_merges"), &t->is_piece_looked_up);
    ridge_json_bool(ridge_json_get(&model, "fuse_unk"), &t->is_unknown_fused);
    RIDGE_TRY(read_unknown(f, &model));
    /* Fused unknown characters may reach across words, if there can be any. */
    const bool may_fuse = t->is_unknown_fused && !has_all_bytes(t);
    const bool may_cut =
        !t->splitter.is_byte_level && !t->is_piece_looked_up && !may_fuse;
    if (may_cut && ridge__mark_starts_words(f->names, t->n, "\xE2\x96\x81"))
        t->word_mark = "\xE2\x96\x81";
    return RIDGE_OK;
}

static ridge_status check_kind(const ridge__tokenizer_file *f)
{
    const char *type = "BPE", *version = "1.0";
    const ridge_node model = ridge_json_get(&f->root, "model");
    const ridge_node place = ridge_json_get(&f->root, "version");
    if (ridge_json_kind_of(model) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(f->cx, model, "no \"model\": this is no tokenizer.json");
    ridge_json_text(place, &version);
    if (!ridge_str_is(ridge_str_of(version), "1.0"))
        return ridge_json_fail(f->cx, place, "version %s: Ridge reads 1.0", version);
    ridge_json_text(ridge_json_get(&model, "type"), &type);
    if (ridge_str_is(ridge_str_of(type), "BPE"))
        return RIDGE_OK;
    return ridge_json_fail(f->cx, model, "a model of type %s: Ridge has BPE", type);
}

/* ---- all ------------------------------------------------------------------------- */

static ridge_status read_all(ridge__tokenizer_file *f, int64_t vocab)
{
    ridge_tokenizer *t = f->t;
    RIDGE_TRY(check_kind(f));
    RIDGE_TRY(ridge__tokenizer_read_tokens(f));
    RIDGE_TRY(ridge__tokenizer_fit(f->cx, t, vocab));
    RIDGE_TRY(ridge__normalizer_read(f->cx, ridge_json_get(&f->root, "normalizer"),
                                     &t->normalizer));
    RIDGE_TRY(ridge__splitter_read(f->cx, ridge_json_get(&f->root, "pre_tokenizer"),
                                   &t->splitter));
    RIDGE_TRY(spell_tokens(f));
    RIDGE_TRY(ridge__tokenizer_read_merges(f));
    RIDGE_TRY(read_rules(f));
    return ridge__tokenizer_read_around(f);
}

static ridge_status parse_json(ridge_ctx *cx, ridge_str text, const char *file,
                               int64_t vocab, ridge_tokenizer **out)
{
    ridge__tokenizer_file f = {.cx = cx};
    RIDGE_TRY(ridge__tokenizer_new(cx, RIDGE_TOKENIZER_BPE, file, &f.t));
    RIDGE_TRY(ridge__replace_nul(cx, &text, &f.nul));
    RIDGE_TRY(ridge_json_parse(cx, text, file, &f.root));
    RIDGE_TRY(read_all(&f, vocab));
    *out = f.t;
    return RIDGE_OK;
}

ridge_status ridge_tokenizer_parse_json(ridge_ctx *cx, ridge_str text, const char *file,
                                        int64_t vocab, const ridge_tokenizer **out)
{
    ridge_tokenizer *t;
    RIDGE_TRY(parse_json(cx, text, file, vocab, &t));
    *out = t;
    return RIDGE_OK;
}

ridge_status ridge__tokenizer_open_json(ridge_ctx *cx, ridge_str text, const char *file,
                                        int64_t vocab, const ridge_tokenizer **out)
{
    ridge_tokenizer *t;
    RIDGE_TRY(parse_json(cx, text, file, vocab, &t));
    RIDGE_TRY(ridge__tokenizer_read_config(cx, t));
    *out = t;
    return RIDGE_OK;
}
