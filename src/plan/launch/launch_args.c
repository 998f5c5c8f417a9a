/*
 * Argument lists: "--name value" and "--name=value" among other words, as lists, shell
 * arrays or commands; of the shell what launch_words understands.
 */
#include "launch_words.h"

#include <string.h>

typedef struct args_reader {
    launch_settings *out;
    launch_words words;
    launch_setting *open; /* the option that waits for its value */
    int open_line;
} args_reader;

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
        value = launch_words_expand(&r->words, rest.p);
        if (value == NULL)
            return ridge_fail_nomem(r->out->cx);
    }
    RIDGE_TRY(launch_settings_add(r->out, name, value, line));
    r->open = value == NULL ? &r->out->all[r->out->n - 1] : NULL;
    r->open_line = line;
    return RIDGE_OK;
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
    const char *value = launch_words_expand(&r->words, word);
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
    char *value = word[0] == '-' ? NULL : launch_word_assigned(word);
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
        return launch_words_set(&r->words, word, value);
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
    args_reader r = {.out = out, .words = launch_words_of(out->cx, out->file, text)};
    char word[LAUNCH_WORD_BYTES];
    int line = 1;
    while (launch_words_next(&r.words, word, &line))
        RIDGE_TRY(take_word(&r, word, line));
    return RIDGE_OK;
}
