/*
 * Reading token data: text is encoded in pieces that end between a line end and a word,
 * where no tokenizer on bytes joins anything; .bin files are mapped and checked.
 *
 *     nanoGPT   uint16 ids
 *     llm.c     int32 x 256: magic, version, number of ids, zeros; then the ids
 *                   magic 20240520, version 1: uint16
 *                   magic 20240801, version 7: uint32
 *     A version of these that is newer is refused.
 */
#include "mapped_file.h"
#include "text_files.h"
#include "token_data.h"
#include "tokenizer.h"

#include <string.h>

enum {
    PIECE_BYTES = 1 << 22,
    HEADER_BYTES = 1024,
    GPT2_MAGIC = 20240520,
    GPT2_VERSION = 1,
    LLAMA3_MAGIC = 20240801,
    LLAMA3_VERSION = 7
};

typedef struct data_reader {
    ridge_ctx *cx;
    const ridge_tokenizer *t;
    const ridge_data_options *options;
    ridge_token_data *data;
    size_t cap;
} data_reader;

static ridge_status add_segment(data_reader *r, ridge__token_segment s)
{
    ridge_token_data *d = r->data;
    if (s.n == 0)
        return RIDGE_OK;
    if (d->n_segments == r->cap) {
        const size_t cap = 2 * r->cap + 16;
        ridge__token_segment *more =
            ridge_new(ridge_ctx_arena(r->cx), ridge__token_segment, cap);
        if (more == NULL)
            return ridge_fail_nomem(r->cx);
        if (d->n_segments > 0)
            memcpy(more, d->segments, d->n_segments * sizeof *more);
        d->segments = more;
        r->cap = cap;
    }
    s.first = d->n;
    d->segments[d->n_segments++] = s;
    d->n += s.n;
    return RIDGE_OK;
}

/* ---- text ------------------------------------------------------------------------ */

/* Whether pieces of a text have the tokens of the whole: nothing is put before a text,
 * and no name of a token goes over lines. */
