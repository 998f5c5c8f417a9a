/*
 * What a rank computes with: memory and kernels of a CPU or of a GPU, behind one table.
 * The machine above it knows no more of hardware than this. Arrays are row-major; a
 * kernel's sizes are local ones. Knows nothing of programs, meshes or ranks.
 *
 * Numbers: a kernel reads and writes fp32 or bf16 as each array says, computes in fp32
 * and rounds once, to nearest even. Sums have a fixed order for a given number of
 * threads. All kernels of one device run one after the other (on a GPU: on one stream);
 * a device belongs to one thread.
 */
#ifndef RIDGE_EXECUTE_DEVICE_H
#define RIDGE_EXECUTE_DEVICE_H

#include "ridge/base.h"
#include "ridge/hardware.h"
#include "ridge/program.h"

typedef struct ridge__device ridge__device;

/** An array in a device's memory: FP32, BF16 or int32 (where said). */
typedef struct ridge__array {
    void *p;
    ridge_dtype dtype; /* RIDGE_DTYPE_FP32 or RIDGE_DTYPE_BF16; of int32 not heeded */
} ridge__array;

/* ---- shapes of kernels ----------------------------------------------------------- */

/**
 * c[batch] = a[batch] b[batch], or added to what c holds. a is [m, k] with rows of lda
 * elements, or [k, m] if is_a_transposed; b is [k, n], or [n, k] if is_b_transposed; c
 * is [m, n]. Strides between the matrices of a batch are in elements; 0: shared.
 * k = 0 leaves c at zero (or as it is, if added). A bias is added to each row of c, if
 * the device takes one and c is not added to.
 */
typedef struct ridge__gemm {
    int64_t batch, m, n, k;
    ridge__array a, b, c;
    ridge__array bias; /* [n]; p NULL: none */
    int64_t lda, ldb, ldc;
    int64_t stride_a, stride_b, stride_c;
    bool is_a_transposed, is_b_transposed, is_added;
} ridge__gemm;

/**
 * Products of experts. offsets [groups + 1] (host memory) are where each group's rows
 * begin; group g has rows offsets[g] .. offsets[g + 1] of `rows` arrays.
 *   is_outer false: out[rows, n] = in[rows, k] w[g], w is [groups, k, n], or
 *                   [groups, n, k] if is_w_transposed
 *   is_outer true:  out[g][k, n] (+)= in[rows, k]^T w[rows, n]: a weight's gradient;
 * out is [groups, k, n]; a group without rows gives zeros
 */
typedef struct ridge__grouped_gemm {
    int groups;
    const int64_t *offsets;
    int64_t k, n;
    ridge__array in, w, out;
    bool is_outer, is_w_transposed, is_added;
} ridge__grouped_gemm;

/**
 * o = softmax(scale q k^T over the met entries) v, and the logarithm of the softmax's
 * sum. q [batch, t, heads, h], k [batch, s, kv_heads, h], v [batch, s, kv_heads, hv],
 * o [batch, t, heads, hv], lse fp32 [batch, t, heads] (NULL: not wanted). Query head n
 * meets key head n / (heads / kv_heads) if kv_heads divides heads.
 *
 * Query i stands at q_start + i, entry j at s_start + j. It meets entry j if j <
 * s_valid, and not is_causal or entry <= query, and with a window entry > query -
 * window (or, if chunked, entry / window == query / window). A query that meets nothing
 * has o = 0 and lse = -infinity. stride_s: tokens between the sequences of k and v (a
 * cache has room for more than s). Documents: no entry before first_met of the query,
 * of which each sequence has t that do not fall.
 */
typedef struct ridge__attention {
    int64_t batch, t, s, s_valid, stride_s;
    int64_t heads, kv_heads, h, hv;
    int64_t q_start, s_start;
    int64_t window; /* 0: none */
    bool is_causal, is_window_chunked;
    const int32_t *first_met; /* [batch, t], host memory; NULL: no documents */
    float scale;
    ridge__array q, k, v, o;
    float *lse;
    /* backward */
    ridge__array d_o, d_q, d_k,
        d_v;       /* as o, q, k, v; k and v there are dense: stride s */
    bool is_added; /* to what d_q, d_k and d_v hold (ring attention) */
} ridge__attention;

