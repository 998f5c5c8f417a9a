/*
 * Rates of matrix products by m, k and n: operands pass through a pool larger than the
 * nearest caches, as in a step, and each size is multiplied as a layer's forward
 * pass does and as both of its backward passes do. bf16 goes both of its ways, where
 * the library has products of it: a run then takes the quicker one.
 */
#include "calibration.h"

#include "gemm.h"

#include <stdio.h>
#include <string.h>

enum { FORMS = 3 };

/* Sizes, away from powers of two, whose rows fall on the same lines of a cache; those
 * whose product takes more FLOPs than FLOPS_MOST have the rate of the next smaller m, k
 * or n. */
static const double sizes_m[] = {16, 128, 512, 2048};
static const double sizes_k[] = {16, 64, 192, 576, 1728};
static const double quick_m[] = {16, 128, 1024};
static const double quick_k[] = {16, 128, 1152};
static const double FLOPS_MOST = 9e9;
static const double DOUBTFUL = 1.1; /* times of what a smaller product's rate says */

enum { POOL_BYTES = 64 << 20 };

/* Memory that operands pass through. Results have one of their own: read again as
 * operands they would soon be too small or too large for numbers. */
typedef struct operand_pool {
    char *p;
    int64_t at;
} operand_pool;

typedef struct product_load {
    ridge__calibrator *c;
    operand_pool in, out;
    ridge_dtype dtype;
    ridge__gemm g;
} product_load;

static void *next_operand(const product_load *l, operand_pool *pool, int64_t elements)
{
    const int64_t bytes =
        (elements * (int64_t)ridge_dtype_bytes(l->dtype) + 63) / 64 * 64;
    if (pool->at + bytes > POOL_BYTES)
        pool->at = 0;
    void *p = pool->p + pool->at;
    pool->at += bytes;
    return p;
}

static ridge_status multiply(void *payload)
{
    product_load *l = payload;
    ridge__gemm *g = &l->g;
    g->a.p = next_operand(l, &l->in, g->m * g->k);
    g->b.p = next_operand(l, &l->in, g->k * g->n);
    g->c.p = next_operand(l, &l->out, g->m * g->n);
    return l->c->device->ops->gemm(l->c->device, g);
}

/* x w; dy w^T; x^T dy */
static void set_form(ridge__gemm *g, int form)
{
    g->is_b_transposed = form == 1;
    g->is_a_transposed = form == 2;
    g->lda = g->is_a_transposed ? g->m : g->k;
    g->ldb = g->is_b_transposed ? g->k : g->n;
    g->ldc = g->n;
}

static ridge_status measure_size(product_load *l, const double at[3], double *out)
{
    double sum = 0.0;
    l->g = (ridge__gemm){.batch = 1,
                         .m = (int64_t)at[0],
                         .k = (int64_t)at[1],
                         .n = (int64_t)at[2],
                         .a.dtype = l->dtype,
                         .b.dtype = l->dtype,
                         .c.dtype = l->dtype};
    for (int form = 0; form < FORMS; form++) {
        double seconds;
        set_form(&l->g, form);
        RIDGE_TRY(ridge__measure(l->c, multiply, l, &seconds));
        sum += seconds;
    }
    *out = sum / FORMS;
    return RIDGE_OK;
}

/* The time at the rate of the largest other product measured that is larger in nothing;
 * 0: there is none. */
static double scaled_s(const ridge__samples *s, const char *name, const double at[3],
                       double work)
{
    double nearest = 0.0, rate = 0.0;
    for (int i = 0; i < s->n; i++) {
        const ridge__sample *x = &s->items[i];
        const bool is_below = strcmp(x->name, name) == 0 && x->at[0] <= at[0] &&
                              x->at[1] <= at[1] && x->at[2] <= at[2];
        const bool is_itself =
            x->at[0] == at[0] && x->at[1] == at[1] && x->at[2] == at[2];
        if (is_below && !is_itself && x->work > nearest) {
            nearest = x->work;
            rate = x->work / x->seconds;
        }
    }
    return rate > 0.0 ? work / rate : 0.0;
}

/* A larger product is seldom slower than a smaller one: if it seems so, something else
 * may have run at the time. It is measured again, and the quickest counts. */
