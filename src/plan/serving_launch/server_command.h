/*
 * Servers in a text: the program that each starts, and its settings, whatever the
 * syntax around them: a shell's words, the lists of a pod, YAML.
 */
#ifndef RIDGE_PLAN_SERVER_SERVER_H
#define RIDGE_PLAN_SERVER_SERVER_H

#include "ridge/plan_launch_serving.h"

#include "launch_sheet.h"

enum { SERVER_COMMAND_MOST = 16, SERVER_DOC_MOST = 8 };

typedef struct server_command {
    ridge_serving_launcher launcher;
    const char *format;
    launch_settings settings; /* objects of JSON as "name.key" beside them */
    ridge_service_role role;  /* as far as the syntax alone says */
    int64_t replicas;         /* 0: not stated */
    bool is_first_engine;     /* VLLM_USE_V1=0 */
    int line;
} server_command;

typedef struct server_commands {
    int n;
    server_command all[SERVER_COMMAND_MOST];
} server_commands;

/** A file written by the script itself: cat > NAME <<EOF. */
typedef struct server_doc {
    const char *name;
    ridge_str text;
    int line;
} server_doc;

typedef struct server_docs {
    int n;
    server_doc all[SERVER_DOC_MOST];
} server_docs;

/** Take the files out of a script. @param out  the script with blanks in their place
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status server_docs_take(ridge_ctx *cx, ridge_str text,
                                              server_docs *docs, ridge_str *out);

/** @param may_open  whether configurations that a command names may be opened
 * @errors E_PARSE with file:line; E_IO; E_NOMEM */
RIDGE_NODISCARD ridge_status server_commands_read(ridge_ctx *cx, ridge_str text,
                                                  const char *file, bool may_open,
                                                  server_commands *out);

/** Servers of a YAML file alone. @errors as above */
RIDGE_NODISCARD ridge_status server_yaml_read(ridge_ctx *cx, ridge_str text,
                                              const char *file, server_commands *out);

/** Objects of JSON as "name.key" settings beside the one that holds them; "no-x" as
 * "x" that is false where the engine knows x alone.
 * @errors E_NOMEM; E_PARSE too many */
RIDGE_NODISCARD ridge_status server_settings_open(launch_settings *s,
                                                  const launch_option *options);

/** The options of a launcher's table. */
const launch_option *server_options_of(ridge_serving_launcher launcher);
/** Whether a name is in the table, or is one of any engine that changes no time. */
bool server_name_is_known(const launch_option *options, const char *name);
/** Whether an option of the table is a flag, which takes no value. */
bool server_option_is_flag(const launch_option *options, const char *name);

#endif
