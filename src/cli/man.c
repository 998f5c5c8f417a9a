/*
 * Man pages as roff, from the verb table; docs/man holds what this writes.
 */
#include "args.h"
#include "verb_table.h"

#include <ctype.h>

/** Text with what roff would interpret escaped; lines keep their ends. */
static void write_roff(ridge_buf *out, const char *text)
{
    bool is_line_start = true;
    for (; *text; text++) {
        if (is_line_start && (*text == '.' || *text == '\''))
            ridge_buf_puts(out, "\\&");
        if (*text == '\\') {
            ridge_buf_puts(out, "\\e");
        } else if (*text == '-') {
            ridge_buf_puts(out, "\\-");
        } else {
            ridge_buf_add(out, (ridge_str){text, 1});
        }
        is_line_start = *text == '\n';
    }
}

static void write_heading(ridge_buf *out, const char *verb_name, const char *summary)
{
    ridge_buf_puts(out, ".\\\" written by `ridge man`; edit the verb's table instead\n"
                        ".TH RIDGE");
    if (verb_name)
        ridge_buf_puts(out, "\\-");
    for (const char *c = verb_name ? verb_name : ""; *c; c++)
        ridge_buf_printf(out, "%c", toupper((unsigned char)*c));
    ridge_buf_puts(out,
                   " 1 \"\" \"ridge " RIDGE_VERSION "\" \"Ridge\"\n.SH NAME\nridge");
    if (verb_name)
        ridge_buf_printf(out, "\\-%s", verb_name);
    ridge_buf_puts(out, " \\- ");
    write_roff(out, summary);
    ridge_buf_puts(out, "\n");
}

/** Paragraphs are parted by empty lines; indented lines keep their form. */
static void write_paragraphs(ridge_buf *out, const char *text)
{
    ridge_str rest = ridge_str_of(text);
    while (rest.p) {
        ridge_str line = ridge_str_cut(&rest, '\n');
        const char *z = ridge_str_dup(out->arena, line);
        if (!z) {
            out->is_short = true;
            return;
        }
        if (!*z) {
            ridge_buf_puts(out, ".PP\n");
            continue;
        }
        if (*z == ' ')
            ridge_buf_puts(out, ".br\n");
        write_roff(out, z);
        ridge_buf_puts(out, "\n");
    }
}

static void write_options(ridge_buf *out, const char *title, const cli_option *options,
                          const cli_verb *hidden_by)
{
    if (!options || !options->name)
        return;
    ridge_buf_printf(out, ".SH %s\n", title);
    for (; options->name; options++) {
        if (cli_option_is_hidden(hidden_by, options))
            continue;
        ridge_buf text;
        ridge_buf_init(&text, out->arena);
        cli_option_write(options, &text);
        ridge_buf_puts(out, ".TP\n\\fB");
        write_roff(out, ridge_buf_text(&text));
        ridge_buf_puts(out, "\\fR\n");
        write_roff(out, options->help);
        ridge_buf_puts(out, "\n");
    }
}

static void write_exit_status(ridge_buf *out)
{
    ridge_buf_puts(out, ".SH EXIT STATUS\n0 success; 1 the answer is no, for example "
                        "nothing fits; 2 bad usage or input.\n");
}

void cli_man_write_verb(const cli_verb *verb, ridge_buf *out)
{
    write_heading(out, verb->name, verb->summary);
    ridge_buf_printf(out, ".SH SYNOPSIS\n\\fBridge %s\\fR ", verb->name);
    write_roff(out, verb->synopsis);
    ridge_buf_printf(out, "%s[OPTIONS]\n", *verb->synopsis ? " " : "");
    if (verb->detail && *verb->detail) {
        ridge_buf_puts(out, ".SH DESCRIPTION\n");
        write_paragraphs(out, verb->detail);
    }
    write_options(out, "OPTIONS", verb->options, NULL);
    write_options(out, "COMMON OPTIONS", cli_common_options, verb);
    ridge_buf_puts(out, ".SH EXAMPLE\n.nf\n");
    write_roff(out, verb->example);
    ridge_buf_puts(out, "\n.fi\n");
    write_exit_status(out);
    ridge_buf_puts(out, ".SH SEE ALSO\n\\fBridge\\fR(1)\n");
}

void cli_man_write(const cli_verb_table *table, ridge_buf *out)
{
    write_heading(out, NULL, "plan, predict and explain large models on TPUs and GPUs");
    ridge_buf_puts(out,
                   ".SH SYNOPSIS\n\\fBridge\\fR VERB [ARGS] [OPTIONS]\n.SH VERBS\n");
    for (size_t i = 0; i < table->n; i++) {
        ridge_buf_printf(out, ".TP\n\\fBridge\\-%s\\fR(1)\n", table->verbs[i]->name);
        write_roff(out, table->verbs[i]->summary);
        ridge_buf_puts(out, "\n");
    }
    ridge_buf_puts(out, ".TP\n\\fBridge help\\fR VERB\nsay how a verb is used\n"
                        ".TP\n\\fBridge completion\\fR bash|zsh|fish\n"
                        "print a completion script\n");
    write_options(out, "COMMON OPTIONS", cli_common_options, NULL);
    write_exit_status(out);
}
