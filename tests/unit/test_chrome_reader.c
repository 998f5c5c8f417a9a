/* Documents as they are found: damaged, cut off, in odd forms. */
#include "trace_text.h"

#include <string.h>

static int setup(void **state)
{
    static trace_fixture f;
    trace_fixture_open(&f, "chrome_reader");
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    trace_fixture_close(*state);
    return 0;
}

#define KERNEL(name, ts)                                                               \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name                           \
    "\", \"pid\": 0, \"tid\": 7, \"ts\": " ts ", \"dur\": 0.5}"

static int64_t operations(const trace_fixture *f)
{
    return f->profile.n_devices > 0 ? f->profile.devices[0].operations : 0;
}

static bool has_lost(const trace_fixture *f, const char *what, int64_t count)
{
    for (int i = 0; i < f->profile.n_losses; i++) {
        if (strstr(f->profile.losses[i].what, what) != NULL)
            return f->profile.losses[i].count == count;
    }
    return false;
}

static void events_may_be_the_whole_document(void **state)
{
    trace_fixture *f = *state;
    trace_profile(f, "[" KERNEL("a", "1") ",\n" KERNEL("b", "2") "]");
    assert_int_equal(operations(f), 2);
    assert_int_equal(f->profile.n_losses, 0);
}

static void what_stands_beside_the_events_is_read(void **state)
{
    trace_fixture *f = *state;
    trace_profile(
        f, "{\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100\"}], "
           "\"x\": {\"traceEvents\": [1]}, \"traceEvents\": [" KERNEL(
               "a", "1") "], \"distributedInfo\": {\"rank\": 3, \"world_size\": 8}}");
    assert_string_equal(f->profile.devices[0].hardware, "NVIDIA H100");
    assert_int_equal(f->profile.devices[0].rank, 3);
    assert_int_equal(f->profile.world, 8);
}

static void a_trace_that_is_cut_off_is_read_as_far_as_it_goes(void **state)
{
    trace_fixture *f = *state;
    const char whole[] = "{\"traceEvents\": [" KERNEL("a", "1") ", " KERNEL(
        "b", "2") ", {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"c";
    trace_profile(f, whole);
    assert_int_equal(operations(f), 2);
    assert_true(has_lost(f, "cut off", 1));
    trace_profile(f, "{\"traceEvents\": [" KERNEL("a", "1"));
    assert_int_equal(operations(f), 1);
    assert_true(has_lost(f, "cut off", 1));
}

/* A control character, bytes that are not UTF-8, an integer beyond 64 bits. */
static void odd_texts_and_integers_are_taken(void **state)
{
    trace_fixture *f = *state;
    trace_profile(
        f,
        "{\"traceEvents\": [" KERNEL(
            "gemm\x01\xff\xfe",
            "1") ", {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"c\", \"pid\": 1, "
                 "\"tid\": 1, \"ts\": 1, \"dur\": 1, \"args\": {\"Comms Id\": "
                 "10159970886766084423}}, " KERNEL("b", "2") "]}");
    assert_int_equal(operations(f), 2);
    assert_int_equal(f->profile.n_losses, 0);
    assert_int_equal(f->profile.ops[1].class, RIDGE_CLASS_MATMUL);
    assert_string_equal(f->profile.ops[1].name, "gemm ??");
}

/* Tables of other tools are lists of objects too. */
static void objects_without_a_phase_are_no_trace(void **state)
{
    trace_fixture *f = *state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"[{\"cols\": [{\"id\": \"rank\"}], \"rows\": []}, {\"p\": {}}]", "XProf"},
        {" {\"cols\": [{\"id\": \"rank\"}], \"rows\": []}", "XProf"},
        {"{\"bySizeToMaxHeap\": [1, 2], \"maxHeap\": []}", "XProf"},
        {"[{\"name\": \"a\", \"ts\": 1}]", "no trace events"},
        {"{\"traceEvents\": [{\"name\": \"a\"}, {\"cols\": 1}]}", "no trace events"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        ridge_profile p;
        const ridge_profile_request request = {
            .path = own_file(f->cx, f->folder, "table.json", rows[i].text,
                             strlen(rows[i].text))};
        assert_failed(f->cx, ridge_profile_read(f->cx, &request, &p), RIDGE_E_PARSE,
                      rows[i].says);
    }
}

static void a_quote_that_is_not_escaped_costs_one_event(void **state)
{
    trace_fixture *f = *state;
    trace_profile(f, "{\"traceEvents\": [" KERNEL("a", "1") ", " KERNEL(
                         "say \"x\" again", "2") ", " KERNEL("b", "3") "]}");
    assert_int_equal(operations(f), 2);
    assert_true(has_lost(f, "damaged", 1));
    assert_true(f->profile.losses[0].offset > 0);
}

/* Damage, and then the bracket of the events is the last byte. */
static void a_bracket_may_be_the_last_byte(void **state)
{
    trace_fixture *f = *state;
    trace_profile(f, "[" KERNEL("a", "1") ", " KERNEL("say \"x\" again",
                                                      "2") ", " KERNEL("b", "3") "]");
    assert_int_equal(operations(f), 2);
    assert_true(has_lost(f, "damaged", 1));
}

