/* Products without a library: a's rows a few at a time through the kernel for few rows.
 * Right everywhere, fast nowhere. */
#include "gemm.h"

#include "device_memory.h"

#include <string.h>

enum { ROWS = 16, COLUMNS = 256, STRETCH = 512 };

typedef struct room {
    float a[ROWS * STRETCH], c[ROWS * COLUMNS];
} room;

struct ridge__gemm_library {
    const ridge__kernel_table *kernels;
    room *rooms; /* [workers] */
};

const char *ridge__gemm_library_name(void)
{
    return "plain";
}

ridge_status ridge__gemm_library_open(ridge_ctx *cx, const ridge__kernel_table *table,
                                      int workers, ridge__gemm_library **out)
{
    ridge__gemm_library *library =
        ridge_new(ridge_ctx_arena(cx), ridge__gemm_library, 1);
    if (library == NULL)
        return ridge_fail_nomem(cx);
    library->kernels = table;
    library->rooms = ridge__block_take((size_t)workers * sizeof(room));
    if (library->rooms == NULL)
        return ridge_fail_nomem(cx);
    *out = library;
    return RIDGE_OK;
}

void ridge__gemm_library_close(ridge__gemm_library *library)
{
    if (library != NULL)
        ridge__block_give(library->rooms);
}

bool ridge__gemm_library_can_bf16(const ridge__gemm_library *library)
{
    (void)library;
    return false;
}

bool ridge__gemm_library_has_bf16(const ridge__gemm_library *library)
{
    (void)library;
    return false;
}

bool ridge__gemm_library_take_bf16(ridge__gemm_library *library, bool is_taken)
{
    (void)library;
    return !is_taken;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void gather(const ridge__product *p, float *a)
{
    const float *from = p->a.array.p;
    int64_t down = p->a.is_transposed ? 1 : p->a.ld;
    int64_t right = p->a.is_transposed ? p->a.ld : 1;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->k; j++)
            a[i * p->k + j] = from[i * down + j * right];
}

/** c += a b for one stretch of k. */
static void run_stretch(const ridge__kernel_table *kernels, const ridge__product *p,
                        room *r)
{
    gather(p, r->a);
    kernels->few_rows(&(ridge__few_rows){.m = p->m,
                                         .n = p->n,
                                         .k = p->k,
                                         .a = r->a,
                                         .b = p->b.array,
                                         .ldb = p->b.ld,
                                         .is_b_transposed = p->b.is_transposed,
                                         .c = r->c});
}

static void run_block(const ridge__kernel_table *kernels, const ridge__product *p,
                      room *r)
{
    memset(r->c, 0, sizeof r->c);
    for (int64_t at = 0; at < p->k; at += STRETCH) {
        ridge__product part = *p;
        part.k = least(STRETCH, p->k - at);
        part.a = ridge__matrix_at(p->a, 0, at);
        part.b = ridge__matrix_at(p->b, at, 0);
        run_stretch(kernels, &part, r);
    }
    for (int64_t i = 0; i < p->m; i++)
        kernels->convert((ridge__array){r->c + i * p->n, RIDGE_DTYPE_FP32},
                         ridge__matrix_at(p->c, i, 0).array, p->n, p->is_added);
}

bool ridge__gemm_library_run(ridge__gemm_library *library, int worker,
                             const ridge__product *p)
{
    for (int64_t j = 0; j < p->n; j += COLUMNS)
        for (int64_t i = 0; i < p->m; i += ROWS) {
            ridge__product part = *p;
            part.m = least(ROWS, p->m - i);
            part.n = least(COLUMNS, p->n - j);
            part.a = ridge__matrix_at(p->a, i, 0);
            part.b = ridge__matrix_at(p->b, 0, j);
            part.c = ridge__matrix_at(p->c, i, j);
            run_block(library->kernels, &part, &library->rooms[worker]);
        }
    return true;
}
