/* Whether operations are well formed: how many inputs and outputs, and that their dims
 * fit. The texts say what is wanted; the reader puts the place before them. */
#include "builder.h"

/* ---- dims of tensors ------------------------------------------------------------- */

typedef struct operands {
    const ridge_program *program;
    const ridge_operation *op;
} operands;

static const ridge_tensor *input(const operands *o, int i)
{
    return &o->program->tensors[o->op->inputs[i]];
}

static const ridge_tensor *output(const operands *o, int i)
{
    return &o->program->tensors[o->op->outputs[i]];
}

static bool has_dim(const ridge_tensor *t, int dim)
{
    for (int i = 0; i < t->n_dims; i++) {
        if (t->dims[i] == dim)
            return true;
    }
    return false;
}

static bool is_within(const ridge_tensor *a, const ridge_tensor *b)
{
    for (int i = 0; i < a->n_dims; i++) {
        if (!has_dim(b, a->dims[i]))
            return false;
    }
    return true;
}

/* n dims of a from position i on are those of b from k on. */
static bool runs_alike(const ridge_tensor *a, int i, const ridge_tensor *b, int k,
                       int n)
{
    if (n < 0 || i < 0 || k < 0 || i + n > a->n_dims || k + n > b->n_dims)
        return false;
    for (int j = 0; j < n; j++) {
        if (a->dims[i + j] != b->dims[k + j])
            return false;
    }
    return true;
}

static bool is_alike(const ridge_tensor *a, const ridge_tensor *b)
{
    return a->n_dims == b->n_dims && runs_alike(a, 0, b, 0, a->n_dims);
}

static bool counts_are(const operands *o, int least, int most, int least_out,
                       int most_out)
{
    return o->op->n_inputs >= least && o->op->n_inputs <= most &&
           o->op->n_outputs >= least_out && o->op->n_outputs <= most_out;
}

static bool divides(const operands *o, int part, int whole)
{
    return o->program->dims[whole].size % o->program->dims[part].size == 0;
}

/* ---- matmuls and mixers ---------------------------------------------------------- */

static const char *einsum_fault(const operands *o)
{
    if (!counts_are(o, 1, 2, 1, 1))
        return "an einsum takes one or two inputs and gives one output";
    const ridge_tensor *out = output(o, 0);
    for (int i = 0; i < out->n_dims; i++) {
        if (!has_dim(input(o, 0), out->dims[i]) &&
            !(o->op->n_inputs > 1 && has_dim(input(o, 1), out->dims[i])))
            return "an output dim of an einsum must be in an input";
    }
    return NULL;
}

static int extra_inputs(unsigned extras)
{
    return (extras & RIDGE_ATTENTION_ROPE ? 2 : 0) +
           (extras & RIDGE_ATTENTION_SINKS ? 1 : 0) +
           (extras & RIDGE_ATTENTION_FAR ? 1 : 0) +
           (extras & RIDGE_ATTENTION_CHOSEN ? 1 : 0);
}

/* k and v: [batch.., S, K, H] or [batch.., S, H]. */
static bool is_key(const ridge_attention_shape *s, const ridge_tensor *t, int last)
{
    const int tail = s->kv_heads >= 0 ? 3 : 2;
    const int lead = t->n_dims - tail;
    if (lead < 0 || t->dims[lead] != s->s || t->dims[t->n_dims - 1] != last)
        return false;
    return s->kv_heads < 0 || t->dims[lead + 1] == s->kv_heads;
}

static const char *extras_fault(const operands *o, const ridge_attention_shape *s)
{
    const ridge_tensor *q = input(o, 0);
    int at = 3;
    if (o->op->extras & RIDGE_ATTENTION_ROPE) {
        const ridge_tensor *qr = input(o, at), *kr = input(o, at + 1);
        const int n = kr->n_dims;
        if (qr->n_dims != q->n_dims || !runs_alike(qr, 0, q, 0, q->n_dims - 1) ||
            n < 2 || kr->dims[n - 1] != s->rope || kr->dims[n - 2] != s->s)
            return "rope inputs must be [.., T, N, R] like q, and [.., S, R]";
        at += 2;
    }
    if ((o->op->extras & RIDGE_ATTENTION_SINKS) && !is_within(input(o, at++), q))
        return "the dims of sinks must be among those of q";
    if (o->op->extras & RIDGE_ATTENTION_FAR) {
        const ridge_tensor *far = input(o, at++);
        const int n = far->n_dims;
        if (n < 2 || far->dims[n - 1] != s->h || s->hv != s->h)
            return "far entries must be [.., S2, H] with the H of q and v";
    }
    if (o->op->extras & RIDGE_ATTENTION_CHOSEN) {
        const ridge_tensor *chosen = input(o, at);
        if (chosen->n_dims < 2 || chosen->dims[chosen->n_dims - 2] != s->t)
            return "chosen must be [.., T, J]";
    }
    return NULL;
}

