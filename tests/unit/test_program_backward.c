/* Deriving the backward pass: one operation at a time, sums of shares, blocks. */
#include "program_fixture.h"

#include <string.h>

static const ridge_program *reversed(ridge_ctx *cx, const char *text)
{
    const ridge_program *whole = NULL;
    assert_ok(cx, ridge_program_backward(cx, fixture_parse(cx, text), &whole));
    return whole;
}

#define HEAD "program p train\ndims B=2 T=4 D=8 F=16 N=4 K=2 H=2 V=10 E=4 C=4 A=3 W=2\n"

/* ---- rules ----------------------------------------------------------------------- */

typedef struct rule_row {
    const char *forward;  /* lines of one block */
    const char *backward; /* a line of the derived one */
} rule_row;

static void check_rules(ridge_ctx *cx, const rule_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *text =
            ridge_sprintf(ridge_ctx_arena(cx), HEAD "block b\n%s", rows[i].forward);
        assert_holds(cx, reversed(cx, text), rows[i].backward);
    }
}

static void an_einsum_gives_two(void **state)
{
    static const rule_row ROWS[] = {
        {"weight x[B,D] bf16\nweight w[D,F] bf16\ny[B,F] bf16 = einsum x, w  part=mlp",
         "d_x[B,D] bf16 of x = einsum d_y, w  part=mlp of=b.y\n"
         "  d_w[D,F] bf16 of w = einsum d_y, x  part=mlp of=b.y\n"},
        /* a transposition, a sum, and a dim that the other operand lacks */
        {"weight x[B,D] bf16\ny[D,B] bf16 = einsum x",
         "d_x[B,D] bf16 of x = copy d_y  of=b.y\n"},
        {"weight x[B,D] bf16\ny[D] bf16 = einsum x",
         "d_x[B,D] bf16 of x = copy d_y  of=b.y\n"},
        {"weight x[B,D,A] bf16\nweight w[D,F] bf16\ny[B,F] bf16 = einsum x, w",
         "gradient d_x[B,D] bf16 = einsum d_y, w  of=b.y\n"
         "  d_x_2[B,D,A] bf16 of x = copy d_x  of=b.y\n"},
    };
    check_rules(*state, ROWS, RIDGE_COUNT_OF(ROWS));
}

static void elementwise_functions_have_rules(void **state)
{
    static const rule_row ROWS[] = {
        /* a bias is summed; what is as large as the output takes its gradient */
        {"weight x[B,D] bf16\nweight c[D] bf16\ny[B,D] bf16 = add x, c\n"
         "z[B,D] bf16 = silu y",
         "d_y[B,D] bf16 of y = silu y, d_z  of=b.z\n"
         "  d_c[D] bf16 of c = einsum d_y  of=b.y\n"},
        {"weight x[B,D] bf16\nweight c[B,D] bf16\ny[B,D] bf16 = multiply x, c",
         "d_x[B,D] bf16 of x = multiply d_y, c  of=b.y\n"
         "  d_c[B,D] bf16 of c = multiply d_y, x  of=b.y\n"},
        {"weight x[B,D] bf16\nweight c[B] bf16\ny[B,D] bf16 = multiply x, c",
         "gradient d_c[B,D] bf16 = multiply d_y, x  of=b.y\n"
         "  d_c_2[B] bf16 of c = einsum d_c  of=b.y\n"},
        {"weight x[B,D] bf16\nweight u[B,D] bf16\ny[B,D] bf16 = swiglu x, u",
         "d_x[B,D] bf16 of x, d_u[B,D] bf16 of u = swiglu x, u, d_y  of=b.y\n"},
        {"weight x[B,D] bf16\ny[B,D] bf16 = rotary x  over=B",
         "d_x[B,D] bf16 of x = rotary d_y  over=B of=b.y\n"},
        {"weight x[B,D] bf16\ny[B,D] bf16 = scale x  scale=0.5",
         "d_x[B,D] bf16 of x = scale d_y  scale=0.5 of=b.y\n"},
    };
    check_rules(*state, ROWS, RIDGE_COUNT_OF(ROWS));
}