/** y = z / rms(z) w + b over rows of d, z being x, or x less its mean by kind; w, b may
 * be NULL. Backward: d_x and, where not NULL, d_w and d_b (summed over the rows; their
 * arrays are overwritten). @source ba2016; zhang2019 */
typedef struct ridge__norm {
    ridge_norm_kind kind;
    int64_t rows, d;
    float epsilon;
    ridge__array x, w, b, y;
    ridge__array d_y, d_x, d_w, d_b;
} ridge__norm;

/**
 * Elementwise y = f(a, b). An operand that lacks dims of y is repeated over them: up to
 * 8 dims, the strides of y's dims in a and b in elements, 0 where repeated. n_dims 1
 * with strides 1 is the usual dense case.
 */
typedef struct ridge__elementwise {
    ridge_function function; /* but ROTARY and APPEND */
    float scale;             /* SCALE */
    int n_dims;
    int64_t sizes[RIDGE_TENSOR_DIM_MAX];
    int64_t a_strides[RIDGE_TENSOR_DIM_MAX], b_strides[RIDGE_TENSOR_DIM_MAX];
    ridge__array a, b, y; /* b.p NULL for one input */
    /* backward of functions with more than one factor, dense: sizes of n_dims 1 */
    ridge__array d_y, d_a, d_b;
} ridge__elementwise;

/** Turn pairs (2i, 2i+1) of the last dim h: x [outer, t, inner, h]. The angle of token
 * t is (start + t) frequencies[i], fp32 [h / 2] in host memory, turned back if is_back.
 */
typedef struct ridge__rotary {
    int64_t outer, t, inner, h;
    int64_t start;
    const float *frequencies;
    float magnitude; /* of the result: 1, or the model's attention factor */
    bool is_back;
    ridge__array x, y; /* may be the same */
} ridge__rotary;

/** Strided copy with conversion of format: y[i..] = x[i..], strides in elements. */
typedef struct ridge__copy {
    int n_dims;
    int64_t sizes[RIDGE_TENSOR_DIM_MAX];
    int64_t x_strides[RIDGE_TENSOR_DIM_MAX], y_strides[RIDGE_TENSOR_DIM_MAX];
    ridge__array x, y;
    bool is_added; /* to what y holds */
    bool is_raw_4; /* elements are 4 bytes of any kind (int32) */
} ridge__copy;

/** y[outer, inner] = sum over the middle dim of x[outer, middle, inner]. */
typedef struct ridge__sum {
    int64_t outer, middle, inner;
    ridge__array x, y;
} ridge__sum;

/** y[rows, d] = table[ids - first], 0 where an id is outside first .. first + words.
 * Backward: table (fp32 or bf16) += d_y rows, in the order of the rows. ids int32. */
typedef struct ridge__gather {
    int64_t rows, d, words, first;
    const int32_t *ids; /* device memory */
    ridge__array table, y;
    bool is_backward; /* y is the gradient, table the gradient of the table */
} ridge__gather;

/**
 * The softmax loss of rows of a part of the vocabulary, first .. first + words of
 * columns that are `stride` apart. A label below 0 is none: its loss and its gradient
 * are 0. labels int32 [rows].
 *   partial: top[rows], sum[rows] (of exp(logit - top)), picked[rows] (the label's
 * logit, 0 if it is not in this part), all fp32 finish:  loss = top + log(sum) - picked
 * (0 without a label), lse = top + log(sum) backward: d_logits = (exp(logit - lse) -
 * [is label]) times d_loss (NULL: 1)
 */