static const char *attention_fault(const operands *o)
{
    const int wanted = 3 + extra_inputs(o->op->extras);
    const int more = o->op->is_backward ? 2 : 0;
    ridge_attention_shape s;
    if (!counts_are(o, wanted + more, wanted + more, 1, o->op->is_backward ? 8 : 1))
        return "attention takes q, k, v, an input for each extra (rope two), and "
               "backward o and its gradient";
    if (!ridge_attention_shape_of(o->program, o->op, &s))
        return "attention takes q[.., T, N, H], k[.., S, K, H], v[.., S, K, Hv]";
    if (!is_key(&s, input(o, 1), s.h) || !is_key(&s, input(o, 2), s.hv))
        return "k must end in S, K and the H of q, and v in the S and K of k";
    if (s.kv_heads >= 0 && !divides(o, s.kv_heads, s.heads))
        return "the KV heads must divide the query heads";
    const char *fault = extras_fault(o, &s);
    if (fault != NULL || o->op->is_backward)
        return fault;
    const ridge_tensor *q = input(o, 0), *out = output(o, 0);
    if (out->n_dims != q->n_dims || !runs_alike(out, 0, q, 0, q->n_dims - 1) ||
        out->dims[q->n_dims - 1] != s.hv)
        return "the output of attention has the dims of q, with the last of v";
    return NULL;
}

static const char *linear_fault(const operands *o)
{
    static const char WANTED[] =
        "a linear scan takes q and k [.., T, K, A], v[.., T, N, P], decay [.., T, N] "
        "or like k and step [.., T, N] (a delta all of them), and gives o like v and "
        "a state [.., N, A, P]";
    if (!counts_are(o, o->op->scan == RIDGE_SCAN_DELTA ? 5 : 3, 5, 1, 2))
        return WANTED;
    const ridge_tensor *q = input(o, 0), *v = input(o, 2), *out = output(o, 0);
    const int n = v->n_dims;
    if (!is_alike(q, input(o, 1)) || q->n_dims != n || n < 3 ||
        !runs_alike(q, 0, v, 0, n - 2) || !is_alike(out, v) ||
        !divides(o, q->dims[n - 2], v->dims[n - 2]))
        return WANTED;
    if (o->op->n_inputs > 3) {
        const ridge_tensor *decay = input(o, 3);
        if (!is_alike(decay, q) &&
            !(decay->n_dims == n - 1 && runs_alike(decay, 0, v, 0, n - 1)))
            return WANTED;
    }
    if (o->op->n_inputs > 4) {
        const ridge_tensor *step = input(o, 4);
        if (step->n_dims != n - 1 || !runs_alike(step, 0, v, 0, n - 1))
            return WANTED;
    }
    if (o->op->n_outputs > 1) {
        const ridge_tensor *state = output(o, 1);
        if (state->n_dims != n || !runs_alike(state, 0, v, 0, n - 3) ||
            state->dims[n - 3] != v->dims[n - 2] ||
            state->dims[n - 2] != q->dims[n - 1] ||
            state->dims[n - 1] != v->dims[n - 1])
            return WANTED;
    }
    return NULL;
}

static const char *convolution_fault(const operands *o)
{
    static const char WANTED[] = "a convolution takes x[.., T, c..], w[c.., W] and "
                                 "bias[c..], and gives y like x "
                                 "and a tail [.., c.., W-1]";
    if (!counts_are(o, 2, 3, 1, 2))
        return WANTED;
    const ridge_tensor *x = input(o, 0), *w = input(o, 1);
    const int channels = w->n_dims - 1, lead = x->n_dims - channels;
    if (channels < 1 || lead < 1 || !runs_alike(x, lead, w, 0, channels) ||
        !is_alike(output(o, 0), x))
        return WANTED;
    if (o->op->n_inputs > 2) {
        const ridge_tensor *bias = input(o, 2);
        if (bias->n_dims != channels || !runs_alike(bias, 0, w, 0, channels))
            return WANTED;
    }
    if (o->op->n_outputs > 1) {
        const ridge_tensor *tail = output(o, 1);
        if (tail->n_dims != x->n_dims || !runs_alike(tail, 0, x, 0, lead - 1) ||
            !runs_alike(tail, lead - 1, w, 0, channels))
            return WANTED;
    }
    return NULL;
}