static void mixers_have_rules(void **state)
{
    static const rule_row ROWS[] = {
        {"weight q[B,T,N,H] bf16\nweight k[B,T,K,H] bf16\nweight v[B,T,K,D] bf16\n"
         "weight s[N] bf16\no[B,T,N,D] bf16 = attention q, k, v, s  causal window=2 "
         "sinks",
         "d_q[B,T,N,H] bf16 of q, d_k[B,T,K,H] bf16 of k, d_v[B,T,K,D] bf16 of v, "
         "d_s[N] bf16 of s = attention q, k, v, s, o, d_o  causal window=2 sinks "
         "of=b.o\n"},
        {"weight q[B,T,K,A] bf16\nweight v[B,T,N,H] bf16\nweight r[B,T,N] bf16\n"
         "o[B,T,N,H] bf16 = scan q, q, v, r  kind=linear flops=7",
         "d_q[B,T,K,A] bf16 of q, d_q_2[B,T,K,A] bf16 of q, d_v[B,T,N,H] bf16 of v, "
         "d_r[B,T,N] bf16 of r = scan q, q, v, r, d_o  kind=linear flops=7 of=b.o\n"},
        {"weight q[B,T,N,A] bf16\nweight v[B,T,N,H] bf16\nweight r[B,T,N] bf16\n"
         "o[B,T,N,H] bf16 = scan q, q, v, r, r  kind=delta",
         "d_q[B,T,N,A] bf16 of q, d_q_2[B,T,N,A] bf16 of q, d_v[B,T,N,H] bf16 of v, "
         "d_r[B,T,N] bf16 of r, d_r_2[B,T,N] bf16 of r = scan q, q, v, r, r, d_o  "
         "kind=delta of=b.o\n"},
        {"weight x[B,D] bf16\nweight w[D] bf16\n"
         "y[B,D] bf16 = norm x, w  groups=2",
         "d_x[B,D] bf16 of x, d_w[D] bf16 of w = norm x, w, d_y  groups=2 of=b.y\n"},
        {"weight x[B,T,D] bf16\nweight w[D,W] bf16\n"
         "y[B,T,D] bf16 = scan x, w  kind=convolution",
         "d_x[B,T,D] bf16 of x, d_w[D,W] bf16 of w = scan x, w, d_y  "
         "kind=convolution of=b.y\n"},
    };
    check_rules(*state, ROWS, RIDGE_COUNT_OF(ROWS));
}

static void the_rest_has_rules(void **state)
{
    static const rule_row ROWS[] = {
        {"weight x[B,D] bf16\nweight w[D] bf16\nweight c[D] bf16\n"
         "y[B,D] bf16 = norm x, w, c",
         "d_x[B,D] bf16 of x, d_w[D] bf16 of w, d_c[D] bf16 of c = norm x, w, d_y  "
         "of=b.y\n"},
        {"weight t[V,D] bf16\ninput i[B] fp32\ny[B,D] bf16 = gather t, i",
         "d_t[V,D] bf16 of t = gather i, d_y  of=b.y\n"},
        {"weight l[B,V] bf16\ninput i[B] fp32\ny[B] fp32 = loss l, i",
         "d_l[B,V] bf16 of l = loss l, i  of=b.y\n"},
        {"weight l[B,V] bf16\ninput i[B] fp32\nc[B] fp32 = loss l, i\n"
         "y[B] fp32 = scale c  scale=2",
         "d_c[B] fp32 of c = scale d_y  scale=2 of=b.y\n"
         "  d_l[B,V] bf16 of l = loss l, i, d_c  of=b.c\n"},
        {"weight l[B,E] bf16\nweight x[B,D] bf16\ng[B,E] bf16 = route l  k=2\n"
         "r[E,C,D] bf16 = dispatch x, g  k=2\ny[B,D] bf16 = combine r, g  k=2",
         "d_r[E,C,D] bf16 of r, d_g[B,E] bf16 of g = combine r, g, d_y  k=2 of=b.y\n"
         "  d_x[B,D] bf16 of x = dispatch g, d_r  k=2 of=b.r\n"
         "  d_l[B,E] bf16 of l = route g, d_g  k=2 of=b.g\n"},
    };
    check_rules(*state, ROWS, RIDGE_COUNT_OF(ROWS));
}

