/*
 * Matrix products through cuBLASLt. It thinks in columns, so c = a b, row-major, is
 * asked for as c^T = b^T a^T: its first operand is our b. What it cannot mix, formats
 * of a and b, is converted to fp32 first.
 *
 * Choosing an algorithm costs tens of microseconds, so choices are kept, with the
 * descriptions they were made for, in a table by all that they depend on.
 */
#include "device_cuda.h"
#include "device_cuda_library.h"

#include <stdlib.h>
#include <string.h>

enum { PLAN_COUNT = 1024, WORKSPACE_BYTES = 32 << 20, ALIGNMENT_MOST = 256 };

/** All that a choice depends on; compared byte by byte, so without padding. */
typedef struct plan_key {
    int64_t batch, m, n, k, lda, ldb, ldc, stride_a, stride_b, stride_c;
    int32_t is_a_transposed, is_b_transposed;
    int32_t input, output; /* cudaDataType */
    uint32_t align_a, align_b, align_c;
    int32_t is_tf32;
} plan_key;

typedef struct plan {
    plan_key key; /* batch 0: an empty place */
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulAlgo_t algorithm;
} plan;

struct ridge__cuda_blas {
    ridge__blas_calls calls;
    cublasLtHandle_t handle;
    void *workspace;
    bool is_tf32;
    plan plans[PLAN_COUNT];
};

static ridge_status blas_check(ridge__device *d, cublasStatus_t status,
                               const char *what)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return RIDGE_OK;
    const ridge__cuda_blas *blas = ridge__cuda_of(d)->blas;
    return ridge_fail(d->cx, RIDGE_E_IO, "cuBLASLt cannot %s: %s", what,
                      blas->calls.cublasLtGetStatusString(status));
}

/* ---- plans ------------------------------------------------------------------------
 */

static void plan_clear(ridge__cuda_blas *blas, plan *p)
{
    if (p->a != NULL)
        (void)blas->calls.cublasLtMatrixLayoutDestroy(p->a);
    if (p->b != NULL)
        (void)blas->calls.cublasLtMatrixLayoutDestroy(p->b);
    if (p->c != NULL)
        (void)blas->calls.cublasLtMatrixLayoutDestroy(p->c);
    if (p->product != NULL)
        (void)blas->calls.cublasLtMatmulDescDestroy(p->product);
    memset(p, 0, sizeof *p);
}

/** Bytes that an address is a multiple of, as far as kernels care. */
static uint32_t alignment_of(const void *p)
{
    const uintptr_t address = (uintptr_t)p | ALIGNMENT_MOST;
    return (uint32_t)(address & (~address + 1));
}

static int32_t type_of(ridge_dtype dtype)
{
    return dtype == RIDGE_DTYPE_BF16 ? CUDA_R_16BF : CUDA_R_32F;
}

static plan_key key_of(const ridge__cuda_blas *blas, const ridge__gemm *g)
{
    const bool is_one = g->batch == 1;
    return (plan_key){.batch = g->batch,
                      .m = g->m,
                      .n = g->n,
                      .k = g->k,
                      .lda = g->lda,
                      .ldb = g->ldb,
                      .ldc = g->ldc,
                      .stride_a = is_one ? 0 : g->stride_a,
                      .stride_b = is_one ? 0 : g->stride_b,
                      .stride_c = is_one ? 0 : g->stride_c,
                      .is_a_transposed = g->is_a_transposed,
                      .is_b_transposed = g->is_b_transposed,
                      .input = type_of(g->a.dtype),
                      .output = type_of(g->c.dtype),
                      .align_a = alignment_of(g->a.p),
                      .align_b = alignment_of(g->b.p),
                      .align_c = alignment_of(g->c.p),
                      .is_tf32 = blas->is_tf32};
}

_Static_assert(sizeof(plan_key) == 10 * sizeof(int64_t) + 8 * sizeof(int32_t),
               "a key has no padding");

static plan *place_of(ridge__cuda_blas *blas, const plan_key *key)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof *key; i++)
        hash = (hash ^ ((const unsigned char *)key)[i]) * 0x100000001b3u;
    return &blas->plans[(hash ^ hash >> 32) % PLAN_COUNT];
}

/** A matrix of our rows, each a column of cuBLASLt's. */
typedef struct stored {
    int32_t type;
    int64_t rows, width, ld, stride;
} stored;

