/*
 * The plain schemes of parallel training on a layer of two matmuls,
 * In[B, D] x W_in[D, F] x W_out[F, D], with B cut over mesh axis X and F over Y. Each
 * scheme is a table of collectives that its shardings need; times follow from the
 * table. Source: scaling-book-2025, chapter 5. Attention and vector work are left out.
 */
#include "ridge/plan.h"

#include <math.h>

#define GATHER  RIDGE_COLLECTIVE_ALL_GATHER
#define SCATTER RIDGE_COLLECTIVE_REDUCE_SCATTER
#define REDUCE  RIDGE_COLLECTIVE_ALL_REDUCE

/* Weights and their gradients can move early or late; activations cannot. */
static const ridge_scheme_collective dp_backward[] = {
    {REDUCE, 'X', "dW_out", true, false},
    {REDUCE, 'X', "dW_in", true, false},
};

static const ridge_scheme_collective fsdp_forward[] = {
    {GATHER, 'X', "W_in", true, false},
    {GATHER, 'X', "W_out", true, false},
};

static const ridge_scheme_collective fsdp_backward[] = {
    {SCATTER, 'X', "dW_out", true, false},
    {GATHER, 'X', "W_out", true, false},
    {SCATTER, 'X', "dW_in", true, false},
    {GATHER, 'X', "W_in", true, false},
};

static const ridge_scheme_collective tp_forward[] = {
    {GATHER, 'Y', "In", false, true},
    {SCATTER, 'Y', "Out", false, true},
};

static const ridge_scheme_collective tp_backward[] = {
    {GATHER, 'Y', "dOut", false, true},
    {SCATTER, 'Y', "dIn", false, true},
};

static const ridge_scheme_collective mixed_forward[] = {
    {GATHER, 'Y', "In", false, true},
    {GATHER, 'X', "W_in", true, false},
    {GATHER, 'X', "W_out", true, false},
    {SCATTER, 'Y', "Out", false, true},
};

static const ridge_scheme_collective mixed_backward[] = {
    {GATHER, 'Y', "dOut", false, true},  {SCATTER, 'X', "dW_out", true, false},
    {GATHER, 'X', "W_out", true, false}, {SCATTER, 'X', "dW_in", true, false},
    {GATHER, 'X', "W_in", true, false},  {SCATTER, 'Y', "dIn", false, true},
};

typedef struct collectives {
    const ridge_scheme_collective *rows;
    size_t n;
} collectives;

#define ROWS(table)                                                                    \
    {                                                                                  \
        table, RIDGE_COUNT_OF(table)                                                   \
    }

static const struct {
    const char *text;
    collectives forward, backward;
} schemes[] = {
    [RIDGE_SCHEME_DP] = {"dp", {NULL, 0}, ROWS(dp_backward)},
    [RIDGE_SCHEME_FSDP] = {"fsdp", ROWS(fsdp_forward), ROWS(fsdp_backward)},
    [RIDGE_SCHEME_TP] = {"tp", ROWS(tp_forward), ROWS(tp_backward)},
    [RIDGE_SCHEME_MIXED] = {"mixed", ROWS(mixed_forward), ROWS(mixed_backward)},
};
_Static_assert(RIDGE_COUNT_OF(schemes) == RIDGE_SCHEME_COUNT, "one row per scheme");

const char *ridge_scheme_text(ridge_scheme scheme)
{
    return schemes[scheme].text;
}

size_t ridge_scheme_collectives(ridge_scheme scheme, bool is_backward,
                                const ridge_scheme_collective **out)
{
    const collectives *c =
        is_backward ? &schemes[scheme].backward : &schemes[scheme].forward;
    *out = c->rows;
    return c->n;
}

/* Bytes of the array that one chip's group handles, over the bandwidth of its axes; an
 * all-reduce moves them twice. The other mesh axis cuts the array. */
static double collective_s(const ridge_scheme_layer *l,
                           const ridge_scheme_collective *c)
{
    bool is_x = c->axis == 'X';
    double elements = (c->is_weight ? l->d_ff : l->batch_tokens) * l->d_model;
    double bytes = l->element_bytes * elements / (is_x ? l->y : l->x);
    double twice = c->kind == REDUCE ? 2 : 1;
    return twice * bytes / (l->axis_bytes_per_s * (is_x ? l->axes_x : l->axes_y));
}

ridge_scheme_times ridge_scheme_times_of(ridge_scheme scheme, bool is_backward,
                                         const ridge_scheme_layer *l)
{
    const ridge_scheme_collective *rows;
    size_t n = ridge_scheme_collectives(scheme, is_backward, &rows);
    double flops = (is_backward ? 8 : 4) * l->batch_tokens * l->d_model * l->d_ff;
    ridge_scheme_times t = {.compute_s = flops / (l->x * l->y * l->flops_per_s)};
    for (size_t i = 0; i < n; i++) {
        double time_s = collective_s(l, &rows[i]);
        if (rows[i].is_weight)
            t.weights_s += time_s;
        else
            t.activations_s += time_s;
    }
    t.communication_s = t.weights_s + t.activations_s;
    t.bound_s = fmax(t.compute_s, t.communication_s);
    t.is_compute_bound = t.compute_s >= t.communication_s;
    return t;
}
