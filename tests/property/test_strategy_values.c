/*
 * Strategies on a simulated mesh: for random sharded einsums every strategy gives,
 * number by number, what the einsum of the whole arrays gives.
 */
#include "near.h"

#include "mesh_arrays.h"
#include "seeded_expr.h"

enum { TRIALS = 600 };

/* The arrays of one expression. */
typedef struct arrays {
    int64_t *inputs[RIDGE_EXPR_INPUT_MAX]; /* global */
    int64_t *product;
    int64_t *got;
    int64_t n_output;
} arrays;

static int64_t elements_of(const ridge_expr *e, const ridge_expr_tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->n_dims; d++)
        n *= e->dims[t->dims[d]].size;
    return n;
}

static int64_t *room(ridge_arena *arena, int64_t n)
{
    int64_t *values = ridge_new(arena, int64_t, (size_t)n);
    assert_non_null(values);
    return values;
}

static arrays draw_arrays(ridge_arena *arena, const ridge_expr *e, seeded *at)
{
    arrays a = {.n_output = elements_of(e, &e->output)};
    for (int i = 0; i < e->n_inputs; i++) {
        const int64_t n = elements_of(e, &e->inputs[i]);
        a.inputs[i] = room(arena, n);
        for (int64_t k = 0; k < n; k++)
            a.inputs[i][k] = seeded_pick(at, -9, 9);
    }
    a.product = room(arena, a.n_output);
    a.got = room(arena, a.n_output);
    const int64_t *inputs[RIDGE_EXPR_INPUT_MAX];
    for (int i = 0; i < e->n_inputs; i++)
        inputs[i] = a.inputs[i];
    mesh_einsum(e, inputs, a.product);
    return a;
}

static void fail_strategy(ridge_arena *arena, const ridge_expr *e,
                          const ridge_strategy *s, uint64_t seed, const char *why)
{
    ridge_buf b;
    ridge_buf_init(&b, arena);
    ridge_expr_write(e, &b);
    ridge_buf_puts(&b, ": ");
    ridge_strategy_write(e, s, &b);
    fail_msg("seed %llu: %s: %s", (unsigned long long)seed, ridge_buf_text(&b), why);
}

/* V of a step from the arrays that the step has left. */
static void check_bytes(const ridge_expr *e, const ridge_reshard *step,
                        const mesh_array *was, const mesh_array *is)
{
    const double held = 2.0 * (double)was->n_local, holds = 2.0 * (double)is->n_local;
    const double ranks = (double)ridge_reshard_ranks(&e->mesh, step);
    switch (step->kind) {
    case RIDGE_STEP_ALL_GATHER:
        assert_near(step->bytes, holds, 0);
        break;
    case RIDGE_STEP_ALL_TO_ALL:
        assert_near(step->bytes, held * ranks, 0);
        break;
    case RIDGE_STEP_REDUCE_SCATTER:
    case RIDGE_STEP_ALL_REDUCE:
    case RIDGE_STEP_SLICE:
        assert_near(step->bytes, held, 0);
        break;
    }
}

static const char *run_steps(ridge_arena *arena, const ridge_expr *e,
                             const ridge_strategy *s, mesh_array *inputs,
                             mesh_array *product)
{
    for (int i = 0; i < s->n_steps; i++) {
        const ridge_reshard *step = &s->steps[i];
        const bool is_before = i < s->n_before;
        if (is_before != (step->operand < e->n_inputs))
            return "a step on the wrong side of the product";
        if (i == s->n_before &&
            !mesh_array_multiply(arena, e, inputs, &s->output, product))
            return "local lengths differ";
        mesh_array *a = is_before ? &inputs[step->operand] : product;
        const mesh_array was = *a;
        if (!mesh_array_step(arena, a, step))
            return "a step does not apply";
        check_bytes(e, step, &was, a);
    }
    if (s->n_before == s->n_steps &&
        !mesh_array_multiply(arena, e, inputs, &s->output, product))
        return "local lengths differ";
    return NULL;
}

static const char *try_strategy(ridge_arena *arena, const ridge_expr *e,
                                const ridge_strategy *s, const arrays *a, seeded *at)
{
    mesh_array inputs[RIDGE_EXPR_INPUT_MAX], product;
    for (int i = 0; i < e->n_inputs; i++) {
        int64_t sizes[RIDGE_TENSOR_DIM_MAX];
        ridge_expr_tensor_sizes(e, &e->inputs[i], sizes);
        inputs[i] = mesh_array_split(arena, &e->mesh, sizes, &e->inputs[i].sharding,
                                     a->inputs[i], at);
    }
    const char *fault = run_steps(arena, e, s, inputs, &product);
    if (fault)
        return fault;
    for (int i = 0; i < e->n_inputs; i++) {
        if (!ridge_sharding_equal(&inputs[i].sharding, &s->inputs[i]))
            return "an input is not multiplied as it says";
    }
    if (!ridge_sharding_equal(&product.sharding, &e->output.sharding))
        return "the output does not lie as wanted";
    if (!mesh_array_join(arena, &product, a->got))
        return "replicas differ, or padding is not zero";
    for (int64_t k = 0; k < a->n_output; k++) {
        if (a->got[k] != a->product[k])
            return "wrong numbers";
    }
    return NULL;
}

/* Partial sums are wanted over an axis, no dim is summed and no input has such sums. */
static bool wants_sums_of_nothing(const ridge_expr *e)
{
    unsigned given = 0;
    for (int i = 0; i < e->n_inputs; i++)
        given |= e->inputs[i].sharding.partial;
    return e->output.n_dims == e->n_dims && (e->output.sharding.partial & ~given);
}

/* @return strategies that were run */
static int check_expr(uint64_t seed)
{
    seeded at = seed;
    ridge_ctx *cx = ridge_ctx_open();
    assert_non_null(cx);
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_expr e = seeded_expr(&at, &seeded_expr_all);
    ridge_strategy *strategies = ridge_new(arena, ridge_strategy, RIDGE_STRATEGY_MAX);
    int n = 0;
    assert_non_null(strategies);
    const ridge_status st = ridge_expr_strategies(cx, &e, strategies, &n);
    assert_int_equal(st, wants_sums_of_nothing(&e) ? RIDGE_E_ARG : RIDGE_OK);
    const arrays a = draw_arrays(arena, &e, &at);
    double sent = 0;
    for (int i = 0; i < n; i++) {
        const ridge_mark mark = ridge_arena_mark(arena);
        const char *fault = try_strategy(arena, &e, &strategies[i], &a, &at);
        if (fault)
            fail_strategy(arena, &e, &strategies[i], seed, fault);
        ridge_arena_rewind(arena, mark);
        const double more = ridge_strategy_sent_bytes(&e.mesh, &strategies[i]);
        assert_true((float)more >= (float)sent);
        sent = more;
    }
    ridge_ctx_close(cx);
    return n;
}

static void every_strategy_gives_the_unsharded_einsum(void **state)
{
    (void)state;
    int run = 0;
    for (uint64_t seed = 1; seed <= TRIALS; seed++)
        run += check_expr(seed);
    print_message("%d strategies of %d expressions\n", run, TRIALS);
    assert_true(run > 2 * TRIALS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_strategy_gives_the_unsharded_einsum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
