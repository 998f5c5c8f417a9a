/* Running sharded einsums: what is refused, what is exact, and that what is wrong would
 * be seen. */
#include "model_fixture.h"

#include "held_check.h"
#include "strategy_run.h"

#include <math.h>

static const ridge_formats FP32 = {RIDGE_DTYPE_FP32, RIDGE_DTYPE_FP32, RIDGE_DTYPE_FP32,
                                   RIDGE_DTYPE_FP32};

/* ---- runs ---------------------------------------------------------------------------
 */

typedef struct setup {
    ridge_expr expr;
    ridge_strategy all[RIDGE_STRATEGY_MAX];
    const ridge_strategy *first;
    int n;
    ridge_strategy_run run;
} setup;

/* The best strategy of an expression on as many threads as its mesh has. */
static setup *set_up(ridge_ctx *cx, const char *text, const char *mesh,
                     const char *dims)
{
    setup *s = ridge_new(ridge_ctx_arena(cx), setup, 1);
    assert_non_null(s);
    assert_ok(cx, ridge_expr_parse(cx, text, mesh, dims, &s->expr));
    assert_ok(cx, ridge_expr_strategies(cx, &s->expr, s->all, &s->n));
    s->first = &s->all[0];
    s->run = (ridge_strategy_run){
        .expr = &s->expr,
        .n = 1,
        .strategies = &s->first,
        .formats = FP32,
        .ranks = {RIDGE_ENGINE_THREADS, (int)ridge_mesh_size(&s->expr.mesh), 60.0},
        .threads = 1,
        .seed = 7,
        .repeats = 1};
    return s;
}

static void matmul_is_exact(void **state)
{
    setup *s = set_up(*state, "A[I@x,J@y] * B[J@y,K] -> C[I@x,K]", "x=2,y=2",
                      "I=33,J=40,K=21");
    ridge_strategy_result r;
    assert_ok(*state, ridge_strategies_run(*state, &s->run, &r));
    assert_true(r.is_exact && r.is_right && r.is_padding_zero && r.has_equal_replicas);
    assert_near(r.max_abs_error, 0.0, 0.0);
    assert_false(r.has_overlap);
    assert_true(r.plain.total_s >= 0.0 && r.plain.product_s >= 0.0);
}

/* Three factors, one of which has a dim that nobody else wants. */
static void operands_are_multiplied_from_the_left(void **state)
{
    setup *s = set_up(*state, "A[B@x,D] * W[D,F@y,S] * V[F@y,E] -> C[B@x,E]", "x=2,y=2",
                      "B=6,D=5,F=8,S=3,E=7");
    ridge_strategy_result r;
    assert_ok(*state, ridge_strategies_run(*state, &s->run, &r));
    assert_true(r.is_exact && r.is_right);
}

static void real_numbers_round(void **state)
{
    setup *s =
        set_up(*state, "A[I@x,J] * B[J,K] -> C[I@x,K]", "x=2", "I=32,J=300,K=16");
    ridge_strategy_result r;
    s->run.draw = RIDGE_DRAW_REAL;
    assert_ok(*state, ridge_strategies_run(*state, &s->run, &r));
    assert_true(r.is_right && !r.is_exact);
    assert_true(r.max_abs_error > 0.0 && r.max_rel_error < 1e-5);
}

static void bf16_is_run_as_well(void **state)
{
    setup *s =
        set_up(*state, "A[I@x,J] * B[J,K@x] -> C[I@x,K]", "x=2", "I=8,J=200,K=6");
    ridge_strategy_result r;
    s->run.formats = (ridge_formats){RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16,
                                     RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16};
    assert_ok(*state, ridge_strategies_run(*state, &s->run, &r));
    assert_true(r.is_right);
    s->run.formats.output = RIDGE_DTYPE_FP32;
    assert_ok(*state, ridge_strategies_run(*state, &s->run, &r));
    assert_true(r.is_right && r.is_exact);
}

/* ---- collective matmul --------------------------------------------------------------
 */

