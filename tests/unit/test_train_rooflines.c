/* The plain rooflines of training layouts, by hand. */
#include "model_fixture.h"
#include "train_fixture.h"

#include "ridge/plan_train_rooflines.h"

#include <math.h>

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state ? 0 : -1;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static double at(const ridge_train_rooflines *r, ridge_train_roofline which)
{
    assert_true(r->applies[which]);
    return r->values[which];
}

#define AT(r, name) at(r, RIDGE_TRAIN_ROOFLINE_##name)

static ridge_train_rooflines find(ridge_ctx *cx, const ridge_model *model,
                                  const char *slice, ridge_layout layout)
{
    ridge_train_request request =
        train_request(model, train_slice(cx, slice), 512, 4096);
    request.total_tokens = 1e12;
    ridge_train_rooflines out;
    ridge_train_rooflines_find(&request, &layout, 0.5, &out);
    return out;
}

enum { LAYERS = 4, D = 1024, F = 4096 };
static const double B = 512.0 * 4096;
static const double V5P = 4.59e14; /* FLOP/s */
static const double AXIS = 1.8e11; /* bytes/s of a ring, both ways */

static void a_mix_on_a_torus_shares_its_axes(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *m = train_dense_model(cx);
    const ridge_train_rooflines r =
        find(cx, m, "v5p:8x8x8", train_layout(1, 128, 4, 1, 1));
    assert_near(AT(&r, LAYER_MATH), 4 * B * D * F / (512 * V5P), 1e-12);
    assert_near(AT(&r, LAYER_GATHER), 4.0 * D * F / (4 * 2 * AXIS), 1e-12);
    assert_near(AT(&r, LAYER_ROWS), 4 * B * D / (128 * AXIS), 1e-12);
    assert_near(AT(&r, LAYER_BACK_MATH), 2 * AT(&r, LAYER_MATH), 1e-12);
    assert_near(AT(&r, LAYER_BACK_FSDP), 2 * AT(&r, LAYER_GATHER), 1e-12);
    assert_near(AT(&r, LAYER_BACK_ROWS), AT(&r, LAYER_ROWS), 1e-12);
    assert_near(AT(&r, LAYER_RATIO),
                AT(&r, LAYER_MATH) / (AT(&r, LAYER_GATHER) + AT(&r, LAYER_ROWS)),
                1e-12);
}

static void one_way_alone_has_all_axes(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *m = train_dense_model(cx);
    const ridge_train_rooflines r =
        find(cx, m, "v5p:8x8x8", train_layout(1, 512, 1, 1, 1));
    assert_near(AT(&r, LAYER_GATHER), 4.0 * D * F / (3 * AXIS), 1e-12);
    assert_false(r.applies[RIDGE_TRAIN_ROOFLINE_LAYER_ROWS]);
    const ridge_train_rooflines one = find(cx, m, "v5p", train_layout(1, 1, 1, 1, 1));
    assert_false(one.applies[RIDGE_TRAIN_ROOFLINE_LAYER_RATIO]);
}

static void nodes_share_their_nics(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *m = train_dense_model(cx);
    const ridge_train_rooflines within =
        find(cx, m, "h100:1x8", train_layout(1, 8, 1, 1, 1));
    assert_near(within.x_bytes_per_s, 450e9, 1e-12);
    const ridge_train_rooflines across =
        find(cx, m, "h100:4x8", train_layout(1, 32, 1, 1, 1));
    assert_near(AT(&across, LAYER_GATHER), 4.0 * D * F / 400e9, 1e-12);
    const ridge_train_rooflines mixed =
        find(cx, m, "h100:4x8", train_layout(1, 4, 8, 1, 1));
    assert_near(AT(&mixed, LAYER_GATHER), 4.0 * D * F / 400e9, 1e-12);
    assert_near(mixed.y_bytes_per_s, 450e9, 1e-12);
}

/* All experts' weights move, the FLOPs are those of the ones that run. */
static void experts_move_more_than_they_compute(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_train_rooflines r =
        find(cx, train_moe_model(cx), "v5p:8x8x8", train_layout(1, 512, 1, 1, 1));
    assert_near(r.d_ff, 2 * 1024, 0);
    assert_near(AT(&r, LAYER_MATH), 4 * B * D * 2048 / (512 * V5P), 1e-12);
    assert_near(AT(&r, LAYER_GATHER), 4.0 * D * 8 * 1024 / (3 * AXIS), 1e-12);
}

