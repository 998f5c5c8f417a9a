/* A collective for people and for programs, and the sizes of its sweep. */
#include "near.h"

#include "network_build.h"
#include "ridge/report.h"

#include <math.h>
#include <string.h>

typedef struct scene {
    ridge_ctx *cx;
    ridge_slice slice;
    ridge_collective_study study;
} scene;

static void stage(scene *s, double bytes, const char *range_text)
{
    *s = (scene){.cx = ridge_ctx_open(), .slice = test_slice()};
    test_axis(&s->slice, RIDGE_AXIS_SWITCH, 8, 1e9)->can_reduce = true;
    s->slice.axes[0].latency_s = 1e-3;
    s->study.slice = &s->slice;
    s->study.group = test_group_all(&s->slice);
    s->study.kind = RIDGE_COLLECTIVE_ALL_REDUCE;
    s->study.bytes = bytes;
    ridge_bytes_range range;
    if (range_text && ridge_bytes_range_parse(s->cx, range_text, &range) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(s->cx));
    ridge_collective_study_fill(&s->study, RIDGE_DTYPE_BF16,
                                range_text ? &range : NULL);
}

static const char *text_of(scene *s)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(s->cx));
    ridge_collective_write_text(s->cx, &s->study, false, &out);
    return ridge_buf_text(&out);
}

static void the_cheapest_is_marked_and_the_limit_named(void **state)
{
    (void)state;
    scene s;
    stage(&s, 1e9, NULL);
    const char *text = text_of(&s);
    assert_non_null(strstr(text, "in-network *"));
    assert_null(strstr(text, "ring *"));
    assert_non_null(strstr(text, "Bandwidth bound by a"));
    assert_non_null(strstr(text, "slowest"));
    assert_null(strstr(text, "Sweep"));
    ridge_ctx_close(s.cx);
}

static void short_messages_are_called_latency_bound(void **state)
{
    (void)state;
    scene s;
    stage(&s, 8.0, NULL);
    assert_non_null(strstr(text_of(&s), "Latency bound"));
    ridge_ctx_close(s.cx);
}

static void one_chip_says_that_nothing_moves(void **state)
{
    (void)state;
    scene s;
    stage(&s, 1e9, "1KiB..1MiB");
    s.study.group = (ridge_group){.ranks = 1};
    ridge_collective_study_fill(&s.study, RIDGE_DTYPE_BF16, NULL);
    assert_non_null(strstr(text_of(&s), "nothing moves"));
    ridge_ctx_close(s.cx);
}

static void json_has_the_documented_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "kind",   "bytes",           "ranks",       "algorithm",
        "time_s", "bound_time_s",    "algorithms",  "bound_by",
        "sweep",  "bus_bytes_per_s", "slowest_axis"};
    scene s;
    stage(&s, 1e9, "1KiB..1MiB");
    ridge_json *object = ridge_json_object(s.cx);
    ridge_collective_write_json(s.cx, &s.study, object);
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(s.cx));
    assert_int_equal(ridge_json_write(s.cx, object, &out), RIDGE_OK);
    ridge_node root;
    assert_int_equal(
        ridge_json_parse(s.cx, ridge_str_of(ridge_buf_text(&out)), "json", &root),
        RIDGE_OK);
    for (size_t i = 0; i < RIDGE_COUNT_OF(keys); i++)
        assert_false(ridge_json_is_absent(ridge_json_get(&root, keys[i])));
    const ridge_node sweep = ridge_json_get(&root, "sweep");
    assert_int_equal(ridge_json_size(sweep), 11);
    double time_s = 0.0;
    assert_true(ridge_json_double(ridge_json_get(&root, "time_s"), &time_s));
    assert_near(time_s, s.study.cost.expected_s, 1e-9);
    ridge_ctx_close(s.cx);
}

static void a_sweep_is_drawn_and_a_page_is_whole(void **state)
{
    (void)state;
    scene s;
    stage(&s, 1e9, "1KiB..1GiB*4");
    assert_non_null(strstr(text_of(&s), "bus B/s"));
    ridge_buf page;
    ridge_buf_init(&page, ridge_ctx_arena(s.cx));
    ridge_collective_write_html(s.cx, &s.study, &page);
    assert_non_null(strstr(ridge_buf_text(&page), "<svg"));
    assert_non_null(strstr(ridge_buf_text(&page), "</html>"));
    ridge_ctx_close(s.cx);
}

