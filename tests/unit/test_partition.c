/*
 * Partitions by hand: where the collectives of the usual ways come, how conflicts are
 * settled, what is refused.
 */
#include "model_fixture.h"

#include "ridge/shard.h"

#include <string.h>

/* x [B, T, D] through a feed-forward part, added to itself, normed. */
static const char MLP[] = "program mlp train\n"
                          "dims B=8 T=16 D=32 F=64\n"
                          "block layer\n"
                          "  input x[B,T,D] bf16\n"
                          "  weight w_up[D,F] bf16\n"
                          "  weight w_down[F,D] bf16\n"
                          "  weight w_norm[D] bf16\n"
                          "  up[B,T,F] bf16 = einsum x, w_up\n"
                          "  act[B,T,F] bf16 = gelu up\n"
                          "  y[B,T,D] bf16 = einsum act, w_down\n"
                          "  z[B,T,D] bf16 = add x, y\n"
                          "  h[B,T,D] bf16 = norm z, w_norm\n";

static const ridge_program *parse(ridge_ctx *cx, const char *text)
{
    const ridge_program *p = NULL;
    assert_ok(cx, ridge_program_parse(cx, ridge_str_of(text), "inline", &p));
    return p;
}

static ridge_mesh mesh_of(ridge_ctx *cx, const char *text)
{
    ridge_mesh mesh;
    assert_ok(cx, ridge_mesh_parse(cx, text, &mesh));
    return mesh;
}

static const ridge_partition *build(ridge_ctx *cx, const char *text, const char *mesh,
                                    const ridge_rule *rules, int n)
{
    const ridge_mesh m = mesh_of(cx, mesh);
    const ridge_partition *p = NULL;
    assert_ok(cx,
              ridge_partition_build(cx, parse(cx, text), &m, rules, n, NULL, NULL, &p));
    return p;
}

/* The written partition has this line; says which it has if not. */
static void assert_line(ridge_ctx *cx, const ridge_partition *p, const char *line)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    ridge_partition_write(p, &text);
    if (strstr(ridge_buf_text(&text), line) == NULL)
        fail_msg("no line \"%s\" in\n%s", line, ridge_buf_text(&text));
}

static int count_collectives(const ridge_partition *p)
{
    int n = 0;
    for (int i = 0; i < p->program->n_ops; i++)
        n += p->program->ops[i].code == RIDGE_OPCODE_COLLECTIVE;
    return n;
}

#define WEIGHT_RULE(d, ...)                                                            \
    {                                                                                  \
        .role = RIDGE_ROLE_WEIGHT, .dim = d, __VA_ARGS__                               \
    }
#define ACTIVATION_RULE(d, ...)                                                        \
    {                                                                                  \
        .role = RIDGE_ROLE_ACTIVATION, .dim = d, __VA_ARGS__                           \
    }
#define INPUT_RULE(d, ...)                                                             \
    {                                                                                  \
        .role = RIDGE_ROLE_INPUT, .dim = d, __VA_ARGS__                                \
    }
#define OVER(axis) .n_axes = 1, .axes = {axis}

/* ---- the usual ways ------------------------------------------------------------- */

static void without_rules_nothing_is_cut(void **state)
{
    const ridge_partition *p = build(*state, MLP, "x=4", NULL, 0);
    assert_int_equal(count_collectives(p), 0);
    assert_int_equal(p->program->n_ops, 5);
}

static void column_then_row_needs_one_all_reduce(void **state)
{
    const ridge_rule rules[] = {WEIGHT_RULE("F", OVER("tp"))};
    const ridge_partition *p = build(*state, MLP, "tp=4", rules, 1);
    assert_int_equal(count_collectives(p), 1);
    assert_line(*state, p, "act[B,T,F@tp] = gelu up[B,T,F@tp]\n");
    assert_line(*state, p, "y[B,T,D]{U@tp} = einsum act[B,T,F@tp], w_down[F@tp,D]\n");
    assert_line(*state, p, "copy_1.y[B,T,D] = AllReduce@tp y[B,T,D]{U@tp}\n");
    assert_line(*state, p, "z[B,T,D] = add x[B,T,D], copy_1.y[B,T,D]\n");
}

