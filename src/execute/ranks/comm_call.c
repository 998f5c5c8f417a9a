/* Calls as values: whether those of two ranks match and how they read. */
#include "comm_call.h"

static const char *const kind_texts[] = {
#define KIND_TEXT(name, text) [RIDGE__CALL_##name] = text,
    RIDGE__CALL_KIND_LIST(KIND_TEXT)
#undef KIND_TEXT
};

static const char *const element_texts[] = {
    [RIDGE_ELEMENT_F32] = "f32",
    [RIDGE_ELEMENT_BF16] = "bf16",
    [RIDGE_ELEMENT_I32] = "i32",
};

const char *ridge__call_kind_text(ridge__call_kind kind)
{
    return kind_texts[kind];
}

ridge__call_signature ridge__call_signature_of(const ridge__comm_call *call)
{
    return (ridge__call_signature){
        .kind = (int64_t)call->kind,
        .element = (int64_t)call->element,
        .reduce = (int64_t)call->reduce,
        .peer = call->peer,
        .outer = call->cut.outer,
        .full = call->cut.full,
        .inner = call->cut.inner,
        .n = call->n,
    };
}

bool ridge__call_signature_equal(const ridge__call_signature *a,
                                 const ridge__call_signature *b)
{
    return a->kind == b->kind && a->element == b->element && a->reduce == b->reduce &&
           a->peer == b->peer && a->outer == b->outer && a->full == b->full &&
           a->inner == b->inner && a->n == b->n;
}

/* ---- text ------------------------------------------------------------------------ */

/** What a kind says beside its name, its element and its size. */
static void write_rest(const ridge__call_signature *s, char *out, size_t room)
{
    out[0] = '\0';
    if (s->kind == RIDGE__CALL_BROADCAST)
        snprintf(out, room, " from rank %d of the group", (int)s->peer);
    else if (s->kind == RIDGE__CALL_PERMUTE)
        snprintf(out, room, " shifted by %d", (int)s->peer);
    else if (s->kind == RIDGE__CALL_ALL_REDUCE && s->reduce == RIDGE_REDUCE_MAX)
        snprintf(out, room, " (largest)");
}

ridge__call_text ridge__call_signature_text(const ridge__call_signature *s)
{
    ridge__call_text text;
    const char *kind = kind_texts[s->kind];
    const char *element = element_texts[s->element];
    char rest[48];
    write_rest(s, rest, sizeof rest);
    if (s->kind == RIDGE__CALL_BARRIER)
        snprintf(text.s, sizeof text.s, "%s", kind);
    else if (s->kind == RIDGE__CALL_ALL_GATHER || s->kind == RIDGE__CALL_REDUCE_SCATTER)
        snprintf(text.s, sizeof text.s, "%s of %s [%lld, %lld, %lld]", kind, element,
                 (long long)s->outer, (long long)s->full, (long long)s->inner);
    else
        snprintf(text.s, sizeof text.s, "%s of %lld %s%s%s", kind, (long long)s->n,
                 element, s->kind == RIDGE__CALL_RAGGED ? " a row" : "", rest);
    return text;
}

ridge_status ridge__call_fail_mismatch(ridge_ctx *cx, int rank_a,
                                       const ridge__call_signature *a, int rank_b,
                                       const ridge__call_signature *b)
{
    if (rank_b < rank_a)
        return ridge__call_fail_mismatch(cx, rank_b, b, rank_a, a);
    return ridge_fail(cx, RIDGE_E_IO,
                      "rank %d calls %s, rank %d %s: the ranks of a group start the "
                      "same collectives in the same order",
                      rank_a, ridge__call_signature_text(a).s, rank_b,
                      ridge__call_signature_text(b).s);
}

ridge_status ridge__call_fail_rows(ridge_ctx *cx, int rank_a, int sent, int rank_b,
                                   int received)
{
    return ridge_fail(cx, RIDGE_E_IO,
                      "rank %d sends %d rows in ragged all-to-all to rank %d, which "
                      "receives %d: exchange the counts first",
                      rank_a, sent, rank_b, received);
}

ridge_status ridge__call_fail_message(ridge_ctx *cx, int rank_a,
                                      const ridge__call_signature *sent, int rank_b,
                                      const ridge__call_signature *received, int tag)
{
    return ridge_fail(cx, RIDGE_E_IO,
                      "rank %d starts a %s to rank %d with tag %d, which starts a %s: "
                      "both have the same size and element",
                      rank_a, ridge__call_signature_text(sent).s, rank_b, tag,
                      ridge__call_signature_text(received).s);
}

/* ---- cuts ------------------------------------------------------------------------ */

int64_t ridge_cut_chunk(const ridge_cut *cut, int ranks)
{
    return ridge_ceil_div(cut->full, ranks);
}

int64_t ridge__cut_valid(const ridge_cut *cut, int ranks, int rank)
{
    int64_t chunk = ridge_cut_chunk(cut, ranks);
    int64_t left = cut->full - chunk * rank;
    return left < 0 ? 0 : left < chunk ? left : chunk;
}

size_t ridge_element_bytes(ridge_element element)
{
    return element == RIDGE_ELEMENT_BF16 ? 2 : 4;
}
