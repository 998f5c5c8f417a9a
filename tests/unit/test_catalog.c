/* The catalogue: variants, overrides, names, prices, and the built-in data itself. */
#include "hardware_fixture.h"
#include "near.h"

#include <string.h>

#include "name_scan.h"
#include "price_read.h"

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

static const ridge_chip *chip_of(void **state, const ridge_catalog *catalog,
                                 const char *name)
{
    const ridge_chip *chip = NULL;
    if (ridge_chip_find(*state, catalog, name, &chip) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(*state));
    return chip;
}

static ridge_status load(void **state, const ridge_embedded *files, size_t n,
                         const char *dir, const ridge_catalog **out)
{
    const ridge_embedded_set set = {files, n};
    return ridge_catalog_open_data(*state, &set, dir, out);
}

static void things_are_sorted_by_name(void **state)
{
    const ridge_catalog *c = fixture_catalog(*state);
    assert_int_equal(ridge_catalog_chip_count(c), 6);
    assert_int_equal(ridge_catalog_system_count(c), 6);
    for (size_t i = 1; i < ridge_catalog_chip_count(c); i++) {
        assert_true(strcmp(ridge_catalog_chip(c, i - 1)->name,
                           ridge_catalog_chip(c, i)->name) < 0);
    }
    assert_null(ridge_catalog_chip(c, 6));
    assert_null(ridge_catalog_system(c, 6));
}

static void names_and_aliases_are_found_in_any_case(void **state)
{
    const ridge_catalog *c = fixture_catalog(*state);
    assert_ptr_equal(chip_of(state, c, "GPU"), chip_of(state, c, "gpu-80GB"));
    const ridge_system *system = NULL;
    assert_int_equal(ridge_system_find(*state, c, "Cube v5", &system), RIDGE_OK);
    assert_string_equal(system->name, "cube-pod");
    assert_int_equal(ridge_system_find(*state, c, "rack-72", &system), RIDGE_OK);
    assert_string_equal(system->chip->name, "rack");
}

static void unknown_names_are_refused(void **state)
{
    const ridge_catalog *c = fixture_catalog(*state);
    const ridge_chip *chip = NULL;
    const ridge_system *system = NULL;
    assert_int_equal(ridge_chip_find(*state, c, "gpv", &chip), RIDGE_E_NOTFOUND);
    assert_non_null(strstr(ridge_ctx_message(*state), "gpu"));
    assert_int_equal(ridge_system_find(*state, c, "rack-71", &system),
                     RIDGE_E_NOTFOUND);
    assert_non_null(strstr(ridge_ctx_message(*state), "rack-72"));
    assert_int_equal(ridge_chip_find(*state, c, "", &chip), RIDGE_E_NOTFOUND);
}

static void on_demand_prices_come_first(void **state)
{
    const ridge_catalog *c = fixture_catalog(*state);
    const ridge_chip *chip = chip_of(state, c, "gpu");
    assert_int_equal(chip->n_prices, 2);
    assert_string_equal(chip->prices[0].kind, "on-demand");
    assert_near(chip->prices[0].usd_per_chip_hour, 4.0, 0.0);
    assert_string_equal(chip->prices[0].region, "");
    assert_string_equal(chip->prices[1].region, "eu");
    assert_int_equal(chip_of(state, c, "cube")->n_prices, 0);
}

static void only_the_best_prices_are_kept(void **state)
{
    (void)state;
    ridge_chip chip = {0};
    for (int i = 0; i < 2 * RIDGE_CHIP_PRICE_MAX + 4; i++) {
        ridge__price_insert(&chip, &(ridge_price){.kind = i % 2 ? "spot" : "on-demand",
                                                  .usd_per_chip_hour = 200.0 - i});
    }
    assert_int_equal(chip.n_prices, RIDGE_CHIP_PRICE_MAX);
    for (size_t i = 0; i < chip.n_prices; i++) {
        assert_string_equal(chip.prices[i].kind, "on-demand");
        assert_near(chip.prices[i].usd_per_chip_hour, 102.0 + 2.0 * (double)i, 0.0);
    }
}

