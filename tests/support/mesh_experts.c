/* What one rank computes: routing, dispatch and combine, the loss. */
#include "mesh_machine.h"

#include "near.h"

#include <math.h>
#include <string.h>

enum { EXPERTS_MOST = 16 };

static const ridge_program *program_of(const mesh_call *call)
{
    return mesh_machine_program(call->machine);
}

static int last_dim(const mesh_part *a)
{
    return a->tensor->dims[a->tensor->n_dims - 1];
}

/* ---- route ---------------------------------------------------------------------- */

static void gate_row(const mesh_call *call, int64_t *g, int dim, int64_t n)
{
    double z[EXPERTS_MOST], sum = 0.0;
    bool is_chosen[EXPERTS_MOST] = {false};
    int64_t first = -1;
    for (int64_t e = 0; e < n; e++) {
        g[dim] = e;
        z[e] = *mesh_at(call->in[0], g);
    }
    for (int64_t i = 0; i < call->op->experts_per_token; i++) {
        int64_t best = -1;
        for (int64_t e = 0; e < n; e++) {
            if (!is_chosen[e] && (best < 0 || z[e] > z[best]))
                best = e;
        }
        is_chosen[best] = true;
        first = first < 0 ? best : first;
    }
    for (int64_t e = 0; e < n; e++)
        sum += is_chosen[e] ? exp(z[e] - z[first]) : 0.0;
    for (int64_t e = 0; e < n; e++) {
        g[dim] = e;
        *mesh_at(call->out[0], g) = is_chosen[e] ? exp(z[e] - z[first]) / sum : 0.0;
    }
}

/* Inputs gates and dgates. */
static void gate_row_backward(const mesh_call *call, int64_t *g, int dim, int64_t n)
{
    double mean = 0.0;
    for (int64_t e = 0; e < n; e++) {
        g[dim] = e;
        mean += *mesh_at(call->in[0], g) * *mesh_at(call->in[1], g);
    }
    for (int64_t e = 0; e < n; e++) {
        g[dim] = e;
        *mesh_at(call->out[0], g) =
            *mesh_at(call->in[0], g) * (*mesh_at(call->in[1], g) - mean);
    }
}

void mesh_run_route(const mesh_call *call)
{
    const int dim = last_dim(call->in[0]);
    const int64_t n = program_of(call)->dims[dim].size;
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk w = {.n = 0};
    assert_true(n <= EXPERTS_MOST);
    for (int i = 0; i < call->op->n_inputs; i++)
        mesh_walk_array(&w, call->in[i], 1);
    mesh_walk_array(&w, call->out[0], 1);
    for (bool more = mesh_walk_first(&w, g); more; more = mesh_walk_next(&w, g)) {
        if (call->op->is_backward)
            gate_row_backward(call, g, dim, n);
        else
            gate_row(call, g, dim, n);
    }
}

/* ---- dispatch and combine ------------------------------------------------------- */

/* What to do with a token that has a row: all at global indices g. */
typedef void visit_fn(const mesh_call *call, const int64_t *g);

/* Rows of an expert are handed out to the tokens that a rank holds, in their order. */
static void each_row(const mesh_call *call, const mesh_part *gates,
                     const mesh_part *rows, visit_fn *visit)
{
    const int e_dim = last_dim(gates), c_dim = rows->tensor->dims[1];
    const mesh_span experts = mesh_span_find(gates, e_dim);
    const mesh_span places = mesh_span_find(rows, c_dim);
    int64_t taken[EXPERTS_MOST] = {0}, g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk tokens = {.n = 0}, check = {.n = 0}, channels = {.n = 0};
    mesh_walk_array(&check, gates, 0);
    mesh_walk_add(&check, e_dim, mesh_span_find(rows, e_dim));
    mesh_walk_array(&tokens, gates, 1);
    for (int i = 2; i < rows->tensor->n_dims; i++)
        mesh_walk_add(&channels, rows->tensor->dims[i], rows->spans[i]);
    for (bool more = mesh_walk_first(&tokens, g); more;
         more = mesh_walk_next(&tokens, g)) {
        for (int64_t e = experts.start; e < experts.start + experts.valid; e++) {
            g[e_dim] = e;
            if (*mesh_at(gates, g) == 0.0 || taken[e] >= places.valid)
                continue;
            g[c_dim] = places.start + taken[e]++;
            for (bool go = mesh_walk_first(&channels, g); go;
                 go = mesh_walk_next(&channels, g))
                visit(call, g);
        }
    }
}

/* Tokens hold the same part as their gates. */
static void check_tokens(const mesh_part *tokens, const mesh_part *gates)
{
    mesh_walk w = {.n = 0};
    mesh_walk_array(&w, gates, 1);
    mesh_walk_array(&w, tokens, 0);
}

static void visit_dispatch(const mesh_call *call, const int64_t *g)
{
    *mesh_at(call->out[0], g) = *mesh_at(call->in[0], g);
}

