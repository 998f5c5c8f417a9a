/* How people spell the names of models: letter case, separators, prefixes, suffixes. */
#include "model_name.h"

#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_separator(char c)
{
    return c == '-' || c == '_' || c == ' ';
}

bool ridge__model_name_equal(ridge_str a, ridge_str b)
{
    size_t i = 0, k = 0;
    for (;;) {
        while (i < a.n && is_separator(a.p[i]))
            i++;
        while (k < b.n && is_separator(b.p[k]))
            k++;
        if (i == a.n || k == b.n)
            return i == a.n && k == b.n;
        if (lower(a.p[i++]) != lower(b.p[k++]))
            return false;
    }
}

bool ridge__model_name_shorten(ridge_str *name)
{
    static const char *const tails[] = {"hf", "instruct", "chat", "base", "it", "pt"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(tails); i++) {
        const size_t n = strlen(tails[i]);
        if (name->n <= n + 1 || !is_separator(name->p[name->n - n - 1]))
            continue;
        const ridge_str tail = {name->p + name->n - n, n};
        if (ridge__model_name_equal(tail, ridge_str_of(tails[i]))) {
            name->n -= n + 1;
            return true;
        }
    }
    return false;
}

ridge_str ridge__model_name_bare(ridge_str name)
{
    size_t at = name.n;
    while (at > 0 && name.p[at - 1] != '/')
        at--;
    return (ridge_str){name.p + at, name.n - at};
}
