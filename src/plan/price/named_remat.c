/*
 * Recomputation operation by operation. The program says which results of a layer its
 * backward pass reads: those are kept. An operation that is named is not kept but done
 * again, and what it reads is kept, unless that is named too.
 */
#include "named_remat.h"

#include "stack_time.h"

#include <math.h>
#include <string.h>

named_program named_program_of(const ridge_partition *partition,
                               const ridge_operation_time *times, int kind)
{
    const ridge_program *p = partition->program;
    named_program found = {partition, times, -1, -1};
    for (int b = 0; b < p->n_blocks; b++) {
        const ridge_block *block = &p->blocks[b];
        if (block->layer == kind && block->is_backward && block->forward_of >= 0 &&
            found.backward < 0) {
            found.backward = b;
            found.forward = block->forward_of;
        }
    }
    return found;
}

/* ---- what is kept ---------------------------------------------------------------- */

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

static bool reads(const ridge_operation *op, int tensor)
{
    for (int i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i] == tensor)
            return true;
    }
    return false;
}

/* Who reads a result for the backward pass. */
typedef struct readers {
    bool is_read;
    bool is_operand; /* of products alone: kept in their format */
} readers;

static readers readers_of(const named_program *x, int tensor, const bool *again)
{
    const ridge_program *p = x->partition->program;
    const ridge_block *back = &p->blocks[x->backward];
    const ridge_block *ahead = &p->blocks[x->forward];
    readers r = {false, true};
    for (int i = back->first_op; i < back->first_op + back->n_ops; i++) {
        if (!reads(&p->ops[i], tensor))
            continue;
        r.is_read = true;
        r.is_operand = r.is_operand && p->ops[i].code == RIDGE_OPCODE_EINSUM;
    }
    for (int i = ahead->first_op; i < ahead->first_op + ahead->n_ops; i++) {
        if (!again[i] || !reads(&p->ops[i], tensor))
            continue;
        r.is_read = true;
        r.is_operand = r.is_operand && p->ops[i].code == RIDGE_OPCODE_EINSUM;
    }
    return r;
}

/* Bytes of a layer's results that are kept, given what is done again. */
static double kept_bytes(const train_case *tc, const named_program *x,
                         const bool *again)
{
    const ridge_program *p = x->partition->program;
    const ridge_block *ahead = &p->blocks[x->forward];
    const double narrow = ridge_dtype_bytes(tc->policy->compute);
    double bytes = 0;
    for (int i = ahead->first_op; i < ahead->first_op + ahead->n_ops; i++) {
        for (int o = 0; o < p->ops[i].n_outputs && !again[i]; o++) {
            const int tensor = p->ops[i].outputs[o];
            const readers r = readers_of(x, tensor, again);
            const double wide = ridge_dtype_bytes(p->tensors[tensor].dtype);
            if (!r.is_read || tensor == ahead->carry_out)
                continue;
            bytes += local_bytes(x->partition, tensor) *
                     (r.is_operand ? fmin(narrow, wide) / wide : 1);
        }
    }
    return bytes;
}

/* ---- one set --------------------------------------------------------------------- */

static void mark(const named_program *x, ridge_remat_ops ops, bool *again)
{
    const ridge_program *p = x->partition->program;
    memset(again, 0, (size_t)p->n_ops * sizeof *again);
    if (ops != 0)
        ridge_program_mark_named(p, x->backward, ops, again);
}

