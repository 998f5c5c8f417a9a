/* Words, as launch_words.h says. */
#include "launch_words.h"

#include <string.h>

enum { EXPANSIONS_MOST = 64 };

launch_words launch_words_of(ridge_ctx *cx, const char *file, ridge_str text)
{
    return (launch_words){.cx = cx,
                          .file = file,
                          .text = text,
                          .line = 1,
                          .variables = {.cx = cx, .file = file}};
}

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
static bool skip_blanks(launch_words *w)
{
    while (w->at < w->text.n) {
        const char c = w->text.p[w->at];
        const bool is_last = w->at + 1 == w->text.n;
        if (c == '\n') {
            w->line++;
            w->is_line_start = true;
        } else if (c == '\\' && !is_last && w->text.p[w->at + 1] == '\n') {
            w->line++;
            w->at++;
        } else if (c == '#') {
            while (w->at < w->text.n && w->text.p[w->at] != '\n')
                w->at++;
            continue;
        } else if (!is_space(c)) {
            return true;
        }
        w->at++;
    }
    return false;
}

/* A quote around options, NAME=" --x 1", only groups words: it is passed over. */
static bool is_group_quote(const launch_words *w, const char *word, size_t n)
{
    size_t next = w->at + 1;
    if (n == 0 || word[n - 1] != '=' || word[0] == '-')
        return false;
    while (next < w->text.n &&
           (is_space(w->text.p[next]) || strchr("\\\n", w->text.p[next]) != NULL))
        next++;
    return next < w->text.n && w->text.p[next] == '-';
}

static size_t add_letter(char *word, size_t n, char c)
{
    if (n + 1 < LAUNCH_WORD_BYTES && c != '\0')
        word[n++] = c;
    return n;
}

bool launch_words_next(launch_words *w, char *word, int *line)
{
    size_t n = 0;
    char quote = '\0';
    w->is_line_start = w->at == 0;
    if (!skip_blanks(w))
        return false;
    *line = w->line;
    for (; w->at < w->text.n; w->at++) {
        const char c = w->text.p[w->at];
        const bool is_open = quote == '\0';
        if (is_open && (is_space(c) || c == '\n'))
            break;
        if (is_open && c == '\\' && w->at + 1 < w->text.n &&
            w->text.p[w->at + 1] == '\n')
            break;
        if (quote == '"' && c == '\\' && w->at + 1 < w->text.n &&
            w->text.p[w->at + 1] == '"') {
            w->at++;
            n = add_letter(word, n, '"');
        } else if (is_open && c == w->group && c != '\0') {
            w->group = '\0';
        } else if (is_open && (c == '"' || c == '\'')) {
            if (w->group == '\0' && is_group_quote(w, word, n)) {
                w->group = c;
            } else {
                quote = c;
            }
        } else if (c == quote) {
            quote = '\0';
        } else {
            n = add_letter(word, n, c);
        }
        w->line += c == '\n' ? 1 : 0;
    }
    word[n] = '\0';
    return true;
}

/* $NAME, ${NAME}, ${NAME:-value}, ${NAME:value} at the start of @p p.
 * @return bytes taken, 0: not of this form */
static size_t read_variable(const launch_words *w, const char *p, ridge_str *value)
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
    const launch_setting *found = launch_settings_find(&w->variables, name);
    *value =
        found != NULL && found->value != NULL ? ridge_str_of(found->value) : otherwise;
    return value->p == NULL ? 0 : n;
}

const char *launch_words_expand(launch_words *w, const char *word)
{
    ridge_buf b;
    int expansions = 0;
    if (strchr(word, '$') == NULL)
        return ridge_str_dup(ridge_ctx_arena(w->cx), ridge_str_of(word));
    ridge_buf_init(&b, ridge_ctx_arena(w->cx));
    for (const char *p = word; *p != '\0';) {
        ridge_str value;
        const size_t taken =
            *p == '$' && expansions < EXPANSIONS_MOST && b.n < LAUNCH_WORD_BYTES
                ? read_variable(w, p, &value)
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

char *launch_word_assigned(char *word)
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

ridge_status launch_words_set(launch_words *w, const char *name, const char *value)
{
    const char *copy = launch_words_expand(w, value);
    if (copy == NULL)
        return ridge_fail_nomem(w->cx);
    return launch_settings_add(&w->variables, ridge_str_of(name), copy, w->line);
}
