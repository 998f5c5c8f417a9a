/* Reading programs: what is read, and what every mistake is answered with. */
#include "program_fixture.h"

#include <string.h>

#define HEAD "program p train\ndims B=2 T=4 D=8 F=16 N=4 K=2 H=2 V=10 E=4 C=3~2.5\n"

/* ---- what is read ---------------------------------------------------------------- */

static void fields_are_read(void **state)
{
    const ridge_program *p =
        fixture_parse(*state, HEAD "block layer x3 layer=1 # a comment\n"
                                   "  weight wq[D,N,H] bf16\n"
                                   "  input x[B,T,D] fp32\n"
                                   "\n"
                                   "  proj: q[B,T,N,H] bf16 = einsum x, wq"
                                   "  part=attention head\n");
    assert_string_equal(p->name, "p");
    assert_int_equal(p->phase, RIDGE_PHASE_TRAIN);
    assert_int_equal(p->n_dims, 10);
    assert_near(p->dims[9].used, 2.5, 0);
    assert_int_equal(p->n_blocks, 1);
    assert_int_equal(p->blocks[0].repeat, 3);
    assert_int_equal(p->blocks[0].layer, 1);
    assert_int_equal(p->blocks[0].carry_in, -1);
    assert_int_equal(p->n_tensors, 3);
    assert_int_equal(p->tensors[0].role, RIDGE_ROLE_WEIGHT);
    assert_int_equal(p->tensors[1].dtype, RIDGE_DTYPE_FP32);
    assert_int_equal(p->tensors[2].role, RIDGE_ROLE_ACTIVATION);
    const ridge_operation *op = fixture_op(p, "layer.proj");
    assert_int_equal(op->code, RIDGE_OPCODE_EINSUM);
    assert_int_equal(op->part, RIDGE_PART_ATTENTION);
    assert_true(op->is_head);
    assert_int_equal(op->inputs[0], 1);
    assert_int_equal(op->inputs[1], 0);
}

static void attributes_are_read(void **state)
{
    const ridge_program *p = fixture_parse(
        *state, HEAD "block b\n"
                     "  input q[B,T,N,H] bf16\n"
                     "  input k[B,T,K,H] bf16\n"
                     "  input logits[B,T,E] bf16\n"
                     "  weight sinks[N] bf16\n"
                     "  o[B,T,N,H] bf16 = attention q, k, k, sinks  causal window=3"
                     " chunked sinks context=1.5 scale=0.125\n"
                     "  r[B,T,N,H] bf16 = rotary q  over=T\n"
                     "  gates[B,T,E] bf16 = route logits  k=2\n");
    const ridge_operation *o = fixture_op(p, "b.o");
    assert_true(o->is_causal && o->is_window_chunked);
    assert_int_equal(o->window, 3);
    assert_int_equal(o->extras, RIDGE_ATTENTION_SINKS);
    assert_near(o->context_tokens, 1.5, 0);
    assert_near(o->scale, 0.125, 0);
    assert_int_equal(fixture_op(p, "b.r")->position_dim, 1);
    assert_int_equal(fixture_op(p, "b.gates")->experts_per_token, 2);
}

/* Streams are carried, results written in place, sums added to. */
static void blocks_carry_and_go_along(void **state)
{
    const ridge_program *p =
        fixture_parse(*state, HEAD "block first\n"
                                   "  input x[B,T,D] bf16\n"
                                   "  gradient total[B,T,D] bf16\n"
                                   "block layer x2 carry x -> y\n"
                                   "  y[B,T,D] bf16 = silu x\n"
                                   "block back x2 backward of=layer\n"
                                   "  d_y[B,T,D] bf16 of y = copy x\n"
                                   "  sum: total += copy d_y  of=layer.y\n");
    assert_int_equal(p->blocks[1].carry_in, 0);
    assert_string_equal(p->tensors[p->blocks[1].carry_out].name, "y");
    assert_true(p->blocks[2].is_backward);
    assert_int_equal(p->blocks[2].forward_of, 1);
    const ridge_operation *sum = fixture_op(p, "back.sum");
    assert_true(sum->is_added && sum->is_backward);
    assert_int_equal(sum->forward_of, 0);
    const int d_y = ridge_program_tensor_find(p, "d_y");
    assert_int_equal(p->tensors[d_y].role, RIDGE_ROLE_GRADIENT);
    assert_int_equal(ridge_program_gradient(p, p->tensors[d_y].gradient_of), -1);
}