/* Shared experts move once, however many the others are. */
static void shared_experts_are_no_mixture(void **state)
{
    ridge_ctx *cx = *state;
    ridge_model m = *train_moe_model(cx);
    ridge_layer layer = m.layers[0];
    assert_int_equal(m.n_layers, 1);
    layer.ffn.shared_experts = 1;
    layer.ffn.shared_d_ff = 3000;
    m.layers = &layer;
    const ridge_train_rooflines r =
        find(cx, &m, "v5p:8x8x8", train_layout(1, 512, 1, 1, 1));
    assert_near(r.d_ff, 2 * 1024 + 3000, 0);
    assert_near(AT(&r, LAYER_GATHER), 4.0 * D * (8 * 1024 + 3000) / (3 * AXIS), 1e-12);
}

/* A rank of EP has its own experts: those of others do not come to it. */
static void experts_dealt_out_do_not_move(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *m = train_moe_model(cx);
    ridge_layout layout = train_layout(1, 512, 1, 1, 1);
    layout.ep = 4;
    const ridge_train_rooflines some = find(cx, m, "v5p:8x8x8", layout);
    assert_near(AT(&some, LAYER_GATHER), 4.0 * D * 2 * 1024 / (3 * AXIS), 1e-12);
    layout = train_layout(1, 128, 4, 1, 1); /* whole experts over TP as well */
    layout.ep = 8;
    const ridge_train_rooflines whole = find(cx, m, "v5p:8x8x8", layout);
    assert_near(AT(&whole, LAYER_GATHER), 4.0 * D * 1024 / (2 * AXIS), 1e-12);
    layout = train_layout(1, 8, 1, 1, 1);
    layout.ep = 8; /* each expert once: nothing to gather or to reduce */
    const ridge_train_rooflines none = find(cx, m, "v5p:2x2x2", layout);
    assert_false(none.applies[RIDGE_TRAIN_ROOFLINE_LAYER_GATHER]);
    assert_false(none.applies[RIDGE_TRAIN_ROOFLINE_LAYER_RATIO]);
}

/* One array of F without a gate, two with one. */
static void a_gate_keeps_one_array_more(void **state)
{
    ridge_ctx *cx = *state;
    ridge_model m = *train_dense_model(cx);
    ridge_layer layer = m.layers[0];
    assert_int_equal(m.n_layers, 1);
    layer.ffn.is_gated = false;
    m.layers = &layer;
    const ridge_train_rooflines r =
        find(cx, &m, "v5p:8x8x8", train_layout(1, 512, 1, 1, 1));
    assert_near(AT(&r, MEMORY_WIDE), 2 * B * LAYERS * (D + F), 1e-12);
}

static void work_and_memory_count_parameters(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *m = train_dense_model(cx);
    const double p = (double)ridge_model_params(m).total;
    const ridge_train_rooflines r =
        find(cx, m, "v5p:8x8x8", train_layout(1, 512, 1, 1, 1));
    assert_near(AT(&r, WORK_TOKEN), 6 * p, 1e-12);
    assert_near(AT(&r, WORK_STEP_MFU), 6 * p * B / (512 * V5P * 0.5), 1e-12);
    assert_near(AT(&r, WORK_RUN_PEAK), 6 * p * 1e12 / (512 * V5P), 1e-12);
    assert_near(AT(&r, WORK_HOURS), 6 * p * 1e12 / (V5P * 0.5) / 3600, 1e-12);
    assert_near(AT(&r, MEMORY_STATE), 10 * p, 1e-12);
    assert_near(AT(&r, MEMORY_ARRAY), 2 * B * D * LAYERS, 1e-12);
    assert_near(AT(&r, MEMORY_WIDE), 2 * B * LAYERS * (D + 2 * F), 1e-12);
    assert_near(AT(&r, MEMORY_CHIPS_STATE), ceil(10 * p / 96e9), 0);
    assert_near(AT(&r, MEMORY_CHIPS_WIDE),
                ceil((10 * p + 2 * B * LAYERS * (D + 2 * F)) / 96e9), 0);
}

