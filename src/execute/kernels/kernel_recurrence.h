/*
 * What the passes of a recurrence share: its tokens made ready for one head, in fp32,
 * with keys and queries that are long enough for whole vectors.
 */
#ifndef RIDGE_EXECUTE_KERNEL_RECURRENCE_H
#define RIDGE_EXECUTE_KERNEL_RECURRENCE_H

#include "kernel_simd.h"

#include <math.h>

/** Added to the sum of squares that makes a key or a query unit. */
#define UNIT_EPSILON 1e-6f

/** Tokens of a chunk, as one value head meets them. Elements beyond a are 0. */
typedef struct ridge__chunk_tokens {
    int64_t wide; /* a, rounded up */
    float *k, *q; /* [tokens, wide]: unit, with a delta rule */
    float *keep;  /* exp(-decay): [tokens, wide] if keyed, else [tokens] */
    float *step;  /* [tokens] */
} ridge__chunk_tokens;

static inline int64_t round_up(int64_t n, int64_t grain)
{
    return (n + grain - 1) / grain * grain;
}

/** Floats that tokens of a chunk take. */
static inline int64_t chunk_floats(const ridge__recurrence *r, int64_t tokens,
                                   int64_t wide)
{
    return tokens * (2 * wide + (r->is_decay_keyed ? wide : LANES) + LANES);
}

/** @param room  [chunk_floats] */
static inline ridge__chunk_tokens chunk_open(const ridge__recurrence *r, int64_t tokens,
                                             int64_t wide, float *room)
{
    ridge__chunk_tokens c = {.wide = wide, .k = room, .q = room + tokens * wide};
    c.keep = c.q + tokens * wide;
    c.step = c.keep + tokens * (r->is_decay_keyed ? wide : LANES);
    return c;
}

/** The local key head of a value head; of one that is padding, any. */
static inline int64_t key_of(const ridge__recurrence *r, int64_t head)
{
    const int64_t at = (r->first_head + head) / r->group - r->first_key;
    return at < 0 ? 0 : at < r->keys ? at : r->keys - 1;
}

/** 1 / length of a key or query of a delta rule. */
static inline float unit_factor(const float *x, int64_t n)
{
    return 1.0f / sqrtf(row_dot(x, x, n) + UNIT_EPSILON);
}

/** What a query is multiplied by, once it is unit. */
static inline float query_factor(const ridge__recurrence *r)
{
    return r->is_delta ? 1.0f / sqrtf((float)r->a) : 1.0f;
}

/** One key or query: in fp32, unit if it is to be, 0 beyond a. */
static inline void read_vector(const ridge__recurrence *r, ridge__array from,
                               int64_t at, float *to, int64_t wide, float by)
{
    ridge__array out = {to, RIDGE_DTYPE_FP32};
    row_move(from, at * r->a, out, 0, r->a);
    if (r->is_delta)
        row_scale(to, to, unit_factor(to, r->a) * by, r->a);
    memset(to + r->a, 0, (size_t)(wide - r->a) * sizeof *to);
}

/** Whether a token of all sequences begins a document. */
static inline bool begins_document(const ridge__recurrence *r, int64_t row)
{
    return r->first_met != NULL && r->first_met[row] == row % r->t;
}

/* exp(-decay) of a token; 0 where a document begins. */
static inline void read_keep(const ridge__recurrence *r, int64_t row, int64_t head,
                             int64_t wide, float *keep)
{
    const int64_t n = r->is_decay_keyed ? r->a : 1;
    const bool is_new = begins_document(r, row);
    const int64_t at = r->is_decay_keyed ? (row * r->keys + key_of(r, head)) * r->a
                                         : row * r->heads + head;
    for (int64_t i = 0; i < n; i++)
        keep[i] = is_new               ? 0.0f
                  : r->decay.p == NULL ? 1.0f
                                       : expf(-element_read(r->decay, at + i));
    for (int64_t i = n; r->is_decay_keyed && i < wide; i++)
        keep[i] = 0.0f;
}

/** Tokens first .. first + n of a sequence, as a head meets them. */
static inline void chunk_read(const ridge__recurrence *r, int64_t sequence,
                              int64_t head, int64_t first, int64_t n,
                              const ridge__chunk_tokens *c)
{
    const int64_t key = key_of(r, head);
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = sequence * r->t + first + i, at = row * r->keys + key;
        read_vector(r, r->k, at, c->k + i * c->wide, c->wide, 1.0f);
        read_vector(r, r->q, at, c->q + i * c->wide, c->wide, query_factor(r));
        read_keep(r, row, head, c->wide,
                  c->keep + i * (r->is_decay_keyed ? c->wide : 1));
        c->step[i] =
            r->step.p == NULL ? 1.0f : element_read(r->step, row * r->heads + head);
    }
}

#endif