static const char *select_fault(const operands *o)
{
    static const char WANTED[] =
        "a select takes q[.., T, N, H], k[.., S, H] and weights[.., T, N], and gives "
        "indices [.., T, J]";
    if (!counts_are(o, 2, 3, 1, 1))
        return WANTED;
    const ridge_tensor *q = input(o, 0), *k = input(o, 1), *out = output(o, 0);
    const int n = q->n_dims;
    if (n < 3 || k->n_dims < 2 || k->dims[k->n_dims - 1] != q->dims[n - 1] ||
        out->n_dims != n - 1 || !runs_alike(out, 0, q, 0, n - 2))
        return WANTED;
    if (o->op->n_inputs > 2) {
        const ridge_tensor *w = input(o, 2);
        if (w->n_dims != n - 1 || !runs_alike(w, 0, q, 0, n - 1))
            return WANTED;
    }
    return NULL;
}

static const char *pool_fault(const operands *o)
{
    static const char WANTED[] =
        "a pool takes x and gates [.., T, O, H] and a table [R, O, H], and gives "
        "[.., S2, H]";
    if (!counts_are(o, 3, 3, 1, 1))
        return WANTED;
    const ridge_tensor *x = input(o, 0), *table = input(o, 2), *out = output(o, 0);
    const int n = x->n_dims;
    if (n < 3 || !is_alike(x, input(o, 1)) || table->n_dims != 3 ||
        !runs_alike(table, 1, x, n - 2, 2) || out->n_dims != n - 1 ||
        !runs_alike(out, 0, x, 0, n - 3) || out->dims[n - 2] != x->dims[n - 1])
        return WANTED;
    return NULL;
}

static const char *scan_backward_fault(const operands *o)
{
    static const int INPUTS[][2] = {[RIDGE_SCAN_LINEAR] = {4, 6},
                                    [RIDGE_SCAN_DELTA] = {6, 6},
                                    [RIDGE_SCAN_CONVOLUTION] = {3, 4},
                                    [RIDGE_SCAN_SELECT] = {2, 3},
                                    [RIDGE_SCAN_POOL] = {4, 4}};
    const int *counts = INPUTS[o->op->scan];
    if (o->op->n_inputs < counts[0] || o->op->n_inputs > counts[1] ||
        input(o, 0)->n_dims < 2)
        return "a backward scan takes the forward inputs and the output's gradient";
    return NULL;
}

static const char *scan_fault(const operands *o)
{
    if (o->op->is_backward)
        return scan_backward_fault(o);
    switch (o->op->scan) {
    case RIDGE_SCAN_LINEAR:
    case RIDGE_SCAN_DELTA:
        return linear_fault(o);
    case RIDGE_SCAN_CONVOLUTION:
        return convolution_fault(o);
    case RIDGE_SCAN_SELECT:
        return select_fault(o);
    case RIDGE_SCAN_POOL:
        return pool_fault(o);
    }
    return "unknown kind of scan";
}

/* ---- the rest -------------------------------------------------------------------- */

static const char *norm_fault(const operands *o)
{
    static const char WANTED[] =
        "a norm takes x[.., D], a weight with the last dims of "
        "x and a bias like it, and gives y like x";
    if (o->op->is_backward)
        return counts_are(o, 2, 3, 1, 3) ? NULL : "a backward norm takes x, weight, dy";
    if (!counts_are(o, 1, 3, 1, 1) || input(o, 0)->n_dims < 1 ||
        !is_alike(input(o, 0), output(o, 0)))
        return WANTED;
    const ridge_tensor *x = input(o, 0);
    for (int i = 1; i < o->op->n_inputs; i++) {
        const ridge_tensor *w = input(o, i);
        if (w->n_dims < 1 || !runs_alike(w, 0, x, x->n_dims - w->n_dims, w->n_dims) ||
            !is_alike(w, input(o, 1)))
            return WANTED;
    }
    const double groups = (double)(o->op->norm_groups > 1 ? o->op->norm_groups : 1);
    const ridge_tensor *normed = input(o, o->op->n_inputs > 1 ? 1 : 0);
    const double run = ridge_tensor_elements(o->program, normed) / groups;
    return run == (double)(int64_t)run
               ? NULL
               : "the groups of a norm must divide the elements of its weight";
}

