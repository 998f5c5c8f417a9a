/*
 * Completion scripts for shells, from the verb table. Names of chips and models are
 * asked of the program when the key is pressed (`ridge names chips`).
 */
#include "args.h"
#include "verb_table.h"

#include <string.h>

/** What a placeholder stands for: chips, models, files, or NULL. */
static const char *names_of(const char *placeholder)
{
    if (!placeholder)
        return NULL;
    if (strstr(placeholder, "CHIP") || strstr(placeholder, "SLICE"))
        return "chips";
    if (strstr(placeholder, "MODEL"))
        return "models";
    return NULL;
}

static bool is_file(const char *placeholder)
{
    return placeholder && (strstr(placeholder, "FILE") || strstr(placeholder, "DIR"));
}

static void write_verbs(const cli_verb_table *table, ridge_buf *out)
{
    for (size_t i = 0; i < table->n; i++)
        ridge_buf_printf(out, "%s ", table->verbs[i]->name);
    ridge_buf_puts(out, "help completion");
}

static void write_option_words(const cli_option *options, const cli_verb *hidden_by,
                               ridge_buf *out)
{
    for (; options && options->name; options++)
        if (!cli_option_is_hidden(hidden_by, options)) {
            ridge_buf_printf(out, " %s%s", options->name[1] ? "--" : "-",
                             options->name);
        }
}

/* bash: one function; zsh loads the same by bashcompinit. */
static void write_bash_verb(const cli_verb *verb, ridge_buf *out)
{
    const char *names = names_of(verb->synopsis);
    ridge_buf_printf(out, "    %s) words=\"", verb->name);
    write_option_words(verb->options, NULL, out);
    write_option_words(cli_common_options, verb, out);
    ridge_buf_puts(out, "\"");
    if (names)
        ridge_buf_printf(out, "; names=%s", names);
    ridge_buf_puts(out, " ;;\n");
}

/** "--on|--html" of every option whose placeholder matches; each name once. */
static void write_bash_options(const cli_verb_table *table, bool wants_file,
                               ridge_buf *out)
{
    const char *between = "";
    for (size_t v = 0; v <= table->n; v++) {
        const cli_option *o =
            v < table->n ? table->verbs[v]->options : cli_common_options;
        for (; o && o->name; o++) {
            if (wants_file ? !is_file(o->value) : !names_of(o->value))
                continue;
            ridge_buf_printf(out, "%s%s%s", between, o->name[1] ? "--" : "-", o->name);
            between = "|";
        }
    }
}

static void write_bash(const cli_verb_table *table, ridge_buf *out)
{
    ridge_buf_puts(out, "# bash completion for ridge: source it, or put it in\n"
                        "# ~/.local/share/bash-completion/completions/ridge\n"
                        "_ridge() {\n"
                        "  local current=\"${COMP_WORDS[COMP_CWORD]}\"\n"
                        "  local previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
                        "  local words=\"\" names=\"\"\n"
                        "  COMPREPLY=()\n"
                        "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                        "    COMPREPLY=($(compgen -W \"");
    write_verbs(table, out);
    ridge_buf_puts(out, " --help --version\" -- \"$current\"))\n    return\n  fi\n"
                        "  case \"$previous\" in\n    ");
    write_bash_options(table, true, out);
    ridge_buf_puts(out, ") COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n    ");
    write_bash_options(table, false, out);
    ridge_buf_puts(out, ") COMPREPLY=($(compgen -W \"$(ridge names chips)\" "
                        "-- \"$current\")); return ;;\n  esac\n"
                        "  case \"${COMP_WORDS[1]}\" in\n    help) words=\"");
    write_verbs(table, out);
    ridge_buf_puts(out, "\" ;;\n    completion) words=\"bash zsh fish\" ;;\n");
    for (size_t i = 0; i < table->n; i++)
        write_bash_verb(table->verbs[i], out);
    ridge_buf_puts(out,
                   "  esac\n"
                   "  if [ -n \"$names\" ] && [ \"${current#-}\" = \"$current\" ]; "
                   "then\n    words=\"$(ridge names $names)\"\n  fi\n"
                   "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                   "  # a model may be a config.json, a word beside it a plan\n"
                   "  if [ ${#COMPREPLY[@]} -eq 0 ] || { [ \"$names\" = models ] && "
                   "[ \"${current#-}\" = \"$current\" ]; }; then\n"
                   "    COMPREPLY+=($(compgen -f -- \"$current\"))\n  fi\n}\n"
                   "complete -F _ridge ridge\n");
}

static void write_zsh(const cli_verb_table *table, ridge_buf *out)
{
    ridge_buf_puts(out, "# zsh completion for ridge: source it after compinit\n"
                        "autoload -U +X bashcompinit && bashcompinit\n");
    write_bash(table, out);
}

/** Text inside single quotes of fish. */
static void write_fish_text(const char *text, ridge_buf *out)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            ridge_buf_puts(out, "\\");
        ridge_buf_add(out, (ridge_str){text, 1});
    }
}

static void write_fish_option(const cli_verb *verb, const cli_option *option,
                              ridge_buf *out)
{
    const char *names = names_of(option->value);
    ridge_buf_puts(out, "complete -c ridge");
    if (verb)
        ridge_buf_printf(out, " -n '__fish_seen_subcommand_from %s'", verb->name);
    ridge_buf_printf(out, " %s %s", option->name[1] ? "-l" : "-s", option->name);
    if (names) {
        ridge_buf_printf(out, " -x -a '(ridge names %s)'", names);
    } else if (option->value) {
        ridge_buf_puts(out, is_file(option->value) ? " -r -F" : " -x");
    }
    ridge_buf_puts(out, " -d '");
    write_fish_text(option->help, out);
    ridge_buf_puts(out, "'\n");
}

static void write_fish_verb(const cli_verb *verb, ridge_buf *out)
{
    const char *names = names_of(verb->synopsis);
    ridge_buf_printf(out, "complete -c ridge -f -n __fish_use_subcommand -a %s -d '",
                     verb->name);
    write_fish_text(verb->summary, out);
    ridge_buf_puts(out, "'\n");
    if (names) {
        ridge_buf_printf(out,
                         "complete -c ridge -n '__fish_seen_subcommand_from %s' "
                         "-a '(ridge names %s)'\n",
                         verb->name, names);
    }
    for (const cli_option *o = verb->options; o && o->name; o++)
        write_fish_option(verb, o, out);
}

static void write_fish(const cli_verb_table *table, ridge_buf *out)
{
    ridge_buf_puts(out, "# fish completion for ridge: put it in\n"
                        "# ~/.config/fish/completions/ridge.fish\n");
    for (size_t i = 0; i < table->n; i++)
        write_fish_verb(table->verbs[i], out);
    for (const cli_option *o = cli_common_options; o->name; o++)
        write_fish_option(NULL, o, out);
}

ridge_status cli_completion_write(ridge_ctx *cx, const cli_verb_table *table,
                                  const char *shell, ridge_buf *out)
{
    static const struct {
        const char *shell;
        void (*write)(const cli_verb_table *table, ridge_buf *out);
    } writers[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(writers); i++) {
        if (strcmp(writers[i].shell, shell) == 0) {
            writers[i].write(table, out);
            return RIDGE_OK;
        }
    }
    return ridge_fail(cx, RIDGE_E_ARG,
                      "no completion for '%s': write bash, zsh or fish", shell);
}
