/* What a rank holds of a tensor against the whole array. */
#include "held_check.h"

#include "kernel_bf16.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- numbers ------------------------------------------------------------------------
 */

size_t ridge__value_bytes(const ridge__value *v)
{
    return (size_t)v->elements * (size_t)ridge_dtype_bytes(v->dtype);
}

static void put_number(void *array, ridge_dtype dtype, int64_t i, double x)
{
    if (dtype == RIDGE_DTYPE_BF16) {
        ((uint16_t *)array)[i] = ridge__bf16_of_float((float)x);
    } else {
        ((float *)array)[i] = (float)x;
    }
}

static double get_number(const void *array, ridge_dtype dtype, int64_t i)
{
    return dtype == RIDGE_DTYPE_BF16
               ? (double)ridge__float_of_bf16(((const uint16_t *)array)[i])
               : (double)((const float *)array)[i];
}

int64_t ridge__whole_place(const ridge__machine *m, int tensor, int64_t i)
{
    const ridge__tensor_part *part = &m->parts[tensor];
    const ridge_tensor *t = &m->program->tensors[tensor];
    int64_t place = 0, stride = 1;
    bool is_padding = false;
    for (int d = part->n_dims - 1; d >= 0; d--) {
        const int64_t at = i % part->spans[d].length;
        i /= part->spans[d].length;
        is_padding = is_padding || at >= part->spans[d].valid;
        place += (part->spans[d].start + at) * stride;
        stride *= m->program->dims[t->dims[d]].size;
    }
    return is_padding ? -1 : place;
}