static bool may_broadcast(ridge_function f)
{
    return f == RIDGE_FUNCTION_COPY || f == RIDGE_FUNCTION_ADD ||
           f == RIDGE_FUNCTION_MULTIPLY;
}

static const char *append_fault(const operands *o)
{
    const ridge_tensor *x = input(o, 0), *cache = output(o, 0);
    int differ = x->n_dims == cache->n_dims ? 0 : 2;
    for (int i = 0; differ < 2 && i < x->n_dims; i++)
        differ += x->dims[i] != cache->dims[i];
    return differ < 2 ? NULL : "append's output differs from its input in one dim";
}

static const char *elementwise_fault(const operands *o)
{
    const ridge_operation *op = o->op;
    const bool takes_dy = op->is_backward && !may_broadcast(op->function) &&
                          op->function != RIDGE_FUNCTION_SCALE &&
                          op->function != RIDGE_FUNCTION_ROTARY;
    const int inputs = ridge_function_inputs(op->function);
    if (!counts_are(o, inputs + takes_dy, inputs + takes_dy, 1, takes_dy ? inputs : 1))
        return "wrong number of inputs or outputs for this function";
    if (op->function == RIDGE_FUNCTION_APPEND)
        return append_fault(o);
    for (int i = 0; i < op->n_inputs; i++) {
        if (!is_within(input(o, i), output(o, 0)))
            return "an input of an elementwise operation has a dim that its output "
                   "lacks";
        if (!may_broadcast(op->function) && !is_within(output(o, 0), input(o, i)))
            return "only add, multiply and copy repeat an input over dims that it "
                   "lacks";
    }
    if (op->function == RIDGE_FUNCTION_ROTARY &&
        (op->position_dim < 0 || !has_dim(output(o, 0), op->position_dim)))
        return "rotary needs over=DIM, a dim of its output, for positions";
    return NULL;
}

static const char *gather_fault(const operands *o)
{
    if (!counts_are(o, 2, 2, 1, 1))
        return "a gather takes two inputs and gives one output";
    const int table_at = o->op->is_backward ? -1 : 0;
    const ridge_tensor *table = table_at == 0 ? input(o, 0) : output(o, 0);
    const ridge_tensor *index = table_at == 0 ? input(o, 1) : input(o, 0);
    const ridge_tensor *rows = table_at == 0 ? output(o, 0) : input(o, 1);
    if (table->n_dims < 1 || rows->n_dims != index->n_dims + table->n_dims - 1 ||
        !runs_alike(rows, 0, index, 0, index->n_dims) ||
        !runs_alike(rows, index->n_dims, table, 1, table->n_dims - 1))
        return "a gather takes table[V, c..] and indices[..], and gives [.., c..]";
    return NULL;
}

static const char *loss_fault(const operands *o)
{
    const int least = 2, most = o->op->is_backward ? 3 : 2;
    if (!counts_are(o, least, most, 1, 1) || input(o, 0)->n_dims < 1)
        return "a loss takes logits[.., V] and labels[..]";
    const ridge_tensor *logits = input(o, 0), *labels = input(o, 1);
    const ridge_tensor *out = output(o, 0);
    if (labels->n_dims != logits->n_dims - 1 ||
        !runs_alike(labels, 0, logits, 0, labels->n_dims) ||
        !is_alike(out, o->op->is_backward ? logits : labels))
        return "a loss takes logits[.., V] and labels[..]; it gives one number a label";
    return NULL;
}

static const char *route_fault(const operands *o)
{
    const int wanted = o->op->is_backward ? 2 : 1;
    if (!counts_are(o, wanted, wanted, 1, 1) || input(o, 0)->n_dims < 1 ||
        !is_alike(input(o, 0), output(o, 0)))
        return "a route takes logits[.., E] and gives gates like them";
    const ridge_tensor *logits = input(o, 0);
    const int64_t experts = o->program->dims[logits->dims[logits->n_dims - 1]].size;
    if (o->op->experts_per_token < 1 || o->op->experts_per_token > experts)
        return "a route needs k=COUNT from 1 to the experts";
    return NULL;
}

