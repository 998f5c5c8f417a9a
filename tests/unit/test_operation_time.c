/* Times of operations of a partition: local shapes, which bytes count, what is fused,
 * what a collective moves. */
#include "near.h"

#include "network_build.h"
#include "plain_chip.h"
#include "program_build.h"

#include <string.h>

/* A mesh of dp = 2 outside tp = 4 on one switch of 8 chips. */
typedef struct scene {
    ridge_ctx *cx;
    ridge_chip chip;
    ridge_slice slice;
    ridge_laid_mesh laid;
    program_build b;
    ridge_operation_time times[BUILD_MOST];
} scene;

static scene *scene_open(const char *dims)
{
    ridge_ctx *cx = ridge_ctx_open();
    assert_non_null(cx);
    scene *s = ridge_new(ridge_ctx_arena(cx), scene, 1);
    assert_non_null(s);
    s->cx = cx;
    s->chip = plain_gpu();
    s->slice = test_slice();
    s->slice.chip = &s->chip;
    test_axis(&s->slice, RIDGE_AXIS_SWITCH, 8, 450e9)->latency_s = 1e-6;
    build_open(&s->b, cx, "dp=2,tp=4", dims);
    assert_true(ridge_laid_mesh_fill(&s->slice, NULL, &s->b.partition.mesh, &s->laid));
    build_block(&s->b, "layer", 2, NULL);
    return s;
}

static void price(scene *s, ridge_dtype compute)
{
    if (ridge_operation_times(s->cx, &s->b.partition, &s->laid, compute, s->times) !=
        RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(s->cx));
}

static const ridge_operation_time *time_of(const scene *s, const char *op)
{
    return &s->times[build_find(&s->b, op)];
}

static ridge_operation_time alone(const scene *s, const char *op)
{
    return ridge_operation_time_of(&s->b.partition, build_find(&s->b, op), &s->laid,
                                   RIDGE_DTYPE_BF16);
}

/* ---- products -------------------------------------------------------------------- */

static ridge_matmul bf16_matmul(double batch, double m, double k, double n)
{
    return (ridge_matmul){.batch = batch,
                          .m = m,
                          .k = k,
                          .n = n,
                          .activation = RIDGE_DTYPE_BF16,
                          .weight = RIDGE_DTYPE_BF16,
                          .output = RIDGE_DTYPE_BF16,
                          .compute = RIDGE_DTYPE_BF16};
}

static void a_product_is_priced_by_its_local_shape(void **state)
{
    (void)state;
    scene *s = scene_open("B=4,T=1024,D=4096,F=14336");
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, "h[B@dp,T,D] y[B@dp,T,F@tp]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "w[D,F@tp]");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "up: h,w->y");
    price(s, RIDGE_DTYPE_BF16);
    const ridge_matmul matmul = bf16_matmul(1, 2 * 1024, 4096, 14336 / 4);
    const ridge_op_cost want = ridge_matmul_cost(&s->chip, &matmul, RIDGE_MEMORY_HBM);
    assert_near(time_of(s, "up")->expected_s, want.expected_s, 1e-12);
    assert_near(time_of(s, "up")->bound_s, want.bound_s, 1e-12);
    assert_near(time_of(s, "up")->matmul_flops, 2.0 * 2048 * 4096 * 3584, 1e-12);
    assert_false(time_of(s, "up")->is_collective);
    assert_int_equal(time_of(s, "up")->network, 0);
    ridge_ctx_close(s->cx);
}

static void experts_are_a_batch_of_products(void **state)
{
    (void)state;
    scene *s = scene_open("E=16,C=512,D=1024,F=2048");
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, "rows[E@tp,C,D] y[E@tp,C,F]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "w[E@tp,D,F]");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "experts: rows,w->y");
    price(s, RIDGE_DTYPE_BF16);
    const ridge_matmul matmul = bf16_matmul(4, 512, 1024, 2048);
    const ridge_op_cost want = ridge_matmul_cost(&s->chip, &matmul, RIDGE_MEMORY_HBM);
    assert_near(time_of(s, "experts")->expected_s, want.expected_s, 1e-12);
    /* A quarter of the rows is in use. */
    s->b.dims[1].used = 128;
    price(s, RIDGE_DTYPE_BF16);
    assert_near(time_of(s, "experts")->matmul_flops, want.matmul_flops / 4, 1e-12);
    ridge_ctx_close(s->cx);
}

