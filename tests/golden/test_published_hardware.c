/*
 * Tables and worked examples on chips and networks from "How to Scale Your Model",
 * chapters 2 and 12: tests/golden/published/hardware.jsonl, computed from the built-in
 * catalogue, not from a row's inputs.
 */
#include "near.h"

#include "ridge/hardware_switches.h"

#include <string.h>

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

typedef struct row {
    ridge_ctx *cx;
    const ridge_catalog *catalog;
    const char *id;
    ridge_node inputs, expected;
    double rel_tol;
    int checked;
} row;

static double number(ridge_node n)
{
    double v = -1.0;
    bool is_true = false;
    if (ridge_json_bool(n, &is_true))
        return is_true ? 1.0 : 0.0;
    if (!ridge_json_double(n, &v))
        fail_msg("'%s' is no number", n.key == NULL ? "?" : n.key);
    return v;
}

static double in(const row *r, const char *key)
{
    return number(ridge_json_get(&r->inputs, key));
}

static void want(row *r, const char *key, double got)
{
    ridge_assert_near(got, number(ridge_json_get(&r->expected, key)), r->rel_tol, r->id,
                      __FILE__, __LINE__);
    r->checked++;
}

static void want_item(row *r, const char *key, size_t i, double got)
{
    const ridge_node list = ridge_json_get(&r->expected, key);
    ridge_assert_near(got, number(ridge_json_at(&list, i)), r->rel_tol, r->id, __FILE__,
                      __LINE__);
    r->checked++;
}

static const ridge_system *system_of(const row *r, const char *name)
{
    const ridge_system *system = NULL;
    if (ridge_system_find(r->cx, r->catalog, name, &system) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(r->cx));
    return system;
}

static const ridge_chip *chip_of(const row *r, const char *name)
{
    const ridge_chip *chip = NULL;
    if (ridge_chip_find(r->cx, r->catalog, name, &chip) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(r->cx));
    return chip;
}

static const ridge_slice *slice_of(const row *r, const char *text)
{
    const ridge_slice *slice = NULL;
    if (ridge_slice_parse(r->cx, r->catalog, text, &slice) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(r->cx));
    return slice;
}

/* What follows a prefix of the id: the chip or system that the row is about. */
static const char *subject(const row *r, const char *prefix)
{
    return r->id + strlen(prefix);
}

static double peak(const ridge_chip *chip, ridge_dtype dtype)
{
    return ridge_chip_peak(chip, dtype, NULL);
}

/* The whole torus as notation, such as "v5p:16x20x28". */
static const ridge_slice *pod_of(const row *r, const ridge_system *system)
{
    char text[64];
    const int64_t *m = system->torus_max;
    if (system->torus_dims == 2) {
        snprintf(text, sizeof text, "%s:%dx%d", system->name, (int)m[0], (int)m[1]);
    } else {
        snprintf(text, sizeof text, "%s:%dx%dx%d", system->name, (int)m[0], (int)m[1],
                 (int)m[2]);
    }
    return slice_of(r, text);
}

static void tpu_table(row *r)
{
    const ridge_system *system = system_of(r, subject(r, "ch2-spec-"));
    const ridge_chip *chip = system->chip;
    for (int i = 0; i < system->torus_dims; i++) {
        want_item(r, "pod_shape", (size_t)i, (double)system->torus_max[i]);
        want_item(r, "host_shape", (size_t)i, (double)system->host_shape[i]);
    }
    want(r, "hbm_bytes", chip->hbm_bytes);
    want(r, "hbm_bytes_per_s", chip->hbm_bytes_per_s);
    want(r, "peak_bf16_flops_per_s", peak(chip, RIDGE_DTYPE_BF16));
    want(r, "peak_int8_ops_per_s", peak(chip, RIDGE_DTYPE_INT8));
    want(r, "ici_link_oneway_bytes_per_s", system->torus_axis.bytes_per_s);
    want(r, "ici_link_bidi_bytes_per_s", 2.0 * system->torus_axis.bytes_per_s);
}

