/* Numbers that look random and are the same in every run and on every machine. */
#ifndef RIDGE_TEST_SEEDED_H
#define RIDGE_TEST_SEEDED_H

#include <stdint.h>

/** Where a sequence stands; any value starts one. */
typedef uint64_t seeded;

/** 64 bits: splitmix64 (Steele, Lea, Flood 2014). */
uint64_t seeded_next(seeded *at);

/** A whole number from low to high, both included. */
int64_t seeded_pick(seeded *at, int64_t low, int64_t high);

/** A finite double of any sign and size, drawn from its bits. */
double seeded_double(seeded *at);

#endif
