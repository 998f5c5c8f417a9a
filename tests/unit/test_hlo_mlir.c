/* StableHLO text: statements in each form, loops, shardings, and what is wrong where.
 */
#include "near.h"

#include "ridge/profile_hlo_partition.h"
#include "ridge/profile_hlo_study.h"

#include <stdio.h>
#include <string.h>

typedef struct world {
    ridge_ctx *cx;
    ridge_hlo_file file;
} world;

static int set_up(void **state)
{
    static world w;
    w.cx = ridge_ctx_open();
    *state = &w;
    return w.cx == NULL;
}

static int tear_down(void **state)
{
    ridge_ctx_close(((world *)*state)->cx);
    return 0;
}

static const ridge_hlo_module *read(world *w, const char *text)
{
    if (ridge_hlo_parse(w->cx, ridge_str_of(text), "t.mlir", &w->file) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(w->cx));
    return &w->file.modules[0];
}

static ridge_hlo_study study(world *w, const char *text)
{
    const ridge_hlo_request request = {.slice = NULL};
    ridge_hlo_study s = {.slice = NULL};
    if (ridge_hlo_study_find(w->cx, read(w, text), &request, &s) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(w->cx));
    return s;
}

static void products_in_each_form(void **state)
{
    static const char *const dots[] = {
        "%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], "
        "contracting_dims "
        "= [2] x [1] :\n    (tensor<4x8x16xf32>, tensor<4x16x2xf32>) -> "
        "tensor<4x8x2xf32>",
        "%0 = \"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = "
        "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
        "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : "
        "(tensor<4x8x16xf32>, tensor<4x16x2xf32>) -> tensor<4x8x2xf32>",
    };
    for (size_t k = 0; k < RIDGE_COUNT_OF(dots); k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "func.func @main(%%a: tensor<4x8x16xf32>, %%b: tensor<4x16x2xf32>) -> "
                 "tensor<4x8x2xf32> {\n  %s\n  return %%0 : tensor<4x8x2xf32>\n}\n",
                 dots[k]);
        const ridge_hlo_study s = study(*state, text);
        assert_near(s.matmul_flops, 2.0 * 4 * 8 * 16 * 2, 0);
    }
}

static void plain_dots_contract_last_with_first(void **state)
{
    const ridge_hlo_study s = study(
        *state, "func.func @f(%a: tensor<8x16xbf16>, %b: tensor<16x4xbf16>) -> "
                "tensor<8x4xbf16> {\n  %0 = stablehlo.dot %a, %b : (tensor<8x16xbf16>, "
                "tensor<16x4xbf16>) -> tensor<8x4xbf16>\n  return %0 : "
                "tensor<8x4xbf16>\n}");
    assert_near(s.matmul_flops, 2.0 * 8 * 16 * 4, 0);
}

static void types_of_all_kinds(void **state)
{
    const ridge_hlo_module *m = read(
        *state, "func.func private @g(tensor<4xf32>) -> tensor<4xf32>\n"
                "func.func @f(%a: tensor<?x4xf8E4M3FN>, %b: tensor<i1>, %c: "
                "tensor<2x3xui8, #enc<[1, 2]>>, %d: !stablehlo.token, %e: "
                "tensor<4x!quant.uniform<i8:f32, 0.1>>, %f: tensor<3xcomplex<f32>>) -> "
                "tensor<i1> {\n  return %b : tensor<i1>\n}");
    static const ridge_hlo_type want[] = {RIDGE_HLO_F8E4M3FN, RIDGE_HLO_PRED,
                                          RIDGE_HLO_U8,       RIDGE_HLO_TOKEN,
                                          RIDGE_HLO_S8,       RIDGE_HLO_C64};
    const ridge_hlo_instruction *i = m->computations[m->entry].instructions;
    for (size_t k = 0; k < RIDGE_COUNT_OF(want); k++)
        assert_int_equal(i[k].shape.type, want[k]);
    assert_int_equal(i[0].shape.dynamic, 1);
}

