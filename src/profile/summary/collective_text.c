/* Shapes and groups picked out of one line of HLO. */
#include "collective_text.h"

#include "op_shapes.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_type(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z');
}

/* Dims behind the opening bracket. @return false when they are none */
static bool elements_read(const char *p, double *elements)
{
    *elements = 1;
    while (*p != ']') {
        double dim = 0;
        if (!is_digit(*p))
            return false;
        for (; is_digit(*p); p++)
            dim = 10 * dim + (*p - '0');
        *elements *= dim;
        if (*p == ',')
            p++;
        else if (*p != ']')
            return false;
    }
    return true;
}

/* Of the shape whose bracket is at p. */
static double shape_bytes(const char *text, const char *p)
{
    const char *first = p;
    double elements;
    while (first > text && is_type(first[-1]))
        first--;
    if (first == p || !elements_read(p + 1, &elements))
        return 0;
    return elements * op_shapes_element_bytes((ridge_str){first, (size_t)(p - first)});
}

static int64_t number_read(const char **p)
{
    int64_t n = 0;
    for (; is_digit(**p) && n < INT32_MAX; ++*p)
        n = 10 * n + (**p - '0');
    return n;
}

/* Behind "replica_groups=". */
static int64_t ranks_read(const char *p)
{
    if (*p == '[') {
        p++;
        number_read(&p);
        if (*p != ',')
            return 0;
        p++;
        return number_read(&p);
    }
    if (p[0] != '{' || p[1] != '{')
        return 0;
    int64_t n = 1;
    for (p += 2; *p != 0 && *p != '}'; p++)
        n += *p == ',';
    return *p == '}' ? n : 0;
}

collective_told collective_text_read(const char *text)
{
    static const char groups[] = "replica_groups=";
    collective_told told = {0, 0};
    const char *found = strstr(text, groups);
    const char *end = found != NULL ? found : text + strlen(text);
    if (strstr(text, " = ") == NULL)
        return told;
    for (const char *p = text; p < end; p++) {
        const double bytes = *p == '[' ? shape_bytes(text, p) : 0;
        told.bytes = bytes > told.bytes ? bytes : told.bytes;
    }
    if (found != NULL)
        told.ranks = ranks_read(found + sizeof groups - 1);
    return told;
}
