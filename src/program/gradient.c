/* The backward rule of each operation. Gradients of outputs are there; shares of the
 * inputs' are made. What each rule reads is said in ridge/program.h. */
#include "backward.h"

#include <string.h>

typedef struct rule {
    ridge__reverse *r;
    const ridge_operation *op; /* a copy: the program's may move */
    int op_index;
    int dy; /* gradient of the first output */
} rule;

static const ridge_tensor *tensor_at(const rule *u, int i)
{
    return &u->r->b->p.tensors[i];
}

static bool has_dim(const ridge_tensor *t, int dim)
{
    for (int i = 0; i < t->n_dims; i++) {
        if (t->dims[i] == dim)
            return true;
    }
    return false;
}

static bool is_alike(const ridge_tensor *a, const ridge_tensor *b)
{
    return a->n_dims == b->n_dims &&
           memcmp(a->dims, b->dims, (size_t)a->n_dims * sizeof *a->dims) == 0;
}

static bool has_all_dims(const ridge_tensor *of, const ridge_tensor *in)
{
    for (int i = 0; i < of->n_dims; i++) {
        if (!has_dim(in, of->dims[i]))
            return false;
    }
    return true;
}

/* ---- making operations ----------------------------------------------------------- */

/* "d_q_proj", or with what it is the gradient of behind it where there are two. */
static const char *name_of(const rule *u, int output)
{
    return ridge_tensor_base(tensor_at(u, output));
}

static ridge_operation start(const rule *u, ridge_opcode code)
{
    ridge_operation op = ridge__operation_new(code, NULL);
    op.part = u->op->part;
    op.is_head = u->op->is_head;
    op.is_backward = true;
    op.forward_of = u->op_index;
    return op;
}

static void emit(const rule *u, ridge_operation *op)
{
    if (ridge__builder_is_bad(u->r->b))
        return;
    op->name = name_of(u, op->outputs[0]);
    ridge__reverse_op(u->r, op);
}

/* An operation with one output, a value that is no gradient's share yet. */
static int emit_one(const rule *u, ridge_operation *op, int output)
{
    op->n_outputs = 1;
    op->outputs[0] = output;
    emit(u, op);
    return output;
}

/* A tensor on the way to the gradient of @p of: other dims, the same dtype. */
static int partial(const rule *u, int of, const ridge_tensor *dims)
{
    const int t = ridge__reverse_tensor(u->r, of);
    if (t < 0)
        return -1;
    ridge_tensor *made = &u->r->b->p.tensors[t];
    made->n_dims = dims->n_dims;
    memcpy(made->dims, dims->dims, sizeof made->dims);
    made->gradient_of = -1;
    made->role = RIDGE_ROLE_GRADIENT;
    return t;
}

static int einsum(const rule *u, int a, int b, int output)
{
    ridge_operation op = start(u, RIDGE_OPCODE_EINSUM);
    op.n_inputs = b < 0 ? 1 : 2;
    op.inputs[0] = a;
    op.inputs[1] = b < 0 ? 0 : b;
    return emit_one(u, &op, output);
}

static int function(const rule *u, ridge_function f, int a, int b, int output)
{
    ridge_operation op = start(u, RIDGE_OPCODE_ELEMENTWISE);
    op.function = f;
    op.n_inputs = b < 0 ? 1 : 2;
    op.inputs[0] = a;
    op.inputs[1] = b < 0 ? 0 : b;
    return emit_one(u, &op, output);
}

/* Share of an input from a gradient with at least its dims: itself, or a sum. */
static void share_sum(const rule *u, int input, int gradient)
{
    if (ridge__builder_is_bad(u->r->b))
        return;
    if (is_alike(tensor_at(u, input), tensor_at(u, gradient))) {
        ridge__reverse_share(u->r, input, gradient);
        return;
    }
    const int out = ridge__reverse_tensor(u->r, input);
    ridge__reverse_share(u->r, input, einsum(u, gradient, -1, out));
}

/* ---- einsum ---------------------------------------------------------------------- */

/* da = dc b summed over the dims that a lacks; a dim that only a has is repeated. */
static void einsum_input(const rule *u, int input, int other)
{
    if (!ridge__reverse_wants(u->r, input) || ridge__builder_is_bad(u->r->b))
        return;
    const ridge_tensor *a = tensor_at(u, input), *dc = tensor_at(u, u->dy);
    ridge_tensor reached = {.n_dims = 0};
    for (int i = 0; i < a->n_dims; i++) {
        if (has_dim(dc, a->dims[i]) ||
            (other >= 0 && has_dim(tensor_at(u, other), a->dims[i])))
            reached.dims[reached.n_dims++] = a->dims[i];
    }
    const bool is_whole = reached.n_dims == a->n_dims;
    if (other < 0) {
        const bool is_same = is_alike(a, dc);
        ridge__reverse_share(u->r, input,
                             is_same ? u->dy
                                     : function(u, RIDGE_FUNCTION_COPY, u->dy, -1,
                                                ridge__reverse_tensor(u->r, input)));
        return;
    }
    if (is_whole) {
        const int out = ridge__reverse_tensor(u->r, input);
        ridge__reverse_share(u->r, input, einsum(u, u->dy, other, out));
        return;
    }
    const int part = einsum(u, u->dy, other, partial(u, input, &reached));
    const int out = ridge__reverse_tensor(u->r, input);
    ridge__reverse_share(u->r, input, function(u, RIDGE_FUNCTION_COPY, part, -1, out));
}

