/* Slices: what their notation means, which shapes are legal, what errors say. */
#include "hardware_fixture.h"
#include "near.h"

#include <math.h>
#include <string.h>

static const ridge_slice *parse(void **state, const char *text)
{
    fixture_world *w = *state;
    return fixture_slice(w->cx, w->catalog, text);
}

static void assert_refused(void **state, const char *text, ridge_status want,
                           const char *message)
{
    fixture_world *w = *state;
    const ridge_slice *slice = NULL;
    const ridge_status got = ridge_slice_parse(w->cx, w->catalog, text, &slice);
    if (got != want || strstr(ridge_ctx_message(w->cx), message) == NULL) {
        fail_msg("'%s': status %d, message: %s", text, (int)got,
                 ridge_ctx_message(w->cx));
    }
    assert_null(slice);
}

static void assert_axis(const ridge_slice *s, int i, const char *name,
                        ridge_axis_kind kind, int64_t size, bool has_wraparound)
{
    assert_true(i < s->n_axes);
    assert_string_equal(s->axes[i].name, name);
    assert_int_equal(s->axes[i].kind, kind);
    assert_int_equal(s->axes[i].size, size);
    assert_int_equal(s->axes[i].has_wraparound, has_wraparound);
    assert_near(s->axes[i].bytes_per_s, 50e9, 0.0);
}

static void nodes_of_chips_lie_on_three_levels(void **state)
{
    const ridge_slice *s = parse(state, "gpu:64x8");
    assert_int_equal(s->chips, 512);
    assert_int_equal(s->hosts, 64);
    assert_int_equal(s->n_axes, 3);
    assert_axis(s, 0, "nvlink", RIDGE_AXIS_SWITCH, 8, false);
    assert_axis(s, 1, "leaf", RIDGE_AXIS_FABRIC, 32, false);
    assert_axis(s, 2, "spine", RIDGE_AXIS_FABRIC, 2, false);
    assert_string_equal(s->text, "gpu:64x8");
    assert_int_equal(s->slices, 1);
    assert_null(s->next);
    assert_null(s->note);
}

static void bare_name_is_one_chip(void **state)
{
    static const char *const texts[] = {"gpu",  "gpu:1",  "gpu:1x1",
                                        "cube", "flat:1", "cube:1x1x1"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts); i++) {
        const ridge_slice *s = parse(state, texts[i]);
        assert_int_equal(s->chips, 1);
        assert_int_equal(s->hosts, 1);
        assert_int_equal(s->n_axes, 0);
    }
}

static void bare_count_fills_nodes(void **state)
{
    assert_string_equal(parse(state, "gpu:512")->text, "gpu:64x8");
    assert_string_equal(parse(state, "gpu:4")->text, "gpu:1x4");
    assert_string_equal(parse(state, "rack:288")->text, "rack:4x72");
    assert_refused(state, "gpu:12", RIDGE_E_ARG, "ask for 8 or 16");
}

static void hosts_are_counted_by_chips_per_node(void **state)
{
    const ridge_slice *s = parse(state, "rack:4x72");
    assert_int_equal(s->hosts, 4 * 18);
    assert_axis(s, 0, "nvlink", RIDGE_AXIS_SWITCH, 72, false);
    assert_axis(s, 1, "leaf", RIDGE_AXIS_FABRIC, 4, false);
    assert_int_equal(parse(state, "cube:2x2x2")->hosts, 2);
    assert_int_equal(parse(state, "flat:16x16")->hosts, 32);
    assert_int_equal(parse(state, "flat:2x2")->hosts, 1);
}

static void nodes_beyond_a_leaf_need_whole_leaves_or_lie_on_the_spine(void **state)
{
    const ridge_slice *few = parse(state, "gpu:31x8");
    assert_int_equal(few->n_axes, 2);
    assert_axis(few, 1, "leaf", RIDGE_AXIS_FABRIC, 31, false);
    const ridge_slice *odd = parse(state, "gpu:48x8");
    assert_int_equal(odd->n_axes, 2);
    assert_axis(odd, 1, "spine", RIDGE_AXIS_FABRIC, 48, false);
    assert_string_equal(parse(state, "gpu:16x1")->axes[0].name, "leaf");
}

