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
#include "ridge/profile_hlo_partition.h"
#include "seeded.h"

#include <math.h>
#include <string.h>

#define ADD                                                                            \
    "%add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, "  \
    "b) }\n"
#define MAX                                                                            \
    "%max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] "         \
    "maximum(a, b) }\n"

/* "@2" stands for a sharding of an array of two dims, or none. */
static const char *const modules[] = {
    /* a feed-forward layer with a residual */
    "ENTRY %main {\n x = f32[6,10] parameter(0)@2\n w = f32[10,8] parameter(1)@2\n"
    " v = f32[8,10] parameter(2)@2\n h = f32[6,8] dot(x, w), lhs_contracting_dims={1}, "
    "rhs_contracting_dims={0}\n z = f32[] constant(0)\n zz = f32[6,8] broadcast(z), "
    "dimensions={}\n r = f32[6,8] maximum(h, zz)\n c = f32[6,8] custom-call(r), "
    "custom_call_target=\"Sharding\"@2\n o = f32[6,10] dot(c, v), "
    "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n ROOT y = f32[6,10] add(x, o) "
    "}\n",
    /* attention: heads split off and merged again, a softmax */
    ADD MAX
    "ENTRY %main {\n x = f32[2,5,12] parameter(0)@3\n w = f32[12,12] parameter(1)@2\n"
    " q = f32[2,5,12] dot(x, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}\n"
    " h = f32[2,5,4,3] reshape(q)\n t = f32[2,4,5,3] transpose(h), "
    "dimensions={0,2,1,3}\n s = f32[2,4,5,5] dot(t, t), lhs_batch_dims={0,1}, "
    "rhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_contracting_dims={3}\n"
    " c = f32[2,4,5,5] custom-call(s), custom_call_target=\"Sharding\"@4\n"
    " low = f32[] constant(-inf)\n m = f32[2,4,5] reduce(c, low), dimensions={3}, "
    "to_apply=%max\n mm = f32[2,4,5,5] broadcast(m), dimensions={0,1,2}\n"
    " d = f32[2,4,5,5] subtract(c, mm)\n e = f32[2,4,5,5] exponential(d)\n"
    " z = f32[] constant(0)\n u = f32[2,4,5] reduce(e, z), dimensions={3}, "
    "to_apply=%add\n uu = f32[2,4,5,5] broadcast(u), dimensions={0,1,2}\n"
    " p = f32[2,4,5,5] divide(e, uu)\n o = f32[2,4,5,3] dot(p, t), "
    "lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, "
    "rhs_contracting_dims={2}\n b = f32[2,5,4,3] transpose(o), dimensions={0,2,1,3}\n"
    " ROOT y = f32[2,5,12] reshape(b) }\n",
    /* a table looked up, and its gradient */
    ADD
    "ENTRY %main {\n t = f32[7,6] parameter(0)@2\n i = s32[4,3] parameter(1)@2\n"
    " g = f32[4,3,6] parameter(2)@3\n j = s32[4,3,1] reshape(i)\n"
    " e = f32[4,3,6] gather(t, j), offset_dims={2}, collapsed_slice_dims={0}, "
    "start_index_map={0}, index_vector_dim=2, slice_sizes={1,6}\n"
    " c = f32[4,3,6] custom-call(e), custom_call_target=\"Sharding\"@3\n"
    " d = f32[7,6] scatter(t, j, g), update_window_dims={2}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=2, to_apply=%add\n"
    " k = f32[7,6] custom-call(d), custom_call_target=\"Sharding\"@2\n"
    " ROOT y = (f32[4,3,6], f32[7,6]) tuple(c, k) }\n",
    /* two indices a place, and windows that are a part */
    ADD "ENTRY %main {\n t = f32[5,6,4] parameter(0)@3\n i = s32[3,2] parameter(1)@2\n"
        " e = f32[3,4] gather(t, i), offset_dims={1}, collapsed_slice_dims={0,1}, "
        "start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1,4}\n"
        " d = f32[5,6,4] scatter(t, i, e), update_window_dims={1}, "
        "inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, "
        "index_vector_dim=1, to_apply=%add\n w = f32[3,2,6,4] gather(t, i), "
        "offset_dims={1,2,3}, collapsed_slice_dims={}, start_index_map={0,1}, "
        "index_vector_dim=1, slice_sizes={2,6,4}\n"
        " ROOT y = (f32[3,4], f32[5,6,4], f32[3,2,6,4]) tuple(e, d, w) }\n",
    /* layers in a loop, weights stacked */
    "%body { s = (s32[], f32[4,6], f32[3,6,6]) parameter(0)\n i = s32[] "
    "get-tuple-element(s), index=0\n x = f32[4,6] get-tuple-element(s), index=1\n"
    " w = f32[3,6,6] get-tuple-element(s), index=2\n z = s32[] constant(0)\n"
    " o = f32[1,6,6] dynamic-slice(w, i, z, z), dynamic_slice_sizes={1,6,6}\n"
    " m = f32[6,6] reshape(o)\n h = f32[4,6] dot(x, m), lhs_contracting_dims={1}, "
    "rhs_contracting_dims={0}\n t = f32[4,6] tanh(h)\n c = f32[4,6] custom-call(t), "
    "custom_call_target=\"Sharding\"@2\n one = s32[] constant(1)\n j = s32[] add(i, "
    "one)\n ROOT r = (s32[], f32[4,6], f32[3,6,6]) tuple(j, c, w) }\n"
    "%cond { s = (s32[], f32[4,6], f32[3,6,6]) parameter(0)\n i = s32[] "
    "get-tuple-element(s), index=0\n n = s32[] constant(3)\n ROOT p = pred[] "
    "compare(i, n), direction=LT }\n"
    "ENTRY %main {\n x = f32[4,6] parameter(0)@2\n w = f32[3,6,6] parameter(1)@3\n"
    " z = s32[] constant(0)\n s = (s32[], f32[4,6], f32[3,6,6]) tuple(z, x, w)\n"
    " l = (s32[], f32[4,6], f32[3,6,6]) while(s), condition=%cond, body=%body\n"
    " ROOT y = f32[4,6] get-tuple-element(l), index=1 }\n",
    /* a cache written in place, parts taken and put together */
    "ENTRY %main {\n k = f32[7,4] parameter(0)@2\n u = f32[1,4] parameter(1)@2\n"
    " i = s32[] parameter(2)\n z = s32[] constant(0)\n"
    " n = f32[7,4] dynamic-update-slice(k, u, i, z)\n"
    " a = f32[3,4] slice(n), slice={[1:4], [0:4]}\n b = f32[4,4] slice(n), "
    "slice={[0:7:2], [0:4]}\n c = f32[7,4] concatenate(a, b), dimensions={0}\n"
    " f = f32[] constant(2.5)\n p = f32[9,5] pad(c, f), padding=1_1x0_1\n"
    " r = f32[9,5] reverse(p), dimensions={0}\n o = s32[9,5] iota(), iota_dimension=0\n"
    " ii = s32[9,5] broadcast(i), dimensions={}\n q = pred[9,5] compare(o, ii), "
    "direction=LE\n g = f32[] constant(0)\n gg = f32[9,5] broadcast(g), dimensions={}\n"
    " s = f32[9,5] select(q, r, gg)\n t = f32[9,5] custom-call(s), "
    "custom_call_target=\"Sharding\"@2\n ROOT y = (f32[7,4], f32[9,5]) tuple(n, t) }\n",
    /* sums that begin with something, extremes, places of extremes, order */
    ADD MAX
    "%mul { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] "
    "multiply(a,"
    " b) }\n"
    "%arg { a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n"
    " j = s32[] parameter(3)\n p = pred[] compare(a, b), direction=GE\n v = f32[] "
    "select(p, a, b)\n k = s32[] select(p, i, j)\n ROOT r = (f32[], s32[]) tuple(v, k) "
    "}\n%less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n i = s32[] "
    "parameter(2)\n j = s32[] parameter(3)\n ROOT r = pred[] compare(a, b), "
    "direction=LT }\n"
    "ENTRY %main {\n x = f32[5,7] parameter(0)@2\n c3 = f32[] constant(3)\n"
    " s = f32[5] reduce(x, c3), dimensions={1}, to_apply=%add\n c1 = f32[] "
    "constant(1)\n"
    " m = f32[7] reduce(x, c1), dimensions={0}, to_apply=%mul\n low = f32[] "
    "constant(-inf)\n h = f32[] reduce(x, low), dimensions={0,1}, to_apply=%max\n"
    " o = s32[5,7] iota(), iota_dimension=1\n z = s32[] constant(0)\n"
    " a = (f32[5], s32[5]) reduce(x, o, low, z), dimensions={1}, to_apply=%arg\n"
    " k = s32[5] get-tuple-element(a), index=1\n"
    " t = (f32[5,7], s32[5,7]) sort(x, o), dimensions={1}, to_apply=%less\n"
    " v = f32[5,7] get-tuple-element(t), index=0\n w = s32[5,7] get-tuple-element(t), "
    "index=1\n ROOT y = (f32[5], f32[7], f32[], s32[5], f32[5,7], s32[5,7]) tuple(s, "
    "m, "
    "h, k, v, w) }\n",
    /* dims merged and split otherwise, branches, calls, copies of constants */
    "%left { x = f32[24] parameter(0)\n ROOT y = f32[24] negate(x) }\n"
    "%right { x = f32[24] parameter(0)\n ROOT y = f32[24] abs(x) }\n"
    "%twice { x = f32[4,6] parameter(0)\n ROOT y = f32[4,6] add(x, x) }\n"
    "ENTRY %main {\n x = f32[4,6] parameter(0)@2\n b = s32[] parameter(1)\n"
    " d = f32[4,6] call(x), to_apply=%twice\n m = f32[24] reshape(d)\n"
    " c = f32[24] custom-call(m), custom_call_target=\"Sharding\"@1\n"
    " z = s32[] constant(1)\n p = pred[] compare(b, z), direction=LE\n"
    " n = f32[24] conditional(p, c, m), true_computation=%left, "
    "false_computation=%right\n r = f32[2,12] reshape(n)\n q = f32[2,3,4] reshape(r)\n"
    " k = f32[4] constant({1, -2, 3, 0.5})\n kk = f32[2,3,4] broadcast(k), "
    "dimensions={2}\n s = f32[2,3,4] multiply(q, kk)\n t = f32[2,3,4] custom-call(s), "
    "custom_call_target=\"Sharding\"@3\n ROOT y = f32[4,3,2] transpose(t), "
    "dimensions={2,1,0} }\n",
};

