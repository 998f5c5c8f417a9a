/* replica_groups in each of its forms. */
#include "near.h"

#include "ridge/profile_hlo.h"

#include <string.h>

static ridge_ctx *cx;

static int set_up(void **state)
{
    (void)state;
    cx = ridge_ctx_open();
    return cx == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    ridge_ctx_close(cx);
    return 0;
}

static ridge_hlo_groups groups_of(const char *text)
{
    ridge_hlo_groups g;
    const ridge_status st = ridge_hlo_groups_parse(cx, ridge_str_of(text), &g);
    if (st != RIDGE_OK)
        print_message("%s\n", ridge_ctx_message(cx));
    assert_int_equal(st, RIDGE_OK);
    return g;
}

static void assert_devices(const char *text, int64_t n_groups, int64_t size,
                           const int64_t *want)
{
    const ridge_hlo_groups g = groups_of(text);
    assert_int_equal(g.n_groups, n_groups);
    assert_int_equal(g.size, size);
    for (int64_t k = 0; k < n_groups * size; k++)
        assert_int_equal(g.devices[k], want[k]);
}

static void lists(void **state)
{
    (void)state;
    assert_devices("{{0,1},{2,3}}", 2, 2, (int64_t[]){0, 1, 2, 3});
    assert_devices("{ {3} }", 1, 1, (int64_t[]){3});
    assert_int_equal(groups_of("{}").n_groups, 0);
    assert_int_equal(groups_of("{{}}").n_groups, 0);
}

static void uneven_lists_keep_the_largest(void **state)
{
    (void)state;
    const ridge_hlo_groups g = groups_of("{{0},{1,2},{3,4}}");
    assert_true(g.is_uneven);
    assert_int_equal(g.n_groups, 2);
    assert_int_equal(g.devices[0], 1);
}

static void iota_arrays(void **state)
{
    (void)state;
    assert_devices("[2,3]<=[6]", 2, 3, (int64_t[]){0, 1, 2, 3, 4, 5});
    assert_devices("[3,2]<=[2,3]T(1,0)", 3, 2, (int64_t[]){0, 3, 1, 4, 2, 5});
    assert_devices("[4,2]<=[2,2,2]T(2,0,1)", 4, 2, (int64_t[]){0, 2, 4, 6, 1, 3, 5, 7});
    assert_devices("[4]<=[4]", 1, 4, (int64_t[]){0, 1, 2, 3});
}

/* 8-way over an 8 x 16 mesh: groups of 8, 16 apart. */
static void strides_tell_the_axis(void **state)
{
    (void)state;
    const ridge_hlo_groups g = groups_of("[16,8]<=[8,16]T(1,0)");
    assert_int_equal(g.n_groups, 16);
    for (int64_t k = 0; k < 8; k++)
        assert_int_equal(g.devices[k], 16 * k);
}

static void meshes_by_axis(void **state)
{
    (void)state;
    assert_devices("mesh['x'=2,'y'=3] {'y'}", 2, 3, (int64_t[]){0, 1, 2, 3, 4, 5});
    assert_devices("mesh['x'=2,'y'=3] {'x'}", 3, 2, (int64_t[]){0, 3, 1, 4, 2, 5});
    assert_devices("mesh['x'=2,'y'=2] {'y','x'}", 1, 4, (int64_t[]){0, 2, 1, 3});
    assert_devices("mesh['a'=1,'b'=4] {'a'}", 4, 1, (int64_t[]){0, 1, 2, 3});
}

static void faults_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"[2,4]<=[7]", "7 devices do not make groups of 8 in all"},
        {"[2,4]<=[2,4]T(0,0)", "each dim of the array is wanted once"},
        {"{{0,x}}", "the number of a device is wanted"},
        {"{{0,1}", "',' is wanted between groups"},
        {"mesh['x'=2] {'y'}", "an axis of the mesh is wanted"},
        {"mesh['x'=0] {'x'}", "an axis such as 'x'=4 is wanted"},
        {"[99999999999,9]<=[1]", "a size of an array of devices is wanted"},
        {"nonsense", "'{' is wanted before the groups"},
    };
    for (size_t k = 0; k < RIDGE_COUNT_OF(rows); k++) {
        ridge_hlo_groups g;
        assert_int_equal(ridge_hlo_groups_parse(cx, ridge_str_of(rows[k].text), &g),
                         RIDGE_E_PARSE);
        if (!strstr(ridge_ctx_message(cx), rows[k].message))
            fail_msg("'%s' is not in '%s'", rows[k].message, ridge_ctx_message(cx));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(uneven_lists_keep_the_largest),
        cmocka_unit_test(iota_arrays),
        cmocka_unit_test(strides_tell_the_axis),
        cmocka_unit_test(meshes_by_axis),
        cmocka_unit_test(faults_are_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