static void levels_inside_a_node_are_filled_in_order(void **state)
{
    const ridge_slice *s = parse(state, "pair:16x8");
    assert_int_equal(s->n_axes, 4);
    assert_axis(s, 0, "bridge", RIDGE_AXIS_MESH, 2, false);
    assert_axis(s, 1, "pcie", RIDGE_AXIS_BUS, 4, false);
    assert_axis(s, 2, "leaf", RIDGE_AXIS_FABRIC, 4, false);
    assert_axis(s, 3, "spine", RIDGE_AXIS_FABRIC, 4, false);
    assert_string_equal(parse(state, "pair:1x3")->axes[0].name, "pcie");
    assert_refused(state, "pair:20x8", RIDGE_E_ARG, "its limit is 16");
    assert_refused(state, "pair:1x7", RIDGE_E_ARG, "do not lie evenly");
}

static void a_single_node_has_no_second(void **state)
{
    assert_int_equal(parse(state, "board:4")->chips, 4);
    assert_refused(state, "board:2x4", RIDGE_E_ARG, "is a single node");
    assert_refused(state, "2*board:4", RIDGE_E_ARG, "no network between slices");
}

static void too_many_chips_per_node_are_refused(void **state)
{
    assert_refused(state, "gpu:8x16", RIDGE_E_ARG, "chips per node, gpu:16x8");
    assert_refused(state, "gpu:3x12", RIDGE_E_ARG, "chips per node, gpu:5x8");
    assert_refused(state, "gpu:2x2x2", RIDGE_E_ARG, "is not a torus");
}

static void whole_cubes_wrap_on_every_axis(void **state)
{
    const ridge_slice *s = parse(state, "cube:8x16x16");
    assert_int_equal(s->chips, 2048);
    assert_int_equal(s->hosts, 512);
    assert_int_equal(s->n_axes, 3);
    assert_axis(s, 0, "ici-x", RIDGE_AXIS_TORUS, 8, true);
    assert_axis(s, 1, "ici-y", RIDGE_AXIS_TORUS, 16, true);
    assert_axis(s, 2, "ici-z", RIDGE_AXIS_TORUS, 16, true);
    assert_int_equal(ridge_slice_diameter_hops(s), 4 + 8 + 8);
}

static void parts_of_a_cube_do_not_wrap(void **state)
{
    const ridge_slice *s = parse(state, "cube:2x2x4");
    assert_axis(s, 0, "ici-x", RIDGE_AXIS_TORUS, 2, false);
    assert_axis(s, 2, "ici-z", RIDGE_AXIS_TORUS, 4, false);
    assert_int_equal(ridge_slice_diameter_hops(s), 1 + 1 + 3);
}

static void only_a_side_of_the_pod_wraps(void **state)
{
    const ridge_slice *s = parse(state, "flat:8x16");
    assert_axis(s, 0, "ici-x", RIDGE_AXIS_TORUS, 8, false);
    assert_axis(s, 1, "ici-y", RIDGE_AXIS_TORUS, 16, true);
    assert_int_equal(ridge_slice_diameter_hops(s), 7 + 8);
}

/* Two links of each ring, one of each line; the weakest cut counts. */
static void the_weakest_cut_bounds_the_halves(void **state)
{
    const ridge_slice *ring = parse(state, "cube:8x16x16");
    assert_true(ridge_slice_bisection_bytes_per_s(ring) ==
                2048.0 / 16 * 2 * ring->axes[1].bytes_per_s);
    const ridge_slice *line = parse(state, "flat:8x16");
    assert_true(ridge_slice_bisection_bytes_per_s(line) ==
                fmin(128.0 / 8 * line->axes[0].bytes_per_s,
                     128.0 / 16 * 2 * line->axes[1].bytes_per_s));
    const ridge_slice *one = parse(state, "flat:1x1");
    assert_true(ridge_slice_bisection_bytes_per_s(one) == 0);
}