static void one_change_makes_programs_differ(void **state)
{
    static const char *const TEXTS[] = {
        HEAD "block b\n  input x[B,T] bf16\n  y[B,T] bf16 = silu x\n",
        HEAD "block b x2\n  input x[B,T] bf16\n  y[B,T] bf16 = silu x\n",
        HEAD "block b\n  weight x[B,T] bf16\n  y[B,T] bf16 = silu x\n",
        HEAD "block b\n  input x[B,T] fp32\n  y[B,T] bf16 = silu x\n",
        HEAD "block b\n  input x[T,B] bf16\n  y[B,T] bf16 = silu x\n",
        HEAD "block b\n  input x[B,T] bf16\n  y[B,T] bf16 = gelu x\n",
        HEAD "block b\n  input x[B,T] bf16\n  z: y[B,T] bf16 = silu x\n",
        HEAD "block b\n  input x[B,T] bf16\n  y[B,T] bf16 = silu x  part=mlp\n",
        HEAD "block b\n  input x[B,T] bf16\n  y[B,T] bf16 = norm x\n",
        HEAD "block b\n  input x[B,T] bf16\n  y[B,T] bf16 = norm x  kind=layer\n",
        HEAD "dims Z=3\nblock b\n  input x[B,T] bf16\n  y[B,T] bf16 = silu x\n",
        ("program p decode\ndims B=2 T=4 D=8 F=16 N=4 K=2 H=2 V=10 E=4 C=3~2.5\n"
         "block b\n  input x[B,T] bf16\n  y[B,T] bf16 = silu x\n")};
    for (size_t i = 0; i < RIDGE_COUNT_OF(TEXTS); i++) {
        for (size_t k = 0; k < RIDGE_COUNT_OF(TEXTS); k++) {
            const ridge_program *a = fixture_parse(*state, TEXTS[i]);
            const ridge_program *b = fixture_parse(*state, TEXTS[k]);
            assert_int_equal(ridge_program_equal(a, b), i == k);
        }
    }
}

/* ---- mistakes -------------------------------------------------------------------- */

typedef struct mistake {
    const char *text, *message;
} mistake;

static void check_mistakes(ridge_ctx *cx, const mistake *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const ridge_program *program = NULL;
        const ridge_status st =
            ridge_program_parse(cx, ridge_str_of(list[i].text), "p.txt", &program);
        if (st != RIDGE_E_PARSE)
            print_error("%s\nis read as %s\n", list[i].text, ridge_status_text(st));
        assert_int_equal(st, RIDGE_E_PARSE);
        fixture_assert_message(cx, list[i].message);
    }
}

static void mistakes_around_blocks_are_pointed_at(void **state)
{
    static const mistake LIST[] = {
        {"", "p.txt:1:1: a program begins with a line program NAME PHASE: '^'"},
        {"progam x train", "p.txt:1:1: a program begins"},
        {"program x", "p.txt:1:10: a phase (train, prefill, decode) is wanted here"},
        {"program x trains", "p.txt:1:11: a phase is train, prefill or decode: "
                             "'program x ^trains'"},
        {"program x train\ndims B", "p.txt:2:7: =SIZE is wanted here"},
        {"program x train\ndims B=0", "p.txt:2:8: a whole number from 1 to"},
        {"program x train\ndims B=2~3", "more than 0 and no more than its size"},
        {"program x train\ndims B=2 B=3", "p.txt:2:10: dim 'B' is listed twice"},
        {"program x train\ndims 2=2", "p.txt:2:6: the name of a dim is wanted here"},
        {HEAD "  input x[B] bf16", "p.txt:3:3: a line dims NAME=SIZE … or block NAME"},
        {HEAD "block b b2", "p.txt:3:9: after a block's name come"},
        {HEAD "block b x0", "p.txt:3:10: a whole number from 1 to 1000000"},
        {HEAD "block b\nblock b", "p.txt:4:7: two blocks are called 'b'"},
        {HEAD "block b of=c", "p.txt:3:12: no block 'c' stands before this one"},
        {HEAD "block b carry x -> y", "p.txt:3:15: no tensor 'x' stands before"},
        {HEAD "block a\n input x[B,T] bf16\nblock b carry x y", "-> is wanted here"},
        {HEAD "block a\n input x[B,T] bf16\nblock b x2 carry x -> y\n",
         "p.txt:5:23: the block makes no tensor 'y' to carry out"},
        {HEAD "block a\n input x[B,T] bf16\nblock b x2 carry x -> y\n"
              " input y[B,D] bf16\n",
         "p.txt:5:23: what is carried out has other dims"},
        {HEAD "block a x2\nblock b x3 of=a", "repeats as often as the one"},
    };
    check_mistakes(*state, LIST, RIDGE_COUNT_OF(LIST));
}

