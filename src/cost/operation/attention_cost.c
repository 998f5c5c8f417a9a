/* Time of one layer's attention on one chip, as flash kernels compute it: scores never
 * leave the chip, so queries, keys, values and output move once. */
#include "bound.h"

#include <math.h>

/*
 * Vector operations of one score: scale, subtract the running maximum, maximum,
 * exponential, sum. The bound takes the exponential as one, as a polynomial on the FMA
 * units could nearly be; kernels wait for the special function unit instead. A GPU's
 * does an exponential in the time of 16 fp32 FLOPs (H100: 3.9e12 a second beside 67e12
 * FLOP/s); elsewhere it is taken as one operation of each of four vector ALUs.
 * @source flash-attention-3-2024
 */
static const double SCORE_FLOPS = 5;
static const double EXP_WAIT_FLOPS_GPU = 15;
static const double EXP_WAIT_FLOPS_OTHER = 3;

/* Query rows of a block: on GPUs, and of splash attention on TPUs (sa_block_q).
 * @source dao2023; maxtext-2024 */
enum { BLOCK_GPU = 128, BLOCK_TPU = 512 };

/* Head dim at which achievable.attention is measured. */
enum { REFERENCE_HEAD_DIM = 128 };

/* Least keys that one block of a split decode kernel takes.
 * @source dao2023decode */
enum { SPLIT_KEYS = 256 };

/* Query heads of a block of decode on a latent. @source flashmla-2025 */
enum { LATENT_HEADS = 64 };

/* What one SM can draw from HBM, over its equal part of the bandwidth: 1.5 to 4 do as
 * well on decode of A100, H100 and B200. */
static const double SM_DRAW = 3;

/* Queries, contexts and what the kernel computes of them. */
typedef struct attention_span {
    double context;          /* keys that a query sees, averaged */
    double longest;          /* of the last query */
    double keys_read;        /* of a sequence, each once */
    double computed_rows;    /* queries padded to blocks */
    double computed_context; /* with the masked part of blocks on the diagonal */
} attention_span;

static double attention_block(const ridge_chip *chip)
{
    if (chip->kind == RIDGE_CHIP_GPU)
        return BLOCK_GPU;
    return chip->kind == RIDGE_CHIP_CPU ? 1 : BLOCK_TPU;
}

/*
 * Query i of T stands at position S - T + i of the context. Causal without a window it
 * sees S - T + i + 1 keys, on average S - (T - 1) / 2; with one, at most w.
 */
static double average_context(const ridge_attention *op)
{
    const double last = op->context_tokens;
    const double window = op->window > 0 ? fmin(op->window, last) : last;
    if (!op->is_causal)
        return window;
    const double first = fmax(1, last - op->query_tokens + 1);
    if (window <= first)
        return window;
    const double below = window - first; /* queries that see less than the window */
    const double queries = last - first + 1;
    return (below * (first + window - 1) / 2 + (queries - below) * window) / queries;
}

static attention_span attention_span_find(const ridge_chip *chip,
                                          const ridge_attention *op)
{
    const double t = op->query_tokens;
    const double block = attention_block(chip);
    attention_span span = {
        .context = average_context(op),
        .longest = op->context_tokens,
        .keys_read = op->context_tokens,
        .computed_rows = t,
    };
    if (op->window > 0) {
        span.longest = fmin(op->window, op->context_tokens);
        span.keys_read = fmin(op->context_tokens, op->window + t - 1);
    }
    if (t > block)
        span.computed_rows = ceil(t / block) * block;
    /* whole blocks of keys at the edges: one with a mask, two with a window */
    const double edge = fmin(t, block) - 1;
    if (span.longest < op->context_tokens) {
        span.computed_context = span.context + edge;
    } else {
        span.computed_context = span.context + (op->is_causal ? edge / 2 : 0);
    }
    span.computed_context = fmin(op->context_tokens, span.computed_context);
    return span;
}

/* Head dim as the matrix unit computes it. */
static double padded_head_dim(const ridge_chip *chip, double head_dim)
{
    double unit = 1;
    if (chip->kind == RIDGE_CHIP_GPU) {
        unit = 32;
    } else if (chip->matmul_rows > 0) {
        unit = chip->matmul_rows;
    }
    return ceil(head_dim / unit) * unit;
}

/* One score on the whole chip: both matmuls, then the softmax's part. */
static double score_s(const ridge_chip *chip, ridge_dtype compute, double head_dims)
{
    const double wait =
        chip->kind == RIDGE_CHIP_GPU ? EXP_WAIT_FLOPS_GPU : EXP_WAIT_FLOPS_OTHER;
    const double vector_s = chip->vector_flops_per_s > 0
                                ? (SCORE_FLOPS + wait) / chip->vector_flops_per_s
                                : 0;
    return 2 * head_dims / ridge_chip_peak(chip, compute, NULL) + vector_s;
}

