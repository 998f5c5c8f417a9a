/* What a call keeps for later ones, how many tokens a query meets, and what scans cost:
 * the three phases differ here. */
#include "lower.h"

#include <math.h>
#include <string.h>

bool ridge__lower_has_cache(const ridge__lower *l)
{
    return l->how.phase != RIDGE_PHASE_TRAIN && !l->layer->is_encoder;
}

bool ridge__lower_reads_cache(const ridge__lower *l)
{
    return ridge__lower_has_cache(l) && l->how.phase == RIDGE_PHASE_DECODE;
}

/* Tokens that a cache holds: of a window, what the queries of a call still see. */
static int64_t held_tokens(const ridge__lower *l, int64_t window)
{
    const int64_t s = l->how.context_tokens, most = l->how.cache_query_tokens;
    const int64_t queries = most > l->how.query_tokens ? most : l->how.query_tokens;
    const int64_t seen = window + (ridge__lower_reads_cache(l) ? queries - 1 : 0);
    return window > 0 && seen < s ? seen : s;
}

int ridge__lower_state(ridge__lower *l, const char *base, ridge_dtype dtype,
                       ridge__dims dims)
{
    if (ridge__builder_is_bad(&l->b) || !ridge__lower_has_cache(l))
        return -1;
    return ridge__lower_tensor(l, RIDGE_ROLE_CACHE, base, dtype, dims);
}

int ridge__lower_cache(ridge__lower *l, const char *base, int x, int64_t window)
{
    if (ridge__builder_is_bad(&l->b) || !ridge__lower_has_cache(l))
        return x;
    const int s = ridge__lower_dim(l, "S", held_tokens(l, window));
    const ridge_tensor *t = &l->b.p.tensors[x];
    ridge__dims dims = {.n = t->n_dims};
    for (int i = 0; i < t->n_dims; i++)
        dims.d[i] = t->dims[i] == l->dim_t ? s : t->dims[i];
    const char *name = ridge_sprintf(l->b.arena, "%s_cache", base);
    if (name == NULL) {
        ridge__builder_fail_nomem(&l->b);
        return -1;
    }
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_ELEMENTWISE, NULL);
    op.part = l->part;
    op.function = RIDGE_FUNCTION_APPEND;
    op.n_inputs = op.n_outputs = 1;
    op.inputs[0] = x;
    op.outputs[0] = ridge__lower_state(l, name, l->how.cache, dims);
    if (ridge__builder_is_bad(&l->b))
        return -1;
    op.name = ridge_tensor_base(&l->b.p.tensors[op.outputs[0]]);
    ridge__builder_op(&l->b, &op);
    return ridge__lower_reads_cache(l) ? op.outputs[0] : x;
}

/* ---- averages -------------------------------------------------------------------- */

typedef double average_fn(const ridge_layer *layer, double seq_tokens, bool is_half);

/* The average over this call of what is known as an average from a sequence's start:
 * T tokens that end at S take S f(S) - (S - T) f(S - T). One token meets the whole. */
static double average(const ridge__lower *l, const ridge_layer *layer, average_fn *f)
{
    if (!ridge__lower_reads_cache(l))
        return f(layer, (double)l->tokens, true);
    const double s = (double)l->how.context_tokens, t = (double)l->how.query_tokens;
    if (l->how.query_tokens == 1)
        return f(layer, s, false);
    const double before = s > t ? (s - t) * f(layer, s - t, true) : 0;
    return (s * f(layer, s, true) - before) / t;
}

static double context_of(const ridge_layer *layer, double seq_tokens, bool is_half)
{
    return ridge_mixer_context_tokens(&layer->mixer, seq_tokens, is_half);
}

double ridge__lower_context(const ridge__lower *l, const ridge_mixer *m)
{
    const ridge_layer layer = {.mixer = *m};
    return average(l, &layer, context_of);
}

double ridge__lower_index_flops(const ridge__lower *l)
{
    ridge_layer layer = *l->layer;
    layer.mixer.heads = 0; /* leaves the indexer's scores alone */
    layer.has_cross = false;
    return average(l, &layer, ridge_layer_scores_flops);
}

/* A scan's work does not depend on the context, but for the chunk of this call. */
double ridge__lower_scan_flops(const ridge__lower *l)
{
    ridge_layer layer = *l->layer;
    layer.has_cross = false;
    return ridge_layer_scores_flops(&layer, (double)l->tokens,
                                    !ridge__lower_reads_cache(l) || l->tokens > 1);
}

/* ---- attention ------------------------------------------------------------------- */

bool ridge__lower_is_causal(const ridge__lower *l, const ridge_mixer *m)
{
    return m->is_causal && !(ridge__lower_reads_cache(l) && l->how.query_tokens == 1);
}

static void add_input(ridge_operation *op, int tensor, unsigned extra)
{
    if (tensor < 0)
        return;
    op->inputs[op->n_inputs++] = tensor;
    op->extras |= extra;
}

int ridge__lower_attend(ridge__lower *l, const ridge__attend *a)
{
    if (ridge__builder_is_bad(&l->b))
        return -1;
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_ATTENTION, NULL);
    op.part = RIDGE_PART_ATTENTION;
    op.is_causal = a->is_causal;
    op.window = a->window;
    op.is_window_chunked = a->window > 0 && l->layer->mixer.is_window_chunked;
    op.scale = a->scale;
    add_input(&op, a->q, 0);
    add_input(&op, a->k, 0);
    add_input(&op, a->v, 0);
    add_input(&op, a->q_rope, RIDGE_ATTENTION_ROPE);
    add_input(&op, a->k_rope, RIDGE_ATTENTION_ROPE);
    add_input(&op, a->sinks, RIDGE_ATTENTION_SINKS);
    add_input(&op, a->far, RIDGE_ATTENTION_FAR);
    add_input(&op, a->chosen, RIDGE_ATTENTION_CHOSEN);
    ridge_attention_shape shape;
    if (!ridge_attention_shape_of(&l->b.p, &op, &shape)) {
        ridge__builder_fail(
            &l->b, ridge_fail(l->b.cx, RIDGE_E_ARG, "these heads do not fit together"));
        return -1;
    }
    const double by_shape = ridge__attention_context(&l->b.p, &op, &shape);
    if (fabs(a->context - by_shape) > 1e-12 * by_shape)
        op.context_tokens = a->context;
    const ridge_tensor *q = &l->b.p.tensors[a->q];
    ridge__dims dims = {.n = q->n_dims};
    memcpy(dims.d, q->dims, sizeof dims.d);
    dims.d[dims.n - 1] = shape.hv;
    return ridge__lower_op(l, &op, "o", dims);
}
