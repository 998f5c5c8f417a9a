/* Files of data/systems: levels, tori, variants, and what is refused. */
#include "hardware_fixture.h"
#include "near.h"
#include "system_read.h"

#include <string.h>

static ridge_status read_text(void **state, const char *text, const char *base,
                              ridge_system **out)
{
    fixture_world *w = *state;
    const ridge_system *below = NULL;
    ridge_node root;
    if (base != NULL) {
        const ridge_status st = ridge_system_find(w->cx, w->catalog, base, &below);
        assert_int_equal(st, RIDGE_OK);
    }
    ridge_status st = ridge_json_parse(w->cx, ridge_str_of(text), "x.json", &root);
    if (st != RIDGE_OK)
        return st;
    return ridge__system_read(w->cx, root, w->catalog, below, out);
}

static const ridge_system *taken(void **state, const char *text, const char *base)
{
    fixture_world *w = *state;
    ridge_system *system = NULL;
    if (read_text(state, text, base, &system) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(w->cx));
    return system;
}

#define X                "\"name\":\"x\",\"chip\":\"gpu\""
#define SWITCHED(levels) "{" X ",\"chips_per_node\":8,\"levels\":[" levels "]}"
#define TORUS(members)   "{" X ",\"torus\":{" members "}}"
#define CUBE                                                                           \
    "\"dims\":3,\"max_shape\":[8,8,8],\"host_shape\":[2,2,1],\"wrap_rule\":\"never\""

#define SWITCHES(text)                                                                 \
    "{\"name\":\"a\",\"kind\":\"fabric\",\"size\":8," LINK ",\"switches\":" text "}"

static void levels_are_read_in_order(void **state)
{
    const ridge_system *s = taken(
        state,
        SWITCHED("{\"name\":\"a\",\"kind\":\"switch\",\"size\":" FACT(
            8) "," LINK
               ",\"can_reduce\":true,\"reduce_efficiency\":" FACT(
                   0.5) ",\"alltoall_efficiency\":" FACT(0.6) "}," LEVEL("b", "fabric",
                                                                         0)),
        NULL);
    assert_int_equal(s->n_levels, 2);
    assert_int_equal(s->torus_dims, 0);
    assert_int_equal(s->chips_per_node, 8);
    const ridge_axis *a = &s->levels[0].axis;
    assert_string_equal(a->name, "a");
    assert_int_equal(a->kind, RIDGE_AXIS_SWITCH);
    assert_int_equal(a->size, 8);
    assert_true(a->can_reduce);
    assert_near(a->bytes_per_s, 50e9, 0.0);
    assert_near(a->latency_s, 1e-6, 0.0);
    assert_near(a->startup_s, 5e-6, 0.0);
    assert_near(a->efficiency, 0.8, 0.0);
    assert_near(a->reduce_efficiency, 0.5, 0.0);
    assert_near(a->alltoall_efficiency, 0.6, 0.0);
    assert_near(a->half_rate_bytes, 1e6, 0.0);
    assert_int_equal(s->levels[1].axis.kind, RIDGE_AXIS_FABRIC);
    assert_false(s->levels[1].axis.can_reduce);
    assert_false(s->has_dcn);
    assert_string_equal(s->full_name, "x");
    assert_string_equal(s->facts[0].key, "a.size");
}

static void a_torus_is_read(void **state)
{
    const ridge_system *s = taken(state, TORUS(CUBE ",\"link\":{" LINK "}"), NULL);
    assert_int_equal(s->torus_dims, 3);
    assert_int_equal(s->torus_max[2], 8);
    assert_int_equal(s->chips_per_node, 4);
    assert_int_equal(s->wrap_rule, RIDGE_WRAP_NEVER);
    assert_int_equal(s->torus_axis.kind, RIDGE_AXIS_TORUS);
    assert_near(s->torus_axis.bytes_per_s, 50e9, 0.0);
    assert_int_equal(s->n_levels, 0);
}

