/* How fast the CPU's kernels go beside the products: attention at the size of GPT-2's
 * 124M parameters in FLOPs, the rest in bytes, beside a memcpy of such bytes. */
#include "stopwatch.h"

#include "../src/execute/device/device.h"

#include <stdio.h>
#include <string.h>

enum {
    TOKENS = 1024,
    HEADS = 12,
    HEAD = 64,
    WIDE = 3072,
    MODEL = 768,
    WORDS = 50257,
    ELEMENTS = 10 * 1000 * 1000
};

typedef struct load {
    ridge__device *d;
    float *big[4]; /* of ELEMENTS and more */
    float *rows[4];
    int32_t *labels;
    ridge__attention attention;
} load;

static ridge__array fp32(float *p)
{
    return (ridge__array){p, RIDGE_DTYPE_FP32};
}

/* ---- attention ------------------------------------------------------------------- */

/** Multiply-adds of q k^T and p v under the diagonal, in GFLOP. */
static double attention_gflops(void)
{
    return 2.0 * 2.0 * HEADS * HEAD * 0.5 * TOKENS * (TOKENS + 1.0) / 1e9;
}

static double attention_forward(void *payload)
{
    const load *l = payload;
    return l->d->ops->attention(l->d, &l->attention) == RIDGE_OK ? attention_gflops()
                                                                 : -1;
}

/** Five products where forward has two. */
static double attention_backward(void *payload)
{
    const load *l = payload;
    return l->d->ops->attention_backward(l->d, &l->attention) == RIDGE_OK
               ? 2.5 * attention_gflops()
               : -1;
}

/** One token over a cache, in GB of keys and values. */
static double attention_decode(void *payload)
{
    const load *l = payload;
    ridge__attention a = l->attention;
    a.batch = 4;
    a.t = 1;
    a.q_start = TOKENS - 1;
    a.k = fp32(l->big[0]);
    a.v = fp32(l->big[1]);
    return l->d->ops->attention(l->d, &a) == RIDGE_OK
               ? 4.0 * 2.0 * TOKENS * HEADS * HEAD * 4.0 / 1e9
               : -1;
}

/* ---- the rest: GB read and written ----------------------------------------------- */

static double copy_bytes(void *payload)
{
    const load *l = payload;
    const size_t bytes = (size_t)ELEMENTS * sizeof(float);
    return l->d->ops->upload(l->d, l->big[0], l->big[1], bytes) == RIDGE_OK
               ? 2.0 * (double)bytes / 1e9
               : -1;
}

static double norm_forward_of(void *payload, ridge_norm_kind kind)
{
    const load *l = payload;
    const ridge__norm n = {.kind = kind,
                           .rows = ELEMENTS / MODEL,
                           .d = MODEL,
                           .epsilon = 1e-6f,
                           .x = fp32(l->big[0]),
                           .w = fp32(l->rows[0]),
                           .y = fp32(l->big[1])};
    return l->d->ops->norm(l->d, &n) == RIDGE_OK ? 8e-9 * ELEMENTS : -1;
}

static double norm_backward_of(void *payload, ridge_norm_kind kind)
{
    const load *l = payload;
    const ridge__norm n = {.kind = kind,
                           .rows = ELEMENTS / MODEL,
                           .d = MODEL,
                           .epsilon = 1e-6f,
                           .x = fp32(l->big[0]),
                           .w = fp32(l->rows[0]),
                           .d_y = fp32(l->big[1]),
                           .d_x = fp32(l->big[2]),
                           .d_w = fp32(l->rows[1])};
    return l->d->ops->norm_backward(l->d, &n) == RIDGE_OK ? 12e-9 * ELEMENTS : -1;
}

static double norm_forward(void *payload)
{
    return norm_forward_of(payload, RIDGE_NORM_RMS);
}

static double norm_backward(void *payload)
{
    return norm_backward_of(payload, RIDGE_NORM_RMS);
}

static double layer_norm_forward(void *payload)
{
    return norm_forward_of(payload, RIDGE_NORM_LAYER);
}

