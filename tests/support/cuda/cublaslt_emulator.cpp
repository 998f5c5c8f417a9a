/* Products on the CPU: see cublasLt.h here. */
#include "cublasLt.h"

#include <string.h>

struct emulated_product {
    int32_t transposed[2];
};

struct emulated_layout {
    cudaDataType type;
    int64_t rows, columns, ld;
    int32_t batch;
    int64_t stride;
};

struct emulated_preference {
    uint32_t alignments[4];
    size_t workspace;
};

namespace
{

cublasStatus_t given(bool is_right)
{
    return is_right ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

float read(const void *p, const emulated_layout &l, int64_t batch, int64_t row,
           int64_t column)
{
    const int64_t at = batch * l.stride + column * l.ld + row;
    if (l.type == CUDA_R_32F)
        return ((const float *)p)[at];
    const uint32_t bits = (uint32_t)((const uint16_t *)p)[at] << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void write(void *p, const emulated_layout &l, int64_t batch, int64_t row,
           int64_t column, float value)
{
    const int64_t at = batch * l.stride + column * l.ld + row;
    if (l.type == CUDA_R_32F) {
        ((float *)p)[at] = value;
        return;
    }
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    ((uint16_t *)p)[at] = (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

bool is_aligned(const void *p, uint32_t alignment)
{
    return (uintptr_t)p % alignment == 0;
}

/** Shapes that fit, one format of both operands, one that the result may have. */
bool is_valid(const emulated_product &product, const emulated_layout &a,
              const emulated_layout &b, const emulated_layout &d)
{
    const int64_t m = product.transposed[0] ? a.columns : a.rows;
    const int64_t k = product.transposed[0] ? a.rows : a.columns;
    const int64_t k2 = product.transposed[1] ? b.columns : b.rows;
    const int64_t n = product.transposed[1] ? b.rows : b.columns;
    return k == k2 && m == d.rows && n == d.columns && a.ld >= a.rows &&
           b.ld >= b.rows && d.ld >= d.rows && a.type == b.type &&
           (d.type == CUDA_R_32F || d.type == a.type) && a.batch == b.batch &&
           a.batch == d.batch && m > 0 && n > 0 && k > 0;
}

} // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    *handle = nullptr;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasLtGetStatusString(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_SUCCESS ? "success" : "invalid value";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *out, cublasComputeType_t,
                                        cudaDataType scale)
{
    *out = new emulated_product();
    return given(scale == CUDA_R_32F);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product)
{
    delete product;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t name,
                                              const void *value, size_t bytes)
{
    if (bytes != sizeof(int32_t))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&product->transposed[name == CUBLASLT_MATMUL_DESC_TRANSB], value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *out,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t ld)
{
    *out = new emulated_layout{type, (int64_t)rows, (int64_t)columns, ld, 1, 0};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    delete layout;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t name,
                                                const void *value, size_t bytes)
{
    if (name == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && bytes == sizeof(int32_t))
        memcpy(&layout->batch, value, bytes);
    else if (name == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET &&
             bytes == sizeof(int64_t))
        memcpy(&layout->stride, value, bytes);
    else
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *out)
{
    *out = new emulated_preference{{256, 256, 256, 256}, 0};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    delete preference;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                     cublasLtMatmulPreferenceAttributes_t name,
                                     const void *value, size_t bytes)
{
    const int at = name - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
    if (at >= 0 && at < 4 && bytes == sizeof(uint32_t))
        memcpy(&preference->alignments[at], value, bytes);
    else if (at < 0 && bytes == sizeof(size_t))
        memcpy(&preference->workspace, value, bytes);
    else
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t product,
                               cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                               cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                               cublasLtMatmulPreference_t preference, int,
                               cublasLtMatmulHeuristicResult_t *found, int *n_found)
{
    memcpy(found->algo.alignments, preference->alignments,
           sizeof preference->alignments);
    found->workspaceSize = preference->workspace;
    found->state = given(is_valid(*product, *a, *b, *d));
    *n_found = 1;
    return found->state;
}

cublasStatus_t
cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, const void *alpha,
               const void *a, cublasLtMatrixLayout_t a_layout, const void *b,
               cublasLtMatrixLayout_t b_layout, const void *beta, const void *c,
               cublasLtMatrixLayout_t, void *d, cublasLtMatrixLayout_t d_layout,
               const cublasLtMatmulAlgo_t *algo, void *, size_t, cudaStream_t stream)
{
    if (!is_valid(*product, *a_layout, *b_layout, *d_layout) || c != d ||
        !is_aligned(a, algo->alignments[0]) || !is_aligned(b, algo->alignments[1]) ||
        !is_aligned(d, algo->alignments[3]))
        return CUBLAS_STATUS_INVALID_VALUE;
    const emulated_product p = *product;
    const emulated_layout la = *a_layout, lb = *b_layout, ld = *d_layout;
    const float times = *(const float *)alpha, kept = *(const float *)beta;
    emulated_enqueue(stream, [=] {
        const int64_t depth = p.transposed[0] ? la.rows : la.columns;
        for (int64_t i = 0; i < ld.batch * ld.rows * ld.columns; i++) {
            const int64_t batch = i / ld.rows / ld.columns, row = i % ld.rows;
            const int64_t column = i / ld.rows % ld.columns;
            double sum = 0.0;
            for (int64_t k = 0; k < depth; k++)
                sum += (double)(p.transposed[0] ? read(a, la, batch, k, row)
                                                : read(a, la, batch, row, k)) *
                       (double)(p.transposed[1] ? read(b, lb, batch, column, k)
                                                : read(b, lb, batch, k, column));
            const float old = kept == 0.0f ? 0.0f : read(d, ld, batch, row, column);
            write(d, ld, batch, row, column, times * (float)sum + kept * old);
        }
    });
    return CUBLAS_STATUS_SUCCESS;
}
