/* Reports with every budget of memory: less text, never a crash. */
#include "near.h"
#include "ridge/report.h"

typedef struct world {
    ridge_ctx *cx; /* holds the catalogue and the model, without a tight budget */
    const ridge_catalog *catalog;
    const ridge_chip *chip;
    const ridge_model *model;
} world;

static int open_world(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    world *w = cx ? ridge_new(ridge_ctx_arena(cx), world, 1) : NULL;
    const ridge_library *library = NULL;
    if (!w || ridge_catalog_open(cx, NULL, &w->catalog) != RIDGE_OK ||
        ridge_chip_find(cx, w->catalog, "h100", &w->chip) != RIDGE_OK ||
        ridge_library_open(cx, NULL, &library) != RIDGE_OK ||
        ridge_model_load(cx, library, "deepseek-v3", &w->model) != RIDGE_OK)
        return -1;
    w->cx = cx;
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    world *w = *state;
    ridge_ctx_close(w->cx);
    return 0;
}

typedef void report_fn(const world *w, ridge_ctx *cx, ridge_buf *out);

static void write_json(ridge_ctx *cx, const ridge_json *object, ridge_buf *out)
{
    if (ridge_json_write(cx, object, out) != RIDGE_OK)
        out->is_short = true;
}

static ridge_chips_view chips_view(const world *w)
{
    return (ridge_chips_view){
        .catalog = w->catalog, .chips = &w->chip, .n = 1, .has_details = true};
}

static void chips_text(const world *w, ridge_ctx *cx, ridge_buf *out)
{
    ridge_chips_view view = chips_view(w);
    ridge_chips_write_text(cx, &view, false, out);
}

static void chips_html(const world *w, ridge_ctx *cx, ridge_buf *out)
{
    ridge_chips_view view = chips_view(w);
    ridge_chips_write_html(cx, &view, out);
}

static void chips_json(const world *w, ridge_ctx *cx, ridge_buf *out)
{
    ridge_chips_view view = chips_view(w);
    ridge_json *object = ridge_json_object(cx);
    ridge_chips_write_json(cx, &view, object);
    write_json(cx, object, out);
}

static void model_text(const world *w, ridge_ctx *cx, ridge_buf *out)
{
    const ridge_model_view view = {.model = w->model, .seq_tokens = 4096};
    ridge_model_write_text(cx, &view, false, out);
}

static void model_html(const world *w, ridge_ctx *cx, ridge_buf *out)
{
    const ridge_model_view view = {.model = w->model, .seq_tokens = 4096};
    ridge_model_write_html(cx, &view, out);
}

static void model_json(const world *w, ridge_ctx *cx, ridge_buf *out)
{
    const ridge_model_view view = {.model = w->model, .seq_tokens = 4096};
    ridge_json *object = ridge_json_object(cx);
    ridge_model_write_json(cx, &view, object);
    write_json(cx, object, out);
}

static void any_budget_ends_well(void **state)
{
    static report_fn *const reports[] = {chips_text, chips_html, chips_json,
                                         model_text, model_html, model_json};
    enum { MOST_BYTES = 1 << 22 };
    const world *w = *state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(reports); i++) {
        bool is_whole = false;
        for (size_t bytes = 64; bytes < MOST_BYTES && !is_whole;
             bytes += bytes / 24 + 1) {
            ridge_ctx *cx = ridge_ctx_open_budget(bytes);
            assert_non_null(cx);
            ridge_buf out;
            ridge_buf_init(&out, ridge_ctx_arena(cx));
            reports[i](w, cx, &out);
            is_whole = !out.is_short;
            ridge_ctx_close(cx);
        }
        assert_true(is_whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_budget_ends_well, open_world, close_world)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
