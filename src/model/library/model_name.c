/* How people spell the names of models: letter case, separators, prefixes, suffixes. */
#include "model_name.h"

#include "ridge/model_release.h"

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

/* Cut off the first of @p tails that stands behind a separator. */
static bool cut_tail(ridge_str *name, const char *const *tails, size_t n_tails)
{
    for (size_t i = 0; i < n_tails; i++) {
        const size_t n = strlen(tails[i]);
        if (name->n <= n + 1)
            continue;
        const char before = name->p[name->n - n - 1];
        const ridge_str tail = {name->p + name->n - n, n};
        if ((is_separator(before) || before == '.') &&
            ridge__model_name_equal(tail, ridge_str_of(tails[i]))) {
            name->n -= n + 1;
            return true;
        }
    }
    return false;
}

bool ridge__model_name_shorten(ridge_str *name)
{
    static const char *const tails[] = {"hf", "instruct", "chat", "base", "it", "pt"};
    return cut_tail(name, tails, RIDGE_COUNT_OF(tails));
}

bool ridge__model_name_unquantised(ridge_str *name)
{
    static const char *const tails[] = {"awq",   "gptq",      "gguf", "fp8",  "fp4",
                                        "nvfp4", "mxfp4",     "int4", "int8", "w4a16",
                                        "w8a8",  "w8a16",     "4bit", "8bit", "dynamic",
                                        "block", "quantized", "bnb",  "kv"};
    bool is_cut = false;
    while (cut_tail(name, tails, RIDGE_COUNT_OF(tails)))
        is_cut = true;
    return is_cut;
}

/* "-2507", "-0905": when it was released. */
static bool cut_date(ridge_str *name)
{
    enum { DIGITS = 4 };
    if (name->n <= DIGITS + 1 || !is_separator(name->p[name->n - DIGITS - 1]))
        return false;
    for (size_t i = name->n - DIGITS; i < name->n; i++) {
        if (name->p[i] < '0' || name->p[i] > '9')
            return false;
    }
    name->n -= DIGITS + 1;
    return true;
}

bool ridge_model_name_undated(ridge_str *name)
{
    static const char *const tails[] = {"thinking"};
    if (!cut_date(name))
        return false;
    while (cut_tail(name, tails, RIDGE_COUNT_OF(tails)))
        continue;
    return true;
}

ridge_str ridge__model_name_bare(ridge_str name)
{
    size_t at = name.n;
    while (at > 0 && name.p[at - 1] != '/')
        at--;
    return (ridge_str){name.p + at, name.n - at};
}