static ridge_status layout_make(ridge__device *d, const stored *s, int64_t batch,
                                cublasLtMatrixLayout_t *out)
{
    const ridge__blas_calls *calls = &ridge__cuda_of(d)->blas->calls;
    const int32_t count = (int32_t)batch;
    RIDGE_TRY(blas_check(d,
                         calls->cublasLtMatrixLayoutCreate(out, (cudaDataType)s->type,
                                                           (uint64_t)s->width,
                                                           (uint64_t)s->rows, s->ld),
                         "describe a matrix"));
    RIDGE_TRY(
        blas_check(d,
                   calls->cublasLtMatrixLayoutSetAttribute(
                       *out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
                   "describe a batch"));
    return blas_check(d,
                      calls->cublasLtMatrixLayoutSetAttribute(
                          *out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &s->stride,
                          sizeof s->stride),
                      "describe a batch");
}

static ridge_status plan_describe(ridge__device *d, plan *p)
{
    const ridge__blas_calls *calls = &ridge__cuda_of(d)->blas->calls;
    const plan_key *key = &p->key;
    const cublasComputeType_t compute = key->is_tf32 && key->input == CUDA_R_32F
                                            ? CUBLAS_COMPUTE_32F_FAST_TF32
                                            : CUBLAS_COMPUTE_32F;
    const int32_t first = key->is_b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int32_t second = key->is_a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const stored a = {key->input, key->is_a_transposed ? key->k : key->m,
                      key->is_a_transposed ? key->m : key->k, key->lda, key->stride_a};
    const stored b = {key->input, key->is_b_transposed ? key->n : key->k,
                      key->is_b_transposed ? key->k : key->n, key->ldb, key->stride_b};
    const stored c = {key->output, key->m, key->n, key->ldc, key->stride_c};
    RIDGE_TRY(
        blas_check(d, calls->cublasLtMatmulDescCreate(&p->product, compute, CUDA_R_32F),
                   "describe a product"));
    RIDGE_TRY(
        blas_check(d,
                   calls->cublasLtMatmulDescSetAttribute(
                       p->product, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first),
                   "describe a product"));
    RIDGE_TRY(
        blas_check(d,
                   calls->cublasLtMatmulDescSetAttribute(
                       p->product, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second),
                   "describe a product"));
    RIDGE_TRY(layout_make(d, &a, key->batch, &p->a));
    RIDGE_TRY(layout_make(d, &b, key->batch, &p->b));
    return layout_make(d, &c, key->batch, &p->c);
}

/** What a choice is limited by: workspace, and alignments, which are 256 unless said.
 */
static ridge_status preference_set(ridge__device *d, cublasLtMatmulPreference_t to,
                                   const plan_key *key)
{
    const ridge__blas_calls *calls = &ridge__cuda_of(d)->blas->calls;
    const size_t workspace = WORKSPACE_BYTES;
    const struct {
        cublasLtMatmulPreferenceAttributes_t name;
        const uint32_t *value;
    } alignments[] = {{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &key->align_b},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &key->align_a},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &key->align_c},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &key->align_c}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(alignments); i++)
        RIDGE_TRY(blas_check(
            d,
            calls->cublasLtMatmulPreferenceSetAttribute(
                to, alignments[i].name, alignments[i].value, sizeof(uint32_t)),
            "state an alignment"));
    return blas_check(
        d,
        calls->cublasLtMatmulPreferenceSetAttribute(
            to, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace),
        "state its workspace");
}

static ridge_status plan_choose(ridge__device *d, plan *p)
{
    const ridge__cuda_blas *blas = ridge__cuda_of(d)->blas;
    cublasLtMatmulPreference_t preference = NULL;
    RIDGE_TRY(blas_check(d, blas->calls.cublasLtMatmulPreferenceCreate(&preference),
                         "state a preference"));
    ridge_status status = preference_set(d, preference, &p->key);
    cublasLtMatmulHeuristicResult_t found = {0};
    int n_found = 0;
    if (status == RIDGE_OK)
        status = blas_check(d,
                            blas->calls.cublasLtMatmulAlgoGetHeuristic(
                                blas->handle, p->product, p->b, p->a, p->c, p->c,
                                preference, 1, &found, &n_found),
                            "choose an algorithm");
    (void)blas->calls.cublasLtMatmulPreferenceDestroy(preference);
    if (status == RIDGE_OK && (n_found < 1 || found.state != CUBLAS_STATUS_SUCCESS))
        status =
            ridge_fail(d->cx, RIDGE_E_IO,
                       "cuBLASLt has no algorithm for a product of %lld x %lld x "
                       "%lld on this GPU",
                       (long long)p->key.m, (long long)p->key.n, (long long)p->key.k);
    p->algorithm = found.algo;
    return status;
}

static ridge_status plan_find(ridge__device *d, const ridge__gemm *g, plan **out)
{
    ridge__cuda_blas *blas = ridge__cuda_of(d)->blas;
    const plan_key key = key_of(blas, g);
    plan *p = place_of(blas, &key);
    if (memcmp(&p->key, &key, sizeof key) != 0) {
        plan_clear(blas, p);
        p->key = key;
        ridge_status status = plan_describe(d, p);
        if (status == RIDGE_OK)
            status = plan_choose(d, p);
        if (status != RIDGE_OK) {
            plan_clear(blas, p);
            return status;
        }
    }
    *out = p;
    return RIDGE_OK;
}

