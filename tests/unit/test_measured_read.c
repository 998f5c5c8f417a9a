/* What was measured on a machine, in chip and system files: read, and refused. */
#include "chip_read.h"
#include "hardware_fixture.h"
#include "near.h"
#include "system_read.h"

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

#define FROM          "\"source\":\"calibrate\",\"date\":\"2025-06\""
#define CHIP(members) "{\"name\":\"x\"," CHIP_LEAST ",\"measured\":{" members "}}"
#define STREAM(bytes, rates)                                                           \
    FROM ",\"stream_bytes_per_s\":{\"norm.fp32\":{\"bytes\":" bytes                    \
         ",\"rates\":" rates "}}"

static ridge_status read_chip(ridge_ctx *cx, const char *text, ridge_chip **out)
{
    ridge_node root;
    RIDGE_TRY(ridge_json_parse(cx, ridge_str_of(text), "x.json", &root));
    return ridge__chip_read(cx, root, NULL, out);
}

static const ridge_chip *taken(void **state, const char *text)
{
    ridge_chip *chip = NULL;
    if (read_chip(*state, text, &chip) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(*state));
    return chip;
}

static void assert_refused(void **state, const char *text, const char *message)
{
    ridge_chip *chip = NULL;
    const ridge_status got = read_chip(*state, text, &chip);
    if (got != RIDGE_E_PARSE || strstr(ridge_ctx_message(*state), message) == NULL)
        fail_msg("status %d, message: %s", (int)got, ridge_ctx_message(*state));
}

static void a_chip_without_it_fuses_and_overlaps(void **state)
{
    const ridge_chip *chip = taken(state, "{\"name\":\"x\"," CHIP_LEAST "}");
    assert_null(chip->measured);
    assert_true(ridge_chip_is_fused(chip));
    assert_true(ridge_chip_is_overlapped(chip));
    assert_true(ridge_chip_is_balanced(chip));
}

static void grids_and_flags_are_read(void **state)
{
    const ridge_chip *chip = taken(
        state,
        CHIP(FROM ",\"fuses\":false,\"overlaps\":false,\"balances\":false,"
                  "\"matmul_flops_per_s\":{\"fp32\":{\"m\":[1,8],\"k\":[2],\"n\":[4],"
                  "\"rates\":[3e9,5e9]}},\"attention_flops_per_s\":{\"forward.fp32\":{"
                  "\"context\":[128],\"head_dim\":[64],\"rates\":[7e9]}}"));
    const ridge_measured_chip *m = chip->measured;
    assert_string_equal(m->source, "calibrate");
    assert_false(ridge_chip_is_fused(chip));
    assert_false(ridge_chip_is_overlapped(chip));
    assert_false(ridge_chip_is_balanced(chip));
    assert_int_equal(m->stream.n, 0);
    const double at[] = {8, 2, 4};
    assert_near(ridge_grid_rate(ridge_grid_find(&m->matmul, "fp32"), at), 5e9, 1e-12);
    assert_non_null(ridge_grid_find(&m->attention, "forward.fp32"));
}

static void what_is_wrong_is_said(void **state)
{
    assert_refused(state, CHIP("\"date\":\"2025\""), "no \"source\"");
    assert_refused(state, CHIP(FROM ",\"fuse\":true"), "fuse");
    assert_refused(state, CHIP(FROM ",\"fuses\":1"), "true or false");
    assert_refused(state, CHIP(STREAM("[2,2]", "[1,1]")), "ascend");
    assert_refused(state, CHIP(STREAM("[2,4]", "[1]")), "array of 2 numbers");
    assert_refused(state, CHIP(STREAM("[]", "[1]")), "1 to 16 sizes");
    assert_refused(state, CHIP(STREAM("[2]", "[0]")), "x.json:1");
    assert_refused(state, CHIP(STREAM("[2]", "\"fast\"")), "array of 1 numbers");
    assert_refused(state, CHIP(FROM ",\"stream_bytes_per_s\":{\"a\":{\"bytes\":[1]}}"),
                   "no \"rates\"");
    assert_refused(state, CHIP(FROM ",\"stream_bytes_per_s\":{\"a\":{\"rates\":[1]}}"),
                   "no \"bytes\"");
    assert_refused(state, CHIP(FROM ",\"stream_bytes_per_s\":[1]"), "object");
}

/* ---- systems --------------------------------------------------------------------- */

#define SYSTEM(chip, measured)                                                         \
    "{\"name\":\"here\",\"chip\":" chip ",\"chips_per_node\":4,\"levels\":[{\"name\":" \
    "\"ranks\",\"kind\":\"switch\",\"size\":4," LINK measured "}]}"

static ridge_status read_system(ridge_ctx *cx, const char *text, ridge_system **out)
{
    ridge_node root;
    RIDGE_TRY(ridge_json_parse(cx, ridge_str_of(text), "x.json", &root));
    return ridge__system_read(cx, root, fixture_catalog(cx), NULL, out);
}

static void a_system_may_hold_its_chip(void **state)
{
    ridge_system *s = NULL;
    assert_int_equal(
        read_system(*state, SYSTEM("{\"name\":\"own\"," CHIP_LEAST "}", ""), &s),
        RIDGE_OK);
    assert_string_equal(s->chip->name, "own");
    assert_null(s->levels[0].axis.measured);
    assert_int_equal(
        read_system(*state, SYSTEM("{\"name\":\"own\",\"base\":\"gpu\"}", ""), &s),
        RIDGE_OK);
    assert_string_equal(s->chip->full_name, "Fixture gpu");
    assert_int_equal(read_system(*state, SYSTEM("{\"name\":\"own\"}", ""), &s),
                     RIDGE_E_PARSE);
}

static void a_level_may_be_measured(void **state)
{
    ridge_system *s = NULL;
    const char *text =
        SYSTEM("\"gpu\"", ",\"measured\":{" FROM
                          ",\"collective_bytes_per_s\":{\"all-gather\":{\"ranks\":[2,"
                          "4],\"bytes\":[1000],\"rates\":[1e9,2e9]}}}");
    assert_int_equal(read_system(*state, text, &s), RIDGE_OK);
    const double at[] = {4, 1000};
    const ridge_grid_list *list = &s->levels[0].axis.measured->collective;
    assert_near(ridge_grid_rate(ridge_grid_find(list, "all-gather"), at), 2e9, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_chip_without_it_fuses_and_overlaps, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(grids_and_flags_are_read, open_ctx, close_ctx),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_said, open_ctx, close_ctx),
        cmocka_unit_test_setup_teardown(a_system_may_hold_its_chip, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(a_level_may_be_measured, open_ctx, close_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
