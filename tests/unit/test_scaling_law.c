/* Compute-optimal sizes: the published tables, optima by brute force, inverse
 * questions.
 */
#include "near.h"
#include "ridge/model_scaling.h"

#include <math.h>
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

static ridge_scaling_law law_of(void **state, const char *name)
{
    ridge_scaling_law law;
    if (ridge_scaling_law_find(*state, name, &law) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(*state));
    return law;
}

static void the_tables_of_the_paper_are_met(void **state)
{
    /* hoffmann2022, tables 3 and A3: parameters, FLOPs, tokens; two digits are printed
     */
    static const struct {
        const char *law;
        double params, flops, tokens;
    } rows[] = {{"hoffmann-2022-1", 1e9, 1.21e20, 20.2e9},
                {"hoffmann-2022-1", 10e9, 1.23e22, 205.1e9},
                {"hoffmann-2022-1", 280e9, 9.90e24, 5.9e12},
                {"hoffmann-2022-1", 1e12, 1.27e26, 21.2e12},
                {"hoffmann-2022-2", 1e9, 1.20e20, 20.0e9},
                {"hoffmann-2022-2", 280e9, 1.18e25, 7.1e12},
                {"hoffmann-2022-2", 1e12, 1.59e26, 26.5e12}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const ridge_scaling_law law = law_of(state, rows[i].law);
        const ridge_sizing s = ridge_sizing_of_flops(&law, rows[i].flops);
        assert_near(s.params, rows[i].params, 0.12);
        assert_near(s.tokens, rows[i].tokens, 0.12);
    }
}

static void chinchilla_itself_is_near_the_optimum(void **state)
{
    /* 70B on 1.4T tokens; the replication asks for about 20 tokens a parameter
     * (besiroglu2024, section 5). */
    const ridge_scaling_law law = law_of(state, "epoch");
    const ridge_sizing s = ridge_sizing_of_flops(&law, 5.76e23);
    assert_near(s.params, 70e9, 0.1);
    assert_true(s.tokens / s.params > 15 && s.tokens / s.params < 25);
    /* 1.8172 + 482.01 / 70e9^.3478 + 2085.43 / 1.4e12^.3658 */
    assert_near(ridge_sizing_of(&law, 70e9, 1.4e12).loss, 1.9737, 1e-3);
}

static void no_other_size_does_better_with_the_same_flops(void **state)
{
    static const char *const names[] = {"besiroglu-2024", "hoffmann-2022-3"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        const ridge_scaling_law law = law_of(state, names[i]);
        for (double flops = 1e18; flops < 1e28; flops *= 10) {
            const ridge_sizing best = ridge_sizing_of_flops(&law, flops);
            assert_near(best.flops, flops, 1e-9);
            for (double f = 0.1; f < 10; f *= 1.07) {
                const double params = best.params * f;
                const double tokens = flops / 6 / params;
                assert_true(ridge_sizing_of(&law, params, tokens).loss >=
                            best.loss * (1 - 1e-12));
            }
        }
    }
}

static void questions_asked_backwards_agree(void **state)
{
    for (size_t i = 0; i < ridge_scaling_law_count(); i++) {
        ridge_scaling_law law;
        assert_int_equal(ridge_scaling_law_at(*state, i, &law), RIDGE_OK);
        const ridge_sizing s = ridge_sizing_of_flops(&law, 3e23);
        assert_near(ridge_sizing_of_params(&law, s.params).tokens, s.tokens, 1e-9);
        assert_near(ridge_sizing_of_tokens(&law, s.tokens).params, s.params, 1e-9);
        assert_near(ridge_sizing_of_ratio(&law, 3e23, s.tokens / s.params).params,
                    s.params, 1e-9);
        ridge_sizing back;
        if (law.has_loss) {
            assert_int_equal(ridge_sizing_of_loss(*state, &law, s.loss, &back),
                             RIDGE_OK);
            assert_near(back.flops, s.flops, 1e-6);
        } else {
            assert_int_equal(ridge_sizing_of_loss(*state, &law, 2, &back), RIDGE_E_ARG);
        }
    }
}

static void service_asks_for_smaller_models_trained_longer(void **state)
{
    const ridge_scaling_law law = law_of(state, "besiroglu-2024");
    ridge_sizing none;
    ridge_sizing trained;
    assert_int_equal(ridge_sizing_of_loss(*state, &law, 2.1, &trained), RIDGE_OK);
    assert_int_equal(ridge_sizing_of_service(*state, &law, 2.1, 0, &none), RIDGE_OK);
    assert_near(none.params, trained.params, 1e-4);
    double before = trained.params;
    for (double served = 1e11; served < 1e16; served *= 10) {
        ridge_sizing s;
        assert_int_equal(ridge_sizing_of_service(*state, &law, 2.1, served, &s),
                         RIDGE_OK);
        assert_near(s.loss, 2.1, 1e-9);
        assert_true(s.params < before && s.tokens > trained.tokens);
        assert_true(s.flops + ridge_sizing_service_flops(&s, served) <=
                    trained.flops + ridge_sizing_service_flops(&trained, served));
        before = s.params;
    }
}

static void what_is_out_of_reach_is_refused(void **state)
{
    const ridge_scaling_law law = law_of(state, "besiroglu-2024");
    ridge_sizing s;
    assert_int_equal(ridge_sizing_of_loss(*state, &law, 1.8, &s), RIDGE_E_ARG);
    assert_int_equal(ridge_sizing_of_loss(*state, &law, (double)NAN, &s), RIDGE_E_ARG);
    assert_int_equal(ridge_sizing_of_service(*state, &law, 1, 1e12, &s), RIDGE_E_ARG);
    ridge_scaling_law none;
    assert_int_equal(ridge_scaling_law_find(*state, "hofmann-2022-1", &none),
                     RIDGE_E_NOTFOUND);
    assert_non_null(strstr(ridge_ctx_message(*state), "hoffmann-2022-1"));
    assert_int_equal(ridge_scaling_law_find(*state, "/no/such.json", &none),
                     RIDGE_E_IO);
}

static void a_law_of_nonsense_is_refused(void **state)
{
    static const char *const texts[] = {
        "[]",
        "{}",
        "{\"name\":\"a\",\"source\":\"s\",\"date\":\"2024\"}",
        "{\"name\":\"a\",\"source\":\"s\",\"date\":\"2024\",\"loss\":{\"floor\":1}}",
        ("{\"name\":\"a\",\"source\":\"s\",\"date\":\"2024\",\"optimum\":{\"flops\":1,"
         "\"parameters\":1,\"parameters_exponent\":1}}"),
        "{\"name\":\"a\",\"source\":\"s\",\"date\":\"2024\",\"lost\":{}}"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts); i++) {
        ridge_node root;
        ridge_scaling_law law;
        assert_int_equal(
            ridge_json_parse(*state, ridge_str_of(texts[i]), "t.json", &root),
            RIDGE_OK);
        assert_int_equal(ridge_scaling_law_from_json(*state, root, &law),
                         RIDGE_E_PARSE);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_ctx, close_ctx)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_tables_of_the_paper_are_met),
        CASE(chinchilla_itself_is_near_the_optimum),
        CASE(no_other_size_does_better_with_the_same_flops),
        CASE(questions_asked_backwards_agree),
        CASE(service_asks_for_smaller_models_trained_longer),
        CASE(what_is_out_of_reach_is_refused),
        CASE(a_law_of_nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
