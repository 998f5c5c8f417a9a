/*
 * Worked examples on how GPUs and their network are laid out, from "How to Scale Your
 * Model", chapter 12: tests/golden/published/gpu_layouts.jsonl, computed from the
 * built-in catalogue.
 */
#include "near.h"

#include "ridge/cost.h"

#include <math.h>
#include <string.h>

typedef struct row {
    ridge_ctx *cx;
    const ridge_catalog *catalog;
    const char *id;
    ridge_node inputs, expected;
    double rel_tol;
    int checked;
} row;

static double number(const ridge_node *object, const char *key)
{
    double v = (double)NAN;
    if (!ridge_json_double(ridge_json_get(object, key), &v))
        fail_msg("no number '%s'", key);
    return v;
}

static double in(const row *r, const char *key)
{
    return number(&r->inputs, key);
}

static void want(row *r, const char *key, double got)
{
    ridge_assert_near(got, number(&r->expected, key), r->rel_tol, r->id, __FILE__,
                      __LINE__);
    r->checked++;
}

/* Warps that a file of registers holds when each thread takes so many. */
static double warps(const row *r, double file_bytes, double registers)
{
    const double warp_bytes =
        in(r, "threads_per_warp") * registers * in(r, "register_bytes");
    return fmin(floor(file_bytes / warp_bytes), in(r, "max_resident_warps"));
}

static void registers_of_an_sm(row *r)
{
    const ridge_chip *chip = NULL;
    assert_int_equal(ridge_chip_find(r->cx, r->catalog, "h100", &chip), RIDGE_OK);
    const double file_bytes = chip->register_bytes / chip->cores;
    assert_near(file_bytes,
                in(r, "subpartitions") * in(r, "registers_per_subpartition") *
                    in(r, "register_bytes"),
                1e-9);
    want(r, "register_bytes_per_sm", file_bytes);
    want(r, "warps_at_256", warps(r, file_bytes, 256));
    want(r, "warps_at_32", warps(r, file_bytes, 32));
}

/* What the chips of a node send together through a level. */
static double node_bytes_per_s(const ridge_slice *slice, const char *level)
{
    for (int i = 0; i < slice->n_axes; i++) {
        if (strcmp(slice->axes[i].name, level) == 0)
            return slice->axes[i].bytes_per_s * (double)slice->system->chips_per_node;
    }
    fail_msg("no level %s", level);
    return 0;
}

/* Cables of so many bits a second, shared by nodes. */
static double cables_bytes_per_s(const row *r, double cables, double nodes)
{
    return cables * in(r, "port_bits_per_s") / 8 / nodes;
}

static void bisection_of_a_fat_tree(row *r)
{
    const ridge_slice *slice = NULL;
    assert_int_equal(ridge_slice_parse(r->cx, r->catalog, "h100:128x8", &slice),
                     RIDGE_OK);
    assert_near((double)slice->shape[0], in(r, "nodes"), 0);
    const double leaf = node_bytes_per_s(slice, "leaf");
    const double spine = node_bytes_per_s(slice, "spine");
    assert_near(leaf, cables_bytes_per_s(r, in(r, "ports_per_node"), 1), 1e-9);
    assert_near(spine,
                cables_bytes_per_s(r, in(r, "spine_switches") * in(r, "spine_ports"),
                                   in(r, "nodes")),
                1e-9);
    want(r, "leaf_per_node", leaf);
    want(r, "su_spine_per_node",
         cables_bytes_per_s(r, in(r, "su_spine_cables"), in(r, "nodes_per_su")));
    want(r, "spine_per_node", spine);
    /* Then a gather over the units is no slower than one within a unit of as many. */
    ridge_group within, over;
    assert_int_equal(ridge_group_parse(r->cx, slice, "leaf=4", &within), RIDGE_OK);
    assert_int_equal(ridge_group_parse(r->cx, slice, "spine", &over), RIDGE_OK);
    const ridge_collective kind = RIDGE_COLLECTIVE_ALL_GATHER;
    const double within_s = ridge_collective_time(slice, kind, 1e9, &within).bound_s;
    const double over_s = ridge_collective_time(slice, kind, 1e9, &over).bound_s;
    want(r, "full_bisection", over_s <= within_s * (1 + r->rel_tol));
}

static const struct {
    const char *id;
    void (*check)(row *);
} handlers[] = {
    {"ch12-registers", registers_of_an_sm},
    {"ch12-q3-1-full-bisection", bisection_of_a_fat_tree},
};

static void check_row(ridge_ctx *cx, const ridge_catalog *catalog, ridge_str line)
{
    ridge_node root;
    if (ridge_json_parse(cx, line, "gpu_layouts.jsonl", &root) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    row r = {.cx = cx,
             .catalog = catalog,
             .inputs = ridge_json_get(&root, "inputs"),
             .expected = ridge_json_get(&root, "expected"),
             .rel_tol = number(&root, "rel_tol")};
    assert_true(ridge_json_text(ridge_json_get(&root, "id"), &r.id));
    for (size_t i = 0; i < RIDGE_COUNT_OF(handlers); i++) {
        if (strcmp(handlers[i].id, r.id) != 0)
            continue;
        handlers[i].check(&r);
        assert_int_equal(r.checked, ridge_json_size(r.expected));
        return;
    }
    fail_msg("nothing computes %s", r.id);
}

static void every_row_comes_out_as_published(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_catalog *catalog = NULL;
    ridge_str text;
    assert_int_equal(ridge_catalog_open(cx, NULL, &catalog), RIDGE_OK);
    assert_int_equal(
        ridge_file_read(cx, RIDGE_TEST_DIR "/golden/published/gpu_layouts.jsonl",
                        1 << 20, &text),
        RIDGE_OK);
    size_t rows = 0;
    while (text.p != NULL && text.n > 0) {
        const ridge_str line = ridge_str_cut(&text, '\n');
        if (line.n == 0)
            continue;
        check_row(cx, catalog, line);
        rows++;
    }
    assert_int_equal(rows, RIDGE_COUNT_OF(handlers));
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_comes_out_as_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