static void products_of_one_input_run_as_one(void **state)
{
    (void)state;
    scene *s = scene_open("B=2,D=4096,N=4096,K=1024");
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, "h[B,D] q[B,N] k[B,K]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "wq[D,N] wk[D@dp,K] wk2[D,K]");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "q: h,wq->q");
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_GATHER, "gather: wk->wk2", "dp");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "k: h,wk2->k");
    price(s, RIDGE_DTYPE_BF16);
    const ridge_matmul both = bf16_matmul(1, 2, 4096, 4096 + 1024);
    const ridge_op_cost want = ridge_matmul_cost(&s->chip, &both, RIDGE_MEMORY_HBM);
    assert_near(time_of(s, "q")->expected_s, 0.8 * want.expected_s, 1e-12);
    assert_near(time_of(s, "k")->expected_s, 0.2 * want.expected_s, 1e-12);
    assert_true(alone(s, "k").expected_s > time_of(s, "k")->expected_s);
    ridge_ctx_close(s->cx);
}

static void sums_of_products_are_made_by_the_products(void **state)
{
    (void)state;
    scene *s = scene_open("B=512,D=4096,N=4096");
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION,
                  "a[B,N] b[B,N] x[B,D] y[B,D] sum[B,D] out[B,D]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "w[D,N] v[D,N]");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "x: a,w->x");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "y: b,v->y");
    build_elementwise(&s->b, RIDGE_FUNCTION_ADD, "sum: x,y->sum");
    build_elementwise(&s->b, RIDGE_FUNCTION_SILU, "out: sum->out");
    price(s, RIDGE_DTYPE_BF16);
    assert_near(time_of(s, "sum")->expected_s, 0, 0);
    assert_near(time_of(s, "out")->bytes, 2 * 512.0 * 4096 * 2, 1e-12);
    /* Not once another operation wants one of them. */
    build_elementwise(&s->b, RIDGE_FUNCTION_SILU, "other: x->out");
    price(s, RIDGE_DTYPE_BF16);
    assert_true(time_of(s, "sum")->expected_s > 0);
    ridge_ctx_close(s->cx);
}

static void narrow_formats_cost_the_streams_that_make_them(void **state)
{
    (void)state;
    scene *s = scene_open("B=4096,D=4096,F=4096,V=4096");
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, "h[B,D] y[B,F] logits[B,V]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "w[D,F] head[F,V]");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "up: h,w->y");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "head: y,head->logits")->is_head = true;
    price(s, RIDGE_DTYPE_FP8);
    ridge_matmul fp8 = bf16_matmul(1, 4096, 4096, 4096);
    const ridge_op_cost whole = ridge_matmul_cost(&s->chip, &fp8, RIDGE_MEMORY_HBM);
    fp8.activation = fp8.weight = fp8.compute = RIDGE_DTYPE_FP8;
    const ridge_op_cost product = ridge_matmul_cost(&s->chip, &fp8, RIDGE_MEMORY_HBM);
    /* The activation alone: a weight is made narrow where it is updated. */
    const ridge_op_cost stream = ridge_stream_cost(&s->chip, 0, 4096.0 * 4096 * 4);
    assert_near(time_of(s, "up")->expected_s, product.expected_s + stream.expected_s,
                1e-12);
    assert_near(time_of(s, "head")->expected_s, whole.expected_s, 1e-12);
    ridge_ctx_close(s->cx);
}

/* ---- streams --------------------------------------------------------------------- */

