/*
 * Software that does not fuse passes over memory more often than the model of
 * docs/design/overlap.md says; kernels of their time reach less than the best. What
 * each stack lacks is data (data/stacks); which operations it concerns is said here.
 */
#include "stack_time.h"

#include <math.h>

/* Bytes a score of attention that is not fused, beside what its two products move.
 * Forward: softmax reads and writes 16 bits, dropout does and writes a mask. Backward:
 * both the other way. @source korthikanti2022 */
static const double SCORE_BYTES_FWD = 4 + 5;
static const double SCORE_BYTES_BWD = 5 + 6;

static double local_length(const ridge_partition *p, int tensor, int dim)
{
    const ridge_tensor *t = &p->program->tensors[tensor];
    for (int i = 0; i < t->n_dims; i++) {
        if (t->dims[i] == dim)
            return (double)ridge_partition_local_dim(p, tensor, i);
    }
    return 1;
}

/* Rows of 16 bytes are what matrix units load: batched products over heads whose size
 * is no multiple of them run on the vector units, as such libraries' do.
 * @source nvidia-matmul-guide, section 4 */
static const double UNIT_ROW_BYTES = 16;

static double head_product_s(const ridge_chip *chip, const ridge_matmul *m,
                             double head_dim)
{
    const double expected_s = ridge_matmul_cost(chip, m, RIDGE_MEMORY_HBM).expected_s;
    const bool is_aligned =
        fmod(head_dim * ridge_dtype_bytes(m->activation), UNIT_ROW_BYTES) == 0;
    if (chip->kind != RIDGE_CHIP_GPU || is_aligned)
        return expected_s;
    const double peak = ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL);
    const double share =
        expected_s > 0 ? 2 * m->batch * m->m * m->k * m->n / (expected_s * peak) : 1;
    return fmax(expected_s, 2 * m->batch * m->m * m->k * m->n /
                                (chip->vector_flops_per_s * fmin(share, 1)));
}

/* Queries by keys, whole squares: a mask hides scores, but does not save them. */
static double unfused_attention_s(const train_case *tc, const ridge_partition *p,
                                  const ridge_operation *o,
                                  const ridge_attention_shape *shape)
{
    const int q = o->inputs[0];
    const int v = o->inputs[2];
    double batch = local_length(p, q, shape->heads);
    for (int i = 0; i < shape->n_batch; i++)
        batch *= local_length(p, q, shape->batch[i]);
    const double t = local_length(p, q, shape->t);
    const double s = local_length(p, o->inputs[1], shape->s);
    ridge_matmul scores = {.batch = batch,
                           .m = t,
                           .k = local_length(p, q, shape->h),
                           .n = s,
                           .activation = p->program->tensors[q].dtype,
                           .weight = p->program->tensors[q].dtype,
                           .output = p->program->tensors[q].dtype,
                           .compute = RIDGE_DTYPE_BF16};
    ridge_matmul values = scores;
    values.k = s;
    values.n = local_length(p, v, shape->hv);
    const double products_s = head_product_s(tc->chip, &scores, scores.k) +
                              head_product_s(tc->chip, &values, values.n);
    const double bytes =
        batch * t * s * (o->is_backward ? SCORE_BYTES_BWD : SCORE_BYTES_FWD);
    const ridge_op_cost streams = ridge_stream_cost(tc->chip, 0, bytes);
    return products_s * (o->is_backward ? 2 : 1) + streams.expected_s;
}

static double attention_s(const train_case *tc, const ridge_partition *p, int op,
                          double tuned_s)
{
    const ridge_operation *o = &p->program->ops[op];
    ridge_attention_shape shape;
    if (tc->stack->attention == RIDGE_ATTENTION_UNFUSED &&
        ridge_attention_shape_of(p->program, o, &shape))
        return fmax(tuned_s, unfused_attention_s(tc, p, o, &shape));
    return tuned_s * ridge_stack_factor_of(&tc->stack->attention_time, tc->chip);
}

/* Models like LLaMA have more elementwise operations than those like GPT: a norm is
 * six, a rotation five, a gated activation two. */