static void axes_of_one_chip_are_left_out(void **state)
{
    const ridge_slice *s = parse(state, "cube:2x2x1");
    assert_int_equal(s->n_axes, 2);
    assert_string_equal(s->axes[1].name, "ici-y");
    assert_string_equal(parse(state, "cube:1x2x1")->axes[0].name, "ici-y");
}

static void a_shape_of_two_numbers_gets_a_third(void **state)
{
    assert_string_equal(parse(state, "cube:2x2")->text, "cube:2x2x1");
}

static void legal_shapes_are_legal_in_any_order(void **state)
{
    static const char *const texts[] = {"cube:28x20x16", "cube:16x20x28", "cube:4x2x2",
                                        "flat:16x8",     "flat:2x1",      "flat:8x4"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts); i++)
        assert_non_null(parse(state, texts[i]));
}

static void a_part_of_a_cube_is_priced_and_said_to_be_one(void **state)
{
    const ridge_slice *s = parse(state, "cube:4x2x1");
    assert_int_equal(s->chips, 8);
    assert_false(s->axes[0].has_wraparound);
    assert_non_null(strstr(s->note, "not offered by itself"));
}

static void illegal_shapes_name_the_rule_and_the_nearest(void **state)
{
    assert_refused(state, "cube:5x5x5", RIDGE_E_ARG, "every axis a multiple of 4");
    assert_refused(state, "cube:5x5x5", RIDGE_E_ARG, "the nearest are 4x4x8,");
    assert_refused(state, "cube:20x20x20", RIDGE_E_ARG, "up to 16x20x28");
    assert_refused(state, "cube:4x1x1", RIDGE_E_ARG, "2x2x1");
    assert_refused(state, "flat:4x16", RIDGE_E_ARG, "one at most twice the other");
    assert_refused(state, "flat:16x32", RIDGE_E_ARG, "up to 16x16");
    assert_refused(state, "flat:3x3", RIDGE_E_ARG, "the nearest are 2x4, 2x2, 4x4");
    assert_refused(state, "flat:4x4x4", RIDGE_E_ARG, "is a 2D torus");
    assert_refused(state, "cube:99999999x99999999x99999999", RIDGE_E_ARG,
                   "the nearest are 16x20x28");
}

static void a_bare_count_of_a_torus_is_answered_with_its_shapes(void **state)
{
    assert_refused(state, "cube:8960", RIDGE_E_ARG, "there is 16x20x28");
    assert_refused(state, "cube:512", RIDGE_E_ARG, "8x8x8");
    assert_refused(state, "flat:128", RIDGE_E_ARG, "there is 8x16");
    assert_refused(state, "cube:9000", RIDGE_E_ARG, "the nearest are 16x20x28");
}

static void slices_are_joined_by_dcn(void **state)
{
    const ridge_slice *s = parse(state, "2*cube:16x16x24");
    assert_int_equal(s->slices, 2);
    assert_int_equal(s->chips, 2 * 6144);
    assert_int_equal(s->hosts, 2 * 1536);
    assert_axis(s, 3, "dcn", RIDGE_AXIS_DCN, 2, false);
    assert_string_equal(s->text, "2*cube:16x16x24");
    assert_int_equal(ridge_slice_diameter_hops(s), 8 + 8 + 12);
}

static void a_fabric_stands_in_for_a_missing_dcn(void **state)
{
    const ridge_slice *s = parse(state, "3*gpu:32x8");
    assert_int_equal(s->n_axes, 3);
    assert_axis(s, 2, "dcn", RIDGE_AXIS_DCN, 3, false);
    assert_int_equal(s->chips, 3 * 256);
}

static void a_fleet_is_a_list_of_pools(void **state)
{
    const ridge_slice *s = parse(state, "gpu:32x8 + rack:2x72+cube:4x4x4");
    assert_string_equal(s->text, "gpu:32x8");
    assert_string_equal(s->next->text, "rack:2x72");
    assert_int_equal(s->next->next->chips, 64);
    assert_null(s->next->next->next);
}

