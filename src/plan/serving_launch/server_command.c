/* Servers among the words of a script, of a command or of a pod's lists. */
#include "server_command.h"
#include "launch_words.h"

#include <string.h>

static const size_t CONFIG_BYTES_MOST = (size_t)1 << 20;

typedef struct server_reader {
    ridge_ctx *cx;
    launch_words words;
    server_docs docs;
    server_commands *out;
    bool may_open;
    server_command *now;  /* the one whose words come; NULL: none */
    launch_setting *open; /* the option that waits for its value */
    bool is_list;         /* words stand in lists of YAML or JSON */
    bool has_program;     /* all of the words that start it were read */
    char last[64];        /* the word before */
    char variable[64];    /* of a pod's "- name: X", which waits for "value:" */
} server_reader;

/* ---- programs -------------------------------------------------------------------- */

static const char *base_name(const char *word)
{
    const char *slash = strrchr(word, '/');
    return slash == NULL ? word : slash + 1;
}

/* text, the word before it, what it starts */
static const struct {
    const char *word, *before;
    ridge_serving_launcher launcher;
    const char *format;
} programs[] = {
    {"serve", "vllm", RIDGE_SERVING_LAUNCHER_VLLM, "vllm serve command"},
    {"vllm.entrypoints.openai.api_server", NULL, RIDGE_SERVING_LAUNCHER_VLLM,
     "vllm api_server command"},
    {"serve", "sglang", RIDGE_SERVING_LAUNCHER_SGLANG, "sglang serve command"},
    {"vllm-openai", NULL, RIDGE_SERVING_LAUNCHER_VLLM, "vllm-openai container"},
    {"sglang.launch_server", NULL, RIDGE_SERVING_LAUNCHER_SGLANG,
     "sglang.launch_server command"},
    {"text-generation-launcher", NULL, RIDGE_SERVING_LAUNCHER_TGI,
     "text-generation-launcher command"},
    {"text-generation-inference", NULL, RIDGE_SERVING_LAUNCHER_TGI,
     "text-generation-inference container"},
    {"serve", "lmdeploy", RIDGE_SERVING_LAUNCHER_LMDEPLOY, "lmdeploy serve command"},
    {"lmdeploy.serve.openai.api_server", NULL, RIDGE_SERVING_LAUNCHER_LMDEPLOY,
     "lmdeploy api_server command"},
    {"trtllm-serve", NULL, RIDGE_SERVING_LAUNCHER_TRTLLM, "trtllm-serve command"},
    {"MaxText.maxengine_server", NULL, RIDGE_SERVING_LAUNCHER_JETSTREAM,
     "maxengine_server command"},
    {"maxtext.inference.maxengine.maxengine_server", NULL,
     RIDGE_SERVING_LAUNCHER_JETSTREAM, "maxengine_server command"},
    {"maxengine_server.py", NULL, RIDGE_SERVING_LAUNCHER_JETSTREAM,
     "maxengine_server command"},
};

static int find_program(const server_reader *r, const char *word)
{
    for (int i = 0; i < (int)RIDGE_COUNT_OF(programs); i++) {
        ridge_str name = ridge_str_of(base_name(word)); /* of an image: up to its tag */
        if (ridge_str_is(ridge_str_cut(&name, ':'), programs[i].word) &&
            (programs[i].before == NULL || strcmp(r->last, programs[i].before) == 0))
            return i;
    }
    return -1;
}

static void close_server(server_reader *r)
{
    r->now = NULL;
    r->open = NULL;
}

/* Whether a variable is an option in capitals: MAX_TOTAL_TOKENS. */
static bool is_variable_of(const char *variable, const char *option)
{
    for (; *variable != '\0' && *option != '\0'; variable++, option++) {
        const bool is_letter = *option >= 'a' && *option <= 'z';
        const char want = is_letter ? (char)(*option - 'a' + 'A') : '_';
        if (*variable != want)
            return false;
    }
    return *variable == *option;
}

/* TGI takes each option as a variable too, before those of its command. */
static ridge_status add_variables(const server_reader *r, server_command *s)
{
    const launch_settings *v = &r->words.variables;
    const launch_settings stated = s->settings;
    if (s->launcher != RIDGE_SERVING_LAUNCHER_TGI)
        return RIDGE_OK;
    s->settings = (launch_settings){.cx = r->cx, .file = stated.file};
    for (int i = 0; i < v->n; i++) {
        for (const launch_option *o = server_tgi_options; o->name != NULL; o++) {
            if (v->all[i].value != NULL && is_variable_of(v->all[i].name, o->name))
                RIDGE_TRY(launch_settings_add(&s->settings, ridge_str_of(o->name),
                                              v->all[i].value, v->all[i].line));
        }
    }
    for (int i = 0; i < stated.n; i++)
        RIDGE_TRY(launch_settings_add(&s->settings, ridge_str_of(stated.all[i].name),
                                      stated.all[i].value, stated.all[i].line));
    return RIDGE_OK;
}

