/*
 * The shell of the program: verbs and their options as tables, one run of a verb, and
 * how results leave. Verbs parse, make one library call, and hand the result to report.
 */
#ifndef RIDGE_CLI_H
#define RIDGE_CLI_H

#include "ridge/base.h"
#include "ridge/hardware.h"
#include "ridge/hardware_stack.h"
#include "ridge/model.h"

/** --name, or --name VALUE. The last row of a table has a NULL name. */
typedef struct cli_option {
    const char *name;  /* "on" for --on */
    const char *value; /* "SLICE"; NULL for a flag */
    const char *help;  /* one line */
} cli_option;

typedef struct cli_run cli_run;

typedef struct cli_verb {
    const char *name;
    const char *summary;       /* one line, for `ridge --help` */
    const char *synopsis;      /* after "ridge NAME ", without the options */
    const char *detail;        /* paragraphs for --help and the man page */
    const char *example;       /* a whole command that works: "ridge chips h100" */
    const cli_option *options; /* without the common ones */
    int min_args, max_args;
    bool takes_knobs;         /* key=value arguments */
    bool is_live;             /* prints while it works: no answer in memory */
    int (*run)(cli_run *run); /* exit code 0 or 1, or cli_fail's 2 */
} cli_verb;

typedef struct cli_knob {
    const char *key;
    const char *value;
} cli_knob;

enum { CLI_ARG_MAX = 64 };

/** Tokens of a sequence that are no mistake: sums over one stay exact. */
#define CLI_SEQ_TOKENS_MOST 1e12

/** One command line, parsed. Common options: --json --html FILE -o FILE --data DIR
 *  --help --no-colour. */
struct cli_run {
    ridge_ctx *cx;
    const cli_verb *verb;
    int n_args;
    const char *args[CLI_ARG_MAX];
    int n_knobs;
    cli_knob knobs[CLI_ARG_MAX];
    int n_options;
    cli_knob options[CLI_ARG_MAX]; /* key without dashes; value "" for a flag */
    ridge_buf *out, *err; /* where an answer in memory goes; NULL: stdout and stderr */
    bool can_colour;      /* stdout is a terminal that shows it */
    bool is_json;
    bool has_colour;
    const char *html_path;        /* or NULL */
    const char *out_path;         /* or NULL: stdout */
    const char *data_dir;         /* or NULL */
    const ridge_catalog *catalog; /* by cli_catalog */
    const ridge_library *library; /* by cli_library */
};

/** Value of an option, or NULL when it was not given ("" for a given flag). */
const char *cli_option_text(const cli_run *run, const char *name);
/** Whether --on names a kind of chips without a number of them: any number. A type such
 *  as v5p-512 has one. */
bool cli_slice_is_bare(cli_run *run, const char *text);
/** A count option (4M, 15T, 8192), or @p fallback. @errors E_ARG naming the option */
RIDGE_NODISCARD ridge_status cli_option_count(cli_run *run, const char *name,
                                              double fallback, double *out);
/** A count without a fraction, and at most so large. @errors the same */
RIDGE_NODISCARD ridge_status cli_option_whole(cli_run *run, const char *name,
                                              double fallback, double most,
                                              double *out);
/** Refuse options that would change nothing: a number meant otherwise than it is read
 * is worse than none.
 * @param names  ends with NULL
 * @param what   follows "--name ": why, and how to mend it
 * @errors E_ARG when one of them was given */
RIDGE_NODISCARD ridge_status cli_refuse_options(cli_run *run, const char *const *names,
                                                const char *what);
RIDGE_NODISCARD ridge_status cli_option_bytes(cli_run *run, const char *name,
                                              double fallback, double *out);
RIDGE_NODISCARD ridge_status cli_option_dtype(cli_run *run, const char *name,
                                              ridge_dtype fallback, ridge_dtype *out);
/** Slice of --on; required. @errors E_ARG, and those of ridge_slice_parse */
RIDGE_NODISCARD ridge_status cli_slice(cli_run *run, const ridge_slice **out);
/** A software stack by name; NULL for none, and for "well-tuned". */
RIDGE_NODISCARD ridge_status cli_stack(cli_run *run, const char *name,
                                       const ridge_stack **out);

/** What the chips of a slice usually run; NULL: not known, or not the same on all. */
const ridge_stack *cli_usual_stack(const ridge_catalog *catalog,
                                   const ridge_slice *slice);

RIDGE_NODISCARD ridge_status cli_catalog(cli_run *run, const ridge_catalog **out);
RIDGE_NODISCARD ridge_status cli_library(cli_run *run, const ridge_library **out);
/** A model by name or path, as ridge_model_load takes it, or a llama2.c checkpoint. */
RIDGE_NODISCARD ridge_status cli_model(cli_run *run, const char *name,
                                       const ridge_model **out);

/** Print "ridge: message" on stderr. @return exit code 2 */
int cli_fail(cli_run *run);
/** Print a line, or several, on stderr as they are. */
void cli_tell(cli_run *run, const char *text);
/** A bar on stderr; none when the answer stays in memory. */
ridge_progress cli_progress(const cli_run *run);

/** A new object with "ridge" and "verb" set. */
ridge_json *cli_json_begin(cli_run *run);
/** Write the object or the text to stdout or -o. @return exit code, 0 when written */
int cli_emit_json(cli_run *run, const ridge_json *object);
int cli_emit_text(cli_run *run, const ridge_buf *text);
/** Write a finished HTML page to --html. @return exit code */
int cli_emit_html(cli_run *run, const ridge_buf *page);
/** Write a page that holds a text line by line to --html, where that is asked.
 * @return exit code, 0 when written or not asked */
int cli_emit_listing(cli_run *run, const char *title, const char *about,
                     const char *text);

/* One verb a file; the table of them is in dispatch.c. */
extern const cli_verb cli_verb_chips;
extern const cli_verb cli_verb_model;
extern const cli_verb cli_verb_roofline;
extern const cli_verb cli_verb_collective;
extern const cli_verb cli_verb_shard;
extern const cli_verb cli_verb_size;
extern const cli_verb cli_verb_train;
extern const cli_verb cli_verb_serve;
extern const cli_verb cli_verb_run;
extern const cli_verb cli_verb_calibrate;
extern const cli_verb cli_verb_explain;
extern const cli_verb cli_verb_simulate;
extern const cli_verb cli_verb_export;
extern const cli_verb cli_verb_hlo;
extern const cli_verb cli_verb_validate;
extern const cli_verb cli_verb_ui;
extern const cli_verb cli_verb_profile;

#endif