/* ---- products ----------------------------------------------------------------- */

static ridge_status multiply(ridge__device *d, const ridge__gemm *g)
{
    ridge__device_cuda *cuda = ridge__cuda_of(d);
    plan *p = NULL;
    RIDGE_TRY(plan_find(d, g, &p));
    const float one = 1.0f, kept = g->is_added ? 1.0f : 0.0f;
    return blas_check(d,
                      cuda->blas->calls.cublasLtMatmul(
                          cuda->blas->handle, p->product, &one, g->b.p, p->b, g->a.p,
                          p->a, &kept, g->c.p, p->c, g->c.p, p->c, &p->algorithm,
                          cuda->blas->workspace, WORKSPACE_BYTES, cuda->stream),
                      "multiply");
}

/** A dense or strided copy of matrices [batch, rows, width]. */
static ridge__copy matrices_copy(int64_t batch, int64_t rows, int64_t width)
{
    return (ridge__copy){.n_dims = 3,
                         .sizes = {batch, rows, width},
                         .x_strides = {rows * width, width, 1},
                         .y_strides = {rows * width, width, 1}};
}

/** A product of nothing: c is zero. */
static ridge_status clear_result(ridge__device *d, const ridge__gemm *g)
{
    if (g->is_added)
        return RIDGE_OK;
    void *zero = NULL;
    RIDGE_TRY(ridge__cuda_alloc(d, sizeof(float), &zero));
    ridge__copy copy = matrices_copy(g->batch, g->m, g->n);
    memset(copy.x_strides, 0, sizeof copy.x_strides);
    copy.y_strides[0] = g->stride_c;
    copy.y_strides[1] = g->ldc;
    copy.x = (ridge__array){zero, RIDGE_DTYPE_FP32};
    copy.y = g->c;
    ridge_status status = ridge__cuda_zero(d, zero, sizeof(float));
    if (status == RIDGE_OK)
        status = ridge__cuda_copy(d, &copy);
    ridge__cuda_release(d, zero);
    return status;
}

/** One of the product's operands in fp32, dense, in memory of its own. */
typedef struct widened {
    ridge__array array;
    int64_t rows, width, ld, stride;
} widened;

static ridge_status widen(ridge__device *d, int64_t batch, widened *w)
{
    if (w->array.dtype == RIDGE_DTYPE_FP32)
        return RIDGE_OK;
    const int64_t count = w->stride == 0 ? 1 : batch;
    void *p = NULL;
    RIDGE_TRY(
        ridge__cuda_alloc(d, (size_t)(count * w->rows * w->width) * sizeof(float), &p));
    ridge__copy copy = matrices_copy(count, w->rows, w->width);
    copy.x_strides[0] = w->stride;
    copy.x_strides[1] = w->ld;
    copy.x = w->array;
    copy.y = w->array = (ridge__array){p, RIDGE_DTYPE_FP32};
    w->ld = w->width;
    w->stride = w->stride == 0 ? 0 : w->rows * w->width;
    return ridge__cuda_copy(d, &copy);
}

/** Round the result of a product in fp32 to where it is wanted. */
static ridge_status narrow(ridge__device *d, const ridge__gemm *g, void *c)
{
    ridge__copy copy = matrices_copy(g->batch, g->m, g->n);
    copy.x = (ridge__array){c, RIDGE_DTYPE_FP32};
    copy.y = g->c;
    copy.y_strides[0] = g->stride_c;
    copy.y_strides[1] = g->ldc;
    copy.is_added = g->is_added;
    return ridge__cuda_copy(d, &copy);
}

/** The product in fp32 with the operands given; a bf16 result goes by way of c. */
static ridge_status multiply_wide(ridge__device *d, const ridge__gemm *g,
                                  const widened *a, const widened *b)
{
    ridge__gemm wide = *g;
    wide.a = a->array;
    wide.b = b->array;
    wide.lda = a->ld;
    wide.ldb = b->ld;
    wide.stride_a = a->stride;
    wide.stride_b = b->stride;
    if (g->c.dtype == RIDGE_DTYPE_FP32)
        return multiply(d, &wide);
    void *c = NULL;
    RIDGE_TRY(
        ridge__cuda_alloc(d, (size_t)(g->batch * g->m * g->n) * sizeof(float), &c));
    wide.c = (ridge__array){c, RIDGE_DTYPE_FP32};
    wide.ldc = g->n;
    wide.stride_c = g->m * g->n;
    wide.is_added = false;
    ridge_status status = multiply(d, &wide);
    if (status == RIDGE_OK)
        status = narrow(d, g, c);
    ridge__cuda_release(d, c);
    return status;
}

