/*
 * A host that launches kernel by kernel needs some microseconds for each, whatever the
 * kernel takes: short sequences on small models are over before the next one is there.
 * What an eager framework calls is counted by the layer's parts.
 */
#include "host_time.h"

#include "adapter.h"

#include <math.h>

/* Operations of an eager framework: docs/design/stacks.md. */
enum {
    CALLS_RMS_NORM = 6,
    CALLS_LAYER_NORM = 1,
    CALLS_ROTATIONS = 2 * 5, /* of queries and of keys */
    CALLS_SCORES = 1,
    CALLS_GATED = 2, /* activation, product with the gate */
    CALLS_ACTIVATION = 1,
    CALLS_RESIDUALS = 2,
    CALLS_ADAPTER = 7 /* dropout, two products, scale, sum, and casts in and out */
};

/* A pass back calls for both gradients of what the pass forward called once. */
static const double PASSES_BACK = 2;

static double forward_calls(const train_case *tc, int kind)
{
    const ridge_layer *layer = &tc->kinds[kind];
    const bool is_rms = tc->model->norm_kind == RIDGE_NORM_RMS;
    double calls = 2 * (is_rms ? CALLS_RMS_NORM : CALLS_LAYER_NORM) + CALLS_RESIDUALS;
    for (int i = 0; i < tc->n_weights[kind]; i++)
        calls += tc->weights[kind][i].in > 1 && tc->weights[kind][i].out > 1 ? 1 : 0;
    if (layer->mixer.kind != RIDGE_MIXER_NONE)
        calls += CALLS_SCORES + (is_rms ? CALLS_ROTATIONS : 0);
    if (layer->ffn.kind != RIDGE_FFN_NONE)
        calls += layer->ffn.is_gated ? CALLS_GATED : CALLS_ACTIVATION;
    return calls + CALLS_ADAPTER * (double)adapter_count(tc, kind);
}

ridge_status host_calls_count(train_case *tc)
{
    tc->forward_calls = NULL;
    if (tc->stack == NULL || tc->stack->call_s <= 0)
        return RIDGE_OK;
    double *calls = ridge_new(ridge_ctx_arena(tc->cx), double, (size_t)tc->n_kinds);
    if (calls == NULL)
        return ridge_fail_nomem(tc->cx);
    for (int k = 0; k < tc->n_kinds; k++)
        calls[k] = forward_calls(tc, k);
    tc->forward_calls = calls;
    return RIDGE_OK;
}

host_time host_layer_time(const train_case *tc, int kind, double redo)
{
    if (tc->stack == NULL || kind >= tc->n_kinds)
        return (host_time){0, 0};
    const double experts_s =
        tc->kinds[kind].ffn.kind == RIDGE_FFN_MOE ? tc->stack->experts_host_s : 0;
    if (experts_s > 0) {
        const double forward = 1 / (1 + PASSES_BACK);
        return (host_time){forward * experts_s, (1 - forward) * experts_s};
    }
    if (tc->forward_calls == NULL)
        return (host_time){0, 0};
    const double pass_s = tc->forward_calls[kind] * tc->stack->call_s;
    return (host_time){pass_s, (PASSES_BACK + redo) * pass_s};
}

double host_wait_most_s(const train_case *tc, int kind, const layer_time *t)
{
    const host_time host = host_layer_time(tc, kind, 0);
    return fmax(0, host.fwd_s + host.bwd_s - layer_time_fwd_s(t) - layer_time_bwd_s(t));
}
