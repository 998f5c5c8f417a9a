/* Topology files: what each format tells, and the systems that are made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "near.h"
#include "ridge/hardware_topology.h"

#define FILES TOPOLOGY_DIR "/"

typedef struct fixture {
    ridge_ctx *cx;
    const ridge_catalog *catalog;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f.cx = ridge_ctx_open();
    *state = &f;
    return f.cx != NULL && ridge_catalog_open(f.cx, NULL, &f.catalog) == RIDGE_OK ? 0
                                                                                  : -1;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    ridge_ctx_close(f->cx);
    return 0;
}

static ridge_topology read_file(fixture *f, const char *path)
{
    ridge_topology t = {0};
    if (ridge_topology_read(f->cx, path, &t) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(f->cx));
    return t;
}

static const ridge_system *system_of(fixture *f, const char *text)
{
    const ridge_system *system = NULL;
    if (ridge_topology_system(f->cx, f->catalog, text, &system) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(f->cx));
    return system;
}

static void assert_level(const ridge_system *s, int i, const char *name, int64_t size,
                         double bytes_per_s)
{
    assert_true(i < s->n_levels);
    assert_string_equal(s->levels[i].axis.name, name);
    assert_int_equal(s->levels[i].axis.size, size);
    assert_near(s->levels[i].axis.bytes_per_s, bytes_per_s, 1e-9);
}

static void assert_refused(fixture *f, const char *text, const char *message)
{
    const ridge_system *system = NULL;
    assert_int_not_equal(ridge_topology_system(f->cx, f->catalog, text, &system),
                         RIDGE_OK);
    if (strstr(ridge_ctx_message(f->cx), message) == NULL)
        fail_msg("'%s' lacks '%s'", ridge_ctx_message(f->cx), message);
    ridge_ctx_clear(f->cx);
}

static void a_matrix_tells_links_and_nics(void **state)
{
    const ridge_topology t = read_file(*state, FILES "node.txt");
    assert_string_equal(t.format, "nvidia-smi topo -m");
    assert_int_equal(t.node.n_gpus, 8);
    assert_int_equal(t.node.n_nics, 2);
    assert_string_equal(t.node.nics[1].name, "mlx5_3");
    assert_int_equal(t.node.gpu_paths[1].kind, RIDGE_PATH_NVLINK);
    assert_int_equal(t.node.gpu_paths[1].links, 18);
    assert_int_equal(t.node.nic_paths[2 * 5 + 1].kind, RIDGE_PATH_PXB);
    assert_int_equal(t.node.gpus[6].numa, 1);
}

static void a_pair_with_all_links_everywhere_is_a_switch(void **state)
{
    const ridge_system *s = system_of(*state, "h100@" FILES "node.txt");
    assert_int_equal(s->chips_per_node, 8);
    assert_level(s, 0, "nvlink", 8, 18 * 25e9);
    assert_int_equal(s->levels[0].axis.kind, RIDGE_AXIS_SWITCH);
    assert_true(s->levels[0].axis.can_reduce);
    assert_level(s, 1, "leaf", 32, 50e9);
}

static void bridged_pairs_meet_over_pcie(void **state)
{
    const ridge_system *s = system_of(*state, "a100-pcie@" FILES "pairs.txt");
    assert_int_equal(s->chips_per_node, 4);
    assert_level(s, 0, "nvlink", 2, 12 * 25e9);
    assert_level(s, 1, "pcie", 2, 32e9);
    assert_int_equal(s->levels[1].axis.kind, RIDGE_AXIS_BUS);
}

static void few_cards_share_a_bus_with_few(void **state)
{
    fixture *f = *state;
    static const char text[] = "     GPU0 GPU1\nGPU0  X PHB\nGPU1 PHB X\n";
    ridge_topology t;
    ridge_buf out;
    const ridge_system *base = NULL;
    ridge_buf_init(&out, ridge_ctx_arena(f->cx));
    assert_int_equal(ridge_topology_parse(f->cx, ridge_str_of(text), "two.txt", &t),
                     RIDGE_OK);
    assert_int_equal(ridge_system_find(f->cx, f->catalog, "rtx-4090", &base), RIDGE_OK);
    assert_int_equal(ridge_topology_write_system(f->cx, f->catalog, base, &t, &out),
                     RIDGE_OK);
    assert_non_null(strstr(ridge_buf_text(&out), "\"kind\": \"bus\""));
    assert_non_null(strstr(ridge_buf_text(&out), "\"value\": 0.6"));
}

static void a_hive_of_rocm_is_a_mesh(void **state)
{
    const ridge_system *s = system_of(*state, "mi300x@" FILES "showtopo.txt");
    assert_int_equal(s->chips_per_node, 4);
    assert_level(s, 0, "xgmi", 4, 3 * 64e9);
    assert_int_equal(s->levels[0].axis.kind, RIDGE_AXIS_MESH);
}

static void a_dump_names_its_chip_and_its_nics(void **state)
{
    fixture *f = *state;
    const ridge_topology t = read_file(f, FILES "dump.xml");
    assert_int_equal(t.node.n_gpus, 2);
    assert_int_equal(t.node.n_nics, 2);
    assert_int_equal(t.node.slow_nics, 1);
    assert_int_equal(t.node.nic_paths[0].kind, RIDGE_PATH_PIX);
    assert_int_equal(t.node.nic_paths[1].kind, RIDGE_PATH_SYS);
    const ridge_system *s = system_of(f, FILES "dump.xml");
    assert_string_equal(s->chip->name, "h200");
    assert_level(s, 0, "nvlink", 2, 450e9);
    assert_int_equal(s->levels[0].axis.kind, RIDGE_AXIS_SWITCH);
    assert_level(s, 1, "leaf", 32, 50e9);
}

static void xgmi_links_add_up(void **state)
{
    const ridge_system *s = system_of(*state, FILES "hive.xml");
    assert_string_equal(s->chip->name, "mi300x");
    assert_level(s, 0, "xgmi", 2, 64e9);
}

static void lstopo_tells_nvlinks_of_its_matrix(void **state)
{
    fixture *f = *state;
    const ridge_topology t = read_file(f, FILES "lstopo.xml");
    assert_int_equal(t.node.gpu_paths[1].links, 2);
    assert_int_equal(t.node.nic_paths[0].kind, RIDGE_PATH_PIX);
    assert_near(t.node.gpus[0].bytes_per_s, 16e9, 1e-6);
    const ridge_system *s = system_of(f, FILES "lstopo.xml");
    assert_string_equal(s->chip->name, "v100");
    assert_level(s, 0, "nvlink", 2, 50e9);
    assert_near(s->levels[1].axis.bytes_per_s, 12.5e9, 1e-9); /* ConnectX-6 for two */
}