static double reference_score_s(const ridge_chip *chip)
{
    return score_s(chip, RIDGE_DTYPE_BF16,
                   2 * padded_head_dim(chip, REFERENCE_HEAD_DIM));
}

double ridge_attention_share(const ridge_chip *changed, const ridge_chip *measured)
{
    const double peak = ridge_chip_peak(measured, RIDGE_DTYPE_BF16, NULL) /
                        ridge_chip_peak(changed, RIDGE_DTYPE_BF16, NULL);
    const double score = reference_score_s(measured) / reference_score_s(changed);
    return fmin(1, ridge__share(measured->achievable.attention) * peak * score);
}

/*
 * Achievable time of one score. At the reference (bf16, head dim 128) it is what the
 * measured share of the peak says; other head dims and formats differ from it as
 * matmul time plus softmax time do, since the softmax does not speed up with either.
 */
static double achievable_score_s(const ridge_chip *chip, const ridge_attention *op)
{
    const double share = ridge__share(chip->achievable.attention);
    const double reference_s = 4.0 * REFERENCE_HEAD_DIM /
                               ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL) / share;
    const double dims =
        padded_head_dim(chip, op->head_dim) + padded_head_dim(chip, op->v_head_dim);
    return reference_s * score_s(chip, op->compute, dims) / reference_score_s(chip);
}

/* ---- blocks over the SMs --------------------------------------------------------- */

typedef struct attention_grid {
    double blocks;
    double splits;     /* of the keys, when rows of queries alone are too few */
    double busy_share; /* of the SMs */
} attention_grid;

/* Decode packs the query heads of a KV head into one block, 64 at a time on a latent
 * that all share; prefill has a block for every 128 rows of each query head. Where that
 * leaves SMs idle the keys are split. A TPU works on one sequence after another. */
static attention_grid attention_grid_find(const ridge_chip *chip,
                                          const ridge_attention *op,
                                          const attention_span *span)
{
    attention_grid g = {.blocks = op->batch * op->heads, .splits = 1, .busy_share = 1};
    if (chip->kind != RIDGE_CHIP_GPU || chip->cores <= 0) {
        /* a step of the grid: a sequence's block of queries, a KV head of a new token.
         * @source jax-paged-attention-2025 */
        g.blocks = op->batch * ceil(op->query_tokens / attention_block(chip));
        if (op->query_tokens <= 1)
            g.blocks = op->batch * op->kv_heads;
        return g;
    }
    const double sms = chip->cores;
    if (op->is_latent && op->query_tokens <= 1) {
        g.blocks = op->batch * ceil(op->heads / LATENT_HEADS);
    } else if (op->query_tokens * op->heads / op->kv_heads <= BLOCK_GPU) {
        g.blocks = op->batch * op->kv_heads;
    } else {
        g.blocks *= ceil(op->query_tokens / BLOCK_GPU);
    }
    const double most = fmax(1, floor(span->longest / SPLIT_KEYS));
    g.splits = fmin(most, ceil(sms / g.blocks));
    g.busy_share = fmin(1, g.blocks * g.splits / sms);
    return g;
}

/*
 * Useful share of the SMs: equal blocks run in waves; causal ones, longest first, end
 * when the SMs are all used up or when the longest has run. Every round pays the first
 * load and the last store. In prefill a block works on one tile of keys while it
 * prepares the next: the first scores and the last values overlap with nothing, one
 * tile's time in all.
 * @source flash-attention-3-2024, section 3.2
 */
static double attention_wave_efficiency(const ridge_chip *chip,
                                        const ridge_attention *op,
                                        const attention_span *span,
                                        const attention_grid *grid, double score_time_s)
{
    if (chip->kind != RIDGE_CHIP_GPU || chip->cores <= 0)
        return 1;
    const double sms = chip->cores;
    const double jobs = grid->blocks * grid->splits;
    const double work_s = op->batch * op->heads * span->computed_rows *
                          span->computed_context * score_time_s;
    const double job_s = work_s * sms / jobs;
    const double rounds = ceil(jobs / sms);
    double makespan_s = job_s * rounds;
    if (op->is_causal && op->query_tokens > 1) {
        const double longest_s =
            job_s * fmax(1, span->longest / span->computed_context);
        makespan_s = fmax(work_s, longest_s);
    }
    if (op->query_tokens > BLOCK_GPU)
        makespan_s *= 1 + BLOCK_GPU / span->computed_context;
    makespan_s += rounds * ridge__block_start_s(chip);
    return fmin(1, work_s / makespan_s);
}

