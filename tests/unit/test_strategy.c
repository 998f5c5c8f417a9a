/* Strategies, steps and shardings by hand. */
#include "near.h"

#include "ridge/shard.h"

#include <string.h>

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state ? 0 : 1;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static const char mesh_text[] = "x=4,y=2";
static const char dims_text[] = "I=1024,J=4096,K=8192";

/* With the sizes above, of I alone where the others do not occur. */
static ridge_expr parse(ridge_ctx *cx, const char *text)
{
    ridge_expr e;
    const char *dims = strchr(text, 'J') ? dims_text : "I=1024";
    if (ridge_expr_parse(cx, text, mesh_text, dims, &e) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return e;
}

static const char *line(ridge_ctx *cx, const ridge_expr *e, const ridge_strategy *s)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_strategy_write(e, s, &b);
    return ridge_buf_text(&b);
}

/* The strategies of an expression are these, in this order. */
static void check_list(ridge_ctx *cx, const char *text, const char *const *wanted,
                       size_t n_wanted)
{
    const ridge_expr e = parse(cx, text);
    ridge_strategy *s =
        ridge_new(ridge_ctx_arena(cx), ridge_strategy, RIDGE_STRATEGY_MAX);
    int n = 0;
    assert_int_equal(ridge_expr_strategies(cx, &e, s, &n), RIDGE_OK);
    for (size_t i = 0; i < n_wanted && i < (size_t)n; i++)
        assert_string_equal(line(cx, &e, &s[i]), wanted[i]);
    assert_int_equal(n, n_wanted);
}

static void nothing_moves_without_need(void **state)
{
    static const char *const lists[] = {"multiply"};
    check_list(*state, "A[I@x,J] * B[J,K@y] -> C[I@x,K@y]", lists, 1);
    check_list(*state, "A[I,J] * B[J,K] -> C[I,K]", lists, 1);
    check_list(*state, "A[I,J@x] * B[J@x,K] -> C[I,K]{U@x}", lists, 1);
}

static void the_smaller_operand_is_gathered_first(void **state)
{
    static const char *const lists[] = {
        "AllGather_x A; multiply",
        "AllToAll_x A from J to I; multiply; AllGather_x C",
        "Slice_x B over J; multiply; AllReduce_x C",
    };
    check_list(*state, "A[I,J@x] * B[J,K] -> C[I,K]", lists, RIDGE_COUNT_OF(lists));
}

static void a_shared_contraction_is_summed(void **state)
{
    static const char *const lists[] = {
        "multiply; ReduceScatter_x C over I",
        "AllGather_x A; AllToAll_x B from J to K; multiply; AllToAll_x C from K to I",
        "AllToAll_x A from J to I; AllGather_x B; multiply",
        "AllGather_x A; AllGather_x B; multiply; Slice_x C over I",
    };
    check_list(*state, "A[I,J@x] * B[J@x,K] -> C[I@x,K]", lists, RIDGE_COUNT_OF(lists));
}

static void axes_of_one_kind_go_together(void **state)
{
    static const char *const lists[] = {"AllGather_xy A; multiply"};
    const ridge_expr e = parse(*state, "A[I@xy,J] * B[J,K] -> C[I,K]");
    ridge_strategy *s =
        ridge_new(ridge_ctx_arena(*state), ridge_strategy, RIDGE_STRATEGY_MAX);
    int n = 0;
    assert_int_equal(ridge_expr_strategies(*state, &e, s, &n), RIDGE_OK);
    assert_string_equal(line(*state, &e, &s[0]), lists[0]);
    assert_near(s[0].steps[0].bytes, 1024.0 * 4096 * 2, 0);
}

static void an_outer_axis_comes_off_with_the_inner_one(void **state)
{
    static const char *const lists[] = {"AllGather_xy A; Slice_y A over I; multiply",
                                        "multiply; AllGather_xy C; Slice_y C over I"};
    check_list(*state, "A[I@xy] -> C[I@y]", lists, RIDGE_COUNT_OF(lists));
}

/* The array of one group: what cuts the others divides it. */
static void other_axes_divide_the_bytes(void **state)
{
    const ridge_expr e = parse(*state, "A[I@y,J@x] * B[J,K] -> C[I@y,K]");
    ridge_strategy *s =
        ridge_new(ridge_ctx_arena(*state), ridge_strategy, RIDGE_STRATEGY_MAX);
    int n = 0;
    assert_int_equal(ridge_expr_strategies(*state, &e, s, &n), RIDGE_OK);
    assert_string_equal(line(*state, &e, &s[0]), "AllGather_x A; multiply");
    assert_near(s[0].steps[0].bytes, 1024.0 * 4096 * 2 / 2, 0);
    assert_near(ridge_strategy_sent_bytes(&e.mesh, &s[0]), 1024.0 * 4096 * 3 / 4, 0);
}