static void neighbours_fuse_and_count_what_enters_and_leaves(void **state)
{
    (void)state;
    scene *s = scene_open("B=64,D=1024");
    const double one = 64.0 * 1024 * 2;
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, "x[B,D] y[B,D] sum[B,D] h[B,D] z[B,D]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "g[D]");
    build_elementwise(&s->b, RIDGE_FUNCTION_ADD, "add: x,y->sum");
    build_op(&s->b, RIDGE_OPCODE_NORM, "norm: sum,g->h");
    build_elementwise(&s->b, RIDGE_FUNCTION_SILU, "act: h->z");
    price(s, RIDGE_DTYPE_BF16);
    assert_near(time_of(s, "add")->bytes, 2 * one, 1e-12); /* its sum stays inside */
    assert_near(time_of(s, "norm")->bytes, 2048, 1e-12);   /* its weight */
    assert_near(time_of(s, "act")->bytes, one, 1e-12);
    const double all_s = time_of(s, "add")->expected_s +
                         time_of(s, "norm")->expected_s + time_of(s, "act")->expected_s;
    assert_near(
        all_s,
        ridge_stream_cost(&s->chip, time_of(s, "norm")->vector_flops, 3 * one + 2048)
            .expected_s,
        1e-9);
    ridge_ctx_close(s->cx);
}

static void what_is_read_later_leaves_the_group(void **state)
{
    (void)state;
    scene *s = scene_open("B=64,D=1024");
    const double one = 64.0 * 1024 * 2;
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, "x[B,D] y[B,D] sum[B,D] h[B,D] z[B,D]");
    build_elementwise(&s->b, RIDGE_FUNCTION_ADD, "add: x,y->sum");
    build_op(&s->b, RIDGE_OPCODE_NORM, "norm: sum->h");
    build_block(&s->b, "later", 1, NULL);
    build_elementwise(&s->b, RIDGE_FUNCTION_ADD, "later: sum,h->z");
    price(s, RIDGE_DTYPE_BF16);
    assert_near(time_of(s, "add")->bytes, 3 * one, 1e-12);
    assert_near(time_of(s, "norm")->bytes, one, 1e-12);
    assert_near(time_of(s, "later")->bytes, 3 * one, 1e-12);
    ridge_ctx_close(s->cx);
}

static void an_optimizer_steps_in_one_kernel(void **state)
{
    (void)state;
    scene *s = scene_open("D=1024,F=512");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "w[D,F] v[D@dp,F]");
    build_tensors(&s->b, RIDGE_ROLE_GRADIENT, "g_w[D,F] g_v[D@dp,F]");
    build_tensors(&s->b, RIDGE_ROLE_STATE, "m[D,F] n[D@dp,F]");
    build_op(&s->b, RIDGE_OPCODE_UPDATE, "w: w,g_w,m->w,m");
    build_op(&s->b, RIDGE_OPCODE_UPDATE, "v: v,g_v,n->v,n");
    price(s, RIDGE_DTYPE_BF16);
    const double one = 1024.0 * 512 * 2;
    assert_near(time_of(s, "w")->bytes, 5 * one, 1e-12);
    assert_near(time_of(s, "v")->bytes, 2.5 * one, 1e-12);
    const ridge_op_cost both = ridge_stream_cost(
        &s->chip, time_of(s, "w")->vector_flops + time_of(s, "v")->vector_flops,
        7.5 * one);
    assert_near(time_of(s, "w")->expected_s, both.expected_s * 2 / 3, 1e-9);
    assert_near(time_of(s, "v")->expected_s, both.expected_s / 3, 1e-9);
    ridge_ctx_close(s->cx);
}

static void a_lookup_moves_rows_and_not_the_table(void **state)
{
    (void)state;
    scene *s = scene_open("B=64,D=1024,V=128256");
    build_tensors(&s->b, RIDGE_ROLE_INPUT, "ids[B]");
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, "x[B,D]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "table[V,D]");
    build_op(&s->b, RIDGE_OPCODE_GATHER, "lookup: table,ids->x");
    price(s, RIDGE_DTYPE_BF16);
    assert_near(time_of(s, "lookup")->bytes, 2 * 64.0 * 1024 * 2 + 64 * 2, 1e-12);
    ridge_ctx_close(s->cx);
}

/* ---- attention ------------------------------------------------------------------- */

static void attend(scene *s, const char *q)
{
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, q);
    ridge_operation *o = build_op(&s->b, RIDGE_OPCODE_ATTENTION, "attend: q,k,v->o");
    o->is_causal = true;
    price(s, RIDGE_DTYPE_BF16);
}

