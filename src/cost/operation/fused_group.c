/* Which neighbours run as one kernel, and the bytes that enter and leave it. */
#include "fused_group.h"
#include "local_size.h"

static const ridge_operation *op_at(const ridge_partition *p, int op)
{
    return &p->program->ops[op];
}

static bool is_exchange(const ridge_operation *o)
{
    return o->code == RIDGE_OPCODE_COLLECTIVE || o->code == RIDGE_OPCODE_SEND;
}

static bool has_input(const ridge_operation *o, int tensor)
{
    for (int i = 0; i < o->n_inputs; i++) {
        if (o->inputs[i] == tensor)
            return true;
    }
    return false;
}

static bool has_output(const ridge_operation *o, int tensor)
{
    for (int i = 0; i < o->n_outputs; i++) {
        if (o->outputs[i] == tensor)
            return true;
    }
    return false;
}

static bool is_member(const ridge__fused *group, int op)
{
    for (int i = 0; i < group->n; i++) {
        if (group->ops[i] == op)
            return true;
    }
    return false;
}

/* ---- writers and readers -------------------------------------------------------- */

/* The last operation of the block before @p op that writes a tensor; -1: none. */
static int writer_inside(const ridge__fusing *f, int tensor, int op)
{
    const int block = f->index != NULL ? f->index->block[op]
                                       : ridge__op_block(f->partition->program, op);
    if (block < 0)
        return -1;
    const int first = f->partition->program->blocks[block].first_op;
    if (f->index != NULL) {
        const int writer = ridge__op_writer(f->index, tensor, op);
        return writer >= first ? writer : -1;
    }
    for (int i = op - 1; i >= first; i--) {
        if (has_output(op_at(f->partition, i), tensor))
            return i;
    }
    return -1;
}

/* Count the readers of a tensor, and those of them in a group. */
static int count_readers(const ridge__fusing *f, int tensor, const ridge__fused *group,
                         int *members)
{
    const ridge__op_index *index = f->index;
    int readers = 0;
    const int first = index != NULL ? index->first_use[tensor] : 0;
    const int end =
        index != NULL ? index->first_use[tensor + 1] : f->partition->program->n_ops;
    *members = 0;
    for (int i = first; i < end; i++) {
        const int op = index != NULL ? index->uses[i] : i;
        if (index == NULL && !has_input(op_at(f->partition, op), tensor))
            continue;
        readers++;
        *members += is_member(group, op);
    }
    return readers;
}

static bool is_carried(const ridge_program *program, int tensor)
{
    for (int b = 0; b < program->n_blocks; b++) {
        if (program->blocks[b].carry_out == tensor)
            return true;
    }
    return false;
}

/* ---- sums of products ----------------------------------------------------------- */

static bool is_function(const ridge_operation *o, ridge_function function)
{
    return o->code == RIDGE_OPCODE_ELEMENTWISE && o->function == function;
}

/* Sums of sums are followed this far. */
enum { SUM_DEPTH_MAX = 8 };

static bool is_sum_to(const ridge__fusing *f, int op, int depth)
{
    const ridge_operation *o = op_at(f->partition, op);
    const ridge__fused alone = {.n = 1, .ops = {op}};
    if (!is_function(o, RIDGE_FUNCTION_ADD) || depth == 0)
        return false;
    for (int i = 0; i < o->n_inputs; i++) {
        int own = 0;
        ridge__product product;
        const int from = writer_inside(f, o->inputs[i], op);
        if (from < 0 || count_readers(f, o->inputs[i], &alone, &own) != own ||
            is_carried(f->partition->program, o->inputs[i]))
            return false;
        if (!ridge__product_of(f->partition, from, &product) &&
            !is_sum_to(f, from, depth - 1))
            return false;
    }
    return o->n_inputs > 0;
}

bool ridge__is_product_sum(const ridge__fusing *f, int op)
{
    return is_sum_to(f, op, SUM_DEPTH_MAX);
}

/* ---- streams -------------------------------------------------------------------- */

static bool is_stream(const ridge__fusing *f, int op)
{
    const ridge_operation *o = op_at(f->partition, op);
    return o->code == RIDGE_OPCODE_NORM ||
           (o->code == RIDGE_OPCODE_ELEMENTWISE && !ridge__is_product_sum(f, op));
}

/* Where an input was made: by the group, outside of it since it began, or before. */
typedef enum origin { ORIGIN_GROUP, ORIGIN_BETWEEN, ORIGIN_BEFORE } origin;

static origin origin_of(const ridge_partition *p, const ridge__fused *group, int op,
                        int tensor)
{
    for (int i = op - 1; i >= group->ops[0]; i--) {
        if (has_output(op_at(p, i), tensor))
            return is_member(group, i) ? ORIGIN_GROUP : ORIGIN_BETWEEN;
    }
    return ORIGIN_BEFORE;
}

static double loop_of(const ridge_partition *p, int op)
{
    const ridge_operation *o = op_at(p, op);
    return o->n_outputs > 0 ? ridge__local_elements(p, o->outputs[0]) : 0;
}

