/* Files of data/chips: what is taken, what is inherited, what is refused and how. */
#include "chip_read.h"
#include "hardware_fixture.h"
#include "near.h"

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

static ridge_status read_text(ridge_ctx *cx, const char *text, const ridge_chip *base,
                              ridge_chip **out)
{
    ridge_node root;
    ridge_status st = ridge_json_parse(cx, ridge_str_of(text), "x.json", &root);
    if (st != RIDGE_OK)
        return st;
    return ridge__chip_read(cx, root, base, out);
}

static ridge_chip *taken(void **state, const char *text, const ridge_chip *base)
{
    ridge_chip *chip = NULL;
    if (read_text(*state, text, base, &chip) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(*state));
    return chip;
}

static void assert_refused(void **state, const char *text, const char *message)
{
    ridge_chip *chip = NULL;
    const ridge_status got = read_text(*state, text, NULL, &chip);
    if (got != RIDGE_E_PARSE || strstr(ridge_ctx_message(*state), message) == NULL)
        fail_msg("status %d, message: %s", (int)got, ridge_ctx_message(*state));
    assert_null(chip);
}

#define LEAST "\"name\":\"x\"," CHIP_LEAST

static void the_least_chip_has_defaults(void **state)
{
    const ridge_chip *chip = taken(state, "{" LEAST "}", NULL);
    assert_string_equal(chip->name, "x");
    assert_int_equal(chip->kind, RIDGE_CHIP_GPU);
    assert_near(chip->peak_flops_per_s[RIDGE_DTYPE_BF16], 1e15, 0.0);
    assert_false(chip->has_peak[RIDGE_DTYPE_FP8]);
    assert_null(chip->aliases[0]);
    assert_int_equal(chip->cores, 0);
    assert_int_equal(chip->n_facts, 4);
    assert_in_range((int)(100 * chip->achievable.matmul[RIDGE_DTYPE_FP8]), 1, 100);
    assert_in_range((int)(100 * chip->achievable.attention), 1, 100);
    assert_in_range((int)(100 * chip->achievable.memory), 1, 100);
    assert_true(chip->achievable.launch_s > 0.0);
}

static void facts_are_listed_in_file_order(void **state)
{
    const ridge_chip *chip = taken(
        state,
        "{" LEAST ",\"cores\":" FACT(100) ",\"achievable\":{\"matmul\":{\"bf16\":{"
                                          "\"value\":0.7,\"source\":\"s\","
                                          "\"date\":\"2023\",\"note\":\"why\"}}}}",
        NULL);
    static const char *const keys[] = {"peak_flops_per_s.bf16",
                                       "vector_flops_per_s",
                                       "hbm_bytes",
                                       "hbm_bytes_per_s",
                                       "cores",
                                       "achievable.matmul.bf16"};
    assert_int_equal(chip->n_facts, RIDGE_COUNT_OF(keys));
    for (size_t i = 0; i < chip->n_facts; i++)
        assert_string_equal(chip->facts[i].key, keys[i]);
    assert_int_equal(chip->cores, 100);
    assert_string_equal(chip->facts[5].source, "s");
    assert_string_equal(chip->facts[5].date, "2023");
    assert_string_equal(chip->facts[5].note, "why");
    assert_null(chip->facts[4].note);
}

static void formats_without_a_matmul_share_take_that_of_bf16(void **state)
{
    const ridge_chip *chip = taken(
        state,
        "{" LEAST ",\"achievable\":{\"matmul\":{\"fp8\":" FACT(0.5) ",\"bf16\":" FACT(
            0.8) ",\"fp16\":" FACT(0.7) "},\"launch_s\":" FACT(2e-6) "}}",
        NULL);
    assert_near(chip->achievable.matmul[RIDGE_DTYPE_FP8], 0.5, 0.0);
    assert_near(chip->achievable.matmul[RIDGE_DTYPE_FP16], 0.7, 0.0);
    assert_near(chip->achievable.matmul[RIDGE_DTYPE_INT8], 0.8, 0.0);
    assert_near(chip->achievable.launch_s, 2e-6, 0.0);
    const ridge_chip *old =
        taken(state, "{" LEAST ",\"achievable\":{\"matmul\":{\"fp16\":" FACT(0.6) "}}}",
              NULL);
    assert_near(old->achievable.matmul[RIDGE_DTYPE_BF16], 0.6, 0.0);
}

