/*
 * Switches and cables of whole networks as NVIDIA's reference architectures list them
 * by scalable units, and laws that hold for any number of nodes.
 */
#include "near.h"

#include "ridge/hardware_switches.h"

#include <stdio.h>

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

/* Source nvidia-superpod-2025: DGX H100 (a unit of 32 nodes, one of them left out for
 * the manager of the fabric, counted here), DGX B200 and DGX B300 over XDR (72 nodes);
 * scaling-book-2025, chapter 12: 1,024, 2,048 and 4,096 H100. */
static const struct {
    const char *slice;
    int64_t leaf, spine, core;
    int64_t nic_cables, leaf_cables, spine_cables;
} fabrics[] = {
    {"h100:32x8", 8, 4, 0, 256, 256, 0},
    {"h100:64x8", 16, 8, 0, 512, 512, 0},
    {"h100:96x8", 24, 16, 0, 768, 768, 0},
    {"h100:128x8", 32, 16, 0, 1024, 1024, 0},
    {"h100:256x8", 64, 32, 0, 2048, 2048, 0},
    {"h100:512x8", 128, 128, 64, 4096, 4096, 4096},
    {"b200:64x8", 16, 8, 0, 512, 512, 0},
    {"b200:128x8", 32, 16, 0, 1024, 1024, 0},
    {"b200:256x8", 64, 32, 0, 2048, 2048, 0},
    {"b200:512x8", 128, 128, 64, 4096, 4096, 4096},
    {"b200:1024x8", 256, 256, 128, 8192, 8192, 8192},
    {"b200:2048x8", 512, 512, 256, 16384, 16384, 16384},
    {"b300:72x8", 8, 4, 0, 576, 576, 0},
    {"b300:144x8", 16, 8, 0, 1152, 1152, 0},
    {"b300:288x8", 32, 18, 0, 2304, 2304, 0},
    {"b300:576x8", 64, 36, 0, 4608, 4608, 0},
    {"b300:1296x8", 144, 72, 0, 10368, 10368, 0},
};

static ridge_switch_plan switches_of(ridge_ctx *cx, const ridge_catalog *catalog,
                                     const char *text)
{
    const ridge_slice *slice = NULL;
    ridge_switch_plan plan;
    if (ridge_slice_parse(cx, catalog, text, &slice) != RIDGE_OK)
        fail_msg("%s: %s", text, ridge_ctx_message(cx));
    ridge_slice_switches(slice, &plan);
    return plan;
}

static const ridge_catalog *catalog_of(ridge_ctx *cx)
{
    const ridge_catalog *catalog = NULL;
    if (ridge_catalog_open(cx, NULL, &catalog) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return catalog;
}

static void the_fabrics_are_those_of_the_reference_architectures(void **state)
{
    const ridge_catalog *catalog = catalog_of(*state);
    for (size_t i = 0; i < RIDGE_COUNT_OF(fabrics); i++) {
        const ridge_switch_plan plan = switches_of(*state, catalog, fabrics[i].slice);
        /* The switches of the nodes come first. */
        assert_int_equal(plan.n, fabrics[i].core ? 4 : 3);
        assert_int_equal(plan.tiers[1].switches, fabrics[i].leaf);
        assert_int_equal(plan.tiers[1].cables, fabrics[i].nic_cables);
        assert_int_equal(plan.tiers[2].switches, fabrics[i].spine);
        assert_int_equal(plan.tiers[2].cables, fabrics[i].leaf_cables);
        assert_near(plan.taper, 1.0, 0.0);
        if (fabrics[i].core == 0)
            continue;
        assert_int_equal(plan.tiers[3].switches, fabrics[i].core);
        assert_int_equal(plan.tiers[3].cables, fabrics[i].spine_cables);
    }
}

/* No tier has more cables than ports, none carries less than the NICs send, and no
 * more nodes need fewer switches. */
static void check_laws(ridge_ctx *cx, const ridge_catalog *catalog, const char *system,
                       int chips_per_node)
{
    int64_t before = 0;
    for (int nodes = 1; nodes < 3900; nodes += 1 + nodes / 7) {
        char text[64];
        snprintf(text, sizeof text, "%s:%dx%d", system, nodes, chips_per_node);
        const ridge_switch_plan plan = switches_of(cx, catalog, text);
        int64_t leaves = 0;
        assert_false(plan.is_beyond);
        for (int i = 0; i < plan.n; i++) {
            const ridge_switch_tier *tier = &plan.tiers[i];
            const int64_t up =
                i + 1 < plan.n && tier->is_derived ? plan.tiers[i + 1].cables : 0;
            assert_true(tier->cables + up <= tier->switches * tier->kind->ports);
            if (!tier->is_derived)
                continue;
            assert_true(i == 0 || !plan.tiers[i - 1].is_derived ||
                        tier->cables >= plan.tiers[i - 1].cables);
            leaves = leaves == 0 ? tier->switches : leaves;
        }
        assert_true(leaves >= before);
        before = leaves;
    }
}

static void laws_hold_for_any_number_of_nodes(void **state)
{
    const ridge_catalog *catalog = catalog_of(*state);
    check_laws(*state, catalog, "h100", 8);
    check_laws(*state, catalog, "b300", 8);
    check_laws(*state, catalog, "a100", 4);
    check_laws(*state, catalog, "dgx-a100", 1);
}

/* Chapter 12: four switches of 64 links of 25 GB/s could carry 6.4 TB/s of a node; its
 * chips send 3.6. Each port of the eighteen switches of a rack has a link. */
static void nodes_send_what_their_chips_do(void **state)
{
    const ridge_catalog *catalog = catalog_of(*state);
    const ridge_switch_plan h100 = switches_of(*state, catalog, "h100:8");
    assert_int_equal(h100.n, 1);
    assert_int_equal(h100.tiers[0].switches, 4);
    assert_int_equal(h100.tiers[0].cables, 8 * 18);
    assert_near(h100.tiers[0].bytes_per_s, 3.6e12, 1e-12);
    /* Nodes that are used in part have all of their switches. */
    const ridge_switch_plan odd = switches_of(*state, catalog, "h100:7x5");
    assert_int_equal(odd.nodes, 7);
    assert_int_equal(odd.tiers[0].switches, 7 * 4);
    const ridge_switch_plan rack = switches_of(*state, catalog, "gb200:1x72");
    assert_int_equal(rack.tiers[0].cables, 72 * 18);
    assert_int_equal(rack.tiers[0].cables, rack.tiers[0].switches * 72);
}

/* 32 x 32 x 64 NICs are what three tiers of 64 ports reach. */
static void what_three_tiers_do_not_reach_is_told(void **state)
{
    const ridge_catalog *catalog = catalog_of(*state);
    assert_false(switches_of(*state, catalog, "h100:8192x8").is_beyond);
    const ridge_switch_plan plan = switches_of(*state, catalog, "h100:8193x8");
    assert_true(plan.is_beyond);
    assert_int_equal(plan.n, 1);
}

static void what_is_not_known_is_left_out(void **state)
{
    const ridge_catalog *catalog = catalog_of(*state);
    assert_int_equal(switches_of(*state, catalog, "v5p:4x4x4").n, 0);
    assert_int_equal(switches_of(*state, catalog, "h100:1").n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            the_fabrics_are_those_of_the_reference_architectures, open_ctx, close_ctx),
        cmocka_unit_test_setup_teardown(laws_hold_for_any_number_of_nodes, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(nodes_send_what_their_chips_do, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(what_three_tiers_do_not_reach_is_told, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(what_is_not_known_is_left_out, open_ctx,
                                        close_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
