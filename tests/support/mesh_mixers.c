/* What one rank computes: attention and scans, forward and backward. */
#include "mesh_machine.h"

#include "near.h"

#include <math.h>
#include <string.h>

enum { CONTEXT_MOST = 64, ATTENTION_INPUTS = 6 };

/* The operands of an attention and where they stand. */
typedef struct attention {
    const mesh_call *call;
    ridge_attention_shape shape;
    int64_t t_size, s_size, group; /* group: query heads to a KV head */
    double scale;
    int rope, sinks; /* input numbers; -1 */
    const mesh_part *in[ATTENTION_INPUTS];
    const mesh_part *dy;
    mesh_part *gradient[ATTENTION_INPUTS];
} attention;

/* One query: its indices, those of the key at hand, and the softmax over keys. */
typedef struct query {
    int64_t q[RIDGE_PROGRAM_DIM_MAX], k[RIDGE_PROGRAM_DIM_MAX];
    double p[CONTEXT_MOST], sink;
} query;

static const ridge_program *program_of(const mesh_call *call)
{
    return mesh_machine_program(call->machine);
}

static int64_t size_of(const mesh_call *call, int dim)
{
    return dim < 0 ? 0 : program_of(call)->dims[dim].size;
}

static void attention_open(const mesh_call *call, attention *a)
{
    const ridge_operation *op = call->op;
    *a = (attention){.call = call, .rope = -1, .sinks = -1};
    assert_true(ridge_attention_shape_of(program_of(call), op, &a->shape));
    assert_int_equal(op->extras & (RIDGE_ATTENTION_FAR | RIDGE_ATTENTION_CHOSEN), 0);
    const int64_t kv_heads = size_of(call, a->shape.kv_heads);
    int n = 3;
    a->t_size = size_of(call, a->shape.t);
    a->s_size = size_of(call, a->shape.s);
    assert_true(a->s_size <= CONTEXT_MOST);
    a->group = kv_heads > 0 ? size_of(call, a->shape.heads) / kv_heads : 1;
    if (op->extras & RIDGE_ATTENTION_ROPE) {
        a->rope = n;
        n += 2;
    }
    if (op->extras & RIDGE_ATTENTION_SINKS)
        a->sinks = n++;
    const double width = (double)(size_of(call, a->shape.h) +
                                  (a->rope >= 0 ? size_of(call, a->shape.rope) : 0));
    a->scale = op->scale != 0.0 ? op->scale : 1.0 / sqrt(width);
    for (int i = 0; i < n; i++)
        a->in[i] = call->in[i];
    if (!op->is_backward)
        return;
    a->dy = call->in[n + 1];
    for (int i = 0; i < n; i++)
        a->gradient[i] = mesh_call_gradient(call, i);
}

static void key_open(const attention *a, query *at, int64_t s)
{
    memcpy(at->k, at->q, sizeof at->k);
    at->k[a->shape.s] = s;
    if (a->shape.kv_heads >= 0)
        at->k[a->shape.kv_heads] = at->q[a->shape.heads] / a->group;
}

static bool is_met(const attention *a, const query *at, int64_t s)
{
    const ridge_operation *op = a->call->op;
    const int64_t u = at->q[a->shape.t] + a->s_size - a->t_size;
    if (op->is_causal && s > u)
        return false;
    if (op->window == 0)
        return true;
    return op->is_window_chunked ? s / op->window == u / op->window
                                 : s > u - op->window;
}

static double dot(const mesh_part *q, const mesh_part *k, int dim, int64_t n, query *at)
{
    double sum = 0.0;
    for (int64_t h = 0; h < n; h++) {
        at->q[dim] = at->k[dim] = h;
        sum += *mesh_at(q, at->q) * *mesh_at(k, at->k);
    }
    return sum;
}

static double score(const attention *a, query *at, int64_t s)
{
    key_open(a, at, s);
    double z = dot(a->in[0], a->in[1], a->shape.h, size_of(a->call, a->shape.h), at);
    if (a->rope >= 0)
        z += dot(a->in[a->rope], a->in[a->rope + 1], a->shape.rope,
                 size_of(a->call, a->shape.rope), at);
    return a->scale * z;
}