/* Decode works on one new token a sequence; on a latent, on the latent itself. */
static bool is_decode(const ridge_attention *op)
{
    return op->query_tokens <= 1 && !(op->is_latent && op->kv_heads > 1);
}

/* The busy SMs' part of the bandwidth of HBM. */
static double attention_bytes_per_s(const ridge_chip *chip, const ridge_attention *op,
                                    const attention_grid *grid)
{
    const ridge_achievable *a = &chip->achievable;
    const bool is_decode = op->is_engine_call && op->query_tokens <= 1;
    const double share =
        is_decode && a->decode > 0 ? a->decode : ridge__share(a->memory);
    const double drawn = chip->kind == RIDGE_CHIP_GPU ? SM_DRAW * grid->busy_share : 1;
    return chip->hbm_bytes_per_s * fmin(share, drawn);
}

/* ---- engines' calls -------------------------------------------------------------- */

/* Keys and values written where they were read, and with rotary the queries too. */
static double append_bytes(const ridge_attention *op)
{
    const double stored = op->is_latent ? 0 : 2 * op->kv_heads; /* a latent is small */
    const double heads = stored + (op->rotates ? op->heads : 0);
    return 2 * op->batch * op->query_tokens * heads * op->head_dim *
           ridge_dtype_bytes(op->activation);
}

/*
 * What an engine's call costs beside the kernel's work: its launches, what each block
 * takes however short its keys are, a second kernel where keys were split, and in
 * prefill the stream that stores keys and values.
 */
static double engine_call_s(const ridge_chip *chip, const ridge_attention *op,
                            const attention_grid *grid)
{
    const ridge_achievable *a = &chip->achievable;
    const bool is_gpu = chip->kind == RIDGE_CHIP_GPU && chip->cores > 0;
    const double call_s = is_decode(op) ? a->decode_call_s : a->prefill_call_s;
    const double block_s = is_decode(op) ? a->decode_block_s : a->prefill_block_s;
    const double rounds = grid->blocks * grid->splits / (is_gpu ? chip->cores : 1);
    double s = call_s > 0 ? call_s - a->launch_s : 0;
    s += fmax(1, rounds) * block_s;
    if (!is_decode(op))
        s += ridge__beside_stream_s(chip, append_bytes(op));
    return fmax(0, s);
}

/* ---- cost ------------------------------------------------------------------------ */

/*
 *     FLOPs = 2 B N T c (H + Hv),  c the average context
 *     bytes = B T N (H + Hv) a + B S K (H + Hv) w
 *
 * B sequences, T queries and S keys of each, N, K query and KV heads, H, Hv head dims
 * of keys and values, a, w bytes an element of activations and of the cache. A latent
 * is read once for both. Left out: norms of queries and keys, page tables, and outside
 * of engines' calls rotary and writing the cache.
 * @source scaling-book-2025 chapter 4; dao2022
 */
ridge_op_cost ridge_attention_cost(const ridge_chip *chip, const ridge_attention *op)
{
    const attention_span span = attention_span_find(chip, op);
    const attention_grid grid = attention_grid_find(chip, op, &span);
    const double rows = op->batch * op->heads * op->query_tokens;
    const double scores = rows * span.context;
    const double head_dims = op->head_dim + op->v_head_dim;
    const double computed =
        op->batch * op->heads * span.computed_rows * span.computed_context;
    const double score_time_s = achievable_score_s(chip, op);
    const double wave = attention_wave_efficiency(chip, op, &span, &grid, score_time_s);
    const bool is_one_array = op->is_latent && op->kv_heads <= 1;
    const double cached = is_one_array ? op->head_dim : head_dims;
    const double bytes = rows * head_dims * ridge_dtype_bytes(op->activation) +
                         op->batch * op->kv_heads * span.keys_read * cached *
                             ridge_dtype_bytes(op->cache);
    const double kernels = grid.splits > 1 ? 2 : 1; /* the second one combines */
    const op_load load = {
        .matmul_flops = 2 * scores * head_dims,
        .vector_flops = scores * SCORE_FLOPS,
        .bytes = bytes,
        .matmul_flops_per_s = ridge_chip_peak(chip, op->compute, NULL),
        .vector_flops_per_s = chip->vector_flops_per_s,
        .bytes_per_s = chip->hbm_bytes_per_s,
        .expected_matmul_s = computed * score_time_s / wave,
        .expected_memory_s = bytes / attention_bytes_per_s(chip, op, &grid),
        .is_prefetched = chip->kind != RIDGE_CHIP_GPU,
        .launch_s = kernels * chip->achievable.launch_s,
        .beside_s = op->is_engine_call ? engine_call_s(chip, op, &grid) : 0,
        .tile_efficiency = scores / computed,
        .wave_efficiency = wave,
    };
    return ridge__op_cost_make(&load);
}
