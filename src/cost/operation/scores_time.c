/*
 * Attention and scans of a partition: local shapes, what of the context a chip's share
 * of the queries sees, and the backward pass beside the forward one.
 */
#include "bound.h"
#include "local_size.h"
#include "measured_rate.h"
#include "operation_time.h"

#include <math.h>
#include <string.h>

/* Flash attention's backward does five products for the forward's two, at a lower rate:
 * 561 against 648 TFLOP/s at 16k, head size 128 (flash-attention-3-2024, figures 5, 6).
 * The scores that it computes again count as time, not as work. */
static const double ATTENTION_BWD_OVER_FWD = 2.5 * 648.0 / 561.0;
static const double ATTENTION_BWD_FLOPS = 2;

/* Keys that a query of a causal self-attention over S tokens sees on average, at most w
 * of them: what a chip meets that has a balanced share of the queries
 * (brandon2023-striped). */
static double balanced_context(double s, double window)
{
    const double w = window > 0 ? fmin(window, s) : s;
    return w - w * (w - 1) / (2 * s);
}

/* The same of chunks that see themselves alone: each token what is before it in its
 * own. */
static double chunked_context(double s, double window)
{
    return balanced_context(window > 0 ? fmin(window, s) : s, 0);
}

/* What the ranks of a ring wait for, over a balanced share: pieces of a sequence go
 * around in turns; in the first each rank meets half of its own, and in every other one
 * some rank meets all of another's. Ranks that wait leave a shared processor to those
 * that work. */
static double turns_factor(const ridge_chip *chip, double pieces)
{
    const double waited = (2 * pieces - 1) / pieces;
    return ridge_chip_is_balanced(chip)
               ? 1
               : fmax(1, ridge_chip_processor_share(chip) * waited);
}

/* Keys met by a query that a shape alone does not tell the kernel's model: an average
 * that the program states, or a share of the queries. */
static void context_set(const ridge__pricing *x, const ridge_operation *o,
                        const ridge_attention_shape *shape, ridge_attention *a)
{
    const ridge_partition *p = x->partition;
    const ridge_chip *chip = x->laid->slice->chip;
    const double whole = (double)p->program->dims[shape->t].size;
    if (o->context_tokens > 0) {
        a->context_tokens = o->context_tokens;
    } else if (shape->chosen >= 0) {
        const double chosen = (double)p->program->dims[shape->chosen].size;
        a->context_tokens = fmin(chosen, a->context_tokens);
    } else if (a->is_causal && (a->query_tokens < whole || o->is_window_chunked)) {
        a->context_tokens =
            (o->is_window_chunked ? chunked_context(a->context_tokens, a->window)
                                  : balanced_context(a->context_tokens, a->window)) *
            turns_factor(chip, whole / a->query_tokens);
    } else {
        return;
    }
    a->is_causal = false;
    a->window = 0;
}

/* The inputs of a backward attention begin with those of its forward one. */
ridge_attention ridge__attention_shape(const ridge_partition *p,
                                       const ridge_operation *o,
                                       const ridge_attention_shape *shape)
{
    const int q = o->inputs[0];
    const int k = o->inputs[1];
    const int v = o->inputs[2];
    double batch = 1;
    for (int i = 0; i < shape->n_batch; i++)
        batch *= ridge__local_length_of(p, q, shape->batch[i]);
    const double rope =
        shape->rope < 0 ? 0 : (double)p->program->dims[shape->rope].size;
    return (ridge_attention){
        .batch = batch,
        .query_tokens = ridge__local_length_of(p, q, shape->t),
        .context_tokens = ridge__local_length_of(p, k, shape->s),
        .heads = ridge__local_length_of(p, q, shape->heads),
        .kv_heads = ridge__local_length_of(p, k, shape->kv_heads),
        .head_dim = ridge__local_length_of(p, q, shape->h) + rope,
        .v_head_dim = ridge__local_length_of(p, v, shape->hv),
        .window = (double)o->window,
        .is_causal = o->is_causal,
        .is_latent = k == v,
        .activation = p->program->tensors[q].dtype,
        .cache = p->program->tensors[k].dtype,
        .compute = RIDGE_DTYPE_BF16,
    };
}