static void a_cut_sequence_makes_it_a_scatter_and_a_gather(void **state)
{
    const ridge_rule rules[] = {
        WEIGHT_RULE("F", OVER("tp")), INPUT_RULE("T", OVER("tp")),
        ACTIVATION_RULE("T", OVER("tp")), ACTIVATION_RULE("F", OVER("tp"))};
    const ridge_partition *p = build(*state, MLP, "tp=4", rules, 4);
    assert_int_equal(count_collectives(p), 2);
    assert_line(*state, p, "copy_1.x[B,T,D] = AllGather@tp x[B,T@tp,D]\n");
    assert_line(*state, p, "copy_1.y[B,T@tp,D] = ReduceScatter@tp y[B,T,D]{U@tp}\n");
    assert_line(*state, p, "h[B,T@tp,D] = norm z[B,T@tp,D], w_norm[D]\n");
    assert_int_equal(p->n_conflicts, 0);
}

static void cut_weights_are_gathered_once(void **state)
{
    const ridge_rule rules[] = {WEIGHT_RULE("D", OVER("fsdp")),
                                INPUT_RULE("B", OVER("fsdp")),
                                ACTIVATION_RULE("B", OVER("fsdp"))};
    const ridge_partition *p = build(*state, MLP, "fsdp=4", rules, 3);
    assert_int_equal(count_collectives(p), 3);
    assert_line(*state, p, "copy_1.w_up[D,F] = AllGather@fsdp w_up[D@fsdp,F]\n");
    assert_line(*state, p, "copy_1.w_norm[D] = AllGather@fsdp w_norm[D@fsdp]\n");
    assert_near(ridge_partition_local_elements(
                    p, ridge_program_tensor_find(p->program, "w_up")),
                8.0 * 64.0, 0.0);
    const int copy = ridge_program_tensor_find(p->program, "copy_1.w_up");
    assert_int_equal(p->copy_of[copy], ridge_program_tensor_find(p->program, "w_up"));
}

static void words_cut_take_two_all_reduces(void **state)
{
    static const char LOSS[] = "program loss train\n"
                               "dims B=4 T=8 V=32\n"
                               "block head\n"
                               "  input logits[B,T,V] bf16\n"
                               "  input labels[B,T] fp32\n"
                               "  loss[B,T] fp32 = loss logits, labels\n";
    const ridge_rule rules[] = {INPUT_RULE("V", OVER("tp"))};
    const ridge_partition *p = build(*state, LOSS, "tp=4", rules, 1);
    assert_int_equal(count_collectives(p), 2);
    assert_line(*state, p,
                "copy_1.loss[B,T]{U@tp} = loss logits[B,T,V@tp], labels[B,T]\n");
    assert_line(*state, p, "loss[B,T] = AllReduce@tp copy_2.loss[B,T]{U@tp}\n");
}

/* Eight query heads on two KV heads. */
static const char ATTENTION[] = "program heads train\n"
                                "dims B=2 T=8 N=8 K=2 H=4\n"
                                "block layer\n"
                                "  input q[B,T,N,H] bf16\n"
                                "  input k[B,T,K,H] bf16\n"
                                "  input v[B,T,K,H] bf16\n"
                                "  o[B,T,N,H] bf16 = attention q, k, v\n";

static void kv_heads_beyond_their_axis_are_replicated(void **state)
{
    const ridge_rule rules[] = {
        {.role = RIDGE_ROLE_INPUT, .dim = "N", .n_axes = 2, .axes = {"a", "b"}},
        {.role = RIDGE_ROLE_INPUT, .dim = "K", .n_axes = 2, .axes = {"a", "b"}}};
    const ridge_partition *p = build(*state, ATTENTION, "a=2,b=2", rules, 2);
    assert_int_equal(count_collectives(p), 0);
    assert_line(
        *state, p,
        "o[B,T,N@ab,H] = attention q[B,T,N@ab,H], k[B,T,K@a,H], v[B,T,K@a,H]\n");
}

