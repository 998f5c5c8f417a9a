/*
 * The table of verbs, and the way from the words of a command line to one of them.
 */
#include "args.h"
#include "verb_table.h"

#include <stdlib.h>
#include <string.h>

static const cli_verb *const verbs[] = {
    &cli_verb_chips,    &cli_verb_model,     &cli_verb_roofline, &cli_verb_collective,
    &cli_verb_shard,    &cli_verb_size,      &cli_verb_train,    &cli_verb_serve,
    &cli_verb_run,      &cli_verb_calibrate, &cli_verb_explain,  &cli_verb_simulate,
    &cli_verb_validate, &cli_verb_export,    &cli_verb_profile,  &cli_verb_hlo,
    &cli_verb_ui,
};
static const cli_verb_table verb_table = {verbs, RIDGE_COUNT_OF(verbs)};

static int run_verb(cli_run *run, int argc, const char *const *argv)
{
    if (cli_args_ask_help(argc, argv)) {
        ridge_buf text;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
        cli_help_write_verb(run->verb, &text);
        return cli_emit_text(run, &text);
    }
    run->has_colour = run->can_colour;
    if (cli_args_parse(run, argc, argv) != RIDGE_OK)
        return cli_fail(run);
    if (run->out_path)
        run->has_colour = false;
    if (run->out && run->verb->is_live) {
        const ridge_status st =
            ridge_fail(run->cx, RIDGE_E_ARG,
                       "%s prints while it works: call the program", run->verb->name);
        return st == RIDGE_OK ? EXIT_SUCCESS : cli_fail(run);
    }
    return run->verb->run(run);
}

/* ---- words that are no verbs: they tell of the program itself -------------------- */

typedef ridge_status word_fn(cli_run *run, const char *argument, ridge_buf *out);

static ridge_status write_help(cli_run *run, const char *argument, ridge_buf *out)
{
    const cli_verb *verb = NULL;
    if (!argument) {
        cli_help_write(&verb_table, out);
        return RIDGE_OK;
    }
    RIDGE_TRY(cli_verb_find(run->cx, &verb_table, argument, &verb));
    cli_help_write_verb(verb, out);
    return RIDGE_OK;
}

static ridge_status write_man(cli_run *run, const char *argument, ridge_buf *out)
{
    const cli_verb *verb = NULL;
    if (!argument) {
        cli_man_write(&verb_table, out);
        return RIDGE_OK;
    }
    RIDGE_TRY(cli_verb_find(run->cx, &verb_table, argument, &verb));
    cli_man_write_verb(verb, out);
    return RIDGE_OK;
}

static ridge_status write_version(cli_run *run, const char *argument, ridge_buf *out)
{
    if (argument) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "unexpected argument '%s': ridge --version stands alone",
                          argument);
    }
    ridge_buf_puts(out, "ridge " RIDGE_VERSION "\n");
    return RIDGE_OK;
}

static ridge_status write_completion(cli_run *run, const char *argument, ridge_buf *out)
{
    return cli_completion_write(run->cx, &verb_table, argument ? argument : "", out);
}

/** One name a line, for completions and scripts. */
static ridge_status write_names(cli_run *run, const char *argument, ridge_buf *out)
{
    const ridge_catalog *catalog = NULL;
    const ridge_library *library = NULL;
    if (argument && strcmp(argument, "chips") == 0) {
        RIDGE_TRY(cli_catalog(run, &catalog));
        for (size_t i = 0; i < ridge_catalog_chip_count(catalog); i++)
            ridge_buf_printf(out, "%s\n", ridge_catalog_chip(catalog, i)->name);
    } else if (argument && strcmp(argument, "models") == 0) {
        RIDGE_TRY(cli_library(run, &library));
        for (size_t i = 0; i < ridge_library_count(library); i++)
            ridge_buf_printf(out, "%s\n", ridge_library_name(library, i));
    } else if (argument && strcmp(argument, "verbs") == 0) {
        for (size_t i = 0; i < verb_table.n; i++)
            ridge_buf_printf(out, "%s\n", verb_table.verbs[i]->name);
    } else if (argument && strcmp(argument, "table") == 0) {
        return cli_verbs_write_json(run->cx, &verb_table, out);
    } else {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "names of what? write chips, models, verbs or table");
    }
    return RIDGE_OK;
}

static word_fn *find_word(const char *word)
{
    static const struct {
        const char *word;
        word_fn *write;
    } words[] = {{"help", write_help},
                 {"--help", write_help},
                 {"-h", write_help},
                 {"version", write_version},
                 {"--version", write_version},
                 {"man", write_man},
                 {"completion", write_completion},
                 {"names", write_names}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(words); i++) {
        if (strcmp(words[i].word, word) == 0)
            return words[i].write;
    }
    return NULL;
}

static int run_word(cli_run *run, word_fn *write, int argc, const char *const *argv)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (argc > 1) {
        ridge_status st =
            ridge_fail(run->cx, RIDGE_E_ARG,
                       "unexpected argument '%s': see ridge --help", argv[1]);
        return st == RIDGE_OK ? EXIT_SUCCESS : cli_fail(run);
    }
    if (write(run, argc ? argv[0] : NULL, &text) != RIDGE_OK)
        return cli_fail(run);
    return cli_emit_text(run, &text);
}

int cli_run_line(cli_run *run, int argc, const char *const *argv)
{
    if (argc == 0) {
        ridge_status st = ridge_fail(run->cx, RIDGE_E_ARG, "no verb: see ridge --help");
        return st == RIDGE_OK ? EXIT_SUCCESS : cli_fail(run);
    }
    word_fn *write = find_word(argv[0]);
    if (write)
        return run_word(run, write, argc - 1, argv + 1);
    if (cli_verb_find(run->cx, &verb_table, argv[0], &run->verb) != RIDGE_OK)
        return cli_fail(run);
    return run_verb(run, argc - 1, argv + 1);
}