static void names_are_found_in_any_case_and_by_alias(void **state)
{
    assert_string_equal(parse(state, "GPU-80GB:8")->text, "gpu:1x8");
    assert_string_equal(parse(state, "Cube V5:4X4x4")->text, "cube:4x4x4");
    assert_string_equal(parse(state, "rack-72:72")->text, "rack-72:1x72");
    assert_string_equal(parse(state, "rack-72:72")->chip->name, "rack");
}

static void twisted_shapes_are_noted(void **state)
{
    assert_non_null(parse(state, "cube:4x4x8")->note);
    assert_non_null(parse(state, "cube:8x16x16")->note);
    assert_null(parse(state, "cube:8x8x8")->note);
    assert_null(parse(state, "cube:4x8x12")->note);
    assert_null(parse(state, "cube:2x2x4")->note);
    assert_null(parse(state, "flat:8x16")->note);
}

static void written_slices_parse_to_themselves(void **state)
{
    static const char *const texts[] = {"gpu:48x8", "5*flat:16x16", "cube:4x8x12",
                                        "rack:2x36"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts); i++)
        assert_string_equal(parse(state, parse(state, texts[i])->text)->text, texts[i]);
}

static void malformed_text_is_refused(void **state)
{
    static const char *const texts[] = {
        "",     "+",         ":8",       "gpu:",     "gpu:x8",    "gpu:8x",
        "*gpu", "0x*gpu:8",  "-1*gpu:8", "gpu:-8",   "gpu:8.5",   "gpu:+8",
        "gpu+", "gpu:8 x 8", "gpu::8",   "cube:0x4", "gpu:1e2x8", "gpu:1x2x3x4x5"};
    fixture_world *w = *state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts); i++) {
        const ridge_slice *slice = NULL;
        const ridge_status st = ridge_slice_parse(w->cx, w->catalog, texts[i], &slice);
        if (st == RIDGE_OK)
            fail_msg("'%s' was taken", texts[i]);
        assert_true(ridge_ctx_message(w->cx)[0] != '\0');
    }
}

static void huge_counts_are_refused(void **state)
{
    assert_refused(state, "gpu:100000000x8", RIDGE_E_ARG, "more than 100000000 chips");
    assert_refused(state, "gpu:99999999999999999999x8", RIDGE_E_ARG, "a count is 1 to");
    assert_refused(state, "100000000*cube:4x4x4", RIDGE_E_ARG, "chips in all");
    assert_refused(state, "gpu:0", RIDGE_E_ARG, "a count is 1 to");
}

static void unknown_names_are_answered_with_the_nearest(void **state)
{
    assert_refused(state, "cub:4x4x4", RIDGE_E_NOTFOUND, "cube");
    assert_refused(state, "rack-7:4", RIDGE_E_NOTFOUND, "rack-72");
    assert_refused(state, "zzzzzzzz:4", RIDGE_E_NOTFOUND, "`ridge chips` lists");
}

static void other_notations_of_a_slice_are_mended(void **state)
{
    assert_refused(state, "8xcube", RIDGE_E_PARSE, "here cube:8");
    assert_refused(state, "8cube", RIDGE_E_PARSE, "here cube:8");
    assert_refused(state, "cubeX16", RIDGE_E_PARSE, "here cube:16");
    assert_refused(state, "8xsquare-tower", RIDGE_E_NOTFOUND, "unknown chip");
}