ridge_status ridge__held_fill(const ridge__checker *k, int tensor,
                              const ridge__value *v, bool is_ids, ridge__fill_fn *fn,
                              void *payload)
{
    ridge_arena *scratch = ridge_ctx_scratch(k->cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    char *host = ridge_new(scratch, char, ridge__value_bytes(v));
    if (host == NULL)
        return ridge_fail_nomem(k->cx);
    for (int64_t i = 0; i < v->elements; i++) {
        const int64_t place = ridge__whole_place(k->m, tensor, i);
        const double x = place < 0 ? 0.0 : fn(payload, place);
        if (is_ids) {
            ((int32_t *)(void *)host)[i] = (int32_t)x;
        } else {
            put_number(host, v->dtype, i, x);
        }
    }
    ridge__device *d = k->m->device;
    const ridge_status st = d->ops->upload(d, v->p, host, ridge__value_bytes(v));
    ridge_arena_rewind(scratch, mark);
    return st;
}

ridge_status ridge__held_read(const ridge__checker *k, const ridge__value *v,
                              double **out)
{
    ridge_arena *scratch = ridge_ctx_scratch(k->cx);
    ridge__device *d = k->m->device;
    double *numbers = ridge_new(scratch, double, (size_t)v->elements);
    char *host = ridge_new(scratch, char, ridge__value_bytes(v));
    if (!numbers || !host)
        return ridge_fail_nomem(k->cx);
    RIDGE_TRY(d->ops->download(d, host, v->p, ridge__value_bytes(v)));
    for (int64_t i = 0; i < v->elements; i++)
        numbers[i] = get_number(host, v->dtype, i);
    *out = numbers;
    return RIDGE_OK;
}

/* ---- ranks --------------------------------------------------------------------------
 */

ridge_status ridge__ranks_agree(const ridge__checker *k, float *numbers, int n)
{
    ridge__device *d = k->m->device;
    const size_t bytes = (size_t)n * sizeof *numbers;
    ridge_pending pending;
    void *p;
    RIDGE_TRY(d->ops->alloc(d, bytes, &p));
    RIDGE_TRY(d->ops->upload(d, p, numbers, bytes));
    RIDGE_TRY(d->ops->finish(d));
    RIDGE_TRY(ridge_all_reduce_start(k->cx, k->world, RIDGE_ELEMENT_F32,
                                     RIDGE_REDUCE_MAX, n, p, p, &pending));
    RIDGE_TRY(ridge_comm_wait(k->cx, &pending));
    RIDGE_TRY(d->ops->download(d, numbers, p, bytes));
    d->ops->release(d, p);
    return RIDGE_OK;
}

/* The ranks that differ in these axes alone. */
static ridge_status group_of(const ridge__checker *k, unsigned axes, ridge_comm **out)
{
    const ridge_mesh *mesh = &k->m->partition->mesh;
    int list[RIDGE_MESH_AXIS_MAX], n = 0;
    for (int a = 0; a < mesh->n; a++) {
        if (axes >> a & 1u)
            list[n++] = a;
    }
    return ridge_comm_axes(k->cx, k->world, mesh, list, n, out);
}

/* ---- comparing ----------------------------------------------------------------------
 */

/* The neighbour among those that should hold the same. */
static ridge_status compare_replicas(const ridge__checker *k, unsigned used,
                                     const ridge__value *v, ridge__held_check *out)
{
    ridge__device *d = k->m->device;
    ridge_arena *scratch = ridge_ctx_scratch(k->cx);
    const size_t bytes = ridge__value_bytes(v);
    ridge_comm *group;
    ridge_pending pending;
    void *p;
    RIDGE_TRY(group_of(k, ~used, &group));
    char *own = ridge_new(scratch, char, bytes),
         *other = ridge_new(scratch, char, bytes);
    if (!own || !other)
        return ridge_fail_nomem(k->cx);
    RIDGE_TRY(d->ops->alloc(d, bytes, &p));
    RIDGE_TRY(ridge_permute_start(k->cx, group, ridge__element_of(v->dtype),
                                  v->elements, 1, v->p, p, &pending));
    RIDGE_TRY(ridge_comm_wait(k->cx, &pending));
    RIDGE_TRY(d->ops->download(d, own, v->p, bytes));
    RIDGE_TRY(d->ops->download(d, other, p, bytes));
    d->ops->release(d, p);
    out->is_unlike = memcmp(own, other, bytes) != 0;
    return RIDGE_OK;
}

/* The numbers, or what the partial sums of a group come to. */
static ridge_status read_sums(const ridge__checker *k, unsigned partial,
                              const ridge__value *v, double **out)
{
    ridge__device *d = k->m->device;
    ridge__value sum = *v;
    ridge_comm *group;
    ridge_pending pending;
    if (partial == 0)
        return ridge__held_read(k, v, out);
    RIDGE_TRY(group_of(k, partial, &group));
    RIDGE_TRY(d->ops->alloc(d, ridge__value_bytes(v), &sum.p));
    RIDGE_TRY(ridge_all_reduce_start(k->cx, group, ridge__element_of(v->dtype),
                                     RIDGE_REDUCE_SUM, v->elements, v->p, sum.p,
                                     &pending));
    RIDGE_TRY(ridge_comm_wait(k->cx, &pending));
    RIDGE_TRY(ridge__held_read(k, &sum, out));
    d->ops->release(d, sum.p);
    return RIDGE_OK;
}

static void compare_numbers(const ridge__checker *k, int tensor, int64_t n,
                            const double *numbers, const double *whole,
                            ridge__held_check *out)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t place = ridge__whole_place(k->m, tensor, i);
        if (place < 0) {
            out->has_dirt = out->has_dirt || fpclassify(numbers[i]) != FP_ZERO;
            continue;
        }
        const double error = fabs(numbers[i] - whole[place]);
        out->error = isfinite(error) ? fmax(out->error, error) : HUGE_VAL;
    }
}

static ridge_status compare(const ridge__checker *k, int tensor, const ridge__value *v,
                            const double *whole, ridge__held_check *out)
{
    const ridge_sharding *s = &k->m->partition->shardings[tensor];
    double *numbers = NULL;
    *out = (ridge__held_check){.error = 0.0};
    RIDGE_TRY(k->m->device->ops->finish(k->m->device));
    RIDGE_TRY(compare_replicas(k, ridge_sharding_axes(s), v, out));
    RIDGE_TRY(read_sums(k, s->partial, v, &numbers));
    assert(numbers != NULL);
    compare_numbers(k, tensor, v->elements, numbers, whole, out);
    return RIDGE_OK;
}

ridge_status ridge__held_compare(const ridge__checker *k, int tensor,
                                 const ridge__value *v, const double *whole,
                                 ridge__held_check *out)
{
    ridge_arena *scratch = ridge_ctx_scratch(k->cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    const ridge_status st = compare(k, tensor, v, whole, out);
    ridge_arena_rewind(scratch, mark);
    return st;
}
