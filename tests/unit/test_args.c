/* Words of a command line. */
#include "args.h"

#include <string.h>

#include "near.h"

static const cli_option options[] = {{"on", "SLICE", "where"},
                                     {"batch", "TOKENS", "size"},
                                     {"rows", NULL, "each row"},
                                     {NULL, NULL, NULL}};

static const cli_verb verb = {.name = "train",
                              .synopsis = "MODEL",
                              .options = options,
                              .min_args = 1,
                              .max_args = 2,
                              .takes_knobs = true};

static int open_run(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    cli_run *run = ridge_new(ridge_ctx_arena(cx), cli_run, 1);
    if (!run)
        return -1;
    *run = (cli_run){.cx = cx, .verb = &verb, .has_colour = true};
    *state = run;
    return 0;
}

static int close_run(void **state)
{
    cli_run *run = *state;
    ridge_ctx_close(run->cx);
    return 0;
}

enum { WORDS_MOST = 80 };

/** Parse words parted by spaces. */
static ridge_status parse(cli_run *run, const char *line)
{
    const char *argv[WORDS_MOST];
    int argc = 0;
    ridge_str rest = ridge_str_of(line);
    while (rest.p && argc < WORDS_MOST)
        argv[argc++] =
            ridge_str_dup(ridge_ctx_arena(run->cx), ridge_str_cut(&rest, ' '));
    return cli_args_parse(run, argc, argv);
}

static void values_follow_or_are_joined(void **state)
{
    cli_run *run = *state;
    assert_int_equal(parse(run, "llama --on h100:8 --batch=4M --rows --json"),
                     RIDGE_OK);
    assert_string_equal(run->args[0], "llama");
    assert_string_equal(cli_option_text(run, "on"), "h100:8");
    assert_string_equal(cli_option_text(run, "batch"), "4M");
    assert_string_equal(cli_option_text(run, "rows"), "");
    assert_null(cli_option_text(run, "seq"));
    assert_true(run->is_json);
}

static void common_options_fill_the_run(void **state)
{
    cli_run *run = *state;
    assert_int_equal(parse(run, "m -o out.txt --html=p.html --data d --no-color"),
                     RIDGE_OK);
    assert_string_equal(run->out_path, "out.txt");
    assert_string_equal(run->html_path, "p.html");
    assert_string_equal(run->data_dir, "d");
    assert_false(run->has_colour);
    assert_int_equal(parse(run, "-oother"), RIDGE_OK);
    assert_string_equal(run->out_path, "other");
}

static void the_last_of_two_counts(void **state)
{
    cli_run *run = *state;
    assert_int_equal(parse(run, "m --on a --on b"), RIDGE_OK);
    assert_string_equal(cli_option_text(run, "on"), "b");
}

static void knobs_are_told_from_arguments(void **state)
{
    cli_run *run = *state;
    assert_int_equal(parse(run, "tp=8 ./a=b/config.json remat=full"), RIDGE_OK);
    assert_int_equal(run->n_knobs, 2);
    assert_string_equal(run->knobs[0].key, "tp");
    assert_string_equal(run->knobs[1].value, "full");
    assert_string_equal(run->args[0], "./a=b/config.json");
}

static void two_dashes_end_options(void **state)
{
    cli_run *run = *state;
    assert_int_equal(parse(run, "-- --json tp=8"), RIDGE_OK);
    assert_int_equal(run->n_args, 2);
    assert_string_equal(run->args[0], "--json");
    assert_false(run->is_json);
}

static void a_lone_dash_is_an_argument(void **state)
{
    cli_run *run = *state;
    assert_int_equal(parse(run, "-"), RIDGE_OK);
    assert_string_equal(run->args[0], "-");
}

