/* Times of layers that searches share, and programs with a run for each kind of layer,
 * against each search by itself and programs as long as the model. */
#include "near.h"
#include "train_fixture.h"

#include "ridge/plan_reasons.h"

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL ? -1 : 0;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static void assert_same_answer(ridge_ctx *cx, const ridge_train_request *with)
{
    ridge_train_request without = *with;
    ridge_train_result a;
    ridge_train_result b;
    without.shelf = NULL;
    assert_ok(cx, ridge_train_search(cx, with, &a));
    assert_ok(cx, ridge_train_search(cx, &without, &b));
    assert_int_equal(a.n_layouts, b.n_layouts);
    assert_int_equal(a.priced, b.priced);
    for (int i = 0; i < a.n_layouts; i++) {
        assert_near(a.layouts[i].step_time_s, b.layouts[i].step_time_s, 0);
        assert_near(a.layouts[i].peak_memory_bytes, b.layouts[i].peak_memory_bytes, 0);
    }
}

/* One shelf for all that times of layers depend on, each asked twice. */
static void a_shelf_changes_no_answer(void **state)
{
    ridge_ctx *cx = *state;
    ridge_layer_shelf *shelf;
    assert_ok(cx, ridge_layer_shelf_open(cx, &shelf));
    const ridge_model *models[] = {train_dense_model(cx), train_moe_model(cx)};
    const ridge_slice *slices[] = {train_slice(cx, "h100:1x8"),
                                   train_slice(cx, "a100:2x8"),
                                   train_slice(cx, "v5e:2x4")};
    for (int i = 0; i < 24; i++) {
        ridge_train_request r =
            train_request(models[i % 2], slices[i % 3], i < 12 ? 16 : 24, 2048);
        r.shelf = shelf;
        r.knobs.precision = i % 4 == 0 ? RIDGE_PRECISION_FP32 : RIDGE_PRECISION_BF16;
        r.documents.tokens = i % 5 == 0 ? 512 : 0;
        r.seq_tokens = i % 7 == 0 ? 1024 : 2048;
        assert_same_answer(cx, &r);
    }
}

/* Numbers that a sensitivity changes in place are not taken for those on the shelf. */
static void a_shelf_keeps_to_what_is_unchanged(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request r =
        train_request(train_dense_model(cx), train_slice(cx, "h100:1x8"), 16, 2048);
    ridge_train_result found;
    ridge_sensitivity alone[RIDGE_SENSITIVITY_MAX];
    ridge_sensitivity shared[RIDGE_SENSITIVITY_MAX];
    int n_alone = 0;
    int n_shared = 0;
    assert_ok(cx, ridge_train_search(cx, &r, &found));
    assert_ok(cx, ridge_train_sensitivity(cx, &r, &found.layouts[0], alone, &n_alone));
    assert_ok(cx, ridge_layer_shelf_open(cx, &r.shelf));
    assert_ok(cx, ridge_train_search(cx, &r, &found));
    assert_ok(cx,
              ridge_train_sensitivity(cx, &r, &found.layouts[0], shared, &n_shared));
    assert_int_equal(n_alone, n_shared);
    for (int i = 0; i < n_alone; i++)
        assert_near(alone[i].step_change, shared[i].step_change, 0);
}

/* Layers of two kinds, one by one or all of one kind before the other. */
static const ridge_model *two_kinds(ridge_ctx *cx, bool is_alternating)
{
    return fixture_model(
        cx,
        "{'model_type': 'gpt_oss', 'hidden_size': 1024, 'num_hidden_layers': 8,"
        " 'num_attention_heads': 16, 'num_key_value_heads': 4, 'head_dim': 64,"
        " 'intermediate_size': 1024, 'vocab_size': 32000, 'num_local_experts': 8,"
        " 'num_experts_per_tok': 2, 'sliding_window': 128, 'layer_types': [%s]}",
        is_alternating
            ? "'sliding_attention', 'full_attention', 'sliding_attention',"
              " 'full_attention', 'sliding_attention', 'full_attention',"
              " 'sliding_attention', 'full_attention'"
            : "'sliding_attention', 'sliding_attention', 'sliding_attention',"
              " 'sliding_attention', 'full_attention', 'full_attention',"
              " 'full_attention', 'full_attention'");
}

static void the_order_of_kinds_changes_no_step_of_one_stage(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *models[] = {two_kinds(cx, true), two_kinds(cx, false)};
    assert_true(models[0]->n_runs == 8 && models[1]->n_runs == 2);
    static const char *const slices[] = {"h100:1x8", "v5e:2x4"};
    for (size_t s = 0; s < RIDGE_COUNT_OF(slices); s++) {
        ridge_train_result found[2];
        for (int i = 0; i < 2; i++) {
            ridge_train_request r =
                train_request(models[i], train_slice(cx, slices[s]), 16, 2048);
            r.knobs.pp = 1;
            assert_ok(cx, ridge_train_search(cx, &r, &found[i]));
        }
        assert_int_equal(found[0].n_layouts, found[1].n_layouts);
        assert_true(found[0].n_layouts > 0);
        for (int i = 0; i < found[0].n_layouts; i++)
            assert_near(found[0].layouts[i].step_time_s,
                        found[1].layouts[i].step_time_s, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_shelf_changes_no_answer, open_ctx, close_ctx),
        cmocka_unit_test_setup_teardown(a_shelf_keeps_to_what_is_unchanged, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(the_order_of_kinds_changes_no_step_of_one_stage,
                                        open_ctx, close_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
