/*
 * The tokenizer.bin of llama2.c, little endian:
 *
 *     int32    bytes of the longest token
 *     for each token, to the end of the file:
 *         float32  score: of two neighbours whose text together is a token, those with
 *                  the highest score are joined first
 *         int32    bytes of its text
 *         bytes    its text; "<0x0A>" stands for that byte
 *
 * Ids 0, 1, 2 are unknown, start and end of a text; ids 3 to 258 are the bytes. The
 * format has no version.
 * @source karpathy2023-llama2c (tokenizer.py, run.c)
 */
#include "tokenizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOS = 1, EOS = 2, FIRST_BYTE = 3, HEAD_BYTES = 4, ENTRY_BYTES = 8 };

typedef struct scored {
    float score;
    int32_t left, right, id;
} scored;

typedef struct llama2c_reader {
    ridge_ctx *cx;
    ridge_str bytes;
    ridge_tokenizer *t;
    float *scores;    /* [t->n] */
    ridge_str *names; /* [t->n] as they stand in the file */
} llama2c_reader;

static int32_t int_at(ridge_str bytes, size_t at)
{
    int32_t v;
    memcpy(&v, bytes.p + at, sizeof v);
    return v;
}

/* ---- the file -------------------------------------------------------------------- */

static ridge_status count_tokens(llama2c_reader *r, int64_t *out)
{
    const ridge_str b = r->bytes;
    int64_t n = 0;
    if (b.n < HEAD_BYTES || int_at(b, 0) < 1) {
        return ridge_fail(r->cx, RIDGE_E_PARSE,
                          "%s: neither a tokenizer.json nor a "
                          "tokenizer.bin of llama2.c",
                          r->t->file);
    }
    for (size_t at = HEAD_BYTES; at < b.n; n++) {
        const int64_t length = b.n - at < ENTRY_BYTES ? -1 : int_at(b, at + 4);
        if (length < 0 || (uint64_t)length > b.n - at - ENTRY_BYTES ||
            length > int_at(b, 0)) {
            return ridge_fail(r->cx, RIDGE_E_PARSE,
                              "%s: token %lld at byte %zu goes beyond the file or the "
                              "longest token: the file is cut or no tokenizer.bin",
                              r->t->file, (long long)n, at);
        }
        at += ENTRY_BYTES + (size_t)length;
    }
    *out = n;
    if (n > FIRST_BYTE)
        return RIDGE_OK;
    return ridge_fail(r->cx, RIDGE_E_PARSE,
                      "%s: %lld tokens: it needs more than its "
                      "three marks",
                      r->t->file, (long long)n);
}

/* Text of a token; "<0x0A>" is that byte. */
static ridge_str text_of(const ridge_tokenizer *bytes, ridge_str name)
{
    const int byte = ridge__byte_token(name);
    return byte < 0 ? name : bytes->texts[byte];
}

static ridge_status read_tokens(llama2c_reader *r, const ridge_tokenizer *bytes)
{
    size_t at = HEAD_BYTES;
    ridge_tokenizer *t = r->t;
    for (int64_t i = 0; i < t->n; i++) {
        const size_t length = (size_t)int_at(r->bytes, at + 4);
        memcpy(&r->scores[i], r->bytes.p + at, sizeof r->scores[i]);
        r->names[i] = (ridge_str){r->bytes.p + at + ENTRY_BYTES, length};
        t->texts[i] = text_of(bytes, r->names[i]);
        if (isnan(r->scores[i])) {
            return ridge_fail(r->cx, RIDGE_E_PARSE,
                              "%s: the score of token %lld is no "
                              "number",
                              t->file, (long long)i);
        }
        ridge__token_table_add(&t->names, r->names[i], (int32_t)i);
        at += ENTRY_BYTES + length;
    }
    for (int i = 0; i < 256 && FIRST_BYTE + i < t->n; i++)
        t->bytes[i] = FIRST_BYTE + i;
    return RIDGE_OK;
}

/* ---- merges ---------------------------------------------------------------------- */

