/*
 * The names in a JSON text, without parsing the rest of it: the built-in files are
 * many, and a request needs few of them. The text is known to be valid JSON; whatever
 * is not as plain as these files are ends the scan.
 */
#include "name_scan.h"

#include <string.h>

enum { ALIAS_MAX = 32 };

typedef struct scanner {
    const char *p;
    const char *end;
} scanner;

static bool take(scanner *s, char c)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n'))
        s->p++;
    if (s->p == s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

/* A text without escapes. */
static bool take_text(scanner *s, ridge_str *out)
{
    if (!take(s, '"'))
        return false;
    const char *start = s->p;
    while (s->p < s->end && *s->p != '"' && *s->p != '\\')
        s->p++;
    if (s->p == s->end || *s->p == '\\')
        return false;
    *out = (ridge_str){start, (size_t)(s->p++ - start)};
    return true;
}

static void skip_text(scanner *s)
{
    for (s->p++; s->p < s->end && *s->p != '"'; s->p++) {
        if (*s->p == '\\')
            s->p++;
    }
}

/* Up to the ',' or '}' that ends a member's value. */
static void skip_value(scanner *s)
{
    for (int depth = 0; s->p < s->end; s->p++) {
        const char c = *s->p;
        if (depth == 0 && (c == ',' || c == '}'))
            return;
        if (c == '"') {
            skip_text(s);
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
}

static bool take_aliases(scanner *s, ridge_arena *arena, const char *const **out)
{
    const char **names = ridge_new(arena, const char *, ALIAS_MAX + 1);
    if (names == NULL || !take(s, '['))
        return false;
    for (int n = 0; !take(s, ']'); n++) {
        ridge_str text;
        if (n == ALIAS_MAX || (n > 0 && !take(s, ',')) || !take_text(s, &text))
            return false;
        names[n] = ridge_str_dup(arena, text);
        if (names[n] == NULL)
            return false;
    }
    *out = names;
    return true;
}

bool ridge__names_scan(ridge_arena *arena, ridge_str text, const char *key,
                       const char **name, const char *const **aliases)
{
    static const char *const none[] = {NULL};
    scanner s = {text.p, text.p + text.n};
    const char *found = NULL;
    const char *const *others = none;
    bool is_whole = take(&s, '{');
    do {
        ridge_str member;
        ridge_str value;
        is_whole = is_whole && take_text(&s, &member) && take(&s, ':');
        if (!is_whole)
            return false;
        if (ridge_str_is(member, key)) {
            found = take_text(&s, &value) ? ridge_str_dup(arena, value) : NULL;
            if (found == NULL)
                return false;
        } else if (ridge_str_is(member, "aliases")) {
            if (!take_aliases(&s, arena, &others))
                return false;
        }
        skip_value(&s);
    } while (take(&s, ','));
    *name = found;
    *aliases = others;
    return found != NULL && take(&s, '}');
}
