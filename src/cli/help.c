/*
 * Help texts from the verb table.
 */
#include "args.h"
#include "verb_table.h"

#include <string.h>

enum { HELP_COLUMN = 22 };

ridge_status cli_verb_find(ridge_ctx *cx, const cli_verb_table *table, const char *name,
                           const cli_verb **out)
{
    enum { VERB_MOST = 64 };
    const char *names[VERB_MOST];
    size_t n = 0;
    for (size_t i = 0; i < table->n && n < VERB_MOST; i++) {
        if (strcmp(table->verbs[i]->name, name) == 0) {
            *out = table->verbs[i];
            return RIDGE_OK;
        }
        names[n++] = table->verbs[i]->name;
    }
    const char *here = cli_foreign_verb(ridge_str_of(name));
    if (here != NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "unknown verb '%s': here it is ridge %s",
                          name, here);
    const char *near = ridge_suggestion(ridge_ctx_arena(cx), name, names, n);
    return ridge_fail(cx, RIDGE_E_ARG, "unknown verb '%s': %s", name,
                      near && *near ? near : "see ridge --help");
}

void cli_option_write(const cli_option *option, ridge_buf *out)
{
    ridge_buf_printf(out, "%s%s", option->name[1] ? "--" : "-", option->name);
    if (option->value)
        ridge_buf_printf(out, " %s", option->value);
}

static void pad_to(ridge_buf *out, size_t from, size_t column)
{
    size_t used = out->n - from;
    ridge_buf_pad(out, ' ', used + 2 > column ? 2 : column - used);
}

static void write_options(const char *title, const cli_option *options,
                          const cli_verb *hidden_by, ridge_buf *out)
{
    if (!options || !options->name)
        return;
    ridge_buf_printf(out, "\n%s\n", title);
    for (; options->name; options++) {
        if (cli_option_is_hidden(hidden_by, options))
            continue;
        size_t start = out->n;
        ridge_buf_puts(out, "  ");
        cli_option_write(options, out);
        pad_to(out, start, HELP_COLUMN);
        ridge_buf_printf(out, "%s\n", options->help);
    }
}

void cli_help_write_verb(const cli_verb *verb, ridge_buf *out)
{
    ridge_buf_printf(out, "ridge %s: %s\n\nUsage: ridge %s %s%s[OPTIONS]\n", verb->name,
                     verb->summary, verb->name, verb->synopsis,
                     *verb->synopsis ? " " : "");
    if (verb->detail && *verb->detail)
        ridge_buf_printf(out, "\n%s\n", verb->detail);
    write_options("Options:", verb->options, NULL, out);
    write_options("Common options:", cli_common_options, verb, out);
    ridge_buf_printf(out, "\nExample:\n  %s\n", verb->example);
}

void cli_help_write(const cli_verb_table *table, ridge_buf *out)
{
    ridge_buf_puts(out, "ridge: plan, predict and explain large models on TPUs and "
                        "GPUs\n\nUsage: ridge VERB [ARGS] [OPTIONS]\n\nVerbs:\n");
    for (size_t i = 0; i < table->n; i++) {
        size_t start = out->n;
        ridge_buf_printf(out, "  %s", table->verbs[i]->name);
        pad_to(out, start, HELP_COLUMN);
        ridge_buf_printf(out, "%s\n", table->verbs[i]->summary);
    }
    ridge_buf_puts(out,
                   "\n  help VERB           say how a verb is used\n"
                   "  completion SHELL    a completion script for bash, zsh or fish\n");
    write_options("Common options:", cli_common_options, NULL, out);
    ridge_buf_puts(out, "\nExamples:\n");
    for (size_t i = 0; i < table->n; i++)
        ridge_buf_printf(out, "  %s\n", table->verbs[i]->example);
    ridge_buf_puts(out, "\nExit status: 0 success, 1 the answer is no (nothing fits), "
                        "2 bad usage or input.\n");
}
