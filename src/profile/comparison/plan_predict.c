/* A layout's operations with their predicted times, by the same program that runs. */
#include "plan_match.h"

#include <string.h>

static ridge_profile_class collective_class(int collective)
{
    static const ridge_profile_class classes[] = {
        [RIDGE_COLLECTIVE_ALL_GATHER] = RIDGE_CLASS_ALL_GATHER,
        [RIDGE_COLLECTIVE_REDUCE_SCATTER] = RIDGE_CLASS_REDUCE_SCATTER,
        [RIDGE_COLLECTIVE_ALL_REDUCE] = RIDGE_CLASS_ALL_REDUCE,
        [RIDGE_COLLECTIVE_ALL_TO_ALL] = RIDGE_CLASS_ALL_TO_ALL,
        [RIDGE_COLLECTIVE_BROADCAST] = RIDGE_CLASS_BROADCAST,
        [RIDGE_COLLECTIVE_SEND_RECV] = RIDGE_CLASS_SEND_RECV,
    };
    _Static_assert(RIDGE_COUNT_OF(classes) == RIDGE_COLLECTIVE_COUNT,
                   "one row per enum value");
    return classes[collective];
}

static ridge_profile_class class_of(const ridge_operation *op)
{
    switch (op->code) {
    case RIDGE_OPCODE_EINSUM:
        return RIDGE_CLASS_MATMUL;
    case RIDGE_OPCODE_ATTENTION:
    case RIDGE_OPCODE_SCAN:
        return RIDGE_CLASS_ATTENTION;
    case RIDGE_OPCODE_NORM:
        return RIDGE_CLASS_NORM;
    case RIDGE_OPCODE_ELEMENTWISE:
        return RIDGE_CLASS_ELEMENTWISE;
    case RIDGE_OPCODE_GATHER:
        return RIDGE_CLASS_GATHER;
    case RIDGE_OPCODE_LOSS:
        return RIDGE_CLASS_SOFTMAX;
    case RIDGE_OPCODE_ROUTE:
    case RIDGE_OPCODE_DISPATCH:
    case RIDGE_OPCODE_COMBINE:
        return RIDGE_CLASS_ROUTING;
    case RIDGE_OPCODE_UPDATE:
        return RIDGE_CLASS_OPTIMIZER;
    case RIDGE_OPCODE_COLLECTIVE:
        return collective_class(op->collective);
    case RIDGE_OPCODE_SEND:
        return RIDGE_CLASS_SEND_RECV;
    }
    return RIDGE_CLASS_OTHER;
}

/* Blocks of the update run once a step, all others with every microbatch. */
static bool is_update(const ridge_block *block)
{
    const char *end = "_update";
    const size_t n = strlen(block->name);
    return n >= strlen(end) && strcmp(block->name + n - strlen(end), end) == 0;
}

static void block_add(const ridge_layout_timeline *t, int at,
                      const ridge_operation_time *times, double microbatches,
                      predicted_ops *out)
{
    const ridge_program *program = t->partition->program;
    const ridge_block *block = &program->blocks[at];
    const double count = (double)block->repeat * (is_update(block) ? 1 : microbatches);
    for (int i = block->first_op; i < block->first_op + block->n_ops; i++) {
        const ridge_operation *op = &program->ops[i];
        out->ops[out->n++] = (predicted_op){.name = op->name,
                                            .block = block->name,
                                            .class = class_of(op),
                                            .count = count,
                                            .time_s = count * times[i].expected_s,
                                            .flops = times[i].matmul_flops};
    }
}

ridge_status plan_match_predict(ridge_ctx *cx, const ridge_train_request *request,
                                const ridge_layout *layout, double microbatches,
                                predicted_ops *out)
{
    ridge_layout_timeline t;
    RIDGE_TRY(ridge_train_timeline(cx, request, layout, &t));
    const ridge_program *program = t.partition->program;
    ridge_operation_time *times =
        ridge_new(ridge_ctx_arena(cx), ridge_operation_time, (size_t)program->n_ops);
    predicted_ops p = {.n = 0};
    p.ops = ridge_new(ridge_ctx_arena(cx), predicted_op, (size_t)program->n_ops);
    if (times == NULL || p.ops == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(
        ridge_operation_times(cx, t.partition, &t.laid, t.timeline.compute, times));
    for (int i = 0; i < program->n_blocks; i++)
        block_add(&t, i, times, microbatches, &p);
    *out = p;
    return RIDGE_OK;
}
