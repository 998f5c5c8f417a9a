/* What fills a device's memory, as XProf's memory viewer tells it. */
#include "near.h"

#include "ridge/profile_memory_table.h"

#include <string.h>

static int setup(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

#define HEAD "{\"peakHeapMib\": 9, \"maxHeap\": "
#define ARRAY(name, group, mib)                                                        \
    "{\"instructionName\": \"" name "\", \"groupName\": \"" group                      \
    "\", \"logicalBufferSizeMib\": " mib "}"

static ridge_status parse(ridge_ctx *cx, const char *text, ridge_memory_table *out)
{
    return ridge_memory_table_parse(cx, ridge_str_of(text), "m.json", out);
}

static void groups_sum_to_their_arrays_and_the_largest_come_first(void **state)
{
    ridge_memory_table t;
    assert_int_equal(
        parse(*state,
              HEAD "[" ARRAY("a", "Parameter", "2") ", " ARRAY(
                  "b", "Temporary", "4") ", " ARRAY("c", "Parameter", "3") "]}",
              &t),
        RIDGE_OK);
    assert_near(t.peak_bytes, 9 * 0x1p20, 0);
    assert_int_equal(t.n_arrays, 3);
    assert_string_equal(t.arrays[0].name, "b");
    assert_int_equal(t.n_groups, 2);
    assert_string_equal(t.groups[0].name, "Parameter");
    assert_near(t.groups[0].bytes, 5 * 0x1p20, 0);
    assert_int_equal(t.groups[0].arrays, 2);
}

static void what_has_no_size_is_no_array(void **state)
{
    ridge_memory_table t;
    assert_int_equal(parse(*state,
                           HEAD "[1, null, {}, " ARRAY("a", "x", "-1") ", " ARRAY(
                               "b", "x", "null") "]}",
                           &t),
                     RIDGE_OK);
    assert_int_equal(t.n_arrays, 0);
    assert_int_equal(t.n_groups, 0);
    assert_string_equal(t.module, "");
    assert_string_equal(t.instruction, "");
}

static void more_groups_than_room_are_others(void **state)
{
    ridge_ctx *cx = *state;
    ridge_memory_table t;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_printf(&b, "%s[", HEAD);
    for (int i = 0; i < 40; i++)
        ridge_buf_printf(&b, "%s{\"groupName\": \"g%d\", \"logicalBufferSizeMib\": 1}",
                         i > 0 ? ", " : "", i);
    ridge_buf_printf(&b, "]}");
    assert_int_equal(parse(cx, ridge_buf_text(&b), &t), RIDGE_OK);
    assert_int_equal(t.n_groups, RIDGE_MEMORY_GROUP_MAX);
    assert_string_equal(t.groups[0].name, "other");
    assert_int_equal(t.groups[0].arrays, 40 - RIDGE_MEMORY_GROUP_MAX + 1);
}

static void other_documents_are_refused(void **state)
{
    static const char *const wrong[] = {"{}",
                                        "[]",
                                        "{\"maxHeap\": []}",
                                        "{\"peakHeapMib\": 1, \"maxHeap\": 3}",
                                        "{\"peakHeapMib\": -1, \"maxHeap\": []}",
                                        "{\"peakHeapMib\": 1e308, \"maxHeap\": []}",
                                        "{\"cols\": [], \"rows\": []}",
                                        "{"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong); i++) {
        ridge_memory_table t;
        assert_int_equal(parse(*state, wrong[i], &t), RIDGE_E_PARSE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_sum_to_their_arrays_and_the_largest_come_first),
        cmocka_unit_test(what_has_no_size_is_no_array),
        cmocka_unit_test(more_groups_than_room_are_others),
        cmocka_unit_test(other_documents_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