static ridge_attention attention_of(const ridge__pricing *x, const ridge_operation *o,
                                    const ridge_attention_shape *shape)
{
    ridge_attention a = ridge__attention_shape(x->partition, o, shape);
    if (ridge_dtype_bytes(x->compute) > 2)
        a.compute = x->compute;
    context_set(x, o, shape, &a);
    return a;
}

/* Linear scans over chunks of 256 tokens run as five kernels with states of chunks
 * between them. On A100, with states of 64, they take as long as FlashAttention-2 over
 * 2,048 tokens: 27 ps a channel and token, where their operands alone would stream in
 * 2.5. @source dao2024-mamba2, figure 10; dao2023, figure 5 */
static const double SCAN_STREAMS = 11;
static const double SCAN_CHUNK_TOKENS = 256;

/* Times that the operands of a scan pass: once where a token follows a kept state. */
static double scan_streams(const ridge__pricing *x, const ridge_operation *o)
{
    const ridge_program *p = x->partition->program;
    const bool is_gpu = x->laid->slice->chip->kind == RIDGE_CHIP_GPU;
    const bool is_linear = o->scan == RIDGE_SCAN_LINEAR || o->scan == RIDGE_SCAN_DELTA;
    double tokens = 1;
    for (int i = 0; i < p->n_dims; i++) {
        if (strcmp(p->dims[i].name, "T") == 0)
            tokens = (double)p->dims[i].size;
    }
    return is_gpu && is_linear && tokens >= SCAN_CHUNK_TOKENS ? SCAN_STREAMS : 1;
}

/* Scores of kinds without a kernel model of their own: their FLOPs at the rate of
 * attention, or the stream of their operands. */
static ridge_operation_time scan_time(const ridge__pricing *x, int op)
{
    const ridge_partition *p = x->partition;
    const ridge_operation *o = &p->program->ops[op];
    const ridge_chip *chip = x->laid->slice->chip;
    const ridge_op_count count = ridge_operation_count(p->program, o);
    const double flops = count.matmul_flops * ridge__local_share(p, o);
    const ridge__fused alone = {.n = 1, .ops = {op}};
    const ridge__fusing fusing = {p, x->index};
    const double bytes = ridge__fused_bytes(&fusing, &alone, 0);
    const ridge_op_cost stream = ridge_stream_cost(chip, 0, bytes);
    ridge_operation_time t = ridge__time_of_cost(&stream);
    const double peak = ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL);
    const double rate = chip->achievable.attention > 0 ? chip->achievable.attention : 1;
    t.matmul_flops = flops;
    if (flops / peak > t.bound_s) {
        t.bound_s = flops / peak;
        t.bound_by = RIDGE_BOUND_COMPUTE;
    }
    t.expected_s = fmax(t.expected_s * scan_streams(x, o), flops / (peak * rate));
    if (o->is_backward)
        t.expected_s *= ATTENTION_BWD_OVER_FWD / ATTENTION_BWD_FLOPS;
    return t;
}

ridge_operation_time ridge__scores_time(const ridge__pricing *x, int op)
{
    const ridge_program *program = x->partition->program;
    const ridge_operation *o = &program->ops[op];
    ridge_attention_shape shape;
    if (!ridge_attention_shape_of(program, o, &shape))
        return scan_time(x, op);
    const ridge_attention a = attention_of(x, o, &shape);
    const ridge_op_cost cost = ridge_attention_cost(x->laid->slice->chip, &a);
    ridge_operation_time t = ridge__time_of_cost(&cost);
    const double rate = ridge__measured_attention(x, o, &shape);
    if (o->is_backward) {
        t.matmul_flops *= ATTENTION_BWD_FLOPS;
        t.vector_flops *= ATTENTION_BWD_FLOPS;
        t.bytes *= ATTENTION_BWD_FLOPS;
        t.bound_s *= ATTENTION_BWD_FLOPS;
        t.expected_s *= ATTENTION_BWD_OVER_FWD;
    }
    if (rate > 0)
        t.expected_s = fmax(t.bound_s, cost.matmul_flops / rate);
    return t;
}