static void sent_bytes_are_those_of_rings(void **state)
{
    (void)state;
    const ridge_mesh mesh = {.n = 2, .axes = {{"x", 4}, {"y", 2}}};
    static const double wanted[RIDGE_STEP_KIND_COUNT] = {7.0 / 8, 7.0 / 8, 14.0 / 8,
                                                         7.0 / 64, 0};
    for (int kind = 0; kind < RIDGE_STEP_KIND_COUNT; kind++) {
        const ridge_reshard step = {
            .kind = (ridge_step_kind)kind, .n_axes = 2, .axes = {0, 1}, .bytes = 1};
        assert_near(ridge_reshard_sent_bytes(&mesh, &step), wanted[kind], 1e-15);
    }
}

static void partial_sums_cannot_be_made(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_expr e = parse(cx, "A[I,J@x] * B[K@x] -> C[I,J,K]{U@y}");
    ridge_strategy *s = ridge_new(ridge_ctx_arena(cx), ridge_strategy, 256);
    int n = 0;
    assert_int_equal(ridge_expr_strategies(cx, &e, s, &n), RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx),
                        "partial sums {U@y} of C cannot arise: no dim is summed and no "
                        "operand has any");
}

static void a_hundred_thousand_ways_are_too_many(void **state)
{
    ridge_ctx *cx = *state;
    ridge_expr e;
    assert_int_equal(ridge_expr_parse(cx,
                                      "A[I@a,J@b,K@c,L@d,M@e] B[J@a,K@b,L@c,M@d,I@e] "
                                      "C[K@a,L@b,M@c,I@d,J@e] D[L@f,M@g,I@h,J] -> R[]",
                                      "a=2,b=2,c=2,d=2,e=2,f=2,g=2,h=2",
                                      "I=64,J=64,K=64,L=64,M=64", &e),
                     RIDGE_OK);
    ridge_strategy *s =
        ridge_new(ridge_ctx_arena(cx), ridge_strategy, RIDGE_STRATEGY_MAX);
    int n = 0;
    assert_int_equal(ridge_expr_strategies(cx, &e, s, &n), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(cx), "use fewer mesh axes"));
}

static void memory_that_runs_out_is_told(void **state)
{
    (void)state;
    ridge_status st = RIDGE_E_NOMEM;
    int failures = 0;
    for (size_t budget = 1 << 14; st == RIDGE_E_NOMEM && budget < 1 << 26;
         budget += budget / 2) {
        ridge_ctx *cx = ridge_ctx_open_budget(budget);
        ridge_expr e;
        static ridge_strategy room[RIDGE_STRATEGY_MAX];
        int n = 0;
        assert_non_null(cx);
        st = ridge_expr_parse(cx, "A[I@x,J@y] * B[J@x,K@y] -> C[I@x,K@y]", mesh_text,
                              dims_text, &e);
        if (st == RIDGE_OK)
            st = ridge_expr_strategies(cx, &e, room, &n);
        failures += st == RIDGE_E_NOMEM;
        ridge_ctx_close(cx);
    }
    assert_int_equal(st, RIDGE_OK);
    assert_true(failures > 0);
}

/* ---- cases ----------------------------------------------------------------------- */

static void other_shapes_are_no_case(void **state)
{
    static const struct {
        const char *text;
        int wanted;
    } rows[] = {
        {"A[I,J@x] * B[J@y,K] -> C[I,K]", 2},     /* cut over different axes */
        {"A[I@y,J@x] * B[J@x,K@y] -> C[I,K]", 4}, /* of 3 and 4 the higher */
        {"A[I@x,J] * B[I,J,K] -> C[I,K]", 0}, /* a batching dim that lies differently */
        {"A[I@x,J] * B[I@x,J,K@y] -> C[I,K]", 1},
        {"A[I,J]{U@x} * B[J,K] -> C[I,K]", 0},
        {"A[I,J,K@x] -> C[I,J]", 0},
        {"A[I,J] * B[J,K] -> C[I,J,K]", 0},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const ridge_expr e = parse(*state, rows[i].text);
        if (ridge_expr_case(&e) != rows[i].wanted)
            fail_msg("%s: case %d", rows[i].text, ridge_expr_case(&e));
    }
}

/* ---- shardings ------------------------------------------------------------------- */