named_time named_remat_time(const train_case *tc, const named_program *x,
                            ridge_remat_ops ops, double tokens, bool *again)
{
    named_time t = {0};
    if (x->backward < 0 || ops == 0)
        return t;
    const ridge_program *p = x->partition->program;
    const ridge_block *ahead = &p->blocks[x->forward];
    double experts_s = 0;
    mark(x, 0, again);
    const double all_bytes = kept_bytes(tc, x, again);
    mark(x, ops, again);
    t.freed_bytes = (all_bytes - kept_bytes(tc, x, again)) / tokens;
    for (int i = ahead->first_op; i < ahead->first_op + ahead->n_ops; i++) {
        const ridge_operation *o = &p->ops[i];
        const bool is_exchange =
            o->code == RIDGE_OPCODE_COLLECTIVE || o->code == RIDGE_OPCODE_SEND;
        if (is_exchange)
            continue;
        const double s =
            stack_operation_time(tc, x->partition, i, &x->times[i]).expected_s;
        const bool is_expert =
            o->part == RIDGE_PART_EXPERTS && o->code == RIDGE_OPCODE_EINSUM;
        experts_s += is_expert ? s : 0;
        t.again_s += again[i] ? s : 0;
        t.experts_share += again[i] && is_expert ? s : 0;
    }
    t.experts_share = experts_s > 0 ? t.experts_share / experts_s : 0;
    return t;
}

/* ---- the ladder ------------------------------------------------------------------ */

typedef struct rung {
    ridge_remat_ops ops;
    double freed_bytes, again_s; /* over one layer of each kind */
} rung;

typedef struct ladder {
    const train_case *tc;
    const ridge_partition *partition;
    const ridge_operation_time *times;
    double tokens;
    bool *again;
} ladder;

static rung measure(const ladder *l, ridge_remat_ops ops)
{
    rung r = {.ops = ops};
    for (int k = 0; k < l->tc->n_kinds; k++) {
        const named_program x = named_program_of(l->partition, l->times, k);
        const named_time t = named_remat_time(l->tc, &x, ops, l->tokens, l->again);
        const double layers = (double)l->tc->kinds[k].count;
        r.freed_bytes += layers * t.freed_bytes;
        r.again_s += layers * t.again_s;
    }
    return r;
}

/* The operations that made what these read. */
static ridge_remat_ops makers_of(const ridge_program *p, ridge_remat_ops ops)
{
    ridge_remat_ops makers = 0;
    for (int i = 0; i < p->n_ops; i++) {
        if ((ridge_operation_remat_op(p, i) & ops) == 0)
            continue;
        for (int k = 0; k < i; k++) {
            for (int o = 0; o < p->ops[k].n_outputs; o++) {
                if (reads(&p->ops[i], p->ops[k].outputs[o]))
                    makers |= ridge_operation_remat_op(p, k);
            }
        }
    }
    return makers;
}

static bool is_better(const rung *from, const rung *a, const rung *best)
{
    const double freed = a->freed_bytes - from->freed_bytes;
    const double added_s = a->again_s - from->again_s;
    if (freed <= 1e-9 * (1 + from->freed_bytes) || added_s < 0)
        return false;
    if (best->ops == 0)
        return true;
    const double other = best->freed_bytes - from->freed_bytes;
    const double other_s = best->again_s - from->again_s;
    return freed * other_s > other * added_s;
}

int named_remat_ladder(const train_case *tc, const ridge_partition *partition,
                       const ridge_operation_time *times, double tokens, bool *again,
                       ridge_remat_ops *out)
{
    const ladder l = {tc, partition, times, tokens, again};
    const ridge_remat_ops all = ridge_program_remat_ops(partition->program);
    rung at = {0};
    int n = 0;
    while (n < NAMED_MOST) {
        rung best = {0};
        for (int i = 0; i < RIDGE_REMAT_OP_COUNT; i++) {
            const ridge_remat_ops one = (ridge_remat_ops)1 << i;
            if ((all & one) == 0 || (at.ops & one) != 0)
                continue;
            const ridge_remat_ops with = one | makers_of(partition->program, one);
            const rung tried[] = {measure(&l, at.ops | one),
                                  measure(&l, at.ops | with)};
            for (size_t k = 0; k < RIDGE_COUNT_OF(tried); k++) {
                if (is_better(&at, &tried[k], &best))
                    best = tried[k];
            }
        }
        if (best.ops == 0)
            break;
        at = best;
        out[n++] = at.ops;
    }
    return n;
}
