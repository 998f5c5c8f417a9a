/*
 * One function an opcode: which dims may be cut and what follows. A backward operation
 * takes the rule of its forward one, read over its own operands.
 */
#include "op_rules.h"

#include <string.h>

static int index_add(ridge__op_rule *rule, int dim, bool is_key, ridge__index_kind kind)
{
    for (int i = 0; i < rule->n_index; i++) {
        if (rule->dim[i] == dim && rule->is_key[i] == is_key)
            return i;
    }
    const int i = rule->n_index++;
    rule->dim[i] = dim;
    rule->is_key[i] = is_key;
    rule->kind[i] = (unsigned char)kind;
    return i;
}

int ridge__op_rule_find(const ridge__op_rule *rule, int dim)
{
    for (int i = 0; i < rule->n_index; i++) {
        if (rule->dim[i] == dim && !rule->is_key[i])
            return i;
    }
    return -1;
}

/* Every position is the index of its dim, free unless it is known already. */
static void map_operand(const ridge_program *program, ridge__op_rule *rule, int operand)
{
    const ridge_tensor *t = &program->tensors[rule->tensor[operand]];
    for (int i = 0; i < t->n_dims; i++) {
        const int index = index_add(rule, t->dims[i], false, RIDGE__INDEX_FREE);
        rule->at[operand][i] = (unsigned char)index;
    }
}

static void map_all(const ridge_program *program, ridge__op_rule *rule)
{
    for (int o = 0; o < rule->n_inputs + rule->n_outputs; o++)
        map_operand(program, rule, o);
}

static const ridge_operation *forward_of(const ridge_program *program,
                                         const ridge_operation *op)
{
    const bool has = op->is_backward && op->forward_of >= 0;
    return has ? &program->ops[op->forward_of] : op;
}

static void rule_whole(const ridge_program *program, ridge__op_rule *rule)
{
    map_all(program, rule);
    memset(rule->kind, RIDGE__INDEX_WHOLE, sizeof rule->kind);
}

/* ---- attention ------------------------------------------------------------------ */

/* A tensor or its gradient. */
static bool is_of(const ridge_program *program, int tensor, int of)
{
    return tensor == of || program->tensors[tensor].gradient_of == of;
}

static void mark_whole(ridge__op_rule *rule, int dim)
{
    if (dim >= 0)
        index_add(rule, dim, false, RIDGE__INDEX_WHOLE);
}

/* Keys and what lies beside them: their sequence is whole and not that of the queries,
 * their heads go with the heads of the queries. */
static void map_keys(const ridge_program *program, ridge__op_rule *rule, int operand,
                     const ridge_attention_shape *shape)
{
    const ridge_tensor *t = &program->tensors[rule->tensor[operand]];
    for (int i = 0; i < t->n_dims; i++) {
        const int dim = t->dims[i];
        int index = -1;
        if (dim == shape->s || dim == shape->far)
            index = index_add(rule, dim, true, RIDGE__INDEX_WHOLE);
        else if (dim == shape->kv_heads && dim != shape->heads)
            index = rule->group = index_add(rule, dim, true, RIDGE__INDEX_GROUP);
        else
            index = index_add(rule, dim, false, RIDGE__INDEX_FREE);
        rule->at[operand][i] = (unsigned char)index;
    }
}

static bool is_key(const ridge_program *program, const ridge_operation *forward,
                   int tensor)
{
    int at = 3;
    if (is_of(program, tensor, forward->inputs[1]) ||
        is_of(program, tensor, forward->inputs[2]))
        return true;
    if (forward->extras & RIDGE_ATTENTION_ROPE) {
        if (is_of(program, tensor, forward->inputs[at + 1]))
            return true;
        at += 2;
    }
    if (forward->extras & RIDGE_ATTENTION_SINKS)
        at++;
    return (forward->extras & RIDGE_ATTENTION_FAR) &&
           is_of(program, tensor, forward->inputs[at]);
}

