/* Timelines of small blocks by hand: what hides, what is exposed, in which order. */
#include "near.h"

#include "network_build.h"
#include "plain_chip.h"
#include "program_build.h"

#include <string.h>

/*
 * A chip of 1 TFLOP/s with memory that costs nothing: an einsum of B x D x F takes
 * 2 B D F / 1e12 seconds. Axes without latency.
 */
typedef struct scene {
    ridge_ctx *cx;
    ridge_chip chip;
    ridge_slice slice;
    ridge_laid_mesh laid;
    program_build b;
    ridge_timeline timeline;
} scene;

static const ridge_overlap ALL = {
    .has_prefetch = true, .has_trailing = true, .has_collective_matmul = true};
static const ridge_overlap NONE = {.has_prefetch = false};
static const ridge_overlap ASYNC = {.has_prefetch = true, .has_trailing = true};

/* Axis x on the inner switch, y on the outer one, each of 4 chips. */
static scene *scene_open(double x_bytes_per_s, double y_bytes_per_s)
{
    ridge_ctx *cx = ridge_ctx_open();
    assert_non_null(cx);
    scene *s = ridge_new(ridge_ctx_arena(cx), scene, 1);
    assert_non_null(s);
    s->cx = cx;
    s->chip = plain_chip(RIDGE_DTYPE_BF16, 1e12, 1e18);
    s->slice = test_slice();
    s->slice.chip = &s->chip;
    test_axis(&s->slice, RIDGE_AXIS_SWITCH, 4, x_bytes_per_s);
    test_axis(&s->slice, RIDGE_AXIS_SWITCH, 4, y_bytes_per_s);
    build_open(&s->b, cx, "y=4,x=4", "B=1000,D=1000,F=1000");
    assert_true(ridge_laid_mesh_fill(&s->slice, NULL, &s->b.partition.mesh, &s->laid));
    return s;
}

static void play(scene *s, const ridge_overlap *overlap)
{
    if (ridge_timeline_build(s->cx, &s->b.partition, &s->laid, RIDGE_DTYPE_BF16,
                             overlap, &s->timeline) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(s->cx));
}

static const ridge_block_time *block(const scene *s, int i)
{
    return &s->timeline.blocks[i];
}

/* Bytes per second at which gathering 1000 x 1000 in bf16 over four chips takes t. */
static double rate_of(double t)
{
    ridge_slice slice = test_slice();
    test_axis(&slice, RIDGE_AXIS_SWITCH, 4, 1e9);
    const ridge_group all = test_group_all(&slice);
    return 1e9 / t *
           ridge_collective_time(&slice, RIDGE_COLLECTIVE_ALL_GATHER, 2e6, &all)
               .expected_s;
}

/* One product, 2 ms. */
static void add_product(scene *s)
{
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, "h[B,D] h2[B,F]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "w[D,F]");
    build_block(&s->b, "layer", 10, NULL);
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "product: h,w->h2");
}

static void a_product_alone_is_its_own_period(void **state)
{
    (void)state;
    scene *s = scene_open(1e9, 1e9);
    add_product(s);
    play(s, &ALL);
    assert_near(block(s, 0)->period_s, 2e-3, 1e-9);
    assert_near(block(s, 0)->matmul_s, 2e-3, 1e-9);
    assert_near(block(s, 0)->exposed_s, 0, 0);
    assert_near(s->timeline.total_s, 20e-3, 1e-9);
    ridge_ctx_close(s->cx);
}

/* ---- gathers of weights ------------------------------------------------------- */

/* A layer of 2 ms whose weights are gathered over x in that time. */
static scene *gathered(double gather_s)
{
    scene *s = scene_open(rate_of(gather_s), 1e9);
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, "h[B,D] h2[B,F]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "w[D@x,F] w2[D,F]");
    build_block(&s->b, "layer", 10, "h->h2");
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_GATHER, "gather: w->w2", "x");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "product: h,w2->h2");
    return s;
}

static void a_gather_hides_behind_the_repetition_before(void **state)
{
    (void)state;
    scene *s = gathered(1.5e-3);
    play(s, &ALL);
    assert_near(block(s, 0)->period_s, 2e-3, 1e-9);
    assert_near(block(s, 0)->hidden_s, 1.5e-3, 1e-9);
    assert_near(block(s, 0)->exposed_s, 0, 1e-12);
    assert_near(block(s, 0)->busy_s[1], 1.5e-3, 1e-9);
    /* The first one has nothing to hide behind. */
    assert_near(s->timeline.total_s, 1.5e-3 + 10 * 2e-3, 1e-9);
    ridge_ctx_close(s->cx);
}

