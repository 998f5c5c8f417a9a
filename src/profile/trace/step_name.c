/* The words of steps. */
#include "step_name.h"

#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool is_tail(ridge_str tail)
{
    for (size_t i = 0; i < tail.n; i++) {
        if (strchr("0123456789 #_:-=", tail.p[i]) == NULL || tail.p[i] == 0)
            return false;
    }
    return true;
}

bool step_name_is(ridge_str name)
{
    static const char *const words[] = {"profilerstep", "step",         "iteration",
                                        "iter",         "train_step",   "training_step",
                                        "train step",   "training step"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(words); i++) {
        const size_t n = strlen(words[i]);
        size_t k = 0;
        while (k < n && k < name.n && lower(name.p[k]) == words[i][k])
            k++;
        if (k == n && is_tail((ridge_str){name.p + n, name.n - n}))
            return true;
    }
    return false;
}