typedef struct ridge__loss {
    int64_t rows, words, stride, first;
    ridge__array logits, d_logits;
    const int32_t *labels;
    float *top, *sum, *picked; /* [rows] */
    float *lse;                /* [rows] */
    ridge__array loss, d_loss; /* [rows] */
} ridge__loss;

/** gates[rows, experts] = softmax of the k largest logits (the lower index first), or,
 * if is_whole, of all logits at the k largest; 0 elsewhere. Backward, if not is_whole:
 * d_logits from gates and d_gates. */
typedef struct ridge__route {
    int64_t rows, experts, k;
    bool is_whole;
    ridge__array logits, gates, d_gates, d_logits;
} ridge__route;

/**
 * The order of rows of experts: for each expert of first_expert .. first_expert +
 * experts the tokens whose gate is not 0, in order; tokens beyond `valid` are left out.
 * gates is [tokens, all_experts]. Writes, in host memory, offsets [experts + 1], and in
 * device memory token int32 [offsets[experts]] (room for tokens * k).
 */
typedef struct ridge__expert_order {
    int64_t tokens, valid, all_experts, first_expert, experts;
    ridge__array gates;
    int64_t *offsets;
    int32_t *token;
} ridge__expert_order;

/**
 * rows[i] = x[token[i]] (dispatch), y[token[i]] += gate rows[i] (combine, y is
 * overwritten) and their backwards; the gate is gates[token[i], expert of row i].
 *   dispatch           rows <- x
 *   dispatch_backward  d_x [tokens, d] = sum of d_rows over its rows (overwritten)
 *   combine            y <- rows, gates
 *   combine_backward   d_rows[i] = gate d_y[token[i]]; d_gates [tokens, all_experts] =
 *                      rows[i] . d_y[token[i]], 0 elsewhere (overwritten)
 */
typedef struct ridge__experts {
    int64_t tokens, d, all_experts, first_expert, experts;
    const int64_t *offsets; /* host, [experts + 1] */
    const int32_t *token;   /* device */
    ridge__array x, rows, gates, y, d_x, d_rows, d_y, d_gates;
} ridge__experts;

/**
 * AdamW on n elements: g = scale gradient; m = beta1 m + (1 - beta1) g; v = beta2 v +
 * (1 - beta2) g g; w -= rate (m / correction1 / (sqrt(v / correction2) + epsilon) +
 * decay w). Without v, SGD with a momentum: m = beta1 m + g; w -= rate (m + decay w).
 * Without m too, plain: w -= rate (g + decay w). On master (fp32) where there is one,
 * which is then copied to the weight. Moments in bf16 are read into
 * fp32 and rounded once.
 * @source kingma2015, loshchilov2019, deepseek-v3-2024
 */
typedef struct ridge__update {
    int64_t n;
    ridge__array weight, gradient;
    float *master;     /* or NULL */
    ridge__array m, v; /* p NULL: none */
    float rate, beta1, beta2, epsilon, decay, correction1, correction2, scale;
} ridge__update;

/**
 * x [rows, n] fp32 and its codes of 8 bits, entry i of a row being first + i of the
 * whole dim: its blocks are the whole dim's, RIDGE__BLOCK_ENTRIES each, so that parts
 * of an array have the codes that the whole one has. scales [rows, blocks of a row].
 *   maxima: scales from x       pack: codes from x and scales
 *   unpack: x from codes and scales
 * @source dettmers2022
 */
enum { RIDGE__BLOCK_ENTRIES = 256 }; /* of the last dim, that share a scale */

typedef struct ridge__blocks {
    int64_t rows, n, first;
    bool is_signed;
    float *x;
    uint8_t *codes;
    float *scales;
} ridge__blocks;

/**
 * One more score a head, with a value of zero, behind an attention without it: o and
 * lse [rows, heads] become what they are with it. Backward, from those: d_sinks[heads]
 * = - sum over rows of exp(sink - lse) (d_o . o); d_q, d_k and d_v come from the
 * attention's own backward with this o and lse. @source gpt-oss-2025
 */
