/* Software stacks: members, bases, factors by chip, and the sources that name them. */
#include "hardware_fixture.h"
#include "near.h"

#include "ridge/hardware_stack.h"

#include <string.h>

#define TEXT(path, text)                                                               \
    {                                                                                  \
        path, text, sizeof text - 1                                                    \
    }

static const char plain_text[] =
    "{\"name\":\"plain\",\"full_name\":\"Plain\",\"runs\":[\"Plain paper\"],"
    "\"stream_passes\":" FACT(2.5) ",\"attention_time\":{\"gpu\":" FACT(2) "}}";
static const char later_text[] =
    "{\"name\":\"later\",\"full_name\":\"Later\",\"base\":\"plain\","
    "\"told_on\":[\"gpu-x\"],\"runs\":[\"Plain paper, version "
    "2\"],\"attention\":\"unfused\","
    "\"practice\":{\"sp\":0,\"remat\":3},\"has_half_gradients\":true,"
    "\"attention_time\":{\"gpu-x\":" FACT(3) "}}";

static const ridge_catalog *open_catalog(ridge_ctx *cx)
{
    /* A name may hold no comma. */
    static char later[sizeof later_text];
    memcpy(later, later_text, sizeof later);
    *strchr(strstr(later, "Plain paper,"), ',') = ';';
    const ridge_embedded files[] = {TEXT("stacks/plain.json", plain_text),
                                    {"stacks/later.json", later, sizeof later - 1}};
    const ridge_embedded_set set = {files, 2};
    const ridge_catalog *catalog = NULL;
    assert_int_equal(ridge_catalog_open_data(cx, &set, NULL, &catalog), RIDGE_OK);
    return catalog;
}

static const ridge_stack *stack_of(ridge_ctx *cx, const ridge_catalog *catalog,
                                   const char *name)
{
    const ridge_stack *stack = NULL;
    if (ridge_stack_find(cx, catalog, name, &stack) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return stack;
}

static void a_variant_keeps_what_it_does_not_say(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_catalog *c = open_catalog(cx);
    const ridge_stack *later = stack_of(cx, c, "LATER");
    assert_near(later->stream_passes, 2.5, 0);
    assert_int_equal(later->attention, RIDGE_ATTENTION_UNFUSED);
    assert_true(later->has_half_gradients && !later->has_tp_overlap);
    assert_int_equal(later->practice.has_sp, 0);
    assert_int_equal(later->practice.zero_stage, -1);
    assert_int_equal(later->practice.remat, 3);
    assert_int_equal(later->attention_time.n, 2);
    ridge_ctx_close(cx);
}

static void a_factor_is_of_a_chip_and_its_variants(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_stack *later = stack_of(cx, open_catalog(cx), "later");
    const struct {
        const char *chip;
        double factor;
    } cases[] = {{"gpu", 2},        {"gpu-80gb", 2}, {"gpu-x", 3},
                 {"gpu-x-pcie", 3}, {"gpu2", 1},     {"other", 1}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const ridge_chip chip = {.name = cases[i].chip};
        assert_near(ridge_stack_factor_of(&later->attention_time, &chip),
                    cases[i].factor, 0);
    }
    ridge_ctx_close(cx);
}

static void the_longest_word_of_a_title_decides(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_catalog *c = open_catalog(cx);
    assert_string_equal(ridge_stack_of_run(c, NULL, "The Plain paper of 2020")->name,
                        "plain");
    assert_string_equal(ridge_stack_of_run(c, NULL, "Plain paper; version 2")->name,
                        "later");
    assert_null(ridge_stack_of_run(c, NULL, "Another paper"));
    ridge_ctx_close(cx);
}

static void a_word_means_a_stack_where_it_was_told_of(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_catalog *c = open_catalog(cx);
    const ridge_chip x = {.name = "gpu-x"}, other = {.name = "gpu-y"};
    const char *title = "Plain paper; version 2";
    assert_string_equal(ridge_stack_of_run(c, &x, title)->name, "later");
    assert_string_equal(ridge_stack_of_run(c, &other, title)->name, "plain");
    ridge_ctx_close(cx);
}

static void words_of_what_runs_elsewhere_do_not_count(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_catalog *c = NULL;
    assert_int_equal(ridge_catalog_open(cx, NULL, &c), RIDGE_OK);
    const ridge_chip gpu = {.name = "h100", .vendor = "NVIDIA"};
    const ridge_chip tpu = {.name = "v5p", .vendor = "Google"};
    assert_string_equal(ridge_stack_of_run(c, &gpu, "MaxText")->name, "xla-gpu");
    assert_string_equal(ridge_stack_of_run(c, &tpu, "MaxText")->name, "xla-tpu");
    ridge_ctx_close(cx);
}

static void the_usual_stack_is_of_the_vendor(void **state)
{
    static const struct {
        const char *vendor, *usual, *sharded;
    } rows[] = {{"NVIDIA", "megatron-core", "fsdp-eager"},
                {"Google", "xla-tpu", "xla-tpu"},
                {"AMD", "primus", "primus"}};
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_catalog *c = NULL;
    assert_int_equal(ridge_catalog_open(cx, NULL, &c), RIDGE_OK);
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const ridge_chip chip = {.name = "chip", .vendor = rows[i].vendor};
        assert_string_equal(ridge_stack_usual(c, &chip, false)->name, rows[i].usual);
        assert_string_equal(ridge_stack_usual(c, &chip, true)->name, rows[i].sharded);
    }
    /* named before the vendor's */
    const ridge_chip old = {.name = "v100-32gb", .vendor = "NVIDIA"};
    assert_string_equal(ridge_stack_usual(c, &old, false)->name, "megatron-2021");
    assert_string_equal(ridge_stack_usual(c, &old, true)->name, "megatron-2021");
    const ridge_chip own = {.name = "chip", .vendor = "this machine"};
    assert_null(ridge_stack_usual(c, &own, false));
    ridge_ctx_close(cx);
}

