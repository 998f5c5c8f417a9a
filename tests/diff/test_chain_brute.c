/* The search for shardings of intermediates against every combination of states, and
 * what it finds for blocks whose best shardings are known. */
#include "near.h"

#include "chain_graph.h"

#include <math.h>
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

/* A problem read from text; holds what its request points at. */
typedef struct problem {
    const ridge_program *program;
    ridge_mesh mesh;
    ridge_chain_request request;
} problem;

static void open_problem(ridge_ctx *cx, const char *program, const char *mesh,
                         const char *rules, problem *p)
{
    ridge_expr_fault fault;
    if (ridge_program_parse(cx, ridge_str_of(program), "test", &p->program) !=
            RIDGE_OK ||
        ridge_mesh_parse(cx, mesh, &p->mesh) != RIDGE_OK ||
        ridge_rules_parse(cx, rules, p->program, &p->mesh, &fault, &p->request.rules) !=
            RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    p->request.program = p->program;
    p->request.mesh = &p->mesh;
    p->request.compute = RIDGE_DTYPE_BF16;
}

#define MLP(batch)                                                                     \
    "program mlp prefill\n"                                                            \
    "dims B=" batch " D=64 F=256\n"                                                    \
    "block layer\n"                                                                    \
    "  input x[B,D] bf16\n"                                                            \
    "  weight w1[D,F] bf16\n"                                                          \
    "  weight w2[F,D] bf16\n"                                                          \
    "  h[B,F] bf16 = einsum x, w1\n"                                                   \
    "  a[B,F] bf16 = gelu h\n"                                                         \
    "  y[B,D] bf16 = einsum a, w2\n"

/* Of few tokens, for which activations move, and of many, for which weights do. */
static const char mlp[] = MLP("64"), mlp_of_many[] = MLP("4096");

static const char two[] = "program two prefill\n"
                          "dims I=64 J=16 K=48 L=40\n"
                          "block layer\n"
                          "  input a[I,J] bf16\n"
                          "  weight b[J,K] bf16\n"
                          "  weight c[K,L] bf16\n"
                          "  t[I,K] bf16 = einsum a, b\n"
                          "  y[I,L] bf16 = einsum t, c\n";

static const char shared[] = "program shared prefill\n"
                             "dims I=64 J=16 K=48\n"
                             "block layer\n"
                             "  input a[I,J] bf16\n"
                             "  weight b[J,K] bf16\n"
                             "  weight c[J,K] bf16\n"
                             "  t[I,K] bf16 = einsum a, b\n"
                             "  u[I,K] bf16 = einsum a, c\n"
                             "  y[I,K] bf16 = multiply t, u\n";

static const char attention[] = "program attention prefill\n"
                                "dims B=4 T=16 D=64 N=8 K=4 H=16\n"
                                "block layer\n"
                                "  input x[B,T,D] bf16\n"
                                "  weight wq[D,N,H] bf16\n"
                                "  weight wk[D,K,H] bf16\n"
                                "  weight wv[D,K,H] bf16\n"
                                "  weight wo[N,H,D] bf16\n"
                                "  q[B,T,N,H] bf16 = einsum x, wq\n"
                                "  k[B,T,K,H] bf16 = einsum x, wk\n"
                                "  v[B,T,K,H] bf16 = einsum x, wv\n"
                                "  o[B,T,N,H] bf16 = attention q, k, v causal\n"
                                "  y[B,T,D] bf16 = einsum o, wo\n";

/* ---- against every combination --------------------------------------------------- */

static double brute_force(const chain_graph *g, double *combinations)
{
    int states[16] = {0};
    double least = (double)INFINITY;
    assert_true(g->n_nodes <= 16);
    *combinations = 0;
    for (;;) {
        const double cost = chain_graph_cost(g, states);
        least = cost < least ? cost : least;
        *combinations += 1;
        int i = 0;
        while (i < g->n_nodes && ++states[i] == g->nodes[i].n_states)
            states[i++] = 0;
        if (i == g->n_nodes)
            return least;
    }
}

static void check_brute(ridge_ctx *cx, const char *program, const char *mesh,
                        const char *rules)
{
    problem p = {.program = NULL};
    chain_graph g;
    int states[16];
    double cost = 0, combinations = 0;
    open_problem(cx, program, mesh, rules, &p);
    assert_int_equal(chain_graph_build(cx, &p.request, &g), RIDGE_OK);
    assert_int_equal(chain_graph_solve(cx, &g, states, &cost), RIDGE_OK);
    assert_near(cost, chain_graph_cost(&g, states), 1e-12);
    assert_near(cost, brute_force(&g, &combinations), 1e-12);
    assert_true(combinations > 20);
    ridge_chain_plan plan;
    assert_int_equal(ridge_chain_search(cx, &p.request, &plan), RIDGE_OK);
    assert_near(plan.cost, cost, 1e-12);
    assert_near(plan.sent_bytes, cost, 1e-12);
    assert_near(plan.ways, combinations, 0);
}

static void the_search_equals_brute_force(void **state)
{
    static const struct {
        const char *program, *mesh, *rules;
    } rows[] = {
        {two, "x=4", "a[I,J@x] b[J@x,K] y[I@x,L]"},
        {two, "x=4", "a[I@x,J] b[J,K@x] c[K@x,L] y[I,L]"},
        {two, "x=2,y=3", "a[I@x,J@y] b[J@x,K@y] c[K@x,L@y] y[I@y,L@x]"},
        {two, "x=2,y=2", "a[I@xy,J] b[J,K@x] c[K@yx,L]"},
        {mlp, "x=4", "x[B@x,D] w1[D,F@x] w2[F@x,D] y[B@x,D]"},
        {mlp, "x=2,y=2", "x[B@x,D] w1[D@x,F@y] w2[F@y,D@x]"},
        {mlp, "x=4", "x[B,D@x] w1[D,F@x] w2[F@x,D] h[B@x,F] y[B,D]"},
        {shared, "x=4", "a[I,J@x] b[J@x,K] c[J,K@x] y[I@x,K]"},
        {shared, "x=4", "weight[J@x] input[I@x]"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++)
        check_brute(*state, rows[i].program, rows[i].mesh, rows[i].rules);
}

/* ---- what is known --------------------------------------------------------------- */

static const char *moves_of(ridge_ctx *cx, const ridge_chain_plan *plan)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < plan->n_moves; i++) {
        const ridge_chain_move *m = &plan->moves[i];
        for (int k = 0; k < m->n_steps; k++) {
            ridge_buf_printf(&b, "%s%s %s", b.n ? "; " : "",
                             ridge_step_kind_text(m->steps[k].kind),
                             plan->program->tensors[m->tensor].name);
        }
    }
    return ridge_buf_text(&b);
}