static void mistakes_are_explained(void **state)
{
    static const struct {
        const char *line;
        const char *message;
    } cases[] = {
        {"m --bacth 4M", "unknown option --bacth: did you mean --batch?"},
        {"m --jsno", "unknown option --jsno: did you mean --json?"},
        {"m --zzzzzzzzzz", "unknown option --zzzzzzzzzz: see ridge train --help"},
        {"m -x", "unknown option -x: see ridge train --help"},
        {"m --on", "--on needs a value: --on SLICE"},
        {"m --on --json", "--on needs a value: --on SLICE"},
        {"m --on=", "--on needs a value: --on SLICE"},
        {"m -o", "-o needs a value: -o FILE"},
        {"m --rows=3", "--rows takes no value: leave out =3"},
        {"m tp=", "tp= has no value: write tp=VALUE"},
        {"m tp=2 dp=1 tp=4", "tp= is given twice, 2 and 4: leave one out"},
        {"a b c", "unexpected argument 'c': ridge train MODEL"},
        {"--json", "nothing to work on: ridge train MODEL"},
    };
    cli_run *run = *state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        run->n_args = run->n_knobs = 0;
        assert_int_equal(parse(run, cases[i].line), RIDGE_E_ARG);
        assert_string_equal(ridge_ctx_message(run->cx), cases[i].message);
    }
}

static void too_many_options_are_refused(void **state)
{
    cli_run *run = *state;
    ridge_buf line;
    ridge_buf_init(&line, ridge_ctx_arena(run->cx));
    ridge_buf_puts(&line, "m");
    for (int i = 0; i <= CLI_ARG_MAX; i++)
        ridge_buf_puts(&line, " --rows");
    assert_int_equal(parse(run, ridge_buf_text(&line)), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(run->cx), "more than 64"));
}

static void numbers_of_options_are_checked(void **state)
{
    cli_run *run = *state;
    double v = 0;
    assert_int_equal(parse(run, "m --batch 4M"), RIDGE_OK);
    assert_int_equal(cli_option_count(run, "batch", 1, &v), RIDGE_OK);
    assert_near(v, 4e6, 0);
    assert_int_equal(cli_option_count(run, "seq", 4096, &v), RIDGE_OK);
    assert_near(v, 4096, 0);
    assert_int_equal(parse(run, "--batch lots"), RIDGE_OK);
    assert_int_equal(cli_option_count(run, "batch", 1, &v), RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(run->cx),
                        "--batch 'lots' is not a count: write 4096, 4M or 15T");
    assert_int_equal(cli_option_bytes(run, "batch", 1, &v), RIDGE_E_ARG);
}

static const char *foreign(const char *name, const char *word)
{
    const cli_verb v = {.name = name};
    const char *here = cli_foreign_word(&v, ridge_str_of(word));
    return here == NULL ? "" : here;
}

static void words_of_other_tools_are_answered_with_ours(void **state)
{
    (void)state;
    assert_string_equal(foreign("serve", "ttft"), "--slo ttft=500ms");
    assert_string_equal(foreign("simulate", "output_len"), "--output 256");
    assert_string_equal(foreign("train", "tensor-model-parallel-size"),
                        "the knob tp=8");
    assert_string_equal(foreign("train", "gpus"), "--on h100:8x8, chip and shape");
    assert_string_equal(foreign("chips", "model"), "the model without an option");
    assert_string_equal(foreign("train", "ttft"), "");
    assert_string_equal(foreign("serve", "tt"), "");
    assert_string_equal(foreign("serve", "ttft "), "");
    assert_string_equal(foreign("serve", ""), "");
    assert_string_equal(cli_foreign_verb(ridge_str_of("pretrain")), "train");
    assert_null(cli_foreign_verb(ridge_str_of("pre")));
}

static void help_is_seen_before_two_dashes(void **state)
{
    (void)state;
    const char *const asked[] = {"m", "--help"};
    const char *const ended[] = {"--", "--help"};
    assert_true(cli_args_ask_help(2, asked));
    assert_false(cli_args_ask_help(2, ended));
}

int main(void)
{
#define WITH_RUN(test) cmocka_unit_test_setup_teardown(test, open_run, close_run)
    const struct CMUnitTest tests[] = {
        WITH_RUN(values_follow_or_are_joined),
        WITH_RUN(common_options_fill_the_run),
        WITH_RUN(the_last_of_two_counts),
        WITH_RUN(knobs_are_told_from_arguments),
        WITH_RUN(two_dashes_end_options),
        WITH_RUN(a_lone_dash_is_an_argument),
        WITH_RUN(mistakes_are_explained),
        WITH_RUN(too_many_options_are_refused),
        WITH_RUN(numbers_of_options_are_checked),
        cmocka_unit_test(words_of_other_tools_are_answered_with_ours),
        cmocka_unit_test(help_is_seen_before_two_dashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
