/* Models of measured rows: layers from a size in a name, and what is refused. */
#include "measured_row.h"
#include "train_fixture.h"

#include <string.h>

typedef struct read_model {
    ridge_status status;
    const ridge_model *model;
    const char *assumed;
} read_model;

static read_model model_of(ridge_ctx *cx, const char *model, const char *plan)
{
    read_model out = {.status = RIDGE_OK};
    measured_gaps gaps;
    measured_row *row = ridge_new(ridge_ctx_arena(cx), measured_row, 1);
    const ridge_library *library;
    const char *text = ridge_sprintf(
        ridge_ctx_arena(cx),
        "{\"id\": \"a\", \"source\": {\"title\": \"A log\"}, \"model\": {%s}, "
        "\"hardware\": {\"chip\": \"A100-80GB\", \"n_chips\": 96}, \"plan\": {%s}, "
        "\"measured\": {\"step_time_s\": 1}}",
        model, plan);
    assert_non_null(row);
    ridge_buf_init(&gaps.text, ridge_ctx_arena(cx));
    assert_ok(cx, ridge_library_open(cx, NULL, &library));
    assert_ok(cx, measured_row_read(cx, ridge_str_of(text), "rows", 1, row));
    out.status = measured_model(cx, library, row, &gaps, &out.model);
    out.assumed = gaps.text.n > 0 ? ridge_buf_text(&gaps.text) : "";
    return out;
}

#define WIDTHS                                                                         \
    "\"d_model\": 12288, \"n_heads\": 96, \"d_ff\": 49152, \"vocab\": 50257, "         \
    "\"gated_mlp\": false, \"tied_embeddings\": true"

/* GPT-3: 96 layers of 12 D^2 and an embedding are 174.6 B. */
static void layers_follow_from_the_size_in_a_name(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        const char *name, *plan;
        int layers;
    } cases[] = {
        {"\"name\": \"GPT-style 175B\"", "", 96},
        {"\"name\": \"GPT-style 175B\"", "\"pp\": 8", 96},
        {"\"name\": \"175B\"", "\"pp\": 16, \"vpp\": 2", 96},
        {"\"name\": \"A model\", \"n_params\": 17.5e10", "\"pp\": 5", 95},
        {"\"name\": \"GPT-style 20.7B\"", "", 11},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const char *model =
            ridge_sprintf(ridge_ctx_arena(cx), "%s, " WIDTHS, cases[i].name);
        const read_model r = model_of(cx, model, cases[i].plan);
        assert_int_equal(r.status, RIDGE_OK);
        assert_int_equal(r.model->layer_count, cases[i].layers);
        assert_non_null(strstr(r.assumed, "layers"));
    }
}

static void stated_layers_stand(void **state)
{
    const read_model r =
        model_of(*state, "\"name\": \"GPT-style 175B\", \"n_layers\": 90, " WIDTHS, "");
    assert_int_equal(r.status, RIDGE_OK);
    assert_int_equal(r.model->layer_count, 90);
    assert_string_equal(r.assumed, "");
}

/* No size, experts, sizes below the embedding's. */
static void sizes_that_tell_no_layers_are_refused(void **state)
{
    static const char *const models[] = {
        "\"name\": \"A model\", " WIDTHS,
        "\"name\": \"175Bx\", \"n_experts\": 8, " WIDTHS,
        "\"name\": \"GPT-style 0.1B\", " WIDTHS,
        "\"name\": \"GPT-style 175B\", \"d_model\": 12288",
        "\"name\": \"GPT-style 175B\"",
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(models); i++) {
        ridge_ctx *cx = *state;
        assert_int_not_equal(model_of(cx, models[i], "").status, RIDGE_OK);
        ridge_ctx_clear(cx);
    }
}

#define MODEL_TEST(name)                                                               \
    cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(layers_follow_from_the_size_in_a_name),
        MODEL_TEST(stated_layers_stand),
        MODEL_TEST(sizes_that_tell_no_layers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
