/*
 * Attention: dims by their meaning, positions of the rank's part, parts of the head dim
 * that are rotated apart joined to one, keys for query heads that are not grouped
 * evenly.
 */
#include "attention_call.h"

#include <math.h>

typedef ridge__attention_setup setup;

/* ---- shape ------------------------------------------------------------------------
 */

static int64_t length_of(const ridge__call *c, int input, int dim)
{
    const int at = ridge__tensor_position(ridge__in_tensor(c, input), dim);
    return at < 0 ? 1 : ridge__in_part(c, input)->spans[at].length;
}

static ridge__span span_of(const ridge__call *c, int input, int dim)
{
    const int at = ridge__tensor_position(ridge__in_tensor(c, input), dim);
    return at < 0 ? (ridge__span){0, 1, 1} : ridge__in_part(c, input)->spans[at];
}

/* Positions: a cache ends with the query's own tokens. */
static void place_tokens(const ridge__call *c, const ridge_attention_shape *shape,
                         ridge__attention *a)
{
    const ridge__span t = span_of(c, 0, shape->t), s = span_of(c, 1, shape->s);
    a->t = t.length;
    a->s = s.length;
    a->stride_s = s.length;
    a->s_valid = s.valid;
    a->q_start = t.start;
    a->s_start = s.start;
    if (c->m->program->phase == RIDGE_PHASE_DECODE &&
        ridge__in_tensor(c, 1)->role == RIDGE_ROLE_CACHE) {
        const int64_t held = c->m->position + t.length;
        a->q_start = c->m->position;
        a->s_valid = held < s.length ? held : s.length;
        a->s = a->s_valid;
        a->s_start = held - a->s_valid;
    }
}

static void fill_shape(const ridge__call *c, const ridge_attention_shape *shape,
                       setup *u)
{
    ridge__attention *a = &u->a;
    a->batch = 1;
    for (int i = 0; i < shape->n_batch; i++)
        a->batch *= length_of(c, 0, shape->batch[i]);
    place_tokens(c, shape, a);
    a->heads = length_of(c, 0, shape->heads);
    a->kv_heads = shape->kv_heads < 0 ? 1 : length_of(c, 1, shape->kv_heads);
    u->k_heads = a->kv_heads;
    a->h = length_of(c, 0, shape->h);
    a->hv = length_of(c, 2, shape->hv);
    a->is_causal = c->op->is_causal;
    a->window = c->op->window;
    a->is_window_chunked = c->op->is_window_chunked;
    u->rope = c->op->extras & RIDGE_ATTENTION_ROPE ? length_of(c, 3, shape->rope) : 0;
    a->scale = c->op->scale > 0.0 ? (float)c->op->scale
                                  : (float)(1.0 / sqrt((double)(a->h + u->rope)));
}

/* ---- keys for each query head ------------------------------------------------------
 */

/* The local key head that a local query head meets. */
static int64_t key_head(const ridge__call *c, const ridge_attention_shape *shape,
                        int64_t head)
{
    if (shape->kv_heads < 0)
        return 0;
    const ridge_program_dim *dims = c->m->program->dims;
    const int64_t group = dims[shape->heads].size / dims[shape->kv_heads].size;
    const ridge__span q = span_of(c, 0, shape->heads);
    const ridge__span k = span_of(c, 1, shape->kv_heads);
    const int64_t at = (q.start + head) / (group > 0 ? group : 1) - k.start;
    return at < 0 ? 0 : at < k.valid ? at : k.valid > 0 ? k.valid - 1 : 0;
}

static bool is_even(const ridge__call *c, const ridge_attention_shape *shape,
                    const setup *u)
{
    const ridge__span q = span_of(c, 0, shape->heads);
    if (u->a.heads % u->a.kv_heads != 0)
        return false;
    for (int64_t n = 0; n < q.valid; n++) {
        if (key_head(c, shape, n) != n / (u->a.heads / u->a.kv_heads))
            return false;
    }
    return true;
}

static ridge_status take(ridge__call *c, setup *u, int64_t elements, ridge_dtype dtype,
                         ridge__array *out)
{
    RIDGE_TRY(ridge__scratch_take(c, elements, dtype, out));
    u->taken[u->n_taken++] = *out;
    return RIDGE_OK;
}

static void *offset(ridge__array a, int64_t elements)
{
    return (char *)a.p + elements * (int64_t)ridge_dtype_bytes(a.dtype);
}