/* ---- sums and blocks ------------------------------------------------------------- */

static void shares_are_added_where_the_tensor_was_made(void **state)
{
    const ridge_program *p = reversed(*state, HEAD "block b\n"
                                                   "weight x[B,D] bf16\n"
                                                   "y[B,D] bf16 = silu x\n"
                                                   "z[B,D] bf16 = gelu x\n"
                                                   "u[B,D] bf16 = relu x\n"
                                                   "v[B,D] bf16 = add y, z\n"
                                                   "w[B,D] bf16 = add v, u\n");
    assert_holds(*state, p,
                 "d_x[B,D] bf16 of x = relu x, d_w  of=b.u\n"
                 "  d_x_2[B,D] bf16 of x = gelu x, d_w  of=b.z\n"
                 "  d_x_3[B,D] bf16 of x = silu x, d_w  of=b.y\n"
                 "  d_x_4[B,D] bf16 of x = add d_x, d_x_2\n"
                 "  d_x_5[B,D] bf16 of x = add d_x_4, d_x_3\n");
    const int whole = ridge_program_gradient(p, ridge_program_tensor_find(p, "x"));
    assert_string_equal(p->tensors[whole].name, "d_x_5");
}

static void what_hangs_on_inputs_alone_has_no_gradient(void **state)
{
    const ridge_program *p = reversed(*state, HEAD "block b\n"
                                                   "input x[B,D] bf16\n"
                                                   "weight w[D,F] bf16\n"
                                                   "h[B,D] bf16 = silu x\n"
                                                   "y[B,F] bf16 = einsum h, w\n");
    assert_int_equal(ridge_program_gradient(p, ridge_program_tensor_find(p, "x")), -1);
    assert_int_equal(ridge_program_gradient(p, ridge_program_tensor_find(p, "h")), -1);
    assert_true(ridge_program_gradient(p, ridge_program_tensor_find(p, "w")) >= 0);
    /* The output's own gradient comes from outside. */
    assert_holds(*state, p,
                 "block gradients backward\n  gradient d_y[B,F] bf16 of y\n");
}

static void streams_are_carried_back(void **state)
{
    const ridge_program *p = reversed(*state, HEAD "block a\n"
                                                   "weight t[B,D] bf16\n"
                                                   "x[B,D] bf16 = silu t\n"
                                                   "block layer x3 carry x -> y\n"
                                                   "weight w[D] bf16\n"
                                                   "h[B,D] bf16 = norm x, w\n"
                                                   "y[B,D] bf16 = add x, h\n"
                                                   "block head\n"
                                                   "weight u[V,D] bf16\n"
                                                   "input i[B] fp32\n"
                                                   "l[B,V] bf16 = einsum y, u\n"
                                                   "s[B] fp32 = loss l, i\n");
    assert_holds(*state, p,
                 "block layer_backward x3 backward of=layer carry d_y -> d_x_2\n"
                 "  d_x[B,D] bf16 of x, d_w[D] bf16 of w = norm x, w, d_y  of=layer.h\n"
                 "  d_x_2[B,D] bf16 of x = add d_y, d_x\n"
                 "\n"
                 "block a_backward backward of=a\n"
                 "  d_t[B,D] bf16 of t = silu t, d_x_2  of=a.x\n");
}

