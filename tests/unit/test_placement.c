/* Mesh axes laid on a slice by hand, and groups as text. */
#include "hardware_fixture.h"
#include "near.h"

#include <string.h>

static const ridge_slice *slice_of(void **state, const char *text)
{
    fixture_world *w = *state;
    return fixture_slice(w->cx, w->catalog, text);
}

static void assert_text(void **state, const ridge_slice *s, const ridge_group *group,
                        const char *want)
{
    fixture_world *w = *state;
    assert_string_equal(ridge_group_text(w->cx, s, group), want);
}

static void inner_mesh_axes_take_inner_network_axes(void **state)
{
    const ridge_slice *s = slice_of(state, "gpu:64x8");
    const int64_t sizes[] = {4, 16, 8};
    ridge_group groups[3];
    assert_true(ridge_placement_fill(s, NULL, sizes, 3, groups));
    assert_text(state, s, &groups[0], "nvlink 4");
    assert_text(state, s, &groups[1], "nvlink 2 (stride 4) x leaf 8");
    assert_text(state, s, &groups[2], "leaf 4 (stride 8) x spine 2");
    assert_int_equal(groups[1].ranks, 16);
}

static void an_order_chooses_the_first_network_axis(void **state)
{
    const ridge_slice *s = slice_of(state, "cube:4x8x16");
    const int order[] = {2, 0, 1};
    const int64_t sizes[] = {16, 4, 8};
    ridge_group groups[3];
    assert_true(ridge_placement_fill(s, order, sizes, 3, groups));
    assert_text(state, s, &groups[0], "ici-z 16");
    assert_text(state, s, &groups[1], "ici-x 4");
    assert_text(state, s, &groups[2], "ici-y 8");
    const int64_t two[] = {64, 8};
    assert_true(ridge_placement_fill(s, order, two, 2, groups));
    assert_text(state, s, &groups[0], "ici-x 4 x ici-z 16"); /* innermost first */
}

static void mesh_axes_of_one_take_nothing(void **state)
{
    const ridge_slice *s = slice_of(state, "gpu:1x8");
    const int64_t sizes[] = {1, 8, 1};
    ridge_group groups[3];
    assert_true(ridge_placement_fill(s, NULL, sizes, 3, groups));
    assert_int_equal(groups[0].n_spans, 0);
    assert_int_equal(groups[0].ranks, 1);
    assert_text(state, s, &groups[0], "one chip");
    assert_text(state, s, &groups[1], "nvlink 8");
}

static void sizes_that_do_not_factor_are_refused(void **state)
{
    const ridge_slice *s = slice_of(state, "gpu:3x8");
    ridge_group groups[3];
    const int64_t good[] = {2, 12};
    const int64_t twisted[] = {3, 8};
    const int64_t few[] = {8};
    const int64_t many[] = {8, 3, 2};
    const int64_t zero[] = {24, 0};
    const int64_t huge[] = {INT64_MAX, INT64_MAX};
    assert_true(ridge_placement_fill(s, NULL, good, 2, groups));
    assert_true(ridge_placement_fill(s, NULL, twisted, 2, groups));
    assert_false(ridge_placement_fill(s, NULL, few, 1, groups));
    assert_false(ridge_placement_fill(s, NULL, many, 3, groups));
    assert_false(ridge_placement_fill(s, NULL, zero, 2, groups));
    assert_false(ridge_placement_fill(s, NULL, huge, 2, groups));
    const ridge_slice *odd = slice_of(state, "gpu:2x6");
    const int64_t cut[] = {4, 3};
    assert_true(ridge_placement_fill(odd, NULL, cut, 2, groups));
}

static void an_order_must_be_a_permutation(void **state)
{
    const ridge_slice *s = slice_of(state, "gpu:2x8");
    const int64_t sizes[] = {16};
    ridge_group group;
    static const int bad[][2] = {{0, 0}, {1, 2}, {-1, 0}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++)
        assert_false(ridge_placement_fill(s, bad[i], sizes, 1, &group));
}

