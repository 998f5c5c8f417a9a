/*
 * The time of each operation of a partition on one chip: its local shape, and the model
 * of matmul_cost.c or stream_cost.c. Which operations run as one kernel is
 * fused_group.c's; attention and scans are scores_time.c's, collectives
 * exchange_time.c's.
 */
#include "operation_time.h"
#include "bound.h"
#include "local_size.h"
#include "measured_rate.h"
#include "product_memo.h"

#include <math.h>

/* One after the other. */
static void time_add(ridge_operation_time *t, const ridge_operation_time *more)
{
    if (more->bound_s > t->bound_s)
        t->bound_by = more->bound_by;
    t->bound_s += more->bound_s;
    t->expected_s += more->expected_s;
    t->matmul_flops += more->matmul_flops;
    t->vector_flops += more->vector_flops;
    t->bytes += more->bytes;
}

/* What a member takes of its group's time, by its share of the group's work. */
static ridge_operation_time share_of(const ridge_operation_time *group, double share)
{
    ridge_operation_time t = *group;
    t.bound_s *= share;
    t.expected_s *= share;
    t.matmul_flops *= share;
    t.vector_flops *= share;
    t.bytes *= share;
    return t;
}

/* ---- products ------------------------------------------------------------------- */

/* A router's logits decide more than bits, and the head's are a softmax's: both stay in
 * 16 bits. */
static ridge_dtype compute_of(const ridge__pricing *x, const ridge_operation *o)
{
    const bool is_kept = o->part == RIDGE_PART_ROUTER || o->is_head;
    return is_kept && ridge_dtype_bytes(x->compute) < 2 ? RIDGE_DTYPE_BF16 : x->compute;
}

static ridge_dtype stored_as(ridge_dtype dtype, ridge_dtype compute)
{
    const bool is_narrowed = ridge_dtype_bytes(compute) < 2 &&
                             ridge_dtype_bytes(dtype) > ridge_dtype_bytes(compute);
    return is_narrowed ? compute : dtype;
}

/* Bytes of making an operand narrow: read as it is, written twice, as it is and
 * transposed for the backward pass. @source micikevicius2022 */
static double narrowing_bytes(const ridge__pricing *x, int tensor, ridge_dtype compute)
{
    const ridge_dtype dtype = x->partition->program->tensors[tensor].dtype;
    if (stored_as(dtype, compute) == dtype)
        return 0;
    return ridge__local_elements(x->partition, tensor) *
           (ridge_dtype_bytes(dtype) + 2 * ridge_dtype_bytes(compute));
}

/* The streams that make the operands of a group narrow. The forward pass makes
 * activations; weights are made narrow where they are updated, once for all
 * microbatches. The backward pass makes only the gradient that comes in, once, for the
 * product that gives the gradient of an activation: the others are kept.
 * @source transformer-engine-docs */
static double group_narrowing_bytes(const ridge__pricing *x, const ridge__fused *group,
                                    ridge_dtype compute)
{
    const ridge_tensor *tensors = x->partition->program->tensors;
    double bytes = 0;
    for (int i = 0; i < group->n; i++) {
        const ridge_operation *o = &x->partition->program->ops[group->ops[i]];
        ridge__product p;
        if (!ridge__product_of(x->partition, group->ops[i], &p))
            continue;
        if (!o->is_backward) {
            bytes += i == 0 ? narrowing_bytes(x, p.a, compute) : 0;
            if (tensors[p.b].role != RIDGE_ROLE_WEIGHT)
                bytes += narrowing_bytes(x, p.b, compute);
            continue;
        }
        const bool has_weight = tensors[p.b].role == RIDGE_ROLE_WEIGHT;
        bytes += has_weight ? narrowing_bytes(x, p.a, compute) : 0;
    }
    return bytes;
}