static void ranges_of_sizes_are_read(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_bytes_range r;
    assert_int_equal(ridge_bytes_range_parse(cx, "1KiB..4GiB", &r), RIDGE_OK);
    assert_near(r.from, 1024.0, 0.0);
    assert_near(r.to, 4 * RIDGE_GIB, 0.0);
    assert_near(r.factor, 2.0, 0.0);
    assert_int_equal(ridge_bytes_range_parse(cx, " 1MB .. 1GB * 10", &r), RIDGE_OK);
    assert_near(r.factor, 10.0, 0.0);
    static const char *const wrong[] = {
        "",       "1KiB",     "1KiB..",   "..1KiB",   "4GiB..1KiB",
        "0..1GB", "1..1GB*1", "1..1GB*0", "1..1GB*x", "1..1e17*1.1"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong); i++)
        assert_int_not_equal(ridge_bytes_range_parse(cx, wrong[i], &r), RIDGE_OK);
    ridge_ctx_close(cx);
}

static void the_critical_size_is_where_latency_and_bandwidth_meet(void **state)
{
    (void)state;
    scene s;
    stage(&s, 1e9, NULL);
    s.study.bytes = s.study.critical_bytes;
    ridge_collective_study_fill(&s.study, RIDGE_DTYPE_BF16, NULL);
    const ridge_collective_cost *cost = &s.study.cost;
    for (int i = 0; i < cost->n_algorithms; i++)
        if (cost->algorithms[i].algorithm == cost->algorithm)
            assert_near(cost->algorithms[i].latency_s, cost->algorithms[i].bandwidth_s,
                        1e-9);
    ridge_ctx_close(s.cx);
}

static void set_kind(scene *s, ridge_collective kind)
{
    s->study.kind = kind;
    ridge_collective_study_fill(&s->study, RIDGE_DTYPE_BF16, NULL);
}

/* Chips in nodes of 8, nodes of 4 in a leaf, two leaves: rates add up below a unit. */
static void each_level_tells_what_its_units_send(void **state)
{
    (void)state;
    scene s;
    stage(&s, 64e9, NULL);
    assert_null(strstr(text_of(&s), "a unit"));
    test_axis(&s.slice, RIDGE_AXIS_FABRIC, 4, 0.5e9);
    test_axis(&s.slice, RIDGE_AXIS_FABRIC, 2, 0.25e9);
    s.study.group = test_group_all(&s.slice);
    set_kind(&s, RIDGE_COLLECTIVE_ALL_GATHER);
    const ridge_collective_level *level = s.study.levels;
    assert_near(level[0].unit_chips, 1, 0);
    assert_near(level[0].bound_s, 64.0 * 7 / 8 / 1, 1e-12);
    assert_near(level[1].unit_bytes_per_s, 4e9, 1e-12);
    assert_near(level[1].unit_sent_bytes, 48e9, 1e-12);
    assert_near(level[1].bound_s, 48.0 / 4, 1e-12);
    assert_near(level[2].unit_chips, 32, 0);
    assert_near(level[2].bound_s, 32.0 / 8, 1e-12);
    assert_non_null(strstr(text_of(&s), "a unit"));
    set_kind(&s, RIDGE_COLLECTIVE_ALL_REDUCE);
    assert_near(level[2].bound_s, 64.0 / 8, 1e-12);
    /* Fault: a level whose switch adds was told two passes, more than the whole takes.
     */
    assert_near(level[0].bound_s, 64.0 / 1, 1e-12);
    assert_true(s.study.cost.bound_s >= level[0].bound_s * (1 - 1e-12));
    s.slice.axes[0].can_reduce = false;
    set_kind(&s, RIDGE_COLLECTIVE_ALL_REDUCE);
    assert_near(level[0].bound_s, 2 * 64.0 * 7 / 8 / 1, 1e-12);
    set_kind(&s, RIDGE_COLLECTIVE_ALL_TO_ALL);
    assert_near(level[0].bound_s, 64.0 / 64 * 63 / 64 / 1, 1e-12);
    assert_near(level[1].bound_s, 64.0 / 8 * 7 / 8 / 4, 1e-12);
    set_kind(&s, RIDGE_COLLECTIVE_BROADCAST);
    assert_true(isnan(level[1].bound_s));
    assert_null(strstr(text_of(&s), "a unit"));
    ridge_ctx_close(s.cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cheapest_is_marked_and_the_limit_named),
        cmocka_unit_test(short_messages_are_called_latency_bound),
        cmocka_unit_test(one_chip_says_that_nothing_moves),
        cmocka_unit_test(json_has_the_documented_keys),
        cmocka_unit_test(a_sweep_is_drawn_and_a_page_is_whole),
        cmocka_unit_test(ranges_of_sizes_are_read),
        cmocka_unit_test(the_critical_size_is_where_latency_and_bandwidth_meet),
        cmocka_unit_test(each_level_tells_what_its_units_send),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