static bool stream_joins(const ridge__fusing *f, const ridge__fused *group, int op)
{
    const ridge_partition *p = f->partition;
    const ridge_operation *o = op_at(p, op);
    if (!is_stream(f, op) || loop_of(p, op) != loop_of(p, group->ops[0]))
        return false;
    bool has_made = false;
    for (int i = 0; i < o->n_inputs; i++) {
        const origin from = origin_of(p, group, op, o->inputs[i]);
        if (from == ORIGIN_BETWEEN)
            return false;
        has_made = has_made || from == ORIGIN_GROUP;
    }
    return has_made;
}

/* Whether anyone but the group reads a tensor, or nobody does, or it is kept. */
static bool is_leaving(const ridge__fusing *f, const ridge__fused *group, int tensor)
{
    int members = 0;
    const int readers = count_readers(f, tensor, group, &members);
    const ridge_role role = f->partition->program->tensors[tensor].role;
    if (role == RIDGE_ROLE_WEIGHT || role == RIDGE_ROLE_STATE ||
        role == RIDGE_ROLE_CACHE)
        return true;
    return readers == 0 || members < readers ||
           is_carried(f->partition->program, tensor);
}

/* A copy that keeps a part reads that part. */
static double read_bytes(const ridge_partition *p, const ridge_operation *o, int tensor)
{
    double elements = ridge__local_elements(p, tensor);
    if (is_function(o, RIDGE_FUNCTION_COPY) && o->n_outputs > 0) {
        const double kept = ridge__local_elements(p, o->outputs[0]);
        elements = kept < elements ? kept : elements;
    }
    return elements * ridge_dtype_bytes(p->program->tensors[tensor].dtype);
}

/* What is added to is read as well; of a cache, what is appended is written. */
static double written_bytes(const ridge_partition *p, const ridge_operation *o,
                            int tensor)
{
    if (is_function(o, RIDGE_FUNCTION_APPEND) && o->n_inputs > 0)
        return ridge__local_elements(p, o->inputs[0]) *
               ridge_dtype_bytes(p->program->tensors[tensor].dtype);
    return ridge__tensor_bytes(p, tensor) * (o->is_added ? 2 : 1);
}

double ridge__fused_bytes(const ridge__fusing *f, const ridge__fused *group, int k)
{
    const ridge_partition *p = f->partition;
    const ridge_operation *o = op_at(p, group->ops[k]);
    double bytes = 0;
    for (int i = 0; i < o->n_inputs; i++) {
        bool is_made = false;
        for (int j = 0; j < k && !is_made; j++)
            is_made = has_output(op_at(p, group->ops[j]), o->inputs[i]);
        if (!is_made)
            bytes += read_bytes(p, o, o->inputs[i]);
    }
    for (int i = 0; i < o->n_outputs; i++) {
        if (is_leaving(f, group, o->outputs[i]))
            bytes += written_bytes(p, o, o->outputs[i]);
    }
    return bytes;
}

/* ---- products ------------------------------------------------------------------- */

static bool product_joins(const ridge_partition *p, const ridge__fused *group,
                          const ridge__product *first, int op)
{
    ridge__product next;
    const ridge_operation *one = op_at(p, group->ops[0]);
    const ridge_operation *other = op_at(p, op);
    if (one->part != other->part || one->is_head != other->is_head ||
        !ridge__product_of(p, op, &next) || first->batch != next.batch ||
        first->k != next.k)
        return false;
    return (first->a == next.a && first->m == next.m) ||
           (first->b == next.b && first->n == next.n);
}

/* Steps of an optimizer, side by side. */
static void updates_from(const ridge_partition *p, int end, ridge__fused *out)
{
    for (int i = out->ops[0] + 1; i < end && out->n < RIDGE__FUSED_MAX; i++) {
        if (is_exchange(op_at(p, i)))
            continue;
        if (op_at(p, i)->code != RIDGE_OPCODE_UPDATE)
            return;
        out->ops[out->n++] = i;
    }
}

static void products_from(const ridge_partition *p, int end, const bool *is_taken,
                          ridge__fused *out)
{
    ridge__product first;
    if (!ridge__product_of(p, out->ops[0], &first))
        return;
    for (int i = out->ops[0] + 1; i < end && out->n < RIDGE__FUSED_MAX; i++) {
        if (is_exchange(op_at(p, i)))
            continue;
        if (op_at(p, i)->code != RIDGE_OPCODE_EINSUM)
            return;
        if (!is_taken[i] && product_joins(p, out, &first, i))
            out->ops[out->n++] = i;
    }
}

/* ---- groups --------------------------------------------------------------------- */

void ridge__fused_from(const ridge__fusing *f, int op, int end, const bool *is_taken,
                       ridge__fused *out)
{
    const ridge_partition *p = f->partition;
    *out = (ridge__fused){.n = 1, .ops = {op}};
    if (op_at(p, op)->code == RIDGE_OPCODE_EINSUM) {
        products_from(p, end, is_taken, out);
        return;
    }
    if (op_at(p, op)->code == RIDGE_OPCODE_UPDATE)
        updates_from(p, end, out);
    if (!is_stream(f, op))
        return;
    for (int i = op + 1; i < end && out->n < RIDGE__FUSED_MAX; i++) {
        if (is_exchange(op_at(p, i)))
            continue;
        if (!stream_joins(f, out, i))
            return;
        out->ops[out->n++] = i;
    }
}