/* Run all strategies. @return whether a step of that kind ran beside a product */
static bool overlaps(ridge_ctx *cx, const char *text, int ranks, ridge_step_kind kind)
{
    const char *mesh = ridge_sprintf(ridge_ctx_arena(cx), "x=%d", ranks);
    setup *s = set_up(cx, text, mesh, "I=13,J=17,K=11");
    bool is_seen = false;
    s->run.has_overlap = true;
    for (int i = 0; i < s->n; i++) {
        ridge_strategy_result r;
        s->first = &s->all[i];
        assert_ok(cx, ridge_strategies_run(cx, &s->run, &r));
        assert_true(r.is_exact && r.is_right);
        assert_near(r.max_abs_error, 0.0, 0.0);
        for (int k = 0; k < s->first->n_steps; k++)
            is_seen = is_seen || (r.is_beside[k] && s->first->steps[k].kind == kind);
    }
    return is_seen;
}

static void gathers_scatters_and_sums_run_beside(void **state)
{
    for (int ranks = 2; ranks <= 5; ranks++) {
        /* a free dim, and a summed one */
        assert_true(overlaps(*state, "A[I@x,J] * B[J,K] -> C[I,K]", ranks,
                             RIDGE_STEP_ALL_GATHER));
        assert_true(overlaps(*state, "A[I,J@x] * B[J,K@x] -> C[I,K@x]", ranks,
                             RIDGE_STEP_ALL_GATHER));
        assert_true(overlaps(*state, "A[I,J@x] * B[J@x,K] -> C[I@x,K]", ranks,
                             RIDGE_STEP_REDUCE_SCATTER));
        assert_true(overlaps(*state, "A[I,J@x] * B[J@x,K] -> C[I,K]", ranks,
                             RIDGE_STEP_ALL_REDUCE));
    }
}

/* Each rank would add up in another order: replicas would differ. */
static void a_summed_gather_with_replicas_stays(void **state)
{
    setup *s = set_up(*state, "A[I,J@x] * B[J,K] -> C[I,K]", "x=3", "I=4,J=9,K=4");
    ridge_strategy_result r;
    s->run.has_overlap = true;
    s->run.draw = RIDGE_DRAW_REAL;
    for (int i = 0; i < s->n; i++) {
        s->first = &s->all[i];
        assert_ok(*state, ridge_strategies_run(*state, &s->run, &r));
        assert_true(r.has_equal_replicas && r.is_right);
    }
}

/* ---- refusals -----------------------------------------------------------------------
 */

static void what_cannot_be_run_is_refused(void **state)
{
    setup *s = set_up(*state, "A[I@x,J] * B[J,K] -> C[I@x,K]", "x=2", "I=4,J=4,K=4");
    ridge_strategy_result r;
    s->run.ranks.ranks = 3;
    assert_int_equal(ridge_strategies_run(*state, &s->run, &r), RIDGE_E_ARG);
    fixture_assert_message(*state, "a mesh of 2 runs on as many ranks, not 3");
    s->run.ranks.ranks = 2;
    s->run.formats.weight = RIDGE_DTYPE_INT8;
    assert_int_equal(ridge_strategies_run(*state, &s->run, &r), RIDGE_E_ARG);
    fixture_assert_message(*state, "int8 cannot be run");
    s = set_up(*state, "A[I@x,J] * B[J,K] -> C[I@x,K]", "x=2", "I=64,J=1Gi,K=64");
    assert_int_not_equal(ridge_strategies_run(*state, &s->run, &r), RIDGE_OK);
}

static void steps_that_lead_elsewhere_are_refused(void **state)
{
    setup *s = set_up(*state, "A[I,J@x] * B[J@x,K] -> C[I,K]", "x=2", "I=4,J=4,K=4");
    ridge_strategy short_of_one = *s->first;
    ridge_strategy_result r;
    assert_int_equal(short_of_one.n_steps, 1);
    short_of_one.n_steps = 0;
    s->first = &short_of_one;
    assert_int_equal(ridge_strategies_run(*state, &s->run, &r), RIDGE_E_ARG);
    fixture_assert_message(*state, "do not leave C as it is wanted");
}

static void values_have_names(void **state)
{
    ridge_draw draw;
    assert_ok(*state, ridge_draw_parse(*state, "real", &draw));
    assert_int_equal(draw, RIDGE_DRAW_REAL);
    assert_int_equal(ridge_draw_parse(*state, "imaginary", &draw), RIDGE_E_NOTFOUND);
}

/* ---- what is wrong is seen ----------------------------------------------------------
 */

enum { I = 3, K = 2 };