static bool may_cut(const ridge_tokenizer *t)
{
    if (t->kind == RIDGE_TOKENIZER_BYTES)
        return true;
    bool may = t->splitter.is_byte_level;
    for (int i = 0; i < t->normalizer.n; i++)
        may = may && t->normalizer.steps[i].kind != RIDGE__NORMAL_PREPEND &&
              t->normalizer.steps[i].kind != RIDGE__NORMAL_REPLACE;
    for (int i = 0; i < t->splitter.n; i++)
        may = may && !t->splitter.steps[i].has_word_space;
    for (size_t i = 0; i < t->added.n; i++)
        may = may && memchr(t->added.tokens[i].text.p, '\n',
                            t->added.tokens[i].text.n) == NULL;
    return may;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t piece_end(ridge_str text, size_t at)
{
    size_t end = at + PIECE_BYTES;
    while (end < text.n && !(text.p[end - 1] == '\n' && is_letter(text.p[end])))
        end++;
    return end < text.n ? end : text.n;
}

static ridge_status add_piece(data_reader *r, ridge_str text, unsigned how)
{
    ridge_tokens ids;
    RIDGE_TRY(ridge_tokenizer_encode(r->cx, r->t, text, how, &ids));
    return add_segment(r, (ridge__token_segment){.n = (int64_t)ids.n, .ids = ids.ids});
}

static ridge_status add_around(data_reader *r, const ridge__around *around)
{
    return add_segment(r, (ridge__token_segment){.n = around->n, .ids = around->ids});
}

static ridge_status add_text(data_reader *r, ridge_str text)
{
    const unsigned how = r->options->how;
    if (text.n <= PIECE_BYTES || !may_cut(r->t))
        return add_piece(r, text, how);
    const bool has_around = (how & RIDGE_ENCODE_BOS) != 0;
    if (has_around)
        RIDGE_TRY(add_around(r, &r->t->before));
    for (size_t at = 0; at < text.n;) {
        const size_t end = piece_end(text, at);
        RIDGE_TRY(add_piece(r, (ridge_str){text.p + at, end - at},
                            how & ~(unsigned)RIDGE_ENCODE_BOS));
        at = end;
    }
    return has_around ? add_around(r, &r->t->after) : RIDGE_OK;
}

static ridge_status read_text(data_reader *r, const char *path)
{
    ridge__mapped_file file;
    if (r->t == NULL) {
        return ridge_fail(r->cx, RIDGE_E_ARG,
                          "%s: text needs a tokenizer: name a "
                          "tokenizer.json, or \"bytes\"",
                          path);
    }
    RIDGE_TRY(ridge__mapped_file_open(r->cx, path, &file));
    const ridge_status st = add_text(r, (ridge_str){(const char *)file.p, file.n});
    if (st != RIDGE_OK)
        ridge_ctx_note(r->cx, "%s", path);
    return st;
}

/* ---- ids ------------------------------------------------------------------------- */

static uint32_t word_at(const unsigned char *p, size_t index)
{
    const unsigned char *q = p + 4 * index;
    return (uint32_t)q[0] | (uint32_t)q[1] << 8 | (uint32_t)q[2] << 16 |
           (uint32_t)q[3] << 24;
}

/* @param s  in: all of the file as nanoGPT's; out: without the header, if there is one
 */
static ridge_status skip_header(data_reader *r, const ridge__mapped_file *f,
                                ridge__token_segment *s)
{
    const uint32_t magic = f->n < HEADER_BYTES ? 0 : word_at(f->p, 0);
    const bool is_gpt2 = magic == GPT2_MAGIC, is_llama3 = magic == LLAMA3_MAGIC;
    if (!is_gpt2 && !is_llama3)
        return RIDGE_OK;
    const uint32_t version = word_at(f->p, 1);
    if (version != (is_gpt2 ? GPT2_VERSION : LLAMA3_VERSION)) {
        return ridge_fail(r->cx, RIDGE_E_PARSE,
                          "%s: a token file of version %u: Ridge "
                          "reads %d",
                          f->path, (unsigned)version,
                          is_gpt2 ? GPT2_VERSION : LLAMA3_VERSION);
    }
    s->width = is_gpt2 ? 2 : 4;
    s->stored = f->p + HEADER_BYTES;
    s->n = (int64_t)((f->n - HEADER_BYTES) / (size_t)s->width);
    if (s->n == (int64_t)word_at(f->p, 2) &&
        (f->n - HEADER_BYTES) % (size_t)s->width == 0)
        return RIDGE_OK;
    return ridge_fail(r->cx, RIDGE_E_PARSE,
                      "%s: %lld tokens, but its header says %u: the "
                      "file is cut",
                      f->path, (long long)s->n, (unsigned)word_at(f->p, 2));
}

static ridge_status check_ids(data_reader *r, const char *path,
                              const ridge__token_segment *s)
{
    const int64_t vocab = r->options->vocab;
    for (int64_t i = 0; i < s->n; i++) {
        const int32_t id = ridge__token_segment_id(s, i);
        if (id < 0 || (vocab > 0 && id >= vocab)) {
            return ridge_fail(
                r->cx, RIDGE_E_PARSE,
                "%s: token %lld is %u, but the model's vocabulary is %lld: "
                "take data of this model's tokenizer",
                path, (long long)i, (unsigned)id, (long long)vocab);
        }
    }
    return RIDGE_OK;
}

static ridge_status read_ids(data_reader *r, const char *path)
{
    ridge__mapped_file file;
    RIDGE_TRY(ridge__mapped_file_open(r->cx, path, &file));
    ridge__token_segment s = {.stored = file.p, .width = 2, .n = (int64_t)(file.n / 2)};
    RIDGE_TRY(skip_header(r, &file, &s));
    if (s.stored == file.p && file.n % 2 != 0) {
        return ridge_fail(r->cx, RIDGE_E_PARSE,
                          "%s: an odd number of bytes: ids have 2 "
                          "each",
                          path);
    }
    RIDGE_TRY(check_ids(r, path, &s));
    return add_segment(r, s);
}

/* ---- all ------------------------------------------------------------------------- */

static ridge_status read_files(data_reader *r, const ridge__text_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        const char *path = files->paths[i];
        if (ridge__is_token_file(path))
            RIDGE_TRY(read_ids(r, path));
        else
            RIDGE_TRY(read_text(r, path));
        if (i + 1 < files->n && r->t != NULL && r->t->eos >= 0)
            RIDGE_TRY(
                add_segment(r, (ridge__token_segment){.n = 1, .ids = &r->t->eos}));
    }
    return RIDGE_OK;
}

/* Bytes of text of each part. */
static void sum_bytes(const data_reader *r)
{
    ridge_token_data *d = r->data;
    for (size_t i = 0; r->t != NULL && i < d->n_segments; i++) {
        const ridge__token_segment *s = &d->segments[i];
        for (int64_t k = 0; k < s->n; k++) {
            const int32_t id = ridge__token_segment_id(s, k);
            d->bytes[s->first + k < d->n_train ? RIDGE_DATA_TRAIN : RIDGE_DATA_EVAL] +=
                (double)ridge_tokenizer_token(r->t, id).n;
        }
    }
}

ridge_status ridge_token_data_open(ridge_ctx *cx, const ridge_tokenizer *t,
                                   const char *const *paths, int n,
                                   const ridge_data_options *options,
                                   const ridge_token_data **out)
{
    ridge__text_files files;
    data_reader r = {.cx = cx, .t = t, .options = options};
    if (!(options->eval_fraction >= 0.0 && options->eval_fraction <= 0.5)) {
        return ridge_fail(cx, RIDGE_E_ARG, "a part of %g to evaluate with: 0 to 0.5",
                          options->eval_fraction);
    }
    if (t != NULL)
        RIDGE_TRY(ridge__tokenizer_fit(cx, t, options->vocab));
    RIDGE_TRY(ridge__text_files_find(cx, paths, n, &files));
    r.data = ridge_new(ridge_ctx_arena(cx), ridge_token_data, 1);
    if (r.data == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(read_files(&r, &files));
    if (r.data->n == 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "no tokens to train on: the files are empty");
    r.data->n_train = r.data->n - (int64_t)((double)r.data->n * options->eval_fraction);
    sum_bytes(&r);
    *out = r.data;
    return RIDGE_OK;
}