static double stream_passes(const train_case *tc)
{
    bool is_gated = false;
    for (int k = 0; k < tc->n_kinds; k++)
        is_gated = is_gated || tc->kinds[k].ffn.is_gated;
    return is_gated && tc->stack->gated_passes > 0 ? tc->stack->gated_passes
                                                   : tc->stack->stream_passes;
}

/* The weight of a product, or its gradient; -1: none. */
static int weight_of(const ridge_program *p, const ridge_operation *o)
{
    for (int i = 0; i < o->n_inputs + o->n_outputs; i++) {
        const int t = i < o->n_inputs ? o->inputs[i] : o->outputs[i - o->n_inputs];
        const int of = p->tensors[t].gradient_of;
        if (p->tensors[t].role == RIDGE_ROLE_WEIGHT ||
            (of >= 0 && p->tensors[of].role == RIDGE_ROLE_WEIGHT))
            return t;
    }
    return -1;
}

/* Products of many experts are small along the width of one: of the last two dims of a
 * weight [E, D, F] the lesser decides. */
static double experts_factor(const train_case *tc, const ridge_partition *p,
                             const ridge_operation *o)
{
    const int weight = weight_of(p->program, o);
    const double half = tc->stack->experts_half_width;
    if (o->part != RIDGE_PART_EXPERTS || weight < 0 || half <= 0)
        return 1;
    const ridge_tensor *t = &p->program->tensors[weight];
    double least = HUGE_VAL;
    for (int i = t->n_dims > 2 ? t->n_dims - 2 : 0; i < t->n_dims; i++)
        least = fmin(least, (double)ridge_partition_local_dim(p, weight, i));
    return 1 + half / fmax(least, 1);
}

static double product_factor(const train_case *tc, const ridge_partition *p,
                             const ridge_operation *o)
{
    const ridge_stack *stack = tc->stack;
    const double bytes = ridge_dtype_bytes(tc->policy->compute);
    double factor =
        ridge_stack_factor_of(&stack->matmul_time, tc->chip) * experts_factor(tc, p, o);
    if (o->is_head || o->part == RIDGE_PART_ROUTER || bytes >= 2)
        return factor;
    return factor * ridge_stack_factor_of(
                        bytes < 1 ? &stack->fp4_time : &stack->fp8_time, tc->chip);
}

/* Share of the rate of products whose operands have one scale that products with a
 * scale for each row reach: 0.9 to 1. @source pytorch-147971 */
static const double ROWS_RATE = 0.95;

static double elements_of(const ridge_partition *p, int tensor)
{
    return ridge_partition_local_elements(p, tensor);
}

/* Scales of rows are not those of columns: an operand is read for each of its two uses,
 * gathered weights too, and products of the backward pass, which run with one scale,
 * are read and written again to have theirs. @source torchao-2184 */
static double rows_bytes(const ridge_partition *p, const ridge_operation *o)
{
    const ridge_tensor *tensors = p->program->tensors;
    const bool has_weight = weight_of(p->program, o) >= 0;
    double bytes = 0;
    if (o->is_backward)
        bytes += 2 * 2 * elements_of(p, o->outputs[0]);
    for (int i = 0; i < o->n_inputs; i++) {
        const bool is_weight = tensors[o->inputs[i]].role == RIDGE_ROLE_WEIGHT;
        if (is_weight)
            bytes += 3 * elements_of(p, o->inputs[i]); /* read wide, written narrow */
        else if (has_weight && !o->is_backward)
            bytes += 2 * elements_of(p, o->inputs[i]);
    }
    return bytes;
}

/* Products whose operands have a scale for each 32 elements take 7.161 ms where those
 * with one scale each take 6.812 (a layer's twelve, operands made before).
 * @source te-gemm-profiling-2026 */
static const double BLOCKS_TIME = 7.161 / 6.812;

/* With a scale for 128 elements of an activation and 128x128 of a weight: a layer's
 * twelve products and their casts take 22.882 ms on H200 where 18.978 are taken with
 * one scale each from earlier steps, of which 2.19 are casts.
 * @source te-gemm-profiling-2026 */
static const double LARGE_BLOCKS_TIME = (22.882 - 2.19) / (18.978 - 2.19);

