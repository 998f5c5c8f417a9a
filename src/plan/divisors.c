#include "divisors.h"

enum { DIVISORS_MOST = 4096 }; /* no number below 1e15 has more in use here */

bool divisors_of(ridge_arena *arena, int64_t value, divisors *out)
{
    out->values = ridge_new(arena, int64_t, DIVISORS_MOST);
    out->n = 0;
    if (out->values == NULL)
        return false;
    int low = 0;
    for (int64_t d = 1; d <= value / d && low < DIVISORS_MOST / 2; d++) {
        if (value % d == 0)
            out->values[low++] = d;
    }
    out->n = low;
    for (int i = low - 1; i >= 0; i--) {
        int64_t partner = value / out->values[i];
        if (partner != out->values[i])
            out->values[out->n++] = partner;
    }
    return true;
}
