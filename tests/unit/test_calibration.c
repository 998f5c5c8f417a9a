/* Calibration without clocks: samples into grids, and a file that is read again. */
#include "calibration.h"

#include "near.h"
#include "ridge/cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static ridge_grid_list grids_of(ridge_ctx *cx, ridge__sample *items, int n, int n_axes)
{
    const ridge__samples samples = {.n = n, .most = n, .items = items};
    ridge_grid_list list;
    if (ridge__samples_to_grids(cx, &samples, n_axes, &list) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return list;
}

static void samples_of_a_name_become_a_grid(void **state)
{
    ridge__sample items[] = {
        {"a", {1, 10}, 100, 1, 0, 0},   {"b", {3, 3}, 5, 1, 0, 0},
        {"a", {2, 10}, 100, 0.5, 0, 0}, {"a", {2, 20}, 300, 1, 0, 0},
        {"a", {1, 20}, 100, 2, 0, 0},
    };
    const ridge_grid_list list = grids_of(*state, items, 5, 2);
    assert_int_equal(list.n, 2);
    const ridge_grid *a = ridge_grid_find(&list, "a");
    assert_int_equal(a->sizes[0], 2);
    assert_int_equal(a->sizes[1], 2);
    const double want[] = {100, 50, 200, 300};
    for (int i = 0; i < 4; i++)
        assert_near(a->rates[i], want[i], 1e-12);
    assert_near(ridge_grid_rate_most(a), 300, 0);
}

static void near_sizes_of_a_line_are_one(void **state)
{
    ridge__sample items[] = {{"a", {100}, 100, 1, 0, 0},
                             {"a", {120}, 140, 1, 0, 0},
                             {"a", {1000}, 1000, 2, 0, 0}};
    const ridge_grid_list list = grids_of(*state, items, 3, 1);
    assert_int_equal(list.items[0].grid.sizes[0], 2);
    assert_near(list.items[0].grid.rates[0], 240.0 / 2, 1e-12);
}

static void many_sizes_are_thinned(void **state)
{
    ridge__sample items[60];
    double size = 1;
    for (int i = 0; i < 60; i++) {
        items[i] = (ridge__sample){"a", {size}, size, 1, 0, 0};
        size *= 1.4;
    }
    const ridge_grid_list list = grids_of(*state, items, 60, 1);
    assert_in_range(list.items[0].grid.sizes[0], 5, RIDGE_GRID_SIZE_MAX);
}

static void add(ridge__calibrator *c, const char *name, double at, double seconds)
{
    ridge__sample s = {.at = {at}, .work = 1, .seconds = seconds};
    snprintf(s.name, sizeof s.name, "%s", name);
    assert_int_equal(ridge__sample_add(c, &c->stream, &s), RIDGE_OK);
}

static void a_disturbed_round_does_not_count(void **state)
{
    ridge__calibrator c = {.cx = *state};
    static const double first_s[] = {10, 30, 5}, again_s[] = {11, 10, 5};
    static const double settled_s[] = {10.5, 10, 5};
    static const char *const names[] = {"norm", "norm", "add"};
    for (int i = 0; i < 3; i++) {
        ridge__unit_begin(&c);
        add(&c, names[i], 1, first_s[i]);
    }
    ridge__samples_again(&c);
    for (int i = 0; i < 3; i++)
        add(&c, names[i], 1, again_s[i]);
    assert_near(ridge__samples_settle(&c), 1.0 / 3, 1e-12);
    for (int i = 0; i < 3; i++)
        assert_near(c.stream.items[i].seconds, settled_s[i], 1e-12);
}

static void samples_of_one_go_are_taken_from_one_round(void **state)
{
    ridge__calibrator c = {.cx = *state};
    ridge__unit_begin(&c);
    add(&c, "norm", 1, 10);
    add(&c, "add", 1, 1);
    ridge__samples_again(&c);
    add(&c, "norm", 1, 20);
    add(&c, "rotary", 1, 7); /* the first round had none */
    add(&c, "add", 1, 0.9);
    assert_near(ridge__samples_settle(&c), 1, 0);
    assert_int_equal(c.stream.n, 3);
    static const double settled_s[] = {10, 1, 7};
    for (int i = 0; i < 3; i++)
        assert_near(c.stream.items[i].seconds, settled_s[i], 0);
}

static void a_hole_in_a_grid_is_an_error(void **state)
{
    ridge__sample items[] = {{"a", {1, 10}, 1, 1, 0, 0},
                             {"a", {2, 10}, 1, 1, 0, 0},
                             {"a", {2, 20}, 1, 1, 0, 0}};
    const ridge__samples samples = {.n = 3, .most = 3, .items = items};
    ridge_grid_list list;
    assert_int_equal(ridge__samples_to_grids(*state, &samples, 2, &list),
                     RIDGE_E_INTERNAL);
    assert_non_null(strstr(ridge_ctx_message(*state), "a size was not measured"));
}

/* ---- the file -------------------------------------------------------------------- */

static ridge_calibration made_up(ridge_ctx *cx)
{
    static ridge__sample products[] = {{"fp32", {8, 8, 8}, 1e9, 0.1, 0, 0},
                                       {"bf16", {8, 8, 8}, 1e9, 0.2, 0, 0}};
    static ridge__sample attention[] = {{"forward.fp32", {128, 64}, 1e9, 0.5, 0, 0}};
    static ridge__sample streams[] = {{"norm.fp32", {1e6}, 1e6, 1e-3, 0, 0}};
    static ridge__sample collectives[] = {{"all-gather", {2, 1e6}, 1e6, 1e-3, 0, 0},
                                          {"send-recv", {2, 1e6}, 1e6, 2e-3, 0, 0}};
    ridge_calibration c = {.engine = RIDGE_ENGINE_THREADS,
                           .ranks = 2,
                           .threads = 1,
                           .processors = 2,
                           .cpu = "made up: of \"two\" cores",
                           .library = "plain",
                           .memory_bytes = 8e9,
                           .peak_flops_per_s = 2e10,
                           .copy_bytes_per_s = 5e9,
                           .read_bytes_per_s = 4e9,
                           .launch_s = 1e-6,
                           .date = "2025-06",
                           .year = 2025};
    c.chip = (ridge_measured_chip){.source = "calibrate",
                                   .date = "2025-06",
                                   .processor_share = 1,
                                   .matmul = grids_of(cx, products, 2, 3),
                                   .attention = grids_of(cx, attention, 1, 2),
                                   .stream = grids_of(cx, streams, 1, 1)};
    c.level = (ridge_measured_level){.source = "calibrate",
                                     .date = "2025-06",
                                     .collective = grids_of(cx, collectives, 2, 2)};
    return c;
}

/* Written as a file, and named as a slice of two ranks. */
static const ridge_slice *read_back(ridge_ctx *cx, const ridge_calibration *c)
{
    char dir[] = "/tmp/ridge-calibration-XXXXXX";
    const ridge_catalog *catalog;
    const ridge_slice *slice = NULL;
    ridge_buf text;
    assert_non_null(mkdtemp(dir));
    const char *path = ridge_sprintf(ridge_ctx_arena(cx), "%s/here.json", dir);
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    assert_int_equal(
        ridge_json_write(cx, ridge_calibration_to_system(cx, c, "here"), &text),
        RIDGE_OK);
    assert_int_equal(ridge_file_write(cx, path, (ridge_str){text.p, text.n}), RIDGE_OK);
    assert_int_equal(ridge_catalog_open(cx, NULL, &catalog), RIDGE_OK);
    const ridge_status st = ridge_slice_parse(
        cx, catalog, ridge_sprintf(ridge_ctx_arena(cx), "%s:2", path), &slice);
    (void)unlink(path);
    (void)rmdir(dir);
    if (st != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return slice;
}

static void the_file_is_a_slice_with_what_was_measured(void **state)
{
    const ridge_calibration c = made_up(*state);
    const ridge_slice *s = read_back(*state, &c);
    const double product[] = {8, 8, 8};
    assert_int_equal(s->chips, 2);
    assert_int_equal(s->chip->kind, RIDGE_CHIP_CPU);
    assert_near(s->chip->peak_flops_per_s[RIDGE_DTYPE_FP32], 2e10, 1e-3);
    assert_near(s->chip->peak_flops_per_s[RIDGE_DTYPE_BF16], 2e10, 1e-3);
    assert_false(ridge_chip_is_fused(s->chip));
    assert_false(ridge_chip_is_overlapped(s->chip));
    assert_false(ridge_chip_is_balanced(s->chip));
    const ridge_grid *fp32 = ridge_grid_find(&s->chip->measured->matmul, "fp32");
    assert_near(ridge_grid_rate(fp32, product), 1e10, 1e-3);
    assert_near(s->axes[0].startup_s, 2e-3, 1e-3);
    const ridge_group both = {.n_spans = 1, .spans = {{0, 2, 1}}, .ranks = 2};
    const ridge_time t =
        ridge_collective_time(s, RIDGE_COLLECTIVE_ALL_GATHER, 1e6, &both);
    assert_near(t.expected_s, 1e-3, 1e-3);
}

static void one_rank_has_no_collectives(void **state)
{
    ridge_calibration c = made_up(*state);

    c.level.collective.n = 0;
    const ridge_slice *s = read_back(*state, &c);
    assert_null(s->axes[0].measured);
}

static void requests_outside_the_contract_are_refused(void **state)
{
    ridge_calibration c;
    ridge_calibrate_request r = {
        .ranks = {.engine = RIDGE_ENGINE_CUDA, .ranks = 1, .timeout_s = 10}};
    assert_int_equal(ridge_calibrate(*state, &r, &c), RIDGE_E_ARG);
    r.ranks.engine = RIDGE_ENGINE_THREADS;
    r.ranks.ranks = 0;
    assert_int_equal(ridge_calibrate(*state, &r, &c), RIDGE_E_ARG);
    r.ranks.ranks = 1;
    r.threads = -1;
    assert_int_equal(ridge_calibrate(*state, &r, &c), RIDGE_E_ARG);
}

static void a_cancelled_calibration_stops(void **state)
{
    ridge_calibration c;
    const ridge_calibrate_request r = {
        .ranks = {.engine = RIDGE_ENGINE_THREADS, .ranks = 2, .timeout_s = 10},
        .threads = 1,
        .is_quick = true};
    ridge_ctx_cancel(*state);
    assert_int_equal(ridge_calibrate(*state, &r, &c), RIDGE_E_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_of_a_name_become_a_grid, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(near_sizes_of_a_line_are_one, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(many_sizes_are_thinned, open_ctx, close_ctx),
        cmocka_unit_test_setup_teardown(samples_of_one_go_are_taken_from_one_round,
                                        open_ctx, close_ctx),
        cmocka_unit_test_setup_teardown(a_disturbed_round_does_not_count, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(a_hole_in_a_grid_is_an_error, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(the_file_is_a_slice_with_what_was_measured,
                                        open_ctx, close_ctx),
        cmocka_unit_test_setup_teardown(one_rank_has_no_collectives, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(requests_outside_the_contract_are_refused,
                                        open_ctx, close_ctx),
        cmocka_unit_test_setup_teardown(a_cancelled_calibration_stops, open_ctx,
                                        close_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
