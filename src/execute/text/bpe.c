/*
 * Byte pair encoding. Short pieces (words) look for the best pair again after each
 * merge; long ones keep offers in a heap, O(n log n), where those that are out of date
 * are dropped as they come up.
 */
#include "bpe.h"

#include <string.h>

enum { SHORT_PIECE = 48 };

/* ---- short pieces ---------------------------------------------------------------- */

/* ranks[i]: merge of token i with the next. */
typedef struct short_piece {
    const ridge__merge_table *table;
    int32_t *ids;
    size_t n;
    ridge__merge merges[SHORT_PIECE];
} short_piece;

static void offer_short(short_piece *s, size_t at)
{
    s->merges[at] = ridge__merge_table_find(s->table, s->ids[at], s->ids[at + 1]);
}

static size_t best_short(const short_piece *s)
{
    size_t best = s->n;
    int32_t rank = INT32_MAX;
    for (size_t i = 0; i + 1 < s->n; i++) {
        if (s->merges[i].rank >= 0 && s->merges[i].rank < rank) {
            rank = s->merges[i].rank;
            best = i;
        }
    }
    return best;
}

static void join_short(short_piece *s, size_t at)
{
    const size_t behind = s->n - at - 2; /* tokens behind the pair */
    s->ids[at] = s->merges[at].id;
    memmove(s->ids + at + 1, s->ids + at + 2, behind * sizeof *s->ids);
    memmove(s->merges + at + 1, s->merges + at + 2, behind * sizeof *s->merges);
    s->n--;
    if (at > 0)
        offer_short(s, at - 1);
    if (at + 1 < s->n)
        offer_short(s, at);
}

static void merge_short(const ridge__merge_table *table, int32_t *ids, size_t *n)
{
    short_piece s = {.table = table, .ids = ids, .n = *n};
    for (size_t i = 0; i + 1 < s.n; i++)
        offer_short(&s, i);
    for (size_t at = best_short(&s); at < s.n; at = best_short(&s))
        join_short(&s, at);
    *n = s.n;
}

/* ---- long pieces ----------------------------------------------------------------- */

typedef struct long_piece {
    const ridge__merge_table *table;
    ridge__bpe_work *work;
} long_piece;

/* At most three offers a token: its first one, and two more for each merge. */
static ridge_status make_room(ridge_ctx *cx, ridge__bpe_work *work, size_t n)
{
    if (n <= work->cap_nodes)
        return RIDGE_OK;
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    ridge__bpe_node *nodes = ridge_new(scratch, ridge__bpe_node, n);
    ridge__bpe_offer *heap = ridge_new(scratch, ridge__bpe_offer, 3 * n);
    if (nodes == NULL || heap == NULL)
        return ridge_fail_nomem(cx);
    *work = (ridge__bpe_work){nodes, heap, n, 3 * n, 0};
    return RIDGE_OK;
}

static void sift_up(ridge__bpe_offer *heap, size_t at)
{
    const ridge__bpe_offer offer = heap[at];
    while (at > 0 && offer.order < heap[(at - 1) / 2].order) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = offer;
}

static ridge__bpe_offer pop(ridge__bpe_work *work)
{
    ridge__bpe_offer *heap = work->heap;
    const ridge__bpe_offer best = heap[0];
    const ridge__bpe_offer moved = heap[--work->n_heap];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < work->n_heap && heap[child + 1].order < heap[child].order)
            child++;
        if (child >= work->n_heap || moved.order <= heap[child].order)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
    return best;
}

/* The merge of the token at @p at with its neighbour behind, if there is one. */
static void offer_long(const long_piece *p, int32_t at)
{
    const ridge__bpe_node *nodes = p->work->nodes;
    const int32_t after = at < 0 ? -1 : nodes[at].after;
    if (after < 0)
        return;
    const ridge__merge m =
        ridge__merge_table_find(p->table, nodes[at].id, nodes[after].id);
    if (m.rank < 0)
        return;
    p->work->heap[p->work->n_heap] = (ridge__bpe_offer){
        (uint64_t)(uint32_t)m.rank << 32 | (uint32_t)at, nodes[at].id, nodes[after].id};
    sift_up(p->work->heap, p->work->n_heap++);
}

/* Tokens only grow, so equal ids mean that nothing has happened to the two. */
static void take_offer(const long_piece *p, ridge__bpe_offer offer)
{
    ridge__bpe_node *nodes = p->work->nodes;
    const int32_t at = (int32_t)(offer.order & UINT32_MAX);
    const int32_t after = nodes[at].after;
    if (nodes[at].id != offer.left || after < 0 || nodes[after].id != offer.right)
        return;
    nodes[at].id = ridge__merge_table_find(p->table, offer.left, offer.right).id;
    nodes[at].after = nodes[after].after;
    if (nodes[after].after >= 0)
        nodes[nodes[after].after].before = at;
    nodes[after].id = -1;
    offer_long(p, nodes[at].before);
    offer_long(p, at);
}

static void merge_long(const long_piece *p, int32_t *ids, size_t *n)
{
    ridge__bpe_node *nodes = p->work->nodes;
    const int32_t last = (int32_t)*n - 1;
    p->work->n_heap = 0;
    for (int32_t i = 0; i <= last; i++)
        nodes[i] = (ridge__bpe_node){ids[i], i - 1, i == last ? -1 : i + 1};
    for (int32_t i = 0; i < last; i++)
        offer_long(p, i);
    while (p->work->n_heap > 0)
        take_offer(p, pop(p->work));
    *n = 0;
    for (int32_t i = 0; i >= 0; i = nodes[i].after)
        ids[(*n)++] = nodes[i].id;
}

ridge_status ridge__bpe_merge(ridge_ctx *cx, const ridge__merge_table *table,
                              ridge__bpe_work *work, int32_t *ids, size_t *n)
{
    if (*n < 2)
        return RIDGE_OK;
    if (*n <= SHORT_PIECE) {
        merge_short(table, ids, n);
        return RIDGE_OK;
    }
    RIDGE_TRY(make_room(cx, work, *n));
    merge_long(&(long_piece){table, work}, ids, n);
    return RIDGE_OK;
}