static ridge_status open_server(server_reader *r, int program, int line)
{
    if (r->out->n == SERVER_COMMAND_MOST) {
        return ridge_fail(r->cx, RIDGE_E_PARSE, "%s:%d: more than %d servers",
                          r->words.file, line, SERVER_COMMAND_MOST);
    }
    server_command *s = &r->out->all[r->out->n++];
    const launch_setting *replicas =
        launch_settings_find(&r->words.variables, "replicas");
    *s = (server_command){.launcher = programs[program].launcher,
                          .format = programs[program].format,
                          .settings = {.cx = r->cx, .file = r->words.file},
                          .line = line};
    const launch_setting *v1 = launch_settings_find(&r->words.variables, "VLLM_USE_V1");
    s->is_first_engine = v1 != NULL && v1->value != NULL && strcmp(v1->value, "0") == 0;
    if (replicas != NULL && replicas->value != NULL &&
        (!ridge_parse_i64(ridge_str_of(replicas->value), &s->replicas) ||
         s->replicas < 1 || s->replicas > 1000000)) {
        return ridge_fail(r->cx, RIDGE_E_PARSE,
                          "%s:%d: replicas=%.40s: expected a count of servers",
                          r->words.file, replicas->line, replicas->value);
    }
    if (replicas != NULL) /* the count is for one server */
        r->words.variables.all[replicas - r->words.variables.all].value = NULL;
    r->now = s;
    r->open = NULL;
    return RIDGE_OK;
}

/* ---- configurations that commands name ------------------------------------------- */

static bool is_config_name(const char *name)
{
    return launch_name_is(name, "config") ||
           launch_name_is(name, "extra-llm-api-options");
}

/* trtllm-serve's context servers and generation servers have one command. */
static ridge_service_role role_of_file(const char *path)
{
    const char *name = base_name(path);
    if (strncmp(name, "ctx", 3) == 0 || strncmp(name, "context", 7) == 0)
        return RIDGE_SERVICE_ROLE_PREFILL;
    return strncmp(name, "gen", 3) == 0 ? RIDGE_SERVICE_ROLE_DECODE
                                        : RIDGE_SERVICE_ROLE_BOTH;
}

static ridge_status add_config(server_reader *r, server_command *s, const char *path,
                               int line)
{
    ridge_str text = {NULL, 0};
    for (int i = 0; i < r->docs.n; i++) {
        if (strcmp(base_name(r->docs.all[i].name), base_name(path)) == 0)
            text = r->docs.all[i].text;
    }
    if (text.p == NULL && !r->may_open) {
        return ridge_fail(r->cx, RIDGE_E_PARSE,
                          "%s:%d: %.200s is not part of the text: give its settings",
                          r->words.file, line, path);
    }
    if (text.p == NULL)
        RIDGE_TRY(ridge_file_read(r->cx, path, CONFIG_BYTES_MOST, &text));
    s->role = role_of_file(path);
    launch_settings file = {.cx = r->cx, .file = path};
    RIDGE_TRY(launch_yaml_read(text, &file));
    for (int i = 0; i < file.n; i++)
        RIDGE_TRY(launch_settings_add(&s->settings, ridge_str_of(file.all[i].name),
                                      file.all[i].value, line));
    return RIDGE_OK;
}

/* Commands come before configurations with TensorRT-LLM, behind them elsewhere. */
static ridge_status add_configs(server_reader *r, server_command *s)
{
    const launch_settings stated = s->settings;
    const bool is_last = s->launcher == RIDGE_SERVING_LAUNCHER_TRTLLM;
    launch_settings own = {.cx = r->cx, .file = stated.file};
    if (!is_last)
        s->settings = own;
    for (int i = 0; i < stated.n; i++) {
        const launch_setting *one = &stated.all[i];
        if (is_config_name(one->name) && one->value != NULL)
            RIDGE_TRY(add_config(r, s, one->value, one->line));
    }
    for (int i = 0; i < stated.n && !is_last; i++)
        RIDGE_TRY(launch_settings_add(&s->settings, ridge_str_of(stated.all[i].name),
                                      stated.all[i].value, stated.all[i].line));
    return RIDGE_OK;
}

/* ---- words ----------------------------------------------------------------------- */