static void a_long_gather_sets_the_period(void **state)
{
    (void)state;
    scene *s = gathered(3e-3);
    play(s, &ALL);
    assert_near(block(s, 0)->period_s, 3e-3, 1e-9);
    assert_near(block(s, 0)->exposed_s, 1e-3, 1e-9);
    assert_near(s->timeline.total_s, 10 * 3e-3 + 2e-3, 1e-9);
    ridge_ctx_close(s->cx);
}

static void without_prefetch_a_gather_is_exposed(void **state)
{
    (void)state;
    scene *s = gathered(1.5e-3);
    play(s, &NONE);
    assert_near(block(s, 0)->period_s, 3.5e-3, 1e-9);
    assert_near(block(s, 0)->exposed_s, 1.5e-3, 1e-9);
    assert_near(block(s, 0)->hidden_s, 0, 1e-12);
    assert_near(s->timeline.total_s, 35e-3, 1e-9);
    ridge_ctx_close(s->cx);
}

/* ---- reductions of gradients ---------------------------------------------------- */

static scene *reduced(double reduce_s)
{
    scene *s = scene_open(rate_of(reduce_s), 1e9);
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, "h[B,D]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "w[D@x,F]");
    build_tensors(&s->b, RIDGE_ROLE_GRADIENT, "dy[B,F] g_w[D@x,F] part[D,F]{x}");
    build_block(&s->b, "backward", 10, NULL);
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "product: h,dy->part");
    build_exchange(&s->b, RIDGE_COLLECTIVE_REDUCE_SCATTER, "reduce: part->g_w", "x");
    return s;
}

static void a_reduction_trails_behind(void **state)
{
    (void)state;
    scene *s = reduced(1.5e-3);
    play(s, &ASYNC);
    assert_near(block(s, 0)->period_s, 2e-3, 1e-9);
    assert_near(s->timeline.drain_s, 1.5e-3, 1e-9);
    assert_near(s->timeline.total_s, 20e-3 + 1.5e-3, 1e-9);
    play(s, &NONE);
    assert_near(block(s, 0)->period_s, 3.5e-3, 1e-9);
    assert_near(s->timeline.drain_s, 0, 0);
    ridge_ctx_close(s->cx);
}

static void a_long_reduction_holds_the_chip_up_in_the_end(void **state)
{
    (void)state;
    scene *s = reduced(5e-3);
    play(s, &ASYNC);
    assert_near(block(s, 0)->period_s, 5e-3, 1e-9);
    assert_near(block(s, 0)->exposed_s, 3e-3, 1e-9);
    ridge_ctx_close(s->cx);
}

/* ---- collectives of activations -------------------------------------------------- */

/* 2 ms of product between a gather of its input and a scatter of its output. */
static scene *parallel(double each_s)
{
    scene *s = scene_open(rate_of(each_s), 1e9);
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION,
                  "h[B,D@x] all[B,D] part[B,F]{x} h2[B,F@x]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "w[D,F]");
    build_block(&s->b, "layer", 10, "h->h2");
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_GATHER, "gather: h->all", "x");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "product: all,w->part");
    build_exchange(&s->b, RIDGE_COLLECTIVE_REDUCE_SCATTER, "scatter: part->h2", "x");
    return s;
}

static void collectives_of_activations_are_exposed(void **state)
{
    (void)state;
    scene *s = parallel(1e-3);
    play(s, &ASYNC);
    assert_near(block(s, 0)->period_s, 4e-3, 1e-9);
    assert_near(block(s, 0)->exposed_s, 2e-3, 1e-9);
    assert_near(s->timeline.total_s, 40e-3, 1e-9);
    ridge_ctx_close(s->cx);
}

static void a_collective_matmul_shows_its_first_chunk(void **state)
{
    (void)state;
    scene *s = parallel(1e-3);
    play(s, &ALL);
    /* A quarter of the gather before the product; the scatter, which the product's
     * chunks are taken for already, behind it. */
    assert_near(block(s, 0)->period_s, 0.25e-3 + 2e-3 + 1e-3, 1e-9);
    ridge_ctx_close(s->cx);
}

