/*
 * Argument lists: "--name value" and "--name=value" among other words, as lists, shell
 * arrays or commands. Of the shell just this is understood: comments, quotes, a line
 * continued by a backslash, NAME=value, and $NAME, ${NAME} and ${NAME:-value} of what
 * was set before. What an expansion does not find stays as it is written.
 */
#include "launch_sheet.h"

#include <string.h>

enum { WORD_BYTES = 4096, EXPANSIONS_MOST = 64 };

typedef struct args_reader {
    launch_settings *out;
    ridge_str text;
    size_t at;
    int line;
    launch_settings variables;
    launch_setting *open; /* the option that waits for its value */
    int open_line;
    char group; /* the quote around options that is open */
} args_reader;

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* Over blanks, comments and line ends. @return false at the end of the text */
static bool skip_blanks(args_reader *r)
{
    while (r->at < r->text.n) {
        const char c = r->text.p[r->at];
        const bool is_last = r->at + 1 == r->text.n;
        if (c == '\n') {
            r->line++;
        } else if (c == '\\' && !is_last && r->text.p[r->at + 1] == '\n') {
            r->line++;
            r->at++;
        } else if (c == '#') {
            while (r->at < r->text.n && r->text.p[r->at] != '\n')
                r->at++;
            continue;
        } else if (!is_space(c)) {
            return true;
        }
        r->at++;
    }
    return false;
}

/* A quote around options, NAME=" --x 1", only groups words: it is passed over. */
static bool is_group_quote(const args_reader *r, const char *word, size_t n)
{
    size_t next = r->at + 1;
    if (n == 0 || word[n - 1] != '=' || word[0] == '-')
        return false;
    while (next < r->text.n &&
           (is_space(r->text.p[next]) || strchr("\\\n", r->text.p[next]) != NULL))
        next++;
    return next < r->text.n && r->text.p[next] == '-';
}

/* The next word without its quotes. @return false at the end */
static bool next_word(args_reader *r, char *word, int *line)
{
    size_t n = 0;
    char quote = '\0';
    if (!skip_blanks(r))
        return false;
    *line = r->line;
    for (; r->at < r->text.n; r->at++) {
        const char c = r->text.p[r->at];
        const bool is_open = quote == '\0';
        if (is_open && (is_space(c) || c == '\n'))
            break;
        if (is_open && c == '\\' && r->at + 1 < r->text.n &&
            r->text.p[r->at + 1] == '\n')
            break;
        if (is_open && c == r->group && c != '\0') {
            r->group = '\0';
        } else if (is_open && (c == '"' || c == '\'')) {
            if (r->group == '\0' && is_group_quote(r, word, n)) {
                r->group = c;
            } else {
                quote = c;
            }
        } else if (c == quote) {
            quote = '\0';
        } else if (n + 1 < WORD_BYTES && c != '\0') {
            word[n++] = c;
        }
        r->line += c == '\n' ? 1 : 0;
    }
    word[n] = '\0';
    return true;
}

/* $NAME, ${NAME}, ${NAME:-value}, ${NAME:value} at the start of @p p.
 * @return bytes taken, 0: not of this form */
static size_t read_variable(const args_reader *r, const char *p, ridge_str *value)
{
    const bool is_braced = p[1] == '{';
    size_t n = is_braced ? 2 : 1;
    const size_t start = n;
    while (is_name(p[n]))
        n++;
    char name[128];
    if (n == start || n - start >= sizeof name)
        return 0;
    memcpy(name, p + start, n - start);
    name[n - start] = '\0';
    ridge_str otherwise = {NULL, 0};
    if (is_braced) {
        if (p[n] == ':') {
            n += p[n + 1] == '-' || p[n + 1] == '=' ? 2 : 1;
            const size_t from = n;
            while (p[n] != '\0' && p[n] != '}')
                n++;
            otherwise = (ridge_str){p + from, n - from};
        }
        if (p[n] != '}')
            return 0;
        n++;
    }
    const launch_setting *found = launch_settings_find(&r->variables, name);
    *value =
        found != NULL && found->value != NULL ? ridge_str_of(found->value) : otherwise;
    return value->p == NULL ? 0 : n;
}

