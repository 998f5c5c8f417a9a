/*
 * Memory that runs out at any point, from JSON to the search: a status or NULL, never a
 * crash or a leak, a ctx that is still of use, and success once there is enough.
 */
#include "train_fixture.h"

#include <string.h>

enum { MOST_BYTES = 1 << 28 };

static const char document[] =
    "{\"name\": \"m\", \"list\": [1, 2.5, NaN, \"x\", {\"a\": [], \"b\": null}],\n"
    " \"big\": 123456789012345678901234567890}";

static ridge_status parse_json(ridge_ctx *cx)
{
    ridge_node root;
    return ridge_json_parse(cx, ridge_str_of(document), "f.json", &root);
}

static ridge_status write_json(ridge_ctx *cx)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_json *root = ridge_json_object(cx);
    ridge_json_set_text(root, "name", "all_gather");
    ridge_json *list = ridge_json_set_array(cx, root, "axes");
    for (int i = 0; i < 20; i++)
        ridge_json_set_double(ridge_json_push_object(cx, list), "time_s", i * 0.1);
    RIDGE_TRY(ridge_json_write(cx, root, &b));
    /* Whole or refused: no member is missing or null. */
    assert_null(strstr(ridge_buf_text(&b), "null"));
    assert_non_null(strstr(ridge_buf_text(&b), "1.9"));
    return RIDGE_OK;
}

static ridge_status format_text(ridge_ctx *cx)
{
    const char *z = ridge_sprintf(ridge_ctx_arena(cx), "%0*d", 300, 7);
    const char *copy =
        z == NULL ? NULL : ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(z));
    return copy == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
}

static ridge_status grow_buffer(ridge_ctx *cx)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_scratch(cx));
    for (int i = 0; i < 200; i++) {
        ridge_buf_printf(&b, "%d", i % 10);
        ridge_buf_puts(&b, ", ");
        ridge_buf_pad(&b, '.', 3);
    }
    assert_true(b.is_short || b.n == 200 * 6);
    assert_int_equal(strlen(ridge_buf_text(&b)), b.n);
    return b.is_short ? ridge_fail_nomem(cx) : RIDGE_OK;
}

static ridge_status write_table(ridge_ctx *cx)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_table *t = ridge_table_new(ridge_ctx_arena(cx));
    ridge_table_column(t, "name", RIDGE_ALIGN_LEFT);
    ridge_table_column(t, "time", RIDGE_ALIGN_RIGHT);
    for (int i = 0; i < 20; i++) {
        ridge_table_cell(t, "row");
        ridge_table_cellf(t, "%d", i);
        ridge_table_rule(t);
    }
    ridge_table_write(t, 2, true, &b);
    assert_true(b.is_short || strstr(ridge_buf_text(&b), "row     19") != NULL);
    return b.is_short ? ridge_fail_nomem(cx) : RIDGE_OK;
}

static ridge_status suggest_names(ridge_ctx *cx)
{
    static const char *const names[] = {"hidden_size", "vocab_size"};
    const char *z = ridge_suggestion(ridge_ctx_arena(cx), "hiden_size", names, 2);
    assert_true(z[0] == '\0' || z[strlen(z) - 1] == '?');
    return z[0] == '\0' ? ridge_fail_nomem(cx) : RIDGE_OK;
}

static ridge_status open_lock(ridge_ctx *cx)
{
    ridge_lock *lock = NULL;
    RIDGE_TRY(ridge_lock_open(cx, &lock));
    ridge_lock_take(lock);
    ridge_lock_give(lock);
    return RIDGE_OK;
}

static ridge_status read_file(ridge_ctx *cx)
{
    ridge_str text;
    return ridge_file_read(cx, RIDGE_TEST_DIR "/fuzz/corpus/json/python", 1 << 20,
                           &text);
}

static ridge_status open_catalog(ridge_ctx *cx)
{
    const ridge_catalog *catalog = NULL;
    const ridge_chip *chip = NULL;
    RIDGE_TRY(ridge_catalog_open(cx, NULL, &catalog));
    return ridge_chip_find(cx, catalog, "h100", &chip);
}