/* Ten rounds, told by the loop itself; what the body takes from outside too. */
static void loops_run_as_often_as_they_say(void **state)
{
    const ridge_hlo_study s = study(
        *state,
        "module @m {\n  func.func public @main(%x: tensor<64x64xf32>, %w: "
        "tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
        "    %c = stablehlo.constant dense<0> : tensor<i32>\n"
        "    %n = stablehlo.constant dense<10> : tensor<i32>\n"
        "    %0:2 = stablehlo.while(%i = %c, %y = %x) : tensor<i32>, "
        "tensor<64x64xf32>\n"
        "     cond {\n      %1 = stablehlo.compare  LT, %i, %n,  SIGNED : "
        "(tensor<i32>, "
        "tensor<i32>) -> tensor<i1>\n      stablehlo.return %1 : tensor<i1>\n"
        "    } do {\n      %one = stablehlo.constant dense<1> : tensor<i32>\n"
        "      %1 = func.call @step(%y, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) "
        "-> "
        "tensor<64x64xf32>\n      %2 = stablehlo.add %i, %one : tensor<i32>\n"
        "      stablehlo.return %2, %1 : tensor<i32>, tensor<64x64xf32>\n    }\n"
        "    return %0#1 : tensor<64x64xf32>\n  }\n"
        "  func.func private @step(%y: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> "
        "tensor<64x64xf32> {\n    %0 = stablehlo.dot_general %y, %w, contracting_dims "
        "= "
        "[1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n"
        "    return %0 : tensor<64x64xf32>\n  }\n}\n");
    assert_int_equal(s.n_unknown_loops, 0);
    assert_near(s.matmul_flops, 10 * 2.0 * 64 * 64 * 64, 0);
}

static void results_may_have_names_of_their_own(void **state)
{
    const ridge_hlo_module *m =
        read(*state, "func.func @f(%a: tensor<2xui64>) -> tensor<4xui32> {\n"
                     "  %state, %out = stablehlo.rng_bit_generator %a, algorithm = "
                     "DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)\n"
                     "  %0 = stablehlo.add %out, %out : tensor<4xui32>\n"
                     "  return %0 : tensor<4xui32>\n}");
    assert_int_equal(m->computations[0].n, 5);
}

static void functions_are_modules_main_first(void **state)
{
    world *w = *state;
    read(w, "func.func @a(%x: tensor<f32>) -> tensor<f32> {\n  return %x : "
            "tensor<f32>\n}\nfunc.func @main(%x: tensor<f32>) -> tensor<f32> {\n  "
            "return %x : tensor<f32>\n}\n// -----\nfunc.func @b(%x: tensor<f32>) -> "
            "tensor<f32> {\n  return %x : tensor<f32>\n}\n");
    assert_int_equal(w->file.n_modules, 3);
    assert_true(ridge_str_is(w->file.modules[0].name, "main"));
    assert_true(ridge_str_is(w->file.modules[2].name, "b"));
}

static void faults_name_their_place(void **state)
{
    world *w = *state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"func.func @f(%a: tensor<4xq7>) {\n}", "t.mlir:1:27: an element type such as"},
        {"func.func @f(%a: tensor<4xf32>) {\n  %0 = stablehlo.add %a, %z : "
         "tensor<4xf32>\n  return\n}",
         "t.mlir:2:26: value '%z' is not defined before it is used"},
        {"func.func @f(%a: tensor<4xf32>) {\n}", "a function computes nothing"},
        {"func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : "
         "tensor<4xf32>\n",
         "'}' is wanted behind a function"},
        {"stablehlo.x", "func.func, module or sdy.mesh is wanted"},
    };
    for (size_t k = 0; k < RIDGE_COUNT_OF(rows); k++) {
        const ridge_status st =
            ridge_hlo_parse(w->cx, ridge_str_of(rows[k].text), "t.mlir", &w->file);
        if (k == 2 && st == RIDGE_OK) /* arguments alone are something */
            continue;
        assert_int_equal(st, RIDGE_E_PARSE);
        if (!strstr(ridge_ctx_message(w->cx), rows[k].message))
            fail_msg("'%s' is not in '%s'", rows[k].message, ridge_ctx_message(w->cx));
    }
}