/* All members of a group share one operand, and stand side by side along the other. */
ridge__product ridge__joined_product(const ridge_partition *partition,
                                     const ridge__fused *group, double *flops)
{
    ridge__product all = {0};
    double m = 0;
    double n = 0;
    bool is_left_shared = true;
    for (int i = 0; i < group->n; i++) {
        ridge__product next;
        if (!ridge__product_of(partition, group->ops[i], &next))
            continue;
        if (i == 0)
            all = next;
        is_left_shared = is_left_shared && next.a == all.a;
        flops[i] = next.batch * next.m * next.k * next.n;
        m += next.m;
        n += next.n;
    }
    if (is_left_shared) {
        all.n = n;
    } else {
        all.m = m;
    }
    return all;
}

static ridge_op_cost product_cost(const ridge__pricing *x, const ridge_matmul *matmul)
{
    const ridge_chip *chip = x->laid->slice->chip;
    ridge_op_cost cost;
    if (ridge__product_memo_find(x->memo, matmul, &cost))
        return cost;
    cost = ridge_matmul_cost(chip, matmul, RIDGE_MEMORY_HBM);
    ridge__product_memo_put(x->memo, matmul, &cost);
    return cost;
}

static ridge_operation_time products_time(const ridge__pricing *x,
                                          const ridge__fused *group,
                                          const ridge__product *p)
{
    const ridge_tensor *tensors = x->partition->program->tensors;
    const ridge_operation *o = &x->partition->program->ops[group->ops[0]];
    const ridge_dtype compute = compute_of(x, o);
    const ridge_matmul matmul = {
        .batch = fmax(p->batch, 1),
        .m = fmax(p->m, 1),
        .k = fmax(p->k, 1),
        .n = fmax(p->n, 1),
        .activation = stored_as(tensors[p->a].dtype, compute),
        .weight = stored_as(tensors[p->b].dtype, compute),
        .output = tensors[p->c].dtype,
        .compute = compute,
    };
    const ridge_op_cost cost = product_cost(x, &matmul);
    ridge_operation_time t = ridge__time_of_cost(&cost);
    const double added = o->is_added ? ridge__tensor_bytes(x->partition, p->c) : 0;
    const double beside = group_narrowing_bytes(x, group, compute) + added;
    if (beside > 0) {
        const ridge_op_cost stream = ridge_stream_cost(x->laid->slice->chip, 0, beside);
        const ridge_operation_time more = ridge__time_of_cost(&stream);
        time_add(&t, &more);
    }
    return t;
}

static void products_price(const ridge__pricing *x, const ridge__fused *group,
                           ridge_operation_time *out)
{
    double flops[RIDGE__FUSED_MAX];
    double all_flops = 0;
    const ridge__product p = ridge__joined_product(x->partition, group, flops);
    const ridge_operation_time t = products_time(x, group, &p);
    for (int i = 0; i < group->n; i++)
        all_flops += flops[i];
    for (int i = 0; i < group->n; i++)
        out[i] = share_of(&t, flops[i] / all_flops);
}

/* ---- streams -------------------------------------------------------------------- */

/* A lookup moves the rows that it takes, not the table; its backward reads and writes
 * the rows that it adds to. */
static double gather_bytes(const ridge_partition *p, const ridge_operation *o)
{
    if (o->n_inputs < 2 || o->n_outputs < 1)
        return 0;
    if (!o->is_backward) {
        const ridge_tensor *table = &p->program->tensors[o->inputs[0]];
        const double rows = ridge__local_elements(p, o->outputs[0]);
        return rows * ridge_dtype_bytes(table->dtype) +
               ridge__tensor_bytes(p, o->outputs[0]) +
               ridge__tensor_bytes(p, o->inputs[1]);
    }
    const double rows = ridge__local_elements(p, o->inputs[1]);
    const ridge_tensor *table = &p->program->tensors[o->outputs[0]];
    return ridge__tensor_bytes(p, o->inputs[1]) +
           2 * rows * ridge_dtype_bytes(table->dtype);
}