static void keys_of_cut_tokens_are_gathered(void **state)
{
    const ridge_rule rules[] = {INPUT_RULE("T", OVER("cp"))};
    const ridge_partition *p = build(*state, ATTENTION, "cp=4", rules, 1);
    assert_int_equal(count_collectives(p), 2);
    assert_line(*state, p,
                "o[B,T@cp,N,H] = attention q[B,T@cp,N,H], "
                "copy_1.k[B,T,K,H], copy_1.v[B,T,K,H]\n");
}

static void tokens_are_exchanged_for_heads(void **state)
{
    const ridge_rule rules[] = {INPUT_RULE("T", OVER("cp")),
                                ACTIVATION_RULE("T", OVER("cp")),
                                {.tensor = "q", .dim = "N", OVER("cp")},
                                {.tensor = "k", .dim = "K", OVER("cp")},
                                {.tensor = "v", .dim = "K", OVER("cp")}};
    const ridge_partition *p = build(*state, ATTENTION, "cp=2", rules, 5);
    assert_int_equal(count_collectives(p), 1);
    assert_line(*state, p, "o[B,T@cp,N,H] = AllToAll@cp copy_1.o[B,T,N@cp,H]\n");
}

/* ---- conflicts ------------------------------------------------------------------ */

/* One axis on a free dim of each operand: the book's fourth case. */
static const char PRODUCT[] = "program product train\n"
                              "dims I=64 J=8 K=16\n"
                              "block only\n"
                              "  input a[I,J] fp32\n"
                              "  weight b[J,K] fp32\n"
                              "  c[I,K] fp32 = einsum a, b\n";

static void the_cheaper_gather_is_taken_and_told(void **state)
{
    const ridge_rule rules[] = {INPUT_RULE("I", OVER("x")),
                                WEIGHT_RULE("K", OVER("x"))};
    const ridge_partition *p = build(*state, PRODUCT, "x=4", rules, 2);
    assert_line(*state, p, "copy_1.b[J,K] = AllGather@x b[J,K@x]\n");
    assert_int_equal(p->n_conflicts, 1);
    assert_string_equal(p->conflicts[0].text,
                        "x cuts I of a and K of b: I kept, cost 384; with K 1536");
    assert_string_equal(p->program->ops[p->conflicts[0].op].name, "c");
}

/* Dear where the gather is of b. */
static double dear_weights(void *payload, const ridge_mesh *mesh,
                           const ridge_reshard *step)
{
    const double *small_bytes = payload;
    (void)mesh;
    return step->bytes <= *small_bytes ? 1e9 : 1.0;
}

static void the_callers_cost_decides(void **state)
{
    const ridge_rule rules[] = {INPUT_RULE("I", OVER("x")),
                                WEIGHT_RULE("K", OVER("x"))};
    const ridge_mesh mesh = mesh_of(*state, "x=4");
    const ridge_partition *p = NULL;
    double small_bytes = 8 * 16 * 4;
    assert_ok(*state, ridge_partition_build(*state, parse(*state, PRODUCT), &mesh,
                                            rules, 2, dear_weights, &small_bytes, &p));
    assert_line(*state, p, "copy_1.a[I,J] = AllGather@x a[I@x,J]\n");
}

static void a_rule_on_the_result_settles_it(void **state)
{
    const ridge_rule rules[] = {INPUT_RULE("I", OVER("x")), WEIGHT_RULE("K", OVER("x")),
                                ACTIVATION_RULE("K", OVER("x"))};
    const ridge_partition *p = build(*state, PRODUCT, "x=4", rules, 3);
    assert_line(*state, p, "copy_1.a[I,J] = AllGather@x a[I@x,J]\n");
    assert_int_equal(p->n_conflicts, 0);
}