static void a_folder_overrides_by_name(void **state)
{
    const ridge_embedded_set data = fixture_data();
    const ridge_catalog *c = NULL;
    if (load(state, data.files, data.count, RIDGE_TEST_DIR "/support/overrides", &c) !=
        RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(*state));
    const ridge_chip *gpu = chip_of(state, c, "gpu-96gb");
    assert_string_equal(gpu->name, "gpu");
    assert_near(gpu->hbm_bytes, 96e9, 0.0);
    assert_near(gpu->hbm_bytes_per_s, 2e12, 0.0); /* of the chip that it overrides */
    const ridge_chip *twin = chip_of(state, c, "twin");
    assert_near(twin->hbm_bytes, 96e9, 0.0);
    const ridge_system *system = NULL;
    assert_int_equal(ridge_system_find(*state, c, "twin", &system), RIDGE_OK);
    assert_string_equal(system->name, "twin-pod");
    assert_ptr_equal(system->chip, twin);
    assert_int_equal(system->n_levels, 3);
    /* The price list of that provider is replaced as well. */
    assert_int_equal(gpu->n_prices, 0);
    assert_int_equal(twin->n_prices, 1);
}

static void a_folder_that_is_not_there_is_refused(void **state)
{
    const ridge_catalog *c = NULL;
    assert_int_equal(ridge_catalog_open(*state, RIDGE_TEST_DIR "/nowhere", &c),
                     RIDGE_E_IO);
    assert_null(c);
}

typedef struct bad_row {
    const char *message;
    ridge_embedded files[2];
} bad_row;

#define TEXT(path, text)                                                               \
    {                                                                                  \
        path, text, sizeof(text) - 1                                                   \
    }

static const bad_row broken_files[] = {
    {"a circle",
     {TEXT("chips/a.json", "{\"name\":\"a\",\"base\":\"b\"}"),
      TEXT("chips/b.json", "{\"name\":\"b\",\"base\":\"a\"}")}},
    {"unknown base 'a'", {TEXT("chips/a.json", "{\"name\":\"a\",\"base\":\"a\"}")}},
    {"no \"name\"", {TEXT("chips/a.json", "{}")}},
    {"no \"provider\"", {TEXT("prices/a.json", "{}")}},
    {"described by two files",
     {TEXT("chips/a.json", "{\"name\":\"a\"," CHIP_LEAST "}"),
      TEXT("chips/b.json", "{\"name\":\"a\"," CHIP_LEAST "}")}},
    {"is already a name of 'a'",
     {TEXT("chips/a.json", "{\"name\":\"a\"," CHIP_LEAST "}"),
      TEXT("chips/b.json", "{\"name\":\"b\",\"aliases\":[\"A\"]," CHIP_LEAST "}")}},
    {"unknown default_system 'pod'",
     {TEXT("chips/a.json", "{\"name\":\"a\"," CHIP_LEAST "}")}},
    {"unknown chip 'a'", {TEXT("systems/a.json", "{\"name\":\"a\",\"chip\":\"a\"}")}},
    {"unknown chip 'q'",
     {TEXT("prices/a.json",
           "{\"provider\":\"a\",\"prices\":[{\"chip\":\"q\",\"kind\":\"spot\","
           "\"usd_per_chip_hour\":1,\"source\":\"s\",\"date\":\"2024\"}]}")}},
    {"data/prices/a.json:1: prices[0].usd_per_chip_hour",
     {TEXT("prices/a.json",
           "{\"provider\":\"a\",\"prices\":[{\"chip\":\"q\",\"kind\":\"spot\","
           "\"usd_per_chip_hour\":-1,\"source\":\"s\",\"date\":\"2024\"}]}")}},
    {"no \"source\"",
     {TEXT("prices/a.json",
           "{\"provider\":\"a\",\"prices\":[{\"chip\":\"q\",\"kind\":\"spot\","
           "\"usd_per_chip_hour\":1,\"date\":\"2024\"}]}")}},
    {"none of on-demand",
     {TEXT("prices/a.json",
           "{\"provider\":\"a\",\"prices\":[{\"chip\":\"q\",\"kind\":\"free\"}]}")}},
    {"an array of prices", {TEXT("prices/a.json", "{\"provider\":\"a\"}")}},
    {"data/chips/a.json:1:", {TEXT("chips/a.json", "{")}},
};