static void wrong_files_say_what_is_wrong(void **state)
{
    (void)state;
    const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"name\":\"a\",\"full_name\":\"A\",\"passes\":1}", "passes"},
        {"{\"name\":\"a\",\"full_name\":\"A\",\"attention\":\"flsh\"}", "flash"},
        {"{\"name\":\"a\",\"full_name\":\"A\",\"stream_passes\":2}", "sourced number"},
        {"{\"name\":\"a\",\"full_name\":\"A\",\"practice\":{\"zero\":4}}", "practice"},
        {"{\"name\":\"a\",\"full_name\":\"A\",\"dispatches_once\":1}", "true or false"},
        {"{\"name\":\"a\",\"full_name\":\"A\",\"matmul_time\":[]}", "object of chips"},
        {"{\"name\":\"a\",\"full_name\":\"A\",\"base\":\"b\"}", "unknown base"},
        {"{\"name\":\"a\"}", "full_name"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_ctx *cx = ridge_ctx_open();
        const ridge_embedded file = {"stacks/a.json", cases[i].text,
                                     strlen(cases[i].text)};
        const ridge_embedded_set set = {&file, 1};
        const ridge_catalog *catalog = NULL;
        assert_int_equal(ridge_catalog_open_data(cx, &set, NULL, &catalog),
                         RIDGE_E_PARSE);
        if (strstr(ridge_ctx_message(cx), cases[i].message) == NULL)
            fail_msg("%s", ridge_ctx_message(cx));
        ridge_ctx_close(cx);
    }
}

static void an_unknown_stack_is_answered_with_the_nearest(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_stack *stack = NULL;
    assert_int_equal(ridge_stack_find(cx, open_catalog(cx), "plane", &stack),
                     RIDGE_E_NOTFOUND);
    assert_non_null(strstr(ridge_ctx_message(cx), "plain"));
    ridge_ctx_close(cx);
}

static void built_in_stacks_can_be_read(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_catalog *c = NULL;
    assert_int_equal(ridge_catalog_open(cx, NULL, &c), RIDGE_OK);
    assert_true(ridge_catalog_stack_count(c) > 5);
    for (size_t i = 0; i < ridge_catalog_stack_count(c); i++)
        assert_non_null(ridge_catalog_stack(c, i));
    assert_null(ridge_catalog_stack(c, ridge_catalog_stack_count(c)));
    assert_string_equal(ridge_stack_of_run(c, NULL, "torchtitan on H100")->name,
                        "compiled");
    ridge_ctx_close(cx);
}

static void words_of_a_run_tell_a_variant(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_catalog *c = NULL;
    (void)state;
    assert_int_equal(ridge_catalog_open(cx, NULL, &c), RIDGE_OK);
    const ridge_stack *compiled = stack_of(cx, c, "compiled");
    const ridge_stack *old = stack_of(cx, c, "megatron-deepspeed");
    assert_string_equal(
        ridge_stack_variant_of_run(c, compiled, NULL, "Table 3; eager")->name,
        "compiled-off");
    assert_ptr_equal(ridge_stack_variant_of_run(c, compiled, NULL, "Table 3; compile"),
                     compiled);
    assert_string_equal(
        ridge_stack_variant_of_run(c, old, NULL, "gpt2.md line 115 (Megatron)")->name,
        "megatron-2021-fp16");
    assert_ptr_equal(ridge_stack_variant_of_run(
                         c, old, NULL, "gpt2.md line 213 (Megatron + Deepspeed)"),
                     old);
    const ridge_stack *core = stack_of(cx, c, "megatron-core");
    const ridge_chip b300 = {.name = "b300", .vendor = "NVIDIA"};
    assert_string_equal(
        ridge_stack_variant_of_run(c, core, &b300, "container 26.04; GPT-OSS 120B")
            ->name,
        "megatron-core-all-to-all");
    assert_string_equal(
        ridge_stack_variant_of_run(c, core, &b300, "GPT_OSS_120B; container 26.04")
            ->name,
        "megatron-core-all-to-all");
    assert_string_equal(
        ridge_stack_variant_of_run(c, core, &b300, "container 26.06; Nemotron 3 Nano")
            ->name,
        "megatron-core-2026-hybrid");
    assert_null(stack_of(cx, c, "internevo")->variant_of);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variant_keeps_what_it_does_not_say),
        cmocka_unit_test(a_factor_is_of_a_chip_and_its_variants),
        cmocka_unit_test(the_longest_word_of_a_title_decides),
        cmocka_unit_test(a_word_means_a_stack_where_it_was_told_of),
        cmocka_unit_test(words_of_what_runs_elsewhere_do_not_count),
        cmocka_unit_test(the_usual_stack_is_of_the_vendor),
        cmocka_unit_test(words_of_a_run_tell_a_variant),
        cmocka_unit_test(wrong_files_say_what_is_wrong),
        cmocka_unit_test(an_unknown_stack_is_answered_with_the_nearest),
        cmocka_unit_test(built_in_stacks_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