static void tpu_derived(row *r)
{
    const ridge_system *system = system_of(r, subject(r, "ch2-derived-"));
    const ridge_chip *chip = system->chip;
    const ridge_slice *pod = pod_of(r, system);
    const double axis_bytes_per_s = 2.0 * pod->axes[0].bytes_per_s;
    want(r, "ridge_bf16_hbm", ridge_chip_ridge_point(chip, RIDGE_DTYPE_BF16));
    want(r, "ridge_int8_hbm", ridge_chip_ridge_point(chip, RIDGE_DTYPE_INT8));
    want(r, "ridge_bf16_ici_axis", peak(chip, RIDGE_DTYPE_BF16) / axis_bytes_per_s);
    want(r, "hbm_over_ici_axis", chip->hbm_bytes_per_s / axis_bytes_per_s);
    want(r, "chips", (double)pod->chips);
    want(r, "hosts", (double)pod->hosts);
    want(r, "pod_bf16_flops_per_s", (double)pod->chips * peak(chip, RIDGE_DTYPE_BF16));
    want(r, "pod_hbm_bytes", (double)pod->chips * chip->hbm_bytes);
}

/* The id ends in chip-shape: "v5e-8x16". */
static void wraparound(row *r)
{
    static const char *const names[] = {"ici-x", "ici-y", "ici-z"};
    char text[64];
    snprintf(text, sizeof text, "%s", subject(r, "ch2-wrap-"));
    *strchr(text, '-') = ':';
    const ridge_slice *slice = slice_of(r, text);
    for (int i = 0; i < slice->n_shape; i++) {
        bool wraps = false;
        for (int a = 0; a < slice->n_axes; a++) {
            if (strcmp(slice->axes[a].name, names[i]) == 0)
                wraps = slice->axes[a].has_wraparound;
        }
        want_item(r, "wraparound", (size_t)i, wraps ? 1.0 : 0.0);
    }
}

static void diameter(row *r)
{
    ridge_slice slice = {.n_axes = 1};
    slice.axes[0] = (ridge_axis){.kind = RIDGE_AXIS_TORUS, .size = (int64_t)in(r, "n")};
    want(r, "hops_line", (double)ridge_slice_diameter_hops(&slice));
    slice.axes[0].has_wraparound = true;
    want(r, "hops_ring", (double)ridge_slice_diameter_hops(&slice));
}

static void vector_unit_v4(row *r)
{
    const ridge_chip *chip = chip_of(r, "v4");
    want(r, "alus", chip->lane_count * chip->sublane_count * in(r, "alus_per_lane"));
    want(r, "vreg_file_bytes", chip->register_bytes / chip->cores);
}

static void vmem_ridge_v5e(row *r)
{
    const ridge_chip *chip = chip_of(r, "v5e");
    want(r, "vmem_bytes_per_s", chip->fast_bytes_per_s);
    want(r, "ridge_flops_per_byte",
         peak(chip, RIDGE_DTYPE_BF16) / chip->fast_bytes_per_s);
}

static void ici_ratio_v5p(row *r)
{
    const ridge_system *system = system_of(r, "v5p");
    want(r, "ratio", system->chip->hbm_bytes_per_s / system->torus_axis.bytes_per_s);
}

/* The row's order names each channel once, fastest first. */
static void channel_order_v5e(row *r)
{
    const ridge_system *system = system_of(r, "v5e");
    const struct {
        const char *name;
        double bytes_per_s;
    } channels[] = {
        {"vmem", system->chip->fast_bytes_per_s},
        {"hbm", system->chip->hbm_bytes_per_s},
        {"ici", 2.0 * system->torus_axis.bytes_per_s},
        {"pcie", system->chip->pcie_bytes_per_s},
        {"dcn", system->dcn.bytes_per_s},
    };
    const ridge_node order = ridge_json_get(&r->expected, "order");
    assert_int_equal(ridge_json_size(order), RIDGE_COUNT_OF(channels));
    for (size_t i = 0; i < RIDGE_COUNT_OF(channels); i++) {
        const char *name = NULL;
        assert_true(ridge_json_text(ridge_json_at(&order, i), &name));
        assert_string_equal(name, channels[i].name);
        if (i > 0)
            assert_true(channels[i].bytes_per_s < channels[i - 1].bytes_per_s);
    }
    r->checked++;
    want(r, "dcn_bytes_per_s_per_chip", system->dcn.bytes_per_s);
}

