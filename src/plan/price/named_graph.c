/*
 * What a layer keeps for its backward pass, as a small graph. The program says which
 * results the backward pass reads: those are kept. An operation that is named is not
 * kept but done again where its result is wanted, and what it reads is kept, unless
 * that is named too.
 */
#include "named_graph.h"

#include "stack_time.h"

#include <math.h>
#include <string.h>

/* ---- building -------------------------------------------------------------------- */

typedef struct builder {
    const train_case *tc;
    const ridge_partition *partition;
    const ridge_block *ahead, *back;
    int *value_of; /* [n_tensors]; -1: not of this layer */
    named_graph *out;
} builder;

static const ridge_block *backward_of(const ridge_program *p, int kind)
{
    for (int b = 0; b < p->n_blocks; b++) {
        const ridge_block *block = &p->blocks[b];
        if (block->layer == kind && block->is_backward && block->forward_of >= 0)
            return block;
    }
    return NULL;
}

/* Bytes of a tensor on one chip; rows that are free on average are not kept. */
static double local_bytes(const ridge_partition *p, int tensor)
{
    const ridge_program *program = p->program;
    const ridge_tensor *t = &program->tensors[tensor];
    double bytes =
        ridge_partition_local_elements(p, tensor) * ridge_dtype_bytes(t->dtype);
    for (int i = 0; i < t->n_dims; i++) {
        const ridge_program_dim *d = &program->dims[t->dims[i]];
        if (d->used > 0)
            bytes *= d->used / (double)d->size;
    }
    return bytes;
}

/* The residual stream leaves the layer: it is the next one's to keep. */
static void add_values(builder *b, int node, const ridge_operation *op)
{
    const double narrow = ridge_dtype_bytes(b->tc->policy->compute);
    for (int o = 0; o < op->n_outputs; o++) {
        const int tensor = op->outputs[o];
        if (tensor == b->ahead->carry_out)
            continue;
        const double bytes = local_bytes(b->partition, tensor);
        const double wide =
            ridge_dtype_bytes(b->partition->program->tensors[tensor].dtype);
        b->value_of[tensor] = b->out->n_values;
        b->out->values[b->out->n_values++] =
            (named_value){node, bytes, bytes * fmin(narrow, wide) / wide, false, true};
    }
}

static double again_s(const builder *b, int op, const ridge_operation_time *times)
{
    const ridge_opcode code = b->partition->program->ops[op].code;
    if (code == RIDGE_OPCODE_COLLECTIVE || code == RIDGE_OPCODE_SEND)
        return 0;
    return stack_operation_time(b->tc, b->partition, op, &times[op]).expected_s;
}

/* @return false: memory ran out */
static bool add_node(builder *b, ridge_arena *arena, int op,
                     const ridge_operation_time *times)
{
    const ridge_program *p = b->partition->program;
    const ridge_operation *o = &p->ops[op];
    const int at = b->out->n_nodes++;
    named_node *node = &b->out->nodes[at];
    int *inputs = ridge_new(arena, int, (size_t)o->n_inputs + 1);
    if (inputs == NULL)
        return false;
    *node = (named_node){.name = ridge_operation_remat_op(p, op),
                         .again_s = again_s(b, op, times),
                         .is_product = o->code == RIDGE_OPCODE_EINSUM,
                         .inputs = inputs};
    node->is_expert = o->part == RIDGE_PART_EXPERTS && node->is_product;
    for (int i = 0; i < o->n_inputs; i++) {
        if (b->value_of[o->inputs[i]] >= 0)
            inputs[node->n_inputs++] = b->value_of[o->inputs[i]];
    }
    b->out->experts_s += node->is_expert ? node->again_s : 0;
    add_values(b, at, o);
    return true;
}

static void read_backward(const builder *b)
{
    const ridge_program *p = b->partition->program;
    for (int i = b->back->first_op; i < b->back->first_op + b->back->n_ops; i++) {
        const ridge_operation *op = &p->ops[i];
        for (int k = 0; k < op->n_inputs; k++) {
            const int value = b->value_of[op->inputs[k]];
            if (value < 0)
                continue;
            named_value *v = &b->out->values[value];
            v->is_read = true;
            v->is_operand = v->is_operand && op->code == RIDGE_OPCODE_EINSUM;
            b->out->nodes[v->maker].is_wanted = true;
        }
    }
}