static const char *expand(args_reader *r, const char *word)
{
    ridge_buf b;
    int expansions = 0;
    if (strchr(word, '$') == NULL)
        return ridge_str_dup(ridge_ctx_arena(r->out->cx), ridge_str_of(word));
    ridge_buf_init(&b, ridge_ctx_arena(r->out->cx));
    for (const char *p = word; *p != '\0';) {
        ridge_str value;
        const size_t taken =
            *p == '$' && expansions < EXPANSIONS_MOST && b.n < WORD_BYTES
                ? read_variable(r, p, &value)
                : 0;
        if (taken > 0) {
            ridge_buf_add(&b, value);
            expansions++;
            p += taken;
        } else {
            ridge_buf_add(&b, (ridge_str){p++, 1});
        }
    }
    return b.is_short ? NULL : ridge_buf_text(&b);
}

/* A closing parenthesis of an array that sticks to its last word. */
static void drop_parenthesis(char *word)
{
    int depth = 0;
    for (const char *p = word; *p != '\0'; p++)
        depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
    const size_t n = strlen(word);
    if (depth < 0 && n > 0 && word[n - 1] == ')')
        word[n - 1] = '\0';
}

static ridge_status add_option(args_reader *r, char *word, int line)
{
    ridge_str rest = ridge_str_of(word + 2);
    ridge_str name = ridge_str_cut(&rest, '=');
    const char *value = NULL;
    if (name.n == 0)
        return RIDGE_OK;
    if (rest.p != NULL) {
        value = expand(r, rest.p);
        if (value == NULL)
            return ridge_fail_nomem(r->out->cx);
    }
    RIDGE_TRY(launch_settings_add(r->out, name, value, line));
    r->open = value == NULL ? &r->out->all[r->out->n - 1] : NULL;
    r->open_line = line;
    return RIDGE_OK;
}

/* NAME=value and NAME=(, NAME+=": @return what follows, NULL: no assignment */
static char *assigned(char *word)
{
    size_t n = 0;
    while (is_name(word[n]))
        n++;
    if (n == 0 || (word[0] >= '0' && word[0] <= '9'))
        return NULL;
    char *end = word + n;
    if (*end == '+')
        end++;
    if (*end != '=')
        return NULL;
    word[n] = '\0';
    return end + 1;
}

static ridge_status set_variable(args_reader *r, const char *name, const char *value)
{
    const char *copy = expand(r, value);
    if (copy == NULL)
        return ridge_fail_nomem(r->out->cx);
    r->variables.cx = r->out->cx;
    r->variables.file = r->out->file;
    return launch_settings_add(&r->variables, ridge_str_of(name), copy, r->line);
}

static bool is_punctuation(const char *word)
{
    static const char *const words[] = {")", "(", "\\", "|", "&&", "||", "&", ";", "]"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(words); i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return strstr(word, "[@]") != NULL || strstr(word, "[*]") != NULL;
}

/* A word that is no option: the value of one that waits, or more of it. */
static ridge_status add_value(args_reader *r, const char *word, int line)
{
    const bool is_late = line != r->open_line;
    if (r->open == NULL)
        return RIDGE_OK;
    if (is_late && r->open->value != NULL) { /* the value stood on its own line */
        r->open = NULL;
        return RIDGE_OK;
    }
    const char *value = expand(r, word);
    if (value != NULL && r->open->value != NULL)
        value =
            ridge_sprintf(ridge_ctx_arena(r->out->cx), "%s %s", r->open->value, value);
    if (value == NULL)
        return ridge_fail_nomem(r->out->cx);
    r->open->value = value;
    if (is_late)
        r->open = NULL;
    return RIDGE_OK;
}

static ridge_status take_word(args_reader *r, char *word, int line)
{
    char *value = word[0] == '-' ? NULL : assigned(word);
    if (value != NULL) {
        r->open = NULL;
        if (*value == '(')
            value++;
        while (*value == ' ')
            value++;
        if (*value == '\0')
            return RIDGE_OK;
        if (value[0] == '-' && value[1] == '-')
            return take_word(r, value, line);
        return set_variable(r, word, value);
    }
    drop_parenthesis(word);
    if (word[0] == '\0')
        return RIDGE_OK;
    if (word[0] == '-' && word[1] == '-')
        return add_option(r, word, line);
    if (is_punctuation(word) || (word[0] == '-' && word[1] >= 'a')) {
        r->open = NULL;
        return RIDGE_OK;
    }
    return add_value(r, word, line);
}

ridge_status launch_args_read(ridge_str text, launch_settings *out)
{
    args_reader r = {.out = out, .text = text, .line = 1};
    char word[WORD_BYTES];
    int line = 1;
    while (next_word(&r, word, &line))
        RIDGE_TRY(take_word(&r, word, line));
    return RIDGE_OK;
}
