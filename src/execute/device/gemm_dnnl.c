/*
 * Products through oneDNN. A worker calls it with one thread of its own, so that what
 * runs is the team and nothing else. fp32 takes its sgemm; bf16 a matmul primitive,
 * made once for each shape and kept.
 */
#include "gemm.h"

#include <dnnl.h>

enum { KEPT = 64 }; /* primitives of a worker */

/** What a primitive is made for. */
typedef struct shape {
    int64_t m, n, k, lda, ldb, ldc;
    bool is_a_transposed, is_b_transposed, is_c_bf16, is_added;
} shape;

typedef struct primitive {
    shape shape;
    uint64_t used; /* when, by the worker's count */
    dnnl_primitive_t matmul;
    dnnl_memory_t a, b, c;
} primitive;

typedef struct desk {
    dnnl_stream_t stream;
    uint64_t count;
    primitive kept[KEPT];
} desk;

struct ridge__gemm_library {
    dnnl_engine_t engine;
    bool is_bf16_taken;
    int workers;
    desk *desks; /* [workers] */
};

const char *ridge__gemm_library_name(void)
{
    return "oneDNN";
}

/* ---- bf16 of this CPU ------------------------------------------------------------ */

static bool has_bf16(void)
{
    return dnnl_get_effective_cpu_isa() >= dnnl_cpu_isa_avx512_core_bf16;
}

/**
 * Where nothing was measured bf16 is multiplied as it is only by matrix tiles (AMX),
 * which do 8 times fp32's work. AVX-512's dot product is twice as fast as fp32 on some
 * cores and half as fast on others. All ranks must choose alike, or what they hold
 * alike drifts apart, so that none measures for itself.
 */
static bool has_tiles(void)
{
    return has_bf16() && dnnl_get_effective_cpu_isa() >= dnnl_cpu_isa_avx512_core_amx;
}

/* ---- opening and closing --------------------------------------------------------- */

static void drop(primitive *p)
{
    if (p->matmul != NULL)
        dnnl_primitive_destroy(p->matmul);
    dnnl_memory_t memory[] = {p->a, p->b, p->c};
    for (int i = 0; i < 3; i++)
        if (memory[i] != NULL)
            dnnl_memory_destroy(memory[i]);
    *p = (primitive){0};
}

void ridge__gemm_library_close(ridge__gemm_library *library)
{
    if (library == NULL)
        return;
    for (int i = 0; i < library->workers; i++) {
        for (int j = 0; j < KEPT; j++)
            drop(&library->desks[i].kept[j]);
        if (library->desks[i].stream != NULL)
            dnnl_stream_destroy(library->desks[i].stream);
    }
    dnnl_engine_destroy(library->engine);
}

static ridge_status fail_start(ridge_ctx *cx, dnnl_status_t st)
{
    return ridge_fail(cx, st == dnnl_out_of_memory ? RIDGE_E_NOMEM : RIDGE_E_INTERNAL,
                      "oneDNN does not start (status %d): check its installation",
                      (int)st);
}

static dnnl_status_t open_desks(ridge__gemm_library *library)
{
    dnnl_status_t st = dnnl_success;
    for (int i = 0; i < library->workers && st == dnnl_success; i++)
        st = dnnl_stream_create(&library->desks[i].stream, library->engine,
                                dnnl_stream_default_flags);
    return st;
}

ridge_status ridge__gemm_library_open(ridge_ctx *cx, const ridge__kernel_table *table,
                                      int workers, ridge__gemm_library **out)
{
    (void)table;
    ridge__gemm_library *library =
        ridge_new(ridge_ctx_arena(cx), ridge__gemm_library, 1);
    if (library == NULL)
        return ridge_fail_nomem(cx);
    library->desks = ridge_new(ridge_ctx_arena(cx), desk, (size_t)workers);
    if (library->desks == NULL)
        return ridge_fail_nomem(cx);
    library->workers = workers;
    dnnl_status_t st = dnnl_engine_create(&library->engine, dnnl_cpu, 0);
    if (st != dnnl_success)
        return fail_start(cx, st);
    st = open_desks(library);
    if (st != dnnl_success) {
        ridge__gemm_library_close(library);
        return fail_start(cx, st);
    }
    library->is_bf16_taken = has_tiles();
    *out = library;
    return RIDGE_OK;
}

bool ridge__gemm_library_can_bf16(const ridge__gemm_library *library)
{
    (void)library;
    return has_bf16();
}

bool ridge__gemm_library_has_bf16(const ridge__gemm_library *library)
{
    return library->is_bf16_taken;
}

bool ridge__gemm_library_take_bf16(ridge__gemm_library *library, bool is_taken)
{
    if (is_taken && !has_bf16())
        return false;
    library->is_bf16_taken = is_taken;
    return true;
}

/* ---- products of bf16 ------------------------------------------------------------ */

static shape shape_of(const ridge__product *p)
{
    return (shape){.m = p->m,
                   .n = p->n,
                   .k = p->k,
                   .lda = p->a.ld,
                   .ldb = p->b.ld,
                   .ldc = p->c.ld,
                   .is_a_transposed = p->a.is_transposed,
                   .is_b_transposed = p->b.is_transposed,
                   .is_c_bf16 = p->c.array.dtype == RIDGE_DTYPE_BF16,
                   .is_added = p->is_added};
}

static bool is_same(const shape *x, const shape *y)
{
    return x->m == y->m && x->n == y->n && x->k == y->k && x->lda == y->lda &&
           x->ldb == y->ldb && x->ldc == y->ldc &&
           x->is_a_transposed == y->is_a_transposed &&
           x->is_b_transposed == y->is_b_transposed && x->is_c_bf16 == y->is_c_bf16 &&
           x->is_added == y->is_added;
}