static void ibnetdiscover_tells_rails_and_oversubscription(void **state)
{
    fixture *f = *state;
    const ridge_fabric fabric = read_file(f, FILES "fabric.out").fabric;
    assert_int_equal(fabric.nodes, 4);
    assert_int_equal(fabric.adapters_per_node, 2);
    assert_true(fabric.has_rails);
    assert_true(fabric.can_reduce);
    assert_int_equal(fabric.n_levels, 2);
    assert_int_equal(fabric.levels[0].switches, 4);
    assert_int_equal(fabric.levels[0].members, 2);
    assert_near(fabric.levels[0].down_bytes_per_s, 100e9, 1e-9);
    assert_near(fabric.levels[0].up_bytes_per_s, 50e9, 1e-9);
    const ridge_system *s = system_of(f, "h100@" FILES "fabric.out");
    assert_level(s, 1, "leaf", 2, 2 * 50e9 / 8);
    assert_level(s, 2, "spine", 0, 2 * 50e9 / 8 / 2);
}

static void racks_are_nvlink_domains_of_hosts(void **state)
{
    fixture *f = *state;
    const ridge_fabric fabric = read_file(f, FILES "racks.yaml").fabric;
    assert_int_equal(fabric.nodes, 72);
    assert_int_equal(fabric.domain_nodes, 18);
    assert_int_equal(fabric.n_levels, 3);
    const ridge_system *s = system_of(f, "gb200@" FILES "racks.yaml");
    assert_level(s, 0, "nvlink", 72, 900e9);
    assert_level(s, 1, "spine", 2, 50e9); /* a leaf is one rack */
    assert_refused(f, "h100@" FILES "racks.yaml", "NVLink domains of 18 nodes");
}