/* ---- programs ---------------------------------------------------------------------
 */

static const char mlp[] =
    "sdy.mesh @other = <[\"q\"=2]>\n"
    "sdy.mesh @mesh = <[\"data\"=2, \"one\"=1, \"model\"=4]>\n"
    "func.func @main(%x: tensor<8x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, "
    "[{\"data\"}, {}]>}, %w: tensor<512x2048xbf16> {sdy.sharding = "
    "#sdy.sharding<@mesh, [{}, {\"model\", \"one\"}]>}, %v: tensor<2048x512xbf16> "
    "{sdy.sharding = #sdy.sharding<@mesh, [{\"model\", ?}, {?}]>}) -> "
    "(tensor<8x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{\"data\"}, {}]>}) {\n"
    "  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : "
    "(tensor<8x512xbf16>, tensor<512x2048xbf16>) -> tensor<8x2048xbf16>\n"
    "  %1 = stablehlo.tanh %0 : tensor<8x2048xbf16>\n"
    "  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : "
    "(tensor<8x2048xbf16>, tensor<2048x512xbf16>) -> tensor<8x512xbf16>\n"
    "  return %2 : tensor<8x512xbf16>\n}\n";

static ridge_hlo_partition partition(world *w, const ridge_hlo_module *m,
                                     const ridge_mesh *mesh)
{
    ridge_hlo_partition p = {.n_steps = 0};
    if (ridge_hlo_partition_build(w->cx, m, mesh, &p) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(w->cx));
    return p;
}

/* Megatron's feed-forward: one all-reduce over the axis that cuts the width. */
static void shardings_become_collectives(void **state)
{
    world *w = *state;
    const ridge_hlo_partition p = partition(w, read(w, mlp), NULL);
    assert_int_equal(p.mesh.n, 2); /* axes of one device are left out */
    assert_int_equal(p.n_steps, 1);
    assert_int_equal(p.steps[0].kind, RIDGE_STEP_ALL_REDUCE);
    assert_int_equal(ridge_mesh_size(&p.mesh), p.module->partitions);
}

static void meshes_of_other_sizes(void **state)
{
    world *w = *state;
    ridge_mesh mesh;
    ridge_hlo_partition p;
    assert_int_equal(ridge_mesh_parse(w->cx, "model=16", &mesh), RIDGE_OK);
    p = partition(w, read(w, mlp), &mesh);
    assert_int_equal(ridge_mesh_size(&p.mesh), 32);
    assert_int_equal(ridge_mesh_parse(w->cx, "q=16", &mesh), RIDGE_OK);
    assert_int_equal(ridge_hlo_partition_build(w->cx, &w->file.modules[0], &mesh, &p),
                     RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(w->cx), "has no axis 'q'"));
}

/* HLO text names no axes: they are the factors between all cuts. */
static void device_arrays_become_a_mesh(void **state)
{
    world *w = *state;
    static const char *const shardings[] = {"[4,1,2]<=[2,4]T(1,0)",
                                            "[4,1,2]0,4,1,5,2,6,3,7"};
    for (int k = 0; k < 2; k++) {
        char text[512];
        snprintf(text, sizeof text,
                 "HloModule m, num_partitions=8\nENTRY e {\n"
                 "  x = bf16[64,128] parameter(0), sharding={devices=%s "
                 "last_tile_dim_replicate}\n"
                 "  w = bf16[128,256] parameter(1), sharding={devices=[1,2,4]<=[8] "
                 "last_tile_dim_replicate}\n"
                 "  ROOT y = bf16[64,256] dot(x, w), lhs_contracting_dims={1}, "
                 "rhs_contracting_dims={0}\n}\n",
                 shardings[k]);
        const ridge_hlo_partition p = partition(w, read(w, text), NULL);
        assert_int_equal(p.mesh.n, 2);
        assert_int_equal(p.mesh.axes[0].size, 2);
        assert_int_equal(p.mesh.axes[1].size, 4);
        assert_int_equal(p.n_steps, 0); /* rows by one, columns by the other */
        assert_string_equal(p.laid[2].local_shape, "bf16[16,128]");
    }
}