static void broken_files_are_refused(void **state)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(broken_files); i++) {
        const ridge_catalog *c = NULL;
        const size_t n = broken_files[i].files[1].path != NULL ? 2 : 1;
        const ridge_status st = load(state, broken_files[i].files, n, NULL, &c);
        if (st != RIDGE_E_PARSE ||
            strstr(ridge_ctx_message(*state), broken_files[i].message) == NULL) {
            fail_msg("wanted '%s', got %d: %s", broken_files[i].message, (int)st,
                     ridge_ctx_message(*state));
        }
    }
}

static void short_memory_is_a_status(void **state)
{
    (void)state;
    const ridge_embedded_set data = fixture_data();
    ridge_status st = RIDGE_E_NOMEM;
    for (size_t budget = 256; st != RIDGE_OK && budget < (1u << 24);
         budget += budget / 8) {
        ridge_ctx *cx = ridge_ctx_open_budget(budget);
        const ridge_catalog *c = NULL;
        if (cx == NULL)
            continue;
        st = ridge_catalog_open_data(cx, &data, NULL, &c);
        assert_true(st == RIDGE_OK || st == RIDGE_E_NOMEM);
        ridge_ctx_close(cx);
    }
    assert_int_equal(st, RIDGE_OK);
}

/* What every chip of data/ must allow for. */
/* As nvidia-smi, clouds and papers write them. */
static void chips_are_found_by_the_names_that_drivers_give(void **state)
{
    static const struct {
        const char *text, *chip;
    } cases[] = {
        {"NVIDIA H100 80GB HBM3", "h100"},
        {"A100-80G", "a100"},
        {"A100 40G", "a100-40gb"},
        {"nvidia h100 80GB hbm", "h100"},
        {"NVIDIA A100-SXM4-40GB", "a100-40gb"},
        {"Tesla V100-SXM2-16GB", "v100-16gb"},
        {"AMD Instinct MI300X OAM", "mi300x"},
        {"NVIDIA A100 80GB PCIe", "a100-pcie"},
        {"NVIDIA GeForce RTX 4090", "rtx-4090"},
        {"TPU v6e (Trillium)", "v6e"},
        {"H20 96GB", "h20"},
        {"NVIDIA GB200 NVL72 (186GB)", "gb200"},
        {"Intel Gaudi 3 128GB", "gaudi3"},
        {"Gaudi3 HL-325L", "gaudi3"},
        {"HGX B200", "b200"},
        {"DGX H100", "h100"},
        {"GH200 480GB", "gh200"},
        {"Trainium 2", "trn2"},
        {"tpu-v5-lite", "v5e"},
        {"NVIDIA A10", "a10"},
        {"NVIDIA L40", "l40"},
        {"AMD Instinct MI250", "mi250"},
    };
    static const char *const unknown[] = {"H100 64GB", "h100-foo", "NVIDIA", "80GB",
                                          ""};
    const ridge_catalog *c = NULL;
    const ridge_chip *chip;
    if (ridge_catalog_open(*state, NULL, &c) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(*state));
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++)
        assert_string_equal(chip_of(state, c, cases[i].text)->name, cases[i].chip);
    for (size_t i = 0; i < RIDGE_COUNT_OF(unknown); i++)
        assert_int_equal(ridge_chip_find(*state, c, unknown[i], &chip),
                         RIDGE_E_NOTFOUND);
}

static void the_built_in_data_is_whole(void **state)
{
    const ridge_catalog *c = NULL;
    if (ridge_catalog_open(*state, NULL, &c) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(*state));
    for (size_t i = 0; i < ridge_catalog_chip_count(c); i++) {
        const ridge_chip *chip = ridge_catalog_chip(c, i);
        const ridge_slice *slice = fixture_slice(*state, c, chip->name);
        assert_ptr_equal(slice->chip, chip);
        assert_int_equal(slice->chips, 1);
        for (size_t k = 0; chip->aliases[k] != NULL; k++)
            assert_ptr_equal(chip_of(state, c, chip->aliases[k]), chip);
        for (int d = 0; d < RIDGE_DTYPE_COUNT; d++)
            assert_true(ridge_chip_ridge_point(chip, (ridge_dtype)d) > 0.0);
        assert_true(chip->n_facts > 0);
    }
    for (size_t i = 0; i < ridge_catalog_system_count(c); i++) {
        const ridge_system *system = ridge_catalog_system(c, i);
        const ridge_slice *slice = fixture_slice(*state, c, system->name);
        assert_ptr_equal(slice->system, system);
    }
}

