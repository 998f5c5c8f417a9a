/* splitmix64 and what is drawn from it. */
#include "seeded.h"

#include <math.h>
#include <string.h>

uint64_t seeded_next(seeded *at)
{
    uint64_t z = (*at += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t seeded_pick(seeded *at, int64_t low, int64_t high)
{
    return low + (int64_t)(seeded_next(at) % (uint64_t)(high - low + 1));
}

double seeded_double(seeded *at)
{
    for (;;) {
        uint64_t bits = seeded_next(at);
        double v;
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v))
            return v;
    }
}