static void what_cannot_be_cut_is_told(void **state)
{
    world *w = *state;
    ridge_hlo_partition p;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"e {\n  x = f32[4,4] parameter(0)\n  ROOT y = f32[4,4] negate(x)\n}",
         "no value of the module says how it lies"},
        {"e {\n  x = f32[4,8] parameter(0), sharding={devices=[2,1]<=[2]}\n  ROOT y = "
         "f32[8,8] all-gather(x), replica_groups={{0,1}}, dimensions={0}\n}",
         "line 3: the module has its collectives already (all-gather)"},
        {"e {\n  x = f32[4,8] parameter(0), sharding={devices=[2,2]0,1,3,2}\n  ROOT y "
         "= "
         "f32[4,8] negate(x)\n}",
         "an order of their own"},
    };
    for (size_t k = 0; k < RIDGE_COUNT_OF(rows); k++) {
        const ridge_hlo_module *m = read(w, rows[k].text);
        const ridge_status st = ridge_hlo_partition_build(w->cx, m, NULL, &p);
        assert_true(st == RIDGE_E_ARG || st == RIDGE_E_PARSE);
        if (!strstr(ridge_ctx_message(w->cx), rows[k].message))
            fail_msg("'%s' is not in '%s'", rows[k].message, ridge_ctx_message(w->cx));
    }
}

/* A sort needs its dim entirely: that is done, and told. */
static void what_is_gathered_is_told(void **state)
{
    world *w = *state;
    const ridge_hlo_module *m =
        read(w, "%less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = "
                "pred[] compare(a, b), direction=LT }\nENTRY e {\n  x = f32[4,8] "
                "parameter(0), sharding={devices=[1,2]<=[2]}\n  ROOT y = f32[4,8] "
                "sort(x), dimensions={1}, to_apply=%less\n}");
    const ridge_hlo_partition p = partition(w, m, NULL);
    assert_int_equal(p.n_gathered, 1);
    assert_string_equal(p.gathered[0].what, "sort works along dim 1 of what it takes");
    assert_int_equal(p.steps[0].kind, RIDGE_STEP_ALL_GATHER);
}

/* "%s" stands for the groups of the sum over "model". */
static const char manual[] =
    "sdy.mesh @mesh = <[\"data\"=2, \"model\"=2]>\n"
    "func.func public @main(%%arg0: tensor<8x16xf32> {sdy.sharding = "
    "#sdy.sharding<@mesh, [{\"data\"}, {}]>}, %%arg1: tensor<16x4xf32>) -> "
    "tensor<8x4xf32> {\n"
    "  %%0 = sdy.manual_computation(%%arg0, %%arg1) in_shardings=[<@mesh, [{}, "
    "{\"model\"}]>, <@mesh, [{\"model\"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] "
    "manual_axes={\"model\"} (%%arg2: tensor<8x8xf32>, %%arg3: tensor<8x4xf32>) {\n"
    "    %%2 = stablehlo.dot_general %%arg2, %%arg3, contracting_dims = [1] x [0] : "
    "(tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>\n"
    "    %%3 = \"stablehlo.all_reduce\"(%%2) <{channel_handle = "
    "#stablehlo.channel_handle<handle = 7, type = 1>, replica_groups = %s, "
    "use_global_device_ids}> ({\n    ^bb0(%%arg4: tensor<f32>, %%arg5: tensor<f32>):\n"
    "      %%4 = stablehlo.add %%arg4, %%arg5 : tensor<f32>\n"
    "      stablehlo.return %%4 : tensor<f32>\n    }) : (tensor<8x4xf32>) -> "
    "tensor<8x4xf32>\n    sdy.return %%3 : tensor<8x4xf32>\n"
    "  } : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>\n"
    "  return %%0 : tensor<8x4xf32>\n}\n";