static ridge_status measure_surely(product_load *l, const ridge__sample *s, double *out)
{
    enum { TRIES_MORE = 2 };
    const double expected_s = scaled_s(&l->c->matmul, s->name, s->at, s->work);
    RIDGE_TRY(measure_size(l, s->at, out));
    for (int i = 0; i < TRIES_MORE && expected_s > 0 && *out > DOUBTFUL * expected_s;
         i++) {
        double again_s;
        RIDGE_TRY(measure_size(l, s->at, &again_s));
        *out = again_s < *out ? again_s : *out;
    }
    return RIDGE_OK;
}

static ridge_status add_size(product_load *l, const char *way, const double at[3],
                             double *seconds)
{
    ridge__sample s = {.at = {at[0], at[1], at[2]}, .work = 2 * at[0] * at[1] * at[2]};
    snprintf(s.name, sizeof s.name, "%s%s", way, ridge_dtype_text(l->dtype));
    ridge__unit_begin(l->c);
    if (s.work > FLOPS_MOST)
        s.seconds = scaled_s(&l->c->matmul, s.name, at, s.work);
    else
        RIDGE_TRY(measure_surely(l, &s, &s.seconds));
    *seconds = s.seconds;
    return ridge__sample_add(l->c, &l->c->matmul, &s);
}

/* Both ways of bf16, and the quicker one. */
static ridge_status add_both(product_load *l, ridge__gemm_library *library,
                             const double at[3])
{
    static const char *const ways[] = {"converted.", "direct."};
    ridge__sample s = {.at = {at[0], at[1], at[2]}, .work = 2 * at[0] * at[1] * at[2]};
    double seconds[2];
    for (int way = 0; way < 2; way++) {
        ridge__gemm_library_take_bf16(library, way == 1);
        RIDGE_TRY(add_size(l, ways[way], at, &seconds[way]));
    }
    snprintf(s.name, sizeof s.name, "%s", ridge_dtype_text(l->dtype));
    s.seconds = seconds[0] < seconds[1] ? seconds[0] : seconds[1];
    return ridge__sample_add(l->c, &l->c->matmul, &s);
}

static ridge_status add_all(product_load *l, const double at[3])
{
    ridge__gemm_library *library = ridge__cpu_of(l->c->device)->library;
    const bool usual = ridge__gemm_library_has_bf16(library);
    double seconds;
    if (l->dtype != RIDGE_DTYPE_BF16 || !ridge__gemm_library_can_bf16(library))
        return add_size(l, "", at, &seconds);
    const ridge_status st = add_both(l, library, at);
    ridge__gemm_library_take_bf16(library, usual);
    return st;
}

static ridge_status measure_format(product_load *l, double from)
{
    const bool is_quick = l->c->request->is_quick || l->c->is_crowded;
    const double *m = is_quick ? quick_m : sizes_m, *k = is_quick ? quick_k : sizes_k;
    const size_t n_m = is_quick ? RIDGE_COUNT_OF(quick_m) : RIDGE_COUNT_OF(sizes_m);
    const size_t n_k = is_quick ? RIDGE_COUNT_OF(quick_k) : RIDGE_COUNT_OF(sizes_k);
    for (size_t i = 0; i < n_m * n_k * n_k; i++) {
        const double at[] = {m[i / n_k / n_k], k[i / n_k % n_k], k[i % n_k]};
        ridge__calibrator_show(l->c, from + 0.5 * (double)i / (double)(n_m * n_k * n_k),
                               "matrix products");
        RIDGE_TRY(add_all(l, at));
    }
    return RIDGE_OK;
}

static ridge_status measure_formats(product_load *l)
{
    l->dtype = RIDGE_DTYPE_FP32;
    RIDGE_TRY(measure_format(l, 0.0));
    l->dtype = RIDGE_DTYPE_BF16;
    return measure_format(l, 0.5);
}

ridge_status ridge__calibrate_products(ridge__calibrator *c)
{
    product_load l = {.c = c};
    void *in, *out;
    RIDGE_TRY(ridge__filled_take(c, POOL_BYTES, &in));
    RIDGE_TRY(ridge__filled_take(c, POOL_BYTES, &out));
    l.in.p = in;
    l.out.p = out;
    ridge_status st = measure_formats(&l);
    c->device->ops->release(c->device, in);
    c->device->ops->release(c->device, out);
    return st;
}