static double layer_norm_backward(void *payload)
{
    return norm_backward_of(payload, RIDGE_NORM_LAYER);
}

static double function_forward(const load *l, ridge_function function)
{
    const ridge__elementwise e = {
        .function = function,
        .n_dims = 1,
        .sizes = {ELEMENTS},
        .a_strides = {1},
        .b_strides = {1},
        .a = fp32(l->big[0]),
        .b = fp32(ridge_function_inputs(function) == 2 ? l->big[1] : NULL),
        .y = fp32(l->big[2])};
    const double bytes = 4e-9 * (1 + ridge_function_inputs(function));
    return l->d->ops->elementwise(l->d, &e) == RIDGE_OK ? bytes * ELEMENTS : -1;
}

static double swiglu_forward(void *payload)
{
    return function_forward(payload, RIDGE_FUNCTION_SWIGLU);
}

static double gelu_forward(void *payload)
{
    return function_forward(payload, RIDGE_FUNCTION_GELU);
}

static double function_backward(const load *l, ridge_function function)
{
    const bool is_two = ridge_function_inputs(function) == 2;
    const ridge__elementwise e = {.function = function,
                                  .n_dims = 1,
                                  .sizes = {ELEMENTS},
                                  .a = fp32(l->big[0]),
                                  .b = fp32(is_two ? l->big[1] : NULL),
                                  .d_y = fp32(l->big[2]),
                                  .d_a = fp32(l->big[3]),
                                  .d_b = fp32(is_two ? l->big[2] : NULL)};
    return l->d->ops->elementwise_backward(l->d, &e) == RIDGE_OK
               ? (is_two ? 20e-9 : 12e-9) * ELEMENTS
               : -1;
}

static double swiglu_backward(void *payload)
{
    return function_backward(payload, RIDGE_FUNCTION_SWIGLU);
}

static double gelu_backward(void *payload)
{
    return function_backward(payload, RIDGE_FUNCTION_GELU);
}

static ridge__loss loss_of(const load *l)
{
    return (ridge__loss){.rows = TOKENS,
                         .words = WORDS,
                         .stride = WORDS,
                         .logits = fp32(l->big[0]),
                         .d_logits = fp32(l->big[1]),
                         .labels = l->labels,
                         .top = l->rows[0],
                         .sum = l->rows[1],
                         .picked = l->rows[2],
                         .lse = l->rows[3],
                         .loss = fp32(l->rows[2])};
}

static double loss_forward(void *payload)
{
    const load *l = payload;
    const ridge__loss loss = loss_of(l);
    const bool is_done = l->d->ops->loss_partial(l->d, &loss) == RIDGE_OK &&
                         l->d->ops->loss_finish(l->d, &loss) == RIDGE_OK;
    return is_done ? 4e-9 * TOKENS * WORDS : -1;
}

static double loss_backward(void *payload)
{
    const load *l = payload;
    const ridge__loss loss = loss_of(l);
    return l->d->ops->loss_backward(l->d, &loss) == RIDGE_OK ? 8e-9 * TOKENS * WORDS
                                                             : -1;
}

static double update(void *payload)
{
    const load *l = payload;
    const ridge__update u = {.n = ELEMENTS,
                             .weight = fp32(l->big[0]),
                             .gradient = fp32(l->big[1]),
                             .m = fp32(l->big[2]),
                             .v = fp32(l->big[3]),
                             .rate = 1e-3f,
                             .beta1 = 0.9f,
                             .beta2 = 0.95f,
                             .epsilon = 1e-8f,
                             .decay = 0.1f,
                             .correction1 = 0.5f,
                             .correction2 = 0.5f,
                             .scale = 1.0f};
    return l->d->ops->update(l->d, &u) == RIDGE_OK ? 28e-9 * ELEMENTS : -1;
}

static double squares(void *payload)
{
    const load *l = payload;
    double sum = 0.0;
    return l->d->ops->sum_of_squares(l->d, fp32(l->big[0]), ELEMENTS, &sum) == RIDGE_OK
               ? 4e-9 * ELEMENTS
               : -1;
}