static void rule_attention(const ridge_program *program, const ridge_operation *op,
                           ridge__op_rule *rule)
{
    const ridge_operation *forward = forward_of(program, op);
    ridge_attention_shape shape;
    if (!ridge_attention_shape_of(program, forward, &shape)) {
        rule_whole(program, rule);
        return;
    }
    mark_whole(rule, shape.h);
    mark_whole(rule, shape.hv);
    mark_whole(rule, shape.rope);
    mark_whole(rule, shape.chosen);
    rule->heads = index_add(rule, shape.heads, false, RIDGE__INDEX_FREE);
    for (int o = 0; o < rule->n_inputs + rule->n_outputs; o++) {
        if (is_key(program, forward, rule->tensor[o]))
            map_keys(program, rule, o, &shape);
        else
            map_operand(program, rule, o);
    }
}

/* ---- scans ---------------------------------------------------------------------- */

/* A dim of a tensor counted from its end, 1 the last; -1: it has not so many. */
static int dim_from_end(const ridge_program *program, int tensor, int from_end)
{
    const ridge_tensor *t = &program->tensors[tensor];
    return t->n_dims < from_end ? -1 : t->dims[t->n_dims - from_end];
}

/* q, k [.., T, K, A], v [.., T, N, P]: heads K go with N. */
static void rule_linear(const ridge_program *program, const ridge_operation *forward,
                        ridge__op_rule *rule)
{
    const int key_heads = dim_from_end(program, forward->inputs[0], 2);
    const int heads = dim_from_end(program, forward->inputs[2], 2);
    mark_whole(rule, dim_from_end(program, forward->inputs[0], 3));
    mark_whole(rule, dim_from_end(program, forward->inputs[0], 1));
    if (heads < 0 || key_heads < 0)
        return;
    rule->heads = index_add(rule, heads, false, RIDGE__INDEX_FREE);
    if (key_heads != heads)
        rule->group = index_add(rule, key_heads, false, RIDGE__INDEX_GROUP);
}

/* x [.., T, c..], w [c.., W], a tail [.., c.., W - 1]. */
static void rule_convolution(const ridge_program *program,
                             const ridge_operation *forward, ridge__op_rule *rule)
{
    const int channels = program->tensors[forward->inputs[1]].n_dims - 1;
    mark_whole(rule, dim_from_end(program, forward->inputs[0], channels + 1));
    mark_whole(rule, dim_from_end(program, forward->inputs[1], 1));
    if (forward->n_outputs > 1)
        mark_whole(rule, dim_from_end(program, forward->outputs[1], 1));
}

/* q [.., T, N, H], k [.., S, H] -> [.., T, J]: N, H, S, J whole. */
static void rule_select(const ridge_program *program, const ridge_operation *forward,
                        ridge__op_rule *rule)
{
    const int keys = forward->inputs[1];
    mark_whole(rule, dim_from_end(program, forward->inputs[0], 1));
    mark_whole(rule, dim_from_end(program, forward->inputs[0], 2));
    mark_whole(rule, dim_from_end(program, forward->outputs[0], 1));
    const ridge_attention_shape shape = {
        .s = dim_from_end(program, keys, 2), .kv_heads = -1, .heads = -1, .far = -1};
    for (int o = 0; o < rule->n_inputs + rule->n_outputs; o++) {
        if (is_of(program, rule->tensor[o], keys))
            map_keys(program, rule, o, &shape);
    }
}

/* x, gates [.., T, O, H], table [R, O, H] -> [.., S2, H]: all whole but H and .. */
static void rule_pool(const ridge_program *program, const ridge_operation *forward,
                      ridge__op_rule *rule)
{
    mark_whole(rule, dim_from_end(program, forward->inputs[0], 3));
    mark_whole(rule, dim_from_end(program, forward->inputs[0], 2));
    mark_whole(rule, dim_from_end(program, forward->inputs[2], 3));
    mark_whole(rule, dim_from_end(program, forward->outputs[0], 2));
}

