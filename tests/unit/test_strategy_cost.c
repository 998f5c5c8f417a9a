/* Strategies priced on a slice by hand: what is summed, hidden and bound. */
#include "near.h"

#include "network_build.h"
#include "ridge/cost_strategy.h"

#include <math.h>
#include <string.h>

static const ridge_formats bf16 = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16,
                                   RIDGE_DTYPE_BF16};

/* A ring of 4 at 100 GB/s a link and another of 2; the chip computes 1e15 FLOP/s. */
typedef struct world {
    ridge_ctx *cx;
    ridge_chip chip;
    ridge_slice slice;
} world;

static int open_world(void **state)
{
    static world w; /* one per process, as cmocka runs tests in turn */
    w = (world){.cx = ridge_ctx_open(), .slice = test_slice()};
    w.chip = *w.slice.chip;
    w.chip.hbm_bytes_per_s = 1e15;
    test_torus(&w.slice, 4, true, 100e9);
    test_torus(&w.slice, 2, false, 50e9);
    w.slice.chip = &w.chip;
    *state = &w;
    return w.cx ? 0 : 1;
}

static int close_world(void **state)
{
    const world *w = *state;
    ridge_ctx_close(w->cx);
    return 0;
}

static ridge_shard_study study_of(world *w, const char *text, const char *place,
                                  bool has_overlap)
{
    ridge_expr e;
    ridge_shard_study study;
    if (ridge_expr_parse(w->cx, text, "x=4,y=2", "I=1024,J=4096,K=8192", &e) !=
        RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(w->cx));
    const ridge_shard_request request = {.expr = &e,
                                         .slice = &w->slice,
                                         .formats = bf16,
                                         .place = place,
                                         .has_overlap = has_overlap};
    if (ridge_shard_study_find(w->cx, &request, &study) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(w->cx));
    return study;
}

static void a_product_alone_takes_its_flops(void **state)
{
    const ridge_shard_study s =
        study_of(*state, "A[I@x,J] * B[J,K@y] -> C[I@x,K@y]", NULL, false);
    const double flops = 2.0 * 256 * 4096 * 4096;
    assert_int_equal(s.n, 1);
    assert_near(s.strategies[0].cost.flops, flops, 0);
    assert_near(s.strategies[0].cost.bound_s, flops / 1e15, 1e-12);
    assert_near(s.strategies[0].cost.network_s, 0, 0);
    assert_int_equal(s.strategies[0].cost.bound_by, RIDGE_BOUND_COMPUTE);
    assert_near(s.output_bytes, 256.0 * 4096 * 2, 0);
    assert_near(s.strategies[0].held_bytes,
                2.0 * (256.0 * 4096 + 4096.0 * 4096 + 256.0 * 4096), 0);
}

/* A step costs what ridge_collective_price says of its V on the axis where it lies. */
static void a_step_costs_what_its_collective_does(void **state)
{
    world *w = *state;
    const ridge_shard_study s =
        study_of(w, "A[I@y,J@x] * B[J,K] -> C[I@y,K]", "x=a,y=b", false);
    for (int i = 0; i < s.n; i++) {
        const ridge_priced_strategy *p = &s.strategies[i];
        double network_s = 0;
        for (int k = 0; k < p->strategy.n_steps; k++) {
            const ridge_reshard *step = &p->strategy.steps[k];
            const ridge_group group =
                test_group_part(step->axes[0], step->axes[0] ? 2 : 4, 1);
            if (step->kind == RIDGE_STEP_SLICE)
                continue;
            const ridge_collective_cost cost = ridge_collective_price(
                &w->slice, (ridge_collective)step->kind, step->bytes, &group);
            assert_near(p->cost.steps[k].expected_s, cost.expected_s, 1e-12);
            network_s += cost.expected_s;
        }
        assert_near(p->cost.network_s, network_s, 1e-12);
        assert_near(p->cost.time_s, p->cost.compute.expected_s + network_s, 1e-12);
    }
}

static const ridge_priced_strategy *find(const ridge_shard_study *s, world *w,
                                         const char *text)
{
    for (int i = 0; i < s->n; i++) {
        ridge_buf b;
        ridge_buf_init(&b, ridge_ctx_arena(w->cx));
        ridge_strategy_write(&s->expr, &s->strategies[i].strategy, &b);
        if (strcmp(ridge_buf_text(&b), text) == 0)
            return &s->strategies[i];
    }
    fail_msg("no strategy '%s'", text);
    return NULL;
}

/* K is summed in the product: C is written once, not for each k. */
static void a_summed_dim_is_not_written(void **state)
{
    world *w = *state;
    w->chip.hbm_bytes_per_s = 1e6; /* memory is what binds */
    const ridge_shard_study s = study_of(w, "A[I,J] * B[J,K] -> C[I]", NULL, false);
    w->chip.hbm_bytes_per_s = 1e15;
    assert_near(find(&s, w, "multiply")->cost.compute.bound_s,
                2.0 * (1024.0 * 4096 + 4096.0 * 8192 + 1024) / 1e6, 1e-12);
}