static void pipelines_have_a_bubble_and_span_nodes(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *m = train_dense_model(cx);
    const ridge_train_rooflines r =
        find(cx, m, "h100:8x8", train_layout(2, 1, 8, 1, 4));
    assert_near(AT(&r, LIMITS_SEQUENCES), 512, 0);
    assert_near(AT(&r, LIMITS_BUBBLE), 3.0 / (256 + 3), 1e-12);
    assert_near(AT(&r, LIMITS_SPANNED), 989e12 / 400e9 / 4, 1e-3);
    assert_near(AT(&r, LIMITS_SPANNED_FEW), AT(&r, LIMITS_SPANNED) / 2, 1e-12);
    assert_false(r.applies[RIDGE_TRAIN_ROOFLINE_LIMITS_SPANNED_BESIDE]);
    const ridge_train_rooflines flat =
        find(cx, m, "h100:8x8", train_layout(8, 1, 8, 1, 1));
    assert_false(flat.applies[RIDGE_TRAIN_ROOFLINE_LIMITS_BUBBLE]);
    assert_false(flat.applies[RIDGE_TRAIN_ROOFLINE_LIMITS_SPANNED]);
}

/* DeepSeek-V3 as published: 64 ways of experts in 16 stages are 128 nodes, twice. */
static void replicas_of_experts_span_the_ranks_of_ep(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *m = fixture_named(cx, "deepseek-v3");
    const double alpha = 989.4e12 / 400e9;
    ridge_layout layout = train_layout(128, 1, 1, 1, 16);
    layout.ep = 64;
    const ridge_train_rooflines r = find(cx, m, "h100:256x8", layout);
    assert_near(AT(&r, LIMITS_SPANNED), alpha * 32 / 128, 1e-9);
    assert_near(AT(&r, LIMITS_SPANNED_FEW), alpha * 32 / 128 / 2, 1e-9);
    assert_near(AT(&r, LIMITS_SPANNED_BESIDE), alpha / 2, 1e-9);
    layout.ep = 128;
    const ridge_train_rooflines once = find(cx, m, "h100:256x8", layout);
    assert_false(once.applies[RIDGE_TRAIN_ROOFLINE_LIMITS_SPANNED]);
}

/* Messages of a microbatch: v m, and p - 2 more until the first gets to the last stage;
 * over NICs between nodes, NVLink inside one, one way of a ring of a torus. */
static void stages_pass_on_what_they_made(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *m = train_dense_model(cx);
    ridge_layout layout = train_layout(2, 1, 8, 1, 4);
    layout.has_sp = false;
    const ridge_train_rooflines whole = find(cx, m, "h100:8x8", layout);
    const double replica = 2 * B * D / 2; /* bytes of the rows of one replica */
    assert_near(AT(&whole, LIMITS_PASSED), replica / 50e9 * (256 + 4 - 2) / 256, 1e-12);
    assert_near(AT(&whole, LAYER_PASSED), AT(&whole, LIMITS_PASSED) / LAYERS, 1e-12);
    layout.has_sp = true;
    layout.microbatch_seqs = 4;
    const ridge_train_rooflines parts = find(cx, m, "h100:8x8", layout);
    assert_near(AT(&parts, LIMITS_PASSED), replica / 8 / 50e9 * (64 + 4 - 2) / 64,
                1e-12);
    const ridge_train_rooflines near =
        find(cx, m, "h100:1x8", train_layout(2, 1, 1, 1, 4));
    assert_near(near.z_bytes_per_s, 450e9, 1e-12);
    const ridge_train_rooflines ring =
        find(cx, m, "v5p:8x8x8", train_layout(16, 1, 8, 1, 4));
    assert_near(ring.z_bytes_per_s, AXIS / 2, 1e-12);
    const ridge_train_rooflines flat =
        find(cx, m, "h100:8x8", train_layout(8, 1, 8, 1, 1));
    assert_false(flat.applies[RIDGE_TRAIN_ROOFLINE_LAYER_PASSED]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mix_on_a_torus_shares_its_axes),
        cmocka_unit_test(one_way_alone_has_all_axes),
        cmocka_unit_test(nodes_share_their_nics),
        cmocka_unit_test(experts_move_more_than_they_compute),
        cmocka_unit_test(shared_experts_are_no_mixture),
        cmocka_unit_test(experts_dealt_out_do_not_move),
        cmocka_unit_test(a_gate_keeps_one_array_more),
        cmocka_unit_test(work_and_memory_count_parameters),
        cmocka_unit_test(pipelines_have_a_bubble_and_span_nodes),
        cmocka_unit_test(replicas_of_experts_span_the_ranks_of_ep),
        cmocka_unit_test(stages_pass_on_what_they_made),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
