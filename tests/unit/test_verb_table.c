/* What is written of the verbs: help, man pages, completions. */
#include "verb_table.h"

#include <string.h>

#include "near.h"

static const cli_option options[] = {{"on", "SLICE", "where it runs"},
                                     {"rows", NULL, "each row's own -line"},
                                     {NULL, NULL, NULL}};
static const cli_verb chips = {.name = "chips",
                               .summary = "what is known",
                               .synopsis = "[CHIP ...]",
                               .detail = ".first\nsecond \\ line\n\n  indented",
                               .example = "ridge chips h100"};
static const cli_verb train = {.name = "train",
                               .summary = "the best layout",
                               .synopsis = "MODEL",
                               .detail = "",
                               .example = "ridge train llama",
                               .options = options};
static const cli_verb *const verbs[] = {&chips, &train};
static const cli_verb_table table = {verbs, 2};

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state ? 0 : -1;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static void verbs_are_found_or_suggested(void **state)
{
    ridge_ctx *cx = *state;
    const cli_verb *verb = NULL;
    assert_int_equal(cli_verb_find(cx, &table, "train", &verb), RIDGE_OK);
    assert_ptr_equal(verb, &train);
    assert_int_equal(cli_verb_find(cx, &table, "trian", &verb), RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx),
                        "unknown verb 'trian': did you mean train?");
    assert_int_equal(cli_verb_find(cx, &table, "zzzzzzzz", &verb), RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx),
                        "unknown verb 'zzzzzzzz': see ridge --help");
}

static void help_lists_options_and_example(void **state)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(*state));
    cli_help_write_verb(&train, &out);
    const char *text = ridge_buf_text(&out);
    assert_non_null(strstr(text, "Usage: ridge train MODEL [OPTIONS]\n"));
    assert_non_null(strstr(text, "  --on SLICE          where it runs\n"));
    assert_non_null(strstr(text, "  -o FILE "));
    assert_non_null(strstr(text, "Example:\n  ridge train llama\n"));
}

static void help_lists_verbs(void **state)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(*state));
    cli_help_write(&table, &out);
    assert_non_null(
        strstr(ridge_buf_text(&out), "  train               the best layout\n"));
    assert_non_null(strstr(ridge_buf_text(&out), "  ridge chips h100\n"));
}

static void man_pages_escape_what_roff_reads(void **state)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(*state));
    cli_man_write_verb(&chips, &out);
    const char *text = ridge_buf_text(&out);
    assert_non_null(strstr(text, ".TH RIDGE\\-CHIPS 1"));
    assert_non_null(
        strstr(text, "\n\\&.first\nsecond \\e line\n.PP\n.br\n  indented\n"));
    ridge_buf_init(&out, ridge_ctx_arena(*state));
    cli_man_write_verb(&train, &out);
    assert_non_null(strstr(ridge_buf_text(&out), "\\fB\\-\\-on SLICE\\fR\nwhere"));
    assert_non_null(strstr(ridge_buf_text(&out), "each row's own \\-line"));
}

static void completions_name_verbs_and_options(void **state)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(shells); i++) {
        ridge_buf out;
        ridge_buf_init(&out, ridge_ctx_arena(*state));
        assert_int_equal(cli_completion_write(*state, &table, shells[i], &out),
                         RIDGE_OK);
        assert_non_null(strstr(ridge_buf_text(&out), "train"));
        assert_non_null(strstr(ridge_buf_text(&out), "rows"));
        assert_non_null(strstr(ridge_buf_text(&out), "ridge names "));
    }
}

static void unknown_shells_are_refused(void **state)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(*state));
    assert_int_equal(cli_completion_write(*state, &table, "csh", &out), RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(*state),
                        "no completion for 'csh': write bash, zsh or fish");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verbs_are_found_or_suggested),
        cmocka_unit_test(help_lists_options_and_example),
        cmocka_unit_test(help_lists_verbs),
        cmocka_unit_test(man_pages_escape_what_roff_reads),
        cmocka_unit_test(completions_name_verbs_and_options),
        cmocka_unit_test(unknown_shells_are_refused),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
