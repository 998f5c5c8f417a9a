/* Matrix products of a training step of a 124M-parameter model on 1,024 tokens, forward
 * and both backwards, and of a generated token: rates, and shares of the measured peak
 * of fp32 multiply-adds. `bench_gemm [threads ...]`, else 1 and 2. */
#include "stopwatch.h"

#include "../src/execute/device/device_cpu.h"

#include "ridge/base.h"

#include <stdio.h>

typedef struct row {
    const char *name;
    int64_t m, n, k;
    bool is_a_transposed, is_b_transposed;
} row;

enum { TOKENS = 1024, D = 768, F = 3072, QKV = 2304, VOCABULARY = 50257 };

/* forward x w; backward dy w^T; backward x^T dy */
#define RIDGE_BENCH_LAYER(name, in, out)                                               \
    {name, TOKENS, out, in, false, false}, {name "_dx", TOKENS, in, out, false, true}, \
    {                                                                                  \
        name "_dw", in, out, TOKENS, true, false                                       \
    }

static const row rows[] = {
    RIDGE_BENCH_LAYER("qkv", D, QKV),
    RIDGE_BENCH_LAYER("projection", D, D),
    RIDGE_BENCH_LAYER("up", D, F),
    RIDGE_BENCH_LAYER("down", F, D),
    RIDGE_BENCH_LAYER("head", D, VOCABULARY),
    {"token_up", 1, F, D, false, false},
    {"token_head", 1, VOCABULARY, D, false, false},
    {"token_head_transposed", 1, VOCABULARY, D, false, true},
    {"tokens_8_up", 8, F, D, false, false},
    {"tokens_8_head", 8, VOCABULARY, D, false, false},
    {"tokens_8_head_transposed", 8, VOCABULARY, D, false, true},
    {"tokens_16_up", 16, F, D, false, false},
    {"tokens_16_head", 16, VOCABULARY, D, false, false},
    {"square_512", 512, 512, 512, false, false},
    {"square_128", 128, 128, 128, false, false},
};

typedef struct load {
    ridge__device *d;
    ridge__gemm g;
    int repeats;
} load;

static double multiply(void *payload)
{
    const load *l = payload;
    for (int i = 0; i < l->repeats; i++)
        if (l->d->ops->gemm(l->d, &l->g) != RIDGE_OK)
            return -1.0;
    return 2e-9 * (double)(l->g.m * l->g.n) * (double)l->g.k * l->repeats;
}

/** Small numbers, none of them zero or denormal. */
static ridge_status filled(ridge__device *d, ridge_dtype dtype, int64_t n,
                           ridge__array *out)
{
    void *p = NULL;
    RIDGE_TRY(d->ops->alloc(d, (size_t)n * ridge__element_bytes(dtype), &p));
    *out = (ridge__array){p, dtype};
    for (int64_t i = 0; i < n; i++) {
        float value = 0.001f + 0.001f * (float)(i * 7 % 1000);
        ridge__array one = {&value, RIDGE_DTYPE_FP32};
        ridge__cpu_of(d)->kernels->convert(one, ridge__array_at(*out, i), 1, false);
    }
    return RIDGE_OK;
}

static ridge_status prepare(ridge__device *d, const row *r, ridge_dtype dtype,
                            load *out)
{
    double flops = 2.0 * (double)(r->m * r->n) * (double)r->k;
    *out = (load){.d = d,
                  .repeats = flops > 5e8 ? 1 : (int)(5e8 / flops),
                  .g = {.batch = 1,
                        .m = r->m,
                        .n = r->n,
                        .k = r->k,
                        .lda = r->is_a_transposed ? r->m : r->k,
                        .ldb = r->is_b_transposed ? r->k : r->n,
                        .ldc = r->n,
                        .is_a_transposed = r->is_a_transposed,
                        .is_b_transposed = r->is_b_transposed}};
    RIDGE_TRY(filled(d, dtype, r->m * r->k, &out->g.a));
    RIDGE_TRY(filled(d, dtype, r->k * r->n, &out->g.b));
    return filled(d, dtype, r->m * r->n, &out->g.c);
}

static void discard(load *l)
{
    l->d->ops->release(l->d, l->g.a.p);
    l->d->ops->release(l->d, l->g.b.p);
    l->d->ops->release(l->d, l->g.c.p);
}

static int measure(ridge__device *d, const row *r, ridge_dtype dtype, double peak)
{
    load l = {0};
    if (prepare(d, r, dtype, &l) != RIDGE_OK)
        return 1;
    char name[80];
    int threads = ridge__team_workers(ridge__cpu_of(d)->team);
    (void)snprintf(name, sizeof name, "gemm_%s_%s_threads_%d", r->name,
                   dtype == RIDGE_DTYPE_BF16 ? "bf16" : "fp32", threads);
    bench_rates rates = {0};
    const bench b = {.name = name, .unit = "GFLOP/s", .run = multiply, .payload = &l};
    int code = bench_report(&b, &rates);
    double read_bytes = (double)(r->k * r->n) * (double)ridge__element_bytes(dtype);
    double flops = 2.0 * (double)(r->m * r->n) * (double)r->k;
    printf("{\"bench\": \"%s\", \"peak_share_median\": %.3f, \"peak_share_highest\": "
           "%.3f, \"weights_gb_per_s\": %.1f}\n",
           name, rates.median * 1e9 / peak, rates.highest * 1e9 / peak,
           rates.highest * read_bytes / flops);
    discard(&l);
    return code;
}

static int measure_all(int threads)
{
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = NULL;
    int code = cx == NULL || ridge__device_open_cpu(cx, threads, &d) != RIDGE_OK;
    double peak = code ? 1.0 : ridge__peak_flops_per_s(d);
    if (!code)
        printf("{\"bench\": \"peak_fp32_threads_%d\", \"gflops_per_s\": %.1f, \"isa\": "
               "\"%s\"}\n",
               threads, peak * 1e-9, ridge__cpu_of(d)->kernels->isa);
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows) && !code; i++) {
        code = measure(d, &rows[i], RIDGE_DTYPE_FP32, peak);
        code = code || measure(d, &rows[i], RIDGE_DTYPE_BF16, peak);
    }
    ridge__device_close(d);
    ridge_ctx_close(cx);
    return code;
}

int main(int argc, char **argv)
{
    int code = 0;
    for (int i = 1; i < argc && !code; i++) {
        int64_t threads = 0;
        ridge_str text = ridge_str_of(argv[i]);
        code = !ridge_parse_i64(text, &threads) || measure_all((int)threads);
    }
    return argc > 1 ? code : measure_all(1) || measure_all(2);
}