static void gpu_table(row *r)
{
    const ridge_chip *chip = chip_of(r, subject(r, "ch12-spec-"));
    want(r, "sms", chip->cores);
    want(r, "smem_bytes_per_sm", chip->fast_bytes / chip->cores);
    want(r, "l2_bytes", chip->l2_bytes);
    want(r, "hbm_capacity_bytes", chip->hbm_bytes);
    want(r, "hbm_bytes_per_s", chip->hbm_bytes_per_s);
    want(r, "clock_hz", chip->clock_hz);
    want(r, "boost_clock_hz", chip->boost_clock_hz);
    if (!ridge_json_is_absent(ridge_json_get(&r->expected, "peak_bf16_flops_per_s")))
        want(r, "peak_bf16_flops_per_s", peak(chip, RIDGE_DTYPE_BF16));
    /* The book's table gives an A100 this rate, though its 8-bit format is int8. */
    if (!ridge_json_is_absent(ridge_json_get(&r->expected, "peak_fp8_flops_per_s")))
        want(r, "peak_fp8_flops_per_s", peak(chip, RIDGE_DTYPE_INT8));
}

/* The book derives it from its own rounded table, which ch12-spec holds the catalogue
 * to; an A100 has 2.039e12 bytes/s by its data sheet and 2.0e12 there. */
static void gpu_ridge(row *r)
{
    ridge_chip chip = *chip_of(r, subject(r, "ch12-ridge-"));
    chip.peak_flops_per_s[RIDGE_DTYPE_BF16] = in(r, "peak_bf16_flops_per_s");
    chip.hbm_bytes_per_s = in(r, "hbm_bytes_per_s");
    want(r, "intensity_flops_per_byte",
         ridge_chip_ridge_point(&chip, RIDGE_DTYPE_BF16));
}

static void nvlink(row *r)
{
    const ridge_system *system = system_of(r, subject(r, "ch12-nvlink-"));
    want(r, "gpu_egress_bytes_per_s", system->levels[0].axis.bytes_per_s);
    want(r, "domain_gpus", (double)system->levels[0].axis.size);
}

static double node_egress(const ridge_system *system)
{
    return (double)system->levels[0].axis.size * system->levels[1].axis.bytes_per_s;
}

static void node(row *r)
{
    const ridge_system *system = system_of(r, subject(r, "ch12-node-"));
    want(r, "node_egress_bytes_per_s", node_egress(system));
    want(r, "egress_ratio", system->levels[0].axis.bytes_per_s / node_egress(system));
}

static void alus(row *r)
{
    const ridge_chip *tpu = chip_of(r, "v5p");
    const double per_sm = in(r, "subpartitions") * in(r, "lanes");
    want(r, "h100", chip_of(r, "h100")->cores * per_sm);
    want(r, "b200", chip_of(r, "b200")->cores * per_sm);
    want(r, "v5p",
         (double)tpu->cores * tpu->lane_count * tpu->sublane_count *
             in(r, "v5p_alus_per_lane"));
}

static void vector_rate(row *r)
{
    const ridge_chip *h100 = chip_of(r, "h100");
    const double boost_ops_per_s = in(r, "alus") * h100->boost_clock_hz;
    want(r, "base_ops_per_s", in(r, "alus") * h100->clock_hz);
    want(r, "boost_ops_per_s", h100->vector_flops_per_s / 2.0);
    want(r, "boost_ops_per_s", boost_ops_per_s);
    want(r, "matmul_ratio", peak(h100, RIDGE_DTYPE_BF16) / boost_ops_per_s);
}

static void gpu_ridges(row *r)
{
    const ridge_chip *h100 = chip_of(r, "h100");
    const ridge_chip *b200 = chip_of(r, "b200");
    want(r, "h100_fp16", ridge_chip_ridge_point(h100, RIDGE_DTYPE_FP16));
    want(r, "b200_fp16", ridge_chip_ridge_point(b200, RIDGE_DTYPE_FP16));
    want(r, "h100_fp8", ridge_chip_ridge_point(h100, RIDGE_DTYPE_FP8));
    want(r, "b200_fp8", ridge_chip_ridge_point(b200, RIDGE_DTYPE_FP8));
}