static void a_variant_replaces_levels_whole(void **state)
{
    const ridge_system *s = taken(state,
                                  "{\"name\":\"x\",\"base\":\"pod\",\"levels\":[" LEVEL(
                                      "nvlink", "switch", 16) "]}",
                                  "pod");
    assert_int_equal(s->n_levels, 1);
    assert_int_equal(s->levels[0].axis.size, 16);
    assert_string_equal(s->chip->name, "gpu");
    assert_int_equal(s->n_facts, 5); /* counts are plain numbers there */
}

static void a_variant_merges_links(void **state)
{
    const ridge_system *s =
        taken(state,
              "{\"name\":\"x\",\"base\":\"cube-pod\",\"torus\":{\"link\":{\"bytes_per_"
              "s\":" FACT(9e10) "}},\"dcn\":{\"efficiency\":" FACT(0.5) "}}",
              "cube-pod");
    assert_near(s->torus_axis.bytes_per_s, 9e10, 0.0);
    assert_near(s->torus_axis.latency_s, 1e-6, 0.0);
    assert_int_equal(s->torus_max[1], 20);
    assert_near(s->dcn.efficiency, 0.5, 0.0);
    assert_near(s->dcn.bytes_per_s, 50e9, 0.0);
    assert_int_equal(s->n_facts, 10);
}

static void a_variant_may_change_the_kind_of_network(void **state)
{
    const ridge_system *s =
        taken(state,
              "{\"name\":\"x\",\"base\":\"cube-pod\",\"chips_per_node\":"
              "8,\"levels\":[" LEVEL("a", "bus", 8) "]}",
              "cube-pod");
    assert_int_equal(s->torus_dims, 0);
    assert_int_equal(s->n_levels, 1);
    assert_int_equal(s->chips_per_node, 8);
    s = taken(state,
              "{\"name\":\"x\",\"base\":\"pod\",\"torus\":{" CUBE ",\"link\":{" LINK
              "}}}",
              "pod");
    assert_int_equal(s->n_levels, 0);
    assert_int_equal(s->chips_per_node, 4);
}

typedef struct bad_row {
    const char *text;
    const char *base; /* or NULL */
    const char *message;
} bad_row;

static void assert_rows_refused(void **state, const bad_row *rows, size_t n)
{
    fixture_world *w = *state;
    for (size_t i = 0; i < n; i++) {
        ridge_system *system = NULL;
        const ridge_status st = read_text(state, rows[i].text, rows[i].base, &system);
        if (st != RIDGE_E_PARSE ||
            strstr(ridge_ctx_message(w->cx), rows[i].message) == NULL) {
            fail_msg("wanted '%s', got %d: %s", rows[i].message, (int)st,
                     ridge_ctx_message(w->cx));
        }
        assert_null(system);
    }
}

