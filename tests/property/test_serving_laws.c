/* Laws of serving prices: parts sum, bounds hold, faster chips are never slower, mixed
 * iterations share their weights, tables say what prices say. */
#include "serving_fixture.h"

#include <math.h>

static const char *const MODELS[] = {
    "llama-3.1-8b",      "gpt-oss-20b",  "deepseek-v2-lite", "qwen3-next-80b-a3b",
    "llama-3.1-70b-fp8", "mixtral-8x7b", "gemma-3-27b",      "deepseek-v3.2",
    "nemotron-h-56b",    "minimax-m2"};

static const ridge_serving_load LOADS[] = {
    {.decode_sequences = 1, .decode_context = 1},
    {.decode_sequences = 7, .decode_context = 3000},
    {.decode_sequences = 64, .decode_context = 900},
    {.chunk_tokens = 1000, .chunks = 1, .finishing = 1},
    {.chunk_tokens = 512, .chunks = 4, .chunk_context = 4096},
    {.decode_sequences = 32, .decode_context = 2000, .chunk_tokens = 512, .chunks = 1},
};

/* Experts dealt out whole over all ranks, where there are any. */
static ridge_serving_layout laid(const ridge_model *model, const ridge_slice *slice,
                                 int64_t tp)
{
    ridge_serving_layout layout = serving_layout_of(model, slice, tp);
    for (int i = 0; i < model->n_layers; i++) {
        if (model->layers[i].ffn.kind == RIDGE_FFN_MOE)
            layout.ep = tp;
    }
    return layout;
}

static double sum_of(const ridge_serving_step *step)
{
    double s = 0;
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++) {
        assert_true(step->parts_s[i] >= 0 && isfinite(step->parts_s[i]));
        s += step->parts_s[i];
    }
    return s;
}

static void check_step(const ridge_serving_step *s, int64_t tp)
{
    assert_near(sum_of(s), s->expected_s, 1e-12);
    assert_true(s->expected_s >= s->bound_s * (1 - 1e-9));
    assert_true(s->bound_s > 0 && s->flops > 0);
    if (tp == 1)
        assert_true(s->parts_s[RIDGE_SERVING_PART_TP] == 0);
}

static void parts_sum_and_bounds_hold(void **state)
{
    ridge_ctx *cx = *state;
    static const char *const SLICES[] = {"h100:8", "v5p:2x2x2", "mi300x:8"};
    for (size_t m = 0; m < RIDGE_COUNT_OF(MODELS); m++) {
        const ridge_model *model = fixture_named(cx, MODELS[m]);
        const ridge_slice *slice = train_slice(cx, SLICES[m % 3]);
        ridge_serving_desk *desk = serving_desk_of(cx, model, slice);
        for (int64_t tp = 1; tp <= 8; tp *= 8) {
            const ridge_serving_layout layout = laid(model, slice, tp);
            for (size_t i = 0; i < RIDGE_COUNT_OF(LOADS); i++) {
                const ridge_serving_step s =
                    serving_step_of(cx, desk, &layout, &LOADS[i]);
                check_step(&s, tp);
            }
        }
    }
}

static void more_bandwidth_is_never_slower(void **state)
{
    ridge_ctx *cx = *state;
    for (size_t m = 0; m < RIDGE_COUNT_OF(MODELS); m++) {
        const ridge_model *model = fixture_named(cx, MODELS[m]);
        ridge_slice slice = *train_slice(cx, "h100:8");
        ridge_chip fast = *slice.chip;
        ridge_serving_desk *slow =
            serving_desk_of(cx, model, train_slice(cx, "h100:8"));
        fast.hbm_bytes_per_s *= 1.5;
        slice.chip = &fast;
        ridge_serving_desk *desk = serving_desk_of(cx, model, &slice);
        const ridge_serving_layout layout = laid(model, &slice, 8);
        for (size_t i = 0; i < RIDGE_COUNT_OF(LOADS); i++) {
            const ridge_serving_step a = serving_step_of(cx, slow, &layout, &LOADS[i]);
            const ridge_serving_step b = serving_step_of(cx, desk, &layout, &LOADS[i]);
            assert_true(b.expected_s <= a.expected_s * (1 + 1e-9));
            assert_true(b.bound_s <= a.bound_s * (1 + 1e-9));
        }
    }
}

