#include "divisors.h"

/* Divisors up to the square root. */
static int count_low(int64_t value)
{
    int n = 0;
    for (int64_t d = 1; d <= value / d; d++)
        n += value % d == 0;
    return n;
}

bool divisors_of(ridge_arena *arena, int64_t value, divisors *out)
{
    int low = count_low(value);
    out->values = ridge_new(arena, int64_t, 2 * (size_t)low);
    out->n = 0;
    if (out->values == NULL)
        return false;
    for (int64_t d = 1; out->n < low; d++) {
        if (value % d == 0)
            out->values[out->n++] = d;
    }
    for (int i = low - 1; i >= 0; i--) {
        int64_t partner = value / out->values[i];
        if (partner != out->values[i])
            out->values[out->n++] = partner;
    }
    return true;
}