static void a_later_rule_takes_the_axis(void **state)
{
    const ridge_rule rules[] = {WEIGHT_RULE("D", OVER("x")),
                                WEIGHT_RULE("F", OVER("x"))};
    const ridge_partition *p = build(*state, MLP, "x=2", rules, 2);
    assert_line(*state, p, "weight w_up[D,F@x]\n");
    assert_line(*state, p, "weight w_norm[D@x]\n");
}

static void an_axis_of_one_rank_cuts_nothing(void **state)
{
    const ridge_rule rules[] = {WEIGHT_RULE("F", OVER("x"))};
    assert_int_equal(count_collectives(build(*state, MLP, "x=1", rules, 1)), 0);
}

/* ---- refusals ------------------------------------------------------------------- */

static void refuse(ridge_ctx *cx, const char *text, const char *mesh,
                   const ridge_rule *rule, const char *why)
{
    const ridge_mesh m = mesh_of(cx, mesh);
    const ridge_partition *p = NULL;
    assert_int_equal(
        ridge_partition_build(cx, parse(cx, text), &m, rule, 1, NULL, NULL, &p),
        RIDGE_E_ARG);
    fixture_assert_message(cx, why);
    assert_null(p);
}

static void bad_rules_are_refused_with_the_reason(void **state)
{
    const ridge_rule no_dim = WEIGHT_RULE("Q", OVER("x"));
    const ridge_rule null_dim = {.role = RIDGE_ROLE_WEIGHT, .dim = NULL};
    const ridge_rule no_axis = WEIGHT_RULE("F", OVER("y"));
    const ridge_rule twice = {
        .role = RIDGE_ROLE_WEIGHT, .dim = "F", .n_axes = 2, .axes = {"x", "x"}};
    const ridge_rule many = {.role = RIDGE_ROLE_WEIGHT, .dim = "F", .n_axes = 9};
    const ridge_rule no_tensor = {.tensor = "w", .dim = "F", OVER("x")};
    refuse(*state, MLP, "x=2", &no_dim, "the program has no such dim");
    refuse(*state, MLP, "x=2", &null_dim, "the program has no such dim");
    refuse(*state, MLP, "x=2", &no_axis, "the mesh has no axis 'y'");
    refuse(*state, MLP, "x=2", &twice, "axis x twice");
    refuse(*state, MLP, "x=2", &many, "9 axes: at most 8");
    refuse(*state, MLP, "x=2", &no_tensor, "the program has no such tensor");
}

static void a_cache_must_lie_as_it_is_written(void **state)
{
    static const char CACHE[] = "program cache decode\n"
                                "dims B=4 T=1 S=8 W=3 D=6 X=4\n"
                                "block layer\n"
                                "  input x[B,T,D] bf16\n"
                                "  weight w[D,X] bf16\n"
                                "  cache tail[B,D,W] bf16\n"
                                "  y[B,T,D] bf16, tail = scan x, w  kind=convolution\n";
    const ridge_rule rule = {.role = RIDGE_ROLE_CACHE, .dim = "W", OVER("x")};
    refuse(*state, CACHE, "x=3", &rule, "cannot write tail in place");
}

static void a_partition_is_not_partitioned_again(void **state)
{
    const ridge_rule rules[] = {WEIGHT_RULE("F", OVER("tp"))};
    const ridge_partition *p = build(*state, MLP, "tp=4", rules, 1);
    const ridge_partition *again = NULL;
    assert_int_equal(ridge_partition_build(*state, p->program, &p->mesh, rules, 1, NULL,
                                           NULL, &again),
                     RIDGE_E_ARG);
    fixture_assert_message(*state, "is a collective");
}