static void rule_scan(const ridge_program *program, const ridge_operation *op,
                      ridge__op_rule *rule)
{
    static void (*const RULES[])(const ridge_program *, const ridge_operation *,
                                 ridge__op_rule *) = {
        [RIDGE_SCAN_LINEAR] = rule_linear,
        [RIDGE_SCAN_DELTA] = rule_linear,
        [RIDGE_SCAN_CONVOLUTION] = rule_convolution,
        [RIDGE_SCAN_SELECT] = rule_select,
        [RIDGE_SCAN_POOL] = rule_pool,
    };
    static const int LEAST[] = {[RIDGE_SCAN_LINEAR] = 3,
                                [RIDGE_SCAN_DELTA] = 3,
                                [RIDGE_SCAN_CONVOLUTION] = 2,
                                [RIDGE_SCAN_SELECT] = 2,
                                [RIDGE_SCAN_POOL] = 3};
    const ridge_operation *forward = forward_of(program, op);
    if (forward->n_inputs < LEAST[forward->scan] || forward->n_outputs < 1) {
        rule_whole(program, rule);
        return;
    }
    RULES[forward->scan](program, forward, rule);
    for (int o = 0; o < rule->n_inputs + rule->n_outputs; o++) {
        const bool is_mapped = forward->scan == RIDGE_SCAN_SELECT &&
                               is_of(program, rule->tensor[o], forward->inputs[1]);
        if (!is_mapped)
            map_operand(program, rule, o);
    }
}

/* ---- the rest ------------------------------------------------------------------- */

/* The dims of the weight, or the last one of the input. */
static void rule_norm(const ridge_program *program, const ridge_operation *op,
                      ridge__op_rule *rule)
{
    const ridge_operation *forward = forward_of(program, op);
    if (forward->n_inputs > 1) {
        const ridge_tensor *weight = &program->tensors[forward->inputs[1]];
        for (int i = 0; i < weight->n_dims; i++)
            mark_whole(rule, weight->dims[i]);
    } else {
        mark_whole(rule, dim_from_end(program, forward->inputs[0], 1));
    }
    map_all(program, rule);
}

static void rule_route(const ridge_program *program, const ridge_operation *op,
                       ridge__op_rule *rule)
{
    mark_whole(rule, dim_from_end(program, op->inputs[0], 1));
    map_all(program, rule);
}

/* Backward, the sums of the forward pass are at hand. */
static void rule_loss(const ridge_program *program, const ridge_operation *op,
                      ridge__op_rule *rule)
{
    const int words = dim_from_end(program, op->inputs[0], 1);
    if (words >= 0)
        index_add(rule, words, false,
                  op->is_backward ? RIDGE__INDEX_FREE : RIDGE__INDEX_SOFTMAX);
    map_all(program, rule);
}

/* What is appended goes whole to every rank, which keeps the positions it holds. */
static void mark_appended(const ridge_program *program, const ridge_operation *op,
                          ridge__op_rule *rule)
{
    const ridge_tensor *x = &program->tensors[op->inputs[0]];
    const ridge_tensor *cache = &program->tensors[op->outputs[0]];
    for (int i = 0; i < x->n_dims && i < cache->n_dims; i++) {
        if (x->dims[i] != cache->dims[i])
            mark_whole(rule, x->dims[i]);
    }
}

static void rule_elementwise(const ridge_program *program, const ridge_operation *op,
                             ridge__op_rule *rule)
{
    const ridge_function f = op->function;
    if (f == RIDGE_FUNCTION_ROTARY)
        mark_whole(rule, dim_from_end(program, op->inputs[0], 1));
    if (f == RIDGE_FUNCTION_APPEND)
        mark_appended(program, op, rule);
    map_all(program, rule);
    if (f == RIDGE_FUNCTION_ADD || f == RIDGE_FUNCTION_COPY ||
        f == RIDGE_FUNCTION_SCALE) {
        rule->is_joint = true;
        rule->carries = (1u << rule->n_inputs) - 1u;
    }
}

/* Dispatch and combine: rows [E, C, D] come from tokens, which the gates [.., E] name.
 */
