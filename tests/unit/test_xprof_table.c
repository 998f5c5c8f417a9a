/* Tables of operations that XProf computed, on small ones of our own. */
#include "trace_text.h"

#include "near.h"

#include "ridge/hardware.h"

#include <string.h>

static int setup(void **state)
{
    static trace_fixture f;
    trace_fixture_open(&f, "test_xprof_table");
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    trace_fixture_close(*state);
    return 0;
}

/* ' stands for ". */
static const char *table_file(trace_fixture *f, const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = ridge_new(ridge_ctx_arena(f->cx), char, n);
    assert_non_null(copy);
    memcpy(copy, text, n);
    for (char *p = copy; *p != 0; p++) {
        if (*p == '\'')
            *p = '"';
    }
    return own_file(f->cx, f->folder, "table.json", copy, strlen(copy));
}

static void read_table(trace_fixture *f, const char *text)
{
    ridge_profile_request request = {.path = table_file(f, text)};
    assert_done(f->cx, ridge_catalog_open(f->cx, NULL, &request.catalog));
    assert_done(f->cx, ridge_profile_read(f->cx, &request, &f->profile));
    assert_parts_sum(&f->profile);
    assert_int_equal(f->profile.format, RIDGE_TRACE_XPROF_TABLE);
}

static const ridge_profile_op *op_named(const trace_fixture *f, const char *name)
{
    for (int i = 0; i < f->profile.n_ops; i++) {
        if (strcmp(f->profile.ops[i].name, name) == 0)
            return &f->profile.ops[i];
    }
    fail_msg("no operation %s", name);
    return NULL;
}

#define HLO_TABLE                                                                      \
    "{'cols': [{'id': 'category'}, {'id': 'hlo_op_name'}, {'id': 'occurrences'}, "     \
    "{'id': 'total_time'}, {'id': 'total_self_time'}, "                                \
    "{'id': 'total_self_time_percent'}, {'id': 'model_flop_rate'}, {'id': 'hbm_bw'}]"

/* A product of 4 us twice at 100 TFLOP/s and 2^30 bytes/s, a gather of 1 us, a loop
 * that holds them; 20 % of the time is in no row. */
static void sums_of_operations_fill_one_step(void **state)
{
    trace_fixture *f = *state;
    read_table(f, HLO_TABLE
               ", 'rows': ["
               "{'c': [{'v': 'convolution fusion'}, {'v': 'fusion.1'}, {'v': 2.0}, "
               "{'v': 8}, {'v': 8.0}, {'v': 64.0}, {'v': 100000.0}, {'v': 1.0}]},"
               "{'c': [{'v': 'all-gather'}, {'v': 'all-gather.2'}, {'v': 1}, {'v': 1}, "
               "{'v': 1}, {'v': 8}, {'v': 0}, null]},"
               "{'c': [{'v': 'while'}, {'v': 'while.3'}, {'v': 1}, {'v': 9}, {'v': 1}, "
               "{'v': 8}, {'v': 5}, {'v': 5}]}]}");
    assert_int_equal(f->profile.steps, 1);
    assert_string_equal(f->profile.devices[0].name, "all devices together");
    assert_near(f->profile.step_s, 12.5e-6, 1e-3);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_MATMUL), 8000);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_ALL_GATHER), 1000);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_IDLE), 2500);
    const ridge_profile_op *product = op_named(f, "fusion.1");
    assert_int_equal(product->count, 2);
    assert_near(product->flops, 8e-6 * 1e14, 1e-9);
    assert_near(product->bytes, 8e-6 * 0x1p30, 1e-9);
    /* Rates of what holds others are those of its body. */
    assert_false(op_named(f, "while.3")->has_flops);
}

#define ROOFLINE_TABLE                                                                 \
    "[{'cols': [{'id': 'category'}, {'id': 'operation'}, {'id': 'step'}, "             \
    "{'id': 'include_infeed_outfeed'}, {'id': 'total_self_time'}, "                    \
    "{'id': 'total_self_time_percent'}, {'id': 'source_info'}, "                       \
    "{'id': 'measured_flop_rate'}, {'id': 'total_time'}]"

/* The same again by step and without input, the program as a whole, HTML in cells; and
 * the peak of one of two cores. */
static void rows_that_say_the_same_again_count_once(void **state)
{
    trace_fixture *f = *state;
    read_table(
        f, ROOFLINE_TABLE
        ", 'p': {'device_type': 'TPU v5', 'peak_flop_rate': '233400'}, 'rows': ["
        "{'c': [{'v': 'Program'}, {'v': 'Program'}, {'v': 'Total'}, {'v': true}, "
        "{'v': 99}]},"
        "{'c': [{'v': 'convolution'}, {'v': 'dot.1'}, {'v': 'Total'}, "
        "{'v': true}, {'v': 3}, {'v': 1.0}, {'v': '<div id=x>a.py:7</div>'}, "
        "{'v': 229500}, {'v': 3}]},"
        "{'c': [{'v': 'convolution'}, {'v': 'dot.1'}, {'v': 'Total'}, "
        "{'v': false}, {'v': 3}]},"
        "{'c': [{'v': 'convolution'}, {'v': 'dot.1'}, {'v': '0'}, {'v': true}, "
        "{'v': 3}]}]}, {'cols': []}]");
    assert_near(f->profile.step_s, 3e-6, 1e-3);
    assert_string_equal(op_named(f, "dot.1")->source, "a.py:7");
    assert_non_null(f->profile.chip);
    assert_string_equal(f->profile.chip->name, "v5p");
    assert_near(f->profile.chip_devices, 2, 0);
    assert_near(op_named(f, "dot.1")->roofline_s, 3e-6, 1e-6);
}