/* A stream that goes through untouched still has a tensor of its own to carry out. */
static void an_untouched_stream_is_copied(void **state)
{
    const ridge_program *p = reversed(*state, HEAD "block a\n"
                                                   "weight x[B,D] bf16\n"
                                                   "block layer x3 carry x -> y\n"
                                                   "weight c[D] bf16\n"
                                                   "y[B,D] bf16 = add x, c\n");
    assert_holds(*state, p,
                 "block layer_backward x3 backward of=layer carry d_y -> d_x\n"
                 "  d_c[D] bf16 of c = einsum d_y  of=layer.y\n"
                 "  d_x[B,D] bf16 of x = copy d_y\n");
}

static void shares_of_repetitions_are_added_up(void **state)
{
    const ridge_program *p = reversed(*state, HEAD "block a\n"
                                                   "weight x[B,D] bf16\n"
                                                   "weight w[D] bf16\n"
                                                   "block layer x3 carry x -> y\n"
                                                   "y[B,D] bf16 = norm x, w\n");
    assert_holds(*state, p, "block gradients backward\n");
    assert_holds(*state, p, "  gradient d_w[D] bf16 of w\n");
    assert_holds(*state, p, "  d_w_2_sum: d_w += copy d_w_2  of=layer.y\n");
    const int whole = ridge_program_gradient(p, ridge_program_tensor_find(p, "w"));
    assert_string_equal(p->tensors[whole].name, "d_w");
}

/* ---- what has none --------------------------------------------------------------- */

static void what_cannot_be_reversed_is_refused(void **state)
{
    static const rule_row ROWS[] = {
        {"block b backward\nweight x[B,D] bf16\ny[B,D] bf16 = copy x",
         "the program has a backward block already: 'b'"},
        {"", "a program without blocks has no gradient"},
        {"block b\nweight x[B,T] bf16\ncache c[B,V] bf16\nc = append x\n"
         "weight w[V] bf16\ny[B] bf16 = einsum c, w",
         NULL},
        {"block b x2\nweight x[B,D] bf16\ny[B,D] bf16 = silu x",
         "block 'b' repeats and carries nothing"},
        {"block a\nweight x[B,D] bf16\nblock b x2 carry x -> y\nweight w[B,D] bf16\n"
         "y[B,D] bf16 = silu w",
         "its output hangs on nothing that it carries in"},
        {"block a\nweight x[B,D] bf16\nblock b x2 carry x -> y\nh[B,D] bf16 = silu x\n"
         "y[B,D] bf16 = silu h\nblock c\nz[B,D] bf16 = add h, y",
         "'h' is read from outside of the repeated block"},
        {"block a\nweight x[B,D] bf16\nblock b x2 carry x -> y\nweight w[D] bf16\n"
         "y[B,D] bf16 = norm x, w\nz[B,D] bf16 = silu y",
         "or nothing on its output"},
        {"block b\nweight x[B,D] bf16\ny[B,D] bf16 = collective x  collective=1",
         "'y' has no backward rule"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(ROWS); i++) {
        const ridge_program *whole = NULL;
        const char *text =
            ridge_sprintf(ridge_ctx_arena(*state), HEAD "%s", ROWS[i].forward);
        const ridge_status st =
            ridge_program_backward(*state, fixture_parse(*state, text), &whole);
        assert_int_equal(st, ROWS[i].backward != NULL ? RIDGE_E_ARG : RIDGE_OK);
        if (ROWS[i].backward != NULL)
            fixture_assert_message(*state, ROWS[i].backward);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_einsum_gives_two),
        cmocka_unit_test(elementwise_functions_have_rules),
        cmocka_unit_test(mixers_have_rules),
        cmocka_unit_test(the_rest_has_rules),
        cmocka_unit_test(shares_are_added_where_the_tensor_was_made),
        cmocka_unit_test(what_hangs_on_inputs_alone_has_no_gradient),
        cmocka_unit_test(streams_are_carried_back),
        cmocka_unit_test(an_untouched_stream_is_copied),
        cmocka_unit_test(shares_of_repetitions_are_added_up),
        cmocka_unit_test(what_cannot_be_reversed_is_refused),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
