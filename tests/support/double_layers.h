/*
 * Layers in double precision, as papers write them down, and a checkpoint of random
 * weights by name, for small models of few tokens.
 */
#ifndef RIDGE_TEST_DOUBLE_LAYERS_H
#define RIDGE_TEST_DOUBLE_LAYERS_H

#include "near.h"

#include "weights_build.h"

enum { D = 16, V = 40, X = 32, LAYERS = 4, PROMPT = 9, NEW = 16, WIDE = 96 };
enum {
    PART_MOST = 80,
    FLOAT_MOST = 40000,
    KEYS = 2,
    HEADS = 4,
    A = 6,
    P = 5,
    TAPS = 4
};
enum { N = 4, K = 2, H = 8, TURNED = 6, F = 24 };

typedef struct store {
    ridge_ctx *cx;
    random_weights w;
    const char *names[PART_MOST];
    const float *at[PART_MOST];
    int n;
    size_t floats;
} store;

typedef double token_rows[X][WIDE];

/** A weight of numbers from centre - size to centre + size; rows 0: a vector. */
void store_put(store *s, int rows, int columns, float centre, float size,
               const char *format, ...);
/** Fails the test if there is none of that name. */
const float *store_get(const store *s, const char *format, ...);
double silu(double x);
double softplus(double x);
/** RMS norm in place, by groups of n / groups; plus: what the weight lacks. */
void normed(const float *w, double plus, int n, int groups, double epsilon, double *x);
/** y = w x, w [out, in] */
void mapped(const float *w, int in, int out, const double *x, double *y);
/** Causal taps of n channels in place, w [n, 1, taps]. */
void convolved(const float *w, const float *bias, int taps, int n, bool is_silu,
               int tokens, token_rows x);
/** The first @p part elements of each head, (i, i + half). */
void heads_turned(double *x, int heads, int part, int t);
/** o [N, H] of token t; scores over sqrt(H). */
void attended(token_rows q, token_rows k, token_rows v, int t, double *o);
/** One head of a recurrence: the state goes on. */
void recurred(double state[A][P], const double *q, const double *k, const double *v,
              double keep, double step, bool is_delta, double *o);
/** x by / |x|, A elements. */
void unit_vector(double *x, double by);
/** SwiGLU of width F. */
void gated_feed(const float *gate, const float *up, const float *down, const double *x,
                double *y);
/** x += y, D elements. */
void stream_add(double *x, const double *y);

/** What a model makes of its embedded tokens, for the head; in place. */
typedef void run_fn(const store *s, int tokens, token_rows x);

/** An empty checkpoint, with a ctx of its own. */
store store_open(uint64_t seed);
/**
 * Fail unless Ridge's text, on one rank and with heads and layers cut, is that of
 * @p reference. The first weight is the embedding; the last one the head, if it is
 * called so. Closes the ctx.
 */
void store_check_text(store *s, run_fn *reference, const char *config);

#endif