static void attention_is_priced_by_its_local_heads(void **state)
{
    (void)state;
    scene *s = scene_open("B=2,T=4096,N=32,K=8,H=128");
    attend(s, "q[B@dp,T,N@tp,H] k[B@dp,T,K@tp,H] v[B@dp,T,K@tp,H] o[B@dp,T,N@tp,H]");
    const ridge_attention a = {.batch = 1,
                               .query_tokens = 4096,
                               .context_tokens = 4096,
                               .heads = 8,
                               .kv_heads = 2,
                               .head_dim = 128,
                               .v_head_dim = 128,
                               .is_causal = true,
                               .activation = RIDGE_DTYPE_BF16,
                               .cache = RIDGE_DTYPE_BF16,
                               .compute = RIDGE_DTYPE_BF16};
    const ridge_op_cost want = ridge_attention_cost(&s->chip, &a);
    assert_near(time_of(s, "attend")->expected_s, want.expected_s, 1e-12);
    /* Backward: the work of four products for two, the time of five at a lower rate. */
    ridge_operation *o = &s->b.ops[build_find(&s->b, "attend")];
    o->is_backward = true;
    price(s, RIDGE_DTYPE_BF16);
    assert_near(time_of(s, "attend")->matmul_flops, 2 * want.matmul_flops, 1e-12);
    assert_near(time_of(s, "attend")->expected_s, 2.5 * 648 / 561 * want.expected_s,
                1e-12);
    ridge_ctx_close(s->cx);
}

static void cut_queries_meet_half_of_the_context_each(void **state)
{
    (void)state;
    scene *s = scene_open("B=2,T=4096,N=32,K=8,H=128,S=4096");
    attend(s, "q[B,T@tp,N,H] k[B,S,K,H] v[B,S,K,H] o[B,T@tp,N,H]");
    const double flops = time_of(s, "attend")->matmul_flops;
    /* 4 H a score, over 1024 queries that meet 2048.5 keys each. */
    assert_near(flops, 2 * 32 * 1024 * 2048.5 * 4 * 128, 1e-9);
    ridge_ctx_close(s->cx);
}

/* ---- collectives ----------------------------------------------------------------- */

static double group_s(const scene *s, ridge_collective kind, double bytes, int axis)
{
    return ridge_collective_time(&s->slice, kind, bytes, &s->laid.groups[axis])
        .expected_s;
}

static void a_collective_moves_what_its_group_holds(void **state)
{
    (void)state;
    scene *s = scene_open("B=64,D=1024");
    const double all = 64.0 * 1024 * 2;
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION,
                  "x[B,D@tp] y[B,D] part[B,D]{tp} cut[B@tp,D] moved[B,D@tp] "
                  "half[B@dp,D]");
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_GATHER, "gather: x->y", "tp");
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_REDUCE, "reduce: part->y", "tp");
    build_exchange(&s->b, RIDGE_COLLECTIVE_REDUCE_SCATTER, "scatter: part->cut", "tp");
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_TO_ALL, "move: cut->moved", "tp");
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_GATHER, "dp: half->y", "dp");
    build_op(&s->b, RIDGE_OPCODE_SEND, "send: half->half")->n_axes = 1;
    price(s, RIDGE_DTYPE_BF16);
    static const char *const names[] = {"gather", "reduce", "scatter", "move"};
    static const ridge_collective kinds[] = {
        RIDGE_COLLECTIVE_ALL_GATHER, RIDGE_COLLECTIVE_ALL_REDUCE,
        RIDGE_COLLECTIVE_REDUCE_SCATTER, RIDGE_COLLECTIVE_ALL_TO_ALL};
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        const ridge_operation_time *t = time_of(s, names[i]);
        assert_true(t->is_collective);
        assert_int_equal(t->network, 1);
        assert_near(t->bytes, all, 1e-12);
        assert_near(t->expected_s, group_s(s, kinds[i], all, 1), 1e-12);
    }
    assert_near(time_of(s, "dp")->expected_s,
                group_s(s, RIDGE_COLLECTIVE_ALL_GATHER, all, 0), 1e-12);
    assert_near(time_of(s, "send")->bytes, all / 2, 1e-12);
    assert_near(time_of(s, "send")->expected_s,
                group_s(s, RIDGE_COLLECTIVE_SEND_RECV, all / 2, 0), 1e-12);
    ridge_ctx_close(s->cx);
}