/* One head's columns between arrays [tokens, heads, width]. */
typedef struct columns {
    ridge__array array;
    int64_t heads, width, head, first;
} columns;

static ridge_status copy_columns(ridge__call *c, int64_t tokens, int64_t n,
                                 const columns *from, const columns *to, bool is_added)
{
    const ridge__copy copy = {
        .n_dims = 2,
        .sizes = {tokens, n},
        .x_strides = {from->heads * from->width, 1},
        .y_strides = {to->heads * to->width, 1},
        .x = {offset(from->array, from->head * from->width + from->first),
              from->array.dtype},
        .y = {offset(to->array, to->head * to->width + to->first), to->array.dtype},
        .is_added = is_added};
    return c->m->device->ops->copy(c->m->device, &copy);
}

/* Keys or values [.., S, heads, width] from [.., S, K, h] and a rotated part [.., S,
 * r]. */
typedef struct key_parts {
    ridge__array plain, rope; /* rope.p NULL: none */
    int64_t h, r;
} key_parts;

static ridge_status join_keys(ridge__call *c, const ridge_attention_shape *shape,
                              setup *u, const key_parts *parts, ridge__array *out)
{
    const int64_t tokens = u->a.batch * u->a.stride_s, width = parts->h + parts->r;
    const int64_t heads = u->is_expanded ? u->a.heads : u->k_heads;
    RIDGE_TRY(take(c, u, tokens * heads * width, parts->plain.dtype, out));
    for (int64_t n = 0; n < heads; n++) {
        const int64_t k = u->is_expanded ? key_head(c, shape, n) : n;
        const columns from = {parts->plain, u->k_heads, parts->h, k, 0};
        const columns rope = {parts->rope, 1, parts->r, 0, 0};
        columns to = {*out, heads, width, n, 0};
        RIDGE_TRY(copy_columns(c, tokens, parts->h, &from, &to, false));
        to.first = parts->h;
        if (parts->r > 0)
            RIDGE_TRY(copy_columns(c, tokens, parts->r, &rope, &to, false));
    }
    return RIDGE_OK;
}

/* Queries [.., T, N, H] and [.., T, N, R] side by side. */
static ridge_status join_queries(ridge__call *c, setup *u, ridge__array *out)
{
    const int64_t rows = u->a.batch * u->a.t * u->a.heads, width = u->a.h + u->rope;
    const columns plain = {u->a.q, 1, u->a.h, 0, 0};
    const columns rope = {ridge__in_array(c, 3), 1, u->rope, 0, 0};
    RIDGE_TRY(take(c, u, rows * width, u->a.q.dtype, out));
    columns to = {*out, 1, width, 0, 0};
    RIDGE_TRY(copy_columns(c, rows, u->a.h, &plain, &to, false));
    to.first = u->a.h;
    return copy_columns(c, rows, u->rope, &rope, &to, false);
}

static ridge_status lay_out(ridge__call *c, const ridge_attention_shape *shape,
                            setup *u)
{
    u->a.q = ridge__in_array(c, 0);
    u->a.k = ridge__in_array(c, 1);
    u->a.v = ridge__in_array(c, 2);
    u->is_expanded = !is_even(c, shape, u);
    if (!u->is_expanded && u->rope == 0)
        return RIDGE_OK;
    key_parts keys = {.plain = u->a.k, .h = u->a.h, .r = u->rope};
    const key_parts values = {.plain = u->a.v, .h = u->a.hv};
    if (u->rope > 0) {
        keys.rope = ridge__in_array(c, 4);
        RIDGE_TRY(join_queries(c, u, &u->a.q));
    }
    RIDGE_TRY(join_keys(c, shape, u, &keys, &u->a.k));
    if (u->is_expanded)
        RIDGE_TRY(join_keys(c, shape, u, &values, &u->a.v));
    u->a.kv_heads = u->is_expanded ? u->a.heads : u->k_heads;
    u->a.h += u->rope;
    return RIDGE_OK;
}

/* ---- gradients --------------------------------------------------------------------
 */

/* Where gradients go: straight to the outputs, or to scratch that is shared out. */
static ridge_status place_gradients(ridge__call *c, setup *u)
{
    ridge__array *const to[] = {&u->a.d_q, &u->a.d_k, &u->a.d_v};
    const int64_t keys = u->a.batch * u->a.s * u->a.kv_heads;
    const int64_t elements[] = {u->a.batch * u->a.t * u->a.heads * u->a.h,
                                keys * u->a.h, keys * u->a.hv};
    for (int i = 0; i < 3; i++) {
        const int out = ridge__gradient_output(c, i);
        const bool is_direct = out >= 0 && u->rope == 0 && !u->is_expanded;
        if (is_direct)
            *to[i] = ridge__out_array(c, out);
        else
            RIDGE_TRY(take(c, u, elements[i], RIDGE_DTYPE_FP32, to[i]));
    }
    return RIDGE_OK;
}

