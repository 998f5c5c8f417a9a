/*
 * A training step of a 124M-parameter model on 1,024 tokens in fp32: against the same
 * products with weights alone through the library, against these and attention's own
 * products (the causal half of them, as batches), against the measured peak of
 * multiply-adds by 6ND, and tensor parallelism on two ranks of one thread against one
 * rank with two.
 */
#include "../src/execute/device/device_cpu.h"

#include "ridge/execute.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TOKENS = 1024, STEPS = 7, ID_COUNT = 1 << 16, VOCABULARY = 50257 };

/* ---- the step ----------------------------------------------------------------------
 */

static ridge_status write_ids(const char *path)
{
    FILE *f = fopen(path, "wb");
    uint32_t x = 1;
    if (!f)
        return RIDGE_E_IO;
    for (int i = 0; i < ID_COUNT; i++) {
        x = x * 1664525U + 1013904223U;
        const uint16_t id = (uint16_t)((x >> 8) % VOCABULARY);
        fwrite(&id, sizeof id, 1, f);
    }
    return fclose(f) == 0 ? RIDGE_OK : RIDGE_E_IO;
}

typedef struct setting {
    const ridge_model *model;
    const ridge_token_data *data;
} setting;

static ridge_status open_setting(ridge_ctx *cx, const char *path, setting *out)
{
    const ridge_library *library;
    const ridge_data_options options = {.vocab = VOCABULARY};
    RIDGE_TRY(write_ids(path));
    RIDGE_TRY(ridge_library_open(cx, NULL, &library));
    RIDGE_TRY(ridge_model_load(cx, library, "gpt2", &out->model));
    return ridge_token_data_open(cx, NULL, &path, 1, &options, &out->data);
}

static ridge_status step_time(ridge_ctx *cx, const setting *s, int tp, int threads,
                              ridge_train_report *out)
{
    ridge_train_run run = {.model = s->model,
                           .numerics = ridge_numerics_default(),
                           .layout = ridge_run_layout_single(),
                           .threads = threads,
                           .seq_tokens = TOKENS,
                           .batch_seqs = 1,
                           .steps = STEPS,
                           .learning = ridge_learning_usual(),
                           .data = s->data,
                           .seed = 1,
                           .is_peak_measured = true};
    run.layout.degrees.tp = tp;
    run.layout.degrees.is_vocab_parallel = tp > 1;
    run.ranks = (ridge_ranks){RIDGE_ENGINE_THREADS, tp, 600.0};
    return ridge_run_train(cx, &run, out);
}

/* ---- the products alone ------------------------------------------------------------
 */

typedef struct product {
    int64_t n, k; /* of the forward product: [tokens, k] x [k, n] */
    int repeats;  /* in the model */
} product;

static const product PRODUCTS[] = {
    {768, 768, 4 * 12}, {3072, 768, 12}, {768, 3072, 12}, {VOCABULARY, 768, 1}};

static ridge_status multiply(ridge__device *d, ridge__gemm g, float *const *arrays)
{
    g.batch = 1;
    g.a = (ridge__array){arrays[0], RIDGE_DTYPE_FP32};
    g.b = (ridge__array){arrays[1], RIDGE_DTYPE_FP32};
    g.c = (ridge__array){arrays[2], RIDGE_DTYPE_FP32};
    g.lda = g.is_a_transposed ? g.m : g.k;
    g.ldb = g.is_b_transposed ? g.k : g.n;
    g.ldc = g.n;
    return d->ops->gemm(d, &g);
}

/* Forward, and both gradients. The unembedding is stored [V, D]. */
static ridge_status multiply_all(ridge__device *d, float *const *arrays)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(PRODUCTS); i++) {
        const product *p = &PRODUCTS[i];
        const bool is_head = p->n == VOCABULARY;
        for (int r = 0; r < p->repeats; r++) {
            RIDGE_TRY(multiply(
                d,
                (ridge__gemm){
                    .m = TOKENS, .n = p->n, .k = p->k, .is_b_transposed = is_head},
                arrays));
            RIDGE_TRY(multiply(
                d,
                (ridge__gemm){
                    .m = TOKENS, .n = p->k, .k = p->n, .is_b_transposed = !is_head},
                arrays));
            RIDGE_TRY(multiply(d,
                               (ridge__gemm){.m = is_head ? p->n : p->k,
                                             .n = is_head ? p->k : p->n,
                                             .k = TOKENS,
                                             .is_a_transposed = true},
                               arrays));
        }
    }
    return RIDGE_OK;
}

enum { LAYERS = 12, HEADS = 12, HEAD = 64, WIDTH = HEADS * HEAD };

/* A head's matrix in [tokens, heads, h], or a matrix of scores. */
static ridge_status multiply_heads(ridge__device *d, ridge__gemm g,
                                   float *const *arrays)
{
    const bool is_score = g.n == TOKENS;
    g.batch = HEADS;
    g.a = (ridge__array){arrays[0], RIDGE_DTYPE_FP32};
    g.b = (ridge__array){arrays[1], RIDGE_DTYPE_FP32};
    g.c = (ridge__array){arrays[2], RIDGE_DTYPE_FP32};
    g.lda = is_score ? WIDTH : TOKENS;
    g.stride_a = is_score ? HEAD : (int64_t)TOKENS * TOKENS;
    g.ldb = WIDTH;
    g.stride_b = HEAD;
    g.ldc = is_score ? TOKENS : WIDTH;
    g.stride_c = is_score ? (int64_t)TOKENS * TOKENS : HEAD;
    return d->ops->gemm(d, &g);
}

