/* Keys of MLIR's attributes, and the lists and numbers behind them. */
#include "mlir_attribute.h"

#include <string.h>

ridge_status mlir_attribute_put(mlir_function *f, hlo_list *list, const char *key,
                                const char *text)
{
    ridge_hlo_attribute *a = hlo_list_push(f->b->scratch, list);
    if (a == NULL || text == NULL)
        return ridge_fail_nomem(f->b->cx);
    *a = (ridge_hlo_attribute){ridge_str_of(key), ridge_str_of(text)};
    return RIDGE_OK;
}

static bool is_word(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
           (ch >= '0' && ch <= '9') || ch == '_' || ch == '.';
}

/* Behind "key =", where the key is a word of its own; NULL: it is not there. */
const char *mlir_key_find(ridge_str text, const char *key)
{
    const size_t n = strlen(key);
    for (size_t at = 0; at + n < text.n; at++) {
        if (memcmp(text.p + at, key, n) != 0 || (at > 0 && is_word(text.p[at - 1])))
            continue;
        size_t q = at + n;
        while (q < text.n && text.p[q] == ' ')
            q++;
        if (q < text.n && text.p[q] == '=')
            return text.p + q + 1;
    }
    return NULL;
}

/* ---- lists ------------------------------------------------------------------------
 */

/* "[0, 1]", "array<i64: 0, 1>" or "dense<[0, 1]>" at @p p: what is between the
 * brackets; p NULL: no list. @param end  out: behind it */
ridge_str mlir_list_at(ridge_str text, const char *p, const char **end)
{
    const char *stop = text.p + text.n;
    while (p < stop && *p == ' ')
        p++;
    if (stop - p > 6 && memcmp(p, "dense<", 6) == 0)
        p += 6;
    if (stop - p > 5 && memcmp(p, "array", 5) == 0) {
        while (p < stop && *p != ':' && *p != '>')
            p++;
    }
    if (p >= stop || (*p != '[' && *p != ':' && *p != '>'))
        return (ridge_str){NULL, 0};
    const char *from = *p == '>' ? p : p + 1, *q = from;
    for (int depth = 0; q < stop && *q != '>'; q++) {
        depth += *q == '[';
        if (*q == ']' && depth-- == 0)
            break;
    }
    *end = q < stop ? q + 1 : q;
    return (ridge_str){from, (size_t)(q - from)};
}

ridge_str mlir_list_of(ridge_str text, const char *key)
{
    const char *end, *p = mlir_key_find(text, key);
    return p ? mlir_list_at(text, p, &end) : (ridge_str){NULL, 0};
}

/* Numbers of a list, nested ones too. @return how many */
int mlir_numbers_of(ridge_str list, int64_t *out, int most)
{
    int n = 0;
    while (list.p) {
        ridge_str one = ridge_str_trim(ridge_str_cut(&list, ','));
        while (one.n > 0 && (one.p[0] == '[' || one.p[0] == ' '))
            one = (ridge_str){one.p + 1, one.n - 1};
        while (one.n > 0 && (one.p[one.n - 1] == ']' || one.p[one.n - 1] == ' '))
            one.n--;
        if (n < most && ridge_parse_i64(one, &out[n]))
            n++;
    }
    return n;
}

bool mlir_number_of(ridge_str text, const char *key, int64_t *out)
{
    const char *p = mlir_key_find(text, key), *stop = text.p + text.n;
    if (p == NULL)
        return false;
    while (p < stop && *p == ' ')
        p++;
    const char *q = p;
    while (q < stop && ((*q >= '0' && *q <= '9') || *q == '-'))
        q++;
    return ridge_parse_i64((ridge_str){p, (size_t)(q - p)}, out);
}