static void the_host_is_left_out_and_idle_rows_are_idle(void **state)
{
    trace_fixture *f = *state;
    read_table(f, "[{'cols': [{'id': 'type'}, {'id': 'operation'}, "
                  "{'id': 'host_or_device'}, {'id': 'total_self_time'}, "
                  "{'id': 'device_total_self_time_percent'}], 'rows': ["
                  "{'c': [{'v': 'dot_general'}, {'v': 'jit(f)/dot_general'}, "
                  "{'v': 'Device'}, {'v': 6}, {'v': 0.75}]},"
                  "{'c': [{'v': 'IDLE'}, {'v': 'IDLE'}, {'v': 'Device'}, {'v': 2}, "
                  "{'v': 0.25}]},"
                  "{'c': [{'v': 'x'}, {'v': 'y'}, {'v': 'Host'}, {'v': 50}]}]}]");
    assert_near(f->profile.step_s, 8e-6, 1e-3);
    assert_int_equal(f->profile.n_ops, 1);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_IDLE), 2000);
}

static void what_has_no_times_of_operations_is_refused(void **state)
{
    trace_fixture *f = *state;
    static const struct {
        const char *text, *says;
        ridge_status status;
    } rows[] = {
        {"{'cols': [], 'rows': []}", "give its hlo_stats", RIDGE_E_PARSE},
        {"[{'cols': 1}, 2, {'p': {}}]", "give its hlo_stats", RIDGE_E_PARSE},
        {"{'bySizeToMaxHeap': [1, 2], 'maxHeap': []}", "XProf", RIDGE_E_PARSE},
        {"{'cols': [{'id': 'operation'}", "table.json:1", RIDGE_E_PARSE},
        {HLO_TABLE ", 'rows': [{'c': [{'v': 'a'}, {'v': 'b'}, {'v': 1e9}, null, "
                   "{'v': 1}]}]}",
         "at most", RIDGE_E_ARG},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        ridge_profile p;
        const ridge_profile_request request = {.path = table_file(f, rows[i].text)};
        assert_failed(f->cx, ridge_profile_read(f->cx, &request, &p), rows[i].status,
                      rows[i].says);
    }
}

/* Sums of the same profile would count its time twice. */
static void tables_beside_a_trace_are_let_be(void **state)
{
    trace_fixture *f = *state;
    const char *table = HLO_TABLE ", 'rows': [{'c': [{'v': 'a'}, {'v': 'b'}, "
                                  "{'v': 1}, {'v': 3}, {'v': 3}]}]}";
    const char trace[] = "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", "
                         "\"name\": \"a\", \"pid\": 0, \"tid\": 7, \"ts\": 1, "
                         "\"dur\": 2}]}";
    const char *path = table_file(f, table);
    own_file(f->cx, f->folder, "a.trace.json", trace, sizeof trace - 1);
    ridge_profile p;
    ridge_profile_request request = {.path = f->folder};
    assert_done(f->cx, ridge_profile_read(f->cx, &request, &p));
    assert_int_equal(p.format, RIDGE_TRACE_KINETO);
    assert_int_equal(p.n_devices, 1);
    request.path = path;
    assert_done(f->cx, ridge_profile_read(f->cx, &request, &p));
    assert_int_equal(p.format, RIDGE_TRACE_XPROF_TABLE);
}

static void malformed_rows_are_counted(void **state)
{
    trace_fixture *f = *state;
    read_table(f, HLO_TABLE ", 'rows': [{'c': [{'v': 'a'}, {'v': 'b'}, {'v': 1}, null, "
                            "{'v': -1}]}, {'c': [{'v': 'a'}, {'v': 'c'}, null, null, "
                            "{'v': 2}]}]}");
    assert_int_equal(op_named(f, "c")->count, 1);
    assert_int_equal(f->profile.n_losses, 1);
    assert_int_equal(f->profile.losses[0].count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_operations_fill_one_step),
        cmocka_unit_test(rows_that_say_the_same_again_count_once),
        cmocka_unit_test(the_host_is_left_out_and_idle_rows_are_idle),
        cmocka_unit_test(what_has_no_times_of_operations_is_refused),
        cmocka_unit_test(malformed_rows_are_counted),
        cmocka_unit_test(tables_beside_a_trace_are_let_be),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