static void softmax(const attention *a, query *at)
{
    double top = -HUGE_VAL, sum = 0.0;
    for (int64_t s = 0; s < a->s_size; s++) {
        at->p[s] = is_met(a, at, s) ? score(a, at, s) : -HUGE_VAL;
        top = fmax(top, at->p[s]);
    }
    at->sink = a->sinks >= 0 ? *mesh_at(a->in[a->sinks], at->q) : -HUGE_VAL;
    top = fmax(top, at->sink);
    for (int64_t s = 0; s < a->s_size; s++)
        sum += at->p[s] = exp(at->p[s] - top);
    sum += at->sink = exp(at->sink - top);
    for (int64_t s = 0; s < a->s_size; s++)
        at->p[s] /= sum;
    at->sink /= sum;
}

static void query_forward(const attention *a, query *at)
{
    for (int64_t s = 0; s < a->s_size; s++) {
        key_open(a, at, s);
        for (int64_t h = 0; h < size_of(a->call, a->shape.hv); h++) {
            at->q[a->shape.hv] = at->k[a->shape.hv] = h;
            *mesh_at(a->call->out[0], at->q) += at->p[s] * *mesh_at(a->in[2], at->k);
        }
    }
}

static void add_product(const attention *a, int q_at, int k_at, int dim, double factor,
                        query *at)
{
    for (int64_t h = 0; h < size_of(a->call, dim); h++) {
        at->q[dim] = at->k[dim] = h;
        if (a->gradient[q_at])
            *mesh_at(a->gradient[q_at], at->q) += factor * *mesh_at(a->in[k_at], at->k);
        if (a->gradient[k_at])
            *mesh_at(a->gradient[k_at], at->k) += factor * *mesh_at(a->in[q_at], at->q);
    }
}

static void query_backward(const attention *a, query *at)
{
    double dp[CONTEXT_MOST], mean = 0.0;
    for (int64_t s = 0; s < a->s_size; s++) {
        key_open(a, at, s);
        dp[s] = 0.0;
        for (int64_t h = 0; h < size_of(a->call, a->shape.hv); h++) {
            at->q[a->shape.hv] = at->k[a->shape.hv] = h;
            const double dy = *mesh_at(a->dy, at->q);
            dp[s] += dy * *mesh_at(a->in[2], at->k);
            if (a->gradient[2])
                *mesh_at(a->gradient[2], at->k) += at->p[s] * dy;
        }
        mean += at->p[s] * dp[s];
    }
    for (int64_t s = 0; s < a->s_size; s++) {
        const double ds = a->scale * at->p[s] * (dp[s] - mean);
        key_open(a, at, s);
        add_product(a, 0, 1, a->shape.h, ds, at);
        if (a->rope >= 0)
            add_product(a, a->rope, a->rope + 1, a->shape.rope, ds, at);
    }
    if (a->sinks >= 0 && a->gradient[a->sinks])
        *mesh_at(a->gradient[a->sinks], at->q) -= at->sink * mean;
}

void mesh_run_attention(const mesh_call *call)
{
    attention a;
    query at;
    mesh_walk w = {.n = 0};
    attention_open(call, &a);
    mesh_walk_array(&w, call->in[0], 1);
    mesh_walk rest = {.n = 0}; /* the output holds the same queries */
    mesh_walk_array(&rest, a.dy ? a.dy : call->out[0], 1);
    assert_int_equal(rest.n, w.n);
    for (int i = 0; i < w.n; i++)
        assert_true(rest.low[i] == w.low[i] && rest.high[i] == w.high[i]);
    for (bool more = mesh_walk_first(&w, at.q); more; more = mesh_walk_next(&w, at.q)) {
        softmax(&a, &at);
        if (call->op->is_backward)
            query_backward(&a, &at);
        else
            query_forward(&a, &at);
    }
}

/* ---- scans ---------------------------------------------------------------------- */

/* y_t = bias + sum_j w_j x_(t - W + 1 + j), T third of the dims that w has. */
static void run_convolution(const mesh_call *call)
{
    const mesh_part *x = call->in[0], *w = call->in[1];
    const int channels = w->tensor->n_dims - 1;
    const int t_dim = x->tensor->dims[x->tensor->n_dims - channels - 1];
    const int w_dim = w->tensor->dims[channels];
    const int64_t width = size_of(call, w_dim);
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk walk = {.n = 0};
    mesh_walk_array(&walk, call->out[0], 0);
    mesh_walk_array(&walk, x, 0);
    for (bool more = mesh_walk_first(&walk, g); more; more = mesh_walk_next(&walk, g)) {
        const int64_t t = g[t_dim];
        double y = call->op->n_inputs > 2 ? *mesh_at(call->in[2], g) : 0.0;
        for (int64_t j = 0; j < width; j++) {
            g[t_dim] = t - width + 1 + j;
            g[w_dim] = j;
            if (g[t_dim] >= 0)
                y += *mesh_at(w, g) * *mesh_at(x, g);
        }
        g[t_dim] = t;
        *mesh_at(call->out[0], g) = y;
    }
}

