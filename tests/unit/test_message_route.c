/* The way of one message over a torus, by hand. */
#include "near.h"

#include "network_build.h"
#include "ridge/cost.h"

#include <string.h>

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

static void hops_and_links_follow_from_both_places(void **state)
{
    static const struct {
        bool is_ring;
        const char *from, *to;
        int64_t hops;
        int ports;
    } cases[] = {
        {false, "0,0", "3,7", 10, 2}, /* corner to corner */
        {false, "1,1", "2,6", 6, 4},  /* both inside */
        {false, "1,0", "1,1", 1, 3},  /* an edge */
        {true, "0,0", "3,7", 2, 4},   /* around both rings */
        {true, "0,0", "2,4", 6, 4},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_slice slice = test_slice();
        ridge_message_route r;
        slice.text = "it:4x8";
        test_torus(&slice, 4, cases[i].is_ring, 45e9);
        test_torus(&slice, 8, cases[i].is_ring, 45e9);
        assert_int_equal(
            ridge_message_route_parse(*state, &slice, cases[i].from, cases[i].to, &r),
            RIDGE_OK);
        assert_int_equal(r.hops, cases[i].hops);
        assert_int_equal(r.ports, cases[i].ports);
        const ridge_time t = ridge_point_to_point_time(&slice, 9e9, r.hops, r.ports);
        assert_near(t.bound_s, 1e-6 * (double)r.hops + 9e9 / (45e9 * r.ports), 1e-12);
    }
}

static void places_that_are_none_are_refused(void **state)
{
    static const struct {
        const char *from, *to, *says;
    } cases[] = {
        {"0", "3,7", "is no chip of"},      {"0,0,0", "3,7", "is no chip of"},
        {"0,0", "3,8", "goes from 0 to 7"}, {"0,-1", "3,7", "goes from 0 to 7"},
        {"0,x", "3,7", "is no chip of"},    {"", "3,7", "is no chip of"},
        {"1,1", "1,1", "the same chip"},
    };
    ridge_slice slice = test_slice();
    slice.text = "it:4x8";
    test_torus(&slice, 4, false, 45e9)->name = "ici-x";
    test_torus(&slice, 8, false, 45e9)->name = "ici-y";
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_message_route r;
        assert_int_not_equal(
            ridge_message_route_parse(*state, &slice, cases[i].from, cases[i].to, &r),
            RIDGE_OK);
        if (!strstr(ridge_ctx_message(*state), cases[i].says))
            fail_msg("%s", ridge_ctx_message(*state));
    }
    ridge_message_route r;
    ridge_slice nodes = test_slice();
    nodes.text = "it:2";
    test_axis(&nodes, RIDGE_AXIS_SWITCH, 2, 1e9);
    assert_int_equal(ridge_message_route_parse(*state, &nodes, "0", "1", &r),
                     RIDGE_E_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hops_and_links_follow_from_both_places),
        cmocka_unit_test(places_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
