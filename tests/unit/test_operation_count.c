/* What single operations count: FLOPs and bytes by hand. */
#include "program_fixture.h"

#define HEAD                                                                           \
    "program p decode\n"                                                               \
    "dims B=2 T=4 D=8 F=16 N=4 K=2 H=3 R=5 V=100 E=4 C=1~0.5 S=32 J=6 A=7 W=2 L=6\n"   \
    "block b\n"

static ridge_op_count count(ridge_ctx *cx, const char *lines)
{
    const char *text = ridge_sprintf(ridge_ctx_arena(cx), HEAD "%s", lines);
    const ridge_program *p = fixture_parse(cx, text);
    return ridge_operation_count(p, &p->ops[p->n_ops - 1]);
}

static void assert_counts(ridge_ctx *cx, const char *lines, double matmul,
                          double vector, double bytes)
{
    const ridge_op_count c = count(cx, lines);
    assert_near(c.matmul_flops, matmul, 1e-12);
    assert_near(c.vector_flops, vector, 1e-12);
    assert_near(c.bytes, bytes, 1e-12);
}

static void einsums_count_two_a_product(void **state)
{
    assert_counts(*state,
                  "input x[B,T,D] bf16\nweight w[D,F] fp8\n"
                  "y[B,T,F] bf16 = einsum x, w\n",
                  2.0 * 2 * 4 * 8 * 16, 0, 2 * 64 + 128 + 2 * 128);
    /* a sum is no matmul */
    assert_counts(*state, "input x[B,T,D] bf16\ny[D] fp32 = einsum x\n", 0, 64 - 8,
                  2 * 64 + 4 * 8);
}

/* Half a row an expert is in use: half of the experts' weights are read. */
static void padding_counts_for_nothing(void **state)
{
    assert_counts(*state,
                  "input x[E,C,D] bf16\nweight w[E,D,F] bf16\n"
                  "y[E,C,F] bf16 = einsum x, w\n",
                  2.0 * 4 * 0.5 * 8 * 16, 0,
                  2 * (4 * 0.5 * 8 + 4 * 8 * 16 * 0.5 + 4 * 0.5 * 16));
}

static void attention_counts_the_tokens_it_meets(void **state)
{
    static const char QKV[] = "input q[B,T,N,H] bf16\ninput k[B,S,K,H] bf16\n"
                              "o[B,T,N,H] bf16 = attention q, k, k";
    static const struct {
        const char *rest;
        double context;
    } ROWS[] = {{"", 32},
                {"  causal", 32 - 4 / 2.0},
                {"  window=5", 5},
                {"  causal window=5", 5},
                {"  causal window=30", (30 * 30 / 2.0 + 30 * 2 - 28 * 28 / 2.0) / 4},
                {"  causal chunked window=8", 4},
                {"  causal context=7.5", 7.5}};
    const double bytes = 2 * (2 * 4 * 4 * 3 * 2 + 2 * 2 * 32 * 2 * 3);
    for (size_t i = 0; i < RIDGE_COUNT_OF(ROWS); i++) {
        const char *text =
            ridge_sprintf(ridge_ctx_arena(*state), "%s%s\n", QKV, ROWS[i].rest);
        const double scores = 2 * 4 * 4 * ROWS[i].context;
        assert_counts(*state, text, 2 * scores * (3 + 3), 5 * scores, bytes);
    }
}

static void extras_of_attention_count(void **state)
{
    /* rotated parts widen the scores; chosen tokens bound what is read */
    assert_counts(*state,
                  "input q[B,T,N,H] bf16\ninput k[B,S,H] bf16\n"
                  "input qr[B,T,N,R] bf16\ninput kr[B,S,R] bf16\n"
                  "input i[B,T,J] fp32\n"
                  "o[B,T,N,H] bf16 = attention q, k, k, qr, kr, i  rope chosen "
                  "context=6\n",
                  2.0 * 2 * 4 * 4 * 6 * (3 + 5 + 3), 5.0 * 2 * 4 * 4 * 6,
                  2 * (2 * 96 + 160) + 4 * 48 +
                      24.0 / 32 * 2 * (2 * 2 * 32 * 3 + 2 * 32 * 5));
}