/* Brackets and commas of lists of JSON around a word. */
static char *strip_list(char *word)
{
    size_t n = strlen(word);
    if (word[0] == '{')
        return word;
    while (n > 0 &&
           (word[n - 1] == ',' || (word[n - 1] == ']' && memchr(word, '[', n) == NULL)))
        word[--n] = '\0';
    if (word[0] == '[' && n > 1) {
        word++;
        n--;
        while (n > 0 && word[n - 1] == ']')
            word[--n] = '\0';
    }
    return word;
}

static bool ends_command(const char *word)
{
    static const char *const words[] = {"&",    "&&", "||",   "|",  ";",    ">",  ">>",
                                        "2>&1", "&>", "then", "do", "done", "fi", "]"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(words); i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

static ridge_status add_option(server_reader *r, const char *word, int line)
{
    const char *start = word + (word[1] == '-' ? 2 : 1);
    ridge_str rest = ridge_str_of(start);
    const ridge_str name = ridge_str_cut(&rest, '=');
    const char *value = NULL;
    if (name.n == 0)
        return RIDGE_OK;
    if (rest.p != NULL) {
        value = ridge_str_dup(ridge_ctx_arena(r->cx), rest);
        if (value == NULL)
            return ridge_fail_nomem(r->cx);
    }
    launch_settings *s = &r->now->settings;
    RIDGE_TRY(launch_settings_add(s, name, value, line));
    const char *copy = s->all[s->n - 1].name;
    const launch_option *options = server_options_of(r->now->launcher);
    r->open = value != NULL || server_option_is_flag(options, copy) ? NULL
                                                                    : &s->all[s->n - 1];
    return RIDGE_OK;
}

/* A word that is no option: a value, a setting of MaxText's, or the model. */
static ridge_status add_word(server_reader *r, const char *word, int line)
{
    launch_settings *s = &r->now->settings;
    if (r->open != NULL) {
        r->open->value = ridge_str_dup(ridge_ctx_arena(r->cx), ridge_str_of(word));
        const bool is_short = r->open->value == NULL;
        r->open = NULL;
        return is_short ? ridge_fail_nomem(r->cx) : RIDGE_OK;
    }
    if (r->now->launcher == RIDGE_SERVING_LAUNCHER_JETSTREAM) {
        ridge_str rest = ridge_str_of(word);
        const ridge_str name = ridge_str_cut(&rest, '=');
        if (rest.p == NULL)
            return RIDGE_OK;
        const char *value = ridge_str_dup(ridge_ctx_arena(r->cx), rest);
        return value == NULL ? ridge_fail_nomem(r->cx)
                             : launch_settings_add(s, name, value, line);
    }
    if (launch_settings_find(s, "model") != NULL ||
        r->now->launcher == RIDGE_SERVING_LAUNCHER_TGI)
        return RIDGE_OK;
    const char *value = ridge_str_dup(ridge_ctx_arena(r->cx), ridge_str_of(word));
    return value == NULL ? ridge_fail_nomem(r->cx)
                         : launch_settings_add(s, ridge_str_of("model"), value, line);
}

/* Words behind a program that are not a model's name. */
static bool is_subcommand(server_reader *r, const char *word)
{
    static const struct {
        ridge_serving_launcher launcher;
        const char *word;
        bool serves; /* else it hands requests on, or asks */
    } words[] = {{RIDGE_SERVING_LAUNCHER_VLLM, "vllm", true}, /* behind an image */
                 {RIDGE_SERVING_LAUNCHER_VLLM, "serve", true},
                 {RIDGE_SERVING_LAUNCHER_TRTLLM, "serve", true},
                 {RIDGE_SERVING_LAUNCHER_TRTLLM, "disaggregated", false},
                 {RIDGE_SERVING_LAUNCHER_TRTLLM, "mm_embedding_serve", false},
                 {RIDGE_SERVING_LAUNCHER_TRTLLM, "disaggregated_mpi_worker", false},
                 {RIDGE_SERVING_LAUNCHER_LMDEPLOY, "api_server", true},
                 {RIDGE_SERVING_LAUNCHER_LMDEPLOY, "gradio", false},
                 {RIDGE_SERVING_LAUNCHER_LMDEPLOY, "proxy", false},
                 {RIDGE_SERVING_LAUNCHER_LMDEPLOY, "api_client", false},
                 {RIDGE_SERVING_LAUNCHER_TGI, "text-generation-launcher", true}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(words) && r->now->settings.n == 0; i++) {
        if (words[i].launcher != r->now->launcher || strcmp(words[i].word, word) != 0)
            continue;
        if (!words[i].serves) {
            r->out->n--;
            close_server(r);
        }
        return true;
    }
    return false;
}

/* Whether a line's first word shows that the command before has ended. */
static bool ends_before(const server_reader *r, const char *raw)
{
    const size_t n = strlen(raw);
    if (r->now == NULL || !r->words.is_line_start || n == 0)
        return false;
    if (raw[n - 1] == ':')
        return strcmp(raw, "args:") != 0;
    return !r->is_list && raw[0] != '-';
}

static ridge_status take_server_word(server_reader *r, char *word, int line)
{
    if (ends_command(word)) {
        close_server(r);
        return RIDGE_OK;
    }
    if (strcmp(word, "-") == 0 || word[0] == '\0' || is_subcommand(r, word))
        return RIDGE_OK;
    const bool is_number = word[0] == '-' && word[1] >= '0' && word[1] <= '9';
    if (word[0] == '-' && !is_number)
        return add_option(r, word, line);
    return add_word(r, word, line);
}

/* A command ends at a semicolon that stands right behind its last word. */
static bool drop_semicolon(char *word)
{
    const size_t n = strlen(word);
    const bool has = n > 1 && word[n - 1] == ';' && word[n - 2] != '\\';
    if (has)
        word[n - 1] = '\0';
    return has;
}

/* NAME=value, or a pod's "name: NAME" and "value: value". */
static ridge_status take_variable(server_reader *r, char *word)
{
    const size_t n = strlen(word);
    char *value = launch_word_assigned(word);
    if (value != NULL)
        return launch_words_set(&r->words, word, value);
    if (strcmp(r->last, "name:") == 0) {
        r->variable[0] = '\0';
        if (n < sizeof r->variable)
            memcpy(r->variable, word, n + 1);
    } else if (strcmp(r->last, "value:") == 0 && r->variable[0] != '\0') {
        RIDGE_TRY(launch_words_set(&r->words, r->variable, word));
        r->variable[0] = '\0';
    }
    return RIDGE_OK;
}

static ridge_status take_word(server_reader *r, char *raw, int line)
{
    const bool is_bracketed = raw[0] == '[' || strcmp(raw, "-") == 0;
    if (ends_before(r, raw))
        close_server(r);
    if (r->words.is_line_start)
        r->is_list = strcmp(raw, "-") == 0 || (r->is_list && r->now != NULL);
    r->is_list = r->is_list || (is_bracketed && r->now == NULL);
    char *word = strip_list(raw);
    const int program = find_program(r, word);
    if (program >= 0) {
        RIDGE_TRY(open_server(r, program, line));
    } else if (r->now != NULL) {
        RIDGE_TRY(take_server_word(r, word, line));
    } else if (word[0] != '-') {
        RIDGE_TRY(take_variable(r, word));
    }
    const size_t n = strlen(base_name(word));
    r->last[0] = '\0';
    if (n < sizeof r->last)
        memcpy(r->last, base_name(word), n + 1);
    return RIDGE_OK;
}

static ridge_status take_expanded(server_reader *r, const char *word, int line)
{
    char room[LAUNCH_WORD_BYTES];
    const char *value = launch_words_expand(&r->words, word);
    if (value == NULL)
        return ridge_fail_nomem(r->cx);
    size_t n = strlen(value);
    n = n < sizeof room ? n : sizeof room - 1;
    memcpy(room, value, n);
    room[n] = '\0';
    const bool is_last = drop_semicolon(room);
    RIDGE_TRY(take_word(r, room, line));
    if (is_last && r->now != NULL)
        close_server(r);
    return RIDGE_OK;
}

/* An image's name starts nothing where a command follows. */
static void drop_empty(server_commands *out)
{
    int n = 0;
    for (int i = 0; i < out->n; i++) {
        if (out->all[i].settings.n > 0)
            out->all[n++] = out->all[i];
    }
    out->n = n;
}

ridge_status server_commands_read(ridge_ctx *cx, ridge_str text, const char *file,
                                  bool may_open, server_commands *out)
{
    server_reader *r = ridge_new(ridge_ctx_arena(cx), server_reader, 1);
    char word[LAUNCH_WORD_BYTES];
    int line = 1;
    if (r == NULL)
        return ridge_fail_nomem(cx);
    *r = (server_reader){.cx = cx, .out = out, .may_open = may_open};
    ridge_str script = text;
    RIDGE_TRY(server_docs_take(cx, text, &r->docs, &script));
    r->words = launch_words_of(cx, file, script);
    while (launch_words_next(&r->words, word, &line))
        RIDGE_TRY(take_expanded(r, word, line));
    for (int i = 0; i < out->n; i++)
        RIDGE_TRY(add_variables(r, &out->all[i]));
    drop_empty(out);
    for (int i = 0; i < out->n; i++)
        RIDGE_TRY(add_configs(r, &out->all[i]));
    return RIDGE_OK;
}