static void visit_dispatch_back(const mesh_call *call, const int64_t *g)
{
    *mesh_at(call->out[0], g) += *mesh_at(call->in[1], g);
}

void mesh_run_dispatch(const mesh_call *call)
{
    if (call->op->is_backward) {
        check_tokens(call->out[0], call->in[0]);
        each_row(call, call->in[0], call->in[1], visit_dispatch_back);
    } else {
        check_tokens(call->in[0], call->in[1]);
        each_row(call, call->in[1], call->out[0], visit_dispatch);
    }
}

static void visit_combine(const mesh_call *call, const int64_t *g)
{
    *mesh_at(call->out[0], g) += *mesh_at(call->in[0], g) * *mesh_at(call->in[1], g);
}

static void visit_combine_back(const mesh_call *call, const int64_t *g)
{
    mesh_part *rows = mesh_call_gradient(call, 0);
    mesh_part *gates = mesh_call_gradient(call, 1);
    if (rows)
        *mesh_at(rows, g) = *mesh_at(call->in[1], g) * *mesh_at(call->in[2], g);
    if (gates)
        *mesh_at(gates, g) += *mesh_at(call->in[0], g) * *mesh_at(call->in[2], g);
}

void mesh_run_combine(const mesh_call *call)
{
    const bool is_backward = call->op->is_backward;
    check_tokens(is_backward ? call->in[2] : call->out[0], call->in[1]);
    each_row(call, call->in[1], call->in[0],
             is_backward ? visit_combine_back : visit_combine);
}

/* ---- loss ----------------------------------------------------------------------- */

/* Largest logit and sum of exponentials relative to it, of the words that a rank has.
 */
static void row_state(const mesh_part *logits, int64_t *g, double *top, double *sum)
{
    const int dim = last_dim(logits);
    const mesh_span words = mesh_span_find(logits, dim);
    *top = -HUGE_VAL;
    *sum = 0.0;
    for (int64_t v = words.start; v < words.start + words.valid; v++) {
        g[dim] = v;
        *top = fmax(*top, *mesh_at(logits, g));
    }
    for (int64_t v = words.start; v < words.start + words.valid; v++) {
        g[dim] = v;
        *sum += exp(*mesh_at(logits, g) - *top);
    }
}

/* A rank with a part of the words gives the state of a softmax. */
static void loss_row(const mesh_call *call, int64_t *g)
{
    const mesh_part *logits = call->in[0];
    mesh_part *out = call->out[0];
    const int dim = last_dim(logits);
    double top = 0.0, sum = 0.0;
    row_state(logits, g, &top, &sum);
    g[dim] = (int64_t)*mesh_at(call->in[1], g);
    const int64_t label = mesh_place(logits, g);
    const int64_t at = mesh_place(out, g);
    if (out->stage == 0) {
        out->data[at] = top + log(sum) - logits->data[label];
        return;
    }
    out->data[at] = label < 0 ? 0.0 : logits->data[label];
    out->top[at] = top;
    out->sum[at] = sum;
}

/* Backward, the sums over all words are those that the forward pass has left. */
static void loss_row_backward(const mesh_call *call, int64_t *g)
{
    const mesh_part *logits = call->in[0];
    const int dim = last_dim(logits);
    double all_top = -HUGE_VAL, all_sum = 0.0;
    for (int64_t i = 0; i < mesh_call_peers(call, 0, dim); i++) {
        double top = 0.0, sum = 0.0;
        row_state(mesh_call_peer(call, 0, dim, i), g, &top, &sum);
        const double now = fmax(top, all_top);
        all_sum = (all_sum > 0.0 ? all_sum * exp(all_top - now) : 0.0) +
                  (sum > 0.0 ? sum * exp(top - now) : 0.0);
        all_top = now;
    }
    const int64_t label = (int64_t)*mesh_at(call->in[1], g);
    const double dy = call->op->n_inputs > 2 ? *mesh_at(call->in[2], g) : 1.0;
    const mesh_span words = mesh_span_find(call->out[0], dim);
    for (int64_t v = words.start; v < words.start + words.valid; v++) {
        g[dim] = v;
        const double p = exp(*mesh_at(logits, g) - all_top) / all_sum;
        *mesh_at(call->out[0], g) = dy * (p - (v == label ? 1.0 : 0.0));
    }
}

void mesh_run_loss(const mesh_call *call)
{
    const mesh_part *logits = call->in[0];
    mesh_part *out = call->out[0];
    const int dim = last_dim(logits);
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk w = {.n = 0};
    mesh_walk_array(&w, call->in[1], 0);
    mesh_walk_array(&w, logits, 1);
    if (!call->op->is_backward && mesh_call_peers(call, 0, dim) > 1)
        mesh_machine_softmax(call->machine, out);
    for (bool more = mesh_walk_first(&w, g); more; more = mesh_walk_next(&w, g)) {
        if (call->op->is_backward)
            loss_row_backward(call, g);
        else
            loss_row(call, g);
    }
}