static void scans_count_what_they_state(void **state)
{
    assert_counts(*state,
                  "input q[B,T,K,A] bf16\ninput v[B,T,N,H] bf16\n"
                  "cache s[B,N,A,H] fp32\n"
                  "o[B,T,N,H] bf16, s = scan q, q, v  kind=linear flops=100\n",
                  100 * 8, 2 * 112, 2 * (112 + 112 + 96 + 96) + 2 * 4 * 2 * 4 * 7 * 3);
    assert_counts(*state,
                  "input x[B,T,D] bf16\nweight w[D,W] bf16\n"
                  "y[B,T,D] bf16 = scan x, w  kind=convolution\n",
                  0, 2 * 64 * 2, 2 * (64 + 16 + 64));
}

static void lookups_read_rows_and_appends_write_them(void **state)
{
    assert_counts(*state,
                  "weight t[V,D] bf16\ninput i[B,T] fp32\n"
                  "y[B,T,D] bf16 = gather t, i\n",
                  0, 0, 2 * 64 + 4 * 8 + 2 * 64);
    assert_counts(*state, "input k[B,T,D] bf16\ncache c[B,S,D] fp8\nc = append k\n", 0,
                  0, 2 * 64 + 64);
}

static void sums_read_what_they_add_to(void **state)
{
    assert_counts(*state, "input x[B,D] bf16\ngradient g[B,D] fp32\ny: g += copy x\n",
                  0, 0, 2 * 16 + 2 * 4 * 16);
}

static void backward_counts_twice_where_it_is_one_operation(void **state)
{
    const char *forward = "input q[B,T,N,H] bf16\ninput k[B,T,K,H] bf16\n"
                          "o[B,T,N,H] bf16 = attention q, k, k  causal\n";
    const char *backward =
        "input q[B,T,N,H] bf16\ninput k[B,T,K,H] bf16\ninput o[B,T,N,H] bf16\n"
        "gradient do[B,T,N,H] bf16 of o\n"
        "dq[B,T,N,H] bf16 of q, dk[B,T,K,H] bf16 of k, dv[B,T,K,H] bf16 of k = "
        "attention q, k, k, o, do  causal backward\n";
    assert_near(count(*state, backward).matmul_flops,
                2 * count(*state, forward).matmul_flops, 1e-12);
}

static void programs_count_repeats(void **state)
{
    const ridge_program *p =
        fixture_parse(*state, "program p train\ndims B=2 D=3 F=4\nblock b x5\n"
                              "input x[B,D] bf16\nweight w[D,F] bf16\n"
                              "y[B,F] bf16 = einsum x, w\nblock c\nweight u[D] bf16\n");
    assert_near(ridge_program_count(p).matmul_flops, 5 * 2 * 2 * 3 * 4, 0);
    assert_near(ridge_program_count(p).bytes, 5 * 2 * (6 + 12 + 8), 0);
    assert_near(ridge_program_weights(p), 5 * 12 + 3, 0);
    assert_near(ridge_program_elements(p, RIDGE_ROLE_INPUT), 5 * 6, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(einsums_count_two_a_product),
        cmocka_unit_test(padding_counts_for_nothing),
        cmocka_unit_test(attention_counts_the_tokens_it_meets),
        cmocka_unit_test(extras_of_attention_count),
        cmocka_unit_test(scans_count_what_they_state),
        cmocka_unit_test(lookups_read_rows_and_appends_write_them),
        cmocka_unit_test(sums_read_what_they_add_to),
        cmocka_unit_test(backward_counts_twice_where_it_is_one_operation),
        cmocka_unit_test(programs_count_repeats),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