typedef struct mesh_sizes {
    int x, y, z;
} mesh_sizes;

/* Some axes on some dims, each once; now and then a part of an axis. */
static void put_sharding(seeded *at, int rank, ridge_buf *out)
{
    static const char *const names[] = {"x", "y", "z"};
    int dim_of[3], order[3] = {0, 1, 2};
    if (seeded_pick(at, 0, 4) == 0)
        return;
    for (int a = 0; a < 3; a++) {
        dim_of[a] = (int)seeded_pick(at, -1, rank - 1);
        const int other = (int)seeded_pick(at, 0, 2), kept = order[a];
        order[a] = order[other];
        order[other] = kept;
    }
    ridge_buf_puts(out,
                   ", frontend_attributes={xla.sdy.sharding=\"#sdy.sharding<@mesh, [");
    for (int d = 0; d < rank; d++) {
        const char *comma = "";
        ridge_buf_puts(out, d ? ", {" : "{");
        for (int k = 0; k < 3; k++) {
            if (dim_of[order[k]] != d)
                continue;
            ridge_buf_printf(out, "%s\\\"%s\\\"", comma, names[order[k]]);
            comma = ", ";
        }
        if (seeded_pick(at, 0, 3) == 0)
            ridge_buf_printf(out, "%s?", comma);
        ridge_buf_puts(out, "}");
    }
    ridge_buf_puts(out, "]>\"}");
}

