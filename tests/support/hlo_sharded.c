#include "hlo_sharded.h"

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

/* The same as StableHLO, with "!2" for a constraint that has to say something. */
static const char *const stable[] = {
    /* a scan over layers that takes its weights from outside, and an if */
    "func.func public @main(%arg0: tensor<4x6xf32>@2, %arg1: "
    "tensor<3x6x6xf32>@3, %arg2: tensor<i32>) -> (tensor<4x6xf32>@2) {\n"
    "  %c = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %c_0 = stablehlo.constant dense<3> : tensor<i32>\n"
    "  %0:2 = stablehlo.while(%iterArg = %c, %iterArg_1 = %arg0) : tensor<i32>, "
    "tensor<4x6xf32>\n"
    "  cond {\n"
    "    %5 = stablehlo.compare  LT, %iterArg, %c_0,  SIGNED : (tensor<i32>, "
    "tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %5 : tensor<i1>\n"
    "  } do {\n"
    "    %5 = stablehlo.dynamic_slice %arg1, %iterArg, %c, %c, sizes = [1, 6, 6] "
    ": (tensor<3x6x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> "
    "tensor<1x6x6xf32>\n"
    "    %6 = stablehlo.reshape %5 : (tensor<1x6x6xf32>) -> tensor<6x6xf32>\n"
    "    %7 = stablehlo.dot_general %iterArg_1, %6, contracting_dims = [1] x "
    "[0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xf32>, tensor<6x6xf32>) -> "
    "tensor<4x6xf32>\n"
    "    %8 = sdy.sharding_constraint %7 !2 : tensor<4x6xf32>\n"
    "    %9 = stablehlo.tanh %8 : tensor<4x6xf32>\n"
    "    %c_2 = stablehlo.constant dense<1> : tensor<i32>\n"
    "    %10 = stablehlo.add %iterArg, %c_2 : tensor<i32>\n"
    "    stablehlo.return %10, %9 : tensor<i32>, tensor<4x6xf32>\n"
    "  }\n"
    "  %1 = stablehlo.compare  EQ, %arg2, %c,  SIGNED : (tensor<i32>, "
    "tensor<i32>) -> tensor<i1>\n"
    "  %2 = \"stablehlo.if\"(%1) ({\n"
    "    %5 = stablehlo.negate %0#1 : tensor<4x6xf32>\n"
    "    stablehlo.return %5 : tensor<4x6xf32>\n"
    "  }, {\n"
    "    stablehlo.return %arg0 : tensor<4x6xf32>\n"
    "  }) : (tensor<i1>) -> tensor<4x6xf32>\n"
    "  %3 = call @twice(%2) : (tensor<4x6xf32>) -> tensor<4x6xf32>\n"
    "  return %3 : tensor<4x6xf32>\n"
    "}\n"
    "func.func private @twice(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {\n"
    "  %0 = stablehlo.add %arg0, %arg0 : tensor<4x6xf32>\n"
    "  return %0 : tensor<4x6xf32>\n"
    "}\n",
    /* a table looked up and written, places of extremes */
    "func.func public @main(%arg0: tensor<7x6xf32>@2, %arg1: tensor<4x3xi32>@2) "
    "-> (tensor<4x3xf32>, tensor<7x6xf32>, tensor<4xi32>) {\n"
    "  %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<4x3xi32>) "
    "-> tensor<4x3x1xi32>\n"
    "  %1 = \"stablehlo.gather\"(%arg0, %0) <{dimension_numbers = "
    "#stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], "
    "start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, "
    "slice_sizes = array<i64: 1, 6>}> : (tensor<7x6xf32>, tensor<4x3x1xi32>) -> "
    "tensor<4x3x6xf32>\n"
    "  %2 = sdy.sharding_constraint %1 !3 : tensor<4x3x6xf32>\n"
    "  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
    "  %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across "
    "dimensions = [2] : (tensor<4x3x6xf32>, tensor<f32>) -> tensor<4x3xf32>\n"
    "  %4 = \"stablehlo.scatter\"(%arg0, %0, %2) <{indices_are_sorted = false, "
    "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], "
    "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
    "index_vector_dim = 2>, unique_indices = false}> ({\n"
    "  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):\n"
    "    %20 = stablehlo.add %arg3, %arg4 : tensor<f32>\n"
    "    stablehlo.return %20 : tensor<f32>\n"
    "  }) : (tensor<7x6xf32>, tensor<4x3x1xi32>, tensor<4x3x6xf32>) -> "
    "tensor<7x6xf32>\n"
    "  %5 = stablehlo.iota dim = 1 : tensor<4x3xi32>\n"
    "  %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
    "  %c_1 = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %6:2 = stablehlo.reduce(%3 init: %cst_0), (%5 init: %c_1) across "
    "dimensions = [1] : (tensor<4x3xf32>, tensor<4x3xi32>, tensor<f32>, "
    "tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)\n"
    "   reducer(%arg3: tensor<f32>, %arg5: tensor<f32>) (%arg4: tensor<i32>, "
    "%arg6: tensor<i32>)  {\n"
    "    %20 = stablehlo.compare  GE, %arg3, %arg5,  FLOAT : (tensor<f32>, "
    "tensor<f32>) -> tensor<i1>\n"
    "    %21 = stablehlo.select %20, %arg3, %arg5 : tensor<i1>, tensor<f32>\n"
    "    %22 = stablehlo.select %20, %arg4, %arg6 : tensor<i1>, tensor<i32>\n"
    "    stablehlo.return %21, %22 : tensor<f32>, tensor<i32>\n"
    "  }\n"
    "  return %3, %4, %6#1 : tensor<4x3xf32>, tensor<7x6xf32>, tensor<4xi32>\n"
    "}\n",
    /* parts, order, a place written */
    "func.func public @main(%arg0: tensor<7x6xf32>@2, %arg1: tensor<i32>) -> "
    "(tensor<9x8xf32>@2) {\n"
    "  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
    "  %c = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %k = stablehlo.constant dense<[1.0, -2.0, 0.5, 4.0]> : tensor<4xf32>\n"
    "  %0 = stablehlo.slice %arg0 [1:7:2, 0:4] : (tensor<7x6xf32>) -> "
    "tensor<3x4xf32>\n"
    "  %1 = stablehlo.slice %arg0 [1:4, 2:6] : (tensor<7x6xf32>) -> "
    "tensor<3x4xf32>\n"
    "  %2 = stablehlo.broadcast_in_dim %k, dims = [1] : (tensor<4xf32>) -> "
    "tensor<3x4xf32>\n"
    "  %3 = stablehlo.multiply %1, %2 : tensor<3x4xf32>\n"
    "  %4 = stablehlo.concatenate %0, %3, dim = 1 : (tensor<3x4xf32>, "
    "tensor<3x4xf32>) -> tensor<3x8xf32>\n"
    "  %5 = stablehlo.pad %4, %cst, low = [2, 0], high = [4, 0], interior = [0, "
    "0] : (tensor<3x8xf32>, tensor<f32>) -> tensor<9x8xf32>\n"
    "  %6 = \"stablehlo.sort\"(%5) <{dimension = 1 : i64, is_stable = true}> ({\n"
    "  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):\n"
    "    %20 = stablehlo.compare  LT, %arg3, %arg4,  FLOAT : (tensor<f32>, "
    "tensor<f32>) -> tensor<i1>\n"
    "    stablehlo.return %20 : tensor<i1>\n"
    "  }) : (tensor<9x8xf32>) -> tensor<9x8xf32>\n"
    "  %7 = stablehlo.slice %6 [0:1, 0:8] : (tensor<9x8xf32>) -> "
    "tensor<1x8xf32>\n"
    "  %8 = stablehlo.dynamic_update_slice %6, %7, %arg1, %c : (tensor<9x8xf32>, "
    "tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<9x8xf32>\n"
    "  %9 = stablehlo.reshape %8 : (tensor<9x8xf32>) -> tensor<3x3x2x4xf32>\n"
    "  %10 = sdy.sharding_constraint %9 !4 : tensor<3x3x2x4xf32>\n"
    "  %11 = stablehlo.reshape %10 : (tensor<3x3x2x4xf32>) -> tensor<9x8xf32>\n"
    "  return %11 : tensor<9x8xf32>\n"
    "}\n",
};

