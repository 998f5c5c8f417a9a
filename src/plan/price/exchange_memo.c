#include "exchange_memo.h"

#include "train_terms.h"

#include <string.h>

enum { SLOTS = 512 };

typedef struct memo_slot {
    const layer_time *layers; /* NULL: free */
    ridge_group tp, cp, ep;
    ridge_ep_dispatch dispatch;
    const layer_exchange *exchanges; /* [kinds + 1] */
} memo_slot;

struct exchange_memo {
    memo_slot slots[SLOTS];
};

exchange_memo *exchange_memo_open(ridge_arena *arena)
{
    return ridge_new(arena, exchange_memo, 1);
}

void exchange_memo_forget(exchange_memo *m)
{
    for (size_t i = 0; i < SLOTS; i++)
        m->slots[i].layers = NULL;
}

static bool is_same_group(const ridge_group *a, const ridge_group *b)
{
    if (a->n_spans != b->n_spans || a->ranks != b->ranks)
        return false;
    for (int i = 0; i < a->n_spans; i++) {
        const ridge_span *s = &a->spans[i];
        const ridge_span *t = &b->spans[i];
        if (s->axis != t->axis || s->size != t->size || s->stride != t->stride)
            return false;
    }
    return true;
}

static bool is_same(const memo_slot *s, const train_groups *g, const layer_time *layers)
{
    return s->layers == layers && s->dispatch == g->dispatch &&
           is_same_group(&s->ep, &g->ep) && is_same_group(&s->tp, &g->tp) &&
           is_same_group(&s->cp, &g->cp);
}

/* Where a group begins tells most of them apart. */
static size_t hash_of(const ridge_group *g)
{
    if (g->n_spans == 0)
        return 0;
    const ridge_span *s = &g->spans[0];
    return (size_t)(s->axis + 1) + 8 * (size_t)s->stride;
}

layer_exchange *exchange_memo_make(ridge_arena *arena, const train_case *tc,
                                   const train_groups *g, const layer_time *layers)
{
    layer_exchange *made = ridge_new(arena, layer_exchange, (size_t)tc->n_kinds + 1);
    if (made != NULL)
        train_layer_exchanges(tc, g, layers, made);
    return made;
}

const layer_exchange *exchange_memo_find(exchange_memo *m, ridge_arena *arena,
                                         const train_case *tc, const train_groups *g,
                                         const layer_time *layers)
{
    const size_t hash = ((size_t)(uintptr_t)layers >> 4) * 31 + 7 * hash_of(&g->tp) +
                        3 * hash_of(&g->cp) + hash_of(&g->ep);
    for (size_t i = 0; i < SLOTS; i++) {
        memo_slot *s = &m->slots[(hash + i) % SLOTS];
        if (s->layers != NULL && !is_same(s, g, layers))
            continue;
        if (s->layers == NULL) {
            const layer_exchange *made = exchange_memo_make(arena, tc, g, layers);
            if (made == NULL)
                return NULL;
            *s = (memo_slot){layers, g->tp, g->cp, g->ep, g->dispatch, made};
        }
        return s->exchanges;
    }
    return NULL;
}