/* tokens [.., c..], gates [.., E] and rows [E, C, c..] */
static bool is_dispatch(const ridge_tensor *tokens, const ridge_tensor *gates,
                        const ridge_tensor *rows)
{
    const int lead = gates->n_dims - 1;
    if (lead < 0 || rows->n_dims < 2)
        return false;
    return rows->dims[0] == gates->dims[lead] &&
           rows->n_dims - 2 == tokens->n_dims - lead &&
           runs_alike(tokens, 0, gates, 0, lead) &&
           runs_alike(rows, 2, tokens, lead, rows->n_dims - 2);
}

static const char *dispatch_fault(const operands *o)
{
    static const char WANTED[] =
        "a dispatch takes x[.., c..] and gates[.., E] and gives "
        "rows[E, C, c..]; backward gates and drows, giving dx";
    if (!counts_are(o, 2, 2, 1, 1))
        return WANTED;
    if (o->op->is_backward)
        return is_dispatch(output(o, 0), input(o, 0), input(o, 1)) ? NULL : WANTED;
    return is_dispatch(input(o, 0), input(o, 1), output(o, 0)) ? NULL : WANTED;
}

static const char *combine_fault(const operands *o)
{
    static const char WANTED[] = "a combine takes rows[E, C, c..] and gates[.., E] and "
                                 "gives y[.., c..]; backward also dy";
    const bool is_backward = o->op->is_backward;
    if (!counts_are(o, is_backward ? 3 : 2, is_backward ? 3 : 2, 1,
                    is_backward ? 2 : 1))
        return WANTED;
    const ridge_tensor *y = is_backward ? input(o, 2) : output(o, 0);
    return is_dispatch(y, input(o, 1), input(o, 0)) ? NULL : WANTED;
}

static const char *update_fault(const operands *o)
{
    if (!counts_are(o, 2, 5, 1, 4) || o->op->n_outputs != o->op->n_inputs - 1 ||
        o->op->outputs[0] != o->op->inputs[0] || o->op->inputs[1] == o->op->inputs[0])
        return "an update takes weight, gradient, states and gives weight, states";
    for (int i = 1; i < o->op->n_inputs; i++) {
        if ((!is_alike(input(o, i), input(o, 0)) &&
             !ridge_update_is_factor(o->program, o->op, i)) ||
            (i > 1 && o->op->outputs[i - 1] != o->op->inputs[i]))
            return "an update's inputs are alike, and written in place";
    }
    return NULL;
}

/* Outputs of what stays a backward operation belong to tensors like them. */
static const char *gradients_fault(const operands *o)
{
    for (int i = 0; i < o->op->n_outputs; i++) {
        const int of = output(o, i)->gradient_of;
        if (of < 0 || !is_alike(output(o, i), &o->program->tensors[of]))
            return "an output of a backward operation is a gradient, with the dims of "
                   "its tensor";
    }
    return NULL;
}

static const char *code_fault(const operands *o)
{
    switch (o->op->code) {
    case RIDGE_OPCODE_EINSUM:
        return einsum_fault(o);
    case RIDGE_OPCODE_ATTENTION:
        return attention_fault(o);
    case RIDGE_OPCODE_SCAN:
        return scan_fault(o);
    case RIDGE_OPCODE_NORM:
        return norm_fault(o);
    case RIDGE_OPCODE_ELEMENTWISE:
        return elementwise_fault(o);
    case RIDGE_OPCODE_GATHER:
        return gather_fault(o);
    case RIDGE_OPCODE_LOSS:
        return loss_fault(o);
    case RIDGE_OPCODE_ROUTE:
        return route_fault(o);
    case RIDGE_OPCODE_DISPATCH:
        return dispatch_fault(o);
    case RIDGE_OPCODE_COMBINE:
        return combine_fault(o);
    case RIDGE_OPCODE_UPDATE:
        return update_fault(o);
    case RIDGE_OPCODE_COLLECTIVE:
    case RIDGE_OPCODE_SEND:
        return counts_are(o, 1, 1, 1, 1) ? NULL : "one input and one output are wanted";
    }
    return "unknown operation";
}

const char *ridge__operation_fault(const ridge_program *program,
                                   const ridge_operation *op)
{
    const operands o = {program, op};
    const char *fault = code_fault(&o);
    const bool is_plain =
        op->code == RIDGE_OPCODE_EINSUM || op->code == RIDGE_OPCODE_ELEMENTWISE ||
        op->code == RIDGE_OPCODE_COLLECTIVE || op->code == RIDGE_OPCODE_SEND;
    if (fault == NULL && op->is_backward && !is_plain)
        fault = gradients_fault(&o);
    return fault;
}