static void mixed_iterations_share_their_weights(void **state)
{
    ridge_ctx *cx = *state;
    for (size_t m = 0; m < RIDGE_COUNT_OF(MODELS); m++) {
        const ridge_model *model = fixture_named(cx, MODELS[m]);
        const ridge_slice *slice = train_slice(cx, "h100:8");
        ridge_serving_desk *desk = serving_desk_of(cx, model, slice);
        const ridge_serving_layout layout = laid(model, slice, 8);
        const ridge_serving_load decode = serving_decoding(32, 2000);
        const ridge_serving_load chunk = serving_chunk(512, 0);
        ridge_serving_load mixed = decode;
        mixed.chunk_tokens = 512;
        mixed.chunks = 1;
        const double both = serving_step_of(cx, desk, &layout, &mixed).expected_s;
        const double apart = serving_step_of(cx, desk, &layout, &decode).expected_s +
                             serving_step_of(cx, desk, &layout, &chunk).expected_s;
        assert_true(both <= apart);
    }
}

static void tables_say_what_prices_say(void **state)
{
    ridge_ctx *cx = *state;
    double sum = 0, n = 0;
    for (size_t m = 0; m < RIDGE_COUNT_OF(MODELS); m++) {
        const ridge_model *model = fixture_named(cx, MODELS[m]);
        const ridge_slice *slice = train_slice(cx, m % 2 == 0 ? "h100:8" : "b200:8");
        ridge_serving_desk *desk = serving_desk_of(cx, model, slice);
        ridge_serving_layout layout = laid(model, slice, 8);
        ridge_serving_speed speed;
        assert_ok(cx, ridge_serving_speed_build(desk, &layout, &speed));
        dice d = dice_of(m + 1);
        for (int i = 0; i < 200; i++) {
            ridge_serving_load load = serving_decoding((double)dice_roll(&d, 0, 64),
                                                       (double)dice_roll(&d, 1, 16000));
            if (dice_roll(&d, 0, 1) == 1 || load.decode_sequences == 0) {
                load.chunks = (double)dice_roll(&d, 1, 4);
                load.chunk_tokens = load.chunks * (double)dice_roll(&d, 16, 480);
                load.chunk_context = (double)dice_roll(&d, 0, 15000);
                load.finishing = (double)dice_roll(&d, 0, (int64_t)load.chunks);
            }
            const ridge_serving_step s = serving_step_of(cx, desk, &layout, &load);
            const double miss =
                fabs(serving_tables_s(&speed, &load) / s.expected_s - 1);
            /* most where experts turn from memory to arithmetic between two knots */
            assert_true(miss < 0.05);
            sum += miss;
            n++;
        }
    }
    assert_true(sum / n < 0.002);
}

/* Powers of two are knots of every table. */
static void tables_are_prices_at_their_knots(void **state)
{
    ridge_ctx *cx = *state;
    for (size_t m = 0; m < RIDGE_COUNT_OF(MODELS); m++) {
        const ridge_model *model = fixture_named(cx, MODELS[m]);
        const ridge_slice *slice = train_slice(cx, "h100:8");
        ridge_serving_desk *desk = serving_desk_of(cx, model, slice);
        const ridge_serving_layout layout = laid(model, slice, 8);
        ridge_serving_speed speed;
        assert_ok(cx, ridge_serving_speed_build(desk, &layout, &speed));
        for (double power = 1; power <= 64; power *= 4) {
            const ridge_serving_load decode = serving_decoding(power, 64 * power);
            const ridge_serving_load chunk = serving_chunk(16 * power, 128 * power);
            const double a = serving_step_of(cx, desk, &layout, &decode).expected_s;
            const double b = serving_step_of(cx, desk, &layout, &chunk).expected_s;
            assert_near(serving_tables_s(&speed, &decode), a, 1e-9);
            assert_near(serving_tables_s(&speed, &chunk), b, 1e-9);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_sum_and_bounds_hold, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(more_bandwidth_is_never_slower, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(mixed_iterations_share_their_weights,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(tables_say_what_prices_say, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(tables_are_prices_at_their_knots, fixture_open,
                                        fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