/* Scores and values forward; the gradients of values, weights, queries and keys. */
static ridge_status multiply_attention(ridge__device *d, float *const *arrays)
{
    const ridge__gemm score = {
        .m = TOKENS, .n = TOKENS, .k = HEAD, .is_b_transposed = true};
    const ridge__gemm value = {.m = TOKENS, .n = HEAD, .k = TOKENS};
    for (int layer = 0; layer < LAYERS; layer++) {
        for (int i = 0; i < 2; i++)
            RIDGE_TRY(multiply_heads(d, score, arrays));
        for (int i = 0; i < 4; i++) {
            ridge__gemm g = value;
            g.is_a_transposed = i >= 2;
            RIDGE_TRY(multiply_heads(d, g, arrays));
        }
    }
    return RIDGE_OK;
}

typedef ridge_status multiply_fn(ridge__device *d, float *const *arrays);

/* Times of the products alone. The machine's rate drifts, so that they are taken before
 * and after the step, and held against it by the same statistic, the median. */
enum { ROUNDS = 2, REPEATS = 4 };

typedef struct times {
    double s[ROUNDS * REPEATS];
    size_t n;
} times;

typedef struct products_times {
    times weights, attention;
} products_times;

static int compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_s(times *t)
{
    qsort(t->s, t->n, sizeof *t->s, compare_times);
    return (t->s[(t->n - 1) / 2] + t->s[t->n / 2]) / 2.0;
}

static ridge_status add_times(ridge__device *d, multiply_fn *fn, float *const *arrays,
                              times *t)
{
    RIDGE_TRY(fn(d, arrays)); /* to warm up */
    for (int i = 0; i < REPEATS; i++) {
        const double start_s = ridge_clock_s();
        RIDGE_TRY(fn(d, arrays));
        t->s[t->n++] = ridge_clock_s() - start_s;
    }
    return RIDGE_OK;
}

static ridge_status add_products_times(ridge_ctx *cx, int threads, products_times *out)
{
    const size_t most = (size_t)VOCABULARY * 1024;
    ridge__device *d;
    float *arrays[3];
    RIDGE_TRY(ridge__device_open_cpu(cx, threads, &d));
    for (int i = 0; i < 3; i++) {
        void *p;
        RIDGE_TRY(d->ops->alloc(d, most * sizeof(float), &p));
        arrays[i] = p;
        for (size_t k = 0; k < most; k++)
            arrays[i][k] = 1e-3F * (float)(k % 97);
    }
    RIDGE_TRY(add_times(d, multiply_all, arrays, &out->weights));
    RIDGE_TRY(add_times(d, multiply_attention, arrays, &out->attention));
    for (int i = 0; i < 3; i++)
        d->ops->release(d, arrays[i]);
    ridge__device_close(d);
    return RIDGE_OK;
}

/* ---- the report --------------------------------------------------------------------
 */

static ridge_status run(ridge_ctx *cx, const char *path)
{
    const double six_nd = 6.0 * 123.6e6 * TOKENS; /* without the position table */
    ridge_train_report whole, halves;
    setting s;
    products_times alone = {0};
    const int threads = ridge_processor_count() < 2 ? 1 : 2;
    RIDGE_TRY(open_setting(cx, path, &s));
    RIDGE_TRY(add_products_times(cx, threads, &alone));
    RIDGE_TRY(step_time(cx, &s, 1, threads, &whole));
    RIDGE_TRY(add_products_times(cx, threads, &alone));
    const double products_s = median_s(&alone.weights);
    const double attention_s = median_s(&alone.attention) / 2.0; /* the causal half */
    RIDGE_TRY(step_time(cx, &s, 2, 1, &halves));
    printf("{\"bench\": \"run_step\", \"threads\": %d, \"step_s\": %.4f, "
           "\"products_alone_s\": %.4f, \"share_of_products\": %.3f, "
           "\"attention_products_alone_s\": %.4f, "
           "\"share_of_products_with_attention\": %.3f, "
           "\"share_of_peak_6nd\": %.3f, \"peak_gflops\": %.0f, \"tp2_step_s\": %.4f, "
           "\"tp2_over_one_rank\": %.3f}\n",
           threads, whole.median_step_s, products_s, products_s / whole.median_step_s,
           attention_s, (products_s + attention_s) / whole.median_step_s,
           six_nd / whole.median_step_s / whole.peak_flops_per_s,
           whole.peak_flops_per_s / 1e9, halves.median_step_s,
           halves.median_step_s / whole.median_step_s);
    return RIDGE_OK;
}

int main(void)
{
    char path[64];
    ridge_ctx *cx = ridge_ctx_open();
    if (!cx)
        return 1;
    snprintf(path, sizeof path, "/tmp/ridge-bench-%d.bin", (int)getpid());
    const ridge_status st = run(cx, path);
    if (st != RIDGE_OK)
        fprintf(stderr, "bench_run: %s\n", ridge_ctx_message(cx));
    unlink(path);
    ridge_ctx_close(cx);
    return st == RIDGE_OK ? 0 : 1;
}