static const ridge_hlo_module *read_manual(world *w, const char *groups)
{
    const char *text = ridge_sprintf(ridge_ctx_arena(w->cx), manual, groups);
    assert_non_null(text);
    return read(w, text);
}

static void groups_in_each_form(void **state)
{
    world *w = *state;
    static const struct {
        const char *text;
        int64_t ranks, groups, stride;
    } rows[] = {
        {"dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>", 2, 2, 1},
        {"dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>", 2, 2, 2},
        {"dense<"
         "\"0x000000000000000002000000000000000100000000000000030000\">"
         " : tensor<2x2xi64>",
         4, 1, 1}, /* a blob that is cut says nothing: all devices */
        {"dense<\"0x0000000000000000020000000000000001000000000000000300000000000000\">"
         " : tensor<2x2xi64>",
         2, 2, 2},
        {"dense<0> : tensor<1x1xi64>", 1, 1, 0},
        {"dense<> : tensor<0x0xi64>", 4, 1, 1},
        {"#stablehlo.replica_group_mesh_axes<mesh_name = @mesh, axes = "
         "[#stablehlo.axis_ref<name = \"data\">]>",
         2, 2, 2},
    };
    for (size_t k = 0; k < RIDGE_COUNT_OF(rows); k++) {
        const ridge_hlo_request request = {.slice = NULL};
        ridge_hlo_study study;
        const ridge_hlo_collective *found = NULL;
        const ridge_hlo_module *m = read_manual(w, rows[k].text);
        assert_int_equal(ridge_hlo_study_find(w->cx, m, &request, &study), RIDGE_OK);
        for (int op = 0; op < study.n_ops; op++)
            found = study.ops[op].collective ? study.ops[op].collective : found;
        assert_non_null(found);
        assert_int_equal(found->ranks, rows[k].ranks);
        assert_int_equal(found->n_groups, rows[k].groups);
        assert_int_equal(found->stride, rows[k].stride);
    }
}

/* Shapes within are one device's by the axis that is said; over the other the arrays
 * stay cut, and nothing is gathered. */
static void manual_computations_keep_other_axes(void **state)
{
    world *w = *state;
    ridge_mesh mesh;
    ridge_hlo_partition p =
        partition(w, read_manual(w, "dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"), NULL);
    assert_int_equal(p.n_steps, 0);
    assert_string_equal(p.laid[0].local_shape, "f32[4,16]");
    assert_string_equal(p.laid[1].local_shape, "f32[8,4]");
    assert_string_equal(p.laid[2].local_shape, "f32[4,4]");
    assert_int_equal(ridge_mesh_parse(w->cx, "model=4", &mesh), RIDGE_OK);
    assert_int_equal(ridge_hlo_partition_build(w->cx, p.whole, &mesh, &p), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(w->cx), "made for other sizes"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(products_in_each_form),
        TEST(plain_dots_contract_last_with_first),
        TEST(types_of_all_kinds),
        TEST(loops_run_as_often_as_they_say),
        TEST(results_may_have_names_of_their_own),
        TEST(functions_are_modules_main_first),
        TEST(faults_name_their_place),
        TEST(shardings_become_collectives),
        TEST(meshes_of_other_sizes),
        TEST(device_arrays_become_a_mesh),
        TEST(what_cannot_be_cut_is_told),
        TEST(what_is_gathered_is_told),
        TEST(groups_in_each_form),
        TEST(manual_computations_keep_other_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