static void a_scatter_in_chunks_shows_its_last(void **state)
{
    (void)state;
    scene *s = scene_open(rate_of(1e-3), 1e9);
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, "h[B,D] part[B,F]{x} h2[B,F@x]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "w[D,F]");
    build_block(&s->b, "layer", 10, "h->h2");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "product: h,w->part");
    build_exchange(&s->b, RIDGE_COLLECTIVE_REDUCE_SCATTER, "scatter: part->h2", "x");
    play(s, &ALL);
    /* The next repetition begins with a chunk of the product alone. */
    assert_near(block(s, 0)->matmul_s, 2e-3, 1e-9);
    assert_near(s->timeline.total_s, 10 * 2e-3 + 10 * 0.25e-3, 1e-9);
    ridge_ctx_close(s->cx);
}

static void two_products_share_the_chunks_of_a_gather(void **state)
{
    (void)state;
    scene *s = scene_open(rate_of(4e-3), 1e9);
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION,
                  "h[B,D@x] all[B,D] gate[B,F] up[B,F] h2[B,D@x]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "w1[D,F] w2[D,F]");
    build_block(&s->b, "layer", 10, "h->h2");
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_GATHER, "gather: h->all", "x");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "gate: all,w1->gate");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "up: all,w2->up");
    build_elementwise(&s->b, RIDGE_FUNCTION_SWIGLU, "act: gate,up->h2");
    play(s, &ALL);
    /* 1 ms for the first chunk, 3 ms for the others beside 3 ms of both products, then
     * what is left of them. */
    assert_near(block(s, 0)->period_s, 5e-3, 1e-6);
    assert_near(block(s, 0)->exposed_s, 1e-3, 1e-5);
    ridge_ctx_close(s->cx);
}

/* ---- several networks ------------------------------------------------------------ */

/* A gather of weights over y, and a gather and a scatter of activations over x. */
static scene *crossed(double weights_s, double each_s, const char *axis)
{
    scene *s = scene_open(rate_of(each_s), rate_of(weights_s));
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION,
                  "h[B,D@x] all[B,D] part[B,F]{x} h2[B,F@x]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT,
                  axis[0] == 'x' ? "w[D@x,F] w2[D,F]" : "w[D@y,F] w2[D,F]");
    build_block(&s->b, "layer", 10, "h->h2");
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_GATHER, "gather: h->all", "x");
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_GATHER, "weights: w->w2", axis);
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "product: all,w2->part");
    build_exchange(&s->b, RIDGE_COLLECTIVE_REDUCE_SCATTER, "scatter: part->h2", "x");
    return s;
}

static void other_axes_work_while_activations_are_exposed(void **state)
{
    (void)state;
    scene *s = crossed(3.9e-3, 1e-3, "y");
    play(s, &ASYNC);
    assert_near(block(s, 0)->period_s, 4e-3, 1e-9);
    assert_near(block(s, 0)->busy_s[1], 2e-3, 1e-9);
    assert_near(block(s, 0)->busy_s[2], 3.9e-3, 1e-9);
    ridge_ctx_close(s->cx);
}

static void on_the_same_axis_what_is_needed_first_goes_first(void **state)
{
    (void)state;
    scene *s = crossed(1e-3, 1e-3, "x"); /* 2 ms of activations, 1 ms of weights */
    play(s, &ASYNC);
    assert_near(block(s, 0)->period_s, 4e-3, 1e-9);
    assert_near(block(s, 0)->exposed_s, 2e-3, 1e-9);
    assert_near(block(s, 0)->busy_s[1], 3e-3, 1e-9);
    ridge_ctx_close(s->cx);
}

static void a_collective_over_two_axes_holds_both(void **state)
{
    (void)state;
    scene *s = scene_open(1e9, 1e9);
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, "h[B,D@y+x] all[B,D]");
    build_block(&s->b, "layer", 1, NULL);
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_GATHER, "gather: h->all", "y,x");
    play(s, &ALL);
    const ridge_operation_time t =
        ridge_operation_time_of(&s->b.partition, 0, &s->laid, RIDGE_DTYPE_BF16);
    assert_int_equal(t.network, 3);
    assert_near(s->timeline.total_s, t.expected_s, 1e-9);
    assert_int_equal(s->timeline.n_events, 2);
    assert_int_equal(s->timeline.events[0].resource, 1);
    assert_int_equal(s->timeline.events[1].resource, 2);
    ridge_ctx_close(s->cx);
}

/* ---- chips and blocks ------------------------------------------------------------ */