typedef struct ridge__sinks {
    int64_t rows, heads, hv;
    ridge__array sinks;  /* [heads] */
    ridge__array o, d_o; /* [rows, heads, hv] */
    float *lse;          /* [rows, heads] */
    float *d_sinks;
} ridge__sinks;

/**
 * y_t = bias + sum over j of w_j x_(t - taps + 1 + j), a sequence by itself. What
 * stands before the first token is tail [batch, channels, taps - 1], which is then the
 * last inputs; without one nothing does. Documents: nothing before first_met of the
 * token, either. Backward, without a tail: d_x, d_w, d_bias where not NULL,
 * overwritten.
 */
typedef struct ridge__convolution {
    int64_t batch, t, channels, taps;
    ridge__array x, y;    /* [batch, t, channels] */
    ridge__array w, bias; /* [channels, taps], [channels]; bias.p NULL: none */
    ridge__array tail;
    const int32_t *first_met; /* [batch, t], host memory; NULL: no documents */
    ridge__array d_y, d_x, d_w, d_bias;
} ridge__convolution;

/**
 * Linear attention with a state a head, S [p, a] here: token by token
 *     S = exp(-decay) S,  S += u k^T,  o = S q
 *     u = step v, or of a delta rule step (v - S k), with q and k made unit first,
 *     x / sqrt(x x + 1e-6), and q divided by sqrt(a)
 * Value head n has key head (first_head + n) / group - first_key. The state is what is
 * found in `state` [batch, heads, a, p], and is written there; without one it begins at
 * 0, and so it does at the first token of each document. Backward, without a state:
 * gradients where not NULL, overwritten.
 * @source yang2024-deltanet, dao2024-mamba2
 */
typedef struct ridge__recurrence {
    int64_t batch, t, heads, keys, a, p;
    int64_t first_head, first_key, group;
    bool is_delta;
    bool is_decay_keyed;      /* a decay for each element of a key: as k */
    ridge__array q, k;        /* [batch, t, keys, a] */
    ridge__array v, o;        /* [batch, t, heads, p] */
    ridge__array decay, step; /* [batch, t, heads], or as k; p NULL: 0 and 1 */
    float *state;             /* or NULL */
    const int32_t *first_met; /* [batch, t], host memory; NULL: no documents */
    ridge__array d_o, d_q, d_k, d_v, d_decay, d_step;
} ridge__recurrence;

/* ---- the table ------------------------------------------------------------------- */

/** Bytes of a device's memory that its arrays take. */
typedef struct ridge__device_memory {
    int64_t live_bytes, peak_bytes;
} ridge__device_memory;