/* Rows of experts are read once and written once, whatever holds them. */
static double rows_bytes(const ridge_partition *p, const ridge_operation *o)
{
    double most = 0;
    double other = 0;
    for (int i = 0; i < o->n_inputs + o->n_outputs; i++) {
        const int t = i < o->n_inputs ? o->inputs[i] : o->outputs[i - o->n_inputs];
        const double bytes = ridge__tensor_bytes(p, t);
        if (bytes > most) {
            other += most;
            most = bytes;
        } else {
            other += bytes;
        }
    }
    const bool is_spread = o->code == RIDGE_OPCODE_DISPATCH;
    return is_spread != o->is_backward ? 2 * most : most + other;
}

static double stream_bytes(const ridge__pricing *x, const ridge__fused *group, int k)
{
    const ridge_operation *o = &x->partition->program->ops[group->ops[k]];
    const ridge__fusing f = {x->partition, x->index};
    if (o->code == RIDGE_OPCODE_GATHER)
        return gather_bytes(x->partition, o);
    if (o->code == RIDGE_OPCODE_DISPATCH || o->code == RIDGE_OPCODE_COMBINE)
        return rows_bytes(x->partition, o);
    return ridge__fused_bytes(&f, group, k);
}

void ridge__streams_count(const ridge__pricing *x, const ridge__fused *group,
                          ridge__stream_work *out)
{
    const ridge_partition *p = x->partition;
    for (int i = 0; i < group->n; i++) {
        const ridge_operation *o = &p->program->ops[group->ops[i]];
        const ridge_op_count count = ridge_operation_count(p->program, o);
        out[i].bytes = stream_bytes(x, group, i);
        out[i].flops =
            (count.vector_flops + count.matmul_flops) * ridge__local_share(p, o);
    }
}

static void streams_price(const ridge__pricing *x, const ridge__fused *group,
                          ridge_operation_time *out)
{
    ridge__stream_work work[RIDGE__FUSED_MAX];
    double all_bytes = 0;
    double all_flops = 0;
    ridge__streams_count(x, group, work);
    for (int i = 0; i < group->n; i++) {
        all_bytes += work[i].bytes;
        all_flops += work[i].flops;
    }
    const ridge_op_cost cost =
        ridge_stream_cost(x->laid->slice->chip, all_flops, all_bytes);
    ridge_operation_time t = ridge__time_of_cost(&cost);
    const double rate = ridge__measured_stream(x, group, all_bytes);
    if (rate > 0)
        t.expected_s = fmax(t.bound_s, all_bytes / rate);
    for (int i = 0; i < group->n; i++) {
        out[i] =
            share_of(&t, all_bytes > 0 ? work[i].bytes / all_bytes : 1.0 / group->n);
        out[i].bytes = work[i].bytes;
        out[i].vector_flops = work[i].flops;
    }
}

double ridge_operation_stream_bytes(const ridge_partition *partition, int op)
{
    const ridge__pricing x = {.partition = partition};
    const ridge__fused alone = {.n = 1, .ops = {op}};
    return stream_bytes(&x, &alone, 0);
}

/* ---- any ------------------------------------------------------------------------ */

void ridge__group_price(const ridge__pricing *x, const ridge__fused *group,
                        ridge_operation_time *out)
{
    const ridge_operation *o = &x->partition->program->ops[group->ops[0]];
    ridge__product product;
    switch (o->code) {
    case RIDGE_OPCODE_COLLECTIVE:
    case RIDGE_OPCODE_SEND:
        *out = ridge__exchange_price(x, group->ops[0]);
        return;
    case RIDGE_OPCODE_ATTENTION:
    case RIDGE_OPCODE_SCAN:
        *out = ridge__scores_time(x, group->ops[0]);
        return;
    case RIDGE_OPCODE_EINSUM:
        if (ridge__product_of(x->partition, group->ops[0], &product)) {
            products_price(x, group, out);
            return;
        }
        break;
    case RIDGE_OPCODE_NORM:
    case RIDGE_OPCODE_ELEMENTWISE:
    case RIDGE_OPCODE_GATHER:
    case RIDGE_OPCODE_LOSS:
    case RIDGE_OPCODE_ROUTE:
    case RIDGE_OPCODE_DISPATCH:
    case RIDGE_OPCODE_COMBINE:
    case RIDGE_OPCODE_UPDATE:
        break;
    }
    streams_price(x, group, out);
}