static void rings_close_over_whole_axes_and_even_strides(void **state)
{
    const ridge_slice *s = slice_of(state, "flat:8x16");
    const struct {
        ridge_span span;
        bool want;
    } rows[] = {
        {{.axis = 1, .size = 16, .stride = 1}, true},
        {{.axis = 1, .size = 4, .stride = 4}, true},
        {{.axis = 1, .size = 4, .stride = 1}, false},
        {{.axis = 1, .size = 4, .stride = 2}, false},
        {{.axis = 0, .size = 8, .stride = 1}, false},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++)
        assert_int_equal(ridge_span_has_wraparound(s, &rows[i].span), rows[i].want);
    const ridge_span all = {.axis = 0, .size = 8, .stride = 1};
    assert_false(ridge_span_has_wraparound(slice_of(state, "gpu:1x8"), &all));
}

static ridge_status group_of(void **state, const char *slice, const char *text,
                             ridge_group *out)
{
    fixture_world *w = *state;
    return ridge_group_parse(w->cx, slice_of(state, slice), text, out);
}

static void groups_are_read_from_axis_names(void **state)
{
    ridge_group group;
    const ridge_slice *s = slice_of(state, "2*cube:4x8x16");
    assert_int_equal(group_of(state, "2*cube:4x8x16", "z, ICI-X", &group), RIDGE_OK);
    assert_text(state, s, &group, "ici-x 4 x ici-z 16");
    assert_int_equal(group.ranks, 64);
    assert_int_equal(group_of(state, "2*cube:4x8x16", "all", &group), RIDGE_OK);
    assert_int_equal(group.n_spans, 4);
    assert_int_equal(group.ranks, 1024);
    assert_int_equal(group_of(state, "gpu:1", "all", &group), RIDGE_OK);
    assert_int_equal(group.n_spans, 0);
    assert_int_equal(group.ranks, 1);
}

static void a_part_of_an_axis_is_a_group_of_neighbours(void **state)
{
    fixture_world *w = *state;
    ridge_group group;
    const ridge_slice *s = slice_of(state, "cube:4x8x16");
    assert_int_equal(group_of(state, "cube:4x8x16", "z = 4,x", &group), RIDGE_OK);
    assert_text(state, s, &group, "ici-x 4 x ici-z 4");
    assert_int_equal(group.ranks, 16);
    assert_false(ridge_span_has_wraparound(s, &group.spans[1]));
    assert_int_equal(group_of(state, "cube:4x8x16", "y=1", &group), RIDGE_OK);
    assert_int_equal(group.n_spans, 0);
    static const char *const bad[] = {"x=3", "x=8", "x=0", "x=-4", "x=", "x=2=2"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++) {
        assert_int_equal(group_of(state, "cube:4x8x16", bad[i], &group), RIDGE_E_ARG);
        assert_non_null(strstr(ridge_ctx_message(w->cx), "must divide 4"));
    }
}

static void wrong_axis_names_are_answered_with_those_there_are(void **state)
{
    fixture_world *w = *state;
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {{"w", "cube:4x8x16 has ici-x, ici-y, ici-z"},
                {"", "is not there"},
                {"x,", "is not there"},
                {"x,x", "named twice"},
                {"all,x", "named twice"},
                {"nvlink", "ici-x"}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        ridge_group group;
        assert_int_equal(group_of(state, "cube:4x8x16", rows[i].text, &group),
                         RIDGE_E_ARG);
        assert_non_null(strstr(ridge_ctx_message(w->cx), rows[i].message));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inner_mesh_axes_take_inner_network_axes),
        cmocka_unit_test(an_order_chooses_the_first_network_axis),
        cmocka_unit_test(mesh_axes_of_one_take_nothing),
        cmocka_unit_test(sizes_that_do_not_factor_are_refused),
        cmocka_unit_test(an_order_must_be_a_permutation),
        cmocka_unit_test(rings_close_over_whole_axes_and_even_strides),
        cmocka_unit_test(groups_are_read_from_axis_names),
        cmocka_unit_test(a_part_of_an_axis_is_a_group_of_neighbours),
        cmocka_unit_test(wrong_axis_names_are_answered_with_those_there_are),
    };
    return cmocka_run_group_tests(tests, fixture_world_open, fixture_world_close);
}