static void gathers_of_weights_run_as_one(void **state)
{
    (void)state;
    scene *s = scene_open("D=1024,F=3072");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT,
                  "w[D@dp,F] w2[D,F] v[D@dp,D@tp] v2[D,D@tp] u[D@tp,F] u2[D,F]");
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_GATHER, "w: w->w2", "dp");
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_GATHER, "u: u->u2", "tp");
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_GATHER, "v: v->v2", "dp");
    price(s, RIDGE_DTYPE_BF16);
    const double w = 1024.0 * 3072 * 2;
    const double v = 1024.0 * 256 * 2;
    const double both_s = group_s(s, RIDGE_COLLECTIVE_ALL_GATHER, w + v, 0);
    assert_near(time_of(s, "w")->expected_s, both_s * w / (w + v), 1e-12);
    assert_near(time_of(s, "v")->expected_s, both_s * v / (w + v), 1e-12);
    assert_near(time_of(s, "u")->expected_s,
                group_s(s, RIDGE_COLLECTIVE_ALL_GATHER, w, 1), 1e-12);
    assert_true(alone(s, "v").expected_s > time_of(s, "v")->expected_s);
    ridge_ctx_close(s->cx);
}

/* ---- meshes on slices ------------------------------------------------------------ */

static void adjoining_axes_join_into_one_span(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_slice slice = test_slice();
    test_axis(&slice, RIDGE_AXIS_SWITCH, 16, 1e9);
    test_axis(&slice, RIDGE_AXIS_FABRIC, 2, 1e9);
    ridge_mesh mesh;
    assert_int_equal(ridge_mesh_parse(cx, "d=2,c=4,b=2,a=2", &mesh), RIDGE_OK);
    ridge_laid_mesh laid;
    assert_true(ridge_laid_mesh_fill(&slice, NULL, &mesh, &laid));
    assert_int_equal(laid.groups[3].spans[0].stride, 1);
    assert_int_equal(laid.groups[0].spans[0].axis, 1);
    const ridge_group near = ridge_laid_mesh_group(&laid, (const int[]){2, 3}, 2);
    assert_int_equal(near.n_spans, 1);
    assert_int_equal(near.spans[0].size, 4);
    assert_int_equal(near.ranks, 4);
    /* a and c leave b out between them. */
    const ridge_group apart = ridge_laid_mesh_group(&laid, (const int[]){1, 3}, 2);
    assert_int_equal(apart.n_spans, 2);
    assert_int_equal(apart.spans[1].stride, 4);
    assert_int_equal(apart.ranks, 8);
    const ridge_group all = ridge_laid_mesh_group(&laid, (const int[]){3, 0, 2, 1}, 4);
    assert_int_equal(all.n_spans, 2);
    assert_int_equal(all.spans[0].size, 16);
    assert_int_equal(all.spans[1].size, 2);
    ridge_mesh other;
    assert_int_equal(ridge_mesh_parse(cx, "a=3", &other), RIDGE_OK);
    assert_false(ridge_laid_mesh_fill(&slice, NULL, &other, &laid));
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_is_priced_by_its_local_shape),
        cmocka_unit_test(experts_are_a_batch_of_products),
        cmocka_unit_test(products_of_one_input_run_as_one),
        cmocka_unit_test(sums_of_products_are_made_by_the_products),
        cmocka_unit_test(narrow_formats_cost_the_streams_that_make_them),
        cmocka_unit_test(neighbours_fuse_and_count_what_enters_and_leaves),
        cmocka_unit_test(what_is_read_later_leaves_the_group),
        cmocka_unit_test(an_optimizer_steps_in_one_kernel),
        cmocka_unit_test(a_lookup_moves_rows_and_not_the_table),
        cmocka_unit_test(attention_is_priced_by_its_local_heads),
        cmocka_unit_test(cut_queries_meet_half_of_the_context_each),
        cmocka_unit_test(a_collective_moves_what_its_group_holds),
        cmocka_unit_test(gathers_of_weights_run_as_one),
        cmocka_unit_test(adjoining_axes_join_into_one_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