static void a_variant_inherits_and_merges(void **state)
{
    const ridge_chip *base = taken(
        state,
        "{" LEAST
        ",\"aliases\":[\"y\"],\"l2_bytes\":" FACT(5e7) ",\"fast_bytes\":" FACT(
            3e7) ",\"fast_bytes_per_s\":" FACT(3e13) ",\"achievable\":{\"matmul\":{"
                                                     "\"bf16\":" FACT(
                                                         0.8) "},"
                                                              "\"memory\""
                                                              ":" FACT(0.9) "}}",
        NULL);
    const ridge_chip *chip =
        taken(state,
              "{\"name\":\"z\",\"base\":\"x\",\"hbm_bytes\":" FACT(
                  1.4e11) ",\"peak_flops_per_s\":{\"fp8\":" FACT(2e15) "},\"fast_"
                                                                       "bytes\":null,"
                                                                       "\"achievable\":"
                                                                       "{\"matmul\":{"
                                                                       "\"bf16\":" FACT(
                                                                           0.7) "}}}",
              base);
    assert_string_equal(chip->name, "z");
    assert_string_equal(chip->full_name, "Fixture");
    assert_null(chip->aliases[0]);
    assert_near(chip->hbm_bytes, 1.4e11, 0.0);
    assert_near(chip->l2_bytes, 5e7, 0.0);
    assert_near(chip->peak_flops_per_s[RIDGE_DTYPE_BF16], 1e15, 0.0);
    assert_near(chip->peak_flops_per_s[RIDGE_DTYPE_FP8], 2e15, 0.0);
    assert_near(chip->achievable.memory, 0.9, 0.0);
    /* The filling follows the variant's own bf16 share. */
    assert_near(chip->achievable.matmul[RIDGE_DTYPE_FP8], 0.7, 0.0);
    /* null takes a number away, and no other whose name begins alike. */
    assert_near(chip->fast_bytes, 0.0, 0.0);
    assert_near(chip->fast_bytes_per_s, 3e13, 0.0);
    assert_int_equal(chip->n_facts, base->n_facts);
    assert_near(base->hbm_bytes, 8e10, 0.0);
}

static void unknown_members_are_refused_with_the_nearest(void **state)
{
    assert_refused(state, "{" LEAST ",\"corse\":" FACT(1) "}", "cores");
    assert_refused(state,
                   "{" LEAST ",\"cores\":{\"value\":1,\"sorce\":\"a\","
                   "\"date\":\"2024\"}}",
                   "source");
    assert_refused(state, "{" LEAST ",\"achievable\":{\"matmull\":{}}}", "matmul");
    assert_refused(state,
                   "{" LEAST ",\"achievable\":{\"matmul\":{\"bf61\":" FACT(0.5) "}}}",
                   "bf16");
}

static void a_number_without_source_or_date_is_refused(void **state)
{
    assert_refused(state, "{" LEAST ",\"cores\":{\"value\":1,\"date\":\"2024\"}}",
                   "no \"source\"");
    assert_refused(state, "{" LEAST ",\"cores\":{\"value\":1,\"source\":\"a\"}}",
                   "no \"date\"");
    assert_refused(
        state, "{" LEAST ",\"cores\":{\"value\":1,\"source\":\"\",\"date\":\"2024\"}}",
        "empty source");
    assert_refused(state, "{" LEAST ",\"cores\":{\"source\":\"a\",\"date\":\"2024\"}}",
                   "no \"value\"");
    assert_refused(state, "{" LEAST ",\"cores\":132}", "a sourced number is wanted");
}

