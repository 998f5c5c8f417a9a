/*
 * The operations of a block priced together: what runs as one kernel, and which
 * collectives run as one.
 */
#include "local_size.h"
#include "operation_time.h"
#include "product_memo.h"

/* Products that one program has, at most; of more the first are priced again. */
enum { PRODUCTS_OF_ONE = 64 };

/* Collectives of weights are put together into buckets (zhao2023-fsdp): one start, one
 * latency for all. Each takes its bytes' share. */
static void exchanges_price(const ridge__pricing *x, int op, int end, bool *is_priced,
                            ridge_operation_time *out)
{
    double bytes = 0;
    if (ridge__exchange_group(x, op).ranks <= 1) { /* nor those that join it */
        is_priced[op] = true;
        out[op] = ridge__exchange_price(x, op);
        return;
    }
    for (int i = op; i < end; i++) {
        if (i != op && (is_priced[i] || !ridge__exchange_joins(x->partition, op, i)))
            continue;
        out[i] = ridge__exchange_price(x, i);
        bytes += out[i].bytes;
    }
    is_priced[op] = true;
    if (bytes <= out[op].bytes)
        return;
    const ridge_operation_time all = ridge__exchange_joined(x, op, bytes);
    for (int i = op; i < end; i++) {
        if (i != op && (is_priced[i] || !ridge__exchange_joins(x->partition, op, i)))
            continue;
        is_priced[i] = true;
        out[i].bound_s = all.bound_s * out[i].bytes / bytes;
        out[i].expected_s = all.expected_s * out[i].bytes / bytes;
    }
}

static bool is_exchange(const ridge_operation *o)
{
    return o->code == RIDGE_OPCODE_COLLECTIVE || o->code == RIDGE_OPCODE_SEND;
}

static void block_price(const ridge__pricing *x, int block, bool *is_priced,
                        ridge_operation_time *out)
{
    const ridge_block *b = &x->partition->program->blocks[block];
    const ridge__fusing fusing = {x->partition, x->index};
    const int end = b->first_op + b->n_ops;
    for (int i = b->first_op; i < end; i++) {
        if (is_priced[i])
            continue;
        if (is_exchange(&x->partition->program->ops[i])) {
            exchanges_price(x, i, end, is_priced, out);
            continue;
        }
        ridge__fused group;
        ridge_operation_time times[RIDGE__FUSED_MAX];
        ridge__fused_from(&fusing, i, end, is_priced, &group);
        if (ridge__is_product_sum(&fusing, i)) {
            is_priced[i] = true;
            out[i] = (ridge_operation_time){.bound_by = RIDGE_BOUND_MEMORY};
            continue;
        }
        ridge__group_price(x, &group, times);
        for (int k = 0; k < group.n; k++) {
            is_priced[group.ops[k]] = true;
            out[group.ops[k]] = times[k];
        }
    }
}

/* Software that neither fuses kernels nor buckets collectives. */
static void block_price_each(const ridge__pricing *x, int block,
                             ridge_operation_time *out)
{
    const ridge_block *b = &x->partition->program->blocks[block];
    for (int i = b->first_op; i < b->first_op + b->n_ops; i++) {
        const ridge__fused alone = {.n = 1, .ops = {i}};
        ridge__group_price(x, &alone, &out[i]);
    }
}

ridge_status ridge__program_price(ridge_ctx *cx, const ridge__pricing *x,
                                  ridge_operation_time *out)
{
    const ridge_program *program = x->partition->program;
    ridge__pricing own = *x;
    bool *is_priced =
        ridge_new(ridge_ctx_scratch(cx), bool, (size_t)program->n_ops + 1);
    if (own.memo == NULL)
        own.memo = ridge__product_memo_make(ridge_ctx_scratch(cx), PRODUCTS_OF_ONE);
    if (is_priced == NULL || own.memo == NULL)
        return ridge_fail_nomem(cx);
    const bool is_fused = ridge_chip_is_fused(x->laid->slice->chip);
    for (int b = 0; b < program->n_blocks; b++) {
        if (is_fused) {
            block_price(&own, b, is_priced, out);
        } else {
            block_price_each(&own, b, out);
        }
    }
    return RIDGE_OK;
}

ridge_status ridge_operation_times(ridge_ctx *cx, const ridge_partition *partition,
                                   const ridge_laid_mesh *laid, ridge_dtype compute,
                                   ridge_operation_time *out)
{
    return ridge_operation_times_with(cx, NULL, partition, laid, compute, out);
}

ridge_status ridge_operation_times_with(ridge_ctx *cx, ridge_product_memo *memo,
                                        const ridge_partition *partition,
                                        const ridge_laid_mesh *laid,
                                        ridge_dtype compute, ridge_operation_time *out)
{
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
    ridge__op_index index;
    ridge_partition sized;
    ridge_status st = ridge__op_index_make(cx, partition->program, &index);
    const ridge__pricing x = {&sized, laid, compute, &index, memo};
    if (st == RIDGE_OK)
        st = ridge__local_lengths_find(cx, partition, &sized);
    if (st == RIDGE_OK)
        st = ridge__program_price(cx, &x, out);
    ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
    return st;
}

ridge_operation_time ridge_operation_time_of(const ridge_partition *partition, int op,
                                             const ridge_laid_mesh *laid,
                                             ridge_dtype compute)
{
    const ridge__pricing x = {partition, laid, compute, NULL, NULL};
    const ridge__fused alone = {.n = 1, .ops = {op}};
    ridge_operation_time t;
    ridge__group_price(&x, &alone, &t);
    return t;
}