/* Head by head from [tokens, heads, width] to the output of an input. */
static ridge_status share_keys(ridge__call *c, const ridge_attention_shape *shape,
                               const setup *u, int input, const columns *from,
                               int64_t n)
{
    const int out = ridge__gradient_output(c, input);
    const int64_t tokens = u->a.batch * u->a.s;
    if (out < 0)
        return RIDGE_OK;
    const bool is_rope = input == 4;
    const ridge__value *v = c->out[out];
    RIDGE_TRY(c->m->device->ops->zero(
        c->m->device, v->p, (size_t)v->elements * (size_t)ridge_dtype_bytes(v->dtype)));
    for (int64_t i = 0; i < from->heads; i++) {
        columns at = *from;
        columns to = {ridge__out_array(c, out), is_rope ? 1 : u->k_heads, n, 0, 0};
        at.head = i;
        to.head = is_rope ? 0 : u->is_expanded ? key_head(c, shape, i) : i;
        RIDGE_TRY(copy_columns(c, tokens, n, &at, &to, true));
    }
    return RIDGE_OK;
}

static ridge_status share_queries(ridge__call *c, const setup *u, int input,
                                  int64_t first, int64_t n)
{
    const int out = ridge__gradient_output(c, input);
    const int64_t rows = u->a.batch * u->a.t * u->a.heads;
    if (out < 0)
        return RIDGE_OK;
    const columns from = {u->a.d_q, 1, u->a.h, 0, first};
    const columns to = {ridge__out_array(c, out), 1, n, 0, 0};
    return copy_columns(c, rows, n, &from, &to, false);
}

static ridge_status share_gradients(ridge__call *c, const ridge_attention_shape *shape,
                                    const setup *u)
{
    const int64_t heads = u->a.kv_heads, h = u->a.h - u->rope;
    if (u->rope == 0 && !u->is_expanded)
        return RIDGE_OK;
    RIDGE_TRY(share_queries(c, u, 0, 0, h));
    const columns k = {u->a.d_k, heads, u->a.h, 0, 0};
    const columns v = {u->a.d_v, heads, u->a.hv, 0, 0};
    RIDGE_TRY(share_keys(c, shape, u, 1, &k, h));
    RIDGE_TRY(share_keys(c, shape, u, 2, &v, u->a.hv));
    if (u->rope == 0)
        return RIDGE_OK;
    const columns rope = {u->a.d_k, heads, u->a.h, 0, h};
    RIDGE_TRY(share_queries(c, u, 3, h, u->rope));
    return share_keys(c, shape, u, 4, &rope, u->rope);
}

/* ---- documents ---------------------------------------------------------------------
 */

/* Where the documents of the queries begin. Of the ctx's scratch. */
static ridge_status find_documents(ridge__call *c, const ridge_attention_shape *shape,
                                   ridge__attention *a)
{
    const ridge__machine_options *o = &c->m->options;
    if (o->documents == NULL)
        return RIDGE_OK;
    int32_t *first =
        ridge_new(ridge_ctx_scratch(c->m->cx), int32_t, (size_t)(a->batch * a->t) + 1);
    if (first == NULL)
        return ridge_fail_nomem(c->m->cx);
    if (shape->n_batch != 1)
        return ridge_fail(c->m->cx, RIDGE_E_ARG,
                          "%s: documents are for sequences of tokens alone",
                          c->op->name);
    a->first_met = first;
    return o->documents(o->documents_payload, c->flight->tag,
                        span_of(c, 0, shape->batch[0]), span_of(c, 0, shape->t), first);
}

/* ---- sinks -------------------------------------------------------------------------
 */

/* The input of sinks, behind the rotated parts; -1: there are none. */
static int sinks_input(const ridge__call *c)
{
    if (!(c->op->extras & RIDGE_ATTENTION_SINKS))
        return -1;
    return c->op->extras & RIDGE_ATTENTION_ROPE ? 5 : 3;
}