static void dates_are_years_or_months(void **state)
{
    static const char *const bad[] = {"24",      "2024-13", "2024-00", "2024-5",
                                      "20240-5", "2024/05", "May 24",  "1024"};
    char text[2048];
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++) {
        snprintf(text, sizeof text,
                 "{" LEAST ",\"cores\":{\"value\":1,\"source\":\"a\",\"date\":\"%s\"}}",
                 bad[i]);
        assert_refused(state, text, "write YYYY or YYYY-MM");
    }
    assert_non_null(taken(state,
                          "{" LEAST ",\"cores\":{\"value\":1,\"source\":\"a\","
                          "\"date\":\"2024-12\"}}",
                          NULL));
}

static void values_of_a_wrong_type_or_range_are_refused(void **state)
{
    assert_refused(state, "[]", "a chip is an object");
    assert_refused(state, "{" LEAST ",\"cores\":" FACT(1.5) "}", "whole number");
    assert_refused(state, "{" LEAST ",\"cores\":" FACT(0) "}", "cores");
    assert_refused(state, "{" LEAST ",\"cores\":" FACT(-1) "}", "cores");
    assert_refused(state, "{" LEAST ",\"cores\":" FACT(1e30) "}", "cores");
    assert_refused(state, "{" LEAST ",\"cores\":" FACT("12") "}", "expected a number");
    assert_refused(state, "{" LEAST ",\"achievable\":{\"memory\":" FACT(1.5) "}}",
                   "memory");
    assert_refused(state, "{" LEAST ",\"achievable\":[]}", "an object is wanted");
    assert_refused(state, "{" LEAST ",\"aliases\":\"y\"}", "an array of names");
    assert_refused(state, "{" LEAST ",\"aliases\":[\"a:b\"]}", "cannot be a name");
    assert_refused(state, "{" LEAST ",\"kind\":\"gpus\"}",
                   "none of tpu, gpu, accelerator, cpu");
    assert_refused(state, "{" LEAST ",\"year\":24}", "year");
}

static void missing_members_are_named(void **state)
{
    assert_refused(state, "{\"name\":\"x\"}", "full_name");
    assert_refused(state,
                   "{\"name\":\"x\",\"full_name\":\"X\",\"vendor\":\"A\",\"kind\":"
                   "\"gpu\",\"year\":2024,\"default_system\":\"p\"}",
                   "no \"vector_flops_per_s\"");
    assert_refused(state, "{" LEAST ",\"peak_flops_per_s\":{\"int8\":" FACT(1e15) "}}",
                   "16 bits or more");
}

static void complaints_name_file_and_line(void **state)
{
    assert_refused(state, "{" LEAST ",\n\n\"cores\":" FACT(0) "}", "x.json:3:");
}

/* The n-th allocation fails, n = 1, 2, ...: a status, and the ctx still works. */
static void short_memory_is_a_status(void **state)
{
    (void)state;
    ridge_status st = RIDGE_E_NOMEM;
    for (size_t budget = 64; st != RIDGE_OK && budget < (1u << 22); budget += 997) {
        ridge_ctx *cx = ridge_ctx_open_budget(budget);
        ridge_chip *chip = NULL;
        if (cx == NULL)
            continue;
        st = read_text(cx, "{" LEAST ",\"aliases\":[\"y\"]}", NULL, &chip);
        assert_true(st == RIDGE_OK || st == RIDGE_E_NOMEM);
        assert_true((st == RIDGE_OK) == (chip != NULL));
        ridge_ctx_close(cx);
    }
    assert_int_equal(st, RIDGE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_chip_has_defaults),
        cmocka_unit_test(facts_are_listed_in_file_order),
        cmocka_unit_test(formats_without_a_matmul_share_take_that_of_bf16),
        cmocka_unit_test(a_variant_inherits_and_merges),
        cmocka_unit_test(unknown_members_are_refused_with_the_nearest),
        cmocka_unit_test(a_number_without_source_or_date_is_refused),
        cmocka_unit_test(dates_are_years_or_months),
        cmocka_unit_test(values_of_a_wrong_type_or_range_are_refused),
        cmocka_unit_test(missing_members_are_named),
        cmocka_unit_test(complaints_name_file_and_line),
        cmocka_unit_test(short_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