/* C[I@x,K] on x=2, y=2: two rows a rank, the fourth is padding; replicated over y. */
typedef struct spoilt {
    ridge__strategy_program program;
    ridge__held_check seen[4]; /* of each rank */
    int rank, place;           /* where a number is changed */
    float change;
} spoilt;

static double place_as_number(void *payload, int64_t place)
{
    (void)payload;
    return (double)(place + 1);
}

static ridge_status check_spoilt(ridge__checker *k, spoilt *s)
{
    static const double whole[I * K] = {1, 2, 3, 4, 5, 6};
    const int tensor = s->program.inputs[0];
    const int rank = ridge_comm_rank(k->world);
    ridge__value *v = &k->m->fixed[k->m->unrolled.first_value[tensor]];
    RIDGE_TRY(ridge__held_fill(k, tensor, v, false, place_as_number, NULL));
    if (rank == s->rank)
        ((float *)v->p)[s->place] += s->change;
    return ridge__held_compare(k, tensor, v, whole, &s->seen[rank]);
}

static ridge_status run_spoilt(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    spoilt *s = payload;
    const ridge__machine_options options = {.gradient = RIDGE_DTYPE_FP32};
    ridge__checker k = {.cx = cx, .world = world};
    ridge__device *device;
    RIDGE_TRY(ridge__device_open_cpu(cx, 1, &device));
    ridge_status st =
        ridge__machine_open(cx, device, world, s->program.partition, &options, &k.m);
    st = st == RIDGE_OK ? check_spoilt(&k, s) : st;
    ridge__device_close(device);
    return st;
}

static spoilt spoil(ridge_ctx *cx, int rank, int place, float change)
{
    setup *s = set_up(cx, "A[I@x,K] -> C[I@x,K]", "x=2,y=2", "I=3,K=2");
    spoilt p = {.rank = rank, .place = place, .change = change};
    assert_ok(cx, ridge__strategy_program_make(cx, &s->run, s->first, &p.program));
    assert_ok(cx, ridge_ranks_run(cx, &s->run.ranks, run_spoilt, &p));
    return p;
}

static bool any_unlike(const spoilt *p)
{
    return p->seen[0].is_unlike || p->seen[1].is_unlike || p->seen[2].is_unlike ||
           p->seen[3].is_unlike;
}

static void nothing_is_seen_where_all_is_right(void **state)
{
    const spoilt p = spoil(*state, 0, 0, 0.0F);
    for (int r = 0; r < 4; r++) {
        assert_near(p.seen[r].error, 0.0, 0.0);
        assert_false(p.seen[r].has_dirt);
    }
    assert_false(any_unlike(&p));
}

static void a_wrong_number_is_seen(void **state)
{
    const spoilt p = spoil(*state, 3, 1, 0.5F);
    assert_near(p.seen[3].error, 0.5, 0.0);
    assert_near(p.seen[2].error, 0.0, 0.0);
    assert_true(any_unlike(&p));
    assert_false(p.seen[3].has_dirt);
}

static void dirt_in_padding_is_seen(void **state)
{
    const spoilt p = spoil(*state, 2, 3, 1.0F);
    assert_true(p.seen[2].has_dirt);
    assert_near(p.seen[2].error, 0.0, 0.0);
    assert_false(p.seen[0].has_dirt);
}

static void no_number_is_the_largest_error(void **state)
{
    const spoilt p = spoil(*state, 1, 0, NAN);
    assert_true(isinf(p.seen[1].error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul_is_exact),
        cmocka_unit_test(operands_are_multiplied_from_the_left),
        cmocka_unit_test(real_numbers_round),
        cmocka_unit_test(bf16_is_run_as_well),
        cmocka_unit_test(gathers_scatters_and_sums_run_beside),
        cmocka_unit_test(a_summed_gather_with_replicas_stays),
        cmocka_unit_test(what_cannot_be_run_is_refused),
        cmocka_unit_test(steps_that_lead_elsewhere_are_refused),
        cmocka_unit_test(values_have_names),
        cmocka_unit_test(nothing_is_seen_where_all_is_right),
        cmocka_unit_test(a_wrong_number_is_seen),
        cmocka_unit_test(dirt_in_padding_is_seen),
        cmocka_unit_test(no_number_is_the_largest_error),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
