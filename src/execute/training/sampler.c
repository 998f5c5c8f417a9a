/*
 * Sampling with temperature from the k likeliest tokens, of which those are kept that
 * together have the probability p.
 * @source fan2018-topk, holtzman2019-nucleus
 */
#include "sampler.h"

#include <math.h>
#include <stdlib.h>

typedef struct choice {
    double p;
    int32_t token;
} choice;

struct ridge__sampler {
    ridge_sampling how;
    int64_t vocab;
    choice *choices; /* [vocab] */
    uint64_t state;
};

ridge_status ridge__sampler_open(ridge_ctx *cx, const ridge_sampling *sampling,
                                 int64_t vocab, ridge__sampler **out)
{
    ridge__sampler *s = ridge_new(ridge_ctx_arena(cx), ridge__sampler, 1);
    choice *choices = ridge_new(ridge_ctx_arena(cx), choice, (size_t)vocab);
    if (!s || !choices)
        return ridge_fail_nomem(cx);
    *s = (ridge__sampler){*sampling, vocab, choices, sampling->seed};
    *out = s;
    return RIDGE_OK;
}

/* @source steele2014 */
static double uniform(ridge__sampler *s)
{
    uint64_t x = s->state += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static int32_t likeliest(const ridge__sampler *s, const float *logits)
{
    int32_t best = 0;
    for (int64_t i = 1; i < s->vocab; i++) {
        if (logits[i] > logits[best])
            best = (int32_t)i;
    }
    return best;
}

static int compare(const void *a, const void *b)
{
    const choice *x = a, *y = b;
    if (x->p != y->p)
        return x->p > y->p ? -1 : 1;
    return x->token < y->token ? -1 : x->token > y->token;
}

/* How many of the sorted choices are drawn from, and what they sum to. */
static int64_t keep(const ridge__sampler *s, double total, double *kept)
{
    const int64_t most =
        s->how.top_k > 0 && s->how.top_k < s->vocab ? s->how.top_k : s->vocab;
    int64_t n = 0;
    *kept = 0.0;
    while (n < most && (n == 0 || *kept < s->how.top_p * total))
        *kept += s->choices[n++].p;
    return n;
}

int32_t ridge__sampler_take(ridge__sampler *s, const float *logits)
{
    const int32_t best = likeliest(s, logits);
    double total = 0.0, kept;
    if (s->how.temperature <= 0.0)
        return best;
    for (int64_t i = 0; i < s->vocab; i++) {
        const double z =
            ((double)logits[i] - (double)logits[best]) / s->how.temperature;
        s->choices[i] = (choice){exp(z), (int32_t)i};
        total += s->choices[i].p;
    }
    qsort(s->choices, (size_t)s->vocab, sizeof *s->choices, compare);
    const int64_t n = keep(s, total, &kept);
    double at = uniform(s) * kept;
    for (int64_t i = 0; i + 1 < n; i++) {
        at -= s->choices[i].p;
        if (at < 0.0)
            return s->choices[i].token;
    }
    return s->choices[n - 1].token;
}