/* Google counts TensorCores: two a chip of v5p and TPU7x, one of v5e. */
static void accelerator_types_are_the_most_compact_slices(void **state)
{
    static const char *const types[][2] = {
        {"v5p-512", "v5p:4x8x8"},     {"v5p-128", "v5p:4x4x4"},  {"v5p-2", "v5p:1x1x1"},
        {"v5litepod-16", "v5e:4x4"},  {"tpu7x-128", "v7:4x4x4"}, {"v4-64", "v4:2x4x4"},
        {"2*v5p-128", "2*v5p:4x4x4"}, {"v3-32", "v3:4x4"}};
    static const char *const refused[][2] = {
        {"v5p-100", "the nearest are"}, {"v5p-7", "the nearest are"},
        {"v5p-0", "0 TensorCores"},     {"v5p--4", "unknown chip"},
        {"v5p-4:4", "unknown chip"},    {"h100-8", "unknown chip"}};
    fixture_world real = *(fixture_world *)*state;
    void *at = &real;
    assert_int_equal(ridge_catalog_open(real.cx, NULL, &real.catalog), RIDGE_OK);
    for (size_t i = 0; i < RIDGE_COUNT_OF(types); i++)
        assert_string_equal(parse(&at, types[i][0])->text, types[i][1]);
    for (size_t i = 0; i < RIDGE_COUNT_OF(refused); i++) {
        const ridge_slice *none = NULL;
        assert_true(ridge_slice_parse(real.cx, real.catalog, refused[i][0], &none) !=
                    RIDGE_OK);
        assert_non_null(strstr(ridge_ctx_message(real.cx), refused[i][1]));
    }
}

static void a_system_file_names_a_slice(void **state)
{
    static const char path[] = RIDGE_TEST_DIR "/support/two-nodes.system.json";
    char text[512];
    snprintf(text, sizeof text, "%s:2x16", path);
    const ridge_slice *s = parse(state, text);
    assert_int_equal(s->chips, 32);
    assert_string_equal(s->chip->name, "gpu");
    assert_string_equal(s->axes[0].name, "nvlink-16");
    assert_string_equal(s->text, text);
    snprintf(text, sizeof text, "%s:3x16", path);
    assert_refused(state, text, RIDGE_E_ARG, "its limit is 2");
    assert_refused(state, "nowhere/none.json:4", RIDGE_E_IO, "nowhere/none.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_of_chips_lie_on_three_levels),
        cmocka_unit_test(bare_name_is_one_chip),
        cmocka_unit_test(bare_count_fills_nodes),
        cmocka_unit_test(hosts_are_counted_by_chips_per_node),
        cmocka_unit_test(nodes_beyond_a_leaf_need_whole_leaves_or_lie_on_the_spine),
        cmocka_unit_test(levels_inside_a_node_are_filled_in_order),
        cmocka_unit_test(a_single_node_has_no_second),
        cmocka_unit_test(too_many_chips_per_node_are_refused),
        cmocka_unit_test(whole_cubes_wrap_on_every_axis),
        cmocka_unit_test(parts_of_a_cube_do_not_wrap),
        cmocka_unit_test(only_a_side_of_the_pod_wraps),
        cmocka_unit_test(the_weakest_cut_bounds_the_halves),
        cmocka_unit_test(axes_of_one_chip_are_left_out),
        cmocka_unit_test(a_shape_of_two_numbers_gets_a_third),
        cmocka_unit_test(legal_shapes_are_legal_in_any_order),
        cmocka_unit_test(a_part_of_a_cube_is_priced_and_said_to_be_one),
        cmocka_unit_test(illegal_shapes_name_the_rule_and_the_nearest),
        cmocka_unit_test(a_bare_count_of_a_torus_is_answered_with_its_shapes),
        cmocka_unit_test(slices_are_joined_by_dcn),
        cmocka_unit_test(a_fabric_stands_in_for_a_missing_dcn),
        cmocka_unit_test(a_fleet_is_a_list_of_pools),
        cmocka_unit_test(names_are_found_in_any_case_and_by_alias),
        cmocka_unit_test(twisted_shapes_are_noted),
        cmocka_unit_test(written_slices_parse_to_themselves),
        cmocka_unit_test(malformed_text_is_refused),
        cmocka_unit_test(huge_counts_are_refused),
        cmocka_unit_test(unknown_names_are_answered_with_the_nearest),
        cmocka_unit_test(other_notations_of_a_slice_are_mended),
        cmocka_unit_test(accelerator_types_are_the_most_compact_slices),
        cmocka_unit_test(a_system_file_names_a_slice),
    };
    return cmocka_run_group_tests(tests, fixture_world_open, fixture_world_close);
}
