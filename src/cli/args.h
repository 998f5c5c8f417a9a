/*
 * The words of a command line, checked against a verb's tables.
 */
#ifndef RIDGE_CLI_ARGS_H
#define RIDGE_CLI_ARGS_H

#include "cli.h"

/** Options that every verb takes; the last row has a NULL name. */
extern const cli_option cli_common_options[];
/** Whether a verb has an option of its own by the name of a common one, which then does
 * not apply to it. @param verb  NULL: no */
bool cli_option_is_hidden(const cli_verb *verb, const cli_option *common);

/**
 * Fill a run from the words after its verb.
 *
 *     --name value, --name=value, -o FILE, -oFILE, key=value (a knob), -- ends options
 *
 * An option given twice counts as given last.
 * @param run   cx and verb are set, all else zero; views into @p argv
 * @errors E_ARG with the nearest option, the missing value, the argument too many
 */
RIDGE_NODISCARD ridge_status cli_args_parse(cli_run *run, int argc,
                                            const char *const *argv);

/** What to write for an option, as other tools call it; NULL: unknown. */
const char *cli_foreign_word(const cli_verb *verb, ridge_str option);

/** The same of a verb. */
const char *cli_foreign_verb(ridge_str verb);

/** Whether --help or -h stands among the words, before any "--". */
bool cli_args_ask_help(int argc, const char *const *argv);

#endif