static ridge_str write_module(ridge_ctx *cx, const char *text, const mesh_sizes *mesh,
                              seeded *at)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_printf(&b,
                     "HloModule m, frontend_attributes={xla.sdy.meshes={mesh = "
                     "#sdy.mesh<[\"x\"=%d, \"y\"=%d, \"z\"=%d]>}}\n\n",
                     mesh->x, mesh->y, mesh->z);
    for (; *text; text++) {
        if (*text != '@') {
            ridge_buf_add(&b, (ridge_str){text, 1});
            continue;
        }
        text++;
        put_sharding(at, *text - '0', &b);
    }
    return (ridge_str){ridge_buf_text(&b), b.n};
}

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
    static const mesh_sizes meshes[] = {{2, 1, 1}, {2, 2, 1}, {3, 1, 2}, {2, 3, 2},
                                        {4, 1, 1}, {1, 8, 1}, {2, 2, 2}, {1, 3, 4}};
    ridge_ctx *cx = ridge_ctx_open();
    seeded at = seed * 1000003U + (unsigned)module;
    ridge_hlo_file file;
    ridge_hlo_partition p;
    const mesh_sizes *mesh = &meshes[seeded_pick(&at, 0, RIDGE_COUNT_OF(meshes) - 1)];
    const ridge_str text = write_module(cx, modules[module], mesh, &at);
    if (ridge_hlo_parse(cx, text, "test", &file) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
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
    for (int module = 0; module < (int)RIDGE_COUNT_OF(modules); module++) {
        for (unsigned seed = 0; seed < 60; seed++)
            run_case(module, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