/* A maximum of its own is read off each operand before it is cast; what the weights'
 * gradient multiplies was cast for the other two products. The same source's 20.285 ms
 * are 1.31 more than with earlier maxima: 2 bytes an element. */
static double maxima_s(const train_case *tc, const ridge_partition *p,
                       const ridge_operation *o)
{
    double bytes = 0;
    bool has_weight = false;
    for (int i = 0; i < o->n_inputs; i++) {
        const bool is_weight =
            p->program->tensors[o->inputs[i]].role == RIDGE_ROLE_WEIGHT;
        has_weight = has_weight || is_weight;
        bytes += is_weight ? 0 : 2 * elements_of(p, o->inputs[i]);
    }
    return has_weight ? ridge_stream_cost(tc->chip, 0, bytes).expected_s : 0;
}

static double scaled_time_s(const train_case *tc, const ridge_partition *p,
                            const ridge_operation *o, double product_s)
{
    const bool is_kept = o->is_head || o->part == RIDGE_PART_ROUTER;
    if (o->code != RIDGE_OPCODE_EINSUM || o->n_inputs < 2 || is_kept)
        return product_s;
    switch (tc->policy->scales) {
    case RIDGE_SCALES_DELAYED:
        return product_s;
    case RIDGE_SCALES_CURRENT:
        return product_s + maxima_s(tc, p, o);
    case RIDGE_SCALES_32:
        return product_s * BLOCKS_TIME;
    case RIDGE_SCALES_128:
        return product_s * LARGE_BLOCKS_TIME;
    case RIDGE_SCALES_ROWS:
        break;
    }
    return product_s / ROWS_RATE +
           ridge_stream_cost(tc->chip, 0, rows_bytes(p, o)).expected_s;
}

/* While all of a chip is busy its power holds the clock below that of products by
 * themselves: a fact of the chip, whatever the software. */
static double loaded_time(const ridge_chip *chip)
{
    return chip->achievable.loaded > 0 ? 1 / chip->achievable.loaded : 1;
}

ridge_operation_time stack_operation_time(const train_case *tc,
                                          const ridge_partition *partition, int op,
                                          const ridge_operation_time *tuned)
{
    const ridge_operation *o = &partition->program->ops[op];
    const ridge_stack *stack = tc->stack;
    ridge_operation_time t = *tuned;
    t.expected_s = scaled_time_s(tc, partition, o, t.expected_s);
    if (o->code == RIDGE_OPCODE_EINSUM)
        t.expected_s *= loaded_time(tc->chip);
    if (stack == NULL)
        return t;
    switch (o->code) {
    case RIDGE_OPCODE_COLLECTIVE:
    case RIDGE_OPCODE_SEND:
        return t;
    case RIDGE_OPCODE_ATTENTION:
    case RIDGE_OPCODE_SCAN:
        t.expected_s = attention_s(tc, partition, op, t.expected_s);
        break;
    case RIDGE_OPCODE_EINSUM:
        t.expected_s *= product_factor(tc, partition, o);
        break;
    case RIDGE_OPCODE_NORM:
    case RIDGE_OPCODE_ELEMENTWISE:
    case RIDGE_OPCODE_GATHER:
    case RIDGE_OPCODE_LOSS:
    case RIDGE_OPCODE_ROUTE:
    case RIDGE_OPCODE_DISPATCH:
    case RIDGE_OPCODE_COMBINE:
        t.expected_s *= stream_passes(tc);
        break;
    case RIDGE_OPCODE_UPDATE:
        break;
    }
    t.expected_s = fmax(t.expected_s, t.bound_s);
    return t;
}

double stack_selective_s(const ridge_stack *stack, const layer_time *t)
{
    if (stack == NULL || stack->selective_matmuls <= 0)
        return t->attention_fwd_s;
    return stack->selective_matmuls * t->matmul_fwd_s + t->vector_fwd_s;
}

bool stack_has_ordered_remat(const ridge_stack *stack, ridge_remat remat)
{
    return stack == NULL || remat != RIDGE_REMAT_SELECTIVE ||
           stack->selective_matmuls <= 0;
}