static void broken_levels_are_refused(void **state)
{
    static const bad_row rows[] = {
        {"[]", NULL, "a system is an object"},
        {"{" X "}", NULL, "no \"levels\" and no \"torus\""},
        {"{" X ",\"level\":[]}", NULL, "levels"},
        {SWITCHED(""), NULL, "1 to 4 levels"},
        {"{" X ",\"levels\":[" LEVEL("a", "bus", 8) "]}", NULL, "chips_per_node"},
        {SWITCHED(LEVEL("a", "bus", 8) "," LEVEL("A", "fabric", 0)), NULL,
         "two levels are called"},
        {SWITCHED(LEVEL("all", "bus", 8)), NULL, "cannot be called 'all'"},
        {SWITCHED(LEVEL("a", "fabric", 8) "," LEVEL("b", "bus", 2)), NULL,
         "stands outside a fabric"},
        {SWITCHED(LEVEL("a", "ring", 8)), NULL, "none of switch, mesh, bus, fabric"},
        {SWITCHED(LEVEL("a", "bus", -1)), NULL, "size"},
        {SWITCHED("7"), NULL, "a level is an object"},
        {SWITCHED("{\"name\":\"a\",\"kind\":\"bus\",\"size\":8}"), NULL,
         "no \"bytes_per_s\""},
        {SWITCHED("{\"name\":\"a\",\"kind\":\"bus\"," LINK "}"), NULL, "size"},
        {SWITCHED("{\"name\":\"a\",\"kind\":\"bus\",\"size\":8,\"speed\":1}"), NULL,
         "unknown key"},
        {SWITCHED("{\"name\":\"a\",\"kind\":\"bus\",\"size\":8," LINK
                  ",\"can_reduce\":1}"),
         NULL, "true or false"},
        {SWITCHED(SWITCHES("7")), NULL, "an object"},
        {SWITCHED(SWITCHES("{}")), NULL, "name"},
        {SWITCHED(SWITCHES("{\"name\":\"s\"}")), NULL, "ports"},
        {SWITCHED(SWITCHES("{\"name\":\"s\",\"ports\":1}")), NULL, "ports"},
        {SWITCHED(SWITCHES("{\"name\":\"s\",\"ports\":64}")), NULL, "port_bytes_per_s"},
        {SWITCHED(SWITCHES("{\"name\":\"s\",\"port\":64}")), NULL, "unknown key"},
        {SWITCHED("{\"name\":\"a\",\"kind\":\"bus\",\"size\":" FACT(8.5) "," LINK "}"),
         NULL, "whole number"},
        {"{\"name\":\"x\",\"chip\":\"gpus\"}", NULL, "unknown chip 'gpus'"},
        {"{\"name\":\"a/b\",\"chip\":\"gpu\"}", NULL, "cannot be a name"},
        {"{\"name\":\"\",\"chip\":\"gpu\"}", NULL, "cannot be a name"},
    };
    assert_rows_refused(state, rows, RIDGE_COUNT_OF(rows));
}

static void broken_tori_are_refused(void **state)
{
    static const bad_row rows[] = {
        {TORUS("\"dims\":4"), NULL, "dims"},
        {TORUS("\"dims\":3,\"max_shape\":[4,4]"), NULL, "an array of 3 lengths"},
        {TORUS("\"dims\":2,\"max_shape\":[4,0]"), NULL, "max_shape[1]"},
        {TORUS("\"dims\":2,\"max_shape\":[4,100000]"), NULL, "max_shape[1]"},
        {TORUS(CUBE), NULL, "link"},
        {TORUS(CUBE ",\"link\":{}"), NULL, "no \"bytes_per_s\""},
        {TORUS(CUBE ",\"links\":{}"), NULL, "link"},
        {TORUS("\"dims\":2,\"max_shape\":[4,4],\"host_shape\":[2,2],\"wrap_rule\":1"),
         NULL, "wrap_rule"},
        {"{" X ",\"torus\":7}", NULL, "an object is wanted"},
        {"{" X ",\"torus\":{},\"levels\":[]}", NULL, "a system has one"},
        {"{" X ",\"chips_per_node\":8}", "cube-pod", "host_shape"},
        {"{" X ",\"torus\":{\"dims\":2}}", "cube-pod", "max_shape"},
        {"{" X ",\"dcn\":{}}", "pod", "no \"bytes_per_s\""},
        {"{" X ",\"dcn\":[]}", "pod", "an object is wanted"},
    };
    assert_rows_refused(state, rows, RIDGE_COUNT_OF(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_read_in_order),
        cmocka_unit_test(a_torus_is_read),
        cmocka_unit_test(a_variant_replaces_levels_whole),
        cmocka_unit_test(a_variant_merges_links),
        cmocka_unit_test(a_variant_may_change_the_kind_of_network),
        cmocka_unit_test(broken_levels_are_refused),
        cmocka_unit_test(broken_tori_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_world_open, fixture_world_close);
}