static void collectives_take_sms_of_a_gpu(void **state)
{
    (void)state;
    scene *s = gathered(1.12e-3);
    s->chip.kind = RIDGE_CHIP_GPU;
    play(s, &ALL);
    /* For 1.12 ms 112 of 132 SMs work: 0.95 of 2 ms. */
    const double slow_s = 1.12e-3 * 20 / 132;
    assert_near(block(s, 0)->slowdown_s, slow_s, 1e-9);
    assert_near(block(s, 0)->period_s, 2e-3 + slow_s, 1e-9);
    assert_near(block(s, 0)->matmul_s, 2e-3, 1e-9);
    assert_near(block(s, 0)->busy_s[0], 2e-3 + slow_s, 1e-9);
    ridge_overlap bound = ALL;
    bound.is_bound = true;
    play(s, &bound);
    assert_near(block(s, 0)->slowdown_s, 0, 0);
    assert_near(block(s, 0)->period_s, 2e-3, 1e-9);
    ridge_ctx_close(s->cx);
}

static void a_block_waits_for_what_another_sends(void **state)
{
    (void)state;
    scene *s = reduced(1.5e-3);
    build_tensors(&s->b, RIDGE_ROLE_STATE, "m[D@x,F]");
    build_block(&s->b, "update", 1, NULL);
    build_op(&s->b, RIDGE_OPCODE_UPDATE, "update: w,g_w,m->w,m");
    play(s, &ASYNC);
    assert_int_equal(s->timeline.n_blocks, 2);
    assert_near(block(s, 0)->total_s, 20e-3, 1e-9);
    assert_near(block(s, 1)->exposed_s, 1.5e-3, 1e-6);
    assert_near(s->timeline.drain_s, 0, 0);
    ridge_ctx_close(s->cx);
}

static void weights_of_the_next_block_come_ahead(void **state)
{
    (void)state;
    scene *s = scene_open(rate_of(1.5e-3), 1e9);
    build_tensors(&s->b, RIDGE_ROLE_ACTIVATION, "h[B,D] h2[B,F] out[B,D]");
    build_tensors(&s->b, RIDGE_ROLE_WEIGHT, "w[D,F] v[F@x,D] v2[F,D]");
    build_block(&s->b, "layer", 1, NULL);
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "product: h,w->h2");
    build_block(&s->b, "head", 1, NULL);
    build_exchange(&s->b, RIDGE_COLLECTIVE_ALL_GATHER, "gather: v->v2", "x");
    build_op(&s->b, RIDGE_OPCODE_EINSUM, "head: h2,v2->out");
    play(s, &ALL);
    assert_near(s->timeline.total_s, 4e-3, 1e-9);
    play(s, &NONE);
    assert_near(s->timeline.total_s, 5.5e-3, 1e-9);
    ridge_ctx_close(s->cx);
}

/* Out of memory at any point: a status, and no more. */
static void memory_that_runs_out_is_said(void **state)
{
    (void)state;
    scene *s = crossed(3.9e-3, 1e-3, "y");
    int failures = 0;
    for (size_t budget = 64 * 1024;; budget += 3000) {
        ridge_ctx *cx = ridge_ctx_open_budget(budget);
        ridge_timeline t;
        if (cx == NULL)
            continue;
        const ridge_status st = ridge_timeline_build(cx, &s->b.partition, &s->laid,
                                                     RIDGE_DTYPE_BF16, &ALL, &t);
        ridge_ctx_close(cx);
        if (st == RIDGE_OK)
            break;
        assert_int_equal(st, RIDGE_E_NOMEM);
        failures++;
        assert_true(budget < 64 * 1024 * 1024);
    }
    assert_true(failures >= 0);
    ridge_ctx_close(s->cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_alone_is_its_own_period),
        cmocka_unit_test(a_gather_hides_behind_the_repetition_before),
        cmocka_unit_test(a_long_gather_sets_the_period),
        cmocka_unit_test(without_prefetch_a_gather_is_exposed),
        cmocka_unit_test(a_reduction_trails_behind),
        cmocka_unit_test(a_long_reduction_holds_the_chip_up_in_the_end),
        cmocka_unit_test(collectives_of_activations_are_exposed),
        cmocka_unit_test(a_collective_matmul_shows_its_first_chunk),
        cmocka_unit_test(a_scatter_in_chunks_shows_its_last),
        cmocka_unit_test(two_products_share_the_chunks_of_a_gather),
        cmocka_unit_test(other_axes_work_while_activations_are_exposed),
        cmocka_unit_test(on_the_same_axis_what_is_needed_first_goes_first),
        cmocka_unit_test(a_collective_over_two_axes_holds_both),
        cmocka_unit_test(collectives_take_sms_of_a_gpu),
        cmocka_unit_test(a_block_waits_for_what_another_sends),
        cmocka_unit_test(weights_of_the_next_block_come_ahead),
        cmocka_unit_test(memory_that_runs_out_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
