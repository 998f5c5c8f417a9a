/* Operations computed again one by one: what they free and take, and which are chosen.
 */
#include "train_fixture.h"

#include "ridge/program_remat.h"

#include <string.h>

static ridge_train_request request_of(ridge_ctx *cx, const ridge_model *model)
{
    return train_request(model, train_slice(cx, "h100:1x8"), 64, 2048);
}

static ridge_train_price price_of(ridge_ctx *cx, const ridge_model *model,
                                  const char *remat)
{
    const ridge_train_request request = request_of(cx, model);
    ridge_layout layout = train_layout(1, 8, 1, 1, 1);
    ridge_knobs knobs = ridge_knobs_free();
    assert_ok(cx, ridge_knobs_set(cx, &knobs, "remat", remat));
    layout.remat = (ridge_remat)knobs.remat;
    layout.remat_ops = knobs.remat_ops;
    return train_price_of(cx, &request, &layout);
}

/* Norms and the feed-forward, named one by one, are the policy of that name. */
static void names_of_a_policy_are_that_policy(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = train_dense_model(cx);
    const ridge_train_price ffn = price_of(cx, model, "ffn");
    const ridge_train_price named = price_of(cx, model, "h+h_ffn+gate+up+act");
    assert_near(named.parts.recompute_s, ffn.parts.recompute_s, 1e-9);
    assert_near(named.step_time_s, ffn.step_time_s, 1e-9);
    assert_near(named.memory.activations_bytes, ffn.memory.activations_bytes, 0.02);
    assert_near(named.hfu, ffn.hfu, 0.01);
}

/* What is named frees its own bytes, unless what it reads must be kept for it. */
static void names_free_what_they_make(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = train_dense_model(cx);
    const ridge_train_price none = price_of(cx, model, "none");
    const ridge_train_price act = price_of(cx, model, "act");
    const ridge_train_price rotary = price_of(cx, model, "q_rotary");
    const ridge_train_price both = price_of(cx, model, "q+q_rotary");
    const double tokens = 2048;
    assert_near(none.memory.activations_bytes - act.memory.activations_bytes,
                4 * tokens * 4096 * 2, 1e-6);
    assert_true(act.parts.recompute_s > 0 &&
                act.parts.recompute_s < 0.1 * none.step_time_s);
    /* the turned queries are made from queries, which are kept in their place */
    assert_near(rotary.memory.activations_bytes, none.memory.activations_bytes, 1e-9);
    assert_near(none.memory.activations_bytes - both.memory.activations_bytes,
                4 * tokens * 1024 * 2, 1e-6);
    assert_true(both.parts.recompute_s > rotary.parts.recompute_s);
}

static void partial_layers_share_a_list(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_train_request request = request_of(cx, train_dense_model(cx));
    ridge_layout layout = train_layout(1, 8, 1, 1, 1);
    layout.remat = (ridge_remat)RIDGE_REMAT_OPERATIONS;
    assert_ok(cx, ridge_remat_ops_parse(cx, "up+act", &layout.remat_ops));
    const double all_s = train_price_of(cx, &request, &layout).parts.recompute_s;
    layout.remat_layers = 1; /* of four */
    assert_near(train_price_of(cx, &request, &layout).parts.recompute_s, all_s / 4,
                1e-9);
}

static void unknown_names_are_told(void **state)
{
    ridge_ctx *cx = *state;
    ridge_knobs knobs = ridge_knobs_free();
    assert_int_equal(ridge_knobs_set(cx, &knobs, "remat", "up+akt"), RIDGE_E_ARG);
    fixture_assert_message(cx, "'akt' is no operation of a layer");
    assert_int_equal(ridge_knobs_set(cx, &knobs, "remat", "ful"), RIDGE_E_NOTFOUND);
    assert_ok(cx, ridge_knobs_set(cx, &knobs, "remat", "rows_act"));
    ridge_train_request request = request_of(cx, train_dense_model(cx));
    request.knobs = knobs;
    ridge_train_result result;
    assert_int_equal(ridge_train_search(cx, &request, &result), RIDGE_E_ARG);
    fixture_assert_message(cx, "makes rows_act: its operations are h+q+k");
}

/* The best of all sets of a few operations, at several sizes of the memory. */
enum { TRIED = 7 };

static double best_of_all_s(ridge_ctx *cx, const ridge_train_request *request)
{
    static const char *const names[TRIED] = {"h",  "h_ffn", "act",    "gate",
                                             "up", "o",     "x_mixed"};
    double best_s = 0;
    for (unsigned set = 0; set < 1u << TRIED; set++) {
        ridge_layout layout = train_layout(1, 8, 1, 1, 1);
        layout.microbatch_seqs = 8;
        for (int i = 0; i < TRIED; i++) {
            ridge_remat_ops one = 0;
            assert_ok(cx, ridge_remat_ops_parse(cx, names[i], &one));
            layout.remat_ops |= set >> i & 1u ? one : 0;
        }
        if (set != 0)
            layout.remat = (ridge_remat)RIDGE_REMAT_OPERATIONS;
        const ridge_train_price p = train_price_of(cx, request, &layout);
        if (p.fit == RIDGE_FIT_OK && (best_s == 0 || p.step_time_s < best_s))
            best_s = p.step_time_s;
    }
    return best_s;
}

static void the_search_chooses_what_is_cheap(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_slice *whole = train_slice(cx, "h100:1x8");
    ridge_train_request request = train_request(train_dense_model(cx), whole, 64, 2048);
    ridge_layout large = train_layout(1, 8, 1, 1, 1);
    large.microbatch_seqs = 8;
    const ridge_train_price all = train_price_of(cx, &request, &large);
    for (int i = 1; i < 4; i++) {
        ridge_chip chip = *whole->chip;
        ridge_slice slice = *whole;
        ridge_train_result result;
        slice.chip = &chip;
        request.slice = &slice;
        request.knobs = ridge_knobs_free();
        const char *knobs[][2] = {{"fsdp", "8"},
                                  {"zero", "3"},
                                  {"tp", "1"},
                                  {"cp", "1"},
                                  {"microbatch", "8"},
                                  {"pp", "1"},
                                  {"remat", "operations"}};
        for (size_t k = 0; k < RIDGE_COUNT_OF(knobs); k++)
            assert_ok(cx,
                      ridge_knobs_set(cx, &request.knobs, knobs[k][0], knobs[k][1]));
        chip.visible_bytes =
            all.peak_memory_bytes - 0.15 * i * all.memory.activations_bytes;
        const double best_s = best_of_all_s(cx, &request);
        assert_ok(cx, ridge_train_search(cx, &request, &result));
        assert_true(best_s > 0 && result.n_layouts > 0);
        assert_true(result.layouts[0].step_time_s <= 1.01 * best_s);
        assert_true(result.layouts[0].peak_memory_bytes <= chip.visible_bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_a_policy_are_that_policy),
        cmocka_unit_test(names_free_what_they_make),
        cmocka_unit_test(partial_layers_share_a_list),
        cmocka_unit_test(unknown_names_are_told),
        cmocka_unit_test(the_search_chooses_what_is_cheap),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
