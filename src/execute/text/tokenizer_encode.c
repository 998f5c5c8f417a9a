/*
 * Text to ids: names of special tokens are cut out; what stands between is normalized,
 * cut into pieces, and each piece is a sequence of bytes or characters whose neighbours
 * are joined.
 */
#include "bpe.h"
#include "id_list.h"
#include "piece_cache.h"
#include "tokenizer.h"
#include "utf8.h"

#include <string.h>

typedef struct encoder {
    ridge_ctx *cx;
    const ridge_tokenizer *t;
    ridge_str text; /* for offsets in messages */
    ridge__split_work split;
    ridge__piece_cache cache;
    ridge__bpe_work bpe;
    ridge__id_list symbols; /* of one piece */
    ridge__id_list out;
    int64_t pieces;
} encoder;

enum { CANCEL_EVERY = 4096 };

/* ---- symbols of a piece ---------------------------------------------------------- */

/* Offsets are told where the piece lies in the text itself. */
static ridge_status fail_symbol(const encoder *e, ridge_str piece, size_t at, size_t n)
{
    const char *p = piece.p + at;
    const char *place = "";
    if (p >= e->text.p && p < e->text.p + e->text.n) {
        place = ridge_sprintf(ridge_ctx_arena(e->cx), " at byte %zu",
                              (size_t)(p - e->text.p));
    }
    if (n == 0 || e->t->splitter.is_byte_level) {
        return ridge_fail(e->cx, RIDGE_E_PARSE,
                          "the text has the byte 0x%02x%s, for which %s has no token: "
                          "%s",
                          (unsigned)(unsigned char)*p, place == NULL ? "" : place,
                          e->t->file,
                          n == 0 ? "make it UTF-8" : "take another tokenizer");
    }
    return ridge_fail(e->cx, RIDGE_E_PARSE,
                      "the text has the character '%.*s'%s, for which %s has no token: "
                      "take another tokenizer",
                      (int)n, p, place == NULL ? "" : place, e->t->file);
}

static ridge_status add_unknown(encoder *e, ridge_str piece, size_t at, size_t n)
{
    const ridge_tokenizer *t = e->t;
    if (t->unknown < 0)
        return fail_symbol(e, piece, at, n);
    const size_t have = e->symbols.n;
    if (!t->is_unknown_fused || have == 0 || e->symbols.ids[have - 1] != t->unknown)
        ridge__id_list_add(&e->symbols, &t->unknown, 1);
    return RIDGE_OK;
}

static ridge_status add_bytes(encoder *e, ridge_str piece)
{
    for (size_t i = 0; i < piece.n; i++) {
        const int32_t id = e->t->bytes[(unsigned char)piece.p[i]];
        if (id < 0)
            RIDGE_TRY(add_unknown(e, piece, i, 1));
        else
            ridge__id_list_add(&e->symbols, &id, 1);
    }
    return RIDGE_OK;
}

static bool has_bytes(const ridge_tokenizer *t, ridge_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (t->bytes[(unsigned char)s.p[i]] < 0)
            return false;
    }
    return true;
}

/* A token a character; where there is none, a token for each of its bytes. */
static ridge_status add_characters(encoder *e, ridge_str piece)
{
    for (size_t at = 0; at < piece.n;) {
        const size_t n = ridge__utf8_length(piece, at);
        const ridge_str c = {piece.p + at, n == 0 ? 1 : n};
        const int32_t id = n == 0 ? -1 : ridge__token_table_find(&e->t->names, c);
        if (id >= 0)
            ridge__id_list_add(&e->symbols, &id, 1);
        else if (has_bytes(e->t, c))
            RIDGE_TRY(add_bytes(e, c));
        else
            RIDGE_TRY(add_unknown(e, piece, at, n));
        at += c.n;
    }
    return RIDGE_OK;
}

/* ---- pieces ---------------------------------------------------------------------- */

static ridge_status merge_piece(encoder *e, ridge_str piece)
{
    const ridge_tokenizer *t = e->t;
    e->symbols.n = 0;
    if (piece.n > INT32_MAX / 4) {
        return ridge_fail(e->cx, RIDGE_E_ARG, "%s without a cut: split the file",
                          ridge_format_bytes((double)piece.n).s);
    }
    if (t->is_piece_looked_up) {
        const int32_t id = ridge__token_table_find(&t->names, piece);
        if (id >= 0) {
            ridge__id_list_add(&e->symbols, &id, 1);
            return e->symbols.is_short ? ridge_fail_nomem(e->cx) : RIDGE_OK;
        }
    }
    ridge__id_list_reserve(&e->symbols, piece.n);
    if (t->splitter.is_byte_level)
        RIDGE_TRY(add_bytes(e, piece));
    else
        RIDGE_TRY(add_characters(e, piece));
    if (e->symbols.is_short)
        return ridge_fail_nomem(e->cx);
    return ridge__bpe_merge(e->cx, &t->merges, &e->bpe, e->symbols.ids, &e->symbols.n);
}