static void on_chip_bytes(row *r)
{
    const ridge_chip *h100 = chip_of(r, "h100");
    want(r, "smem_bytes", h100->fast_bytes);
    want(r, "register_bytes", h100->register_bytes);
    want(r, "sum_bytes", h100->fast_bytes + h100->register_bytes);
}

static void tensor_core_rate(row *r)
{
    const ridge_chip *h100 = chip_of(r, "h100");
    const ridge_chip *b200 = chip_of(r, "b200");
    want(r, "h100",
         peak(h100, RIDGE_DTYPE_BF16) / (h100->matmul_units * in(r, "h100_clock_hz")));
    want(r, "b200",
         peak(b200, RIDGE_DTYPE_BF16) / (b200->matmul_units * in(r, "b200_clock_hz")));
}

/* From 80e12 as the row has it; the catalogue holds 75e12, the vendor's HGX figure, and
 * so the clock that boards run at. */
static void peak_clock(row *r)
{
    const ridge_chip *b200 = chip_of(r, "b200");
    const double lanes = 32.0 * b200->matmul_units;
    want(r, "clock_hz",
         in(r, "vector_flops_per_s") / (in(r, "flops_per_cycle") * lanes));
    assert_near(b200->vector_flops_per_s, in(r, "vector_flops_per_s"), 0.07);
}

static void against_tpu(row *r)
{
    const ridge_chip *gpu = chip_of(r, "h200");
    const ridge_chip *tpu = chip_of(r, "v5p");
    const double ratio = peak(gpu, RIDGE_DTYPE_BF16) / peak(tpu, RIDGE_DTYPE_BF16);
    want(r, "flops_ratio", ratio);
    want(r, "hbm_ratio", gpu->hbm_bytes / tpu->hbm_bytes);
    want(r, "flops_per_usd_hour_ratio",
         ratio * in(r, "v5p_usd_per_hour") / in(r, "h200_usd_per_hour"));
}

static void tpu_egress(row *r)
{
    const ridge_system *system = system_of(r, "v5p");
    want(r, "egress_bytes_per_s",
         2.0 * system->torus_dims * system->torus_axis.bytes_per_s);
}

static void l2_ratio(row *r)
{
    const ridge_chip *h100 = chip_of(r, "h100");
    want(r, "ratio", h100->l2_bytes_per_s / h100->hbm_bytes_per_s);
}

/* 1024 H100: eight a node, 32 nodes a unit, four units. */
static void fat_tree(row *r)
{
    const ridge_slice *slice = slice_of(r, "h100:128x8");
    assert_int_equal(slice->n_axes, 3);
    const double gpus = (double)slice->axes[0].size;
    const double nodes = (double)slice->axes[1].size;
    const double units = (double)slice->axes[2].size;
    const double leaf = slice->axes[1].bytes_per_s;
    const double spine = slice->axes[2].bytes_per_s;
    assert_near(nodes, in(r, "nodes_per_su"), 0.0);
    assert_near(units, in(r, "sus"), 0.0);
    want(r, "node_bytes_per_s", gpus * leaf);
    want(r, "leaf_from_nodes_bytes_per_s", nodes * gpus * leaf);
    want(r, "su_to_spine_bytes_per_s", nodes * gpus * spine);
    want(r, "spine_bytes_per_s", units * nodes * gpus * spine);
    want(r, "spine_per_node_bytes_per_s", gpus * spine);
    ridge_switch_plan plan;
    ridge_slice_switches(slice, &plan);
    assert_int_equal(plan.n, 3);
    int64_t switches = 0;
    for (int i = 0; i < plan.n; i++)
        switches += plan.tiers[i].switches;
    want(r, "total_switches", (double)switches);
    assert_near((double)plan.tiers[1].switches / units, in(r, "leaf_switches_per_su"),
                0.0);
    assert_near((double)plan.tiers[2].switches, in(r, "spine_switches"), 0.0);
    const ridge_switch *leaf_switch = plan.tiers[1].kind;
    want(r, "leaf_switch_total_bytes_per_s",
         (double)plan.tiers[1].switches / units * (double)leaf_switch->ports *
             leaf_switch->port_bytes_per_s);
}

