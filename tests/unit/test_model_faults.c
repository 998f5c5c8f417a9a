/* Memory that runs out at any point of loading and checking: a status, never a crash,
 * and success once there is enough. */
#include "model_fixture.h"

enum { FIRST_BYTES = 1 << 10, MOST_BYTES = 1 << 28 };

static void load(ridge_ctx *cx, ridge_status *st)
{
    const ridge_library *library = NULL;
    const ridge_model *model = NULL;
    *st = ridge_library_open(cx, NULL, &library);
    if (*st == RIDGE_OK)
        *st = ridge_model_load(cx, library, "deepseek-r1-nvfp4", &model);
}

static void check(ridge_ctx *cx, ridge_status *st)
{
    ridge_layer layer = {.count = 1};
    const ridge_model model = {
        .d_model = 8, .vocab = 8, .n_layers = 1, .layers = &layer};
    ridge_checkpoint out;
    *st = ridge_checkpoint_check(
        cx, &model, RIDGE_TEST_DIR "/fuzz/corpus/index/two-documents", &out);
}

static void miss(ridge_ctx *cx, ridge_status *st)
{
    const ridge_library *library = NULL;
    const ridge_model *model = NULL;
    *st = ridge_library_open(cx, NULL, &library);
    if (*st == RIDGE_OK &&
        ridge_model_load(cx, library, "no-such-model", &model) == RIDGE_E_NOMEM)
        *st = RIDGE_E_NOMEM;
}

/* Budgets from too small to enough, each a fifth larger than the last. */
static void until_success(void (*work)(ridge_ctx *cx, ridge_status *st))
{
    int failures = 0;
    for (size_t budget = FIRST_BYTES; budget < MOST_BYTES; budget += budget / 5) {
        ridge_ctx *cx = ridge_ctx_open_budget(budget);
        assert_non_null(cx);
        ridge_status st = RIDGE_OK;
        work(cx, &st);
        if (st == RIDGE_OK) {
            ridge_ctx_close(cx);
            assert_true(failures > 0);
            return;
        }
        assert_int_equal(st, RIDGE_E_NOMEM);
        failures++;
        ridge_ctx_close(cx);
    }
    fail();
}

static void loading_survives_short_memory(void **state)
{
    (void)state;
    until_success(load);
}

static void checking_survives_short_memory(void **state)
{
    (void)state;
    until_success(check);
}

static void unknown_names_survive_short_memory(void **state)
{
    (void)state;
    until_success(miss);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loading_survives_short_memory),
        cmocka_unit_test(checking_survives_short_memory),
        cmocka_unit_test(unknown_names_survive_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