static ridge_status multiply_mixed(ridge__device *d, const ridge__gemm *g)
{
    widened a = {g->a, g->is_a_transposed ? g->k : g->m,
                 g->is_a_transposed ? g->m : g->k, g->lda, g->stride_a};
    widened b = {g->b, g->is_b_transposed ? g->n : g->k,
                 g->is_b_transposed ? g->k : g->n, g->ldb, g->stride_b};
    ridge_status status = widen(d, g->batch, &a);
    if (status == RIDGE_OK)
        status = widen(d, g->batch, &b);
    if (status == RIDGE_OK)
        status = multiply_wide(d, g, &a, &b);
    ridge__cuda_release(d, a.array.p == g->a.p ? NULL : a.array.p);
    ridge__cuda_release(d, b.array.p == g->b.p ? NULL : b.array.p);
    return status;
}

/* ---- the device's ------------------------------------------------------------- */

ridge_status ridge__cuda_gemm(ridge__device *d, const ridge__gemm *g)
{
    if (g->batch <= 0 || g->m <= 0 || g->n <= 0)
        return RIDGE_OK;
    if (g->k <= 0)
        return clear_result(d, g);
    if (g->batch > INT32_MAX)
        return ridge_fail(d->cx, RIDGE_E_ARG, "a batch of %lld products is too large",
                          (long long)g->batch);
    const bool is_narrow =
        g->a.dtype == RIDGE_DTYPE_BF16 && g->b.dtype == RIDGE_DTYPE_BF16;
    const bool is_wide = g->a.dtype == RIDGE_DTYPE_FP32 &&
                         g->b.dtype == RIDGE_DTYPE_FP32 &&
                         g->c.dtype == RIDGE_DTYPE_FP32;
    return is_narrow || is_wide ? multiply(d, g) : multiply_mixed(d, g);
}

static ridge__array array_at(ridge__array a, int64_t i)
{
    a.p = (char *)a.p + i * (a.dtype == RIDGE_DTYPE_BF16 ? 2 : 4);
    return a;
}

/** Group i of the products as one of its own. */
static ridge__gemm group_of(const ridge__grouped_gemm *g, int i)
{
    const int64_t first = g->offsets[i], rows = g->offsets[i + 1] - first;
    const int64_t weight = i * g->k * g->n;
    ridge__gemm one = {.batch = 1,
                       .a = array_at(g->in, first * g->k),
                       .lda = g->k,
                       .ldb = g->n,
                       .ldc = g->n,
                       .n = g->n,
                       .is_added = g->is_added};
    one.m = g->is_outer ? g->k : rows;
    one.k = g->is_outer ? rows : g->k;
    one.b = array_at(g->w, g->is_outer ? first * g->n : weight);
    one.c = array_at(g->out, g->is_outer ? weight : first * g->n);
    one.is_a_transposed = g->is_outer;
    if (!g->is_outer && g->is_w_transposed) {
        one.is_b_transposed = true;
        one.ldb = g->k;
    }
    return one;
}

ridge_status ridge__cuda_grouped_gemm(ridge__device *d, const ridge__grouped_gemm *g)
{
    for (int i = 0; i < g->groups; i++) {
        const ridge__gemm one = group_of(g, i);
        RIDGE_TRY(ridge__cuda_gemm(d, &one));
    }
    return RIDGE_OK;
}

void ridge__cuda_allow_tf32(ridge__device *d, bool is_allowed)
{
    ridge__cuda_of(d)->blas->is_tf32 = is_allowed;
}

/* ---- opening and closing ----------------------------------------------------------
 */

ridge_status ridge__cuda_blas_open(ridge__device_cuda *d)
{
    ridge__cuda_blas *blas = calloc(1, sizeof *blas);
    if (blas == NULL)
        return ridge_fail_nomem(d->base.cx);
    ridge_status status = ridge__blas_calls_open(d->base.cx, &blas->calls);
    if (status != RIDGE_OK) {
        free(blas);
        return status;
    }
    d->blas = blas; /* closed with the device from here on */
    RIDGE_TRY(blas_check(&d->base, blas->calls.cublasLtCreate(&blas->handle), "start"));
    return ridge__cuda_check(
        d->base.cx, cudaMallocAsync(&blas->workspace, WORKSPACE_BYTES, d->stream),
        "take memory for products");
}

void ridge__cuda_blas_close(ridge__device_cuda *d)
{
    ridge__cuda_blas *blas = d->blas;
    if (blas == NULL)
        return;
    for (int i = 0; i < PLAN_COUNT; i++)
        plan_clear(blas, &blas->plans[i]);
    if (blas->workspace != NULL)
        (void)cudaFreeAsync(blas->workspace, d->stream);
    if (blas->handle != NULL)
        (void)blas->calls.cublasLtDestroy(blas->handle);
    free(blas);
}