static bool make_room(builder *b, ridge_arena *arena)
{
    const ridge_program *p = b->partition->program;
    const size_t nodes = (size_t)b->ahead->n_ops + 1;
    size_t values = 1;
    for (int i = b->ahead->first_op; i < b->ahead->first_op + b->ahead->n_ops; i++)
        values += (size_t)p->ops[i].n_outputs;
    named_graph *g = b->out;
    b->value_of = ridge_new(arena, int, (size_t)p->n_tensors + 1);
    g->nodes = ridge_new(arena, named_node, nodes);
    g->values = ridge_new(arena, named_value, values);
    g->is_again = ridge_new(arena, bool, nodes);
    g->is_wanted = ridge_new(arena, bool, nodes);
    g->is_read = ridge_new(arena, bool, values);
    g->is_operand = ridge_new(arena, bool, values);
    if (b->value_of == NULL || g->nodes == NULL || g->values == NULL ||
        g->is_again == NULL || g->is_wanted == NULL || g->is_read == NULL ||
        g->is_operand == NULL)
        return false;
    for (int i = 0; i < p->n_tensors; i++)
        b->value_of[i] = -1;
    return true;
}

/* ---- questions ------------------------------------------------------------------- */

/* Makers stand before what reads them. */
static void mark_again(const named_graph *g, ridge_remat_ops ops)
{
    for (int i = 0; i < g->n_nodes; i++)
        g->is_wanted[i] = g->nodes[i].is_wanted;
    for (int i = g->n_nodes - 1; i >= 0; i--) {
        const named_node *node = &g->nodes[i];
        g->is_again[i] = (node->name & ops) != 0 && g->is_wanted[i];
        for (int k = 0; k < node->n_inputs && g->is_again[i]; k++)
            g->is_wanted[g->values[node->inputs[k]].maker] = true;
    }
}

static double kept_bytes(const named_graph *g)
{
    double bytes = 0;
    for (int i = 0; i < g->n_values; i++) {
        g->is_read[i] = g->values[i].is_read;
        g->is_operand[i] = g->values[i].is_operand;
    }
    for (int i = 0; i < g->n_nodes; i++) {
        const named_node *node = &g->nodes[i];
        for (int k = 0; k < node->n_inputs && g->is_again[i]; k++) {
            g->is_read[node->inputs[k]] = true;
            g->is_operand[node->inputs[k]] &= node->is_product;
        }
    }
    for (int i = 0; i < g->n_values; i++) {
        const named_value *v = &g->values[i];
        if (g->is_read[i] && !g->is_again[v->maker])
            bytes += g->is_operand[i] ? v->operand_bytes : v->bytes;
    }
    return bytes;
}

bool named_graph_build(ridge_arena *arena, const train_case *tc,
                       const ridge_partition *partition,
                       const ridge_operation_time *times, int kind, double tokens,
                       named_graph *out)
{
    const ridge_program *p = partition->program;
    *out = (named_graph){.tokens = tokens};
    builder b = {.tc = tc, .partition = partition, .out = out};
    b.back = backward_of(p, kind);
    if (b.back == NULL)
        return true;
    b.ahead = &p->blocks[b.back->forward_of];
    if (!make_room(&b, arena))
        return false;
    for (int i = b.ahead->first_op; i < b.ahead->first_op + b.ahead->n_ops; i++) {
        if (!add_node(&b, arena, i, times))
            return false;
    }
    read_backward(&b);
    mark_again(out, 0);
    out->kept_bytes = kept_bytes(out);
    return true;
}

named_time named_graph_time(const named_graph *g, ridge_remat_ops ops)
{
    named_time t = {0};
    double experts_s = 0;
    if (g->n_nodes == 0 || ops == 0)
        return t;
    mark_again(g, ops);
    t.freed_bytes = (g->kept_bytes - kept_bytes(g)) / g->tokens;
    for (int i = 0; i < g->n_nodes; i++) {
        const named_node *node = &g->nodes[i];
        t.again_s += g->is_again[i] ? node->again_s : 0;
        experts_s += g->is_again[i] && node->is_expert ? node->again_s : 0;
    }
    t.experts_share = g->experts_s > 0 ? experts_s / g->experts_s : 0;
    return t;
}