enum { N_HLO = (int)RIDGE_COUNT_OF(modules), N_STABLE = (int)RIDGE_COUNT_OF(stable) };
_Static_assert(N_HLO + N_STABLE == HLO_SHARDED_COUNT, "all modules are counted");

typedef struct mesh_sizes {
    int x, y, z;
} mesh_sizes;

/** How a sharding is written. */
typedef struct notation {
    const char *head, *tail, *quote;
    bool is_optional;
} notation;

static const notation of_hlo = {
    ", frontend_attributes={xla.sdy.sharding=\"#sdy.sharding<@mesh, [", "]>\"}", "\\\"",
    true};
static const notation of_type = {" {sdy.sharding = #sdy.sharding<@mesh, [", "]>}", "\"",
                                 true};
static const notation of_constraint = {"<@mesh, [", "]>", "\"", false};

/* Some axes on some dims, each once. */
static void put_sharding(seeded *at, int rank, const notation *n, ridge_buf *out)
{
    static const char *const names[] = {"x", "y", "z"};
    int dim_of[3], order[3] = {0, 1, 2};
    if (n->is_optional && seeded_pick(at, 0, 4) == 0)
        return;
    for (int a = 0; a < 3; a++) {
        dim_of[a] = (int)seeded_pick(at, -1, rank - 1);
        const int other = (int)seeded_pick(at, 0, 2), kept = order[a];
        order[a] = order[other];
        order[other] = kept;
    }
    ridge_buf_puts(out, n->head);
    for (int d = 0; d < rank; d++) {
        const char *comma = "";
        ridge_buf_puts(out, d ? ", {" : "{");
        for (int k = 0; k < 3; k++) {
            if (dim_of[order[k]] != d)
                continue;
            ridge_buf_printf(out, "%s%s%s%s", comma, n->quote, names[order[k]],
                             n->quote);
            comma = ", ";
        }
        if (seeded_pick(at, 0, 3) == 0)
            ridge_buf_printf(out, "%s?", comma);
        ridge_buf_puts(out, "}");
    }
    ridge_buf_puts(out, n->tail);
}