typedef struct ridge__device_ops {
    const char *name; /* "cpu", "cuda" */
    bool takes_bias;  /* gemm adds one to its result */
    void (*close)(ridge__device *d);
    /** Aligned to 64 bytes, not cleared. Counted in memory. @errors E_NOMEM */
    ridge_status (*alloc)(ridge__device *d, size_t bytes, void **out);
    void (*release)(ridge__device *d, void *p); /* NULL: nothing */
    ridge_status (*zero)(ridge__device *d, void *p, size_t bytes);
    ridge_status (*upload)(ridge__device *d, void *to, const void *from, size_t bytes);
    /** Waits until it is there. */
    ridge_status (*download)(ridge__device *d, void *to, const void *from,
                             size_t bytes);
    /** All kernels have run (a GPU's stream is idle). */
    ridge_status (*finish)(ridge__device *d);

    ridge_status (*gemm)(ridge__device *d, const ridge__gemm *g);
    ridge_status (*grouped_gemm)(ridge__device *d, const ridge__grouped_gemm *g);
    ridge_status (*attention)(ridge__device *d, const ridge__attention *a);
    ridge_status (*attention_backward)(ridge__device *d, const ridge__attention *a);
    /** (o, lse) = what (o, lse) and (other, other_lse) are together: both over
     * different entries. rows of hv elements; fp32 or bf16 alike. */
    ridge_status (*attention_merge)(ridge__device *d, int64_t rows, int64_t hv,
                                    ridge__array o, float *lse, ridge__array other,
                                    const float *other_lse);
    ridge_status (*sinks)(ridge__device *d, const ridge__sinks *s);
    ridge_status (*sinks_backward)(ridge__device *d, const ridge__sinks *s);
    /** NULL: the device has no kernels of recurrent layers. */
    ridge_status (*convolution)(ridge__device *d, const ridge__convolution *c);
    ridge_status (*convolution_backward)(ridge__device *d, const ridge__convolution *c);
    ridge_status (*recurrence)(ridge__device *d, const ridge__recurrence *r);
    ridge_status (*recurrence_backward)(ridge__device *d, const ridge__recurrence *r);
    ridge_status (*norm)(ridge__device *d, const ridge__norm *n);
    ridge_status (*norm_backward)(ridge__device *d, const ridge__norm *n);
    ridge_status (*elementwise)(ridge__device *d, const ridge__elementwise *e);
    ridge_status (*elementwise_backward)(ridge__device *d, const ridge__elementwise *e);
    ridge_status (*rotary)(ridge__device *d, const ridge__rotary *r);
    ridge_status (*copy)(ridge__device *d, const ridge__copy *c);
    ridge_status (*sum)(ridge__device *d, const ridge__sum *s);
    ridge_status (*gather)(ridge__device *d, const ridge__gather *g);
    ridge_status (*loss_partial)(ridge__device *d, const ridge__loss *l);
    /** sum *= exp(old_top - top), row by row: to the largest logit of all parts. */
    ridge_status (*loss_rescale)(ridge__device *d, const ridge__loss *l,
                                 const float *old_top);
    ridge_status (*loss_finish)(ridge__device *d, const ridge__loss *l);
    ridge_status (*loss_backward)(ridge__device *d, const ridge__loss *l);
    ridge_status (*route)(ridge__device *d, const ridge__route *r);
    ridge_status (*route_backward)(ridge__device *d, const ridge__route *r);
    ridge_status (*expert_order)(ridge__device *d, const ridge__expert_order *o);
    ridge_status (*dispatch)(ridge__device *d, const ridge__experts *e);
    ridge_status (*dispatch_backward)(ridge__device *d, const ridge__experts *e);
    ridge_status (*combine)(ridge__device *d, const ridge__experts *e);
    ridge_status (*combine_backward)(ridge__device *d, const ridge__experts *e);
    ridge_status (*update)(ridge__device *d, const ridge__update *u);
    ridge_status (*block_maxima)(ridge__device *d, const ridge__blocks *b);
    ridge_status (*block_pack)(ridge__device *d, const ridge__blocks *b);
    ridge_status (*block_unpack)(ridge__device *d, const ridge__blocks *b);
    /** *out = sum of squares of n elements, in double precision; host memory. */
    ridge_status (*sum_of_squares)(ridge__device *d, ridge__array x, int64_t n,
                                   double *out);
    /** Multiply n elements in place. */
    ridge_status (*multiply)(ridge__device *d, ridge__array x, int64_t n, float by);
} ridge__device_ops;

struct ridge__device {
    const ridge__device_ops *ops;
    ridge_ctx *cx; /* of the rank: messages go there */
    ridge__device_memory memory;
};

/**
 * @param threads  that compute for this device, >= 1; the caller is the first of them
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__device_open_cpu(ridge_ctx *cx, int threads,
                                                    ridge__device **out);
/** @param index  of the GPU. @errors E_ARG none here, or built without CUDA */
RIDGE_NODISCARD ridge_status ridge__device_open_cuda(ridge_ctx *cx, int index,
                                                     ridge__device **out);
/** Free all its memory and stop its threads. NULL: nothing. */
void ridge__device_close(ridge__device *d);

#endif
