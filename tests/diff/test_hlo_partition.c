/*
 * Modules cut over meshes against the same ones whole, on numbers: with arguments,
 * intermediates and results lying in any way, on meshes that need not divide anything.
 * Padding is filled with what would spoil every sum.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo_machine.h"
#include "hlo_sharded.h"
#include "ridge/profile_hlo_partition.h"

#include <math.h>
#include <string.h>

/* ---- numbers ----------------------------------------------------------------------
 */

static machine_value random_array(ridge_ctx *cx, const ridge_hlo_shape *shape,
                                  seeded *at)
{
    machine_value v = machine_array(cx, shape->type, shape->n, shape->dims);
    for (int64_t p = 0; p < v.size; p++)
        v.data[p] = shape->type == RIDGE_HLO_F32 ? (double)seeded_pick(at, -40, 40) / 16
                                                 : (double)seeded_pick(at, -1, 7);
    return v;
}

/* Where a place of a device's part lies in the whole. @return false: in the padding */
static bool find_whole(const ridge_mesh *mesh, const ridge_sharding *s, int device,
                       const int64_t *sizes, int64_t *at)
{
    for (int d = 0; d < s->n_dims; d++) {
        int64_t chunk = sizes[d], base = 0, end = sizes[d];
        for (int k = 0; k < s->dims[d].n; k++) {
            int64_t stride = 1;
            const int axis = s->dims[d].axes[k];
            for (int a = axis + 1; a < mesh->n; a++)
                stride *= mesh->axes[a].size;
            const int64_t digit = device / stride % mesh->axes[axis].size;
            chunk = ridge_ceil_div(chunk, mesh->axes[axis].size);
            base += digit * chunk;
            end = base + chunk < end ? base + chunk : end;
        }
        at[d] += base;
        if (at[d] >= end)
            return false;
    }
    return true;
}

static void index_of(const machine_value *v, int64_t place, int64_t *out)
{
    for (int d = v->n - 1; d >= 0; d--) {
        out[d] = place % v->dims[d];
        place /= v->dims[d];
    }
}

static int64_t place_in(const int64_t *dims, int n, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < n; d++)
        at = at * dims[d] + index[d];
    return at;
}

/* A device's part, with what would be noticed in its padding. */
static machine_value part_of(ridge_ctx *cx, const ridge_mesh *mesh,
                             const ridge_hlo_laid *laid, const machine_value *whole,
                             int device)
{
    int64_t local[8], at[8];
    for (int d = 0; d < whole->n; d++)
        local[d] = ridge_dim_local(mesh, &laid->lies.dims[d], whole->dims[d]);
    machine_value v = machine_array(cx, whole->type, whole->n, local);
    for (int64_t p = 0; p < v.size; p++) {
        index_of(&v, p, at);
        v.data[p] = find_whole(mesh, &laid->lies, device, whole->dims, at)
                        ? whole->data[place_in(whole->dims, whole->n, at)]
                    : ridge_hlo_type_is_float(whole->type) ? (double)NAN
                                                           : -12345;
    }
    return v;
}

static void compare_part(const ridge_mesh *mesh, const ridge_hlo_laid *laid, int device,
                         const machine_value *whole, const machine_value *part)
{
    int64_t at[8];
    for (int64_t p = 0; p < part->size; p++) {
        index_of(part, p, at);
        if (!find_whole(mesh, &laid->lies, device, whole->dims, at))
            continue;
        const double want = whole->data[place_in(whole->dims, whole->n, at)];
        const double got = part->data[p];
        if (fabs(want - got) <= 1e-9 * (1 + fabs(want)) || (isinf(want) && want == got))
            continue;
        print_message("%s, device %d, place %d: %g instead of %g\n", laid->name, device,
                      (int)p, got, want);
        fail();
    }
}

/* ---- one case ---------------------------------------------------------------------
 */

static const machine_value *result_at(const machine_value *v, int k)
{
    return v->n_parts >= 0 ? &v->parts[k] : v;
}

static void run_both(ridge_ctx *cx, const ridge_hlo_module *whole,
                     const ridge_hlo_partition *p, seeded *at)
{
    const int devices = (int)ridge_mesh_size(&p->mesh);
    machine_value wholes[8], *whole_args[8], *part_args[8];
    machine_value want, got[HLO_MACHINE_DEVICES_MAX];
    const ridge_hlo_computation *c = &whole->computations[whole->entry];
    int n = 0;
    for (int k = 0; k < c->n; k++) {
        if (c->instructions[k].code != RIDGE_HLO_OP_PARAMETER)
            continue;
        wholes[n] = random_array(cx, &c->instructions[k].shape, at);
        whole_args[n] = &wholes[n];
        part_args[n] = ridge_new(ridge_ctx_arena(cx), machine_value, (size_t)devices);
        for (int d = 0; d < devices; d++)
            part_args[n][d] = part_of(cx, &p->mesh, &p->laid[n], &wholes[n], d);
        n++;
    }
    const char *fault = machine_run(cx, whole, 1, whole_args, &want);
    assert_null(fault);
    fault = machine_run(cx, p->module, devices, part_args, got);
    assert_null(fault);
    for (int k = n; k < p->n_laid; k++) {
        for (int d = 0; d < devices; d++)
            compare_part(&p->mesh, &p->laid[k], d, result_at(&want, k - n),
                         result_at(&got[d], k - n));
    }
}

static void run_case(int module, unsigned seed)
{
    ridge_ctx *cx = ridge_ctx_open();
    seeded at = seed * 1000003U + (unsigned)module;
    ridge_hlo_file file;
    ridge_hlo_partition p;
    const ridge_str text = hlo_sharded_text(cx, module, &at);
    if (ridge_hlo_parse(cx, text, "test", &file) != RIDGE_OK)
        fail_msg("%s\n%.*s", ridge_ctx_message(cx), (int)text.n, text.p);
    if (!ridge_hlo_is_sharded(&file.modules[0])) {
        ridge_ctx_close(cx);
        return;
    }
    if (ridge_hlo_partition_build(cx, &file.modules[0], NULL, &p) != RIDGE_OK)
        fail_msg("module %d, seed %u: %s\n%.*s", module, seed, ridge_ctx_message(cx),
                 (int)text.n, text.p);
    print_message("module %d, seed %u\n", module, seed);
    run_both(cx, &file.modules[0], &p, &at);
    ridge_ctx_close(cx);
}

static void test_values(void **state)
{
    (void)state;
    for (int module = 0; module < HLO_SHARDED_COUNT; module++) {
        for (unsigned seed = 0; seed < 60; seed++)
            run_case(module, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