static void simulators_count_rates_as_reached(void **state)
{
    fixture *f = *state;
    const ridge_system *s = system_of(f, "h100@" FILES "switches.yml");
    assert_level(s, 0, "dim-1", 8, 400e9);
    assert_level(s, 1, "dim-2", 16, 50e9);
    assert_near(s->levels[1].axis.efficiency, 1, 0);
    const ridge_slice *slice = NULL;
    assert_int_equal(
        ridge_slice_parse(f->cx, f->catalog, "h100@" FILES "rings.yml:4x4", &slice),
        RIDGE_OK);
    assert_int_equal(slice->n_axes, 2);
    assert_true(slice->axes[0].has_wraparound);
}

static void messages_set_the_fabric(void **state)
{
    const ridge_system *s = system_of(*state, "h100@" FILES "messages.json");
    assert_level(s, 1, "leaf", 32, 21e9 * 2 / 8);
    assert_near(s->levels[1].axis.latency_s, 7e-6, 1e-9);
}

static void files_lie_over_each_other(void **state)
{
    const ridge_system *s =
        system_of(*state, "h100@" FILES "node.txt@" FILES "fabric.out");
    assert_level(s, 0, "nvlink", 8, 450e9);
    assert_level(s, 1, "leaf", 2, 12.5e9);
}

static void what_is_wrong_is_said(void **state)
{
    fixture *f = *state;
    assert_refused(f, FILES "node.txt", "names no chip");
    assert_refused(f, "mi300x@" FILES "node.txt", "joined by NVLink");
    assert_refused(f, "h100@" FILES "hive.xml", "is of mi300x");
    assert_refused(f, "v5p@" FILES "fabric.out", "is a torus");
    assert_refused(f, "h100@" FILES "cut.out", "cut off");
    assert_refused(f, "h100@" FILES "absent.txt", "absent.txt");
}

static void assert_unread(fixture *f, const char *text, const char *message)
{
    ridge_topology t;
    assert_int_not_equal(ridge_topology_parse(f->cx, ridge_str_of(text), "f", &t),
                         RIDGE_OK);
    if (strstr(ridge_ctx_message(f->cx), message) == NULL)
        fail_msg("'%s' lacks '%s'", ridge_ctx_message(f->cx), message);
    ridge_ctx_clear(f->cx);
}

static void damaged_files_are_refused(void **state)
{
    fixture *f = *state;
    assert_unread(f, "", "empty");
    assert_unread(f, "hello", "no topology");
    assert_unread(f, "<a/>", "neither");
    assert_unread(f, "<system><cpu>", "f:1: no XML");
    assert_unread(f, "<!DOCTYPE x [<!ENTITY a \"b\">]><system/>", "entities");
    assert_unread(f, "<system><cpu numaid=\"0\"><pci busid=\"1\"/></cpu></system>",
                  "no class");
    assert_unread(f, "GPU0 GPU1\nGPU0 X NV18\n", "cut off");
    assert_unread(f, "GPU0 GPU1\nGPU0 X NV18\nGPU1 PHB X\n", "not joined the same way");
    assert_unread(f, "GPU0 GPU1\nGPU0 X FOO\nGPU1 FOO X\n", "f:2:");
    assert_unread(f, "topology: [Torus]\nnpus_count: [8]\nbandwidth: [1]\nlatency: [1]",
                  "f:1:");
    assert_unread(f, "blocks:\n- switch: a\n  nodes: ['n[3-1]']\n", "f:3:");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matrix_tells_links_and_nics),
        cmocka_unit_test(a_pair_with_all_links_everywhere_is_a_switch),
        cmocka_unit_test(bridged_pairs_meet_over_pcie),
        cmocka_unit_test(few_cards_share_a_bus_with_few),
        cmocka_unit_test(a_hive_of_rocm_is_a_mesh),
        cmocka_unit_test(a_dump_names_its_chip_and_its_nics),
        cmocka_unit_test(xgmi_links_add_up),
        cmocka_unit_test(lstopo_tells_nvlinks_of_its_matrix),
        cmocka_unit_test(ibnetdiscover_tells_rails_and_oversubscription),
        cmocka_unit_test(racks_are_nvlink_domains_of_hosts),
        cmocka_unit_test(simulators_count_rates_as_reached),
        cmocka_unit_test(messages_set_the_fabric),
        cmocka_unit_test(files_lie_over_each_other),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(damaged_files_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
