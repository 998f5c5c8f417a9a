#include "product_memo.h"

#include <string.h>

enum { PRODUCTS_OF_MANY = 4096 };

struct ridge_product_memo {
    size_t slots;           /* a power of two */
    ridge_matmul *products; /* [slots]; m is 0 where none is */
    ridge_op_cost *costs;   /* [slots] */
};

ridge_product_memo *ridge__product_memo_make(ridge_arena *arena, size_t slots)
{
    ridge_product_memo *memo = ridge_new(arena, ridge_product_memo, 1);
    if (memo == NULL)
        return NULL;
    memo->slots = slots;
    memo->products = ridge_new(arena, ridge_matmul, slots);
    memo->costs = ridge_new(arena, ridge_op_cost, slots);
    return memo->products == NULL || memo->costs == NULL ? NULL : memo;
}

ridge_product_memo *ridge_product_memo_open(ridge_ctx *cx)
{
    return ridge__product_memo_make(ridge_ctx_arena(cx), PRODUCTS_OF_MANY);
}

static uint64_t mix(uint64_t hash, double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    const uint64_t x = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static size_t slot_of(const ridge_product_memo *memo, const ridge_matmul *p)
{
    uint64_t hash = mix(mix(mix(mix(1, p->m), p->k), p->n), p->batch);
    const int formats[] = {(int)p->activation, (int)p->weight, (int)p->output,
                           (int)p->compute};
    for (size_t i = 0; i < RIDGE_COUNT_OF(formats); i++)
        hash = mix(hash, (double)formats[i]);
    return (size_t)hash & (memo->slots - 1);
}

static bool is_same(const ridge_matmul *a, const ridge_matmul *b)
{
    return a->m == b->m && a->k == b->k && a->n == b->n && a->batch == b->batch &&
           a->summed == b->summed && a->activation == b->activation &&
           a->weight == b->weight && a->output == b->output && a->compute == b->compute;
}

bool ridge__product_memo_find(const ridge_product_memo *memo,
                              const ridge_matmul *product, ridge_op_cost *out)
{
    if (memo == NULL)
        return false;
    const size_t slot = slot_of(memo, product);
    if (!is_same(&memo->products[slot], product))
        return false;
    *out = memo->costs[slot];
    return true;
}

void ridge__product_memo_put(ridge_product_memo *memo, const ridge_matmul *product,
                             const ridge_op_cost *cost)
{
    if (memo == NULL)
        return;
    const size_t slot = slot_of(memo, product);
    memo->products[slot] = *product;
    memo->costs[slot] = *cost;
}