static void check_moves(ridge_ctx *cx, const char *program, const char *mesh,
                        const char *rules, const char *wanted)
{
    problem p = {.program = NULL};
    ridge_chain_plan plan;
    open_problem(cx, program, mesh, rules, &p);
    if (ridge_chain_search(cx, &p.request, &plan) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    assert_string_equal(moves_of(cx, &plan), wanted);
}

static void a_column_and_a_row_split_meet_in_one_sum(void **state)
{
    check_moves(*state, mlp, "dp=2,tp=4", "x[B@dp,D] w1[D,F@tp] w2[F@tp,D] y[B@dp,D]",
                "AllReduce y");
    check_moves(*state, mlp, "dp=2,tp=4",
                "x[B@dp,D@tp] w1[D,F@tp] w2[F@tp,D] y[B@dp,D@tp]",
                "AllGather x; ReduceScatter y");
}

static void weights_cut_by_the_batch_axis_are_gathered(void **state)
{
    check_moves(*state, mlp_of_many, "fsdp=8", "x[B@fsdp,D] weight[D@fsdp] y[B@fsdp,D]",
                "AllGather w1; AllGather w2");
}

static void attention_by_heads_sums_once(void **state)
{
    check_moves(*state, attention, "dp=2,tp=4",
                "x[B@dp,T,D] wq[D,N@tp,H] wk[D,K@tp,H] wv[D,K@tp,H] wo[N@tp,H,D] "
                "y[B@dp,T,D]",
                "AllReduce y");
}

static void what_is_not_searched_is_named(void **state)
{
    static const char gather[] = "program bad prefill\n"
                                 "dims V=8 B=4 D=4\n"
                                 "block layer\n"
                                 "  input ids[B] fp32\n"
                                 "  weight e[V,D] bf16\n"
                                 "  x[B,D] bf16 = gather e, ids\n";
    problem p = {.program = NULL};
    ridge_chain_plan plan;
    open_problem(*state, gather, "x=2", "", &p);
    assert_int_equal(ridge_chain_search(*state, &p.request, &plan), RIDGE_E_ARG);
    assert_non_null(
        strstr(ridge_ctx_message(*state), "operation x (gather) is not searched"));
}

static void rules_are_read_with_their_place(void **state)
{
    static const struct {
        const char *rules, *message;
    } rows[] = {
        {"x[B@q,D]", "column 5: the mesh has no axis 'q'"},
        {"z[B@x]", "column 1: 'z' is no tensor"},
        {"x[F@x]", "column 3: x has no dim 'F'"},
        {"x[B@x,D@x]", "column 9: axis x cuts two dims of x"},
        {"x[B@x", "column 6: expected ','"},
        {"x", "column 2: expected '['"},
        {"x[]", "column 3: x has no dim ''"},
    };
    problem p = {.program = NULL};
    open_problem(*state, mlp, "x=2", "", &p);
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        ridge_expr_fault fault;
        ridge_rules rules;
        assert_int_not_equal(ridge_rules_parse(*state, rows[i].rules, p.program,
                                               &p.mesh, &fault, &rules),
                             RIDGE_OK);
        if (!strstr(ridge_ctx_message(*state), rows[i].message))
            fail_msg("%s: %s", rows[i].rules, ridge_ctx_message(*state));
        assert_ptr_equal(fault.text, rows[i].rules);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_equals_brute_force),
        cmocka_unit_test(a_column_and_a_row_split_meet_in_one_sum),
        cmocka_unit_test(weights_cut_by_the_batch_axis_are_gathered),
        cmocka_unit_test(attention_by_heads_sums_once),
        cmocka_unit_test(what_is_not_searched_is_named),
        cmocka_unit_test(rules_are_read_with_their_place),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