/* Every way to make a token of two others. @param out  NULL: they are counted alone */
static size_t find_pairs(const llama2c_reader *r, int64_t id, scored *out)
{
    const ridge_str name = r->names[id];
    size_t n = 0;
    if (ridge__token_table_find(&r->t->names, name) != (int32_t)id)
        return 0;
    for (size_t cut = 1; cut < name.n; cut++) {
        const int32_t left =
            ridge__token_table_find(&r->t->names, (ridge_str){name.p, cut});
        const int32_t right = ridge__token_table_find(
            &r->t->names, (ridge_str){name.p + cut, name.n - cut});
        if (left < 0 || right < 0)
            continue;
        if (out != NULL)
            out[n] = (scored){r->scores[id], left, right, (int32_t)id};
        n++;
    }
    return n;
}

static int by_score(const void *pa, const void *pb)
{
    const scored *a = pa, *b = pb;
    return a->score > b->score ? -1 : a->score < b->score;
}

/* Merges of equal score have one rank: then the leftmost goes first. */
static ridge_status rank_pairs(llama2c_reader *r)
{
    ridge_tokenizer *t = r->t;
    size_t n = 0, filled = 0;
    for (int64_t i = 0; i < t->n; i++)
        n += find_pairs(r, i, NULL);
    scored *pairs = ridge_new(ridge_ctx_scratch(r->cx), scored, n);
    if (pairs == NULL)
        return ridge_fail_nomem(r->cx);
    for (int64_t i = 0; i < t->n; i++)
        filled += find_pairs(r, i, pairs + filled);
    if (n > 0)
        qsort(pairs, n, sizeof *pairs, by_score);
    RIDGE_TRY(ridge__merge_table_open(r->cx, n, &t->merges));
    int32_t rank = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && pairs[i].score < pairs[i - 1].score)
            rank++;
        ridge__merge_table_add(&t->merges, pairs[i].left, pairs[i].right,
                               (ridge__merge){rank, pairs[i].id});
    }
    return RIDGE_OK;
}

/* ---- all ------------------------------------------------------------------------- */

static void set_rules(ridge_tokenizer *t)
{
    t->bos = BOS;
    t->eos = EOS;
    t->before = (ridge__around){1, {BOS}};
    t->is_space_stripped_behind_bos = true;
    t->texts[0] = t->texts[BOS] = t->texts[EOS] = (ridge_str){NULL, 0};
    t->normalizer.n = 1;
    t->normalizer.steps[0] =
        (ridge__normal_step){.kind = RIDGE__NORMAL_PREPEND, .to = {" ", 1}};
    if (ridge__mark_starts_words(t->texts, t->n, " "))
        t->word_mark = " ";
}

static ridge_status read_all(llama2c_reader *r, int64_t vocab)
{
    ridge_arena *arena = ridge_ctx_arena(r->cx);
    const ridge_tokenizer *bytes;
    ridge_tokenizer *t = r->t;
    RIDGE_TRY(count_tokens(r, &t->n));
    RIDGE_TRY(ridge__tokenizer_fit(r->cx, t, vocab));
    RIDGE_TRY(ridge__tokenizer_open_bytes(r->cx, 0, &bytes));
    r->scores = ridge_new(ridge_ctx_scratch(r->cx), float, (size_t)t->n);
    r->names = ridge_new(arena, ridge_str, (size_t)t->n);
    t->texts = ridge_new(arena, ridge_str, (size_t)t->n);
    if (r->scores == NULL || r->names == NULL || t->texts == NULL)
        return ridge_fail_nomem(r->cx);
    RIDGE_TRY(ridge__token_table_open(r->cx, (size_t)t->n, &t->names));
    RIDGE_TRY(read_tokens(r, bytes));
    RIDGE_TRY(rank_pairs(r));
    set_rules(t);
    return RIDGE_OK;
}

ridge_status ridge_tokenizer_parse_llama2c(ridge_ctx *cx, ridge_str bytes,
                                           const char *file, int64_t vocab,
                                           const ridge_tokenizer **out)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    llama2c_reader r = {.cx = cx};
    RIDGE_TRY(ridge__tokenizer_new(cx, RIDGE_TOKENIZER_LLAMA2C, file, &r.t));
    const char *copy = ridge_str_dup(ridge_ctx_arena(cx), bytes);
    if (copy == NULL)
        return ridge_fail_nomem(cx);
    r.bytes = (ridge_str){copy, bytes.n};
    const ridge_status st = read_all(&r, vocab);
    ridge_arena_rewind(scratch, mark);
    if (st == RIDGE_OK)
        *out = r.t;
    return st;
}