static void events_with_malformed_times_are_counted(void **state)
{
    trace_fixture *f = *state;
    trace_profile(f, "{\"traceEvents\": [" KERNEL("a", "1") ", " KERNEL(
                         "b", "\"x\"") ", " KERNEL("c", "1e300") "]}");
    assert_int_equal(operations(f), 1);
    assert_true(has_lost(f, "times", 2));
}

static void times_may_be_texts(void **state)
{
    trace_fixture *f = *state;
    trace_profile(f, "{\"traceEvents\": [" KERNEL("a", "\"5.25\"") "]}");
    assert_int_equal(f->profile.devices[0].steps[0].start_ns, 5250);
}

static void begins_and_ends_make_events(void **state)
{
    trace_fixture *f = *state;
    trace_profile(f, "[{\"ph\": \"B\", \"name\": \"outer\", \"pid\": 1, \"tid\": 1, "
                     "\"ts\": 1}, {\"ph\": \"B\", \"name\": \"inner\", \"pid\": 1, "
                     "\"tid\": 1, \"ts\": 2}, {\"ph\": \"E\", \"pid\": 1, \"tid\": 1, "
                     "\"ts\": 4}, {\"ph\": \"E\", \"pid\": 1, \"tid\": 1, \"ts\": 5}, "
                     "{\"ph\": \"E\", \"pid\": 1, \"tid\": 1, \"ts\": 6}]");
    assert_int_equal(f->profile.format, RIDGE_TRACE_CHROME);
    assert_int_equal(operations(f), 2);
    assert_int_equal(f->profile.times.total_ns, 4000);
    assert_true(has_lost(f, "without a begin", 1));
}

static void what_is_no_trace_is_refused(void **state)
{
    trace_fixture *f = *state;
    static const char *const bad[] = {"{\"a\": 1}", "x", "",
                                      "{}",         "[", "{\"traceEvents\": 1}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ridge_profile p;
        const ridge_profile_request request = {
            .path = own_file(f->cx, f->folder, "bad.json", bad[i], strlen(bad[i]))};
        assert_failed(f->cx, ridge_profile_read(f->cx, &request, &p), RIDGE_E_PARSE,
                      "bad.json");
    }
}

/* Whatever runs out of memory, and when: a status, and the ctx can be closed. */
static void memory_may_run_out_anywhere(void **state)
{
    trace_fixture *f = *state;
    const char text[] = "{\"traceEvents\": [" KERNEL("gemm", "1") ", " KERNEL(
        "ncclDevKernel_AllReduce(x)", "1.2") ", " KERNEL("b", "3") "]}";
    const char *path = own_file(f->cx, f->folder, "m.json", text, sizeof text - 1);
    bool is_done = false;
    for (size_t budget = 1 << 12; !is_done; budget += budget / 16) {
        ridge_ctx *cx = ridge_ctx_open_budget(budget);
        ridge_profile p;
        const ridge_profile_request request = {.path = path, .window_bytes = 4096};
        if (cx == NULL)
            continue;
        const ridge_status st = ridge_profile_read(cx, &request, &p);
        assert_true(st == RIDGE_OK || st == RIDGE_E_NOMEM);
        is_done = st == RIDGE_OK;
        ridge_ctx_close(cx);
    }
}

/* A window of a few bytes ends within every event. */
static void the_window_may_end_anywhere(void **state)
{
    trace_fixture *f = *state;
    const char text[] = "{\"a\": [1, 2, {\"b\": \"]\"}], \"traceEvents\": [" KERNEL(
        "a", "1") ", " KERNEL("say \"x\" again", "2") ", " KERNEL("b",
                                                                  "3") "], \"z\": 1}";
    const char *path = own_file(f->cx, f->folder, "w.json", text, sizeof text - 1);
    for (size_t n = 1; n < 300; n++) {
        ridge_profile p;
        const ridge_profile_request request = {.path = path, .window_bytes = n};
        assert_done(f->cx, ridge_profile_read(f->cx, &request, &p));
        assert_int_equal(p.devices[0].operations, 2);
        assert_int_equal(p.n_losses, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_may_be_the_whole_document),
        cmocka_unit_test(what_stands_beside_the_events_is_read),
        cmocka_unit_test(a_trace_that_is_cut_off_is_read_as_far_as_it_goes),
        cmocka_unit_test(odd_texts_and_integers_are_taken),
        cmocka_unit_test(objects_without_a_phase_are_no_trace),
        cmocka_unit_test(a_quote_that_is_not_escaped_costs_one_event),
        cmocka_unit_test(a_bracket_may_be_the_last_byte),
        cmocka_unit_test(events_with_malformed_times_are_counted),
        cmocka_unit_test(times_may_be_texts),
        cmocka_unit_test(begins_and_ends_make_events),
        cmocka_unit_test(what_is_no_trace_is_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(the_window_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