/** A matrix as it lies in memory. */
typedef struct operand {
    int64_t rows, columns, ld;
    bool is_transposed, is_bf16;
} operand;

static dnnl_status_t describe(operand x, dnnl_memory_desc_t *out)
{
    dnnl_dims_t sizes = {x.rows, x.columns};
    dnnl_dims_t strides = {x.is_transposed ? 1 : x.ld, x.is_transposed ? x.ld : 1};
    return dnnl_memory_desc_init_by_strides(out, 2, sizes,
                                            x.is_bf16 ? dnnl_bf16 : dnnl_f32, strides);
}

/** A primitive that adds to what c holds, if it is to. */
static dnnl_status_t make_matmul(dnnl_engine_t engine, const dnnl_matmul_desc_t *matmul,
                                 bool is_added, dnnl_primitive_t *out)
{
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_post_ops_t after = NULL;
    dnnl_primitive_desc_t made = NULL;
    dnnl_status_t st = dnnl_primitive_attr_create(&attributes);
    if (st == dnnl_success && is_added)
        st = dnnl_post_ops_create(&after);
    if (st == dnnl_success && is_added)
        st = dnnl_post_ops_append_sum(after, 1.0f);
    if (st == dnnl_success && is_added)
        st = dnnl_primitive_attr_set_post_ops(attributes, after);
    if (st == dnnl_success)
        st = dnnl_primitive_desc_create(&made, matmul, attributes, engine, NULL);
    if (st == dnnl_success)
        st = dnnl_primitive_create(out, made);
    if (made != NULL)
        dnnl_primitive_desc_destroy(made);
    if (after != NULL)
        dnnl_post_ops_destroy(after);
    if (attributes != NULL)
        dnnl_primitive_attr_destroy(attributes);
    return st;
}

static dnnl_status_t make(dnnl_engine_t engine, const shape *s, primitive *out)
{
    dnnl_memory_desc_t a, b, c;
    dnnl_matmul_desc_t matmul;
    dnnl_status_t st =
        describe((operand){s->m, s->k, s->lda, s->is_a_transposed, true}, &a);
    if (st == dnnl_success)
        st = describe((operand){s->k, s->n, s->ldb, s->is_b_transposed, true}, &b);
    if (st == dnnl_success)
        st = describe((operand){s->m, s->n, s->ldc, false, s->is_c_bf16}, &c);
    if (st == dnnl_success)
        st = dnnl_matmul_desc_init(&matmul, &a, &b, NULL, &c);
    if (st == dnnl_success)
        st = make_matmul(engine, &matmul, s->is_added, &out->matmul);
    if (st == dnnl_success)
        st = dnnl_memory_create(&out->a, &a, engine, DNNL_MEMORY_NONE);
    if (st == dnnl_success)
        st = dnnl_memory_create(&out->b, &b, engine, DNNL_MEMORY_NONE);
    if (st == dnnl_success)
        st = dnnl_memory_create(&out->c, &c, engine, DNNL_MEMORY_NONE);
    out->shape = *s;
    if (st != dnnl_success)
        drop(out);
    return st;
}

/** The primitive of a shape, made in the place of the one unused for longest. */
static primitive *find_or_make(ridge__gemm_library *library, desk *at, const shape *s)
{
    primitive *oldest = &at->kept[0];
    at->count++;
    for (primitive *p = at->kept; p < at->kept + KEPT; p++) {
        if (p->matmul != NULL && is_same(&p->shape, s)) {
            p->used = at->count;
            return p;
        }
        if (p->used < oldest->used)
            oldest = p;
    }
    drop(oldest);
    if (make(library->engine, s, oldest) != dnnl_success)
        return NULL;
    oldest->used = at->count;
    return oldest;
}

static bool run_bf16(ridge__gemm_library *library, desk *at, const ridge__product *p)
{
    shape s = shape_of(p);
    primitive *found = find_or_make(library, at, &s);
    if (found == NULL)
        return false;
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, found->a},
                                   {DNNL_ARG_WEIGHTS, found->b},
                                   {DNNL_ARG_DST, found->c}};
    return dnnl_memory_set_data_handle(found->a, p->a.array.p) == dnnl_success &&
           dnnl_memory_set_data_handle(found->b, p->b.array.p) == dnnl_success &&
           dnnl_memory_set_data_handle(found->c, p->c.array.p) == dnnl_success &&
           dnnl_primitive_execute(found->matmul, at->stream, 3, arguments) ==
               dnnl_success &&
           dnnl_stream_wait(at->stream) == dnnl_success;
}

/* ---- fp32 ------------------------------------------------------------------------ */

static bool run_fp32(const ridge__product *p)
{
    return dnnl_sgemm(p->a.is_transposed ? 'T' : 'N', p->b.is_transposed ? 'T' : 'N',
                      p->m, p->n, p->k, 1.0f, p->a.array.p, p->a.ld, p->b.array.p,
                      p->b.ld, p->is_added ? 1.0f : 0.0f, p->c.array.p,
                      p->c.ld) == dnnl_success;
}

bool ridge__gemm_library_run(ridge__gemm_library *library, int worker,
                             const ridge__product *p)
{
    int threads = ridge__library_threads_narrow();
    bool is_done = p->a.array.dtype == RIDGE_DTYPE_BF16
                       ? run_bf16(library, &library->desks[worker], p)
                       : run_fp32(p);
    ridge__library_threads_restore(threads);
    return is_done;
}