enum { KEY_MOST = 64 };

/* Operands of a linear scan or a delta rule, and where they stand. */
typedef struct recurrence {
    const mesh_call *call;
    int t_dim, k_dim, a_dim, n_dim;
    int64_t group, width;
    bool is_delta;
} recurrence;

/* A key or query of the head at hand, unit if it is to be. */
static void read_vector(const recurrence *r, const mesh_part *from, int64_t *g,
                        double by, double *out)
{
    const int64_t head = g[r->n_dim];
    double squares = 1e-6;
    g[r->k_dim] = head / r->group; /* which may be the dim of heads */
    for (int64_t c = 0; c < r->width; c++) {
        g[r->a_dim] = c;
        out[c] = *mesh_at(from, g);
        squares += out[c] * out[c];
    }
    for (int64_t c = 0; r->is_delta && c < r->width; c++)
        out[c] *= by / sqrt(squares);
    g[r->n_dim] = head;
}

static double decay_at(const recurrence *r, int64_t *g, int64_t c)
{
    const int64_t head = g[r->n_dim];
    if (r->call->op->n_inputs < 4)
        return 0.0;
    g[r->a_dim] = c;
    if (mesh_has_dim(r->call->in[3], r->a_dim))
        g[r->k_dim] = head / r->group;
    const double decay = *mesh_at(r->call->in[3], g);
    g[r->n_dim] = head;
    return decay;
}

/* A token goes into the state of one value element. */
static void add_token(const recurrence *r, int64_t *g, double *state)
{
    const mesh_call *call = r->call;
    const double step = call->op->n_inputs > 4 ? *mesh_at(call->in[4], g) : 1.0;
    double rest = *mesh_at(call->in[2], g), k[KEY_MOST];
    read_vector(r, call->in[1], g, 1.0, k);
    for (int64_t c = 0; c < r->width; c++) {
        state[c] *= exp(-decay_at(r, g, c));
        rest -= r->is_delta ? state[c] * k[c] : 0.0;
    }
    for (int64_t c = 0; c < r->width; c++)
        state[c] += step * rest * k[c];
}

static void run_linear(const mesh_call *call)
{
    const mesh_part *q = call->in[0], *v = call->in[2];
    const int n = q->tensor->n_dims;
    recurrence r = {.call = call,
                    .t_dim = q->tensor->dims[n - 3],
                    .k_dim = q->tensor->dims[n - 2],
                    .a_dim = q->tensor->dims[n - 1],
                    .n_dim = v->tensor->dims[n - 2],
                    .is_delta = call->op->scan == RIDGE_SCAN_DELTA};
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk walk = {.n = 0};
    r.group = size_of(call, r.n_dim) / size_of(call, r.k_dim);
    r.width = size_of(call, r.a_dim);
    assert_true(r.width <= KEY_MOST);
    mesh_walk_array(&walk, call->out[0], 0);
    mesh_walk_array(&walk, v, 0);
    for (bool more = mesh_walk_first(&walk, g); more; more = mesh_walk_next(&walk, g)) {
        const int64_t t = g[r.t_dim];
        double state[KEY_MOST] = {0}, unit_q[KEY_MOST], o = 0.0;
        for (int64_t s = 0; s <= t; s++) {
            g[r.t_dim] = s;
            add_token(&r, g, state);
        }
        g[r.t_dim] = t;
        read_vector(&r, q, g, 1.0 / sqrt((double)r.width), unit_q);
        for (int64_t c = 0; c < r.width; c++)
            o += unit_q[c] * state[c];
        *mesh_at(call->out[0], g) = o;
    }
}

void mesh_run_scan(const mesh_call *call)
{
    assert_false(call->op->is_backward);
    if (call->op->scan == RIDGE_SCAN_CONVOLUTION)
        run_convolution(call);
    else if (call->op->scan == RIDGE_SCAN_LINEAR || call->op->scan == RIDGE_SCAN_DELTA)
        run_linear(call);
    else
        fail_msg("no kernel for this scan");
}