/* ---- setting up ------------------------------------------------------------------ */

static ridge_status array_open(ridge__device *d, int64_t n, float **out)
{
    void *p = NULL;
    RIDGE_TRY(d->ops->alloc(d, (size_t)n * sizeof(float), &p));
    *out = p;
    for (int64_t i = 0; i < n; i++)
        (*out)[i] = (float)(i * 2654435761u % 2001u) * 1e-3f - 1.0f;
    return RIDGE_OK;
}

static ridge_status load_open(ridge_ctx *cx, int threads, load *l)
{
    RIDGE_TRY(ridge__device_open_cpu(cx, threads, &l->d));
    for (int i = 0; i < 4; i++) {
        const int64_t n = i < 2 ? (int64_t)TOKENS * WORDS : (int64_t)ELEMENTS;
        RIDGE_TRY(array_open(l->d, n, &l->big[i]));
        RIDGE_TRY(array_open(l->d, WIDE, &l->rows[i]));
    }
    void *labels = NULL;
    RIDGE_TRY(l->d->ops->alloc(l->d, TOKENS * sizeof(int32_t), &labels));
    l->labels = labels;
    for (int i = 0; i < TOKENS; i++)
        l->labels[i] = i * 37 % WORDS;
    return RIDGE_OK;
}

static ridge_status attention_open(load *l)
{
    ridge__array *arrays[] = {&l->attention.q,   &l->attention.k,   &l->attention.v,
                              &l->attention.o,   &l->attention.d_o, &l->attention.d_q,
                              &l->attention.d_k, &l->attention.d_v};
    l->attention = (ridge__attention){.batch = 1,
                                      .t = TOKENS,
                                      .s = TOKENS,
                                      .s_valid = TOKENS,
                                      .stride_s = TOKENS,
                                      .heads = HEADS,
                                      .kv_heads = HEADS,
                                      .h = HEAD,
                                      .hv = HEAD,
                                      .is_causal = true,
                                      .scale = 0.125f};
    for (size_t i = 0; i < RIDGE_COUNT_OF(arrays); i++) {
        float *p = NULL;
        RIDGE_TRY(array_open(l->d, (int64_t)TOKENS * HEADS * HEAD, &p));
        *arrays[i] = fp32(p);
    }
    return array_open(l->d, (int64_t)TOKENS * HEADS, &l->attention.lse);
}

static int measure(int threads)
{
    static const struct {
        const char *name, *unit;
        double (*run)(void *payload);
    } rows[] = {{"copy", "GB/s", copy_bytes},
                {"attention", "GFLOP/s", attention_forward},
                {"attention_backward", "GFLOP/s", attention_backward},
                {"attention_decode", "GB/s", attention_decode},
                {"norm", "GB/s", norm_forward},
                {"norm_backward", "GB/s", norm_backward},
                {"layer_norm", "GB/s", layer_norm_forward},
                {"layer_norm_backward", "GB/s", layer_norm_backward},
                {"swiglu", "GB/s", swiglu_forward},
                {"swiglu_backward", "GB/s", swiglu_backward},
                {"gelu", "GB/s", gelu_forward},
                {"gelu_backward", "GB/s", gelu_backward},
                {"loss", "GB/s", loss_forward},
                {"loss_backward", "GB/s", loss_backward},
                {"update", "GB/s", update},
                {"sum_of_squares", "GB/s", squares}};
    ridge_ctx *cx = ridge_ctx_open();
    load l = {.d = NULL};
    int code = cx == NULL || load_open(cx, threads, &l) != RIDGE_OK ||
               attention_open(&l) != RIDGE_OK;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows) && code == 0; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "kernel_%s_%d", rows[i].name, threads);
        const bench b = {
            .name = name, .unit = rows[i].unit, .run = rows[i].run, .payload = &l};
        code = bench_report(&b, NULL);
    }
    ridge__device_close(l.d);
    ridge_ctx_close(cx);
    return code;
}

/** Each on one thread and on two. */
int main(void)
{
    return measure(1) != 0 || measure(2) != 0;
}
