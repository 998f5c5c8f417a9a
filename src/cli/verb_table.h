/*
 * What the program writes about its own verbs: help, man pages, completions. All of it
 * comes from the table in dispatch.c.
 */
#ifndef RIDGE_CLI_VERB_TABLE_H
#define RIDGE_CLI_VERB_TABLE_H

#include "cli.h"

typedef struct cli_verb_table {
    const cli_verb *const *verbs;
    size_t n;
} cli_verb_table;

/** @errors E_ARG with the nearest verbs */
RIDGE_NODISCARD ridge_status cli_verb_find(ridge_ctx *cx, const cli_verb_table *table,
                                           const char *name, const cli_verb **out);

/** Run one command line: the words after "ridge". @param run  cx and sinks are set
 * @return exit code */
int cli_run_line(cli_run *run, int argc, const char *const *argv);

/** `ridge --help` */
void cli_help_write(const cli_verb_table *table, ridge_buf *out);
/** `ridge VERB --help` */
void cli_help_write_verb(const cli_verb *verb, ridge_buf *out);

/** ridge.1, and ridge-VERB.1, as roff. */
void cli_man_write(const cli_verb_table *table, ridge_buf *out);
void cli_man_write_verb(const cli_verb *verb, ridge_buf *out);

/** A completion script. @param shell  bash, zsh or fish. @errors E_ARG */
RIDGE_NODISCARD ridge_status cli_completion_write(ridge_ctx *cx,
                                                  const cli_verb_table *table,
                                                  const char *shell, ridge_buf *out);

/** Each verb with its texts and options, as a JSON array. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status cli_verbs_write_json(ridge_ctx *cx,
                                                  const cli_verb_table *table,
                                                  ridge_buf *out);

/** "--seq T", "-o FILE", "--json", appended. */
void cli_option_write(const cli_option *option, ridge_buf *out);

#endif