static ridge__sinks sinks_of(const ridge__call *c, const setup *u, int input)
{
    return (ridge__sinks){.rows = u->a.batch * u->a.t,
                          .heads = u->a.heads,
                          .hv = u->a.hv,
                          .sinks = ridge__in_array(c, input),
                          .o = u->a.o,
                          .d_o = u->a.d_o,
                          .lse = u->a.lse};
}

static ridge_status add_sinks(ridge__call *c, const setup *u)
{
    const int input = sinks_input(c);
    if (input < 0)
        return RIDGE_OK;
    const ridge__sinks s = sinks_of(c, u, input);
    return c->m->device->ops->sinks(c->m->device, &s);
}

static ridge_status sinks_gradient(ridge__call *c, const setup *u)
{
    const int input = sinks_input(c);
    const int out = input < 0 ? -1 : ridge__gradient_output(c, input);
    ridge__array sum;
    if (out < 0)
        return RIDGE_OK;
    ridge__sinks s = sinks_of(c, u, input);
    RIDGE_TRY(ridge__scratch_take(c, s.heads, RIDGE_DTYPE_FP32, &sum));
    s.d_sinks = sum.p;
    RIDGE_TRY(c->m->device->ops->sinks_backward(c->m->device, &s));
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {s.heads},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = sum,
                              .y = ridge__out_array(c, out),
                              .is_added = c->adds[out]};
    RIDGE_TRY(c->m->device->ops->copy(c->m->device, &copy));
    ridge__scratch_give(c, &sum);
    return RIDGE_OK;
}

/* ---- the call ---------------------------------------------------------------------
 */

static ridge_status make_statistics(ridge__call *c, const setup *u)
{
    ridge__value *v = c->side;
    if (v->p != NULL)
        return RIDGE_OK;
    ridge__value made = {.elements = u->a.batch * u->a.t * u->a.heads,
                         .dtype = RIDGE_DTYPE_FP32};
    RIDGE_TRY(c->m->device->ops->alloc(c->m->device,
                                       (size_t)made.elements * sizeof(float), &made.p));
    *v = made;
    return RIDGE_OK;
}

/* The ring of ranks over which the entries are cut; NULL: they are all here. */
static ridge_comm *ring_of(const ridge__call *c, const ridge_attention_shape *shape)
{
    const int tensor = c->op->inputs[1];
    const int at = ridge__tensor_position(ridge__in_tensor(c, 1), shape->s);
    const ridge_dim_axes *axes = &c->m->partition->shardings[tensor].dims[at];
    return axes->n == 1 ? c->m->axis_groups[axes->axes[0]] : NULL;
}

static ridge_status run(ridge__call *c, const ridge_attention_shape *shape, setup *u)
{
    ridge__device *d = c->m->device;
    ridge_comm *ring = ring_of(c, shape);
    u->a.lse = c->side->p;
    if (!c->op->is_backward) {
        u->a.o = ridge__out_array(c, 0);
        RIDGE_TRY(ring ? ridge__attention_ring(c, ring, &u->a)
                       : d->ops->attention(d, &u->a));
        return add_sinks(c, u);
    }
    u->a.o = ridge__in_array(c, c->op->n_inputs - 2);
    u->a.d_o = ridge__in_array(c, c->op->n_inputs - 1);
    RIDGE_TRY(sinks_gradient(c, u));
    RIDGE_TRY(place_gradients(c, u));
    RIDGE_TRY(ring ? ridge__attention_ring(c, ring, &u->a)
                   : d->ops->attention_backward(d, &u->a));
    return share_gradients(c, shape, u);
}

ridge_status ridge__call_attention(ridge__call *c)
{
    ridge_attention_shape shape;
    setup u = {.n_taken = 0};
    if (!ridge_attention_shape_of(c->m->program, c->op, &shape))
        return ridge_fail(c->m->cx, RIDGE_E_INTERNAL, "%s has no shape", c->op->name);
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(c->m->cx));
    fill_shape(c, &shape, &u);
    ridge_status st = c->op->is_backward ? RIDGE_OK : make_statistics(c, &u);
    st = st == RIDGE_OK ? find_documents(c, &shape, &u.a) : st;
    st = st == RIDGE_OK ? lay_out(c, &shape, &u) : st;
    st = st == RIDGE_OK ? run(c, &shape, &u) : st;
    for (int i = 0; i < u.n_taken; i++)
        ridge__scratch_give(c, &u.taken[i]);
    ridge_arena_rewind(ridge_ctx_scratch(c->m->cx), mark);
    return st;
}