static void mistakes_in_lines_are_pointed_at(void **state)
{
#define X HEAD "block b\n  input x[B,T,D] bf16\n"
    static const mistake LIST[] = {
        {X "  input x[B] bf16",
         "p.txt:5:9: two tensors are called 'x': '  input ^x[B]"},
        {X "  input y[B,Z] bf16", "p.txt:5:13: no dim 'Z'"},
        {X "  input y[B,B] bf16", "p.txt:5:13: a dim stands twice in one tensor"},
        {X "  input y[B,T bf16", "p.txt:5:15: a comma or ] is wanted here"},
        {X "  input y[B] bf61", "p.txt:5:14: no number format 'bf61'"},
        {X "  input y", "[DIM,…] and a number format are wanted here"},
        {X "  y[B] bf16", "a declaration begins with input, weight"},
        {X "  gradient y[B] bf16 of z", "p.txt:5:25: no tensor 'z' before this line"},
        {X "  y[B,T,D] bf16 = silu z", "p.txt:5:24: no tensor 'z' before this line: "
                                       "declare it, as in weight w[D,F] bf16: '  "
                                       "y[B,T,D] bf16 = silu ^z'"},
        {X "  y[B,T,D] bf16 = silo x", "p.txt:5:19: an operation is wanted here"},
        {X "  y[B,T,D] bf16 = silu x  casual",
         "p.txt:5:27: no attribute 'casual', did you mean causal?"},
        {X "  y[B,T,D] bf16 = silu x  window", "=VALUE is wanted here"},
        {X "  y[B,T,D] bf16 = silu x  window=-1", "a whole number from 1"},
        {X "  y[B,T,D] bf16 = silu x  scale=no", "a number of at least 0"},
        {X "  y[B,T,D] bf16 = silu x  of=b.z", "of=BLOCK.OPERATION names"},
        {X "  y[B,T,D] bf16 = silu x  part=core", "a part is attention, mlp"},
        {X "  y[B,T,D] bf16 = silu x  kind=deep", "a scan is of kind linear"},
        {X "  y[B,T,D] bf16 = norm x  kind=deep", "a norm is of kind rms or layer"},
        {X "  y[B,T,D] bf16 = silu x  axes=0,77", "a whole number from 0 to 31"},
        {X "  y[B,T,D] bf16 silu x", "= and an operation are wanted here"},
        {X "  y[B,T,D] bf16 = silu x,", "an input tensor is wanted here"},
        {X "  y[B,T,D] bf16 = silu y", "an operation cannot read what it makes"},
        {X "  y[B,T,D] bf16 += silu x", "what += adds to is declared"},
        {X "  weight y[B,T,D] bf16 = silu x", "are declared on a line of their own"},
        {X "  y: x = silu x\n  y: x = silu x",
         "two operations of the block are called"},
    };
    check_mistakes(*state, LIST, RIDGE_COUNT_OF(LIST));
}