static void parallelism_is_checked(void **state)
{
    const ridge_program *program = parse(*state, MLP);
    const ridge_rule *rules = NULL;
    ridge_mesh mesh;
    int n = 0;
    ridge_parallelism p = {.dp = 1, .fsdp = 1, .ep = 1, .cp = 1, .tp = 0};
    assert_int_equal(ridge_parallelism_rules(*state, program, &p, &mesh, &rules, &n),
                     RIDGE_E_ARG);
    fixture_assert_message(*state, "tp=0");
    p.tp = 1;
    p.zero_stage = 4;
    assert_int_equal(ridge_parallelism_rules(*state, program, &p, &mesh, &rules, &n),
                     RIDGE_E_ARG);
    fixture_assert_message(*state, "ZeRO stage 4");
}

static void tp_beyond_the_kv_heads_becomes_two_axes(void **state)
{
    const ridge_parallelism p = {.dp = 1, .fsdp = 1, .ep = 1, .cp = 1, .tp = 8};
    const ridge_rule *rules = NULL;
    ridge_mesh mesh;
    int n = 0;
    assert_ok(*state, ridge_parallelism_rules(*state, parse(*state, ATTENTION), &p,
                                              &mesh, &rules, &n));
    assert_int_equal(mesh.n, 2);
    assert_string_equal(mesh.axes[0].name, "tp");
    assert_int_equal(mesh.axes[0].size, 2);
    assert_string_equal(mesh.axes[1].name, "tpr");
    assert_int_equal(mesh.axes[1].size, 4);
}

/* The n-th allocation fails, for every n: a status, and the ctx still works. */
static void memory_short_is_a_status(void **state)
{
    const ridge_rule rules[] = {WEIGHT_RULE("F", OVER("tp")),
                                INPUT_RULE("B", OVER("dp")),
                                WEIGHT_RULE("D", OVER("dp"))};
    size_t budget = 1 << 12;
    ridge_status st = RIDGE_E_NOMEM;
    (void)state;
    for (; st == RIDGE_E_NOMEM && budget < ((size_t)1 << 22); budget += 1 << 10) {
        ridge_ctx *cx = ridge_ctx_open_budget(budget);
        const ridge_program *program = NULL;
        const ridge_partition *p = NULL;
        ridge_mesh mesh;
        assert_non_null(cx);
        st = ridge_program_parse(cx, ridge_str_of(MLP), "inline", &program);
        if (st == RIDGE_OK)
            st = ridge_mesh_parse(cx, "tp=2,dp=2", &mesh);
        if (st == RIDGE_OK)
            st = ridge_partition_build(cx, program, &mesh, rules, 3, NULL, NULL, &p);
        ridge_ctx_close(cx);
    }
    assert_int_equal(st, RIDGE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_rules_nothing_is_cut),
        cmocka_unit_test(column_then_row_needs_one_all_reduce),
        cmocka_unit_test(a_cut_sequence_makes_it_a_scatter_and_a_gather),
        cmocka_unit_test(cut_weights_are_gathered_once),
        cmocka_unit_test(words_cut_take_two_all_reduces),
        cmocka_unit_test(kv_heads_beyond_their_axis_are_replicated),
        cmocka_unit_test(keys_of_cut_tokens_are_gathered),
        cmocka_unit_test(tokens_are_exchanged_for_heads),
        cmocka_unit_test(the_cheaper_gather_is_taken_and_told),
        cmocka_unit_test(the_callers_cost_decides),
        cmocka_unit_test(a_rule_on_the_result_settles_it),
        cmocka_unit_test(a_later_rule_takes_the_axis),
        cmocka_unit_test(an_axis_of_one_rank_cuts_nothing),
        cmocka_unit_test(bad_rules_are_refused_with_the_reason),
        cmocka_unit_test(a_cache_must_lie_as_it_is_written),
        cmocka_unit_test(a_partition_is_not_partitioned_again),
        cmocka_unit_test(parallelism_is_checked),
        cmocka_unit_test(tp_beyond_the_kv_heads_becomes_two_axes),
        cmocka_unit_test(memory_short_is_a_status),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
