/* Random bits of a counter. */
#ifndef RIDGE_EXECUTE_COUNTER_BITS_H
#define RIDGE_EXECUTE_COUNTER_BITS_H

#include <stdint.h>

/** A step of a 64-bit mixer. @source steele2014 */
static inline uint64_t ridge__counter_bits(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

#endif