static void einsum_rule(const rule *u)
{
    if (u->op->n_inputs == 1) {
        einsum_input(u, u->op->inputs[0], -1);
        return;
    }
    einsum_input(u, u->op->inputs[0], u->op->inputs[1]);
    einsum_input(u, u->op->inputs[1], u->op->inputs[0]);
}

/* ---- elementwise ----------------------------------------------------------------- */

static void multiply_input(const rule *u, int input, int other)
{
    if (!ridge__reverse_wants(u->r, input) || ridge__builder_is_bad(u->r->b))
        return;
    const ridge_tensor *dy = tensor_at(u, u->dy);
    if (has_all_dims(dy, tensor_at(u, input))) {
        const int out = ridge__reverse_tensor(u->r, input);
        ridge__reverse_share(u->r, input,
                             function(u, RIDGE_FUNCTION_MULTIPLY, u->dy, other, out));
        return;
    }
    const ridge_tensor whole = *dy;
    const int product =
        function(u, RIDGE_FUNCTION_MULTIPLY, u->dy, other, partial(u, input, &whole));
    share_sum(u, input, product);
}

/* One operation whose outputs are gradients of all wanted inputs. */
static void joint_rule(const rule *u, ridge_operation *op, int first_wanted,
                       int n_wanted)
{
    int inputs[RIDGE_OP_OUTPUT_MAX];
    for (int i = first_wanted; i < first_wanted + n_wanted; i++) {
        const int input = u->op->inputs[i];
        if (!ridge__reverse_wants(u->r, input) || op->n_outputs == RIDGE_OP_OUTPUT_MAX)
            continue;
        const int out = ridge__reverse_tensor(u->r, input);
        inputs[op->n_outputs] = input;
        op->outputs[op->n_outputs++] = out;
    }
    if (op->n_outputs == 0 || ridge__builder_is_bad(u->r->b))
        return;
    emit(u, op);
    for (int i = 0; i < op->n_outputs; i++)
        ridge__reverse_share(u->r, inputs[i], op->outputs[i]);
}

static void copy_inputs(const rule *u, ridge_operation *op, int n)
{
    for (int i = 0; i < n; i++)
        op->inputs[op->n_inputs++] = u->op->inputs[i];
}

static void elementwise_rule(const rule *u)
{
    const int *in = u->op->inputs;
    ridge_operation op = *u->op;
    op.is_backward = true;
    op.forward_of = u->op_index;
    op.n_inputs = op.n_outputs = 0;
    switch (u->op->function) {
    case RIDGE_FUNCTION_COPY:
    case RIDGE_FUNCTION_ADD:
        for (int i = 0; i < u->op->n_inputs; i++) {
            if (ridge__reverse_wants(u->r, in[i]))
                share_sum(u, in[i], u->dy);
        }
        return;
    case RIDGE_FUNCTION_MULTIPLY:
        multiply_input(u, in[0], in[1]);
        multiply_input(u, in[1], in[0]);
        return;
    case RIDGE_FUNCTION_ROTARY:
    case RIDGE_FUNCTION_SCALE:
        break;
    case RIDGE_FUNCTION_APPEND:
        ridge__builder_fail(u->r->b, ridge_fail(u->r->b->cx, RIDGE_E_ARG,
                                                "'%.60s' fills a cache, which has no "
                                                "gradient: lower for training",
                                                u->op->name));
        return;
    case RIDGE_FUNCTION_SWIGLU:
    case RIDGE_FUNCTION_GELU:
    case RIDGE_FUNCTION_GELU_TANH:
    case RIDGE_FUNCTION_GEGLU:
    case RIDGE_FUNCTION_RELU:
    case RIDGE_FUNCTION_RELU2:
    case RIDGE_FUNCTION_SILU:
    case RIDGE_FUNCTION_SIGMOID:
    case RIDGE_FUNCTION_SOFTPLUS:
    case RIDGE_FUNCTION_EXP:
        copy_inputs(u, &op, u->op->n_inputs);
        break;
    }
    op.inputs[op.n_inputs++] = u->dy;
    joint_rule(u, &op, 0, u->op->n_inputs);
}

/* ---- the rest -------------------------------------------------------------------- */