static void rule_experts(const ridge_program *program, const ridge_operation *op,
                         ridge__op_rule *rule)
{
    const ridge_operation *forward = forward_of(program, op);
    const bool is_dispatch = forward->code == RIDGE_OPCODE_DISPATCH;
    const ridge_tensor *rows = NULL, *gates = NULL;
    if (forward->n_inputs >= 2 && forward->n_outputs >= 1) {
        rows =
            &program->tensors[is_dispatch ? forward->outputs[0] : forward->inputs[0]];
        gates = &program->tensors[forward->inputs[1]];
    }
    if (rows && rows->n_dims >= 2) {
        index_add(rule, rows->dims[0], false, RIDGE__INDEX_FREE);
        rule->rows = index_add(rule, rows->dims[1], false, RIDGE__INDEX_ROWS);
        for (int i = 0; i < gates->n_dims; i++)
            index_add(rule, gates->dims[i], false, RIDGE__INDEX_TOKEN);
    }
    map_all(program, rule);
    /* Adding up a token's rows is linear, and less is left to reduce behind it. */
    for (int i = 0; rows && op->is_backward == is_dispatch && i < rule->n_inputs; i++) {
        const ridge_tensor *t = &program->tensors[rule->tensor[i]];
        if (t->n_dims >= 2 && t->dims[1] == rows->dims[1])
            rule->carries |= 1u << i;
    }
}

/* Mean squares of rows and columns are whole: a side of their own, but for the batch.
 */
static void rule_update(const ridge_program *program, const ridge_operation *op,
                        ridge__op_rule *rule)
{
    rule->has_sums = true;
    for (int o = 0; o < rule->n_inputs + rule->n_outputs; o++) {
        const int input = o < rule->n_inputs ? o : o - rule->n_inputs + 1;
        const ridge_tensor *t = &program->tensors[rule->tensor[o]];
        map_operand(program, rule, o);
        for (int i = 0; i < t->n_dims && input >= 2; i++) {
            if (ridge_update_is_factor(program, op, input) &&
                !ridge_update_is_batch(program, op, t->dims[i]))
                rule->at[o][i] = (unsigned char)index_add(rule, t->dims[i], true,
                                                          RIDGE__INDEX_WHOLE);
        }
    }
}

static void open_rule(const ridge_program *program, const ridge_operation *op,
                      ridge__op_rule *out)
{
    out->n_index = 0;
    out->n_inputs = op->n_inputs;
    out->n_outputs = op->n_outputs;
    out->heads = out->group = out->rows = -1;
    out->carries = 0;
    out->is_joint = out->has_sums = false;
    for (int o = 0; o < op->n_inputs + op->n_outputs; o++) {
        const int t = o < op->n_inputs ? op->inputs[o] : op->outputs[o - op->n_inputs];
        out->tensor[o] = t;
        out->rank[o] = program->tensors[t].n_dims;
    }
}

void ridge__op_rule_make(const ridge_program *program, const ridge_operation *op,
                         ridge__op_rule *out)
{
    open_rule(program, op, out);
    switch (op->code) {
    case RIDGE_OPCODE_ATTENTION:
        rule_attention(program, op, out);
        break;
    case RIDGE_OPCODE_SCAN:
        rule_scan(program, op, out);
        break;
    case RIDGE_OPCODE_NORM:
        rule_norm(program, op, out);
        break;
    case RIDGE_OPCODE_ROUTE:
        rule_route(program, op, out);
        break;
    case RIDGE_OPCODE_LOSS:
        rule_loss(program, op, out);
        break;
    case RIDGE_OPCODE_ELEMENTWISE:
        rule_elementwise(program, op, out);
        break;
    case RIDGE_OPCODE_DISPATCH:
    case RIDGE_OPCODE_COMBINE:
        rule_experts(program, op, out);
        break;
    case RIDGE_OPCODE_UPDATE:
        rule_update(program, op, out);
        break;
    case RIDGE_OPCODE_EINSUM:
    case RIDGE_OPCODE_GATHER:
    case RIDGE_OPCODE_COLLECTIVE:
    case RIDGE_OPCODE_SEND:
        map_all(program, out);
        break;
    }
}
