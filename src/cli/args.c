/*
 * Reading the words after a verb into a cli_run. What the words mean to the verb is
 * the verb's affair.
 */
#include "args.h"

#include <string.h>

/* clang-format off */
const cli_option cli_common_options[] = {
    {"json", NULL, "print one JSON object instead of text"},
    {"html", "FILE", "also write a self-contained page with the tables and charts"},
    {"o", "FILE", "write the result to FILE instead of stdout"},
    {"data", "DIR", "read chips, systems, prices and models of DIR over the built-in"},
    {"no-colour", NULL, "plain text even on a terminal (NO_COLOR does the same)"},
    {"help", NULL, "say how the verb is used"},
    {NULL, NULL, NULL}};
/* clang-format on */

typedef struct args_reader {
    cli_run *run;
    int argc;
    const char *const *argv;
    int at;
} args_reader;

static const cli_option *find_option(const cli_option *options, ridge_str name)
{
    for (; options && options->name; options++) {
        if (ridge_str_is(name, options->name))
            return options;
    }
    return NULL;
}

bool cli_option_is_hidden(const cli_verb *verb, const cli_option *common)
{
    return verb && find_option(verb->options, ridge_str_of(common->name)) != NULL;
}

/** @param name   without its dashes. @param dashes  "-" or "--" */
static ridge_status fail_unknown(const cli_run *run, ridge_str name, const char *dashes)
{
    enum { NAME_MOST = 128 };
    const char *names[NAME_MOST];
    size_t n = 0;
    for (const cli_option *o = run->verb->options; o && o->name && n < NAME_MOST; o++)
        names[n++] = o->name;
    for (const cli_option *o = cli_common_options; o->name && n < NAME_MOST; o++)
        names[n++] = o->name;
    const char *wrong = ridge_str_dup(ridge_ctx_arena(run->cx), name);
    const char *here = cli_foreign_word(run->verb, name);
    const char *near[1];
    if (!wrong)
        return ridge_fail_nomem(run->cx);
    if (dashes[1] && here) {
        return ridge_fail(run->cx, RIDGE_E_ARG, "unknown option %s%s: here it is %s",
                          dashes, wrong, here);
    }
    if (dashes[1] && ridge_nearest_names(wrong, names, n, 1, near)) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "unknown option %s%s: did you mean %s%s?", dashes, wrong,
                          near[0][1] ? "--" : "-", near[0]);
    }
    return ridge_fail(run->cx, RIDGE_E_ARG, "unknown option %s%s: see ridge %s --help",
                      dashes, wrong, run->verb->name);
}

static ridge_status push_knob(const cli_run *run, cli_knob *knobs, int *n,
                              const char *key, const char *value)
{
    if (*n == CLI_ARG_MAX) {
        return ridge_fail(run->cx, RIDGE_E_ARG, "more than %d options: leave some out",
                          CLI_ARG_MAX);
    }
    knobs[(*n)++] = (cli_knob){key, value};
    return RIDGE_OK;
}

static ridge_status store_option(cli_run *run, const cli_option *option,
                                 const char *value)
{
    if (option != find_option(cli_common_options, ridge_str_of(option->name)))
        return push_knob(run, run->options, &run->n_options, option->name, value);
    if (strcmp(option->name, "json") == 0) {
        run->is_json = true;
    } else if (strcmp(option->name, "html") == 0) {
        run->html_path = value;
    } else if (strcmp(option->name, "o") == 0) {
        run->out_path = value;
    } else if (strcmp(option->name, "data") == 0) {
        run->data_dir = value;
    } else if (strcmp(option->name, "no-colour") == 0) {
        run->has_colour = false;
    }
    return RIDGE_OK;
}

static const char *dashes_of(const cli_option *option)
{
    return option->name[1] ? "--" : "-";
}

/** The value after an option: what follows "=", or the next word. */
static ridge_status take_value(args_reader *reader, const cli_option *option,
                               ridge_str attached, const char **out)
{
    const cli_run *run = reader->run;
    if (!option->value && attached.p) {
        return ridge_fail(run->cx, RIDGE_E_ARG, "%s%s takes no value: leave out =%s",
                          dashes_of(option), option->name, attached.p);
    }
    if (!option->value) {
        *out = "";
        return RIDGE_OK;
    }
    const char *next = reader->at < reader->argc ? reader->argv[reader->at] : NULL;
    bool is_option = next && next[0] == '-' && next[1] == '-';
    if (!attached.p && next && !is_option) {
        attached = ridge_str_of(next);
        reader->at++;
    }
    if (!attached.p || attached.n == 0) {
        return ridge_fail(run->cx, RIDGE_E_ARG, "%s%s needs a value: %s%s %s",
                          dashes_of(option), option->name, dashes_of(option),
                          option->name, option->value);
    }
    *out = attached.p;
    return RIDGE_OK;
}