static void attention_rule(const rule *u)
{
    const bool has_chosen = u->op->extras & RIDGE_ATTENTION_CHOSEN;
    ridge_operation op = *u->op;
    op.is_backward = true;
    op.forward_of = u->op_index;
    op.n_inputs = op.n_outputs = 0;
    copy_inputs(u, &op, u->op->n_inputs);
    op.inputs[op.n_inputs++] = u->op->outputs[0];
    op.inputs[op.n_inputs++] = u->dy;
    joint_rule(u, &op, 0, u->op->n_inputs - (has_chosen ? 1 : 0));
}

static void scan_rule(const rule *u)
{
    ridge_operation op = *u->op;
    op.is_backward = true;
    op.forward_of = u->op_index;
    op.n_inputs = op.n_outputs = 0;
    copy_inputs(u, &op, u->op->n_inputs);
    if (u->op->scan != RIDGE_SCAN_SELECT)
        op.inputs[op.n_inputs++] = u->dy;
    joint_rule(u, &op, 0, u->op->n_inputs);
}

static void norm_rule(const rule *u)
{
    ridge_operation op = start(u, RIDGE_OPCODE_NORM);
    op.norm = u->op->norm;
    op.norm_groups = u->op->norm_groups;
    copy_inputs(u, &op, u->op->n_inputs > 1 ? 2 : 1);
    op.inputs[op.n_inputs++] = u->dy;
    joint_rule(u, &op, 0, u->op->n_inputs);
}

/* Rules that read some of the inputs and dy, and give gradients of some. */
static void partial_rule(const rule *u, int first_read, int n_read, int n_wanted)
{
    ridge_operation op = start(u, u->op->code);
    op.experts_per_token = u->op->experts_per_token;
    for (int i = 0; i < n_read; i++)
        op.inputs[op.n_inputs++] = u->op->inputs[first_read + i];
    if (u->dy >= 0)
        op.inputs[op.n_inputs++] = u->dy;
    joint_rule(u, &op, 0, n_wanted);
}

static void route_rule(const rule *u)
{
    ridge_operation op = start(u, RIDGE_OPCODE_ROUTE);
    op.experts_per_token = u->op->experts_per_token;
    op.n_inputs = 2;
    op.inputs[0] = u->op->outputs[0];
    op.inputs[1] = u->dy;
    joint_rule(u, &op, 0, 1);
}

static void refuse(const rule *u)
{
    ridge__builder_fail(
        u->r->b, ridge_fail(u->r->b->cx, RIDGE_E_ARG,
                            "'%.60s' has no backward rule: derive the backward pass "
                            "before partitioning",
                            u->op->name));
}

static void apply(const rule *u)
{
    switch (u->op->code) {
    case RIDGE_OPCODE_EINSUM:
        einsum_rule(u);
        return;
    case RIDGE_OPCODE_ATTENTION:
        attention_rule(u);
        return;
    case RIDGE_OPCODE_SCAN:
        scan_rule(u);
        return;
    case RIDGE_OPCODE_NORM:
        norm_rule(u);
        return;
    case RIDGE_OPCODE_ELEMENTWISE:
        elementwise_rule(u);
        return;
    case RIDGE_OPCODE_GATHER:
        partial_rule(u, 1, 1, 1);
        return;
    case RIDGE_OPCODE_LOSS:
        partial_rule(u, 0, 2, 1);
        return;
    case RIDGE_OPCODE_ROUTE:
        route_rule(u);
        return;
    case RIDGE_OPCODE_DISPATCH:
        partial_rule(u, 1, 1, 1);
        return;
    case RIDGE_OPCODE_COMBINE:
        partial_rule(u, 0, 2, 2);
        return;
    case RIDGE_OPCODE_UPDATE:
    case RIDGE_OPCODE_COLLECTIVE:
    case RIDGE_OPCODE_SEND:
        refuse(u);
        return;
    }
}

static bool is_any_wanted(const ridge__reverse *r, const ridge_operation *op)
{
    for (int i = 0; i < op->n_inputs; i++) {
        if (ridge__reverse_wants(r, op->inputs[i]))
            return true;
    }
    return false;
}

void ridge__gradient(ridge__reverse *r, int op)
{
    if (ridge__builder_is_bad(r->b))
        return;
    const ridge_operation copy = r->b->p.ops[op];
    const bool is_start =
        (copy.code == RIDGE_OPCODE_LOSS && !r->slopes[copy.outputs[0]].is_read) ||
        (copy.code == RIDGE_OPCODE_SCAN && copy.scan == RIDGE_SCAN_SELECT);
    if (!is_any_wanted(r, &copy))
        return;
    const rule u = {.r = r,
                    .op = &copy,
                    .op_index = op,
                    .dy = ridge__reverse_total(r, copy.outputs[0])};
    if (u.dy >= 0 || is_start)
        apply(&u);
}