/* The dims of each operation: one mistake each. */
static void operations_that_do_not_fit_are_refused(void **state)
{
    static const mistake LIST[] = {
        {X "  y[B,F] bf16 = einsum x",
         "an output dim of an einsum must be in an input"},
        {X "  y[B] bf16 = einsum x, x, x", "an einsum takes one or two inputs"},
        {X "  y[B,T,D] bf16 = attention x, x", "attention takes q, k, v"},
        {X " input q[B,T,N,H] bf16\n input k[B,T,K,D] bf16\n"
           " o[B,T,N,H] bf16 = attention q, k, k",
         "k must end in S, K and the H of q"},
        {X " input q[B,T,K,H] bf16\n input k[B,T,N,H] bf16\n"
           " o[B,T,K,H] bf16 = attention q, k, k",
         "the KV heads must divide the query heads"},
        {X " input q[B,T,N,H] bf16\n input k[B,T,K,H] bf16\n"
           " o[B,T,H,N] bf16 = attention q, k, k",
         "the output of attention has the dims of q"},
        {X "  y[B,T,D] bf16 = scan x, x", "a linear scan takes"},
        {X "  y[B,T,D] bf16 = scan x, x  kind=convolution", "a convolution takes"},
        {X "  y[B,T,D] bf16 = scan x, x  kind=select", "a select takes"},
        {X "  y[B,T,D] bf16 = scan x, x, x  kind=pool", "a pool takes"},
        {X " weight w[T] bf16\n y[B,T,D] bf16 = norm x, w", "a norm takes x[.., D]"},
        {X "  y[B,T] bf16 = silu x", "has a dim that its output lacks"},
        {X "  y[B,T,D,F] bf16 = silu x", "only add, multiply and copy repeat"},
        {X "  y[B,T,D] bf16 = rotary x", "rotary needs over=DIM"},
        {X "  y[B,T,D] bf16 = add x", "wrong number of inputs"},
        {X " weight w[V,F] bf16\n input i[B,T] fp32\n y[B,T,D] bf16 = gather w, i",
         "a gather takes table[V, c..]"},
        {X " input i[B,D] fp32\n l[B,T] bf16 = loss x, i",
         "a loss takes logits[.., V]"},
        {X "  y[B,T,D] bf16 = route x", "a route needs k=COUNT"},
        {X "  y[B,T,E] bf16 = route x  k=2", "a route takes logits"},
        {X " input g[B,T,E] bf16\n y[E,C,F] bf16 = dispatch x, g", "a dispatch takes"},
        {X " input g[B,T,E] bf16\n y[B,T,D] bf16 = combine x, g", "a combine takes"},
        {X "  x = update x, x", "an update takes weight, gradient"},
        {X "  y[B,T,D] bf16 = scan x, x, x  backward", "a backward scan takes"},
    };
    check_mistakes(*state, LIST, RIDGE_COUNT_OF(LIST));
#undef X
}

/* Sizes whose product no 64-bit number holds. */
static void tensors_too_large_to_count_are_refused(void **state)
{
    static const mistake LIST[] = {
        {"program p train\ndims A=4000000000 B=4000000000\nblock b\n"
         "  input x[A,B] bf16\n",
         "p.txt:4:9: tensor 'x' has more than 2^63 elements"}};
    check_mistakes(*state, LIST, 1);
}

static void zero_bytes_and_wild_text_are_refused(void **state)
{
    static const char TEXT[] = "program p train\0\ndims";
    const ridge_program *program = NULL;
    const ridge_str text = {TEXT, sizeof TEXT - 1};
    assert_int_equal(ridge_program_parse(*state, text, "p.txt", &program),
                     RIDGE_E_PARSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read),
        cmocka_unit_test(attributes_are_read),
        cmocka_unit_test(blocks_carry_and_go_along),
        cmocka_unit_test(one_change_makes_programs_differ),
        cmocka_unit_test(mistakes_around_blocks_are_pointed_at),
        cmocka_unit_test(mistakes_in_lines_are_pointed_at),
        cmocka_unit_test(operations_that_do_not_fit_are_refused),
        cmocka_unit_test(tensors_too_large_to_count_are_refused),
        cmocka_unit_test(zero_bytes_and_wild_text_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