/** @param word  "--name", "--name=value", "-o" or "-oFILE" */
static ridge_status read_option(args_reader *reader, const char *word)
{
    cli_run *run = reader->run;
    bool is_long = word[1] == '-';
    ridge_str rest = ridge_str_of(word + (is_long ? 2 : 1));
    ridge_str name = rest;
    if (is_long) {
        name = ridge_str_cut(&rest, '=');
    } else {
        name.n = 1;
        rest = rest.n > 1 ? (ridge_str){rest.p + 1, rest.n - 1} : (ridge_str){NULL, 0};
    }
    if (ridge_str_is(name, "no-color"))
        name = ridge_str_of("no-colour");
    const cli_option *option = find_option(run->verb->options, name);
    if (!option)
        option = find_option(cli_common_options, name);
    if (!option || is_long != (option->name[1] != '\0')) {
        return fail_unknown(run, is_long ? name : ridge_str_of(word + 1),
                            is_long ? "--" : "-");
    }
    const char *value = NULL;
    RIDGE_TRY(take_value(reader, option, rest, &value));
    return store_option(run, option, value);
}

/** Whether a word is key=value with a plain key; a path such as ./a=b is not. */
static bool is_knob(const char *word)
{
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_-.");
    return n > 0 && word[0] != '.' && word[n] == '=';
}

static ridge_status read_knob(cli_run *run, const char *word)
{
    ridge_str value = ridge_str_of(word);
    ridge_str key = ridge_str_cut(&value, '=');
    const char *copy = ridge_str_dup(ridge_ctx_arena(run->cx), key);
    if (!copy)
        return ridge_fail_nomem(run->cx);
    if (value.n == 0) {
        return ridge_fail(run->cx, RIDGE_E_ARG, "%s= has no value: write %s=VALUE",
                          copy, copy);
    }
    for (int i = 0; i < run->n_knobs; i++) {
        if (strcmp(run->knobs[i].key, copy) == 0) {
            return ridge_fail(run->cx, RIDGE_E_ARG,
                              "%s= is given twice, %s and %s: leave one out", copy,
                              run->knobs[i].value, value.p);
        }
    }
    return push_knob(run, run->knobs, &run->n_knobs, copy, value.p);
}

static bool has_ending(const char *word, const char *ending)
{
    const size_t n = strlen(word);
    const size_t m = strlen(ending);
    return n > m && strcmp(word + n - m, ending) == 0;
}

static ridge_status read_argument(cli_run *run, const char *word)
{
    if (run->n_args < run->verb->max_args && run->n_args < CLI_ARG_MAX) {
        run->args[run->n_args++] = word;
        return RIDGE_OK;
    }
    if ((has_ending(word, ".csv") || has_ending(word, ".jsonl") ||
         has_ending(word, ".gz")) &&
        find_option(run->verb->options, ridge_str_of("requests")))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "unexpected argument '%s': a file of requests goes behind "
                          "--requests",
                          word);
    if (strchr(word, ':') != NULL &&
        find_option(run->verb->options, ridge_str_of("on")))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "unexpected argument '%s': a slice goes behind --on", word);
    return ridge_fail(run->cx, RIDGE_E_ARG, "unexpected argument '%s': ridge %s %s",
                      word, run->verb->name, run->verb->synopsis);
}

ridge_status cli_args_parse(cli_run *run, int argc, const char *const *argv)
{
    args_reader reader = {run, argc, argv, 0};
    bool is_ended = false;
    while (reader.at < argc) {
        const char *word = argv[reader.at++];
        if (!is_ended && strcmp(word, "--") == 0) {
            is_ended = true;
        } else if (!is_ended && word[0] == '-' && word[1]) {
            RIDGE_TRY(read_option(&reader, word));
        } else if (!is_ended && run->verb->takes_knobs && is_knob(word)) {
            RIDGE_TRY(read_knob(run, word));
        } else {
            RIDGE_TRY(read_argument(run, word));
        }
    }
    if (run->n_args < run->verb->min_args) {
        return ridge_fail(run->cx, RIDGE_E_ARG, "%s: ridge %s %s",
                          run->n_args ? "an argument is missing" : "nothing to work on",
                          run->verb->name, run->verb->synopsis);
    }
    return RIDGE_OK;
}

bool cli_args_ask_help(int argc, const char *const *argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}