/* Every chip found by each of its names, from threads with a ctx of their own. */
typedef struct finds {
    const ridge_catalog *catalog;
    const ridge_chip *found[256];
} finds;

static void find_one(void *payload, int64_t item, int worker)
{
    finds *f = payload;
    ridge_ctx *cx = ridge_ctx_open();
    const size_t n = ridge_catalog_chip_count(f->catalog);
    const ridge_chip *by_index = ridge_catalog_chip(f->catalog, (size_t)item % n);
    const ridge_chip *chip = NULL;
    (void)worker;
    if (ridge_chip_find(cx, f->catalog, by_index->name, &chip) == RIDGE_OK &&
        chip == by_index)
        f->found[item] = chip;
    ridge_ctx_close(cx);
}

static void threads_share_the_catalogue(void **state)
{
    finds f = {0};
    assert_int_equal(ridge_catalog_open(*state, NULL, &f.catalog), RIDGE_OK);
    const int64_t items = RIDGE_COUNT_OF(f.found);
    assert_int_equal(ridge_parallel(*state, 4, items, find_one, &f), RIDGE_OK);
    for (int64_t i = 0; i < items; i++)
        assert_non_null(f.found[i]);
}

static void names_are_read_ahead_of_the_rest(void **state)
{
    ridge_arena *arena = ridge_ctx_arena(*state);
    const char *name = NULL;
    const char *const *aliases = NULL;
    const char *text = "{\"x\":{\"name\":[\"}\\\"\"]},\"aliases\":[\"b\", \"c\"],"
                       "\"name\":\"a\"}";
    assert_true(ridge__names_scan(arena, ridge_str_of(text), "name", &name, &aliases));
    assert_string_equal(name, "a");
    assert_string_equal(aliases[0], "b");
    assert_string_equal(aliases[1], "c");
    assert_null(aliases[2]);
    assert_true(ridge__names_scan(arena, ridge_str_of("{\"name\":\"a\"}"), "name",
                                  &name, &aliases));
    assert_null(aliases[0]);
}

static void texts_that_are_not_plain_are_left_to_the_parser(void **state)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"name\":7}",
        "{\"name\":\"a\\u0062\"}",
        "{\"name\":\"a",
        "{\"name\":\"a\"",
        "{\"name\":\"a\",\"aliases\":\"b\"}",
        "{\"name\":\"a\",\"aliases\":[\"b\" \"c\"]}",
        "{\"name\":\"a\",\"aliases\":[7]}",
        "{\"na\\u006de\":\"a\"}",
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts); i++) {
        const char *name = NULL;
        const char *const *aliases = NULL;
        if (ridge__names_scan(ridge_ctx_arena(*state), ridge_str_of(texts[i]), "name",
                              &name, &aliases))
            fail_msg("'%s' was taken", texts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(things_are_sorted_by_name),
        cmocka_unit_test(names_and_aliases_are_found_in_any_case),
        cmocka_unit_test(unknown_names_are_refused),
        cmocka_unit_test(on_demand_prices_come_first),
        cmocka_unit_test(only_the_best_prices_are_kept),
        cmocka_unit_test(a_folder_overrides_by_name),
        cmocka_unit_test(a_folder_that_is_not_there_is_refused),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(short_memory_is_a_status),
        cmocka_unit_test(chips_are_found_by_the_names_that_drivers_give),
        cmocka_unit_test(the_built_in_data_is_whole),
        cmocka_unit_test(threads_share_the_catalogue),
        cmocka_unit_test(names_are_read_ahead_of_the_rest),
        cmocka_unit_test(texts_that_are_not_plain_are_left_to_the_parser),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