ridge_str hlo_sharded_text(ridge_ctx *cx, int index, seeded *at)
{
    static const mesh_sizes meshes[] = {{2, 1, 1}, {2, 2, 1}, {3, 1, 2}, {2, 3, 2},
                                        {4, 1, 1}, {1, 8, 1}, {2, 2, 2}, {1, 3, 4}};
    const mesh_sizes *mesh =
        &meshes[seeded_pick(at, 0, (int64_t)RIDGE_COUNT_OF(meshes) - 1)];
    const bool is_stable = index >= N_HLO;
    const char *text = is_stable ? stable[index - N_HLO] : modules[index];
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_puts(&b, is_stable ? "sdy.mesh @mesh = <"
                                 : "HloModule m, frontend_attributes={xla.sdy.meshes={"
                                   "mesh = #sdy.mesh<");
    ridge_buf_printf(&b, "[\"x\"=%d, \"y\"=%d, \"z\"=%d]>%s\n\n", mesh->x, mesh->y,
                     mesh->z, is_stable ? "" : "}}");
    for (; *text; text++) {
        const bool is_place =
            (*text == '@' || *text == '!') && text[1] >= '0' && text[1] <= '9';
        if (!is_place) {
            ridge_buf_add(&b, (ridge_str){text, 1});
            continue;
        }
        const notation *n = *text == '!' ? &of_constraint
                            : is_stable  ? &of_type
                                         : &of_hlo;
        text++;
        put_sharding(at, *text - '0', n, &b);
    }
    return (ridge_str){ridge_buf_text(&b), b.n};
}