static void illegal_shardings_have_a_reason(void **state)
{
    ridge_arena *arena = ridge_ctx_arena(*state);
    const ridge_mesh mesh = {.n = 2, .axes = {{"x", 4}, {"y", 2}}};
    const struct {
        ridge_sharding s;
        const char *reason;
    } rows[] = {
        {{.n_dims = 2, .dims = {{1, {0}}, {1, {0}}}}, "axis x cuts two dims"},
        {{.n_dims = 1, .dims = {{2, {1, 1}}}}, "axis y cuts one dim twice"},
        {{.n_dims = 1, .dims = {{1, {1}}}, .partial = 2},
         "axis y both cuts and carries partial sums"},
        {{.n_dims = 1, .dims = {{1, {2}}}},
         "a dim is cut over an axis that the mesh does not have"},
        {{.n_dims = 1, .partial = 4},
         "partial sums over an axis that the mesh does not have"},
        {{.n_dims = 9}, "an array has 0 to 8 dims"},
    };
    const ridge_sharding fine = {.n_dims = 2, .dims = {{1, {1}}, {0}}, .partial = 1};
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        assert_string_equal(ridge_sharding_fault(arena, &mesh, &rows[i].s),
                            rows[i].reason);
    }
    assert_null(ridge_sharding_fault(arena, &mesh, &fine));
    assert_int_equal(ridge_sharding_axes(&fine), 3);
}

static void a_dim_that_does_not_divide_is_padded(void **state)
{
    (void)state;
    const ridge_mesh mesh = {.n = 2, .axes = {{"x", 4}, {"y", 2}}};
    const ridge_dim_axes both = {2, {0, 1}};
    assert_int_equal(ridge_dim_ways(&mesh, &both), 8);
    assert_int_equal(ridge_dim_local(&mesh, &both, 17), 3);
    assert_int_equal(ridge_dim_padding(&mesh, &both, 17), 7);
    assert_int_equal(ridge_dim_padding(&mesh, &both, 16), 0);
    assert_int_equal(ridge_dim_local(&mesh, &both, 1), 1);
}

static void steps_that_do_not_apply_are_refused(void **state)
{
    (void)state;
    const ridge_mesh mesh = {.n = 2, .axes = {{"x", 4}, {"y", 2}}};
    const ridge_sharding s = {.n_dims = 2, .dims = {{2, {0, 1}}, {0}}};
    static const ridge_reshard steps[] = {
        /* x lies under y */
        {.kind = RIDGE_STEP_ALL_GATHER, .n_axes = 1, .axes = {0}, .dim_to = -1},
        {.kind = RIDGE_STEP_ALL_GATHER, .n_axes = 2, .axes = {1, 0}, .dim_to = -1},
        {.kind = RIDGE_STEP_ALL_GATHER, .n_axes = 1, .axes = {1}, .dim_from = 2},
        {.kind = RIDGE_STEP_ALL_GATHER, .n_axes = 0},
        {.kind = RIDGE_STEP_SLICE, .n_axes = 1, .axes = {1}, .dim_to = 1},
        {.kind = RIDGE_STEP_SLICE, .n_axes = 1, .axes = {2}, .dim_to = 1},
        {.kind = RIDGE_STEP_ALL_REDUCE, .n_axes = 1, .axes = {0}},
        {.kind = RIDGE_STEP_REDUCE_SCATTER, .n_axes = 1, .axes = {0}, .dim_to = 1},
        {.kind = RIDGE_STEP_ALL_TO_ALL, .n_axes = 1, .axes = {1}},
        {.kind = RIDGE_STEP_ALL_TO_ALL, .n_axes = 2, .axes = {1, 1}, .dim_to = 1},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(steps); i++) {
        ridge_sharding after = s;
        assert_false(ridge_reshard_apply(&mesh, &after, &steps[i]));
        assert_true(ridge_sharding_equal(&after, &s));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_moves_without_need),
        cmocka_unit_test(the_smaller_operand_is_gathered_first),
        cmocka_unit_test(a_shared_contraction_is_summed),
        cmocka_unit_test(axes_of_one_kind_go_together),
        cmocka_unit_test(an_outer_axis_comes_off_with_the_inner_one),
        cmocka_unit_test(other_axes_divide_the_bytes),
        cmocka_unit_test(sent_bytes_are_those_of_rings),
        cmocka_unit_test(partial_sums_cannot_be_made),
        cmocka_unit_test(a_hundred_thousand_ways_are_too_many),
        cmocka_unit_test(memory_that_runs_out_is_told),
        cmocka_unit_test(other_shapes_are_no_case),
        cmocka_unit_test(illegal_shardings_have_a_reason),
        cmocka_unit_test(a_dim_that_does_not_divide_is_padded),
        cmocka_unit_test(steps_that_do_not_apply_are_refused),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