static ridge_status encode_piece(encoder *e, ridge_str piece)
{
    ridge__piece_slot *slot = ridge__piece_cache_slot(&e->cache, piece);
    if (++e->pieces % CANCEL_EVERY == 0 && ridge_ctx_is_cancelled(e->cx))
        return ridge_fail(e->cx, RIDGE_E_CANCELLED, "cancelled while encoding text");
    if (slot != NULL && ridge__piece_slot_holds(slot, piece)) {
        ridge__id_list_add(&e->out, slot->ids, slot->n_ids);
        return RIDGE_OK;
    }
    RIDGE_TRY(merge_piece(e, piece));
    ridge__id_list_add(&e->out, e->symbols.ids, e->symbols.n);
    if (slot != NULL)
        ridge__piece_slot_keep(slot, piece, e->symbols.ids, e->symbols.n);
    return RIDGE_OK;
}

/* Where the word at @p at ends: before a mark that follows something else. */
static size_t word_end(ridge_str text, size_t at, const char *mark, size_t n)
{
    bool is_other = false;
    while (at < text.n) {
        const bool is_mark = text.n - at >= n && memcmp(text.p + at, mark, n) == 0;
        if (is_mark && is_other)
            break;
        is_other = is_other || !is_mark;
        at += is_mark ? n : 1;
    }
    return at;
}

static ridge_status take_piece(void *payload, ridge_str piece)
{
    encoder *e = payload;
    const char *mark = e->t->word_mark;
    const size_t n = mark == NULL ? 0 : strlen(mark);
    for (size_t at = 0; at < piece.n;) {
        const size_t end = mark == NULL ? piece.n : word_end(piece, at, mark, n);
        RIDGE_TRY(encode_piece(e, (ridge_str){piece.p + at, end - at}));
        at = end;
    }
    return e->out.is_short ? ridge_fail_nomem(e->cx) : RIDGE_OK;
}

/* ---- text ------------------------------------------------------------------------ */

static ridge_status encode_between(encoder *e, ridge_str text, bool is_first)
{
    if (text.n == 0)
        return RIDGE_OK;
    RIDGE_TRY(ridge__normalizer_apply(e->cx, &e->t->normalizer, &text));
    const ridge__split_text cut = {text, is_first, take_piece, e};
    return ridge__splitter_cut(&e->split, &cut);
}

static ridge_status encode_all(encoder *e, unsigned how)
{
    const ridge_tokenizer *t = e->t;
    static const ridge__added_tokens NONE = {0};
    const ridge__added_tokens *added =
        (how & RIDGE_ENCODE_PLAIN) != 0 ? &NONE : &t->added;
    const bool has_around = (how & RIDGE_ENCODE_BOS) != 0;
    if (has_around)
        ridge__id_list_add(&e->out, t->before.ids, (size_t)t->before.n);
    for (size_t at = 0; at < e->text.n;) {
        const ridge__added_place p = ridge__added_tokens_find(added, e->text, at);
        RIDGE_TRY(
            encode_between(e, (ridge_str){e->text.p + at, p.start - at}, at == 0));
        if (p.token != NULL)
            ridge__id_list_add(&e->out, &p.token->id, 1);
        at = p.end;
    }
    if (has_around)
        ridge__id_list_add(&e->out, t->after.ids, (size_t)t->after.n);
    return e->out.is_short ? ridge_fail_nomem(e->cx) : RIDGE_OK;
}

static ridge_status keep_ids(const encoder *e, ridge_tokens *out)
{
    int32_t *ids = ridge_new(ridge_ctx_arena(e->cx), int32_t, e->out.n);
    if (ids == NULL)
        return ridge_fail_nomem(e->cx);
    if (e->out.n > 0)
        memcpy(ids, e->out.ids, e->out.n * sizeof *ids);
    *out = (ridge_tokens){ids, e->out.n};
    return RIDGE_OK;
}

static ridge_status encode_bytes(ridge_ctx *cx, ridge_str text, ridge_tokens *out)
{
    int32_t *ids = ridge_new(ridge_ctx_arena(cx), int32_t, text.n);
    if (ids == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < text.n; i++)
        ids[i] = (unsigned char)text.p[i];
    *out = (ridge_tokens){ids, text.n};
    return RIDGE_OK;
}

ridge_status ridge_tokenizer_encode(ridge_ctx *cx, const ridge_tokenizer *t,
                                    ridge_str text, unsigned how, ridge_tokens *out)
{
    if (t->kind == RIDGE_TOKENIZER_BYTES)
        return encode_bytes(cx, text, out);
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    encoder e = {.cx = cx, .t = t, .text = text};
    e.symbols.arena = e.out.arena = scratch;
    if (text.n > RIDGE__PIECE_SLOTS) /* short texts have few words twice */
        e.cache.slots = ridge_new(scratch, ridge__piece_slot, RIDGE__PIECE_SLOTS);
    ridge_status st = ridge__split_work_open(cx, &t->splitter, &e.split);
    if (st == RIDGE_OK) {
        st = encode_all(&e, how);
        ridge__split_work_close(&e.split);
    }
    if (st == RIDGE_OK)
        st = keep_ids(&e, out);
    ridge_arena_rewind(scratch, mark);
    return st;
}