static void collective_matmul_hides_all_but_a_chunk(void **state)
{
    world *w = *state;
    const ridge_shard_study s = study_of(w, "A[I,J@x] * B[J,K] -> C[I,K]", "x=a", true);
    const ridge_strategy_cost *gather = &find(&s, w, "AllGather_x A; multiply")->cost;
    const double step_s = gather->steps[0].expected_s;
    assert_near(gather->exposed_s,
                step_s / 4 + fmax(0, step_s * 3 / 4 - gather->compute.expected_s),
                1e-12);
    assert_near(gather->overlapped_s, gather->compute.expected_s + gather->exposed_s,
                1e-12);
    /* an all-reduce waits for the whole product */
    const ridge_strategy_cost *sum =
        &find(&s, w, "Slice_x B over J; multiply; AllReduce_x C")->cost;
    assert_near(sum->overlapped_s, sum->time_s, 1e-12);
}

static void strategies_stand_in_order_of_time(void **state)
{
    for (int has_overlap = 0; has_overlap < 2; has_overlap++) {
        const ridge_shard_study s =
            study_of(*state, "A[I@x,J@y] * B[J@x,K@y] -> C[I,K@x]", NULL, has_overlap);
        assert_true(s.n > 5);
        for (int i = 0; i < s.n; i++) {
            const ridge_strategy_cost *c = &s.strategies[i].cost;
            assert_true(c->bound_s <= c->overlapped_s * (1 + 1e-12));
            assert_true(c->overlapped_s <= c->time_s * (1 + 1e-12));
            if (i == 0)
                continue;
            const ridge_strategy_cost *before = &s.strategies[i - 1].cost;
            assert_true(has_overlap
                            ? (float)before->overlapped_s <= (float)c->overlapped_s
                            : (float)before->time_s <= (float)c->time_s);
        }
    }
}

/* The best placement is no slower than any that is asked for. */
static void the_best_placement_is_found(void **state)
{
    static const char *const places[] = {"x=a,y=b", "y=a", "x=b+a", "y=b,x=a"};
    const char *text = "A[I@x,J] * B[J@x,K@y] -> C[I@x,K]";
    const ridge_shard_study best = study_of(*state, text, NULL, false);
    assert_true(best.placements > 1);
    for (size_t i = 0; i < RIDGE_COUNT_OF(places); i++) {
        const ridge_shard_study s = study_of(*state, text, places[i], false);
        assert_true((float)best.strategies[0].cost.time_s <=
                    (float)s.strategies[0].cost.time_s);
    }
}

static void without_a_slice_there_are_bytes(void **state)
{
    world *w = *state;
    ridge_expr e;
    ridge_shard_study s;
    assert_int_equal(ridge_expr_parse(w->cx, "A[I,J@x] * B[J,K] -> C[I,K]", "x=3",
                                      "I=8,J=9,K=4", &e),
                     RIDGE_OK);
    ridge_shard_request request = {.expr = &e, .formats = bf16};
    request.formats.weight = RIDGE_DTYPE_INT4;
    request.formats.output = RIDGE_DTYPE_FP32;
    assert_int_equal(ridge_shard_study_find(w->cx, &request, &s), RIDGE_OK);
    assert_near(s.output_bytes, 8 * 4 * 4, 0);
    assert_near(s.expr.inputs[1].element_bytes, 0.5, 0);
    assert_near(find(&s, w, "AllGather_x A; multiply")->sent_bytes, 8 * 9 * 2 * 2.0 / 3,
                1e-12);
}

static void check_refused(world *w, const char *mesh, const char *place,
                          const char *message)
{
    ridge_expr e;
    ridge_shard_study s;
    assert_int_equal(ridge_expr_parse(w->cx, "A[I] -> C[I]", mesh, "I=8", &e),
                     RIDGE_OK);
    const ridge_shard_request request = {
        .expr = &e, .slice = &w->slice, .formats = bf16, .place = place};
    assert_int_not_equal(ridge_shard_study_find(w->cx, &request, &s), RIDGE_OK);
    if (!strstr(ridge_ctx_message(w->cx), message))
        fail_msg("%s", ridge_ctx_message(w->cx));
}

static void meshes_that_do_not_lie_there_are_refused(void **state)
{
    world *w = *state;
    check_refused(w, "x=4", NULL, "mesh 'x=4' has 4 ranks");
    check_refused(w, "x=4,y=2", "x=b", "mesh axis x of 4 does not lie there");
    check_refused(w, "x=4,y=2", "q=b", "'q' is not a place");
    check_refused(w, "x=4,y=2", "x", "'x' is not a place");
    check_refused(w, "x=4,y=2", "x=nvlink", "nvlink");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_alone_takes_its_flops),
        cmocka_unit_test(a_summed_dim_is_not_written),
        cmocka_unit_test(a_step_costs_what_its_collective_does),
        cmocka_unit_test(collective_matmul_hides_all_but_a_chunk),
        cmocka_unit_test(strategies_stand_in_order_of_time),
        cmocka_unit_test(the_best_placement_is_found),
        cmocka_unit_test(without_a_slice_there_are_bytes),
        cmocka_unit_test(meshes_that_do_not_lie_there_are_refused),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