static ridge_status parse_slice(ridge_ctx *cx)
{
    const ridge_catalog *catalog = NULL;
    const ridge_slice *slice = NULL;
    ridge_group group;
    RIDGE_TRY(ridge_catalog_open(cx, NULL, &catalog));
    RIDGE_TRY(ridge_slice_parse(cx, catalog, "2*v5p:8x8x16+h100:4x8", &slice));
    RIDGE_TRY(ridge_group_parse(cx, slice, "all", &group));
    return ridge_group_text(cx, slice, &group) == NULL ? ridge_fail_nomem(cx)
                                                       : RIDGE_OK;
}

static ridge_status load_model(ridge_ctx *cx)
{
    const ridge_library *library = NULL;
    const ridge_model *model = NULL;
    RIDGE_TRY(ridge_library_open(cx, NULL, &library));
    return ridge_model_load(cx, library, "mixtral-8x7b", &model);
}

static ridge_status search_layouts(ridge_ctx *cx)
{
    const ridge_library *library = NULL;
    const ridge_catalog *catalog = NULL;
    const ridge_model *model = NULL;
    const ridge_slice *slice = NULL;
    ridge_train_result result;
    RIDGE_TRY(ridge_library_open(cx, NULL, &library));
    RIDGE_TRY(ridge_model_load(cx, library, "llama-3.1-8b", &model));
    RIDGE_TRY(ridge_catalog_open(cx, NULL, &catalog));
    RIDGE_TRY(ridge_slice_parse(cx, catalog, "h100:2x8", &slice));
    const ridge_train_request request = train_request(model, slice, 64, 4096);
    RIDGE_TRY(ridge_train_search(cx, &request, &result));
    assert_true(result.n_layouts > 0);
    return RIDGE_OK;
}

/* After a failure: nothing of it is in the way of the next request. */
static void assert_usable(ridge_ctx *cx)
{
    assert_non_null(strstr(ridge_ctx_message(cx), "memory budget"));
    ridge_ctx_clear(cx);
    assert_string_equal(ridge_ctx_message(cx), "");
    assert_int_equal(ridge_fail(cx, RIDGE_E_ARG, "next"), RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx), "next");
    ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
    ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
}

/* Budgets from nothing to enough, each larger by a step and a share of itself. */
static void until_success(ridge_status (*work)(ridge_ctx *cx), size_t step_bytes,
                          size_t share)
{
    int failures = 0;
    for (size_t budget = 0; budget < MOST_BYTES;
         budget += step_bytes + budget / share) {
        ridge_ctx *cx = ridge_ctx_open_budget(budget);
        assert_non_null(cx);
        const ridge_status st = work(cx);
        if (st != RIDGE_OK) {
            assert_int_equal(st, RIDGE_E_NOMEM);
            assert_usable(cx);
        }
        ridge_ctx_close(cx);
        if (st == RIDGE_OK) {
            assert_true(failures > 0);
            return;
        }
        failures++;
    }
    fail_msg("no success below %d bytes", MOST_BYTES);
}

static void text_survives_short_memory(void **state)
{
    (void)state;
    until_success(format_text, 8, 1 << 20);
    until_success(grow_buffer, 8, 1 << 20);
    until_success(suggest_names, 8, 1 << 20);
    until_success(open_lock, 4, 1 << 20);
    until_success(read_file, 4, 1 << 20);
}

static void tables_survive_short_memory(void **state)
{
    (void)state;
    until_success(write_table, 40, 1 << 20);
}

static void json_survives_short_memory(void **state)
{
    (void)state;
    until_success(parse_json, 8, 1 << 20);
    until_success(write_json, 8, 1 << 20);
}

static void catalogues_survive_short_memory(void **state)
{
    (void)state;
    until_success(open_catalog, 64, 150);
    until_success(parse_slice, 64, 150);
    until_success(load_model, 64, 150);
}

static void a_search_survives_short_memory(void **state)
{
    (void)state;
    until_success(search_layouts, 64, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_survives_short_memory),
        cmocka_unit_test(tables_survive_short_memory),
        cmocka_unit_test(json_survives_short_memory),
        cmocka_unit_test(catalogues_survive_short_memory),
        cmocka_unit_test(a_search_survives_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