static void rack_gain(row *r)
{
    const ridge_system *h100 = system_of(r, "h100");
    const ridge_system *gb200 = system_of(r, "gb200");
    const double old = peak(h100->chip, RIDGE_DTYPE_BF16) / node_egress(h100);
    /* The book takes the peak of a B200 for it. */
    const double new = peak(chip_of(r, "b200"), RIDGE_DTYPE_BF16) / node_egress(gb200);
    want(r, "gain", old / new);
}

static void components(row *r)
{
    const ridge_chip *h100 = chip_of(r, "h100");
    const ridge_chip *v5p = chip_of(r, "v5p");
    want(r, "h100_cores", h100->cores);
    want(r, "h100_matrix_units", h100->matmul_units);
    want(r, "h100_cache_bytes", h100->fast_bytes);
    want(r, "h100_register_bytes", h100->register_bytes);
    want(r, "v5p_cores", v5p->cores);
    want(r, "v5p_matrix_units", v5p->matmul_units);
}

/* Rows whose id begins so; checked: how many figures each compares at least. */
static const struct {
    const char *prefix;
    void (*check)(row *r);
    int checked;
} checks[] = {
    {"ch2-spec-", tpu_table, 10},
    {"ch2-derived-", tpu_derived, 8},
    {"ch2-wrap-", wraparound, 2},
    {"ch2-diameter", diameter, 2},
    {"ch2-vreg", vector_unit_v4, 2},
    {"ch2-vmem-ridge-v5e", vmem_ridge_v5e, 2},
    {"ch2-ici-ratio-v5p", ici_ratio_v5p, 1},
    {"ch2-decode-order", channel_order_v5e, 2},
    {"ch12-spec-", gpu_table, 7},
    {"ch12-ridge-", gpu_ridge, 1},
    {"ch12-nvlink-", nvlink, 2},
    {"ch12-node-", node, 2},
    {"ch12-q1-1-alus", alus, 3},
    {"ch12-q1-2-vector-flops", vector_rate, 4},
    {"ch12-q1-3-ridge", gpu_ridges, 4},
    {"ch12-q1-5-onchip", on_chip_bytes, 3},
    {"ch12-q1-6-clock", peak_clock, 1},
    {"ch12-tensor-core-rate", tensor_core_rate, 2},
    {"ch12-h200-vs-v5p", against_tpu, 3},
    {"ch12-v5p-egress", tpu_egress, 1},
    {"ch12-l2-ratio", l2_ratio, 1},
    {"ch12-tree-levels", fat_tree, 7},
    {"ch12-gb200-gain", rack_gain, 1},
    {"ch12-component-counts", components, 6},
};

static void check_row(row *r)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(checks); i++) {
        if (strncmp(r->id, checks[i].prefix, strlen(checks[i].prefix)) != 0)
            continue;
        checks[i].check(r);
        assert_true(r->checked >= checks[i].checked);
        return;
    }
    fail_msg("%s: nothing checks this row", r->id);
}

static void the_catalogue_agrees_with_the_book(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_catalog *catalog = NULL;
    ridge_str text = {NULL, 0};
    if (ridge_catalog_open(cx, NULL, &catalog) != RIDGE_OK ||
        ridge_file_read(cx, RIDGE_TEST_DIR "/golden/published/hardware.jsonl", 1 << 20,
                        &text) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    int rows = 0;
    for (ridge_str rest = text; rest.p != NULL;) {
        const ridge_str line = ridge_str_cut(&rest, '\n');
        ridge_node root;
        if (line.n == 0)
            continue;
        assert_int_equal(ridge_json_parse(cx, line, "hardware.jsonl", &root), RIDGE_OK);
        row r = {.cx = cx,
                 .catalog = catalog,
                 .inputs = ridge_json_get(&root, "inputs"),
                 .expected = ridge_json_get(&root, "expected"),
                 .rel_tol = number(ridge_json_get(&root, "rel_tol"))};
        assert_true(ridge_json_text(ridge_json_get(&root, "id"), &r.id));
        check_row(&r);
        rows++;
    }
    assert_int_equal(rows, 45);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_catalogue_agrees_with_the_book),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
